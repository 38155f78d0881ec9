//! `note`: finds, reads and lists notes. `graph`: shows their links.

use tessera_desk::UseCase;
use tessera_desk::use_cases::{BuildContext, Form, NotesReply, Part, ReadNote, RecentActivity, SearchNotes, Within};
use tessera_engine::domain::{DomainError, TokenBudget};
use tessera_engine::pack::JsonRows;

use super::{Access, Context};
use crate::cli::{GraphArguments, NoteBounds, NoteTask, Tags};
use crate::output;

/// Finds, reads and lists notes.
pub(super) fn run(context: &Context, task: NoteTask) -> anyhow::Result<()> {
    match task {
        NoteTask::Search { query, types, tags, since, bounds } => {
            let (within, part) = asked(context, &bounds)?;
            let project = bounds.project;
            let (query, tags) = (query.join(" "), Tags::all(tags));
            show(context, SearchNotes { query, project, types, tags, after_date: since, part, within })
        }
        NoteTask::Read { identifier, project, line, max_tokens } => {
            show(context, ReadNote { identifier, project, line, within: within(context, max_tokens)? })
        }
        NoteTask::Recent { timeframe, types, bounds } => recent(context, Some(timeframe), types, bounds),
        NoteTask::List { types, bounds } => recent(context, None, types, bounds),
    }
}

/// Shows the links of notes or of a memory.
pub(super) fn graph(context: &Context, args: GraphArguments) -> anyhow::Result<()> {
    let GraphArguments { url, depth, timeframe, max_related, bounds } = args;
    let (within, part) = asked(context, &bounds)?;
    show(context, BuildContext { url, project: bounds.project, depth, timeframe, max_related, part, within })
}

fn recent(context: &Context, timeframe: Option<String>, types: Vec<String>, bounds: NoteBounds) -> anyhow::Result<()> {
    let (within, part) = asked(context, &bounds)?;
    show(context, RecentActivity { project: bounds.project, timeframe, types, part, within })
}

fn show(context: &Context, verb: impl UseCase<Outcome = NotesReply>) -> anyhow::Result<()> {
    let reply = context.perform(Access::Read, verb)?;
    output::text(&reply.body)
}

fn asked(context: &Context, bounds: &NoteBounds) -> Result<(Within, Part), DomainError> {
    let part = Part { page: bounds.page, page_size: bounds.page_size, after: bounds.after };
    Ok((within(context, bounds.max_tokens)?, part))
}

fn within(context: &Context, max_tokens: u32) -> Result<Within, DomainError> {
    let form = if context.json { Form::Json(JsonRows::default()) } else { Form::Text };
    Ok(Within { budget: TokenBudget::try_from(max_tokens)?, form, remark: None })
}
