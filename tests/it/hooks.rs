//! Hooks: whatever comes in, exit code 0, one JSON object or nothing on stdout, and nothing left behind.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;

use serde_json::{Value, json};
use tessera_hooks::{SAFE_TOOLS, SERVERS};

use crate::support::hooks::{asked, context_of, event, faults, given, hook, no_process, settled, stop, transcript};
use crate::support::{Client, World};

#[test]
fn a_prompt_gets_what_it_is_about_once_and_its_receipt_tells_why() {
    let world = World::new();
    world.remember("The ledger service listens on port 9417");
    world.remember("Release notes are written by Ines");
    let first = asked(&world, "s1", "which port does the ledger service listen on?").unwrap();
    assert!(first.contains("9417") && !first.contains("Ines"), "{first}");
    assert_eq!(asked(&world, "s1", "and the ledger service port again, which one?"), None, "given already");
    assert!(asked(&world, "s2", "which port does the ledger service listen on?").is_some(), "another session");
    assert_eq!(asked(&world, "s1", "write me a haiku about spring rain"), None);
    assert_eq!(asked(&world, "s1", "ok thanks, go on"), None);
    let log = world.json(&["log"]);
    let last_given = &log[0];
    assert_eq!(last_given["given"][0]["id"], 1);
    let counted = tiktoken_rs::o200k_base_singleton().encode_ordinary(&first).len();
    assert!(last_given["tokens"].as_u64().unwrap() >= counted as u64, "counted for Claude: {log}");
    assert_eq!(log[4]["skipped"], "small talk");
    let why = world.json(&["why", "1"]);
    assert_eq!(why["given"].as_array().unwrap().len(), 2);
    assert!(why["given"][0]["given"][0]["parts"]["text"].as_f64().is_some_and(|text| text > 0.0), "{why}");
    assert!(world.run(&["why", "1"]).stdout.contains("score"));
    assert_eq!(world.json(&["usage"])[0]["events"], 5);
    world.assert_healthy();
}

#[test]
fn a_session_is_briefed_within_its_budget_and_a_compacted_one_gets_back_what_it_lost() {
    let world = World::new();
    assert_eq!(given(&world, &event(&world, "SessionStart", "s", json!({ "source": "startup" }))), None, "no store");
    assert!(!world.home().exists(), "asking makes no store");
    world.remember("The ledger service listens on port 9417");
    assert_eq!(given(&world, &event(&world, "SessionStart", "s", json!({ "source": "startup" }))), None);
    prefer(&world, 4);
    let start = |source: &str| given(&world, &event(&world, "SessionStart", "s", json!({ "source": source })));
    let brief = start("startup").unwrap();
    assert!(brief.contains("I prefer tool number 3") && !brief.contains("9417"), "{brief}");
    assert!(asked(&world, "s", "which port does the ledger service listen on?").unwrap().contains("9417"));
    assert_eq!(asked(&world, "s", "which port does the ledger service listen on?"), None);
    hook(&world, event(&world, "PreCompact", "s", json!({ "trigger": "auto" })).to_string().as_bytes(), &[]);
    let again = start("compact").unwrap();
    assert!(again.contains("9417"), "{again}");
    assert_eq!(asked(&world, "s", "which port does the ledger service listen on?"), None, "it has it again");
    assert_eq!(start("resume"), None, "a resumed session still has everything");
    world.assert_healthy();
}

fn prefer(world: &World, count: usize) {
    for number in 0..count {
        let text = format!("I prefer tool number {number} for task {number} whenever there is a choice to be made");
        world.json(&["remember", &text, "--category", "preference"]);
    }
}

#[test]
fn a_brief_keeps_to_its_budget() {
    let world = World::new();
    prefer(&world, 40);
    let start = event(&world, "SessionStart", "s", json!({ "source": "startup" }));
    for (most, number) in [(300, 0), (120, 1)] {
        let most_text = most.to_string();
        let ran = hook(&world, start.to_string().as_bytes(), &[("TESSERA_HOOKS_SESSION_TOKENS", &most_text)]);
        let brief = context_of(&ran).unwrap();
        let tokens = world.json(&["log"])[number]["tokens"].as_u64().unwrap();
        assert!(brief.contains("I prefer tool") && tokens <= most, "{tokens} {brief}");
    }
}

