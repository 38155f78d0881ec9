//! The tools. Each file has the definition of a tool and its function: parse, perform the use case, render.

mod count;
mod forget;
mod get;
mod history;
mod link;
mod list;
mod memory;
mod notes;
mod recall;
mod resolve;
mod restore;
mod secret;
mod store;
mod stored;
mod team;
mod update;

use std::pin::Pin;
use std::sync::{Arc, LazyLock};

use rmcp::model::{MetaObject, Tool, ToolAnnotations};
use serde_json::{Value, json};
use tessera_desk::folders::FileRules;
use tessera_desk::team::Team;
use tessera_desk::use_cases::{Form, Meant};
use tessera_desk::vault::Safe;
use tessera_desk::{Caller, Desk, Effect, SharedStore};
use tessera_engine::domain::{DomainError, MemoryRef, RecallRequest, TokenBudget};
use tessera_engine::pack::{JsonRows, Lines};

use crate::args::Args;
use crate::error::ToolError;
use crate::known::Known;

pub(crate) use recall::text as recall_text;

/// All tools in the order in which a client lists them.
static TABLE: [&Entry; 22] = [
    &recall::TOOL,
    &store::TOOL,
    &get::TOOL,
    &list::TOOL,
    &forget::TOOL,
    &restore::TOOL,
    &forget::OLDER,
    &link::TOOL,
    &resolve::TOOL,
    &secret::TOOL,
    &memory::TOOL,
    &update::TOOL,
    &count::TOOL,
    &history::TOOL,
    &team::SHARE,
    &team::UNSHARE,
    &team::SHARE_TAG,
    &team::UNSHARE_TAG,
    &team::MUTE,
    &team::ACCEPT,
    &team::SHARED_WITH_ME,
    &team::MY_SHARES,
];

/// The note tools, in the order in which they are listed.
static NOTES: [&Entry; 4] = [&notes::SEARCH, &notes::CONTEXT, &notes::RECENT, &notes::READ];

/// A tool: its definition and its function.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    title: &'static str,
    description: &'static str,
    pub(crate) effect: Effect,
    /// The schemas of its arguments.
    properties: fn() -> Value,
    /// Aliases of its arguments, and arguments of older clients.
    aliases: &'static [&'static [&'static str]],
    required: &'static [&'static str],
    listed: Listed,
    /// Clients load this tool immediately instead of on demand.
    is_always_loaded: bool,
    pub(crate) call: Call,
}

/// When a client sees a tool. A tool that is not listed can still be called.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Listed {
    Always,
    /// Only with a team server.
    Team,
    /// Never: an older name, or another tool does the same.
    Never,
}

