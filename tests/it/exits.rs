//! How commands end: exit codes of the user's mistakes, files that are no files, hooks that hang.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::json;

use crate::support::hooks::{context_of, event};
use crate::support::{Ran, World, ended};

fn pipe(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn started(world: &World, args: &[&str], variables: &[(&str, &str)]) -> Child {
    let mut command = world.command(World::binary());
    command.args(args).envs(variables.iter().copied());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn mistakes_of_the_user_are_no_faults_of_the_program() {
    let world = World::new();
    world.remember("x marks the spot");
    let settings = world.path("user/.claude/settings.json");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    fs::write(&settings, "{ broken").unwrap();
    fs::write(world.path("notes.toml"), "not = [toml").unwrap();
    let here = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = here.local_addr().unwrap().to_string();
    let (missing, notes) = (world.path("missing.toml"), world.path("notes.toml"));
    for (args, code, words) in [
        (vec!["setup", "claude-code", "--yes"], 3, "settings.json"),
        (vec!["setup", "codex", "--project", "--yes"], 2, "omit --project"),
        (vec!["mcp", "--http", "0.0.0.0:0"], 2, "not a loopback"),
        (vec!["mcp", "--http", &taken], 1, &taken),
        (vec!["eval", "locomo", missing.to_str().unwrap()], 1, "missing.toml"),
        (vec!["eval", "locomo", notes.to_str().unwrap()], 1, "notes.toml"),
        (vec!["import", "/tmp"], 1, "/tmp is a directory"),
        (vec!["import", "/nowhere.jsonl"], 1, "/nowhere.jsonl: it does not exist"),
    ] {
        let ran = ended(started(&world, &args, &[])).unwrap();
        assert_eq!(ran.code, Some(code), "{args:?}: {ran:?}");
        assert!(ran.stderr.contains(words), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.matches("os error").count() <= 1, "said once: {}", ran.stderr);
    }
    assert!(world.run(&["--help"]).stdout.contains("Exit codes: 0 success"));
}

#[test]
fn a_pipe_in_the_place_of_settings_is_refused_and_not_waited_for() {
    let world = World::new();
    let settings = world.path("user/.claude/settings.json");
    pipe(&settings);
    let ran = ended(started(&world, &["setup", "claude-code", "--yes"], &[])).expect("it ends");
    assert!(ran.code == Some(3) && ran.stderr.contains("is not a file"), "{ran:?}");
}

#[test]
fn a_hook_that_is_given_up_ends_though_its_log_hangs() {
    let world = World::new();
    world.remember("x marks the spot");
    // Nobody reads it: whoever opens it waits for ever.
    pipe(&world.home().join("hooks.log"));
    let mut child = started(&world, &["hook"], &[("TESSERA_HOOKS_DEADLINE_MS", "100")]);
    let kept_open = child.stdin.take();
    let ran = ended(child).expect("it ends");
    drop(kept_open);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""));
    fs::write(world.home().join("config.toml"), "[hooks]\nrecall_tokens = \"many\"\n").unwrap();
    let ran = ended(started(&world, &["hook"], &[])).expect("it ends");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""));
}

#[test]
fn the_home_of_the_command_line_is_the_home_of_hooks_and_servers() {
    use std::io::Write;
    let (world, other) = (World::new(), World::new());
    other.remember("The ledger service listens on port 9417");
    let home = other.home();
    let home = home.to_str().unwrap();
    let prompt = event(&world, "UserPromptSubmit", "s", json!({ "prompt": "which port does the ledger service use?" }));
    for args in [["--home", home, "hook"], ["hook", "--home", home]] {
        let mut child = started(&world, &args, &[]);
        child
            .stdin
            .take()
            .unwrap()
            .write_all(prompt.to_string().replace("\"s\"", &format!("{:?}", args[0])).as_bytes())
            .unwrap();
        let given = context_of(&ended(child).unwrap());
        assert!(given.is_some_and(|text| text.contains("9417")), "{args:?}");
    }
    assert!(!world.home().exists());
    fs::write(other.home().join("config.toml"), "token_profile = \"claude\"\n").unwrap();
    let ran = world.run(&["--home", home, "recall", "which port does the ledger service use?"]);
    assert!(ran.stdout.contains("Claude tokens"), "budgets count as the home's settings say: {ran:?}");
    fs::create_dir_all(world.home()).unwrap();
    fs::write(world.home().join("config.toml"), "token_profile = \"nobody's\"\n").unwrap();
    let ran = world.run(&["--home", home, "recall", "which port does the ledger service use?"]);
    assert_eq!(ran.code, Some(0), "the other home's settings are not read: {ran:?}");
}

