//! `handoff`: prints what the next agent needs from a session.

use std::path::PathBuf;

use anyhow::Context as _;
use tessera_desk::project::Claim;
use tessera_desk::use_cases::IsBelieved;
use tessera_engine::domain::TokenBudget;
use tessera_engine::store::replace;
use tessera_hooks::handoff::{DAYS_KEPT, Handoff, Limits, of_project, with_id};
use tessera_hooks::transcript::MOST_BYTES;

use super::{Access, Context, caller, overwrite};
use crate::cli::HandoffArguments;
use crate::exit::UserError;
use crate::shapes::HandoffShown;
use crate::{config, output};

/// Prints the hand-off, or writes it to a file.
pub(super) fn run(context: &Context, args: HandoffArguments) -> anyhow::Result<()> {
    let claim = config::claim(&std::env::current_dir().context("the current directory")?);
    let (session, transcript) = if let Some(transcript) = args.transcript {
        (None, transcript)
    } else {
        let (session, transcript) = recorded(context, &claim, args.session.as_deref())?;
        (Some(session), transcript)
    };
    let handoff =
        Handoff::read(&transcript, &claim.root, MOST_BYTES).with_context(|| transcript.display().to_string())?;
    if handoff.is_empty() {
        let shown = transcript.display();
        return Err(
            UserError(format!("{shown} contains no request and no work; name a transcript of Claude Code")).into()
        );
    }
    let budget = TokenBudget::try_from(args.max_tokens)?;
    let profile = config::asking(caller(), None, context.home.clone())?.profile;
    let Some(rendered) = handoff.rendered(Limits { budget, profile, characters: usize::MAX }) else {
        return Err(UserError(format!("no line fits in {} tokens; use a larger --max-tokens", budget.get())).into());
    };
    if let Some(file) = &args.to {
        if file.canonicalize().ok().is_some_and(|file| transcript.canonicalize().is_ok_and(|other| other == file)) {
            return Err(UserError(format!("{} is the transcript; use another name", file.display())).into());
        }
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

/// The ID and the transcript of a session of the project: the named one, otherwise the last one.
fn recorded(context: &Context, claim: &Claim, named: Option<&str>) -> anyhow::Result<(String, PathBuf)> {
    let home = config::home(context.home.clone())?;
    if let Some(record) = named.and_then(|id| with_id(&home, id)) {
        return Ok((record.session, record.transcript));
    }
    let is_believed =
        |claim: Claim| home.holds_store() && context.perform_here(Access::Read, IsBelieved(claim)).unwrap_or(false);
    let sessions = of_project(&home, claim, config::clock()?.now(), is_believed);
    // The session in which an agent runs this command is not the last one.
    let own = config::client_session().0;
    let of_name = sessions.iter().filter(|record| match named {
        Some(name) => record.session.starts_with(name),
        None => Some(&record.session) != own.as_ref(),
    });
    let found: Vec<_> = of_name.collect();
    match (found.as_slice(), named) {
        ([only], _) => Ok((only.session.clone(), only.transcript.clone())),
        ([last, ..], None) => Ok((last.session.clone(), last.transcript.clone())),
        ([], None) => Err(UserError(format!(
            "no session of this directory's project in the last {DAYS_KEPT} days is recorded; hooks record sessions (`tessera \
            setup claude-code`) unless hooks.handoff is off; or name a file with --transcript"
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
