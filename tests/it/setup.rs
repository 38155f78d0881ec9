//! `setup` and `uninstall`: a good guest in other programs' settings.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{Ran, World};

fn user_file(world: &World, name: &str, bytes: &[u8]) -> PathBuf {
    let path = world.path("user").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, bytes).unwrap();
    path
}

fn ok(ran: Ran) -> Ran {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran
}

fn set_up(world: &World, client: &str) -> Ran {
    ok(world.run(&["setup", client, "--yes"]))
}

fn uninstall(world: &World) -> Ran {
    ok(world.run(&["uninstall", "--yes"]))
}

/// Settings as people leave them: a mark, CRLF, comments, tabs, trailing commas, hooks of others.
const ODD: &str = "\u{feff}{\r\n\t// my own\r\n\t\"model\" : \"opus\",  /* keep */\r\n   \"unknown\": {\"deep\": [1,2, 3,]},\r\n\
\t\"hooks\": {\r\n\t  \"Stop\": [ {\"hooks\": [{\"type\":\"command\",\"command\":\"say done\"}]} ],\r\n\
\t  \"UserPromptSubmit\": [{ \"hooks\": [ { \"type\": \"command\", \"command\": \"/opt/other hook\" } ] }],\r\n\t},\r\n\
\t\"permissions\": { \"allow\": [] }\r\n}\r\n\r\n";

#[test]
fn odd_settings_come_back_byte_for_byte() {
    let world = World::new();
    let settings = user_file(&world, ".claude/settings.json", ODD.as_bytes());
    let servers = user_file(&world, ".claude.json", b"{\"mcpServers\":{},\"projects\":{\"/x\":{\"a\":1e3}}}");
    let before = [fs::read(&settings).unwrap(), fs::read(&servers).unwrap()];
    fs::set_permissions(&settings, fs::Permissions::from_mode(0o640)).unwrap();
    let shown = ok(world.run(&["setup", "claude-code", "--dry-run"]));
    assert!(shown.stdout.contains("+++") && shown.stdout.contains("mcp__(tessera|"), "{shown:?}");
    assert_eq!(fs::read(&settings).unwrap(), before[0], "a dry run changes nothing");
    assert!(!world.home().exists());
    assert_eq!(world.run(&["setup", "claude-code"]).code, Some(1), "there is no terminal to confirm on");
    assert_eq!(fs::read(&settings).unwrap(), before[0]);

    set_up(&world, "claude-code");
    let text = fs::read_to_string(&settings).unwrap();
    for kept in ["// my own", "/* keep */", "say done", "/opt/other hook", "\"deep\": [1,2, 3,]", "\"opus\",  /*"] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
    assert!(text.starts_with('\u{feff}') && text.ends_with("}\r\n\r\n"));
    assert_eq!(fs::metadata(&settings).unwrap().permissions().mode() & 0o777, 0o640);
    let again = set_up(&world, "claude-code");
    assert!(again.stdout.is_empty() && again.stderr.contains("nothing to change"), "{again:?}");
    assert_eq!(fs::read_to_string(&settings).unwrap(), text);
    let doctor = world.json(&["doctor"]);
    let rows = doctor["claude_code"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["name"] == "mcp server" && row["good"] == true), "{rows:?}");
    assert!(rows.iter().any(|row| row["name"] == "hook program" && row["good"] == true), "{rows:?}");

    uninstall(&world);
    assert_eq!([fs::read(&settings).unwrap(), fs::read(&servers).unwrap()], before);
    assert_eq!(fs::metadata(&settings).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(uninstall(&world).stderr.contains("nothing to change"));
    assert!(!world.home().join("setup.json").exists() && !world.home().join("setup-originals").exists());
}

#[test]
fn what_the_user_changed_meanwhile_is_kept() {
    let world = World::new();
    let settings = user_file(&world, ".claude/settings.json", ODD.as_bytes());
    set_up(&world, "claude-code");
    let changed = fs::read_to_string(&settings).unwrap().replace("\"opus\"", "\"haiku\"");
    fs::write(&settings, &changed).unwrap();
    uninstall(&world);
    let after = fs::read_to_string(&settings).unwrap();
    assert!(after.contains("\"haiku\"") && after.contains("say done") && !after.contains("tessera"), "{after}");
}

