//! `project`: the project that a directory claims to belong to, and whether the user confirmed it.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use tessera_desk::project::Claim;
use tessera_desk::use_cases::{IsBelieved, Places, TrustProject, UntrustProject};
use tessera_engine::domain::Scope;
use tessera_engine::store::Place;

use super::{Access, Context};
use crate::cli::ProjectTask;
use crate::exit::UserError;
use crate::shapes::ProjectShown;
use crate::{config, output};

/// Shows, confirms or withdraws.
pub(super) fn run(context: &Context, task: Option<ProjectTask>) -> anyhow::Result<()> {
    match task {
        None => show(context, &claim(None)?),
        Some(ProjectTask::List) => list(context),
        Some(ProjectTask::Trust { path }) => trust(context, &claim(path)?),
        Some(ProjectTask::Forget { path }) => forget(context, &claim(path)?),
    }
}

fn claim(path: Option<PathBuf>) -> anyhow::Result<Claim> {
    let path = path.unwrap_or_else(|| PathBuf::from("."));
    let dir = path.canonicalize().with_context(|| path.display().to_string())?;
    if !dir.is_dir() {
        return Err(UserError(format!("{} is not a directory; name a directory", path.display())).into());
    }
    Ok(config::claim(&dir))
}

fn show(context: &Context, claim: &Claim) -> anyhow::Result<()> {
    let home = config::home(context.home.clone())?;
    let is_believed = if home.holds_store() { is_believed(context, claim)? } else { claim.is_its_own() };
    tell(context, claim, is_believed)
}

fn is_believed(context: &Context, claim: &Claim) -> anyhow::Result<bool> {
    context.perform_here(Access::Read, IsBelieved(claim.clone()))
}

fn list(context: &Context) -> anyhow::Result<()> {
    let places = context.perform_here(Access::Read, Places)?;
    if context.json {
        return output::json(&places);
    }
    let how = |how: &str| if how == "told" { "confirmed" } else { "memories were stored there" }.to_owned();
    let row =
        |place: Place| vec![place.path, place.project.to_string(), how(&place.how), place.since.date().to_string()];
    output::text(&output::table(&["directory", "project", "how", "since"], places.into_iter().map(row).collect()))
}

fn trust(context: &Context, claim: &Claim) -> anyhow::Result<()> {
    if !claim.is_its_own() {
        context.perform_here(Access::Add, TrustProject(claim.clone()))?;
    } else if !context.json {
        output::note("This directory is its own project, so it needs no trust.");
    }
    tell(context, claim, true)
}

fn forget(context: &Context, claim: &Claim) -> anyhow::Result<()> {
    let was_trusted = config::home(context.home.clone())?.holds_store() && is_believed(context, claim)?;
    if was_trusted {
        context.perform_here(Access::Add, UntrustProject(claim.clone()))?;
    }
    if !context.json {
        let place = output::shown(&claim.real_place().display().to_string());
        output::note(&match (claim.is_its_own(), was_trusted) {
            (true, _) => format!("{place} is its own project, so there is no trust to withdraw."),
            (false, true) => format!("{place} is no longer trusted."),
            (false, false) => format!("{place} was not trusted."),
        });
    }
    tell(context, claim, claim.is_its_own())
}

fn tell(context: &Context, claim: &Claim, is_believed: bool) -> anyhow::Result<()> {
    let place = claim.real_place();
    context.print(
        &ProjectShown {
            directory: place.to_string_lossy().into_owned(),
            project: &claim.scope,
            by: claim.by.as_str(),
            believed: is_believed,
        },
        || output::shown(&sentence(claim, &place, is_believed)),
    )
}

fn sentence(claim: &Claim, place: &Path, is_believed: bool) -> String {
    let (place, by, scope) = (place.display(), claim.by.as_str(), &claim.scope);
    if *scope == Scope::Global {
        format!("{place} is not in a project: sessions here receive global memories only.")
    } else if claim.is_its_own() {
        format!("{place} belongs to the project {scope} (determined by {by}).")
    } else if is_believed {
        format!(
            "{place} belongs to {scope} (found by {by}); the directory is trusted, so its memories are added to prompts automatically."
        )
    } else {
        format!(
            "{place} seems to belong to {scope} (found by {by}). The directory is not trusted, so recall returns its memories only when you ask; to trust it, run `tessera project trust`."
        )
    }
}
