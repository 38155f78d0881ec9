//! The tools: one file each, with its definition and what it does.

mod count;
mod forget;
mod get;
mod history;
mod link;
mod list;
mod recall;
mod resolve;
mod store;
mod team;
mod update;

use std::path::PathBuf;
use std::sync::Arc;

use rmcp::model::{MetaObject, Tool, ToolAnnotations};
use serde_json::{Value, json};
use tessera_engine::Store;
use tessera_engine::domain::{DomainError, Origin, RecallRequest, Scope, TokenBudget, TokenProfile};
use tessera_engine::store::Actor;

use crate::args::Args;
use crate::error::ToolError;

pub(crate) use recall::text as recall_text;
pub(crate) use team::call as call_team;

/// Who calls, and how counts are meant.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    /// The client program and its version.
    pub(crate) client: Option<String>,
    /// Whose tokens budgets count.
    pub(crate) profile: TokenProfile,
    /// The client's session.
    pub(crate) session: Option<String>,
    /// The project that the session is in.
    pub(crate) project: Option<Scope>,
    /// The directory of that project.
    pub(crate) dir: Option<PathBuf>,
    /// True where a team server is set.
    pub(crate) in_team: bool,
    /// Why the team server is not used, or what it said last.
    pub(crate) trouble: Option<String>,
}

impl Caller {
    fn actor(&self, reason: Option<String>) -> Actor {
        Actor { origin: Origin::Agent, client: self.client.clone(), session: self.session.clone(), reason }
    }
}

type Call = fn(&mut Store, &Args, &Caller) -> Result<String, ToolError>;

/// Every tool with what it does, in the order they are listed.
fn table() -> Vec<(Tool, Call)> {
    vec![
        (recall::definition(), recall::call),
        (store::definition(), store::call),
        (get::definition(), get::call),
        (list::definition(), list::call),
        (update::definition(), update::call),
        (forget::definition("memory_forget"), forget::call),
        (forget::definition("memory_delete"), forget::call),
        (count::definition(), count::call),
        (history::definition(), history::call),
        (link::definition(), link::call),
        (resolve::definition(), resolve::call),
    ]
}

/// The definitions of all tools; those of a team where there is one.
pub(crate) fn definitions(in_team: bool) -> Vec<Tool> {
    let alone = table().into_iter().map(|(tool, _)| tool);
    // Without a server nothing is changed on two machines.
    let alone = alone.filter(|tool| in_team || tool.name != "memory_resolve");
    alone.chain(if in_team { team::definitions() } else { Vec::new() }).collect()
}

/// True for a tool that is there only with a team server.
pub(crate) fn is_of_team(name: &str) -> bool {
    team::definitions().iter().any(|tool| tool.name == name)
}

/// What a tool does, by its name.
pub(crate) fn find(name: &str) -> Option<Call> {
    table().into_iter().find(|(tool, _)| tool.name == name).map(|(_, call)| call)
}

/// What a tool does to the world, for the client to show.
#[derive(Clone, Copy)]
enum Effect {
    Reads,
    Adds,
    Changes,
    Destroys,
}

fn tool(
    name: &'static str,
    title: &str,
    description: &'static str,
    effect: Effect,
    properties: Value,
    required: &[&str],
) -> Tool {
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    let schema = schema.as_object().cloned().unwrap_or_default();
    let (reads, destroys) = (matches!(effect, Effect::Reads), matches!(effect, Effect::Destroys));
    let annotations = ToolAnnotations::with_title(title)
        .read_only(reads)
        .destructive(destroys)
        .idempotent(!matches!(effect, Effect::Adds))
        .open_world(false);
    Tool::new(name, description, Arc::new(schema)).with_title(title).with_annotations(annotations)
}

/// Marks a tool that a client loads at once rather than on demand.
fn always_loaded(tool: Tool) -> Tool {
    let mut meta = MetaObject::new();
    meta.insert("anthropic/alwaysLoad".into(), Value::Bool(true));
    tool.with_meta(meta)
}

const MAX_TOKENS: &[&str] = &["max_tokens", "token_budget"];

/// A request with the budget of the call.
fn budgeted(args: &Args, caller: &Caller, query: String) -> Result<RecallRequest, DomainError> {
    let budget = args.whole(MAX_TOKENS)?.map_or(Ok(TokenBudget::DEFAULT), TokenBudget::try_from);
    let budget = budget.map_err(|error| args.named(error, MAX_TOKENS))?;
    Ok(RecallRequest { budget, profile: caller.profile, ..RecallRequest::new(query) })
}

/// In which form a reply is wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Text,
    Json,
}

fn format(args: &Args) -> Result<Format, DomainError> {
    match args.text(&["format"])?.as_deref() {
        None | Some("text") => Ok(Format::Text),
        Some("json") => Ok(Format::Json),
        Some(_) => Err(DomainError::invalid("format", "is unknown", "give text or json")),
    }
}