#[test]
fn an_entry_from_an_earlier_place_is_not_taken_for_the_users_own() {
    let world = World::new();
    let settings = user_file(&world, ".claude/settings.json", ODD.as_bytes());
    set_up(&world, "claude-code");
    // The program moved, and the user changed a line: the next set-up brings the entries up to date.
    let binary = World::binary().to_str().unwrap();
    let moved = fs::read_to_string(&settings).unwrap().replace(binary, "/old/place/tessera");
    fs::write(&settings, moved.replace("\"opus\"", "\"haiku\"")).unwrap();
    set_up(&world, "claude-code");
    let text = fs::read_to_string(&settings).unwrap();
    assert!(text.contains(binary) && !text.contains("/old/place"), "{text}");
    uninstall(&world);
    let after = fs::read_to_string(&settings).unwrap();
    assert!(after.contains("haiku") && after.contains("say done") && !after.contains("tessera"), "{after}");
}

#[test]
fn files_that_were_not_there_go_again_and_links_stay_links() {
    let world = World::new();
    fs::create_dir_all(world.path("user")).unwrap();
    let real = world.path("dotfiles/settings.json");
    fs::create_dir_all(real.parent().unwrap()).unwrap();
    fs::write(&real, "{}").unwrap();
    fs::create_dir_all(world.path("user/.claude")).unwrap();
    let link = world.path("user/.claude/settings.json");
    symlink(&real, &link).unwrap();
    for client in ["claude-code", "claude-desktop", "cursor", "codex", "gemini", "vscode"] {
        set_up(&world, client);
    }
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("UserPromptSubmit"));
    for (name, key) in [
        (".config/Claude/claude_desktop_config.json", "mcpServers"),
        (".cursor/mcp.json", "mcpServers"),
        (".gemini/settings.json", "mcpServers"),
        (".config/Code/User/mcp.json", "servers"),
    ] {
        let value: Value = serde_json::from_slice(&fs::read(world.path("user").join(name)).unwrap()).unwrap();
        assert_eq!(value[key]["tessera"]["args"][0], "mcp", "{name}");
    }
    let codex = fs::read_to_string(world.path("user/.codex/config.toml")).unwrap();
    assert!(codex.contains("[mcp_servers.tessera]"), "{codex}");
    uninstall(&world);
    assert_eq!(fs::read_to_string(&real).unwrap(), "{}");
    let left: Vec<_> = fs::read_dir(world.path("user")).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left, [".claude"], "nothing but what was there");
}

#[test]
fn toml_keeps_its_comments_and_comes_back() {
    let world = World::new();
    let odd =
        "# mine\r\nmodel = 'gpt'   # so\r\n\r\n[mcp_servers.other]\r\ncommand = \"x\"\r\nargs = [ 'a',\r\n 'b' ]\r\n";
    let config = user_file(&world, ".codex/config.toml", odd.as_bytes());
    set_up(&world, "codex");
    let text = fs::read_to_string(&config).unwrap();
    assert!(text.contains("# mine") && text.contains("[mcp_servers.other]") && text.contains("[mcp_servers.tessera]"));
    uninstall(&world);
    assert_eq!(fs::read_to_string(&config).unwrap(), odd);
}

