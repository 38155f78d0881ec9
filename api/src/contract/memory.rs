//! Memories and links in requests.

use serde::Deserialize;
use tessera_engine::domain::{
    Category, DomainError, Draft, Importance, Link, LinkKind, MemoryUuid, Metadata, Origin, Patch,
};
use utoipa::ToSchema;

use super::{MemoryName, Words, parsed, tags};

/// A memory to store.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub(crate) struct NewMemory {
    /// The text, verbatim.
    #[schema(min_length = 1, max_length = 32768)]
    content: String,
    /// Its UUID; generated if missing. If it is a number, it is the ID of another system, and is ignored.
    id: Option<MemoryName>,
    /// Its UUID, as answers give it.
    #[schema(format = Uuid)]
    uuid: Option<String>,
    /// The sender's own ID, returned unchanged. If this ID is present and the text already exists, the server does not
    /// store the text again.
    local_id: Option<serde_json::Value>,
    /// Category [default: facts]; derived if null or empty.
    #[serde(default = "facts")]
    category: Option<String>,
    /// fact, entity, relationship or self; derived if missing.
    #[serde(rename = "type")]
    kind: Option<String>,
    /// Tags.
    tags: Option<Words>,
    /// Further words to find it by.
    #[serde(alias = "expanded_keywords")]
    keywords: Option<Words>,
    /// Named entities; extracted if missing.
    entities: Option<Words>,
    /// 0 to 1 [default: 0.5]; derived if null.
    #[schema(minimum = 0, maximum = 1)]
    #[serde(default = "half")]
    importance: Option<f64>,
    /// The project of the memory [default: global].
    scope: Option<String>,
    /// The session it comes from.
    session: Option<String>,
    /// The time at which the statement became true, as RFC 3339 [default: now].
    created: Option<String>,
    /// The time at which the memory expires, as RFC 3339 [default: never].
    expires: Option<String>,
    /// The whole text is a secret: it is encrypted, and `summary` replaces it.
    #[serde(default)]
    force_sensitive: bool,
    /// An object of at most 8 KiB, stored beside the text and returned with it.
    #[schema(value_type = Option<Object>)]
    #[serde(default, deserialize_with = "Metadata::read")]
    metadata: Option<Metadata>,
    /// Describes a text that is entirely secret; used only if `force_sensitive` is true.
    summary: Option<String>,
    /// A text that the older system encrypted, as base64. The server decrypts it with its key and stores it as a
    /// secret.
    encrypted_content: Option<String>,
    /// The older system's vault ID of the text. The server reads the text from the vault and stores it as a secret.
    vault_id: Option<u64>,
}

/// The default category of the older API.
#[expect(clippy::unnecessary_wraps, reason = "null is distinguished from an omitted field")]
fn facts() -> Option<String> {
    Some("facts".into())
}

/// The default importance of the older API.
#[expect(clippy::unnecessary_wraps, reason = "as above")]
fn half() -> Option<f64> {
    Some(0.5)
}

/// The description of a text that is entirely secret.
fn said_of(is_secret: bool, summary: Option<&String>, category: Option<&String>) -> Option<String> {
    let summary = summary.map(|text| text.trim()).filter(|text| !text.is_empty());
    match (is_secret, summary) {
        // The server writes its own summary; a summary that it sent earlier may return.
        (false, _) => None,
        (true, Some(said)) => Some(said.to_owned()),
        (true, None) => {
            let category = category.filter(|name| !name.is_empty());
            Some(category.map_or_else(|| "Sensitive note".into(), |name| format!("Sensitive note ({name})")))
        }
    }
}

impl NewMemory {
    /// The text that the older system encrypted.
    pub(crate) fn encrypted(&self) -> Option<&str> {
        self.encrypted_content.as_deref().filter(|text| !text.is_empty())
    }

    /// The vault ID that the older system gave the text.
    pub(crate) fn vault_id(&self) -> Option<u64> {
        self.vault_id
    }

    /// The same request with the decrypted text. The complete text is secret.
    pub(crate) fn decrypted(mut self, value: &str) -> Self {
        self.summary = Some(std::mem::replace(&mut self.content, value.to_owned()));
        self.force_sensitive = true;
        self
    }

    /// The id that the caller chose.
    pub(crate) fn id(&self) -> Result<Option<MemoryUuid>, DomainError> {
        let id = match &self.id {
            Some(MemoryName::Text(id)) => Some(parsed("id", id)?),
            Some(MemoryName::Number(_)) | None => None,
        };
        let uuid = self.uuid.as_deref().map(|uuid| parsed("uuid", uuid)).transpose()?;
        Ok(uuid.or(id))
    }

    /// The sender's name for it.
    pub(crate) fn local_id(&self) -> Option<&serde_json::Value> {
        self.local_id.as_ref()
    }