#[test]
fn a_client_is_set_up_for_the_home_of_the_command_line() {
    let world = World::new();
    let home = world.path("elsewhere");
    let home = home.to_str().unwrap();
    for (client, file) in
        [("claude-code", ".claude.json"), ("cursor", ".cursor/mcp.json"), ("codex", ".codex/config.toml")]
    {
        for _ in 0..2 {
            assert_eq!(world.run(&["--home", home, "setup", client, "--yes"]).code, Some(0), "{client}");
        }
        let text = fs::read_to_string(world.path("user").join(file)).unwrap();
        assert!(text.matches("--home").count() == 1 && text.contains(home), "{client}: {text}");
    }
    let hooks = fs::read_to_string(world.path("user/.claude/settings.json")).unwrap();
    assert!(hooks.contains("\"--home\""), "{hooks}");
    assert_eq!(world.run(&["--home", home, "uninstall", "--yes"]).code, Some(0));
    assert!(!world.path("user/.claude/settings.json").exists() && !world.path("user/.codex/config.toml").exists());
}

#[test]
fn looking_into_a_mistyped_home_or_changing_what_is_in_it_makes_none() {
    let world = World::new();
    let typo = world.path("typo");
    let looking =
        [&["list"][..], &["recall", "x"], &["stats"], &["get", "1"], &["export"], &["log"], &["doctor"], &["project"]];
    let changing = [
        &["backup"][..],
        &["resolve"],
        &["resolve", "1", "--keep", "copy"],
        &["forget", "1"],
        &["restore", "1"],
        &["update", "1", "--importance", "0.5"],
        &["update", "--imported", "--trust", "user"],
        &["link", "1", "see_also", "2"],
    ];
    for args in [&looking[..], &changing].concat() {
        let ran = world.run(&[&["--home", typo.to_str().unwrap()], args].concat());
        assert!(!typo.exists(), "{args:?}");
        assert!(
            args == ["project"] || (ran.code == Some(1) && ran.stderr.contains("no Tessera store")),
            "{args:?}: {ran:?}"
        );
        // However it was named.
        let ran: Ran = world.command(World::binary()).env("TESSERA_HOME", &typo).args(args).output().unwrap().into();
        assert!(!typo.exists(), "{args:?}");
        assert!(
            args == ["project"] || (ran.code == Some(1) && ran.stderr.contains("no Tessera store")),
            "{args:?}: {ran:?}"
        );
    }
}

/// They say where an older system keeps its data, and nothing of this store.
#[test]
fn variables_of_older_systems_do_not_move_the_store() {
    let world = World::new();
    let theirs = world.path("theirs");
    for (name, value) in [
        ("MEMORY_HOME", theirs.clone()),
        ("MEMORY_DB", theirs.join("memory.db")),
        ("MEMORY_DB_PATH", theirs.join("memory.db")),
    ] {
        let run = |args: &[&str]| -> Ran {
            let mut command = world.command(World::binary());
            command.env_remove("TESSERA_HOME").env(name, &value).args(args).output().unwrap().into()
        };
        assert_eq!(run(&["remember", name]).code, Some(0));
        assert!(!theirs.exists(), "{name}");
        assert!(run(&["list"]).stdout.contains(name));
    }
    let mut command = world.command(World::binary());
    let ran: Ran = command.env("TESSERA_HOME", "~/memories").args(["remember", "x"]).output().unwrap().into();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(world.path("user/memories/tessera.db").exists());
    // A store that an earlier version kept there is named.
    let run = |args: &[&str]| -> Ran {
        let mut command = world.command(World::binary());
        command.env("MEMORY_HOME", world.path("user/memories")).args(args).output().unwrap().into()
    };
    let ran = run(&["list"]);
    assert!(ran.code == Some(1) && ran.stderr.contains("restore-backup"), "{ran:?}");
    let older = world.path("user/memories/tessera.db");
    assert_eq!(run(&["restore-backup", older.to_str().unwrap()]).code, Some(0));
    assert_eq!(world.contents(), ["x"]);
}

