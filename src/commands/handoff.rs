//! `handoff`: prints what the next agent needs from a session.

use std::path::PathBuf;

use anyhow::Context as _;
use tessera_engine::domain::TokenBudget;
use tessera_engine::store::replace;
use tessera_hooks::handoff::{DAYS_KEPT, Handoff, of_project};

use super::{Context, caller, overwrite};
use crate::cli::HandoffArguments;
use crate::exit::UserError;
use crate::shapes::HandoffShown;
use crate::{config, output};

/// Prints the hand-off, or writes it to a file.
pub(super) fn run(context: &Context, args: HandoffArguments) -> anyhow::Result<()> {
    let claim = config::claim(&std::env::current_dir().context("the current directory")?);
    let (session, transcript) = match args.transcript {
        Some(transcript) => (None, transcript),
        None => recorded(context, args.session.as_deref()).map(|(session, transcript)| (Some(session), transcript))?,
    };
    let handoff = Handoff::read(&transcript, &claim.root).with_context(|| transcript.display().to_string())?;
    if handoff.is_empty() {
        let shown = transcript.display();
        return Err(
            UserError(format!("{shown} contains no request and no work; name a transcript of Claude Code")).into()
        );
    }
    let budget = TokenBudget::try_from(args.max_tokens)?;
    let profile = config::asking(caller(), None, context.home.clone())?.profile;
    let Some(rendered) = handoff.rendered(budget, profile) else {
        return Err(UserError(format!("no line fits in {} tokens; use a larger --max-tokens", budget.get())).into());
    };
    if let Some(file) = &args.to {
        if !overwrite::may_write(context, file, args.force)? {
            return Ok(());
        }
        replace(file, rendered.text.as_bytes()).with_context(|| file.display().to_string())?;
    }
    let shown = HandoffShown::new(handoff, &rendered, session, args.to.clone());
    match &args.to {
        Some(file) if !context.json => output::say(&format!("Wrote {} ({} tokens)", file.display(), rendered.tokens)),
        _ => context.print_text(&shown, || rendered.text),
    }
}

/// The ID and the transcript of a session of this project: the named one, otherwise the last one.
fn recorded(context: &Context, named: Option<&str>) -> anyhow::Result<(String, PathBuf)> {
    let claim = config::claim(&std::env::current_dir().context("the current directory")?);
    let sessions = of_project(&config::home(context.home.clone())?, &claim, config::clock()?.now());
    let of_name = sessions.iter().filter(|record| named.is_none_or(|name| record.session.starts_with(name)));
    let found: Vec<_> = of_name.collect();
    match (found.as_slice(), named) {
        ([only], _) => Ok((only.session.clone(), only.transcript.clone())),
        ([last, ..], None) => Ok((last.session.clone(), last.transcript.clone())),
        ([], None) => Err(UserError(format!(
            "no session of this project in the last {DAYS_KEPT} days is recorded; hooks record sessions (`tessera setup \
            claude-code`), or name a file with --transcript"
        ))
        .into()),
        ([], Some(name)) => Err(UserError(format!(
            "no session of this project begins with `{name}`; without --session, you see the last one"
        ))
        .into()),
        (several, Some(name)) => {
            Err(UserError(format!("{} sessions begin with `{name}`; write more of the ID", several.len())).into())
        }
    }
}
