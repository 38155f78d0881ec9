//! Approves Tessera's safe tools by their full names. For any other tool, the hook makes no decision.

use tessera_engine::store::Usage;

use crate::reply::Reply;
use crate::surroundings::Surroundings;
use crate::wire::Payload;

/// The prefixes of Tessera's tools in clients: after `tessera setup`, as a plugin, and under the older names that users
/// may still have in their settings.
pub const SERVERS: [&str; 4] = [
    "mcp__tessera__",
    "mcp__plugin_tessera_tessera__",
    "mcp__claude_memory__",
    "mcp__plugin_claude-memory_claude_memory__",
];

/// Tools that only read or add memories, or whose changes the history can undo. None deletes or shares.
pub const SAFE_TOOLS: [&str; 9] = [
    "memory_recall",
    "memory_store",
    "memory_get",
    "memory_list",
    "memory_count",
    "memory_history",
    "memory_update",
    "memory_link",
    "memory_restore",
];

/// Tools that read files.
pub const NOTE_TOOLS: [&str; 4] = ["search_notes", "build_context", "recent_activity", "read_note"];

/// The memory tool. The command `delete` needs a confirmation, although it can be undone.
const FILE_TOOL: &str = "memory";
const SAFE_COMMANDS: [&str; 5] = ["view", "create", "str_replace", "insert", "rename"];

/// Handles PreToolUse.
pub(crate) fn before_use(payload: &Payload, surroundings: &Surroundings) -> Option<Reply> {
    is_safe(payload, surroundings).then(Reply::allow_tool)
}

/// Handles PermissionRequest, before the client asks the person.
pub(crate) fn on_request(payload: &Payload, surroundings: &Surroundings) -> Option<Reply> {
    is_safe(payload, surroundings).then(Reply::allow_request)
}

fn is_safe(payload: &Payload, surroundings: &Surroundings) -> bool {
    let Some(name) = payload.text(&["tool_name"]) else { return false };
    let tool = SERVERS.iter().find_map(|server| name.strip_prefix(server));
    surroundings.settings.auto_approve && tool.is_some_and(|tool| is_safe_tool(tool, payload, surroundings))
}

fn is_safe_tool(tool: &str, payload: &Payload, surroundings: &Surroundings) -> bool {
    match tool {
        FILE_TOOL => payload.tool_argument("command").is_some_and(|command| SAFE_COMMANDS.contains(&command)),
        // A tag may share the memory now or in future, so the person must decide.
        _ => {
            (SAFE_TOOLS.contains(&tool) && !(gives_tags(payload) && may_share(surroundings)))
                || NOTE_TOOLS.contains(&tool)
        }
    }
}

fn gives_tags(payload: &Payload) -> bool {
    ["tags", "tag"].iter().any(|name| payload.has_tool_argument(name))
}

/// True if this machine syncs with a team server, or if that is unknown.
fn may_share(surroundings: &Surroundings) -> bool {
    surroundings.home.holds_store()
        && surroundings
            .open(Usage::ReadOnce)
            .map_or(true, |store| store.server().map_or(true, |server| server.is_some()))
}
