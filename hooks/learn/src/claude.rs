//! Extracts memories with Claude Haiku, through the installed client. The client runs without hooks, tools or servers,
//! and does not save the session.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::extracted_memory::{ExtractorError, Means, Verdict, Window, block_on, object_in};

/// Set for every program that an extractor starts. A hook that sees this variable does nothing, so the extractor's
/// program never runs Tessera's hooks.
pub const CHILD: &str = "TESSERA_CHILD";
const PATIENCE: Duration = Duration::from_mins(1);
/// Variables that the extractor's client must not inherit: they describe the session around the hook, or contain keys
/// that it does not need.
const NOT_ITS_OWN: [&str; 16] = [
    "CLAUDECODE",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_PLUGIN_ROOT",
    "CLAUDE_PLUGIN_DATA",
    "CLAUDE_PROJECT_DIR",
    "CLAUDE_PID",
    "CLAUDE_ENV_FILE",
    "CLAUDE_EFFORT",
    "AI_AGENT",
    "TESSERA_SECRET_KEY",
    "TESSERA_SECRET_KEY_BEFORE",
    "MEMORY_ENCRYPTION_KEY",
    "VAULT_TOKEN",
];

/// Asks Claude.
pub(crate) fn ask(window: &Window<'_>, means: &Means) -> Result<Verdict, ExtractorError> {
    let program = means.claude.iter().find(|program| program.is_file()).ok_or(ExtractorError::Absent)?;
    let output = block_on(run(program, window, &means.neutral_dir))??;
    let reply: Value = serde_json::from_slice(&output).unwrap_or_default();
    let tokens =
        |names: &[&str]| -> u64 { names.iter().filter_map(|name| reply.get("usage")?.get(*name)?.as_u64()).sum() };
    let input_tokens = tokens(&["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"]);
    let output_tokens = tokens(&["output_tokens"]);
    let malformed = ExtractorError::Malformed { input_tokens, output_tokens };
    if reply.get("is_error").and_then(Value::as_bool) != Some(false) {
        return Err(malformed);
    }
    let written = || object_in(reply.get("result")?.as_str()?);
    let answer = reply.get("structured_output").filter(|answer| answer.is_object()).cloned().or_else(written);
    let extracted_memories = answer.and_then(|answer| window.lessons_of(&answer)).ok_or(malformed)?;
    Ok(Verdict { extracted_memories, input_tokens, output_tokens })
}

async fn run(program: &Path, window: &Window<'_>, dir: &Path) -> Result<Vec<u8>, ExtractorError> {
    let failed = |error: std::io::Error| ExtractorError::Unreachable(error.to_string());
    let mut command = Command::new(program);
    command
        .args(["-p", "--model", "haiku", "--output-format", "json", "--effort", "low", "--tools", ""])
        .args(["--json-schema", &window.schema().to_string(), "--system-prompt", &window.instructions()])
        .args(["--setting-sources", "", "--settings", r#"{"disableAllHooks":true}"#, "--strict-mcp-config"])
        .args(["--disable-slash-commands", "--no-session-persistence"])
        .env(CHILD, "1")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .current_dir(dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    for name in NOT_ITS_OWN {
        command.env_remove(name);
    }
    let mut child = command.spawn().map_err(failed)?;
    let mut stdin = child.stdin.take().ok_or(ExtractorError::Absent)?;
    let text = window.text();
    let exchange = async {
        stdin.write_all(text.as_bytes()).await.map_err(failed)?;
        drop(stdin);
        child.wait_with_output().await.map_err(failed)
    };
    // Dropping the child process kills it.
    let output = tokio::time::timeout(PATIENCE, exchange).await.map_err(|_| ExtractorError::TimedOut(PATIENCE))??;
    Ok(output.stdout)
}

/// Where the client may be: the running program, then the search path, then the directory of its installer.
pub(crate) fn programs(
    running: Option<&Path>,
    search_path: Option<&std::ffi::OsStr>,
    home: Option<&Path>,
) -> Vec<PathBuf> {
    let name = if cfg!(windows) { "claude.exe" } else { "claude" };
    let on_path = search_path.into_iter().flat_map(std::env::split_paths).map(|dir| dir.join(name));
    let installed = home.map(|home| home.join(".local/bin").join(name));
    running.map(Path::to_path_buf).into_iter().chain(on_path).chain(installed).collect()
}
