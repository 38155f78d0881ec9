//! The user's editor: `edit` changes the text of a memory, and `settings edit` changes `config.toml`.

use std::io::IsTerminal as _;
use std::path::Path;
use std::process::Command;

use anyhow::Context as _;
use tessera_desk::use_cases::{Get, Named, Update, Which};
use tessera_engine::domain::{MemoryRef, Patch};

use super::remember::print_stored;
use super::{Access, Context, meant};
use crate::exit::UserError;
use crate::{config, output};

/// The editor if the user named none.
const DEFAULT: &str = if cfg!(windows) { "notepad" } else { "vi" };

/// Opens a memory's text in the editor, and stores the saved text.
pub(super) fn edit(context: &Context, id: Named) -> anyhow::Result<()> {
    let (id, content) = context.at_desk(Access::Read, |desk| {
        let id = meant(desk, id)?;
        let memory = desk.perform(Get { ids: vec![id] })?.into_iter().next();
        let memory = memory.ok_or_else(|| UserError(format!("no memory {id}")))?;
        Ok((id, memory.content))
    })?;
    match edited(&content)? {
        Some(text) => store(context, id, text),
        None => output::line("Nothing was changed."),
    }
}

/// Lets the user edit a text. `None` if the user saved no other text.
pub(super) fn edited(content: &str) -> anyhow::Result<Option<String>> {
    let mut file = tempfile::Builder::new().prefix("tessera-").suffix(".md").tempfile()?;
    std::io::Write::write_all(&mut file, content.as_bytes())?;
    open(file.path())?;
    let bytes = std::fs::read(file.path()).with_context(|| "the edited text cannot be read".to_owned())?;
    let text =
        String::from_utf8(bytes).map_err(|_| UserError("the edited text is not UTF-8; nothing was changed".into()))?;
    // Editors add a line end to the last line.
    let text = text.strip_suffix('\n').filter(|_| !content.ends_with('\n')).unwrap_or(&text);
    if text.trim().is_empty() {
        return Err(UserError(
            "the edited text is empty; nothing was changed (`tessera forget ID` deletes a memory)".into(),
        )
        .into());
    }
    Ok((text != content).then(|| text.to_owned()))
}

/// Opens a file in the user's editor, and waits until the editor ends.
pub(super) fn open(file: &Path) -> anyhow::Result<()> {
    let chosen = config::EDITOR.text();
    if chosen.is_none() && !std::io::stdin().is_terminal() {
        let fix = "set EDITOR to a program, or use `tessera update` or `tessera settings set`";
        return Err(UserError(format!("there is no terminal for the editor `{DEFAULT}`; {fix}")).into());
    }
    let command = chosen.as_deref().unwrap_or(DEFAULT);
    let words = config::command_words(command);
    let Some((program, arguments)) = words.split_first() else {
        return Err(UserError(format!("cannot run the editor `{command}`; set EDITOR to the name of a program")).into());
    };
    let failed = |problem: String| UserError(format!("the editor `{command}` {problem}; nothing was changed"));
    let started = Command::new(program).args(arguments).arg(file).status();
    let status = started.map_err(|_| failed("cannot be started (set EDITOR to another program)".to_owned()))?;
    if status.success() { Ok(()) } else { Err(failed(format!("failed with {status}")).into()) }
}

fn store(context: &Context, id: MemoryRef, text: String) -> anyhow::Result<()> {
    let patch = Patch { content: Some(text), ..Patch::default() };
    context.at_desk(Access::Change, |desk| {
        let updated = desk.perform(Update { which: Which::Named(vec![id]), patch, reason: None })?;
        if let Some(stored) = &updated.only {
            print_stored(desk, context, "Updated", stored)?;
        }
        desk.embed();
        Ok(())
    })
}
