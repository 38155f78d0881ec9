//! Finds memories by question, by name, or by time.
//!
//! Also finds memories that are similar to another memory.

use std::collections::BTreeMap;

use tessera_engine::Store;
use tessera_engine::domain::{Filters, LinkKind, Memory, MemoryRef, RecallRequest, Scope, ShortId};
use tessera_engine::pack::{JsonRows, Recall as Reply};
use tessera_engine::screen::{dropped, is_clean};
use tessera_engine::store::{HistoryEntry, ListRequest, Listing, Near, Newer, Noted, SimilarityKind, StoreError};

use crate::caller::Caller;
use crate::chain::{self, Asked};
use crate::desk::{Effect, UseCase};
use crate::folders::FolderSnapshot;

/// The form of a reply; the budget applies to the reply in this form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Lines of text.
    Text,
    /// One JSON document.
    Json(JsonRows),
}

/// Answers a question. Tokens are counted in the caller's unit, and the caller's project comes first unless the request
/// names another. A question without a clear answer is recorded for [`super::ListUnanswered`].
#[derive(Debug, Clone, PartialEq)]
pub struct Recall {
    /// The question and its limits.
    pub request: RecallRequest,
    /// The form.
    pub form: Form,
}

/// The answer to a question.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The reply within its budget.
    pub reply: Reply,
    /// The request as performed.
    pub request: RecallRequest,
    /// If the requested scopes have no matches: the other scopes that have matches. The scope with the most matches is
    /// first.
    pub near: Vec<(Scope, u32)>,
    /// The number of searched memories, if an explanation was requested.
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
        let asked = Question::by(store, caller, self)?;
        let reply = asked.reply(store)?;
        asked.answer(store, caller, reply)
    }

    /// The folders are checked for changes while the question is answered. If something changed, the question is asked
    /// again.
    fn run_looking(self, store: &mut Store, caller: &Caller, glance: FolderSnapshot) -> Result<Answer, StoreError> {
        let asked = Question::by(store, caller, self)?;
        let reply = glance.beside(store, |store| asked.reply(store))?;
        asked.answer(store, caller, reply)
    }
}

/// A prepared question.
struct Question {
    request: RecallRequest,
    form: Form,
    is_clean: bool,
}

impl Question {
    fn by(store: &Store, caller: &Caller, recall: Recall) -> Result<Self, StoreError> {
        let is_clean = is_clean(&recall.request.query);
        let Recall { mut request, form } = recall;
        request.filters = with_scopes_meant(store, caller, request.filters)?;
        request.scope =
            request.scope.map(|scope| scope_meant(store, caller, scope)).transpose()?.map(|meant| meant.scope);
        Ok(Self { request: as_asked_by(caller, request), form, is_clean })
    }

    /// The reply; nothing is recorded yet.
    fn reply(&self, store: &mut Store) -> Result<Reply, StoreError> {
        let ranking = store.rank(&self.request)?;
        let ranking = store.with_unreviewed(&self.request, ranking)?;
        match self.form {
            Form::Text => store.answer(&self.request, &ranking),
            Form::Json(rows) => store.answer_json(&self.request, &ranking, rows),
        }
    }

    /// Records the delivery of the reply, and adds remarks to the reply.
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

/// Answers a question without recording it: neither as a use of the memories, nor as a question without an answer. A
/// person who types a question asks many unfinished ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Glimpse {
    /// The question and its limits.
    pub request: RecallRequest,
}

impl UseCase for Glimpse {
    type Outcome = Reply;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, caller: &Caller) -> Result<Reply, StoreError> {
        Question::by(store, caller, Recall { request: self.request, form: Form::Text })?.reply(store)
    }
}

/// Replaces the short name of a project by its identity.
fn with_scopes_meant(store: &Store, caller: &Caller, filters: Filters) -> Result<Filters, StoreError> {
    let scopes = filters.scopes.into_iter().map(|scope| Ok(scope_meant(store, caller, scope)?.scope));
    Ok(Filters { scopes: scopes.collect::<Result<_, StoreError>>()?, ..filters })
}

/// Words for the project of the caller.
const HERE: [&str; 6] = ["project", "this project", "current project", "current", "this", "here"];

fn scope_meant(store: &Store, caller: &Caller, given: Scope) -> Result<ScopeFound, StoreError> {
    if let Some(scope) = store.scope_meant(&given)? {
        return Ok(ScopeFound { scope, is_new: false });
    }
    let is_here = HERE.contains(&given.as_str().to_lowercase().as_str());
    let here = caller.scope().filter(|_| is_here);
    Ok(match here {
        Some(scope) => ScopeFound { scope, is_new: false },
        None => ScopeFound { scope: given, is_new: true },
    })
}

/// The memories in a reply.
pub(super) fn shown(reply: &Reply) -> Vec<MemoryRef> {
    let details = reply.details.iter().map(|detail| detail.ranked.short_id);
    details.chain(reply.index.iter().map(|entry| entry.ranked.short_id)).map(MemoryRef::ShortId).collect()
}

/// True if a question found nothing. False for further pages, filtered requests and empty questions.
fn is_in_vain(request: &RecallRequest, reply: &Reply) -> bool {
    let asks_all = Filters { scopes: request.filters.scopes.clone(), ..Filters::default() } == request.filters;
    reply.total_count == 0 && request.cursor.is_none() && asks_all && !request.query.trim().is_empty()
}

/// How much of a question is recorded. How much of a question without credentials is recorded: its known words, or its
/// full text if the settings allow that.
fn noted(caller: &Caller) -> Noted {
    if caller.keeps_questions { Noted::Text } else { Noted::Words }
}