#[test]
fn what_a_user_added_to_our_entry_stays_and_doctor_runs_what_the_entry_says() {
    let world = World::new();
    let servers = user_file(
        &world,
        ".claude.json",
        br#"{"mcpServers": {"tessera": {"command": "/gone/tessera", "args": ["mcp", "--home", "/old", "-v"], // mine
            "env": {"TESSERA_TOKEN_PROFILE": "o200k", "MEMORY_API_KEY": "k"}, "timeout": 7}}}"#,
    );
    let codex = user_file(
        &world,
        ".codex/config.toml",
        b"[mcp_servers.tessera]\ncommand = \"/gone\"\nargs = [\"mcp\"]\nenv = { A = \"b\" } # mine\nstartup_timeout_sec = 9\n",
    );
    set_up(&world, "claude-code");
    set_up(&world, "codex");
    let text = fs::read_to_string(&servers).unwrap();
    assert!(text.contains("// mine"), "{text}");
    let entry = &serde_json::from_str::<Value>(&text.replace("// mine", "")).unwrap()["mcpServers"]["tessera"];
    assert_eq!(entry["command"], World::binary().to_str().unwrap());
    assert_eq!(entry["args"], json!(["mcp", "--home", world.home(), "-v"]));
    assert_eq!(entry["env"], json!({ "TESSERA_TOKEN_PROFILE": "o200k", "MEMORY_API_KEY": "k" }));
    assert_eq!((&entry["timeout"], &entry["type"]), (&json!(7), &json!("stdio")));
    let text = fs::read_to_string(&codex).unwrap();
    assert!(text.contains("env = { A = \"b\" } # mine\nstartup_timeout_sec = 9\n"), "{text}");
    assert!(text.contains(World::binary().to_str().unwrap()), "{text}");

    let other = world.path("elsewhere");
    let told = fs::read_to_string(&servers).unwrap();
    let home = world.home().to_str().unwrap().to_owned();
    fs::write(&servers, told.replace(&home, other.to_str().unwrap())).unwrap();
    world.remember("something");
    let ran = world.run(&["doctor"]);
    assert!(ran.stdout.contains(&format!("it uses the store in {}", other.display())), "{ran:?}");
    fs::write(&servers, told.replace("\"mcp\"", "\"no-such-command\"")).unwrap();
    let ran = world.run(&["doctor"]);
    assert!(ran.code == Some(1) && ran.stdout.contains("does not speak MCP"), "{ran:?}");
}

#[test]
fn settings_that_cannot_be_read_are_left_alone() {
    for broken in ["{\"hooks\": ", "[]", "\"text\"", "{\"a\": 1} trailing", "\u{0}"] {
        let world = World::new();
        let settings = user_file(&world, ".claude/settings.json", broken.as_bytes());
        let ran = world.run(&["setup", "claude-code", "--yes"]);
        assert!(ran.code != Some(0) && ran.stderr.contains("settings.json"), "{broken}: {ran:?}");
        assert_eq!(fs::read_to_string(&settings).unwrap(), broken);
        assert!(!world.path("user/.claude.json").exists(), "all or nothing");
    }
    let world = World::new();
    let settings = user_file(&world, ".claude/settings.json", &[b'{', 0xff, b'}']);
    assert_ne!(world.run(&["setup", "claude-code", "--yes"]).code, Some(0));
    assert_eq!(fs::read(&settings).unwrap(), [b'{', 0xff, b'}']);
}

#[test]
fn a_project_is_set_up_in_files_that_can_be_committed() {
    let world = World::new();
    fs::create_dir_all(world.path("project")).unwrap();
    let mut command = world.command(World::binary());
    command.args(["setup", "claude-code", "--project", "--yes"]).current_dir(world.path("project"));
    assert!(command.status().unwrap().success());
    let servers = fs::read_to_string(world.path("project/.mcp.json")).unwrap();
    assert!(servers.contains("\"tessera\"") && !servers.contains(World::binary().to_str().unwrap()), "{servers}");
    uninstall(&world);
    assert_eq!(fs::read_dir(world.path("project")).unwrap().count(), 0);
    let refused = world.run(&["setup", "codex", "--project", "--yes"]);
    assert!(refused.code != Some(0) && refused.stderr.contains("--project"), "{refused:?}");
}

#[test]
fn purging_removes_the_store_and_nothing_else() {
    let world = World::new();
    world.remember("x marks the spot");
    set_up(&world, "cursor");
    fs::write(world.home().join("mine.txt"), "not yours").unwrap();
    ok(world.run(&["uninstall", "--purge", "--yes"]));
    let left: Vec<_> = fs::read_dir(world.home()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["mine.txt"]);
    assert!(!world.path("user/.cursor").exists());
}