#[test]
fn a_text_may_begin_with_dashes_and_a_mistyped_option_is_none() {
    let world = World::new();
    for text in ["-----BEGIN NOTES-----", "- a list item", "--flag is the one to use", "-5 degrees in the cellar"] {
        assert_eq!(world.run(&["remember", text]).code, Some(0), "{text}");
    }
    assert_eq!(world.contents().len(), 4);
    for args in [&["remember", "--tagz", "x"][..], &["remember", "x", "--tagz"], &["remember", "-x"]] {
        let ran = world.run(args);
        assert_eq!(ran.code, Some(2), "{args:?}: {ran:?}");
    }
    let ran = world.run(&["remember", "the last one", "--tags", "a,b", "--json"]);
    assert!(ran.code == Some(0) && ran.stdout.contains("the last one"), "{ran:?}");
}

#[test]
fn a_value_of_two_words_without_quotes_and_a_reversed_period_are_explained() {
    let world = World::new();
    world.remember("The office closes at six");
    for (args, words) in [
        (
            vec!["list", "--since", "7", "days"],
            "`days`; if it belongs to `--since`, quote the whole value: `--since '7 days'`",
        ),
        (vec!["list", "--deleted", "extra"], "does not accept `extra`; for example `tessera list`"),
        (vec!["list", "--since", "2026-12-01", "--until", "2026-11-01"], "`--since` is after until"),
    ] {
        let ran = world.run(&args);
        assert!(ran.code == Some(2) && ran.stderr.contains(words), "{args:?}: {ran:?}");
    }
}

#[test]
fn a_change_of_the_settings_says_what_changed_and_where() {
    let world = World::new();
    let set = world.run(&["settings", "set", "learn.extractor", "auto"]);
    let file = world.home().join("config.toml");
    assert_eq!(set.stdout, format!("learn.extractor = auto (in {})\n", file.display()));
    let key = world.run(&["settings", "set", "sync.key", "tsr_secret"]);
    assert!(key.stdout.starts_with("sync.key = set ") && !key.stdout.contains("secret"), "{key:?}");
    fs::write(&file, "[hooks]\nreccall = \"off\"\n").unwrap();
    assert!(world.run(&["settings"]).stderr.contains("unknown setting hooks.reccall in config.toml"));
    let mut command = world.command(World::binary());
    let mute = command.env("TESSERA_HOOKS_RECALL", "banana").arg("settings").output().unwrap();
    assert!(String::from_utf8_lossy(&mute.stderr).contains("is not valid; use on or off"), "{mute:?}");
    assert!(world.run(&["settings", "unset", "learn.extractor"]).stdout.starts_with("learn.extractor"));
}

#[test]
fn a_purge_leaves_nothing_behind() {
    let world = World::new();
    world.remember("x marks the spot");
    for file in ["sync.lock", "worker.lock", "mcp-http.key", "told-once"] {
        fs::write(world.home().join(file), "").unwrap();
    }
    let ran = world.run(&["uninstall", "--purge", "--yes"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(!world.home().exists(), "{:?}", fs::read_dir(world.home()).unwrap().flatten().collect::<Vec<_>>());
}

#[cfg(unix)]
#[test]
fn an_import_names_a_binary_file_and_reads_no_device() {
    let world = World::new();
    let file = world.path("program");
    fs::write(
        &file,
        [&b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0"[..], b"{\"content\":\"text of a program\"}\n"].concat(),
    )
    .unwrap();
    let zero = world.path("zero");
    std::os::unix::fs::symlink("/dev/zero", &zero).unwrap();
    for (path, words) in [(&file, "is a binary file"), (&zero, "is a device")] {
        let ran = world.run(&["import", path.to_str().unwrap()]);
        assert!(ran.code == Some(1) && ran.stderr.contains(words), "{ran:?}");
    }
    assert_eq!(world.run(&["list"]).code, Some(1), "no store was made");
}