#[test]
fn a_huge_memory_and_a_huge_prompt_stay_under_what_the_client_shows() {
    let world = World::new();
    let long = "the archive of the harbour office keeps tide tables ".repeat(600);
    world.remember(&long);
    let prompt = format!("harbour office tide tables archive? {}", "padding words here ".repeat(50_000));
    let payload = event(&world, "UserPromptSubmit", "s", json!({ "prompt": prompt }));
    let settings = [("TESSERA_HOOKS_RECALL_TOKENS", "100000")];
    let ran = hook(&world, payload.to_string().as_bytes(), &settings);
    if let Some(context) = context_of(&ran) {
        assert!(context.encode_utf16().count() <= 9_500);
    }
    let short = event(&world, "UserPromptSubmit", "t", json!({ "prompt": "harbour office tide tables archive?" }));
    let context = context_of(&hook(&world, short.to_string().as_bytes(), &settings)).unwrap();
    assert!(context.encode_utf16().count() <= 9_500 && context.contains("harbour"));
}

#[test]
fn exactly_our_own_safe_tools_are_approved() {
    let world = World::new();
    let decided = |name: &str, tool: &str, variables: &[(&str, &str)]| {
        let ran =
            hook(&world, event(&world, name, "s", json!({ "tool_name": tool })).to_string().as_bytes(), variables);
        assert_eq!(ran.code, Some(0));
        ran.stdout.contains("allow")
    };
    for event in ["PreToolUse", "PermissionRequest"] {
        for server in SERVERS {
            assert!(decided(event, &format!("{server}memory_recall"), &[]));
            assert!(!decided(event, &format!("{server}memory_recall"), &[("TESSERA_HOOKS_AUTO_APPROVE", "off")]));
            for off in ["1", "true", "Yes"] {
                let off = [("DISABLE_CLAUDE_MEMORY_AUTO_APPROVE", off)];
                assert!(!decided(event, &format!("{server}memory_recall"), &off), "{off:?}");
            }
            assert!(decided(event, &format!("{server}memory_recall"), &[("DISABLE_CLAUDE_MEMORY_AUTO_APPROVE", "0")]));
            for tool in ["memory_forget", "memory_share", "secret_get", "memory_recall2", "memory_recall ", "", "*"] {
                assert!(!decided(event, &format!("{server}{tool}"), &[]), "{tool:?}");
            }
        }
        for tool in ["Bash", "memory_recall", "mcp__evil__memory_recall", "mcp__tessera__evil__memory_recall"] {
            assert!(!decided(event, tool, &[]), "{tool}");
        }
    }
    assert!(!world.home().exists(), "an approval makes no store");
    let mut client = Client::start(&world);
    let listed = client.request("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: BTreeSet<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    // Older tools are not listed, and clients may still call them.
    let older = ["memory_count", "memory_history", "memory_list", "memory_update"];
    assert!(SAFE_TOOLS.iter().all(|tool| names.contains(tool) || older.contains(tool)), "{names:?}");
    for tool in tools.iter().filter(|tool| tool["annotations"]["destructiveHint"] == true) {
        assert!(!SAFE_TOOLS.contains(&tool["name"].as_str().unwrap()), "{tool}");
    }
}

#[test]
fn hooks_say_on_stderr_what_they_do_where_the_older_variable_asks_for_it() {
    let world = World::new();
    world.remember("The staging database of the harbour shop listens on port 5433");
    let aloud = |name: &str, more: Value| {
        let event = event(&world, name, "s", more).to_string();
        let quiet = hook(&world, event.as_bytes(), &[("DEBUG_CLAUDE_MEMORY_HOOKS", "0")]);
        assert_eq!(quiet.stderr, "");
        hook(&world, event.replace(r#""s""#, r#""t""#).as_bytes(), &[("DEBUG_CLAUDE_MEMORY_HOOKS", "1")])
    };
    let tool = json!({ "tool_name": "mcp__claude_memory__memory_recall" });
    let allowed = aloud("PreToolUse", tool);
    assert_eq!(allowed.stderr, "[tessera] PreToolUse mcp__claude_memory__memory_recall: allowed\n");
    assert!(allowed.stdout.contains("allow"), "stdout is the reply's alone: {allowed:?}");
    let prompt = json!({ "prompt": "which port does the staging database of the harbour shop listen on?" });
    let given = aloud("UserPromptSubmit", prompt);
    assert!(
        given.stderr.starts_with("[tessera] UserPromptSubmit: returned ") && given.stdout.contains("5433"),
        "{given:?}"
    );
    assert!(!given.stderr.contains("5433") && !given.stderr.contains("harbour"), "{given:?}");
    let nothing = aloud("UserPromptSubmit", json!({ "prompt": "ok" }));
    assert!(
        nothing.stderr.starts_with("[tessera] UserPromptSubmit: returned nothing") && nothing.stdout.is_empty(),
        "{nothing:?}"
    );
}

#[test]
fn a_store_that_cannot_be_used_costs_one_line_in_the_log() {
    let world = World::new();
    world.remember("The ledger service listens on port 9417");
    world.run(&["doctor", "--repair"]);
    let database = world.home().join("tessera.db");
    let good = fs::read(&database).unwrap();
    fs::write(&database, "not a database at all, but long enough to be looked at").unwrap();
    let _ = fs::remove_file(world.home().join("tessera.snapshot"));
    assert_eq!(asked(&world, "s", "which port does the ledger service listen on?"), None);
    assert_eq!(faults(&world).len(), 1, "{:?}", faults(&world));
    assert!(!faults(&world)[0].contains("stopped unexpectedly"));
    fs::write(&database, good).unwrap();
    assert!(asked(&world, "s", "which port does the ledger service listen on?").is_some());
    fs::write(world.home().join("config.toml"), "[hooks]\nrecall_tokens = \"many\"\n").unwrap();
    assert_eq!(asked(&world, "t", "which port does the ledger service listen on?"), None);
    assert!(faults(&world)[1].contains("hooks.recall_tokens"), "{:?}", faults(&world));
    assert_eq!(faults(&world).len(), 2);
}

#[test]
fn a_prompt_is_answered_while_a_writer_holds_the_store() {
    let world = World::new();
    world.remember("The ledger service listens on port 9417");
    let writer = rusqlite::Connection::open(world.home().join("tessera.db")).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE; CREATE TABLE t (a)").unwrap();
    assert!(asked(&world, "s", "which port does the ledger service listen on?").unwrap().contains("9417"));
    writer.execute_batch("ROLLBACK").unwrap();
    assert_eq!(world.json(&["log"])[0]["given"][0]["id"], 1, "the receipt was kept meanwhile");
}

#[test]
fn a_client_that_never_closes_its_end_is_given_up_on() {
    let world = World::new();
    world.remember("The ledger service listens on port 9417");
    let mut command = world.command(World::binary());
    command.arg("hook").env("TESSERA_HOOKS_DEADLINE_MS", "100");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let kept_open = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(kept_open);
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    assert!(faults(&world)[0].contains("gave up after 100 ms"), "{:?}", faults(&world));
}

#[test]
fn the_switch_turns_recall_off_and_a_judges_child_runs_nothing() {
    let world = World::new();
    world.remember("The ledger service listens on port 9417");
    let payload = event(&world, "UserPromptSubmit", "s", json!({ "prompt": "which port has the ledger service?" }));
    let run = |variables: &[(&str, &str)]| context_of(&hook(&world, payload.to_string().as_bytes(), variables));
    assert_eq!(run(&[("TESSERA_HOOKS_RECALL", "off")]), None);
    assert_eq!(run(&[("TESSERA_CHILD", "1")]), None);
    world.run(&["settings", "set", "hooks.recall", "off"]);
    assert_eq!(run(&[]), None);
    world.run(&["settings", "unset", "hooks.recall"]);
    assert!(run(&[]).is_some());
    assert!(faults(&world).is_empty());
}

/// Every path under the world's directory but outside its home.
fn outside(world: &World) -> BTreeSet<PathBuf> {
    let root = world.path("");
    let (mut dirs, mut found) = (vec![root], BTreeSet::new());
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).unwrap().flatten() {
            if entry.path() == world.home() {
                continue;
            }
            if entry.file_type().unwrap().is_dir() {
                dirs.push(entry.path());
            }
            found.insert(entry.path());
        }
    }
    found
}

fn mutated(random: &mut fastrand::Rng, payload: &Value) -> Vec<u8> {
    let mut payload = payload.clone();
    let fields = payload.as_object_mut().unwrap();
    let names: Vec<String> = fields.keys().cloned().collect();
    let name = names[random.usize(..names.len())].clone();
    let odd = match random.u32(..12) {
        0 => json!(null),
        1 => json!(random.i64(..)),
        2 => json!([1, { "text": 7 }, [[]]]),
        3 => json!({ "a": { "b": [true] } }),
        4 => json!("x".repeat(random.usize(1..2_000_000))),
        5 => json!("../".repeat(random.usize(1..60)) + "escape"),
        6 => json!("/proc/self/mem"),
        7 => json!("\u{0}\u{202e}\u{1b}[31m🧩 \" ' ; DROP TABLE memories; -- * NEAR( \u{feff}"),
        8 => json!(f64::MAX),
        9 => json!("C:\\..\\..\\windows\\x"),
        10 => json!(""),
        _ => json!("漢".repeat(random.usize(1..5_000))),
    };
    match random.u32(..10) {
        0 => drop(fields.remove(&name)),
        1 => drop(fields.insert("session_id".into(), odd)),
        2 => drop(fields.insert("transcript_path".into(), odd)),
        _ => drop(fields.insert(name, odd)),
    }
    let mut bytes = payload.to_string().into_bytes();
    match random.u32(..8) {
        0 => bytes.truncate(random.usize(..bytes.len())),
        1 => {
            for _ in 0..random.usize(1..20) {
                let at = random.usize(..bytes.len());
                bytes[at] = random.u8(..);
            }
        }
        2 => drop(bytes.splice(0..0, [0xef, 0xbb, 0xbf])),
        3 => bytes.extend([0xff, 0xfe, 0x00, 0xc3]),
        4 => bytes = [b"[".repeat(random.usize(1..5_000)), bytes].concat(),
        _ => {}
    }
    bytes
}

#[test]
fn five_hundred_mutated_payloads_do_no_harm() {
    let world = World::new();
    for number in 0..20 {
        world.remember(&format!("The service number {number} listens on port {}", 9000 + number));
    }
    let transcript_path = world.path("logs/t.jsonl");
    transcript(&transcript_path, &[("I prefer Svelte for front ends.", "Noted.")]);
    let fields = json!({
        "prompt": "which port does service number 7 listen on?", "source": "startup", "trigger": "auto",
        "tool_name": "mcp__tessera__memory_recall", "tool_input": { "query": "x" }, "reason": "clear",
        "transcript_path": transcript_path.to_str().unwrap(), "last_assistant_message": "Noted.", "stop_hook_active": false,
        "error": "error: the service number 7 listens on no port",
    });
    let names = [
        "UserPromptSubmit",
        "SessionStart",
        "PreCompact",
        "PostCompact",
        "Stop",
        "SessionEnd",
        "PreToolUse",
        "PostToolUseFailure",
        "PermissionRequest",
        "Elicitation",
    ];
    hook(&world, b"{}", &[]);
    let before = outside(&world);
    let inputs: Vec<Vec<u8>> = {
        let mut random = fastrand::Rng::with_seed(0x07e5_5e7a);
        let one =
            |number: usize| mutated(&mut random, &event(&world, names[number % names.len()], "s1", fields.clone()));
        (0..500).map(one).collect()
    };
    thread::scope(|scope| {
        for part in inputs.chunks(125) {
            let world = &world;
            scope.spawn(move || {
                for input in part {
                    let ran = hook(world, input, &[]);
                    let shown = || String::from_utf8_lossy(&input[..input.len().min(400)]).into_owned();
                    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{}", shown());
                    let is_object =
                        |text: &str| serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object());
                    assert!(ran.stdout.is_empty() || is_object(&ran.stdout), "{}: {}", shown(), ran.stdout);
                }
            });
        }
    });
    no_process(&world);
    assert_eq!(outside(&world), before, "nothing outside the home");
    let log = faults(&world).join("\n");
    assert!(!log.contains("stopped unexpectedly") && !log.contains("gave up"), "{log}");
    assert!(log.contains("stdin is not JSON"), "broken input is noted");
    world.assert_healthy();
}

