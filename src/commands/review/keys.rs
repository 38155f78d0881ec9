//! Decides about one proposal after the other, with one key each.

use std::process::ExitCode;

use tessera_desk::Desk;
use tessera_desk::use_cases::{Decide, Proposal, ReviewItem, ReviewQueue, Verdict};

use super::{decided, described};
use crate::commands::editor::Edited;
use crate::commands::{Access, Context};
use crate::exit::UserError;
use crate::output::{Input, Keys, Undisturbed};
use crate::{config, output};

/// What the user wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Accept,
    Edit,
    Drop,
    Later,
    Leave,
}

/// Shows each proposal, and waits for a key.
pub(super) fn run(context: &Context) -> anyhow::Result<ExitCode> {
    let now = config::clock()?.now();
    context.at_desk(Access::Change, |desk| {
        let signals = Undisturbed::begin();
        let items = desk.perform(ReviewQueue)?;
        if items.is_empty() {
            output::say("Nothing waits for review.")?;
        }
        for (at, item) in (1..).zip(&items) {
            let count = items.len();
            Keys::ignore_earlier();
            output::question(&format!("\n{}[{at}/{count}] {}", described(item, now), keys(item)));
            let action = chosen(item, &signals)?;
            output::answered();
            match action {
                Action::Leave => break,
                Action::Later => {}
                Action::Accept => report(desk, item, Verdict::Accept)?,
                Action::Drop => report(desk, item, Verdict::Drop)?,
                Action::Edit => edit(desk, item)?,
            }
        }
        desk.embed();
        Ok(ExitCode::SUCCESS)
    })
}

fn keys(item: &ReviewItem) -> &'static str {
    match item.proposal {
        Proposal::Line { .. } => "a stores it, e edits it, d drops it, s decides later, q leaves",
        Proposal::Contradiction { .. } | Proposal::Duplicate { .. } => {
            "a does this, d keeps both as they are, s decides later, q leaves"
        }
        Proposal::Unused { .. } => "a deletes it, d keeps it, s decides later, q leaves",
    }
}

/// Waits for a key that means something.
fn chosen(item: &ReviewItem, signals: &Undisturbed) -> anyhow::Result<Action> {
    let keys = Keys::begin()?;
    let is_line = matches!(item.proposal, Proposal::Line { .. });
    loop {
        if signals.is_asked_to_end() {
            return Ok(Action::Leave);
        }
        match keys.next()? {
            Input::End => return Ok(Action::Leave),
            Input::Nothing => {}
            Input::Key(key) => {
                if let Some(action) = action(key).filter(|action| is_line || *action != Action::Edit) {
                    return Ok(action);
                }
            }
        }
    }
}

fn action(key: char) -> Option<Action> {
    Some(match key {
        // Ctrl-C, Ctrl-D and Esc.
        'q' | '\u{3}' | '\u{4}' | '\u{1b}' => Action::Leave,
        'a' => Action::Accept,
        'e' => Action::Edit,
        'd' => Action::Drop,
        's' => Action::Later,
        _ => return None,
    })
}

/// Carries out a decision, and prints the result. A failure does not end the review.
fn report(desk: &mut Desk<'_>, item: &ReviewItem, verdict: Verdict) -> anyhow::Result<()> {
    let decision = decided(desk, Decide { id: item.id.clone(), verdict });
    match decision.error {
        Some(error) => output::error(&error),
        None => output::say(&decision.text)?,
    }
    Ok(())
}

/// Lets the user edit a line. A line that was not changed still waits.
fn edit(desk: &mut Desk<'_>, item: &ReviewItem) -> anyhow::Result<()> {
    let Proposal::Line { line, .. } = &item.proposal else { return Ok(()) };
    let edited = Edited::of(&line.content).and_then(|edited| match edited {
        None => Ok("The text was not changed, so the line still waits.".to_owned()),
        Some(edited) => edited.keep_if_lost(|text| {
            let decision = decided(desk, Decide { id: item.id.clone(), verdict: Verdict::Edit(text) });
            decision.error.map_or(Ok(decision.text), |error| Err(UserError(error).into()))
        }),
    });
    match edited {
        Ok(text) => output::say(&text),
        Err(error) => {
            output::error(&format!("{error:#}"));
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_mean_what_the_help_says_and_other_keys_mean_nothing() {
        for (key, expected) in [
            ('a', Some(Action::Accept)),
            ('e', Some(Action::Edit)),
            ('d', Some(Action::Drop)),
            ('s', Some(Action::Later)),
            ('q', Some(Action::Leave)),
            ('\u{3}', Some(Action::Leave)),
            ('x', None),
            ('A', None),
        ] {
            assert_eq!(action(key), expected, "{key}");
        }
    }
}