fn as_asked_by(caller: &Caller, request: RecallRequest) -> RecallRequest {
    // "global" is not a project, so no project comes first.
    let scope = request.scope.or_else(|| caller.scope()).filter(|scope| *scope != Scope::Global);
    // The reply contains the question, so credentials in it are redacted.
    let query = dropped(&request.query).into_owned();
    let expanded_query = request.expanded_query.as_ref().map(|query| dropped(query).into_owned());
    RecallRequest { profile: caller.profile, scope, query, expanded_query, ..request }
}

/// Requests the full texts of named memories, within the budget.
#[derive(Debug, Clone, PartialEq)]
pub struct Fetch {
    /// The memories.
    pub ids: Vec<MemoryRef>,
    /// The limits of a request without a question.
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

/// Memories by name with all fields, including deleted ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Get {
    /// The memories.
    pub ids: Vec<MemoryRef>,
}

impl UseCase for Get {
    type Outcome = Vec<Memory>;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Vec<Memory>, StoreError> {
        let memories: Vec<Memory> =
            self.ids.into_iter().map(|id| store.get(id)?.ok_or(StoreError::NotFound(id))).collect::<Result<_, _>>()?;
        // This does not count as use for ranking, but the file of a shown part counts as read.
        for file in memories.iter().filter_map(|memory| memory.file.as_ref()) {
            store.note_file_shown(&file.path)?;
        }
        Ok(memories)
    }
}

/// The newer memory of each memory that another one supersedes or updates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewerOf {
    /// The memories.
    pub ids: Vec<ShortId>,
}

impl UseCase for NewerOf {
    type Outcome = BTreeMap<ShortId, Newer>;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<BTreeMap<ShortId, Newer>, StoreError> {
        store.newer_of(self.ids)
    }
}

/// Lists memories, newest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct List {
    /// The filters.
    pub filters: Filters,
    /// Rows, 1 to 200.
    pub limit: u32,
    /// Deleted memories instead of live ones.
    pub deleted: bool,
    /// Expired memories instead of visible ones.
    pub expired: bool,
    /// Only memories of other users.
    pub shared: bool,
    /// Where to continue: the last memory of the previous page.
    pub after: Option<MemoryRef>,
}

impl UseCase for List {
    type Outcome = Listing;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, caller: &Caller) -> Result<Listing, StoreError> {
        let after = match self.after {
            None => None,
            Some(MemoryRef::ShortId(short_id)) => Some(short_id),
            Some(id) => Some(store.get(id)?.ok_or(StoreError::NotFound(id))?.short_id),
        };
        let Self { filters, limit, deleted, expired, shared, .. } = self;
        let filters = with_scopes_meant(store, caller, filters)?;
        store.list(&ListRequest { filters, limit, deleted, expired, shared, after })
    }
}

/// Finds the scope that a name means, such as the short name of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeMeant {
    /// The name as given.
    pub given: Scope,
}

/// The scope that a name means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeFound {
    /// The scope.
    pub scope: Scope,
    /// True if no memory has this scope.
    pub is_new: bool,
}

impl UseCase for ScopeMeant {
    type Outcome = ScopeFound;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, caller: &Caller) -> Result<ScopeFound, StoreError> {
        scope_meant(store, caller, self.given)
    }
}

/// The changes of a memory, latest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct History {
    /// The memory.
    pub id: MemoryRef,
}

impl UseCase for History {
    type Outcome = Vec<HistoryEntry>;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Vec<HistoryEntry>, StoreError> {
        store.history(self.id)
    }
}

/// Finds memories of the same scope with nearly equal content, or about the same thing. It is called after a new memory
/// was stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alike {
    /// The memory.
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

/// How the user or the model changes a link: with a command, or with a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkBy {
    /// `tessera link`.
    Command,
    /// The MCP tool `memory_link`.
    Tool,
}

impl LinkBy {
    /// The command or call that adds or removes a link to an older memory.
    fn call(self, new: ShortId, kind: &LinkKind, old: ShortId, removes: bool) -> String {
        let (new, kind, old) = (new.get(), kind.as_str(), old.get());
        match self {
            Self::Command => format!("tessera link {new} {kind} {old}{}", if removes { " --remove" } else { "" }),
            Self::Tool => {
                let remove = if removes { ", remove: true" } else { "" };
                format!("memory_link(id: {new}, type: \"{kind}\", to: {old}{remove})")
            }
        }
    }
}

/// Describes in words a memory that is similar to the new memory `new`.
pub fn told_near(near: &Near, new: ShortId, by: LinkBy) -> String {
    let Near { short_id, summary, .. } = near;
    match near.likeness {
        SimilarityKind::Supersedes => {
            let undo = by.call(new, &LinkKind::Supersedes, *short_id, true);
            format!("{short_id} is now superseded, and recall omits it: {summary}\n  Undo: {undo}")
        }
        SimilarityKind::Updates => {
            let undo = by.call(new, &LinkKind::Updates, *short_id, true);
            format!("{short_id} is now marked as older: {summary}\n  Undo: {undo}")
        }
        SimilarityKind::MayUpdate => {
            let link = by.call(new, &LinkKind::Updates, *short_id, false);
            format!("{short_id} may be outdated: {summary}\n  If so: {link}")
        }
        SimilarityKind::Same => format!("{short_id} is nearly the same: {summary}"),
        SimilarityKind::Other => format!("{short_id} is similar, and may contradict it: {summary}"),
    }
}
