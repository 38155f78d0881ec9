//! Storing memories.

use tessera_engine::Store;
use tessera_engine::domain::{
    CandidateId, Category, Draft, Importance, Link, LinkKind, MemoryRef, MemoryType, Metadata, Scope, Tag, Timestamp,
    Trust,
};
use tessera_engine::store::{StoreError, Stored};

use crate::caller::Caller;
use crate::chain::Asked;
use crate::desk::{Effect, UseCase};

/// Stores a memory. Missing fields are derived from the text or the caller.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Remember {
    /// The text.
    pub content: String,
    /// Category; derived, if absent.
    pub category: Option<Category>,
    /// Type; derived, if absent.
    pub kind: Option<MemoryType>,
    /// Importance; derived, if absent.
    pub importance: Option<Importance>,
    /// Tags.
    pub tags: Vec<Tag>,
    /// Additional search words.
    pub keywords: Vec<String>,
    /// Names of people, tools and other things; derived from the text if the list is empty.
    pub entities: Vec<String>,
    /// Its scope; if absent, the caller's project, or global for what is about the caller and the assistant.
    pub scope: Option<Scope>,
    /// The time at which the statement became true; the current time if absent.
    pub created: Option<Timestamp>,
    /// When it expires; never, if absent.
    pub expires: Option<Timestamp>,
    /// The client's metadata.
    pub metadata: Option<Metadata>,
    /// The source of the memory, for its history.
    pub reason: Option<String>,
    /// Its session; the caller's, if absent.
    pub session: Option<String>,
    /// The memory that it replaces.
    pub supersedes: Option<MemoryRef>,
    /// The trust that the owner sets; if absent, the trust of the memory's origin applies.
    pub owner_trust: Option<Trust>,
    /// If the complete text is a secret, its description; see [`described`].
    pub sensitive: Option<String>,
    /// The line of the review queue that becomes this memory.
    pub accepts: Option<CandidateId>,
}

/// Returns the description of a complete text that is a secret. If the caller gives no description, the result contains
/// only the category.
pub fn described(said: Option<String>, category: Option<&Category>) -> String {
    let said = said.map(|said| said.trim().to_owned()).filter(|said| !said.is_empty());
    said.unwrap_or_else(|| match category {
        Some(category) => format!("Sensitive note ({category})"),
        None => "Sensitive note".to_owned(),
    })
}

impl UseCase for Remember {
    type Outcome = Stored;
    const EFFECT: Effect = Effect::Adds;

    fn asked(&mut self) -> Option<Asked<'_>> {
        Some(Asked::Store(self))
    }

    fn touched(stored: &Stored) -> Vec<MemoryRef> {
        // An existing memory was not stored again.
        if stored.existed { Vec::new() } else { vec![MemoryRef::Id(stored.memory.id)] }
    }

    fn run(self, store: &mut Store, caller: &Caller) -> Result<Stored, StoreError> {
        let replaced = self.supersedes.map(|old| Ok(store.get(old)?.ok_or(StoreError::NotFound(old))?.id));
        let replaced = replaced.transpose().map_err(|error: StoreError| error)?;
        // Nothing is derived from a secret text.
        let category = self.category.or_else(|| self.sensitive.is_some().then(Category::default));
        let scope = self.scope.unwrap_or_else(|| caller.default_scope(&self.content, category.as_ref()));
        let stored = store.remember(Draft {
            category,
            kind: self.kind,
            importance: self.importance,
            tags: Tag::unique(self.tags)?,
            keywords: self.keywords,
            entities: self.entities,
            created: self.created,
            expires: self.expires,
            cwd: caller.dir_for(&scope),
            scope,
            origin: caller.origin.clone(),
            session: self.session.or_else(|| caller.session.clone()),
            client: caller.client.clone(),
            sensitive: self.sensitive,
            accepts: self.accepts,
            owner_trust: self.owner_trust,
            altered: caller.altered.clone(),
            metadata: self.metadata,
            reason: self.reason,
            links: replaced.map(|to| Link { kind: LinkKind::Supersedes, to }).into_iter().collect(),
            ..Draft::new(self.content)
        })?;
        // The memory is already stored, so a failure only leaves the line in the queue.
        if let Err(error) = store.remove_candidate_of(&stored.memory) {
            tracing::debug!(%error, "the line stays in the review queue");
        }
        Ok(stored)
    }
}