    /// The draft to store. REST requests come from a program that acts for the user, so the origin is `agent`.
    pub(crate) fn draft(&self) -> Result<Draft, DomainError> {
        let time = |field, text: &Option<String>| text.as_deref().map(|text| parsed(field, text)).transpose();
        Ok(Draft {
            content: self.content.clone(),
            category: self.category.clone().filter(|name| !name.is_empty()).map(Category::try_from).transpose()?,
            kind: self.kind.as_deref().map(|kind| parsed("type", kind)).transpose()?,
            importance: self.importance.map(Importance::try_from).transpose()?,
            tags: tags(self.tags.as_ref())?,
            keywords: self.keywords.as_ref().map(Words::keywords).unwrap_or_default(),
            entities: self.entities.as_ref().map(Words::list).unwrap_or_default(),
            scope: self.scope.as_deref().map(|scope| parsed("scope", scope)).transpose()?.unwrap_or_default(),
            created: time("created", &self.created)?,
            expires: time("expires", &self.expires)?,
            origin: Origin::Agent,
            session: self.session.clone(),
            metadata: self.metadata.clone(),
            sensitive: said_of(self.force_sensitive, self.summary.as_ref(), self.category.as_ref()),
            ..Draft::default()
        })
    }
}

/// Fields to change; other fields keep their values.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub(crate) struct MemoryPatch {
    /// The new text.
    #[schema(min_length = 1, max_length = 32768)]
    content: Option<String>,
    /// The new category.
    category: Option<String>,
    /// The new type.
    #[serde(rename = "type")]
    kind: Option<String>,
    /// The new tags, which replace the old ones.
    tags: Option<Words>,
    /// The new keywords, which replace the old ones.
    #[serde(alias = "expanded_keywords")]
    keywords: Option<Words>,
    /// The new entities, which replace the old ones.
    entities: Option<Words>,
    /// The new importance.
    #[schema(minimum = 0, maximum = 1)]
    importance: Option<f64>,
    /// The new scope.
    scope: Option<String>,
    /// The new metadata, which replaces the existing metadata; an empty object removes it.
    #[schema(value_type = Option<Object>)]
    #[serde(default, deserialize_with = "Metadata::read")]
    metadata: Option<Metadata>,
    /// True if the whole text is a secret. The server then encrypts it and shows `summary` instead.
    #[serde(default)]
    force_sensitive: bool,
    /// Describes a text that is entirely secret; used only if `force_sensitive` is true.
    summary: Option<String>,
}

impl MemoryPatch {
    /// Returns the first changed field besides the text, or `None`.
    pub(crate) fn field_beside_text(&self) -> Option<&'static str> {
        let given = [
            ("tags", self.tags.is_some()),
            ("scope", self.scope.is_some()),
            ("category", self.category.is_some()),
            ("type", self.kind.is_some()),
            ("keywords", self.keywords.is_some()),
            ("entities", self.entities.is_some()),
            ("importance", self.importance.is_some()),
            ("metadata", self.metadata.is_some()),
        ];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name)
    }

    /// The new text, if the request contains one.
    pub(crate) fn content(&self) -> Option<&str> {
        self.content.as_deref()
    }

    /// True if the whole text must be hidden, but the request does not contain the text.
    pub(crate) fn hides_unseen_text(&self) -> bool {
        self.force_sensitive && self.content.is_none()
    }

    /// The patch; empty if the request contains no field.
    pub(crate) fn patch(&self, now: &str) -> Result<Patch, DomainError> {
        let kept = || self.force_sensitive.then(|| now.to_owned());
        Ok(Patch {
            content: self.content.clone().or_else(kept),
            category: self.category.clone().map(Category::try_from).transpose()?,
            kind: self.kind.as_deref().map(|kind| parsed("type", kind)).transpose()?,
            importance: self.importance.map(Importance::try_from).transpose()?,
            tags: self.tags.as_ref().map(|words| tags(Some(words))).transpose()?,
            keywords: self.keywords.as_ref().map(Words::keywords),
            entities: self.entities.as_ref().map(Words::list),
            scope: self.scope.as_deref().map(|scope| parsed("scope", scope)).transpose()?,
            expires: None,
            metadata: self.metadata.clone(),
            owner_trust: None,
            sensitive: said_of(self.force_sensitive, self.summary.as_ref(), self.category.as_ref()),
        })
    }
}

/// A link to make.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub(crate) struct NewLink {
    /// The other memory: its short ID or its UUID.
    pub(crate) target_id: MemoryName,
    /// supersedes, updates, resolved_by, part_of, see_also, or any short name such as depends_on.
    #[serde(alias = "type")]
    link_type: String,
}

impl NewLink {
    /// The link to the memory that `target_id` names.
    pub(crate) fn link(&self, to: MemoryUuid) -> Result<Link, DomainError> {
        let kind: LinkKind = parsed("link_type", &self.link_type)?;
        Ok(Link { kind, to })
    }
}
