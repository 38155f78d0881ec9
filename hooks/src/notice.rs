//! Lines for the user: what was learned, what waits for review, what was deleted, and which memories were added.

use std::path::PathBuf;

use tessera_desk::results::{self, LearningResult};
use tessera_engine::domain::{MemoryRef, ShortId};
use tessera_engine::pack::neutral_line;
use tessera_engine::store::{Store, Usage};

use crate::reply::Reply;
use crate::surroundings::{ShowChoice, Surroundings};
use crate::wire::Payload;

/// Maximum number of memories with their text in one line.
const MOST_SHOWN: usize = 3;
/// Maximum number of characters of such a text.
const LONGEST: usize = 100;

/// Adds a line about the results of learning that this session has not shown yet.
pub(crate) fn with_results(reply: Option<Reply>, payload: &Payload, surroundings: &Surroundings) -> Option<Reply> {
    let session = payload.session().unwrap_or_default();
    with(reply, &results::of(&surroundings.home, &session), surroundings)
}

/// Like [`with_results`], also with the results that other sessions have not shown for some time.
pub(crate) fn with_all_results(reply: Option<Reply>, payload: &Payload, surroundings: &Surroundings) -> Option<Reply> {
    let session = payload.session().unwrap_or_default();
    let mut files = results::of(&surroundings.home, &session);
    files.extend(results::unseen(&surroundings.home, surroundings.clock.now()));
    with(reply, &files, surroundings)
}

fn with(reply: Option<Reply>, files: &[PathBuf], surroundings: &Surroundings) -> Option<Reply> {
    if files.is_empty() || surroundings.settings.show == ShowChoice::Off {
        return reply;
    }
    // If the store cannot be opened, the results wait.
    let Ok(store) = surroundings.open(Usage::ReadOnce) else { return reply };
    let found: Vec<LearningResult> = files.iter().flat_map(|file| results::take(file)).collect();
    Reply::joined(reply, line(&found, &store).as_deref())
}

/// The line about results. A memory that was deleted meanwhile is not among the learned ones.
fn line(found: &[LearningResult], store: &Store) -> Option<String> {
    let mut learned: Vec<(ShortId, String)> = Vec::new();
    let (mut waiting, mut deleted) = (0, Vec::new());
    for result in found {
        match result {
            LearningResult::Learned(id) => learned.extend(summary(store, *id).map(|summary| (*id, summary))),
            LearningResult::Waiting(id) => waiting += usize::from(store.candidate(id).is_ok()),
            LearningResult::Retracted(id) => deleted.push(id.to_string()),
        }
    }
    let mut parts = Vec::new();
    if let Some((first, _)) = learned.first() {
        let shown = learned.iter().take(MOST_SHOWN).map(|(id, summary)| format!("{id} {summary}"));
        let mut text = format!("learned {}", shown.collect::<Vec<_>>().join("; "));
        match learned.len() {
            1 => text.push_str(&format!(" (`tessera undo {}` reverts this)", first.get())),
            count if count > MOST_SHOWN => text.push_str(&format!("; and {} more", count - MOST_SHOWN)),
            _ => {}
        }
        parts.push(text);
    }
    if waiting > 0 {
        let lines = if waiting == 1 { "1 line waits" } else { &format!("{waiting} lines wait") };
        parts.push(format!("{lines} for `tessera review`"));
    }
    if !deleted.is_empty() {
        parts.push(format!("deleted {}, as you asked", deleted.join(", ")));
    }
    (!parts.is_empty()).then(|| format!("Tessera: {}", parts.join(". ")))
}

fn summary(store: &Store, id: ShortId) -> Option<String> {
    let memory = store.get(MemoryRef::ShortId(id)).ok()?.filter(|memory| memory.deleted.is_none())?;
    Some(neutral_line(&memory.summary).chars().take(LONGEST).collect())
}

/// A reply with memories. With `hooks.show = all`, the user sees which ones.
pub(crate) fn given(event: &str, body: &str, ids: &[ShortId], tokens: u32, surroundings: &Surroundings) -> Reply {
    with_given(Reply::context(event, body), ids, tokens, surroundings)
}

/// Adds a line about the memories of a reply if the user wants such lines.
pub(crate) fn with_given(reply: Reply, ids: &[ShortId], tokens: u32, surroundings: &Surroundings) -> Reply {
    if surroundings.settings.show != ShowChoice::All {
        return reply;
    }
    let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
    reply.with_notice(&format!("Tessera: added {} ({tokens} tokens)", ids.join(", ")))
}