#[test]
fn notes_of_claude_code_are_imported_once_and_their_file_left_alone() {
    let world = World::new();
    let text = "# Project\n\nThe ledger is written in Go.\n\n## Style\n\n- Use tabs, not spaces\n- Never commit to main\n  without a review\n\n```sh\nmake deploy\n```\n";
    let path = user_file(&world, "CLAUDE.md", text.as_bytes());
    let first = ok(world.run(&["import", "claude-md", path.to_str().unwrap()]));
    let contents = world.contents();
    assert!(contents.iter().any(|note| note.contains("Use tabs")), "{contents:?} {first:?}");
    assert!(contents.iter().any(|note| note.contains("without a review")), "{contents:?}");
    ok(world.run(&["import", "claude-md", path.to_str().unwrap()]));
    assert_eq!(world.contents(), contents, "a second time adds nothing");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn the_auto_memory_of_claude_code_comes_with_its_files_and_is_believed_once_somebody_says_whose_it_is() {
    let world = World::new();
    let index = "- [Indent with tabs](indent-with-tabs.md) — tabs, never spaces\n- The build needs Rust 1.95\n";
    let fact = "---\nname: indent-with-tabs\ndescription: The user indents with tabs in all projects\nmetadata:\n  \
                node_type: memory\n  type: feedback\n  originSessionId: 9bb3ea06-3772-46fc-a650-b142d937fec0\n---\n\n\
                Indent with tabs.\n\n**Why:** the user said so.\n";
    let path = user_file(&world, "memory/MEMORY.md", index.as_bytes());
    user_file(&world, "memory/indent-with-tabs.md", fact.as_bytes());
    user_file(&world, "memory/broken.md", &[0xff, 0xfe, 0x00]);
    let whole = "The user indents with tabs in all projects\n\nIndent with tabs.\n\n**Why:** the user said so.";
    let done = world.json(&["import", "claude-md", path.to_str().unwrap()]);
    assert_eq!(
        (&done["stored"], &done["set_aside"], &done["trust"]),
        (&json!(2), &json!(0), &json!("foreign")),
        "{done}"
    );
    assert_eq!(world.contents(), ["The build needs Rust 1.95", whole]);
    assert_eq!(world.json(&["get", "2"])["trust"], "foreign");
    let dir = path.parent().unwrap().to_str().unwrap();
    let again = ok(world.run(&["import", "claude-md", dir, "--mine"]));
    assert!(
        again.stdout.contains("0 stored, 2 already there") && again.stdout.contains("now marked as yours"),
        "{again:?}"
    );
    assert!(again.stderr.contains("broken.md"), "{again:?}");
    assert_eq!(world.json(&["get", "2"])["trust"], "user");
    let empty = world.path("user/nothing");
    fs::create_dir_all(&empty).unwrap();
    let refused = world.run(&["import", "claude-md", empty.to_str().unwrap()]);
    assert!(refused.code == Some(1) && refused.stderr.contains("contains no Markdown files"), "{refused:?}");
}

/// A client must not depend on a program that npx deletes later.
#[test]
fn a_program_in_the_cache_of_npx_is_rejected_and_nothing_changes() {
    let world = World::new();
    let cache = world.path("npm/_npx/4b3f/node_modules/@tessera-memory/linux-x64/bin");
    fs::create_dir_all(&cache).unwrap();
    let program = cache.join("tessera");
    symlink(World::binary(), &program).unwrap();
    let ran: Ran = world.command(&program).args(["setup", "claude-code", "--yes"]).output().unwrap().into();
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("npx deletes later; run `npm install --global tessera-memory`"), "{ran:?}");
    assert!(!world.path("user/.claude.json").exists());
}

