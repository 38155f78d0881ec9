//! The user's editor: `edit` changes the text of a memory, and `settings edit` changes `config.toml`.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::process::Command;

use tempfile::NamedTempFile;
use tessera_desk::Desk;
use tessera_desk::use_cases::{Get, Named, Update, Which};
use tessera_engine::domain::{Memory, MemoryRef, Patch};
use tessera_engine::store::Stored;

use super::remember::print_stored;
use super::{Access, Context, meant};
use crate::exit::UserError;
use crate::{config, output};

/// The editor if the user named none.
const DEFAULT: &str = if cfg!(windows) { "notepad" } else { "vi" };

/// Opens a memory's text in the editor, and stores the saved text.
pub(super) fn edit(context: &Context, id: Named) -> anyhow::Result<()> {
    let memory = context.at_desk(Access::Read, |desk| {
        let id = meant(desk, id)?;
        let memory = desk.perform(Get { ids: vec![id] })?.into_iter().next();
        memory.ok_or_else(|| UserError(format!("there is no memory {id}")).into())
    })?;
    let Some(edited) = Edited::of(&memory.content)? else {
        return output::line("Nothing was changed.");
    };
    edited.keep_if_lost(|text| {
        context.at_desk(Access::Change, |desk| {
            let stored = store(desk, &memory, text)?;
            print_stored(desk, context, "Updated", &stored)?;
            desk.embed();
            Ok(())
        })
    })
}

/// Stores an edited text, unless the memory was changed while the user edited it.
pub(super) fn store(desk: &mut Desk<'_>, before: &Memory, text: String) -> anyhow::Result<Stored> {
    let id = MemoryRef::Id(before.id);
    let now = desk.perform(Get { ids: vec![id] })?.into_iter().next();
    if now.is_none_or(|now| now.content != before.content) {
        let id = before.short_id;
        return Err(UserError(format!("{id} was changed while you edited it, so your text was not stored")).into());
    }
    let patch = Patch { content: Some(text), ..Patch::default() };
    let updated = desk.perform(Update { which: Which::Named(vec![id]), patch, reason: None })?;
    updated.only.ok_or_else(|| UserError("the memory was not updated".to_owned()).into())
}

/// A text that the user edited, in its temporary file.
pub(super) struct Edited {
    file: NamedTempFile,
    text: String,
}

impl Edited {
    /// Lets the user edit a text. `None` if the user saved no other text.
    pub(super) fn of(content: &str) -> anyhow::Result<Option<Self>> {
        let mut file = tempfile::Builder::new().prefix("tessera-").suffix(".md").tempfile()?;
        file.write_all(content.as_bytes())?;
        if let Err(error) = open(file.path()) {
            // An editor may have saved the text before it failed.
            let is_same = std::fs::read(file.path()).is_ok_and(|bytes| bytes == content.as_bytes());
            return if is_same { Err(error) } else { Err(kept(file, error)) };
        }
        let wrong = |problem: &str| anyhow::Error::from(UserError(format!("{problem}; nothing was changed")));
        let Ok(bytes) = std::fs::read(file.path()) else {
            return Err(wrong("the editor deleted the file with the text"));
        };
        let Ok(text) = String::from_utf8(bytes) else {
            return Err(kept(file, wrong("the edited text is not UTF-8")));
        };
        // Editors add a line end to the last line.
        let text = text.strip_suffix('\n').filter(|_| !content.ends_with('\n')).unwrap_or(&text).to_owned();
        if text.trim().is_empty() {
            return Err(wrong(
                "the edited text is empty (to delete it, use `tessera forget` or `tessera review drop`)",
            ));
        }
        Ok((text != content).then_some(Self { file, text }))
    }

    /// Stores the text. If this fails, keeps the file, so that the work of the user is not lost.
    pub(super) fn keep_if_lost<T>(self, store: impl FnOnce(String) -> anyhow::Result<T>) -> anyhow::Result<T> {
        store(self.text).map_err(|error| kept(self.file, error))
    }
}

/// Keeps a file with an edited text, and names the file in the error.
fn kept(file: NamedTempFile, error: anyhow::Error) -> anyhow::Error {
    match file.keep() {
        Ok((_, path)) => error.context(format!("your text is kept in {}", path.display())),
        Err(_) => error,
    }
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