#[test]
fn a_hundred_sessions_leave_no_process_and_bounded_files() {
    const SESSIONS: usize = 100;
    let world = World::new();
    world.remember("The ledger service listens on port 9417");
    let one = |number: usize| {
        let session = format!("00000000-0000-4000-8000-{number:012}");
        let path = world.path(&format!("logs/{session}.jsonl"));
        let start = event(&world, "SessionStart", &session, json!({ "source": "startup" }));
        hook(&world, start.to_string().as_bytes(), &[]);
        for prompt in ["which port does the ledger service listen on?", "ok thanks", "write a haiku about rain"] {
            let prompt = event(&world, "UserPromptSubmit", &session, json!({ "prompt": prompt }));
            hook(&world, prompt.to_string().as_bytes(), &[]);
        }
        let wish = format!("I prefer colour number{number} for chart number{number}.");
        transcript(&path, &[(&wish, "Noted.")]);
        let stopped = hook(&world, stop(&world, &session, &path, "Noted.").to_string().as_bytes(), &[]);
        assert_eq!((stopped.code, stopped.stdout.as_str()), (Some(0), ""));
        let end = event(&world, "SessionEnd", &session, json!({ "reason": "exit" }));
        hook(&world, end.to_string().as_bytes(), &[]);
    };
    thread::scope(|scope| {
        for worker in 0..4 {
            let one = &one;
            scope.spawn(move || (worker..SESSIONS).step_by(4).for_each(one));
        }
    });
    settled(&world);
    let learned = world.contents().iter().filter(|text| text.starts_with("I prefer colour")).count();
    assert_eq!(learned, SESSIONS, "{:?}", faults(&world));
    for name in ["deliveries.log", "access.log", "hooks.log"] {
        let size = fs::metadata(world.home().join(name)).map_or(0, |file| file.len());
        assert!(size <= 256 * 1024, "{name}: {size}");
    }
    let files = fs::read_dir(world.home()).unwrap().count();
    assert!(files < 16, "{:?}", fs::read_dir(world.home()).unwrap().flatten().map(|f| f.path()).collect::<Vec<_>>());
    assert_eq!(faults(&world), Vec::<String>::new());
    let given = world.json(&["log", "--limit", "1000"]);
    let with = given.as_array().unwrap().iter().filter(|delivery| delivery["tokens"].as_u64() > Some(0)).count();
    assert!(with >= SESSIONS, "each session was told of the port: {with}");
    world.assert_healthy();
}

