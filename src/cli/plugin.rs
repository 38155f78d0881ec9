//! The arguments of `tessera plugin`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use tessera_plugins::{Field, Name, Wants};

use super::values::rows;

/// The actions of `tessera plugin`.
#[derive(Debug, Subcommand)]
pub(crate) enum PluginTask {
    /// List plugins with their permissions and status
    List,
    /// Add or replace a plugin: shows its permissions, then asks
    Add(Box<AddPlugin>),
    /// Remove a plugin, but keep its data directory
    Remove {
        /// The name
        name: Name,
    },
    /// Call a plugin with sample messages; nothing is stored
    Test {
        /// The plugin's name, or a WASM file
        which: String,
        /// A file with your own message; - reads stdin
        #[arg(long, value_name = "FILE")]
        message: Option<PathBuf>,
    },
    /// Show errors, refusals and notes of plugins, oldest first
    Log {
        /// Only this plugin
        name: Option<Name>,
        /// How many of the most recent lines to show
        #[arg(long, short = 'n', default_value = "50", value_name = "N", value_parser = rows, allow_negative_numbers = true)]
        limit: usize,
    },
    /// Create the files of a new plugin in ./NAME
    New {
        /// The name
        name: Name,
        /// The language
        #[arg(long, value_enum, default_value_t = Language::Rust)]
        language: Language,
    },
}

/// The languages of the plugin templates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Language {
    /// Rust, compiled to WebAssembly.
    Rust,
    /// A Python program.
    Python,
    /// A shell script.
    Sh,
}

/// The arguments of `tessera plugin add`.
#[derive(Debug, Args)]
pub(crate) struct AddPlugin {
    /// A WASM file, or the TOML manifest of a program
    #[arg(required_unless_present = "name")]
    pub(crate) file: Option<PathBuf>,
    /// The program and its arguments; give this option last
    #[arg(long, num_args = 1.., allow_hyphen_values = true, value_name = "PROGRAM")]
    pub(crate) command: Vec<String>,
    /// The name to give a program that has no manifest
    #[arg(long, requires = "command", conflicts_with = "file")]
    pub(crate) name: Option<Name>,
    /// Events: store, recall, update or forget, with .before or .after
    #[arg(long = "event", requires = "name", value_parser = wants)]
    pub(crate) events: Vec<Wants>,
    /// A field that the plugin may change
    #[arg(long, requires = "name", value_parser = field)]
    pub(crate) change: Vec<Field>,
    /// Allow the plugin to refuse an operation
    #[arg(long, requires = "name")]
    pub(crate) refuse: bool,
    /// Also call the plugin before automatic recall, for at most 5 ms
    #[arg(long, requires = "name")]
    pub(crate) fast: bool,
    /// Skip the confirmation prompt
    #[arg(long, short)]
    pub(crate) yes: bool,
}

fn wants(text: &str) -> Result<Wants, String> {
    Wants::try_from(text.to_owned()).map_err(|error| error.to_string())
}

fn field(text: &str) -> Result<Field, String> {
    let known: Vec<&str> = Field::ALL.iter().map(|field| field.as_str()).collect();
    Field::named(text)
        .ok_or_else(|| format!("is not a field that a plugin can change; use one of {}", known.join(", ")))
}
