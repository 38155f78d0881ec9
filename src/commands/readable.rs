//! The reply of `recall` for people: a list with ages, projects and the reason of each match.

use std::collections::BTreeSet;

use tessera_engine::Timestamp;
use tessera_engine::domain::{Memory, Scope, Trust};
use tessera_engine::pack::{Ranked, Recall, UnreviewedLine, attribution};
use tessera_engine::score::ScoreParts;
use tessera_engine::text::{TokenKind, tokenize};

use crate::output::{self, Style};

/// The width of a list if the terminal does not report its width.
const USUAL: u16 = 80;
/// Longer lines are hard to read, also on a wide terminal.
const WIDEST: u16 = 100;

/// One memory of a reply.
struct Row<'a> {
    ranked: &'a Ranked,
    memory: &'a Memory,
    /// The shown text.
    text: &'a str,
    /// True if the text is only a summary or a passage.
    is_cut: bool,
}

/// The reply as a list.
pub(super) fn list(recall: &Recall, now: Timestamp) -> String {
    let columns = output::columns().unwrap_or(USUAL).min(WIDEST);
    let words = Words::of(&recall.query);
    let details = recall.details.iter().map(|detail| {
        let (text, is_cut) = shown(detail.excerpt.as_deref(), &detail.memory.content);
        Row { ranked: &detail.ranked, memory: &detail.memory, text, is_cut }
    });
    let summaries = recall.index.iter().map(|entry| {
        let (text, _) = shown(entry.excerpt.as_deref(), &entry.memory.summary);
        Row { ranked: &entry.ranked, memory: &entry.memory, text, is_cut: text != entry.memory.content }
    });
    let mut text = String::new();
    for row in details.chain(summaries) {
        text.push_str(&one(&row, &words, now, columns));
    }
    text + &unreviewed(recall, columns) + &end(recall)
}

fn shown<'a>(excerpt: Option<&'a str>, whole: &'a str) -> (&'a str, bool) {
    excerpt.map_or((whole, false), |excerpt| (excerpt, true))
}

fn one(row: &Row<'_>, words: &Words, now: Timestamp, columns: u16) -> String {
    let id = row.memory.short_id.to_string();
    let first = format!("{id:<5} ");
    let indent = " ".repeat(first.len());
    let cut = if row.is_cut { " ..." } else { "" };
    let content = output::shown(&format!("{}{}{cut}", row.text.trim_end(), attribution(row.memory)));
    let text = output::wrapped_after(&content, &first, &indent, columns);
    // Colours are added to wrapped lines, because colour codes have no width.
    let text = text.strip_prefix(&id).unwrap_or(&text);
    let below = output::wrapped(&facts(row, now), &indent, columns);
    let marks: String = marks(row).iter().map(|mark| output::wrapped(mark, &indent, columns)).collect();
    format!(
        "{}{}{}{}",
        output::paint(&id, Style::Cyan),
        words.highlighted(text),
        each_line(&marks, Style::Yellow),
        each_line(&below, Style::Dim)
    )
}

/// Colours each line alone, so that a pager shows the colours of every line.
fn each_line(text: &str, style: Style) -> String {
    text.lines().map(|line| output::paint(line, style) + "\n").collect()
}

/// The line below a text: age, project, category, and the reason of the match.
fn facts(row: &Row<'_>, now: Timestamp) -> String {
    let memory = row.memory;
    let project = match &memory.scope {
        Scope::Global => "all projects".to_owned(),
        Scope::Project(_) => output::shown(memory.scope.as_str()),
    };
    let category = output::shown(memory.category.as_str());
    [output::age(memory.created, now), project, category, reason(row.ranked).to_owned()].join(" · ")
}

/// Whether a text is outdated, uncertain, or from somebody else.
fn marks(row: &Row<'_>) -> Vec<String> {
    let Row { ranked, memory, .. } = row;
    let mut marks = Vec::new();
    if let Some(old) = ranked.redirected_from {
        marks.push(format!("replaces {old}, which matched"));
    }
    if let Some(newer) = ranked.newer {
        marks.push(format!("older: {newer} is newer"));
    }
    if ranked.is_weak || ranked.is_unsure {
        marks.push("uncertain match".to_owned());
    }
    if memory.trust == Trust::Foreign {
        marks.push("from somebody else, not confirmed by you".to_owned());
    }
    marks
}

/// The share of the question's information from which its words are the reason of a match.
const BY_WORDS: f64 = 0.5;

/// Why a memory matches, in one word.
fn reason(ranked: &Ranked) -> &'static str {
    let ScoreParts { embedding, text, held, names, date, context, instruction, .. } = ranked.parts;
    if ranked.share >= BY_WORDS {
        return "words";
    }
    let rated = [
        (embedding, "similar"),
        (text + held, "words"),
        (names, "name"),
        (date, "date"),
        (context, "context"),
        (instruction, "rule"),
    ];
    rated.into_iter().max_by(|(one, _), (other, _)| one.total_cmp(other)).map_or("", |(_, word)| word)
}

/// Matching lines of the review queue.
fn unreviewed(recall: &Recall, columns: u16) -> String {
    let line = |line: &UnreviewedLine| {
        let first = format!("{} ", line.id);
        let indent = " ".repeat(first.len());
        let mark = output::wrapped("waits for `tessera review`, may be wrong", &indent, columns);
        output::wrapped_after(&output::shown(&line.content), &first, &indent, columns) + &mark
    };
    recall.unreviewed.iter().map(line).collect()
}

fn end(recall: &Recall) -> String {
    let shown = u32::try_from(recall.details.len() + recall.index.len()).unwrap_or(u32::MAX);
    if shown == 0 && recall.total_count == 0 && !recall.unreviewed.is_empty() {
        return String::new();
    }
    if shown == 0 && recall.total_count == 0 {
        let near = match recall.near {
            0 => "; `tessera list` shows all memories".to_owned(),
            near => format!("; add --weak to see {}", output::counted(near, "uncertain match", "uncertain matches")),
        };
        return format!("No memory matches{near}.\n");
    }
    match &recall.next_cursor {
        Some(cursor) => {
            let rest = recall.total_count.saturating_sub(shown);
            format!("{} more; add --cursor {cursor} to see them, or a higher --max-tokens\n", rest.max(1))
        }
        None => String::new(),
    }
}

/// The words of a question, for marking them in a text.
struct Words(BTreeSet<String>);

impl Words {
    fn of(query: &str) -> Self {
        Self(terms(query).collect())
    }

    /// The text with its matching words in bold.
    fn highlighted(&self, text: &str) -> String {
        let mut marked = String::new();
        for piece in text.split_inclusive(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/'))) {
            let word = piece.trim_end_matches(|c: char| !c.is_alphanumeric());
            let rest = piece.strip_prefix(word).unwrap_or_default();
            let is_match = !word.is_empty() && terms(word).any(|term| self.0.contains(&term));
            marked.push_str(&if is_match { output::paint(word, Style::Bold) } else { word.to_owned() });
            marked.push_str(rest);
        }
        marked
    }
}

fn terms(text: &str) -> impl Iterator<Item = String> {
    let is_told = |kind| matches!(kind, TokenKind::Word | TokenKind::Compound | TokenKind::Pair);
    tokenize(text).into_iter().filter(move |token| is_told(token.kind)).map(|token| token.term)
}