#[test]
fn doctor_finds_the_plugin_and_says_which_of_the_two_acts() {
    let world = World::new();
    let client = world.path("user/.claude");
    let plugin = client.join("plugins/cache/tessera/tessera/0.1.0");
    fs::create_dir_all(plugin.join("bin")).unwrap();
    world.remember("The ledger is written in Go");
    let row = || {
        let ran = world.run(&["doctor", "--json"]);
        let doctor: Value = serde_json::from_str(&ran.stdout).unwrap();
        let rows = doctor["claude_code"].as_array().unwrap().clone();
        rows.into_iter().find(|row| row["name"] == "plugin")
    };
    for settings in ["{}", "{\"enabledPlugins\":{\"tessera@x\":false,\"tessera-other@x\":true}}", "[]", "{"] {
        fs::write(client.join("settings.json"), settings).unwrap();
        assert_eq!(row(), None, "{settings}");
    }
    fs::write(client.join("settings.json"), "{\"enabledPlugins\":{\"tessera@mine\":true}}").unwrap();
    assert!(row().unwrap()["detail"].as_str().unwrap().contains("its files do not exist"), "{:?}", row());
    let installed = json!({ "plugins": { "tessera@mine": [{ "installPath": plugin }] } });
    fs::write(client.join("plugins/installed_plugins.json"), installed.to_string()).unwrap();
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin/bin/tessera"), plugin.join("bin/tessera")).unwrap();
    assert!(row().unwrap()["detail"].as_str().unwrap().contains("does not find the program"), "{:?}", row());
    fs::create_dir_all(world.path("user/.local/bin")).unwrap();
    fs::copy(World::binary(), world.path("user/.local/bin/tessera")).unwrap();
    let found = row().unwrap();
    assert!(
        found["good"] == true && found["detail"].as_str().unwrap().contains("is enabled, and runs tessera 0."),
        "{found}"
    );
    world.run(&["setup", "claude-code", "--yes"]);
    let found = row().unwrap();
    let detail = found["detail"].as_str().unwrap();
    assert!(found["good"] == true && detail.contains("the hooks and server of your settings act"), "{found}");
}

/// The manifest of a clone of the repository.
const OURS: &str = "[package]\nname = \"tessera-memory\"\n";

/// What the launcher of the plugin prints for an event if no program is installed.
fn launched(world: &World, plugin: &Path, input: &str) -> String {
    use std::io::Write;
    let mut command = world.command(&plugin.join("bin/tessera"));
    let mut child =
        command.arg("hook").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_plugin_names_the_command_that_installs_the_program_once() {
    let world = World::new();
    let plugins = world.path("user/.claude/plugins");
    let plugin = plugins.join("cache/tessera/tessera/0.1.0");
    fs::create_dir_all(plugin.join("bin")).unwrap();
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin/bin/tessera"), plugin.join("bin/tessera")).unwrap();
    let start = "{\"hook_event_name\":\"SessionStart\",\"source\":\"startup\"}";
    let message = |shown: &str| {
        let reply: Value = serde_json::from_str(shown).unwrap_or_else(|error| panic!("{error}: {shown}"));
        reply["systemMessage"].as_str().unwrap().to_owned()
    };
    assert!(message(&launched(&world, &plugin, start)).ends_with("see its README"));
    let list = |place: &Path| {
        let known = json!({ "other": { "installLocation": "/nowhere" },
                            "tessera": { "source": { "source": "directory" }, "installLocation": place } });
        fs::write(plugins.join("known_marketplaces.json"), serde_json::to_string_pretty(&known).unwrap()).unwrap();
    };
    let clone = world.path("a clone");
    fs::create_dir(&clone).unwrap();
    list(&clone);
    assert!(message(&launched(&world, &plugin, start)).ends_with("see its README"), "it contains no Cargo.toml");
    fs::write(clone.join("Cargo.toml"), "[package]\nname = \"other\"\n").unwrap();
    assert!(message(&launched(&world, &plugin, start)).ends_with("see its README"), "it is another package");
    fs::write(clone.join("Cargo.toml"), OURS).unwrap();
    let command = format!("run: cargo install --locked --path '{}'", clone.display());
    assert!(message(&launched(&world, &plugin, start)).ends_with(&command));
    let odd = world.path("an 'odd' clone");
    fs::create_dir(&odd).unwrap();
    fs::write(odd.join("Cargo.toml"), OURS).unwrap();
    list(&odd);
    assert!(message(&launched(&world, &plugin, start)).ends_with("see its README"), "quotes cannot be quoted");
    for silent in [
        "{\"hook_event_name\": \"SessionStart\", \"source\": \"compact\"}",
        "{\"hook_event_name\":\"SessionStart\",\"source\":\"resume\"}",
        "{\"hook_event_name\":\"UserPromptSubmit\",\"prompt\":\"\\\"hook_event_name\\\":\\\"SessionStart\\\"\"}",
        "",
    ] {
        assert_eq!(launched(&world, &plugin, silent), "", "{silent}");
    }
}