#[test]
fn a_client_that_is_killed_with_its_group_loses_no_lesson() {
    let world = World::new();
    world.remember("x marks the spot");
    let path = world.path("logs/t.jsonl");
    transcript(&path, &[("I prefer Svelte for front ends.", "Noted.")]);
    // The client's process group is killed as soon as the hook has returned.
    let payload = world.path("payload.json");
    fs::write(&payload, stop(&world, "s", &path, "Noted.").to_string()).unwrap();
    let script = format!("{} hook < {}; kill -9 0", World::binary().display(), payload.display());
    let mut command = world.command(Path::new("/bin/sh"));
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    assert!(!command.args(["-c", &script]).status().unwrap().success(), "the group was killed");
    // Killed with its group before it could leave it, the worker is woken by the next event.
    hook(&world, event(&world, "SessionEnd", "s", json!({})).to_string().as_bytes(), &[]);
    settled(&world);
    assert!(world.contents().contains(&"I prefer Svelte for front ends.".to_owned()), "{:?}", faults(&world));
}

#[test]
fn beside_hooks_of_the_settings_those_of_the_plugin_leave_everything_to_them() {
    let world = World::new();
    world.remember("I prefer Svelte for front ends");
    let start = event(&world, "SessionStart", "s", json!({ "source": "startup" }));
    let plugin = [("CLAUDE_PLUGIN_ROOT", "/opt/plugin")];
    let by_plugin = || hook(&world, start.to_string().as_bytes(), &plugin);
    assert!(by_plugin().stdout.contains("Svelte"), "{:?}", by_plugin());
    let tools = |variables: &[(&str, &str)]| {
        let mut client = Client::start_with(&world, variables);
        let tools = client.request("tools/list", json!({}))["result"]["tools"].as_array().unwrap().len();
        client.close();
        tools
    };
    assert_eq!(tools(&plugin), 7);
    assert_eq!(world.run(&["setup", "claude-code", "--yes"]).code, Some(0));
    let silent = by_plugin();
    assert_eq!((silent.code, silent.stdout.as_str(), silent.stderr.as_str()), (Some(0), "", ""));
    assert!(hook(&world, start.to_string().as_bytes(), &[]).stdout.contains("Svelte"), "those of the settings act");
    assert_eq!(tools(&plugin), 0);
    assert_eq!(tools(&[]), 7);
    assert_eq!(world.run(&["uninstall", "--yes"]).code, Some(0));
    assert!(by_plugin().stdout.contains("Svelte"), "and the plugin again");
    assert_eq!(tools(&plugin), 7);
    // The settings of a project name the program alone: they act where the system finds it.
    let project = world.path("project");
    fs::create_dir_all(&project).unwrap();
    let mut command = world.command(World::binary());
    command.args(["setup", "claude-code", "--project", "--yes"]).current_dir(&project);
    assert!(command.status().unwrap().success());
    let (dir, found) = (project.to_str().unwrap(), World::binary().parent().unwrap().to_str().unwrap());
    let beside = |path: &str| {
        let variables = [plugin[0], ("CLAUDE_PROJECT_DIR", dir), ("PATH", path)];
        hook(&world, start.to_string().as_bytes(), &variables).stdout
    };
    assert_eq!(beside(found), "");
    assert!(beside("/nonexistent").contains("Svelte"), "nothing else would act");
}

