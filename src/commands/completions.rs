//! `completions`: prints or installs shell completions, and the key binding for `tessera browse`.

use std::path::Path;

use anyhow::Context as _;
use clap_complete::Shell;
use clap_complete::env::{Bash, Elvish, EnvCompleter, Fish, Powershell, Zsh};
use tessera_setup::{Owner, Shell as Known, apply};

use super::Context;
use super::setup::{confirmed, report};
use crate::cli::CompletionsTask;
use crate::exit::UserError;
use crate::{config, output};

/// The lines for `.zshrc`. Without `compinit`, zsh has no completions at all.
const ZSH_LINES: &str = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }\n\
    source <(tessera completions zsh)";

const BASH_KEY: &str = include_str!("keys/tessera.bash");
const ZSH_KEY: &str = include_str!("keys/tessera.zsh");
const FISH_KEY: &str = include_str!("keys/tessera.fish");

/// Prints or installs.
pub(super) fn run(context: &Context, task: CompletionsTask) -> anyhow::Result<()> {
    match task {
        CompletionsTask::Install { shell, key, dry_run, yes } => install(context, shell, key, dry_run, yes),
        CompletionsTask::Key { shell } => output::text(key_binding(known(shell)?)),
        CompletionsTask::Bash => output::text(&script(&Bash)?),
        CompletionsTask::Zsh => output::text(&script(&Zsh)?),
        CompletionsTask::Fish => output::text(&script(&Fish)?),
        CompletionsTask::Elvish => output::text(&script(&Elvish)?),
        CompletionsTask::PowerShell => output::text(&script(&Powershell)?),
    }
}

/// The script that asks this program for completions. It names the program without its directory, so that it works
/// after an update.
fn script(shell: &dyn EnvCompleter) -> anyhow::Result<String> {
    let mut script = Vec::new();
    shell.write_registration("COMPLETE", "tessera", "tessera", "tessera", &mut script)?;
    Ok(String::from_utf8_lossy(&script).into_owned())
}

fn install(context: &Context, shell: Option<Shell>, key: bool, dry_run: bool, yes: bool) -> anyhow::Result<()> {
    let shell = known(shell.or_else(of_user).ok_or_else(|| {
        UserError("cannot find out your shell; name it, for example `tessera completions install bash`".into())
    })?)?;
    let places = config::places(context.home.as_deref())?;
    // Zsh reads the completions from the user's own file, which stays short.
    let script = match shell {
        Known::Bash => script(&Bash)?,
        Known::Fish => script(&Fish)?,
        Known::Zsh => ZSH_LINES.to_owned(),
    };
    let plan = shell.plan(&script, key.then(|| key_binding(shell)), &places)?;
    let made = confirmed(context, &plan, dry_run, yes, "Make these changes?")?;
    if made {
        let home = config::home(context.home.clone())?;
        home.make().with_context(|| home.dir().display().to_string())?;
        apply(&plan, Owner::Shell, &home)?;
        output::note(&format!(
            "Completions for {} are installed. Start a new shell to use them. Undo it with `tessera uninstall`.",
            shell.as_str()
        ));
    }
    report(context, &plan, made)
}

/// The shell that the user works in.
fn of_user() -> Option<Shell> {
    let path = config::SHELL.text()?;
    Shell::from_shell_path(Path::new(&path))
}

fn known(shell: Shell) -> Result<Known, UserError> {
    Known::named(&shell.to_string()).ok_or_else(|| {
        UserError(format!(
            "`{shell}` has no installer; load the script of `tessera completions {shell}` in its profile"
        ))
    })
}

fn key_binding(shell: Known) -> &'static str {
    match shell {
        Known::Bash => BASH_KEY,
        Known::Zsh => ZSH_KEY,
        Known::Fish => FISH_KEY,
    }
}
