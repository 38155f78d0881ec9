//! Finding: by question, by name, by time.
//!
//! Memories that say nearly what another says.

use tessera_engine::Store;
use tessera_engine::domain::{Filters, Memory, MemoryRef, RecallRequest, Scope};
use tessera_engine::pack::{JsonRows, Recall as Reply};
use tessera_engine::screen::{dropped, is_clean};
use tessera_engine::store::{HistoryEntry, ListRequest, Listing, Near, Noted, SimilarityKind, StoreError};

use crate::caller::Caller;
use crate::chain::{self, Asked};
use crate::desk::{Effect, UseCase};
use crate::folders::FolderSnapshot;

/// In which form a reply is packed; its budget is kept in that form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Lines of text.
    Text,
    /// One JSON payload.
    Json(JsonRows),
}

/// Answers a question. Tokens are counted as the caller counts, and the caller's project comes first unless the
/// request names another. A question that nothing answers strongly is noted for [`super::ListUnanswered`].
#[derive(Debug, Clone, PartialEq)]
pub struct Recall {
    /// The question and its bounds.
    pub request: RecallRequest,
    /// The form.
    pub form: Form,
}

/// What comes of a question.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The reply, within its budget.
    pub reply: Reply,
    /// The request as it was carried out.
    pub request: RecallRequest,
    /// Where the scopes that were asked for hold nothing of it: scopes that do, with their matches, the most first.
    pub near: Vec<(Scope, u32)>,
    /// Memories that were searched; for a request that asks for an explanation alone.
    pub searched: Option<u32>,
}

impl UseCase for Recall {
    type Outcome = Answer;
    const EFFECT: Effect = Effect::Reads;

    fn asked(&mut self) -> Option<Asked<'_>> {
        Some(Asked::Recall(&mut self.request))
    }

    fn touched(answer: &Answer) -> Vec<MemoryRef> {
        shown(&answer.reply)
    }

    fn run(self, store: &mut Store, caller: &Caller) -> Result<Answer, StoreError> {
        let asked = Question::by(caller, self);
        let reply = asked.reply(store)?;
        asked.answer(store, caller, reply)
    }

    /// It is looked at the folders while the question is answered, and asked again where something changed.
    fn run_looking(self, store: &mut Store, caller: &Caller, glance: FolderSnapshot) -> Result<Answer, StoreError> {
        let asked = Question::by(caller, self);
        let reply = glance.beside(store, |store| asked.reply(store))?;
        asked.answer(store, caller, reply)
    }
}

/// A question as it is asked.
struct Question {
    request: RecallRequest,
    form: Form,
    is_clean: bool,
}

impl Question {
    fn by(caller: &Caller, recall: Recall) -> Self {
        let is_clean = is_clean(&recall.request.query);
        Self { request: as_asked_by(caller, recall.request), form: recall.form, is_clean }
    }

    /// The reply; nothing is noted of it yet.
    fn reply(&self, store: &mut Store) -> Result<Reply, StoreError> {
        let ranking = store.rank(&self.request)?;
        match self.form {
            Form::Text => store.answer(&self.request, &ranking),
            Form::Json(rows) => store.answer_json(&self.request, &ranking, rows),
        }
    }

    /// What is noted of a reply, and said beside it.
    fn answer(self, store: &mut Store, caller: &Caller, reply: Reply) -> Result<Answer, StoreError> {
        let Self { request, is_clean, .. } = self;
        store.note_delivery(&reply);
        let is_empty = reply.total_count == 0 && !request.filters.scopes.is_empty();
        let near = if is_empty { store.near_scopes(&request)? } else { Vec::new() };
        if is_in_vain(&request, &reply) && near.is_empty() {
            store.note_in_vain(&request, if is_clean { noted(caller) } else { Noted::Count });
        }
        let searched = if request.explain { Some(store.rank(&request)?.searched) } else { None };
        Ok(Answer { reply, request, near, searched })
    }
}

/// The memories that a reply shows.
pub(super) fn shown(reply: &Reply) -> Vec<MemoryRef> {
    let details = reply.details.iter().map(|detail| detail.ranked.short_id);
    details.chain(reply.index.iter().map(|entry| entry.ranked.short_id)).map(MemoryRef::ShortId).collect()
}

