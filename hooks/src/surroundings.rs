//! The surroundings of a hook. All values from the environment are passed in.
//!
//! This module also defines the setting that selects the extractor. The worker runs the extractors.

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

/// The maximum number of characters that Claude Code passes directly to a model, minus a margin. A client writes longer
/// texts to a file.
pub const MOST_CHARACTERS: usize = 9_500;

/// The user's settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Recall for prompts, and summaries for sessions.
    pub recall: bool,
    /// Semantic search in addition to search by words.
    pub embedding: bool,
    /// The token budget of recall for a prompt.
    pub recall_tokens: TokenBudget,
    /// The token budget of a session's summary.
    pub session_summary_tokens: TokenBudget,
    /// The token budget of recall after a compaction.
    pub compact_tokens: TokenBudget,
    /// The budgets of recall for actions; `None` if it is off.
    pub actions: Option<ActionBudgets>,
    /// The token budget of recall for the task of a subagent; `None` if it is off.
    pub subagent_tokens: Option<TokenBudget>,
    /// The token budget of a hand-off after a compaction; `None` if hand-offs are off.
    pub handoff_tokens: Option<TokenBudget>,
    /// The tokenizer for these budgets.
    pub profile: TokenProfile,
    /// Approve our own safe tools without a permission prompt.
    pub auto_approve: bool,
    /// The extractor.
    pub extractor: ExtractorChoice,
    /// Which extracted memories wait for review.
    pub review: ReviewChoice,
    /// Which lines the user sees.
    pub show: ShowChoice,
    /// Maximum tokens that extractors may use per day.
    pub daily_tokens: u64,
    /// The rules for calling plugins.
    pub plugins: PluginRules,
    /// The time limit of a hook.
    pub deadline: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        let budget = |tokens| TokenBudget::try_from(tokens).unwrap_or(TokenBudget::DEFAULT);
        Self {
            recall: true,
            embedding: true,
            recall_tokens: budget(800),
            session_summary_tokens: budget(300),
            compact_tokens: budget(800),
            actions: Some(ActionBudgets::default()),
            subagent_tokens: Some(budget(200)),
            handoff_tokens: Some(budget(800)),
            profile: TokenProfile::CLAUDE,
            auto_approve: true,
            extractor: ExtractorChoice::Heuristic,
            review: ReviewChoice::Ask,
            show: ShowChoice::Learned,
            daily_tokens: 50_000,
            plugins: PluginRules::default(),
            deadline: Duration::from_secs(1),
        }
    }
}

/// The token budgets of recall for actions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ActionBudgets {
    /// For one action.
    pub action: TokenBudget,
    /// For all actions of a session.
    pub session: TokenBudget,
}

impl Default for ActionBudgets {
    fn default() -> Self {
        let budget = |tokens| TokenBudget::try_from(tokens).unwrap_or(TokenBudget::DEFAULT);
        Self { action: budget(80), session: budget(300) }
    }
}

/// The surroundings of a hook.
#[derive(Clone)]
pub struct Surroundings {
    /// The store's directory.
    pub home: Home,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The user's settings.
    pub settings: Settings,
    /// Unknown keys in the settings.
    pub unknown_settings: Vec<String>,
    /// The directory in which the client was started.
    pub project_dir: Option<PathBuf>,
    /// The user's home directory, which is not a project.
    pub user_home: Option<PathBuf>,
    /// Where other memory systems keep their data.
    pub older: Places,
    /// This program, which is started again as a worker.
    pub program: PathBuf,
    /// The running Claude Code program, if known.
    pub claude: Option<PathBuf>,
    /// The search path for programs.
    pub search_path: Option<std::ffi::OsString>,
    /// The rules for credentials in texts.
    pub secrets: SecretRules,
    /// The address of Ollama.
    pub ollama: String,
}

impl Surroundings {
    /// Opens the store.
    ///
    /// # Errors
    /// Returns an error if it cannot be opened.
    pub fn open(&self, usage: Usage) -> Result<Store, StoreError> {
        let (home, clock, weights) = (self.home.clone(), Arc::clone(&self.clock), Weights::default());
        Store::open(StoreConfig {
            home,
            clock,
            weights,
            usage,
            embedding: self.settings.embedding,
            secrets: self.secrets.clone(),
        })
    }
}

names! {
/// The setting for the extractor.
#[derive(Default)]
pub enum ExtractorChoice {
    /// None; nothing is learned.
    Off = "off",
    /// Fixed patterns, which are free and offline.
    #[default]
    Heuristic = "heuristic",
    /// A small local model, or the patterns if it does not answer.
    Ollama = "ollama",
    /// Claude Haiku through the installed client, then patterns.
    Claude = "claude",
    /// Claude, then Ollama, then patterns.
    Auto = "auto",
}
}

names! {
/// The setting for the review of extracted memories.
#[derive(Default)]
pub enum ReviewChoice {
    /// None: certain ones are stored, and uncertain ones are discarded.
    Off = "off",
    /// Certain ones are stored, and uncertain ones wait for review.
    #[default]
    Ask = "ask",
    /// All of them wait for review.
    All = "all",
}
}

names! {
/// The setting for the lines that the user sees.
#[derive(Default)]
pub enum ShowChoice {
    /// None.
    Off = "off",
    /// New memories, waiting lines, and memories that the user retracted.
    #[default]
    Learned = "learned",
    /// Also which memories were added.
    All = "all",
}
}

/// A name that is not a value of a setting. It contains the valid names.
#[derive(Debug, thiserror::Error)]
#[error("is unknown; use {0}")]
pub struct UnknownChoice(&'static str);

macro_rules! choices {
    ($($Type:ty: $names:literal),+ $(,)?) => {$(
        impl FromStr for $Type {
            type Err = UnknownChoice;

            fn from_str(text: &str) -> Result<Self, UnknownChoice> {
                Self::named(&text.trim().to_lowercase()).ok_or(UnknownChoice($names))
            }
        }
    )+};
}

choices! {
    ExtractorChoice: "off, heuristic, ollama, claude or auto",
    ReviewChoice: "off, ask or all",
    ShowChoice: "off, learned or all",
}
