//! Storing.

use tessera_engine::Store;
use tessera_engine::domain::{
    Category, Draft, Importance, Link, LinkKind, MemoryRef, MemoryType, Metadata, Scope, Tag, Timestamp, Trust,
};
use tessera_engine::store::{StoreError, Stored};

use crate::caller::Caller;
use crate::chain::Asked;
use crate::desk::{Effect, UseCase};

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
    /// What a client keeps beside it.
    pub metadata: Option<Metadata>,
    /// Where it was heard, in words for its history.
    pub reason: Option<String>,
    /// The session it comes from; the caller's, if absent.
    pub session: Option<String>,
    /// The memory that it replaces.
    pub supersedes: Option<MemoryRef>,
    /// Whether the owner vouches for it; what its origin earns, if absent.
    pub vouched: Option<Trust>,
    /// True where the whole text is one secret, and what the memory says of it: see [`described`].
    pub sensitive: Option<String>,
}

/// What a memory says of a text that is one secret as a whole: what somebody said of it, or what kind of note it is.
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
        // What was there already was not stored.
        if stored.existed { Vec::new() } else { vec![MemoryRef::Id(stored.memory.id)] }
    }

    fn run(self, store: &mut Store, caller: &Caller) -> Result<Stored, StoreError> {
        let replaced = self.supersedes.map(|old| Ok(store.get(old)?.ok_or(StoreError::NotFound(old))?.id));
        let replaced = replaced.transpose().map_err(|error: StoreError| error)?;
        // Nothing is read off a text that is a secret.
        let category = self.category.or_else(|| self.sensitive.is_some().then(Category::default));
        let scope = self.scope.unwrap_or_else(|| caller.default_scope(&self.content, category.as_ref()));
        store.remember(Draft {
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
            vouched: self.vouched,
            altered: caller.altered.clone(),
            metadata: self.metadata,
            reason: self.reason,
            links: replaced.map(|to| Link { kind: LinkKind::Supersedes, to }).into_iter().collect(),
            ..Draft::new(self.content)
        })
    }
}
