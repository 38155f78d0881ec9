//! Memories and links as they are sent to the server.

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
    /// Its UUID; made if left out. A number is somebody else's name for it, and ignored.
    id: Option<MemoryName>,
    /// Its UUID, as answers give it.
    #[schema(format = Uuid)]
    uuid: Option<String>,
    /// What the sender calls it: given back as it came. With it a text that is there already is not stored again.
    local_id: Option<serde_json::Value>,
    /// Category; facts if left out, inferred if null or empty.
    #[serde(default = "facts")]
    category: Option<String>,
    /// fact, entity, relationship or self; inferred if left out.
    #[serde(rename = "type")]
    kind: Option<String>,
    /// Tags.
    tags: Option<Words>,
    /// Further words to find it by.
    #[serde(alias = "expanded_keywords")]
    keywords: Option<Words>,
    /// Named things in it; extracted if left out.
    entities: Option<Words>,
    /// 0 to 1; 0.5 if left out, scored if null.
    #[schema(minimum = 0, maximum = 1)]
    #[serde(default = "half")]
    importance: Option<f64>,
    /// The project it belongs to; everywhere if left out.
    scope: Option<String>,
    /// The session it comes from.
    session: Option<String>,
    /// When it became true, as RFC 3339; now if left out.
    created: Option<String>,
    /// When it leaves recall, as RFC 3339; never if left out.
    expires: Option<String>,
    /// The whole text is a secret: it is kept as such, and what is said of it stands in its place.
    #[serde(default)]
    force_sensitive: bool,
    /// What is to be kept beside the text and given back with it: an object of at most 8 KiB.
    #[schema(value_type = Option<Object>)]
    #[serde(default, deserialize_with = "Metadata::read")]
    metadata: Option<Metadata>,
    /// What is said of a text that is a secret as a whole: with `force_sensitive` alone.
    summary: Option<String>,
    /// What the older system encrypted, as base64: it is opened with the server's key and kept as a secret.
    encrypted_content: Option<String>,
    /// The older system's number of it, where that put the text into the vault: it is read there and kept as a secret.
    vault_id: Option<u64>,
}

/// The category of the older API for what has none.
#[expect(clippy::unnecessary_wraps, reason = "null is told from what is left out")]
fn facts() -> Option<String> {
    Some("facts".into())
}

/// The importance of the older API for what has none.
#[expect(clippy::unnecessary_wraps, reason = "as above")]
fn half() -> Option<f64> {
    Some(0.5)
}

/// What is said of a text that is a secret as a whole.
fn said_of(is_secret: bool, summary: Option<&String>, category: Option<&String>) -> Option<String> {
    let summary = summary.map(|text| text.trim()).filter(|text| !text.is_empty());
    match (is_secret, summary) {
        // The server makes its own: what it gave out may come back.
        (false, _) => None,
        (true, Some(said)) => Some(said.to_owned()),
        (true, None) => {
            let category = category.filter(|name| !name.is_empty());
            Some(category.map_or_else(|| "Sensitive note".into(), |name| format!("Sensitive note ({name})")))
        }
    }
}

impl NewMemory {
    /// What the older system encrypted.
    pub(crate) fn encrypted(&self) -> Option<&str> {
        self.encrypted_content.as_deref().filter(|text| !text.is_empty())
    }

    /// Where the older system put the text into the vault.
    pub(crate) fn vault_id(&self) -> Option<u64> {
        self.vault_id
    }

    /// The same, where what it encrypted was opened: that is what it says, and all of it is a secret.
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

    /// What the sender calls it.
    pub(crate) fn local_id(&self) -> Option<&serde_json::Value> {
        self.local_id.as_ref()
    }

    /// What is to be stored, by whom a request is: a program, for the person whose key it has.
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

/// Fields to change; those left out stay.
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
    /// The new tags, replacing the old ones.
    tags: Option<Words>,
    /// The new keywords, replacing the old ones.
    #[serde(alias = "expanded_keywords")]
    keywords: Option<Words>,
    /// The new named things, replacing the old ones.
    entities: Option<Words>,
    /// The new importance.
    #[schema(minimum = 0, maximum = 1)]
    importance: Option<f64>,
    /// The new scope.
    scope: Option<String>,
    /// What is kept beside the text, replacing what was; an empty object for none.
    #[schema(value_type = Option<Object>)]
    #[serde(default, deserialize_with = "Metadata::read")]
    metadata: Option<Metadata>,
    /// The whole text, new or as it is, is a secret: it is kept as such, and what is said of it stands in its place.
    #[serde(default)]
    force_sensitive: bool,
    /// What is said of a text that is a secret as a whole: with `force_sensitive` alone.
    summary: Option<String>,
}

impl MemoryPatch {
    /// The first field that is given beside the text.
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

    /// The new text, if one is given.
    pub(crate) fn content(&self) -> Option<&str> {
        self.content.as_deref()
    }

    /// True if the whole text is to be hidden, and the caller does not send it.
    pub(crate) fn hides_unseen_text(&self) -> bool {
        self.force_sensitive && self.content.is_none()
    }

    /// What is to be changed of a text; nothing, where no field is given.
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
            vouched: None,
            sensitive: said_of(self.force_sensitive, self.summary.as_ref(), self.category.as_ref()),
        })
    }
}

/// A link to make.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub(crate) struct NewLink {
    /// The other memory: its number, or its UUID.
    pub(crate) target_id: MemoryName,
    /// supersedes, resolved_by, part_of, see_also, or any other short name such as depends_on.
    #[serde(alias = "type")]
    link_type: String,
}

impl NewLink {
    /// The link to the memory that `target_id` was found to name.
    pub(crate) fn link(&self, to: MemoryUuid) -> Result<Link, DomainError> {
        let kind: LinkKind = parsed("link_type", &self.link_type)?;
        Ok(Link { kind, to })
    }
}
