//! Conversations in the LoCoMo format (Maharana et al. 2024). A conversation has sessions, a session has turns, and
//! each question names the turns that answer it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;
use serde_json::Value;

use crate::metrics::{Asked, Report, Tally};
use crate::ranker::Asker;
use crate::{EvalConfig, EvalError, Scratch, read};
use tessera_engine::domain::{Category, Draft, Importance, Origin, RecallRequest, ShortId, Timestamp};

/// The text of one memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// One turn.
    Turn,
    /// One session, with all turns joined.
    Session,
}

#[derive(Debug, Deserialize)]
struct Conversation {
    conversation: BTreeMap<String, Value>,
    qa: Vec<Question>,
}

#[derive(Debug, Deserialize)]
struct Question {
    #[serde(rename = "question")]
    text: Value,
    #[serde(default)]
    evidence: Vec<Value>,
    category: Value,
}

#[derive(Debug, Deserialize)]
struct Turn {
    speaker: String,
    dia_id: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    blip_caption: Option<String>,
}

struct Session {
    name: String,
    time: Timestamp,
    turns: Vec<Turn>,
}

static EVIDENCE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"D:?(\d+):(\d+)").expect("the pattern is a constant"));

/// Builds one store per conversation, and asks LoCoMo's questions of categories 1 to 4 with their original words. Omits
/// questions whose evidence is not in a turn.
///
/// # Errors
/// Returns an error if the file does not have the format, or a store fails.
pub fn evaluate(path: &Path, unit: Unit, config: &EvalConfig) -> Result<Report, EvalError> {
    let format = |problem: String| EvalError::Format { path: path.to_path_buf(), problem };
    let conversations: Vec<Conversation> =
        serde_json::from_str(&read(path)?).map_err(|error| format(error.to_string()))?;
    let mut tally = Tally::default();
    for conversation in &conversations {
        let sessions = sessions(conversation).map_err(format)?;
        let now = sessions.iter().map(|session| session.time).max().unwrap_or(Timestamp::from_micros(0));
        let mut scratch =
            Scratch::new(Timestamp::from_micros(now.as_micros() + 3_600_000_000), &config.store_weights())?;
        let short_ids = store_all(&mut scratch, &sessions, unit)?;
        config.vectors.give(&mut scratch.store)?;
        scratch.store.rebuild_snapshot()?;
        let mut asker = Asker::new(&mut scratch.store, config.ranker)?;
        for question in &conversation.qa {
            if let Some(asked) = asked(question, &short_ids) {
                tally.ask(&mut asker, &asked, config)?;
            }
        }
    }
    Ok(tally.finish())
}

fn sessions(conversation: &Conversation) -> Result<Vec<Session>, String> {
    let mut sessions = Vec::new();
    for number in 1.. {
        let name = format!("session_{number}");
        let date = conversation.conversation.get(&format!("{name}_date_time"));
        let Some(turns) = conversation.conversation.get(&name) else {
            if date.is_none() {
                return Ok(sessions);
            }
            continue;
        };
        let turns = serde_json::from_value(turns.clone()).map_err(|error| format!("{name}: {error}"))?;
        let date = date.and_then(Value::as_str).ok_or_else(|| format!("{name}_date_time is missing"))?;
        let time = session_time(date).ok_or_else(|| format!("{name}_date_time: {date:?} is not a time"))?;
        sessions.push(Session { name, time, turns });
    }
    Ok(sessions)
}

/// Parses a time such as `1:56 pm on 8 May, 2023`, or RFC 3339.
fn session_time(text: &str) -> Option<Timestamp> {
    if let Ok(time) = text.parse() {
        return Some(time);
    }
    let civil = jiff::civil::DateTime::strptime("%I:%M %p on %d %B, %Y", text.trim()).ok()?;
    let zoned = civil.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(Timestamp::from_micros(zoned.timestamp().as_microsecond()))
}

fn turn_text(turn: &Turn) -> String {
    let image = turn.blip_caption.as_ref().map(|caption| format!(" [image: {caption}]")).unwrap_or_default();
    format!("{}: {}{image}", turn.speaker, turn.text)
}

/// Stores the sessions; returns the memory of each turn.
fn store_all(scratch: &mut Scratch, sessions: &[Session], unit: Unit) -> Result<BTreeMap<String, ShortId>, EvalError> {
    let mut drafts = Vec::new();
    let mut names = Vec::new();
    for session in sessions {
        let texts: Vec<String> = session.turns.iter().map(turn_text).collect();
        let ids: Vec<String> = session.turns.iter().map(|turn| turn.dia_id.clone()).collect();
        match unit {
            Unit::Turn => {
                drafts.extend(texts.into_iter().map(|text| draft(text, session, Origin::Conversation)));
                names.extend(ids.into_iter().map(|id| vec![id]));
            }
            Unit::Session => {
                drafts.push(draft(texts.join("\n"), session, Origin::Import));
                names.push(ids);
            }
        }
    }
    let stored = scratch.store.remember_all(&drafts)?;
    let by_turn =
        stored.iter().zip(names).flat_map(|(stored, ids)| ids.into_iter().map(|id| (id, stored.memory.short_id)));
    Ok(by_turn.collect())
}

fn draft(content: String, session: &Session, origin: Origin) -> Draft {
    Draft {
        category: Some(Category::default()),
        importance: Some(Importance::from_percent(50)),
        created: Some(session.time),
        session: Some(session.name.clone()),
        origin,
        ..Draft::new(content)
    }
}

fn asked(question: &Question, short_ids: &BTreeMap<String, ShortId>) -> Option<Asked> {
    let category = match &question.category {
        Value::Number(number) => number.to_string(),
        Value::String(name) => name.clone(),
        _ => return None,
    };
    if category == "5" {
        return None;
    }
    let evidence = question.evidence.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ");
    let turns = EVIDENCE
        .captures_iter(&evidence)
        .filter_map(|hit| Some(format!("D{}:{}", hit.get(1)?.as_str(), hit.get(2)?.as_str())));
    let gold: BTreeSet<ShortId> = turns.filter_map(|turn| short_ids.get(&turn).copied()).collect();
    let request = RecallRequest::new(question.text.as_str()?);
    (!gold.is_empty()).then_some(Asked { request, gold, category })
}
