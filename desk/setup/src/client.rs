//! The clients: where each keeps its settings, and Tessera's entries in them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tessera_tables::names;

use crate::entry::Run;
use crate::error::SetupError;
use crate::plan::{Edit, Plan};
use crate::{json, plan, temporary, toml};

names! {
/// A program that speaks MCP.
pub enum Client {
    /// Claude Code: server and hooks.
    ClaudeCode = "claude-code",
    /// Claude Desktop.
    ClaudeDesktop = "claude-desktop",
    /// Cursor.
    Cursor = "cursor",
    /// Codex.
    Codex = "codex",
    /// Gemini CLI.
    Gemini = "gemini",
    /// Visual Studio Code.
    VsCode = "vscode",
}
}

/// Whether a client is set up for the user, or for one project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Level {
    /// For this user, everywhere.
    User,
    /// Changes the files of a project, which users commit. These files name `tessera` without a directory, so clients
    /// find it on PATH.
    Project(PathBuf),
}

/// Directories with client settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The user's home.
    pub home: PathBuf,
    /// The user's settings directory: `~/.config`, `~/Library/Application Support`, or `%APPDATA%`.
    pub config: PathBuf,
    /// The user's data directory: `~/.local/share`, or `XDG_DATA_HOME`.
    pub data: PathBuf,
    /// `ZDOTDIR`, if set.
    pub zsh: Option<PathBuf>,
    /// `CLAUDE_CONFIG_DIR`, if set.
    pub claude: Option<PathBuf>,
    /// `CODEX_HOME`, if set.
    pub codex: Option<PathBuf>,
    /// This program.
    pub program: PathBuf,
    /// The store's directory, if the command line named one: clients must use the same directory.
    pub store: Option<PathBuf>,
    /// The program search path: `PATH`.
    pub search: Option<OsString>,
}

/// Matches the names of Tessera's tools. A client's settings may contain Tessera under its own name or under the name
/// of claude-memory-mcp.
const OUR_TOOLS: &str = "mcp__(tessera|claude_memory|plugin_claude-memory_claude_memory)__.*";
/// As [`OUR_TOOLS`], with the client's tools that edit files, run commands and start subagents.
const OUR_TOOLS_AND_ACTIONS: &str = "^(Bash|PowerShell|Edit|MultiEdit|Write|NotebookEdit|Task|Agent|mcp__(tessera|claude_memory|plugin_claude-memory_claude_memory)__.*)$";

/// The hook events with the tools they apply to, and the client's time limit in seconds.
pub const EVENTS: [(&str, Option<&str>, u32); 10] = [
    ("SessionStart", None, 5),
    ("UserPromptSubmit", None, 5),
    ("PreToolUse", Some(OUR_TOOLS_AND_ACTIONS), 5),
    ("PostToolUseFailure", Some("^(Bash|PowerShell)$"), 5),
    ("PermissionRequest", Some(OUR_TOOLS), 5),
    ("PreCompact", None, 5),
    ("PostCompact", None, 5),
    ("Stop", None, 5),
    ("SubagentStop", None, 5),
    ("SessionEnd", None, 5),
];

impl Client {
    /// The edits that connect this client.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read or does not have the expected format, or if this program is a temporary
    /// copy. In this case no file is changed.
    pub fn plan(self, level: &Level, places: &Places) -> Result<Plan, SetupError> {
        temporary::check(&places.program)?;
        let run = run_of(level, places);
        let mut plan = Plan::default();
        let server_file = self.server_file(level, places)?;
        let before = plan::read(&server_file)?;
        let after = if self == Self::Codex {
            toml::with_server(&server_file, before.as_deref(), &run)?
        } else {
            let entry = self.server_entry(&run);
            json::edited(&server_file, before.as_deref(), |root| json::set_server(root, self.servers_key(), &entry))?
        };
        plan.add(Edit::new(server_file, before, Some(after)));
        if self == Self::ClaudeCode {
            let hooks_file = hooks_file(level, places);
            let before = plan::read(&hooks_file)?;
            let after = json::edited(&hooks_file, before.as_deref(), |root| {
                EVENTS.iter().for_each(|(event, matcher, timeout)| {
                    json::set_hook(root, event, &hook_group(&run, *matcher, *timeout));
                });
            })?;
            plan.add(Edit::new(hooks_file, before, Some(after)));
        }
        Ok(plan)
    }