/// The function of a tool.
#[derive(Clone, Copy)]
pub(crate) enum Call {
    /// Performs a use case.
    Desk(fn(&mut Desk<'_>, &Args) -> Reply),
    /// Performs a use case that may change files.
    Changing(fn(&mut Desk<'_>, &Args) -> Reply),
    /// Performs a use case with the user's rules for files.
    Files(fn(&mut Desk<'_>, &Args, FileRules) -> Reply),
    /// Performs a use case that also needs the state of the sync.
    Status(fn(&mut Desk<'_>, &Args, &TeamStatus) -> Reply),
    /// Performs a use case here. If a value is missing on this machine, a second function gets it from the server or
    /// the vault.
    Fetching(fn(&mut Desk<'_>, &Args) -> Reply, for<'a> fn(&'a Args, Elsewhere<'a>, Caller) -> Replying<'a>),
    /// Performs a use case of the team server.
    Team(for<'a> fn(&'a Args, &'a Team) -> Replying<'a>),
}

/// Another place that may have the value of a secret: the team server or the vault.
#[derive(Clone, Copy)]
pub(crate) enum Elsewhere<'a> {
    /// The team server.
    Team(&'a Team),
    /// The vault of this machine.
    Vault(&'a Safe, &'a SharedStore),
}

/// The text of a reply.
pub(crate) type Reply = Result<String, ToolError>;
/// A reply that waits for the server.
pub(crate) type Replying<'a> = Pin<Box<dyn Future<Output = Reply> + Send + 'a>>;

/// The state of the team server, as far as this process knows.
#[derive(Debug, Clone)]
pub(crate) struct TeamStatus {
    /// True if a team server is configured.
    pub(crate) in_team: bool,
    /// Why the server is not used, or the last error of the server.
    pub(crate) trouble: Option<String>,
}

/// The definitions; their schemas are parsed only once.
static DEFINITIONS: LazyLock<Vec<Tool>> = LazyLock::new(|| TABLE.iter().map(|entry| entry.definition()).collect());
static NOTE_DEFINITIONS: LazyLock<Vec<Tool>> = LazyLock::new(|| NOTES.iter().map(|entry| entry.definition()).collect());

/// The optional tools that are offered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Offered {
    /// True if there is a team server, so that the team tools are listed.
    pub(crate) in_team: bool,
    /// True if the user enabled the memory tool.
    pub(crate) keeps_files: bool,
    /// True if there are notes, or if the memory tool may create some.
    pub(crate) with_notes: bool,
}

/// The definitions of the offered tools.
pub(crate) fn definitions(offered: Offered) -> Vec<Tool> {
    let is_offered = |entry: &Entry| match entry.listed {
        Listed::Always => offered.keeps_files || entry.name != memory::TOOL.name,
        Listed::Team => offered.in_team,
        Listed::Never => false,
    };
    let all = TABLE.iter().zip(DEFINITIONS.iter()).filter(|(entry, _)| is_offered(entry)).map(|(_, tool)| tool);
    all.chain(NOTE_DEFINITIONS.iter().filter(|_| offered.with_notes)).cloned().collect()
}

/// All tools, also those that no client lists.
#[cfg(test)]
pub(crate) fn all() -> Vec<Tool> {
    DEFINITIONS.iter().chain(NOTE_DEFINITIONS.iter()).cloned().collect()
}

/// The lists of names that mean the same argument of a tool.
#[cfg(test)]
pub(crate) fn other_names(tool: &str) -> &'static [&'static [&'static str]] {
    find(tool).map_or(&[], |entry| entry.aliases)
}

/// A tool by its name.
pub(crate) fn find(name: &str) -> Option<&'static Entry> {
    TABLE.iter().chain(&NOTES).copied().find(|entry| entry.name == name)
}

impl Entry {
    /// The arguments that the tool knows.
    pub(crate) fn known(&self) -> Known {
        Known::of(self.name, &(self.properties)(), self.aliases)
    }

    fn definition(&self) -> Tool {
        let schema = json!({ "type": "object", "properties": (self.properties)(), "required": self.required });
        let schema = schema.as_object().cloned().unwrap_or_default();
        let annotations = ToolAnnotations::with_title(self.title)
            .read_only(self.effect == Effect::Reads)
            .destructive(self.effect == Effect::Destroys)
            .idempotent(self.effect != Effect::Adds)
            .open_world(false);
        let tool = Tool::new(self.name, self.description, Arc::new(schema));
        let tool = tool.with_title(self.title).with_annotations(annotations);
        if !self.is_always_loaded {
            return tool;
        }
        let mut meta = MetaObject::new();
        meta.insert("anthropic/alwaysLoad".into(), Value::Bool(true));
        tool.with_meta(meta)
    }
}

const ROWS: &[&str] = &["rows"];
const FORMAT: &[&str] = &["format", "output_format"];
const MAX_TOKENS: &[&str] = &["max_tokens", "token_budget"];

/// Creates a request with the call's budget.
fn budgeted(args: &Args, query: String) -> Result<RecallRequest, DomainError> {
    let budget = args.whole(MAX_TOKENS)?.map_or(Ok(TokenBudget::DEFAULT), TokenBudget::try_from);
    let budget = budget.map_err(|error| args.named(error, MAX_TOKENS))?;
    Ok(RecallRequest { budget, ..RecallRequest::new(query) })
}

/// The rows that fit into the budget, and the number of all rows.
fn listed(lines: Lines, rows: &[String], what: &str) -> Result<String, DomainError> {
    let closing = |shown: usize, used: u32| format!("{shown} of {} {what}, {}\n", rows.len(), lines.cost(used));
    Ok(lines.fill("", rows, closing)?.body)
}

/// The one memory that the call names by ID, UUID or file path.
fn meant(desk: &mut Desk<'_>, args: &Args) -> Result<MemoryRef, ToolError> {
    let named = args.required_name()?;
    let found = desk.perform(Meant { named: vec![named] })?;
    found.into_iter().next().ok_or_else(|| DomainError::invalid("id", "is missing", "use an ID such as 42").into())
}

/// True if the JSON rows of full results contain all fields.
fn has_full_rows(args: &Args) -> Result<bool, DomainError> {
    if !args.knows(ROWS) {
        return Ok(false);
    }
    Ok(args.choice(ROWS, &["full", "short"], "use full or short")? == Some("full"))
}

/// The requested form of a reply.
fn form(args: &Args) -> Result<Form, DomainError> {
    Ok(match args.choice(FORMAT, &["text", "json"], "use text or json")? {
        Some("json") => Form::Json(JsonRows { full: has_full_rows(args)?, ..JsonRows::default() }),
        _ => Form::Text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_knows_what_its_schema_shows_and_refuses_what_nobody_declared() {
        for entry in TABLE.iter().chain(&NOTES) {
            let known = entry.known();
            let properties = (entry.properties)();
            let shown: Vec<String> = properties.as_object().unwrap().keys().cloned().collect();
            let said = json!(1);
            assert_eq!(known.check(shown.iter().map(|name| (name, &said))).unwrap(), None, "{}", entry.name);
            assert!(entry.required.iter().all(|name| known.has(name)), "{}", entry.name);
            assert!(entry.aliases.iter().flat_map(|names| names.iter()).all(|name| known.has(name)), "{}", entry.name);
            let strange = "zz_nobody_declared".to_owned();
            let error = known.check([(&strange, &said)].into_iter()).unwrap_err().to_string();
            assert!(error.starts_with("zz_nobody_declared: unknown argument"), "{}: {error}", entry.name);
        }
    }
}
