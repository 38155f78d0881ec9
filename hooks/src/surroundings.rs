//! What a hook runs in. Everything that comes from the environment is handed in.
//!
//! Who decides what is learned: a setting. The judges themselves are the worker's.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use tessera_desk::PluginRules;
use tessera_desk::older::Places;
use tessera_engine::domain::{Clock, TokenBudget, TokenProfile};
use tessera_engine::score::Weights;
use tessera_engine::store::{Home, SecretRules, Store, StoreConfig, StoreError, Usage};
use tessera_tables::names;

/// The longest text that Claude Code shows a model whole, less a margin: longer ones become a file.
pub const MOST_CHARACTERS: usize = 9_500;

/// What the user can set.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Recall for prompts, and briefs for sessions.
    pub recall: bool,
    /// Memories are found by what they mean, not by their words alone.
    pub meaning: bool,
    /// What a prompt's recall may cost.
    pub recall_tokens: TokenBudget,
    /// What a session's brief may cost.
    pub session_summary_tokens: TokenBudget,
    /// What may be given again after a compaction.
    pub compact_tokens: TokenBudget,
    /// Whose tokens those are.
    pub profile: TokenProfile,
    /// Let our own safe tools run without a permission prompt.
    pub auto_approve: bool,
    /// Who decides what is learned.
    pub extractor: ExtractorChoice,
    /// Tokens that judges may read and write in a day.
    pub daily_tokens: u64,
    /// How plugins are called.
    pub plugins: PluginRules,
    /// How long a hook may take before it gives up.
    pub deadline: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        let budget = |tokens| TokenBudget::try_from(tokens).unwrap_or(TokenBudget::DEFAULT);
        Self {
            recall: true,
            meaning: true,
            recall_tokens: budget(800),
            session_summary_tokens: budget(300),
            compact_tokens: budget(800),
            profile: TokenProfile::CLAUDE,
            auto_approve: true,
            extractor: ExtractorChoice::Heuristic,
            daily_tokens: 50_000,
            plugins: PluginRules::default(),
            deadline: Duration::from_secs(1),
        }
    }
}

/// Where and how a hook runs.
#[derive(Clone)]
pub struct Surroundings {
    /// The store's directory.
    pub home: Home,
    /// Where the time comes from.
    pub clock: Arc<dyn Clock>,
    /// What the user set.
    pub settings: Settings,
    /// What the user set, and is no setting.
    pub unknown_settings: Vec<String>,
    /// The directory the client was started in.
    pub project_dir: Option<PathBuf>,
    /// The user's home directory, which is no project.
    pub user_home: Option<PathBuf>,
    /// Where older systems keep their data.
    pub older: Places,
    /// This program, to be run again as a worker.
    pub program: PathBuf,
    /// The running Claude Code program, where it can be told.
    pub claude: Option<PathBuf>,
    /// Where programs are looked for.
    pub search_path: Option<std::ffi::OsString>,
    /// What becomes of credentials in texts.
    pub secrets: SecretRules,
    /// Where Ollama listens.
    pub ollama: String,
}

impl Surroundings {
    /// Opens the store.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(&self, usage: Usage) -> Result<Store, StoreError> {
        let (home, clock, weights) = (self.home.clone(), Arc::clone(&self.clock), Weights::default());
        Store::open(StoreConfig {
            home,
            clock,
            weights,
            usage,
            meaning: self.settings.meaning,
            secrets: self.secrets.clone(),
        })
    }
}

names! {
/// Who decides what is learned.
#[derive(Default)]
pub enum ExtractorChoice {
    /// Nobody: nothing is learned.
    Off = "off",
    /// Fixed patterns: free, offline.
    #[default]
    Heuristic = "heuristic",
    /// A small model on this machine, then patterns.
    Ollama = "ollama",
    /// Claude Haiku through the installed client, then patterns.
    Claude = "claude",
    /// Claude, then Ollama, then patterns.
    Auto = "auto",
}
}

/// A choice that is none.
#[derive(Debug, thiserror::Error)]
#[error("is unknown; give off, heuristic, ollama, claude or auto")]
pub struct UnknownExtractor;

impl FromStr for ExtractorChoice {
    type Err = UnknownExtractor;

    fn from_str(text: &str) -> Result<Self, UnknownExtractor> {
        Self::named(&text.trim().to_lowercase()).ok_or(UnknownExtractor)
    }
}
