//! Who asks. Every default that depends on it is decided here, for all faces alike.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tessera_engine::domain::{Alteration, Category, Origin, Scope, TokenProfile};
use tessera_engine::enrich;
use tessera_engine::store::Actor;
use tessera_plugins::wasm::Limits;

use crate::project::claim_of;

/// Who asks, from where, and how they count.
#[derive(Debug, Clone)]
pub struct Caller {
    /// Whether a person speaks, a model, or what was learned from them.
    pub origin: Origin,
    /// The client's session, where there is one.
    pub session: Option<String>,
    /// The project that they are in.
    pub project: Option<Project>,
    /// The client program, and its version where it tells.
    pub client: Option<String>,
    /// Whose tokens budgets count.
    pub profile: TokenProfile,
    /// True where the person wants to keep the questions that nothing answers strongly.
    pub keeps_questions: bool,
    /// How plugins are called.
    pub plugins: PluginRules,
    /// What plugins changed of what is asked for; set by the desk.
    pub altered: Vec<Alteration>,
}

/// How plugins are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PluginRules {
    /// True where none is called: inside a program that a plugin started, or there would be no end of it, and for what is
    /// imported.
    pub are_off: bool,
    /// How long a prompt waits for all of them.
    pub prompt: Duration,
}

impl Default for PluginRules {
    fn default() -> Self {
        Self { are_off: false, prompt: Limits::PROMPT.time }
    }
}

/// A project, and the directory in which somebody works on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// Its name.
    pub scope: Scope,
    /// The directory.
    pub dir: PathBuf,
}

impl Project {
    /// The project that a directory says it is; `None` where it says none, as the user's own home does.
    pub fn of(dir: &Path, user_home: Option<&Path>) -> Option<Self> {
        let scope = claim_of(dir, user_home).scope;
        (scope != Scope::Global).then(|| Self { scope, dir: dir.to_path_buf() })
    }
}

impl Caller {
    /// Somebody in no session and no project, who counts o200k_base tokens.
    pub fn new(origin: Origin) -> Self {
        Self {
            origin,
            session: None,
            project: None,
            client: None,
            profile: TokenProfile::O200K,
            keeps_questions: false,
            plugins: PluginRules::default(),
            altered: Vec::new(),
        }
    }

    /// The caller as the history of a memory keeps it.
    pub fn actor(&self, reason: Option<String>) -> Actor {
        Actor {
            origin: self.origin.clone(),
            session: self.session.clone(),
            client: self.client.clone(),
            reason,
            altered: self.altered.clone(),
        }
    }

    /// The scope of the project that the caller is in.
    pub fn scope(&self) -> Option<Scope> {
        self.project.as_ref().map(|project| project.scope.clone())
    }

    /// Where a memory belongs for which nobody said it: preferences, people and what somebody says of themselves go
    /// with the person, everything else belongs to the project that the caller is in.
    pub(crate) fn default_scope(&self, content: &str, category: Option<&Category>) -> Scope {
        let is_personal = match category.map(Category::as_str) {
            Some(given) => matches!(given, Category::PREFERENCES | "people"),
            None => matches!(enrich::category(content).as_str(), Category::PREFERENCES | "people") || says_i(content),
        };
        self.scope().filter(|_| !is_personal).unwrap_or_default()
    }

    /// The directory that a memory of a scope shows to be of it: the caller's own, for a memory of their own project.
    pub(crate) fn dir_for(&self, scope: &Scope) -> Option<String> {
        let own = self.project.as_ref().filter(|project| project.scope == *scope)?;
        Some(own.dir.to_string_lossy().into_owned())
    }
}

/// True where somebody speaks of themselves: such a note rarely belongs to one project.
fn says_i(content: &str) -> bool {
    const WORDS: [&str; 9] = ["i", "i'm", "i've", "i'd", "i'll", "my", "me", "mine", "myself"];
    let mut words = content.split(|character: char| !character.is_alphanumeric() && !matches!(character, '\'' | '’'));
    words.any(|word| WORDS.contains(&word.to_lowercase().replace('’', "'").as_str()))
}
