//! The arguments of `tessera plugin`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use tessera_plugins::{Field, Name, Wants};

/// What to do with plugins: code of your own, called before and after memories are stored, recalled, changed or forgotten.
#[derive(Debug, Subcommand)]
pub(crate) enum PluginTask {
    /// List the plugins that were added: what they may do, and how they went.
    List,
    /// Add a plugin: shows what it asks for, and asks. One of the same name is replaced.
    Add(Box<AddPlugin>),
    /// Take a plugin out; its directory of data stays.
    Remove {
        /// Its name.
        name: Name,
    },
    /// Call a plugin with sample messages, or with one of yours; nothing is stored.
    Test {
        /// Its name, or a WASM file.
        which: String,
        /// A message in a file; `-` reads stdin.
        #[arg(long, value_name = "FILE")]
        message: Option<PathBuf>,
    },
    /// Show what plugins failed at, refused and noted, oldest first.
    Log {
        /// Only of this one.
        name: Option<Name>,
        /// Lines, the last.
        #[arg(long, default_value_t = 50)]
        limit: usize,
    },
    /// Write the files of a new plugin to begin with, in a directory of its name.
    New {
        /// Its name.
        name: Name,
        /// In which language.
        #[arg(long, value_enum, default_value_t = Language::Rust)]
        language: Language,
    },
}

/// What a plugin is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Language {
    /// Rust, for WebAssembly.
    Rust,
    /// A program in Python.
    Python,
    /// A program for the shell.
    Sh,
}

/// A plugin that is added.
#[derive(Debug, Args)]
pub(crate) struct AddPlugin {
    /// A WASM file, or the manifest of a program (TOML).
    #[arg(required_unless_present = "name")]
    pub(crate) file: Option<PathBuf>,
    /// The program and its arguments, the last of all.
    #[arg(long, num_args = 1.., allow_hyphen_values = true, value_name = "PROGRAM")]
    pub(crate) command: Vec<String>,
    /// What a program is called, where there is no manifest.
    #[arg(long, requires = "command", conflicts_with = "file")]
    pub(crate) name: Option<Name>,
    /// When it is called: store, recall, update or forget, with .before or .after.
    #[arg(long = "event", requires = "name", value_parser = wants)]
    pub(crate) events: Vec<Wants>,
    /// A field that it may change.
    #[arg(long, requires = "name", value_parser = field)]
    pub(crate) change: Vec<Field>,
    /// It may refuse.
    #[arg(long, requires = "name")]
    pub(crate) refuse: bool,
    /// It is called before memories are given to a prompt, for 5 ms at most.
    #[arg(long, requires = "name")]
    pub(crate) fast: bool,
    /// Do not ask.
    #[arg(long, short)]
    pub(crate) yes: bool,
}

fn wants(text: &str) -> Result<Wants, String> {
    Wants::try_from(text.to_owned()).map_err(|error| error.to_string())
}

fn field(text: &str) -> Result<Field, String> {
    let known: Vec<&str> = Field::ALL.iter().map(|field| field.as_str()).collect();
    Field::named(text).ok_or_else(|| format!("is no field that a plugin changes; give one of {}", known.join(", ")))
}
