//! The pager for output that is longer than the terminal.

use std::io::Write;
use std::process::{Command, Stdio};

use super::terminal::lines;
use super::{manner, text};
use crate::config;

/// The pager if the user named none. `less` then ends by itself if the text fits, and keeps colours.
const DEFAULT: &str = "less";

/// Writes a text to stdout; on a terminal with fewer lines, through the user's pager.
pub(crate) fn page(whole: &str) -> anyhow::Result<()> {
    let is_longer = lines().is_some_and(|lines| whole.lines().count() >= usize::from(lines));
    if is_longer && !manner().no_pager && through_pager(whole) { Ok(()) } else { text(whole) }
}

/// Shows the text in the pager. False if there is no pager to start; the caller then prints the text.
fn through_pager(whole: &str) -> bool {
    let command = config::PAGER.text().unwrap_or_else(|| DEFAULT.to_owned());
    let words = config::command_words(&command);
    let Some((program, arguments)) = words.split_first().filter(|(program, _)| *program != "cat") else { return false };
    let mut pager = Command::new(program);
    pager.args(arguments).stdin(Stdio::piped());
    if config::LESS.value().is_none() {
        pager.env("LESS", "FRX");
    }
    // Ctrl-C is for the pager, which restores the terminal.
    let _undisturbed = super::signals::Undisturbed::begin();
    let Ok(mut child) = pager.spawn() else { return false };
    if let Some(mut stdin) = child.stdin.take() {
        // If the user leaves the pager before the end, the rest is not wanted.
        let _ = stdin.write_all(whole.as_bytes());
    }
    // A pager that fails, for example because of a wrong option, has not shown the text.
    child.wait().is_ok_and(|status| status.success())
}
