//! A release that is installed in a clean root directory: what one session stores, the next one recalls.
//!
//! `.ci/release-clean` installs the release and sets `TESSERA_E2E_ROOT`.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::endpoint::{Answer, Asked, Endpoint};
use crate::stage::{OFFLINE, named};

/// The home directory that `.ci/release-clean` uses.
const HOME: &str = "/home/ada";
/// The prompts do not contain this text, so automatic learning cannot store it.
const TEXT: &str = "I prefer Svelte over React for new front ends";

/// Has the client in the root directory answer a prompt, and returns the requests to the model.
fn prompt(root: &Path, endpoint: &Endpoint, text: &str) -> Vec<Asked> {
    endpoint.take();
    let output = Command::new("chroot")
        .arg(root)
        .args(["claude", "-p", text, "--output-format", "json"])
        .env_clear()
        .envs(OFFLINE)
        .env("ANTHROPIC_BASE_URL", &endpoint.address)
        .env("HOME", HOME)
        .env("PATH", format!("{HOME}/.local/bin:/usr/local/bin:/usr/sbin:/usr/bin:/bin"))
        .env("TERM", "dumb")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    endpoint.take()
}

#[test]
fn an_installed_release_recalls_what_the_user_told_it_in_an_earlier_session() {
    let Some(root) = named("TESSERA_E2E_ROOT") else { return };
    let endpoint = Endpoint::start();
    endpoint.script(|asked| {
        if asked.is_tool_result() {
            return Answer::text("I will remember that.");
        }
        Answer::call("mcp__tessera__memory_store", json!({ "content": TEXT }))
    });
    let asked = prompt(&root, &endpoint, "Remember the front end framework that we just talked about");
    let results: Vec<String> = asked.iter().filter(|asked| asked.is_tool_result()).map(Asked::last).collect();
    assert!(results.iter().any(|result| result.starts_with("Stored #1")), "{results:?}");
    endpoint.script(|_| Answer::text("Svelte."));
    let asked = prompt(&root, &endpoint, "Which front end framework do I prefer?");
    let injected = asked.first().map(Asked::injected).unwrap_or_default();
    assert!(injected.iter().any(|block| block.contains(TEXT)), "{injected:?}");
    eprintln!("--- what the model saw in the second session:\n{}", injected.join("\n---\n"));
}