    /// Returns a client's file without Tessera's entries but with all other changes; `None` if it has no entries of
    /// Tessera.
    pub(crate) fn taken_out(self, path: &Path, before: &[u8]) -> Result<Option<Vec<u8>>, SetupError> {
        if self == Self::Codex {
            return toml::without_server(path, before);
        }
        let mut is_changed = false;
        let after = json::edited(path, Some(before), |root| {
            is_changed = json::remove_server(root, self.servers_key()) | json::remove_hooks(root);
        })?;
        Ok(is_changed.then_some(after))
    }

    /// The file with this client's servers.
    ///
    /// # Errors
    /// Returns an error if the client has no such file at this level.
    pub fn server_file(self, level: &Level, places: &Places) -> Result<PathBuf, SetupError> {
        let home = &places.home;
        Ok(match (self, level) {
            (Self::ClaudeCode, Level::User) => places.claude.as_ref().unwrap_or(home).join(".claude.json"),
            (Self::ClaudeCode, Level::Project(dir)) => dir.join(".mcp.json"),
            (Self::ClaudeDesktop, Level::User) => places.config.join("Claude/claude_desktop_config.json"),
            (Self::Cursor, Level::User) => home.join(".cursor/mcp.json"),
            (Self::Cursor, Level::Project(dir)) => dir.join(".cursor/mcp.json"),
            (Self::Codex, Level::User) => {
                places.codex.clone().unwrap_or_else(|| home.join(".codex")).join("config.toml")
            }
            (Self::Gemini, Level::User) => home.join(".gemini/settings.json"),
            (Self::Gemini, Level::Project(dir)) => dir.join(".gemini/settings.json"),
            (Self::VsCode, Level::User) => places.config.join("Code/User/mcp.json"),
            (Self::VsCode, Level::Project(dir)) => dir.join(".vscode/mcp.json"),
            (Self::ClaudeDesktop | Self::Codex, Level::Project(_)) => {
                return Err(SetupError::NoProjectLevel { client: self.as_str() });
            }
        })
    }

    fn servers_key(self) -> &'static str {
        if self == Self::VsCode { "servers" } else { "mcpServers" }
    }

    fn server_entry(self, run: &Run) -> Value {
        let (program, args) = (&run.program, run.arguments("mcp"));
        match self {
            Self::ClaudeCode => json!({
                "type": "stdio",
                "command": program,
                "args": args,
                "env": { "TESSERA_TOKEN_PROFILE": "claude" },
                "alwaysLoad": true,
            }),
            Self::ClaudeDesktop => {
                json!({ "command": program, "args": args, "env": { "TESSERA_TOKEN_PROFILE": "claude" } })
            }
            Self::VsCode => json!({ "type": "stdio", "command": program, "args": args }),
            Self::Cursor | Self::Codex | Self::Gemini => json!({ "command": program, "args": args }),
        }
    }
}

/// The file with Claude Code's hooks.
pub(crate) fn hooks_file(level: &Level, places: &Places) -> PathBuf {
    match level {
        Level::User => places.claude.clone().unwrap_or_else(|| places.home.join(".claude")).join("settings.json"),
        Level::Project(dir) => dir.join(".claude/settings.json"),
    }
}

fn hook_group(run: &Run, matcher: Option<&str>, timeout: u32) -> Value {
    let hook = json!({ "type": "command", "command": run.program, "args": run.arguments("hook"), "timeout": timeout });
    match matcher {
        Some(matcher) => json!({ "matcher": matcher, "hooks": [hook] }),
        None => json!({ "hooks": [hook] }),
    }
}

/// Returns the command for Tessera that setup writes into the settings of this level.
fn run_of(level: &Level, places: &Places) -> Run {
    let text = |path: &PathBuf| path.to_string_lossy().into_owned();
    match level {
        Level::User => Run { program: text(&places.program), home: places.store.as_ref().map(text) },
        // These files are also for other people's machines.
        Level::Project(_) => Run { program: "tessera".to_owned(), home: None },
    }
}
