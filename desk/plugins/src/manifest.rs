//! The manifest of a plugin, in TOML: in a section of a WASM file, in a file beside it, or passed to `add`.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use tessera_tables::{displays, names};

use crate::failure::PluginError;

/// The maximum length of a name, in characters.
const LONGEST_NAME: usize = 40;
/// The maximum lengths of version and description.
const LONGEST_VERSION: usize = 40;
const LONGEST_DESCRIPTION: usize = 300;

/// A plugin name: lowercase letters, digits and hyphens, at most 40, beginning with a letter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(String);

impl Name {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Name {
    type Error = PluginError;

    fn try_from(text: String) -> Result<Self, PluginError> {
        let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let begins = text.starts_with(|c: char| c.is_ascii_lowercase());
        // These names have another meaning in the plugin directory.
        let is_free = !["registry", "counts", "data"].contains(&text.as_str());
        if begins && is_free && !text.ends_with('-') && text.len() <= LONGEST_NAME && text.chars().all(is_letter) {
            return Ok(Self(text));
        }
        let fix = "use 1 to 40 lowercase letters, digits and hyphens, beginning with a letter, such as team-tags";
        Err(PluginError::of("name", fix))
    }
}

impl FromStr for Name {
    type Err = PluginError;

    fn from_str(text: &str) -> Result<Self, PluginError> {
        Self::try_from(text.to_owned())
    }
}

displays! { Name }

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

names! {
/// An operation on memories.
#[derive(PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A memory is stored.
    Store = "store",
    /// A question from a user or a model, or automatic recall.
    Recall = "recall",
    /// A change of memories.
    Update = "update",
    /// Memories are forgotten.
    Forget = "forget",
}
}

names! {
/// Before it is done, or after.
#[derive(PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// Before the action, while it can be changed or rejected.
    Before = "before",
    /// After the action: its changes are durable, or its memories were delivered.
    After = "after",
}
}

/// An event at which a plugin is called. For example, `store.before` is the event before storing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Wants {
    /// The operation.
    pub event: Event,
    /// Before it or after it.
    pub when: When,
}

impl TryFrom<String> for Wants {
    type Error = PluginError;

    fn try_from(text: String) -> Result<Self, PluginError> {
        let (event, when) = text.split_once('.').unwrap_or((&text, ""));
        let event = Event::named(event);
        let when = When::named(when);
        match (event, when) {
            (Some(event), Some(when)) => Ok(Self { event, when }),
            _ => Err(PluginError::of(
                "events",
                format!("{text:?} is unknown; use store, recall, update or forget, followed by .before or .after"),
            )),
        }
    }
}

impl From<Wants> for String {
    fn from(wants: Wants) -> Self {
        wants.to_string()
    }
}

impl fmt::Display for Wants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.event.as_str(), self.when.as_str())
    }
}

names! {
/// A field that a plugin may change. A plugin can never change scope, origin, trust, links or secrets.
#[derive(PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// The text.
    Content = "content",
    /// The category.
    Category = "category",
    /// The importance, 0 to 1.
    Importance = "importance",
    /// The tags.
    Tags = "tags",
    /// Further search words.
    Keywords = "keywords",
    /// Named things.
    Entities = "entities",
    /// The question of a recall.
    Query = "query",
    /// Its further words.
    ExpandedQuery = "expanded_query",
}
}

/// The properties of a plugin, and the rights that it requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Its name.
    pub name: Name,
    /// Its own version.
    #[serde(default)]
    pub version: String,
    /// Its purpose, in one sentence.
    #[serde(default)]
    pub description: String,
    /// When it is called.
    pub events: BTreeSet<Wants>,
    /// The fields it changes; none if missing.
    #[serde(default)]
    pub change: BTreeSet<Field>,
    /// True if it may reject requests.
    #[serde(default)]
    pub refuse: bool,
    /// True if the plugin is also called for prompts. A prompt waits at most 5 ms for the plugin.
    #[serde(default)]
    pub fast: bool,
    /// True if it may read the time.
    #[serde(default)]
    pub clock: bool,
}

