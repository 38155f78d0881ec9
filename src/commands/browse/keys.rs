//! What each key does.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::picker::Mode;

/// An action of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Leave,
    Type(char),
    Erase,
    Clear,
    Move(isize),
    Choose,
    Back,
    Edit,
    AskDelete,
    Delete,
    Undo,
    Ignore,
}

/// The number of rows that a page key moves.
const PAGE: isize = 10;

/// The action of a key. In the list, letters belong to the question, so its actions need Ctrl.
pub(super) fn action(mode: Mode, key: KeyEvent) -> Action {
    let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
    match (mode, key.code, ctrl) {
        (_, KeyCode::Char('c'), true) => Action::Leave,
        (Mode::List, KeyCode::Esc, _) => Action::Leave,
        (Mode::Delete, KeyCode::Char('y' | 'Y'), false) => Action::Delete,
        (Mode::Delete, ..) => Action::Back,
        (Mode::List, KeyCode::Enter, _) => Action::Choose,
        (Mode::Shown, KeyCode::Enter | KeyCode::Esc | KeyCode::Backspace | KeyCode::Char('q'), _) => Action::Back,
        (Mode::Shown, KeyCode::Char('e'), _) | (Mode::List, KeyCode::Char('e'), true) => Action::Edit,
        (Mode::Shown, KeyCode::Char('d'), _) | (Mode::List, KeyCode::Char('d'), true) | (_, KeyCode::Delete, _) => {
            Action::AskDelete
        }
        (Mode::Shown, KeyCode::Char('u'), _) | (Mode::List, KeyCode::Char('z'), true) => Action::Undo,
        (_, KeyCode::Up, _) | (_, KeyCode::Char('p'), true) | (Mode::Shown, KeyCode::Char('k'), _) => Action::Move(-1),
        (_, KeyCode::Down, _) | (_, KeyCode::Char('n'), true) | (Mode::Shown, KeyCode::Char('j'), _) => Action::Move(1),
        (_, KeyCode::PageUp, _) => Action::Move(-PAGE),
        (_, KeyCode::PageDown, _) => Action::Move(PAGE),
        (Mode::List, KeyCode::Backspace, _) => Action::Erase,
        (Mode::List, KeyCode::Char('w' | 'u'), true) => Action::Clear,
        (Mode::List, KeyCode::Char(c), false) => Action::Type(c),
        _ => Action::Ignore,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_typed_in_the_list_and_are_commands_for_a_shown_memory() {
        let plain = |c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE);
        let ctrl = |c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL);
        for (mode, key, expected) in [
            (Mode::List, plain('d'), Action::Type('d')),
            (Mode::List, ctrl('d'), Action::AskDelete),
            (Mode::Shown, plain('d'), Action::AskDelete),
            (Mode::Shown, plain('e'), Action::Edit),
            (Mode::Shown, plain('u'), Action::Undo),
            (Mode::Delete, plain('y'), Action::Delete),
            (Mode::Delete, plain('n'), Action::Back),
            (Mode::Shown, ctrl('c'), Action::Leave),
        ] {
            assert_eq!(action(mode, key), expected, "{mode:?} {key:?}");
        }
    }
}
