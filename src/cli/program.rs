//! The arguments of `tessera settings` and `tessera completions`, and the options that decide how to print.

use std::ffi::OsString;

use clap::{Subcommand, ValueEnum};
use clap_complete::{ArgValueCandidates, Shell};

use super::Cli;
use crate::commands::candidates;
use crate::output::{ColorChoice, Manner};

/// The help of `tessera statusline`.
pub(super) const STATUSLINE_HELP: &str = "The command reads the client's JSON on stdin.

Example:
  echo '{\"session_id\":\"s1\"}' | tessera statusline";

impl Cli {
    /// How to print.
    pub(crate) fn manner(&self) -> Manner {
        let color = self.color.unwrap_or_default();
        Manner { color, json: self.json, quiet: self.quiet, no_pager: self.no_pager }
    }
}

/// How to print. The arguments are scanned before they are parsed, because errors of parsing are printed as well.
pub(crate) fn manner(arguments: impl Iterator<Item = OsString>) -> Manner {
    let words: Vec<OsString> = arguments.take_while(|word| word != "--").collect();
    let has = |name: &str| words.iter().any(|word| word == name);
    let after = words.iter().position(|word| word == "--color").and_then(|at| words.get(at + 1));
    let joined = words.iter().filter_map(|word| word.to_str()).find_map(|word| word.strip_prefix("--color="));
    let color = after.and_then(|word| word.to_str()).or(joined);
    Manner {
        color: color.and_then(|word| ColorChoice::from_str(word, true).ok()).unwrap_or_default(),
        json: has("--json"),
        quiet: has("--quiet") || has("-q"),
        no_pager: has("--no-pager"),
    }
}

/// The actions of `tessera settings`.
#[derive(Debug, Subcommand)]
pub(crate) enum SettingsTask {
    /// Print the value of a setting
    Get {
        /// The setting, for example learn.extractor
        #[arg(add = ArgValueCandidates::new(candidates::settings))]
        key: String,
    },
    /// Change a setting
    Set {
        /// The setting, for example learn.extractor
        #[arg(add = ArgValueCandidates::new(candidates::settings))]
        key: String,
        /// The value
        #[arg(required = true, allow_negative_numbers = true, value_name = "VALUE")]
        value: Vec<String>,
    },
    /// Reset a setting to its default
    #[command(aliases = ["reset", "remove"])]
    Unset {
        /// The setting
        #[arg(add = ArgValueCandidates::new(candidates::settings))]
        key: String,
    },
    /// Print the path of config.toml
    Path,
    /// Open config.toml in your editor
    Edit,
    /// List all settings
    List,
}

/// The actions of `tessera completions`.
#[derive(Debug, Subcommand)]
pub(crate) enum CompletionsTask {
    /// Install the completions for your shell: shows the change, then asks
    Install {
        /// The shell [default: the shell in $SHELL]
        shell: Option<Shell>,
        /// Also bind Ctrl-X m to `tessera browse`, which inserts a memory
        #[arg(long)]
        key: bool,
        /// Show the changes without making them
        #[arg(long)]
        dry_run: bool,
        /// Skip the confirmation prompt
        #[arg(long, short)]
        yes: bool,
    },
    /// Print the key binding for `tessera browse`: bash, zsh or fish
    Key {
        /// The shell
        shell: Shell,
    },
    /// Print the script for bash
    Bash,
    /// Print the script for zsh
    Zsh,
    /// Print the script for fish
    Fish,
    /// Print the script for elvish
    Elvish,
    /// Print the script for PowerShell
    #[command(name = "powershell")]
    PowerShell,
}