#[test]
fn settings_that_do_not_exist_or_cannot_be_used_are_told_where_people_look() {
    let world = World::new();
    world.remember("I prefer Svelte for front ends");
    let start = event(&world, "SessionStart", "s", json!({ "source": "startup" })).to_string();
    let config = world.home().join("config.toml");
    fs::write(&config, "[recall]\nmeening = \"on\"\n").unwrap();
    let told = hook(&world, start.as_bytes(), &[("TESSERA_HOOKS_RECAL", "off")]).stdout;
    let told: Value = serde_json::from_str(&told).unwrap();
    let words = told["systemMessage"].as_str().unwrap();
    assert!(words.contains("recall.meening in config.toml, the variable TESSERA_HOOKS_RECAL;"), "{words}");
    assert!(told["hookSpecificOutput"]["additionalContext"].as_str().unwrap().contains("Svelte"), "{told}");
    let again = hook(&world, start.as_bytes(), &[("TESSERA_HOOKS_RECAL", "off")]).stdout;
    assert!(!again.contains("systemMessage"), "once: {again}");
    for command in [&["recall", "Svelte"][..], &["list"], &["doctor"], &["settings"]] {
        let ran = world.run(command);
        assert!((ran.stdout + &ran.stderr).contains("recall.meening"), "{command:?}");
    }
    for (text, words) in
        [("[hooks]\nrecall_tokens = \"many\"\n", "hooks.recall_tokens"), ("hooks = [\n", "config.toml")]
    {
        fs::write(&config, text).unwrap();
        let told: Value = serde_json::from_str(&hook(&world, start.as_bytes(), &[]).stdout).unwrap();
        assert!(told["systemMessage"].as_str().unwrap().contains(words), "{told}");
        let prompt = event(&world, "UserPromptSubmit", "s", json!({ "prompt": "which port?" })).to_string();
        assert_eq!(hook(&world, prompt.as_bytes(), &[]).stdout, "", "a prompt gets no words of ours");
        for command in [&["recall", "Svelte"][..], &["doctor"]] {
            let ran = world.run(command);
            assert!((ran.stdout + &ran.stderr).contains(words), "{command:?}");
        }
    }
}
