//! `man`: manual pages. `version`: the version.

use std::path::Path;

use anyhow::Context as _;
use clap_mangen::Man;

use super::Context;
use crate::cli;
use crate::exit::UsageError;
use crate::output;
use crate::shapes::ManualWritten;

/// Prints the page of a command, or writes all pages into a directory.
pub(super) fn run(context: &Context, words: &[String], all: Option<&Path>) -> anyhow::Result<()> {
    let mut command = cli::command();
    command.build();
    if let Some(dir) = all {
        std::fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
        clap_mangen::generate_to(command, dir).with_context(|| dir.display().to_string())?;
        return context.print(&ManualWritten { directory: dir.to_owned() }, || {
            format!("Wrote the manual pages into {}", dir.display())
        });
    }
    let mut name = "tessera".to_owned();
    let mut page = &command;
    for word in words {
        let found = page.find_subcommand(word).filter(|found| !found.is_hide_set());
        let unknown = || UsageError(format!("there is no command `{name} {word}`; `tessera help` lists all commands"));
        page = found.ok_or_else(unknown)?;
        name = format!("{name} {}", page.get_name());
    }
    let mut text = Vec::new();
    // A built command knows its full name, such as `tessera-settings-set`.
    Man::new(page.clone()).render(&mut text)?;
    output::text(&String::from_utf8_lossy(&text))
}
