//! What a person at a terminal uses: unquoted words, the editor, undo, the picker, completions and manual pages.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;

use crate::screen::OnTerminal;
use crate::support::World;
use crate::support::terminal::{plain, run_on_terminal, start_with};

/// An editor that replaces a text.
fn editor(world: &World, from: &str, to: &str) -> String {
    let path = world.path("editor");
    fs::write(&path, format!("#!/bin/sh\nsed -i 's/{from}/{to}/' \"$1\"\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

fn with(world: &World, variables: &[(&str, &str)], args: &[&str]) -> crate::support::Ran {
    let mut command = world.command(World::binary());
    command.envs(variables.iter().copied()).args(args).output().unwrap().into()
}

#[test]
fn tessera_alone_explains_how_to_begin_and_then_shows_the_status() {
    let world = World::new();
    let (text, code) = run_on_terminal(&world, 80, &[], &[]);
    assert_eq!((code, plain(&text).lines().count()), (Some(0), 5), "{text}");
    assert!(text.contains("tessera setup claude-code") && !world.home().exists(), "{text}");
    world.remember("The crane is yellow");
    let (text, code) = run_on_terminal(&world, 80, &[], &[]);
    assert!(code == Some(0) && plain(&text).contains("1 memory"), "{text}");
    // Without a terminal, a client may have left out the arguments of a hook.
    let piped = world.run(&[]);
    assert!(piped.code == Some(1) && piped.stderr.contains("Memories:"), "{piped:?}");
}

#[test]
fn words_need_no_quotes_and_several_texts_are_refused() {
    let world = World::new();
    world.json(&["remember", "I", "prefer", "tabs", "--tags", "go", "in", "Go"]);
    assert_eq!(world.contents(), ["I prefer tabs in Go"]);
    assert_eq!(world.found_with("tabs", &["or", "spaces?"]), [1]);
    assert_eq!(world.json(&["add", "The mill is on Elm Street"])["id"], 2);
    assert!(world.run(&["search", "which", "street?"]).stdout.contains("Elm Street"));
    for (args, words) in [
        (&["remember", "one fact", "another fact"][..], "several quoted texts"),
        (&["remember", "The well", "--tags", "infra,", "prod"], "ends with a comma"),
        (&["remember", "x", "--tgas", "y"], "did you mean `--tags`?"),
        (&["remember", "x", "--zzz"], "after `--` all words are text"),
    ] {
        let ran = world.run(args);
        assert!(ran.code == Some(2) && ran.stderr.contains(words), "{args:?}: {ran:?}");
    }
    assert_eq!(world.contents().len(), 2);
    let piped = world.run_with_stdin(&["remember"], b"From a pipe\n");
    assert_eq!((piped.code, world.contents().len()), (Some(0), 3), "{piped:?}");
}

#[test]
fn forget_by_words_asks_and_deletes_only_memories_with_all_words() {
    let world = World::new();
    world.remember("The old staging port is 9417");
    world.remember("The staging server is called birch");
    world.remember("The old mill is closed");
    let nobody = world.run(&["forget", "--matching", "staging", "old"]);
    assert!(
        nobody.code == Some(1) && nobody.stdout.contains("#1") && nobody.stderr.contains("add --yes"),
        "{nobody:?}"
    );
    assert_eq!(world.contents().len(), 3);
    let none = world.run(&["forget", "--matching", "harbour", "--yes"]);
    assert!(none.code == Some(1) && none.stderr.contains("no memory contains all words"), "{none:?}");
    let gone = world.json(&["forget", "--matching", "staging", "old", "--yes"]);
    assert_eq!((&gone["deleted_ids"], world.contents().len()), (&json!([1]), 2));
}

#[test]
fn the_editor_changes_a_text_and_undo_takes_each_change_back() {
    let world = World::new();
    world.remember("The API listens on port 8480");
    let program = editor(&world, "8480", "8490");
    let edited = with(&world, &[("EDITOR", &program)], &["edit", "1"]);
    assert!(edited.code == Some(0) && edited.stdout.contains("Updated #1"), "{edited:?}");
    assert_eq!(world.contents(), ["The API listens on port 8490"]);
    let same = with(&world, &[("EDITOR", "true")], &["edit", "1"]);
    assert_eq!((same.code, same.stdout.as_str()), (Some(0), "Nothing was changed.\n"), "{same:?}");
    let empty = with(&world, &[("EDITOR", "truncate -s 0")], &["edit", "1"]);
    assert!(empty.code == Some(1) && empty.stderr.contains("the edited text is empty"), "{empty:?}");
    for (program, words) in [("false", "nothing was changed"), ("/nowhere/editor", "cannot be started")] {
        let failed = with(&world, &[("EDITOR", program)], &["edit", "1"]);
        assert!(failed.code == Some(1) && failed.stderr.contains(words), "{failed:?}");
    }
    assert_eq!(world.contents(), ["The API listens on port 8490"]);
    let undone = world.json(&["undo", "1"]);
    assert_eq!((&undone["content"], &undone["operation"]), (&json!("The API listens on port 8480"), &json!("update")));
    world.json(&["forget", "1"]);
    assert_eq!(world.json(&["undo", "--yes"])["deleted"], false);
    world.json(&["update", "1", "--tags", "ops,db", "--importance", "0.9"]);
    world.json(&["undo", "1"]);
    let memory = world.json(&["get", "1"]);
    assert!(memory["tags"] == json!([]) && memory["importance"] != json!(0.9), "{memory}");
    world.remember("The well is dry");
    world.json(&["link", "2", "see_also", "1"]);
    world.json(&["undo", "2"]);
    assert_eq!(world.json(&["get", "2"])["links"], json!([]));
    world.remember("A third note");
    assert_eq!(world.json(&["undo", "3"])["deleted"], true, "a memory that was just stored is deleted");
    assert_eq!(world.json(&["undo", "3"])["deleted"], false, "and comes back");
    world.json(&["forget", "3", "--hard"]);
    let purged = world.run(&["undo", "3"]);
    assert!(purged.code == Some(1) && purged.stderr.contains("there is no memory #3"), "{purged:?}");
    world.assert_healthy();
}

#[test]
fn an_edited_text_is_never_lost_and_overwrites_no_other_change() {
    let world = World::new();
    world.remember("The API listens on port 8480");
    let slow = world.path("slow");
    // Another session changes the memory while the user edits it.
    let other = format!("{} update 1 --content 'Changed by an agent' >/dev/null", World::binary().display());
    fs::write(&slow, format!("#!/bin/sh\n{other}\necho 'Edited by the user' > \"$1\"\n")).unwrap();
    fs::set_permissions(&slow, fs::Permissions::from_mode(0o755)).unwrap();
    let kept = |ran: &crate::support::Ran| {
        assert!(ran.code != Some(0), "{ran:?}");
        let path = ran.stderr.split("your text is kept in ").nth(1).and_then(|rest| rest.split(": ").next()).unwrap();
        let text = fs::read(path).unwrap();
        fs::remove_file(path).unwrap();
        text
    };
    let refused = with(&world, &[("EDITOR", slow.to_str().unwrap())], &["edit", "1"]);
    assert!(refused.stderr.contains("#1 was changed while you edited it"), "{refused:?}");
    assert_eq!(kept(&refused), b"Edited by the user\n");
    assert_eq!(world.contents(), ["Changed by an agent"]);
    for (script, expected) in [
        ("head -c 40000 /dev/zero | tr '\\0' x > \"$1\"", "x".repeat(40_000).as_bytes()),
        ("printf 'a\\377b' > \"$1\"", b"a\xffb"),
        ("echo Edited > \"$1\"; exit 3", b"Edited\n"),
    ] {
        fs::write(&slow, format!("#!/bin/sh\n{script}\n")).unwrap();
        let refused = with(&world, &[("EDITOR", slow.to_str().unwrap())], &["edit", "1"]);
        assert_eq!(kept(&refused), expected, "{script}");
    }
    assert_eq!(world.contents(), ["Changed by an agent"]);
}

#[test]
fn undo_changes_no_files_and_skips_what_a_scan_changed() {
    let world = World::new();
    world.remember("A fact of my own");
    let notes = world.path("notes");
    fs::create_dir(&notes).unwrap();
    fs::write(notes.join("a.md"), "my only document\n").unwrap();
    world.json(&["files", "add", notes.to_str().unwrap(), "--writable"]);
    let undone = world.json(&["undo", "--yes"]);
    assert_eq!((&undone["id"], &undone["deleted"]), (&json!(1), &json!(true)), "{undone}");
    let id = world.json(&["recall", "my only document"])["details"][0]["id"].to_string();
    let refused = world.run(&["undo", &id]);
    assert!(refused.code == Some(1) && refused.stderr.contains("`undo` changes no files"), "{refused:?}");
    assert_eq!(fs::read_to_string(notes.join("a.md")).unwrap(), "my only document\n");
}

#[test]
fn forget_by_words_deletes_nothing_that_changed_before_the_answer() {
    let world = World::new();
    world.remember("An obsolete widget");
    let (mut child, mut terminal) = start_with(&world, 80, &[], &["forget", "--matching", "widget", "--hard"]);
    let mut seen = Vec::new();
    let mut piece = [0; 1024];
    while !String::from_utf8_lossy(&seen).contains("[y/N]") {
        let count = terminal.read(&mut piece).unwrap();
        seen.extend_from_slice(&piece[..count]);
    }
    world.json(&["update", "1", "--content", "The runbook of production"]);
    terminal.write_all(b"y\n").unwrap();
    let _ = terminal.read_to_end(&mut seen);
    let text = String::from_utf8_lossy(&seen).into_owned();
    assert!(child.wait().unwrap().code() == Some(1) && text.contains("changed in the meantime"), "{text}");
    assert_eq!(world.contents(), ["The runbook of production"]);
}

#[test]
fn settings_are_shown_alone_and_edited() {
    let world = World::new();
    world.run(&["settings", "set", "learn.extractor", "off"]);
    assert_eq!(world.run(&["settings", "get", "learn.extractor"]).stdout, "off\n");
    assert!(world.run(&["settings", "get", "hooks.recall"]).stdout.starts_with("not set; "));
    let path = world.home().join("config.toml");
    assert_eq!(world.run(&["settings", "path"]).stdout, format!("{}\n", path.display()));
    let unknown = world.run(&["settings", "get", "learn.extracter"]);
    assert!(unknown.code == Some(2) && unknown.stderr.contains("did you mean `learn.extractor`?"), "{unknown:?}");
    let program = editor(&world, "off", "heuristic");
    assert_eq!(with(&world, &[("EDITOR", &program)], &["settings", "edit"]).code, Some(0));
    assert!(fs::read_to_string(&path).unwrap().contains("heuristic"));
    let wrong = editor(&world, "heuristic", "sometimes");
    let refused = with(&world, &[("EDITOR", &wrong)], &["settings", "edit"]);
    assert!(refused.code == Some(3) && refused.stderr.contains("`sometimes`"), "{refused:?}");
}

#[test]
fn the_picker_finds_shows_edits_deletes_and_undoes() {
    let world = World::new();
    world.remember("The crane of the harbour is yellow");
    world.remember("The mill is on Elm Street");
    let program = editor(&world, "yellow", "green");
    let mut picker = OnTerminal::start(&world, &[("EDITOR", &program)], &["browse"]);
    picker.until("2 found");
    picker.press("\u{1a}");
    picker.until("Nothing was changed here");
    // A pasted text is a question, whatever keys it contains.
    picker.press("\u{1b}[200~fact\ndy\u{1b}[201~");
    picker.until("0 found");
    picker.press("\u{15}");
    picker.until("2 found");
    picker.press("craz");
    picker.until("0 found");
    picker.press("\u{7f}");
    picker.until("1 found");
    picker.press("\r");
    picker.until("e edits, d deletes");
    picker.press("e");
    picker.until("Updated #1");
    picker.press("d");
    picker.until("y deletes");
    picker.press("n");
    picker.until("e edits");
    assert_eq!(world.json(&["get", "1"])["content"], "The crane of the harbour is green");
    picker.press("d");
    picker.until("y deletes");
    picker.press("y");
    picker.until("Deleted #1");
    assert_eq!(world.contents(), ["The mill is on Elm Street"]);
    picker.press("\u{1a}");
    picker.until("Undone");
    assert_eq!(world.contents().len(), 2);
    picker.press("\u{3}");
    assert_eq!(picker.end(), Some(0));
    world.assert_healthy();
}

#[test]
fn the_picker_prints_a_chosen_text_and_needs_a_terminal() {
    let world = World::new();
    world.remember("The crane of the harbour is yellow");
    world.remember("The mill is on Elm Street");
    let mut picker = OnTerminal::start(&world, &[], &["browse", "--print", "Elm"]);
    picker.until("Enter prints");
    picker.press("\r");
    picker.until_left("The mill is on Elm Street");
    assert_eq!(picker.end(), Some(0));
    let piped = world.run(&["browse"]);
    assert!(piped.code == Some(1) && piped.stderr.contains("needs a terminal"), "{piped:?}");
}

#[test]
fn a_signal_leaves_the_terminal_as_it_was() {
    let world = World::new();
    world.remember("The mill is on Elm Street");
    let mut picker = OnTerminal::start(&world, &[], &["browse"]);
    picker.until("1 found");
    assert!(picker.screen.screen().alternate_screen());
    let pid = picker.child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-s", "TERM", &pid]).status().unwrap().success());
    picker.until_left("");
    assert_eq!(picker.end(), Some(0));
}

#[test]
fn completions_offer_values_and_are_installed_and_removed() {
    let world = World::new();
    world.json(&["remember", "The crane is yellow", "--tags", "harbour", "--scope", "github.com/acme/pier"]);
    let offered = |line: &[&str]| {
        let index = (line.len() - 1).to_string();
        let variables = [
            ("COMPLETE", "bash"),
            ("_CLAP_COMPLETE_INDEX", index.as_str()),
            ("_CLAP_COMPLETE_COMP_TYPE", "9"),
            ("_CLAP_IFS", "\n"),
        ];
        let ran = with(&world, &variables, &[&["--"], line].concat());
        assert_eq!(ran.code, Some(0), "{line:?}: {ran:?}");
        ran.stdout.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    for (line, expected) in [
        (&["tessera", "get", ""][..], "1"),
        (&["tessera", "list", "--tags", ""], "harbour"),
        (&["tessera", "list", "--scope", ""], "github.com/acme/pier"),
        (&["tessera", "recall", "--sort", ""], "recency"),
        (&["tessera", "remember", "--category", ""], "preferences"),
        (&["tessera", "settings", "set", "learn."], "learn.extractor"),
        (&["tessera", "rem"], "remember"),
    ] {
        let values = offered(line);
        assert!(values.iter().any(|value| value == expected), "{line:?}: {values:?}");
    }
    let rc = world.path("user/.zshrc");
    fs::write(&rc, "export A=1\n").unwrap();
    let install = |shell: &str| world.run(&["completions", "install", shell, "--key", "--yes"]);
    for shell in ["bash", "zsh", "fish"] {
        let ran = install(shell);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.stdout.contains("+++"), "the change is shown: {ran:?}");
        let again = install(shell);
        assert!(again.code == Some(0) && again.stderr.contains("nothing to change"), "{again:?}");
    }
    assert!(fs::read_to_string(&rc).unwrap().contains("source <(tessera completions zsh)"));
    let own = world.path("user/.local/share/bash-completion/completions/tessera");
    assert!(fs::read_to_string(&own).unwrap().contains("COMPLETE"), "{}", own.display());
    // The user adds a line of their own, which stays.
    fs::write(&rc, fs::read_to_string(&rc).unwrap() + "export B=2\n").unwrap();
    let removed = world.run(&["uninstall", "--yes"]);
    assert_eq!(removed.code, Some(0), "{removed:?}");
    assert_eq!(fs::read_to_string(&rc).unwrap(), "export A=1\nexport B=2\n");
    // A block without its last line is not guessed.
    fs::write(&rc, "# tessera: begin (added by `tessera completions install`)\nexport MINE=1\n").unwrap();
    let broken = install("zsh");
    assert!(broken.code == Some(3) && broken.stderr.contains("incomplete block"), "{broken:?}");
    assert!(fs::read_to_string(&rc).unwrap().contains("export MINE=1"));
    let left = [own, world.path("user/.bashrc"), world.path("user/.config/fish/config.fish")];
    assert!(left.iter().all(|path| !path.exists()), "{left:?}");
    let other = world.run(&["completions", "install", "elvish", "--yes"]);
    assert!(other.code == Some(1) && other.stderr.contains("tessera completions elvish"), "{other:?}");
}

#[test]
fn each_command_has_a_manual_page() {
    let world = World::new();
    let dir = world.path("man");
    assert_eq!(world.run(&["man", "--all", dir.to_str().unwrap()]).code, Some(0));
    let page = |name: &str| fs::read_to_string(dir.join(format!("{name}.1"))).unwrap_or_default();
    let help = world.run(&["help"]).stdout;
    let names = help.lines().filter(|line| line.starts_with("  ") && !line.trim_start().starts_with('-'));
    let names: Vec<&str> = names.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.len() > 40, "{names:?}");
    for name in names {
        assert!(page(&format!("tessera-{name}")).starts_with(".ie"), "{name} has no page");
    }
    assert_eq!(world.run(&["man", "settings", "set"]).stdout, page("tessera-settings-set"));
    assert!(world.run(&["man", "search"]).stdout.contains("tessera\\-recall"));
    let unknown = world.run(&["man", "nope"]);
    assert!(unknown.code == Some(2) && unknown.stderr.contains("no command `tessera nope`"), "{unknown:?}");
    assert!(Path::new(&dir).is_dir());
}
