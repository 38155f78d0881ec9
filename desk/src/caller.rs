//! The caller. Every default that depends on the caller is decided here, for all front ends.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tessera_engine::domain::{Alteration, Category, Origin, Scope, TokenProfile};
use tessera_engine::enrich;
use tessera_engine::store::Actor;
use tessera_plugins::wasm::Limits;

use crate::project::claim_of;

/// The caller: who asks, from which client, and with which token profile.
#[derive(Debug, Clone)]
pub struct Caller {
    /// A person, a model, or automatic learning.
    pub origin: Origin,
    /// The client's session, if there is one.
    pub session: Option<String>,
    /// The project that they are in.
    pub project: Option<Project>,
    /// The client program, with its version if known.
    pub client: Option<String>,
    /// The token profile of budgets.
    pub profile: TokenProfile,
    /// True if the user wants Tessera to record the full text of unanswered questions.
    pub keeps_questions: bool,
    /// How plugins are called.
    pub plugins: PluginRules,
    /// What plugins changed in the request; set by the service layer.
    pub altered: Vec<Alteration>,
}

/// How plugins are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PluginRules {
    /// True if no plugin is called. This is the case during imports, and inside a plugin's program, which would
    /// otherwise call itself.
    pub are_off: bool,
    /// How long a prompt waits for all plugins.
    pub prompt: Duration,
}

impl Default for PluginRules {
    fn default() -> Self {
        Self { are_off: false, prompt: Limits::PROMPT.time }
    }
}

/// A project, and the working directory in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// Its name.
    pub scope: Scope,
    /// The directory.
    pub dir: PathBuf,
}

impl Project {
    /// The project of a directory; `None` if it has none, for example in the user's home.
    pub fn of(dir: &Path, user_home: Option<&Path>) -> Option<Self> {
        let scope = claim_of(dir, user_home).scope;
        (scope != Scope::Global).then(|| Self { scope, dir: dir.to_path_buf() })
    }
}

impl Caller {
    /// A caller without a session and a project. Its budgets are counted with o200k_base.
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

    /// The caller as the history records it.
    pub fn actor(&self, reason: Option<String>) -> Actor {
        Actor {
            origin: self.origin.clone(),
            session: self.session.clone(),
            client: self.client.clone(),
            reason,
            altered: self.altered.clone(),
        }
    }

    /// The scope of the caller's project.
    pub fn scope(&self) -> Option<Scope> {
        self.project.as_ref().map(|project| project.scope.clone())
    }

    /// The default scope of a memory: the caller's project, or global for preferences about how the assistant works and
    /// for statements about the caller. If the caller sets a category, only this category counts: preferences and people
    /// are global. Outside of a project, all memories are global.
    pub fn default_scope(&self, content: &str, category: Option<&Category>) -> Scope {
        let is_global = match category.map(Category::as_str) {
            Some(given) => matches!(given, Category::PREFERENCES | "people") && !enrich::is_about_here(content),
            None => enrich::is_personal(content),
        };
        self.scope().filter(|_| !is_global).unwrap_or_default()
    }

    /// Returns the caller's directory if the memory belongs to the caller's project. The store keeps this directory as
    /// evidence for the project.
    pub(crate) fn dir_for(&self, scope: &Scope) -> Option<String> {
        let own = self.project.as_ref().filter(|project| project.scope == *scope)?;
        Some(own.dir.to_string_lossy().into_owned())
    }
}
