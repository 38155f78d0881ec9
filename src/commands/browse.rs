//! `browse`: finds memories while the user types, and shows or changes them.

mod keys;
mod picker;
mod screen;

use std::io::IsTerminal as _;

use tessera_desk::Desk;
use tessera_desk::use_cases::{Forget, LastChange};
use tessera_engine::ShortId;
use tessera_engine::domain::Memory;
use tessera_engine::store::Erase;

use super::{Access, Context, editor, undo};
use crate::exit::UserError;
use crate::{config, output};
use keys::{Action, action};
use picker::{Mode, Picker};
use screen::{Input, Screen};

/// Runs the picker. With `print`, prints the text of the chosen memory.
pub(super) fn run(context: &Context, words: &[String], print: bool) -> anyhow::Result<()> {
    if !std::io::stderr().is_terminal() {
        let problem = "`tessera browse` needs a terminal; use `tessera recall` or `tessera list` in scripts";
        return Err(UserError(problem.to_owned()).into());
    }
    let now = config::clock()?.now();
    let chosen = context.at_desk(Access::Change, |desk| {
        let mut picker = Picker::new(desk, words.join(" "), print, now)?;
        let mut screen = Screen::begin()?;
        turn(desk, &mut picker, &mut screen)
    })?;
    chosen.map_or(Ok(()), |text| output::line(&text))
}

/// Draws and handles keys until the user leaves. Returns the chosen text.
fn turn(desk: &mut Desk<'_>, picker: &mut Picker, screen: &mut Screen) -> anyhow::Result<Option<String>> {
    loop {
        screen.draw(picker)?;
        let key = match screen.input()? {
            Input::Key(key) => key,
            Input::Paste(text) => {
                picker.paste(desk, &text)?;
                continue;
            }
            Input::Resize => continue,
            Input::End => return Ok(None),
        };
        match action(picker.mode, key) {
            Action::Leave => return Ok(None),
            Action::Type(c) => picker.type_char(desk, c)?,
            Action::Erase => picker.erase(desk)?,
            Action::Clear => picker.clear(desk)?,
            Action::Move(rows) => picker.step(rows),
            Action::Choose if picker.prints => return Ok(picker.chosen().map(|memory| memory.content.clone())),
            Action::Choose => picker.enter(Mode::Shown),
            Action::Back => picker.back(),
            Action::Edit => {
                let Some(memory) = picker.chosen().cloned() else { continue };
                let told = match in_file(&memory) {
                    Some(told) => Ok(told),
                    None => screen.outside(|| editor::Edited::of(&memory.content))?.and_then(|edited| match edited {
                        None => Ok("Nothing was changed.".to_owned()),
                        Some(edited) => edited.keep_if_lost(|text| changed(desk, picker, &memory, text)),
                    }),
                };
                picker.tell(told);
                picker.search(desk)?;
            }
            Action::AskDelete => picker.enter(Mode::Delete),
            Action::Delete => {
                let Some(memory) = picker.chosen().cloned() else { continue };
                let told = in_file(&memory).map_or_else(|| deleted(desk, picker, memory.short_id), Ok);
                picker.tell(told);
                picker.enter(Mode::List);
                picker.search(desk)?;
            }
            Action::Undo => {
                let told = undone(desk, picker);
                picker.tell(told);
                picker.search(desk)?;
            }
            Action::Ignore => {}
        }
    }
}

/// Why a memory is not changed here: its text is in a file of the user.
fn in_file(memory: &Memory) -> Option<String> {
    memory.file.as_ref().map(|file| format!("This text is in {}; change the file.", file.path))
}

fn changed(desk: &mut Desk<'_>, picker: &mut Picker, memory: &Memory, text: String) -> anyhow::Result<String> {
    editor::store(desk, memory, text)?;
    desk.embed();
    remember_change(desk, picker, memory.short_id)?;
    Ok(format!("Updated {}; u undoes it.", memory.short_id))
}

fn deleted(desk: &mut Desk<'_>, picker: &mut Picker, id: ShortId) -> anyhow::Result<String> {
    desk.perform(Forget { ids: vec![id.into()], erase: Erase::Soft, reason: None })?;
    remember_change(desk, picker, id)?;
    Ok(format!("Deleted {id}; Ctrl-Z restores it."))
}

fn remember_change(desk: &mut Desk<'_>, picker: &mut Picker, id: ShortId) -> anyhow::Result<()> {
    let last = desk.perform(LastChange { id: Some(id.into()) })?;
    picker.changes.extend(last.map(|last| (id, last.entry.rev)));
    Ok(())
}

/// Undoes the last change that was made here. A change that another program made since then stays.
fn undone(desk: &mut Desk<'_>, picker: &mut Picker) -> anyhow::Result<String> {
    let Some((id, rev)) = picker.changes.pop() else {
        return Ok("Nothing was changed here; `tessera undo` undoes earlier changes.".to_owned());
    };
    match desk.perform(LastChange { id: Some(id.into()) })? {
        Some(last) if last.entry.rev == rev => {
            undo::undo(desk, &last)?;
            Ok(format!("Undone: {}", undo::described(&last)))
        }
        _ => Ok(format!("{id} was changed by another program, and stays.")),
    }
}