impl Manifest {
    /// Parses a manifest.
    ///
    /// # Errors
    /// Returns an error if it is not TOML, or a field is missing, unknown or out of range.
    pub fn read(text: &str) -> Result<Self, PluginError> {
        let manifest: Self = toml_edit::de::from_str(text)
            .map_err(|error| PluginError::of("manifest", error.to_string().trim().replace('\n', " ")))?;
        manifest.checked()
    }

    /// Checks a manifest.
    ///
    /// # Errors
    /// Returns an error if the manifest requests nothing, or something that is not allowed.
    pub fn checked(self) -> Result<Self, PluginError> {
        let has_before = self.events.iter().any(|wants| wants.when == When::Before);
        if self.events.is_empty() {
            return Err(PluginError::of("events", "is empty; name the events, such as [\"store.before\"]"));
        }
        if !has_before && (self.refuse || !self.change.is_empty()) {
            let fix = "an after-event allows neither changes nor rejections; add a before-event, or remove `change` \
                and `refuse`";
            return Err(PluginError::of("events", fix));
        }
        let is_plain = |text: &str, most: usize| text.chars().count() <= most && !text.contains(char::is_control);
        if !is_plain(&self.version, LONGEST_VERSION) {
            return Err(PluginError::of("version", "must be one line of at most 200 characters"));
        }
        if !is_plain(&self.description, LONGEST_DESCRIPTION) {
            return Err(PluginError::of("description", "must be one line of at most 200 characters"));
        }
        Ok(self)
    }

    /// True if it handles this event.
    pub fn wants(&self, event: Event, when: When) -> bool {
        self.events.contains(&Wants { event, when })
    }

    /// The rights that the plugin requests, one line each, for the user's decision.
    pub fn permissions(&self) -> Vec<String> {
        let listed = |when: When| {
            let of: Vec<&str> =
                self.events.iter().filter(|wants| wants.when == when).map(|wants| wants.event.as_str()).collect();
            (!of.is_empty()).then(|| of.join(", "))
        };
        let fields: Vec<&str> = self.change.iter().map(|field| field.as_str()).collect();
        let lines = [
            listed(When::Before).map(|events| format!("read the request before {events}")),
            listed(When::After).map(|events| format!("read the result after {events}")),
            (!fields.is_empty()).then(|| format!("change {}", fields.join(", "))),
            self.refuse.then(|| "reject requests, with a reason that is shown to you".to_owned()),
            self.fast.then(|| "run for at most 5 ms before memories are added to a prompt".to_owned()),
            self.clock.then(|| "read the time".to_owned()),
        ];
        lines.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_says_what_it_wants_and_nothing_unknown() {
        let text = "name = 'team-tags'\nversion = '1'\nevents = ['store.before', 'store.after']\nchange = ['tags']\nrefuse = true";
        let manifest = Manifest::read(text).unwrap();
        assert!(manifest.wants(Event::Store, When::Before) && !manifest.wants(Event::Recall, When::Before));
        assert_eq!(
            manifest.permissions(),
            [
                "read the request before store",
                "read the result after store",
                "change tags",
                "reject requests, with a reason that is shown to you"
            ]
        );
        let again = serde_json::to_string(&manifest).unwrap();
        assert_eq!(serde_json::from_str::<Manifest>(&again).unwrap(), manifest);
    }

    #[test]
    fn what_cannot_be_is_refused_with_the_fields_name() {
        for (text, named) in [
            ("name = 'Team'\nevents = ['store.before']", "lowercase letters"),
            ("name = '../x'\nevents = ['store.before']", "lowercase letters"),
            ("name = 'registry'\nevents = ['store.before']", "lowercase letters"),
            ("name = 'a'\nevents = []", "events: is empty"),
            ("name = 'a'\nevents = ['store']", "is unknown"),
            ("name = 'a'\nevents = ['steal.before']", "is unknown"),
            ("name = 'a'\nevents = ['store.after']\nrefuse = true", "neither changes nor rejections"),
            ("name = 'a'\nevents = ['store.before']\nchange = ['scope']", "scope"),
            ("name = 'a'\nevents = ['store.before']\nnetwork = true", "network"),
            ("name = 'a'\nevents = ['store.before']\nversion = \"a\\nb\"", "version"),
            ("events = ['store.before']", "name"),
            ("name = ", "manifest"),
        ] {
            let said = Manifest::read(text).unwrap_err().to_string();
            assert!(said.contains(named), "{text}: {said}");
        }
    }
}
