//! Storing.

use tessera_engine::Store;
use tessera_engine::domain::{
    Category, Draft, Importance, Link, LinkKind, MemoryRef, MemoryType, Scope, Tag, Timestamp,
};
use tessera_engine::store::{StoreError, Stored};

use crate::caller::Caller;
use crate::desk::{Effect, Verb};

/// Stores a memory. What is left out is derived from the text, or from who asks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Remember {
    /// The text.
    pub content: String,
    /// Category; derived if absent.
    pub category: Option<Category>,
    /// Type; derived if absent.
    pub kind: Option<MemoryType>,
    /// Importance; derived if absent.
    pub importance: Option<Importance>,
    /// Tags.
    pub tags: Vec<Tag>,
    /// Further words under which to find it.
    pub keywords: Vec<String>,
    /// Named things; derived if there are none.
    pub entities: Vec<String>,
    /// Where it belongs; if absent, to the caller's project, or everywhere for preferences and people.
    pub scope: Option<Scope>,
    /// When it became true; now, if absent.
    pub created: Option<Timestamp>,
    /// From when on it is hidden; never, if absent.
    pub expires: Option<Timestamp>,
    /// The session it comes from; the caller's, if absent.
    pub session: Option<String>,
    /// The memory that it replaces.
    pub supersedes: Option<MemoryRef>,
}

impl Verb for Remember {
    type Outcome = Stored;
    const EFFECT: Effect = Effect::Adds;

    fn run(self, store: &mut Store, caller: &Caller) -> Result<Stored, StoreError> {
        let replaced = self.supersedes.map(|old| Ok(store.get(old)?.ok_or(StoreError::NotFound(old))?.id));
        let replaced = replaced.transpose().map_err(|error: StoreError| error)?;
        let scope = self.scope.unwrap_or_else(|| caller.default_scope(&self.content, self.category.as_ref()));
        store.remember(Draft {
            category: self.category,
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
            links: replaced.map(|to| Link { kind: LinkKind::Supersedes, to }).into_iter().collect(),
            ..Draft::new(self.content)
        })
    }
}
