//! `browse`: finds memories while the user types, and shows or changes them.

mod keys;
mod picker;
mod screen;

use std::io::IsTerminal as _;

use tessera_desk::Desk;
use tessera_desk::use_cases::{Forget, LastChange, Update, Which};
use tessera_engine::domain::{MemoryRef, Patch};
use tessera_engine::store::Erase;

use super::{Access, Context, editor, undo};
use crate::exit::UserError;
use crate::{config, output};
use keys::{Action, action};
use picker::{Mode, Picker};
use screen::Screen;

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
        let key = Screen::key()?;
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
                let edited = screen.outside(|| editor::edited(&memory.content))?;
                let told = edited.and_then(|text| match text {
                    None => Ok("Nothing was changed.".to_owned()),
                    Some(text) => changed(desk, memory.short_id.into(), text),
                });
                picker.tell(told);
                picker.search(desk)?;
            }
            Action::AskDelete => picker.enter(Mode::Delete),
            Action::Delete => {
                let Some(id) = picker.chosen().map(|memory| memory.short_id) else { continue };
                let forget = Forget { ids: vec![id.into()], erase: Erase::Soft, reason: None };
                let told = desk.perform(forget).map(|_| format!("Deleted {id}; u restores it."));
                picker.tell(told.map_err(Into::into));
                picker.enter(Mode::List);
                picker.search(desk)?;
            }
            Action::Undo => {
                picker.tell(undone(desk));
                picker.search(desk)?;
            }
            Action::Ignore => {}
        }
    }
}

fn changed(desk: &mut Desk<'_>, id: MemoryRef, text: String) -> anyhow::Result<String> {
    let patch = Patch { content: Some(text), ..Patch::default() };
    desk.perform(Update { which: Which::Named(vec![id]), patch, reason: None })?;
    desk.embed();
    Ok(format!("Updated {id}; u undoes it."))
}

/// Undoes the last change in the store, as `tessera undo` does.
fn undone(desk: &mut Desk<'_>) -> anyhow::Result<String> {
    let Some(last) = desk.perform(LastChange { id: None })? else {
        return Ok("Nothing was changed yet.".to_owned());
    };
    let described = undo::described(&last);
    undo::undo(desk, &last)?;
    Ok(format!("Undone: {described}"))
}
