//! What a plugin says of itself: its name, when it wants to be called, what it wants to do. In TOML: in a section of a WASM
//! file, in a file beside it, or given when it is added.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use tessera_tables::{displays, names};

use crate::failure::PluginError;

/// The longest name, in characters.
const LONGEST_NAME: usize = 40;
/// The longest version, and the longest description.
const LONGEST_VERSION: usize = 40;
const LONGEST_DESCRIPTION: usize = 300;

/// What a plugin is called: small letters, digits and hyphens, at most 40, beginning with a letter.
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
        // The rest of the directory of plugins has names of its own.
        let is_free = !["registry", "counts", "data"].contains(&text.as_str());
        if begins && is_free && !text.ends_with('-') && text.len() <= LONGEST_NAME && text.chars().all(is_letter) {
            return Ok(Self(text));
        }
        let fix = "give 1 to 40 small letters, digits and hyphens, beginning with a letter, such as team-tags";
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
/// What is done with memories.
#[derive(PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A memory is stored.
    Store = "store",
    /// A question is asked, or memories are given unasked.
    Recall = "recall",
    /// Fields of memories are changed.
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
    /// While it can still be changed or refused.
    Before = "before",
    /// When it is on disk, or was given.
    After = "after",
}
}

/// A moment at which a plugin wants to be called, written `store.before`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Wants {
    /// What is done.
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
                format!("{text:?} is unknown; give store, recall, update or forget, with .before or .after"),
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
/// What a plugin can be granted to change. Neither scope, origin, trust, links nor secrets are among it.
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
    /// Further words under which it is found.
    Keywords = "keywords",
    /// Named things.
    Entities = "entities",
    /// The question of a recall.
    Query = "query",
    /// Its further words.
    ExpandedQuery = "expanded_query",
}
}

/// What a plugin is, and what it asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// What it is called.
    pub name: Name,
    /// Its own version.
    #[serde(default)]
    pub version: String,
    /// What it is for, in a sentence.
    #[serde(default)]
    pub description: String,
    /// When it is called.
    pub events: BTreeSet<Wants>,
    /// What it changes; nothing, if absent.
    #[serde(default)]
    pub change: BTreeSet<Field>,
    /// True where it refuses some of what is to be done.
    #[serde(default)]
    pub refuse: bool,
    /// True where it is called before memories are given to a prompt, which waits 5 ms for it at most.
    #[serde(default)]
    pub fast: bool,
    /// True where it wants to know the time.
    #[serde(default)]
    pub clock: bool,
}

impl Manifest {
    /// Reads one.
    ///
    /// # Errors
    /// When it is no TOML, or a field is missing, unknown or out of range.
    pub fn read(text: &str) -> Result<Self, PluginError> {
        let manifest: Self = toml_edit::de::from_str(text)
            .map_err(|error| PluginError::of("manifest", error.to_string().trim().replace('\n', " ")))?;
        manifest.checked()
    }

    /// The same, if it can be used.
    ///
    /// # Errors
    /// When it asks for nothing, or for what cannot be.
    pub fn checked(self) -> Result<Self, PluginError> {
        let has_before = self.events.iter().any(|wants| wants.when == When::Before);
        if self.events.is_empty() {
            return Err(PluginError::of("events", "is empty; say when it is called, such as [\"store.before\"]"));
        }
        if !has_before && (self.refuse || !self.change.is_empty()) {
            let fix = "what is done can be neither changed nor refused; add an event with .before, or ask for neither";
            return Err(PluginError::of("events", fix));
        }
        let is_plain = |text: &str, most: usize| text.chars().count() <= most && !text.contains(char::is_control);
        if !is_plain(&self.version, LONGEST_VERSION) {
            return Err(PluginError::of("version", "is too long, or no line of text"));
        }
        if !is_plain(&self.description, LONGEST_DESCRIPTION) {
            return Err(PluginError::of("description", "is too long, or no line of text"));
        }
        Ok(self)
    }

    /// True when it wants to be called then.
    pub fn wants(&self, event: Event, when: When) -> bool {
        self.events.contains(&Wants { event, when })
    }

    /// What it may do, in lines for who is asked to allow it.
    pub fn permissions(&self) -> Vec<String> {
        let listed = |when: When| {
            let of: Vec<&str> =
                self.events.iter().filter(|wants| wants.when == when).map(|wants| wants.event.as_str()).collect();
            (!of.is_empty()).then(|| of.join(", "))
        };
        let fields: Vec<&str> = self.change.iter().map(|field| field.as_str()).collect();
        let lines = [
            listed(When::Before).map(|events| format!("see what is asked, before {events}")),
            listed(When::After).map(|events| format!("see what was done, after {events}")),
            (!fields.is_empty()).then(|| format!("change {}", fields.join(", "))),
            self.refuse.then(|| "refuse, with a reason that you are told".to_owned()),
            self.fast.then(|| "be called before memories are given to a prompt, for 5 ms at most".to_owned()),
            self.clock.then(|| "know the time".to_owned()),
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
                "see what is asked, before store",
                "see what was done, after store",
                "change tags",
                "refuse, with a reason that you are told"
            ]
        );
        let again = serde_json::to_string(&manifest).unwrap();
        assert_eq!(serde_json::from_str::<Manifest>(&again).unwrap(), manifest);
    }

    #[test]
    fn what_cannot_be_is_refused_with_the_fields_name() {
        for (text, named) in [
            ("name = 'Team'\nevents = ['store.before']", "small letters"),
            ("name = '../x'\nevents = ['store.before']", "small letters"),
            ("name = 'registry'\nevents = ['store.before']", "small letters"),
            ("name = 'a'\nevents = []", "events: is empty"),
            ("name = 'a'\nevents = ['store']", "is unknown"),
            ("name = 'a'\nevents = ['steal.before']", "is unknown"),
            ("name = 'a'\nevents = ['store.after']\nrefuse = true", "neither changed nor refused"),
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
