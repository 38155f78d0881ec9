//! `memory`: the files under /memories, with the commands and answers on which models were trained.

use serde_json::json;
use tessera_desk::folders::{FileCommand, FileRules};
use tessera_desk::{Desk, Effect};
use tessera_engine::domain::TokenBudget;

use super::{Call, Entry, Listed, MAX_TOKENS, Reply};
use crate::args::Args;
use crate::error::ToolError;

pub(super) const TOOL: Entry = Entry {
    name: "memory",
    title: "Memory files",
    description: "Files that outlive this session. All operations are inside /memories. view shows a directory or a \
        file; create writes a file; str_replace replaces a text that occurs once; insert adds text after a line; \
        delete and rename work on files and directories.",
    // The command delete does, and can be undone.
    effect: Effect::Destroys,
    properties: || {
        json!({
            "command": {
                "type": "string",
                "enum": ["view", "create", "str_replace", "insert", "delete", "rename"],
                "description": "What to do"
            },
            "path": { "type": "string", "description": "File or directory in /memories, such as /memories/user/preferences.md; `rename` does not use it" },
            "file_text": { "type": "string", "description": "create: the complete content" },
            "view_range": {
                "type": "array",
                "items": { "type": "integer" },
                "minItems": 2,
                "maxItems": 2,
                "description": "view: first and last line (or directory entry) to show, counted from 1; -1 is the end"
            },
            "old_str": { "type": "string", "description": "str_replace: the exact text to replace; must be unique" },
            "new_str": { "type": "string", "description": "str_replace: the new text" },
            "insert_line": { "type": "integer", "description": "insert: number of the line after which the text is inserted; 0 inserts at the top" },
            "insert_text": { "type": "string", "description": "insert: the new text" },
            "old_path": { "type": "string", "description": "rename: the current path" },
            "new_path": { "type": "string", "description": "rename: the new path" },
            "max_tokens": { "type": "integer", "description": "Maximum size of the reply" }
        })
    },
    aliases: &[MAX_TOKENS],
    required: &["command"],
    listed: Listed::Always,
    is_always_loaded: true,
    call: Call::Files(call),
};

fn call(desk: &mut Desk<'_>, args: &Args, rules: FileRules) -> Reply {
    let asked = args.whole(MAX_TOKENS)?.map(TokenBudget::try_from).transpose();
    let asked = asked.map_err(|error| args.named(error, MAX_TOKENS))?;
    let max_tokens = asked.map_or(rules.max_tokens, TokenBudget::get);
    let reply = desk.perform(FileCommand { command: args.as_given(), rules: FileRules { max_tokens, ..rules } })?;
    if reply.is_error { Err(ToolError::NotDone(reply.text)) } else { Ok(reply.text) }
}