/// True where nothing answers strongly. The second page of an answer is no question, and one that only memories of some
/// kind may answer says nothing of the others.
fn is_in_vain(request: &RecallRequest, reply: &Reply) -> bool {
    let asks_all = Filters { scopes: request.filters.scopes.clone(), ..Filters::default() } == request.filters;
    reply.total_count == 0 && request.cursor.is_none() && asks_all && !request.query.trim().is_empty()
}

/// What is noted of a question; of one that holds a credential, that it was asked.
fn noted(caller: &Caller) -> Noted {
    if caller.keeps_questions { Noted::Text } else { Noted::Words }
}

fn as_asked_by(caller: &Caller, request: RecallRequest) -> RecallRequest {
    // "global" is no project: then none comes first.
    let scope = request.scope.or_else(|| caller.scope()).filter(|scope| *scope != Scope::Global);
    // No memory says a credential in clear, and the reply repeats the question.
    let query = dropped(&request.query).into_owned();
    let expanded_query = request.expanded_query.as_ref().map(|query| dropped(query).into_owned());
    RecallRequest { profile: caller.profile, scope, query, expanded_query, ..request }
}

/// Full texts by name, within the budget of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Fetch {
    /// Which.
    pub ids: Vec<MemoryRef>,
    /// The bounds; it has no question.
    pub request: RecallRequest,
    /// The form.
    pub form: Form,
}

impl UseCase for Fetch {
    type Outcome = Reply;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, caller: &Caller) -> Result<Reply, StoreError> {
        let request = as_asked_by(caller, self.request);
        match self.form {
            Form::Text => store.fetch(&self.ids, &request),
            Form::Json(_) => store.fetch_json(&self.ids, &request),
        }
    }
}

/// Memories by name with everything known of them, forgotten ones too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Get {
    /// Which.
    pub ids: Vec<MemoryRef>,
}

impl UseCase for Get {
    type Outcome = Vec<Memory>;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Vec<Memory>, StoreError> {
        let memories: Vec<Memory> =
            self.ids.into_iter().map(|id| store.get(id)?.ok_or(StoreError::NotFound(id))).collect::<Result<_, _>>()?;
        // It counts for no rank, but a file of which somebody saw a part was read.
        for file in memories.iter().filter_map(|memory| memory.file.as_ref()) {
            store.note_file_shown(&file.path)?;
        }
        Ok(memories)
    }
}

/// Lists memories, newest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct List {
    /// What they must be.
    pub filters: Filters,
    /// Rows, 1 to 200.
    pub limit: u32,
    /// Forgotten memories instead of live ones.
    pub deleted: bool,
    /// Those whose lifetime has ended instead of those that are shown.
    pub expired: bool,
    /// What other users share alone.
    pub shared: bool,
    /// Where to go on: the last memory of the page before.
    pub after: Option<MemoryRef>,
}

impl UseCase for List {
    type Outcome = Listing;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Listing, StoreError> {
        let after = match self.after {
            None => None,
            Some(MemoryRef::ShortId(short_id)) => Some(short_id),
            Some(id) => Some(store.get(id)?.ok_or(StoreError::NotFound(id))?.short_id),
        };
        let Self { filters, limit, deleted, expired, shared, .. } = self;
        store.list(&ListRequest { filters, limit, deleted, expired, shared, after })
    }
}

/// What was done to a memory, latest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct History {
    /// Which.
    pub id: MemoryRef,
}

impl UseCase for History {
    type Outcome = Vec<HistoryEntry>;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Vec<HistoryEntry>, StoreError> {
        store.history(self.id)
    }
}

/// Which memories of its scope say nearly what a memory says, or something else of the same thing. Asked once a new one
/// is on disk: it is kept in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alike {
    /// Which.
    pub id: MemoryRef,
}

impl UseCase for Alike {
    type Outcome = Vec<Near>;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Vec<Near>, StoreError> {
        let memory = store.get(self.id)?.ok_or(StoreError::NotFound(self.id))?;
        chain::hints(store, &memory)
    }
}

/// What to say of a memory that is near another one, in words.
pub fn told_near(near: &Near) -> String {
    match near.likeness {
        SimilarityKind::Same => format!("{} says nearly the same: {}", near.short_id, near.summary),
        SimilarityKind::Other => format!("{} is close, and may say otherwise: {}", near.short_id, near.summary),
    }
}
