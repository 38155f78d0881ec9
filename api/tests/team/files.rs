//! Files of a team: what is written on one machine is a file on the other; what is changed apart is put together, or both
//! texts are kept; whoever it is shared with has a memory with a path.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::server::{TeamServer, exchange};
use crate::support::World;

pub(crate) const NOTE: &str =
    "# Staging\n\n- [port] staging listens on 5433\n- [host] it runs on birch\n- [owner] Ada looks after it\n";

pub(crate) fn place(world: &World, path: &str) -> PathBuf {
    world.home().join("memories").join(path)
}

pub(crate) fn write(world: &World, path: &str, text: &str) {
    let path = place(world, path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

pub(crate) fn read(world: &World, path: &str) -> String {
    fs::read_to_string(place(world, path)).unwrap_or_else(|error| panic!("{path}: {error}: {:?}", files(world)))
}

/// The files of a machine, by path.
pub(crate) fn files(world: &World) -> BTreeMap<String, String> {
    fn below(dir: &Path, root: &Path, into: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                below(&path, root, into);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                into.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }
    let (mut into, root) = (BTreeMap::new(), world.home().join("memories"));
    below(&root, &root, &mut into);
    into
}

/// The files of a folder, by name.
pub(crate) fn files_of(dir: &Path) -> BTreeMap<String, String> {
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let files = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    files.map(|path| (name(&path), fs::read_to_string(&path).unwrap())).collect()
}

pub(crate) fn tool(world: &World, command: &Value) -> String {
    let ran = world.run_with_stdin(&["memory-tool"], command.to_string().as_bytes());
    assert_eq!(ran.code, Some(0), "{command}: {ran:?}");
    ran.stdout
}

pub(crate) fn recalled(world: &World, question: &str) -> String {
    world.run(&["recall", question]).stdout
}

pub(crate) fn settle(machines: &[&World]) {
    for _ in 0..3 {
        machines.iter().for_each(|machine| exchange(machine));
    }
}

pub(crate) fn said<'a>(files: &'a BTreeMap<String, String>, path: &str) -> &'a str {
    files.get(path).unwrap_or_else(|| panic!("{path} is not there: {files:?}"))
}

/// All machines have the same files, and go on having them.
fn agree(machines: &[&World]) -> BTreeMap<String, String> {
    settle(machines);
    let first = files(machines[0]);
    settle(machines);
    for machine in machines {
        assert_eq!(files(machine), first);
        let status = machine.json(&["sync", "status"]);
        assert_eq!((&status["waiting"], &status["refused"]), (&json!(0), &json!(0)), "{status}");
        machine.assert_healthy();
    }
    first
}

#[test]
fn what_is_written_on_one_machine_is_a_file_on_the_other() {
    let Some(server) = TeamServer::start() else { return };
    let key = server.user("ada");
    let (laptop, desktop) = (server.machine(&key), server.machine(&key));
    tool(&laptop, &json!({ "command": "create", "path": "/memories/ops/staging.md", "file_text": NOTE }));
    agree(&[&laptop, &desktop]);
    assert_eq!(read(&desktop, "ops/staging.md"), NOTE);
    let found = recalled(&desktop, "which port does staging use?");
    assert!(found.contains("5433") && found.contains("/memories/ops/staging.md"), "{found}");
    // By hand there, by the tool here.
    write(&desktop, "ops/staging.md", &NOTE.replace("birch", "oak"));
    agree(&[&desktop, &laptop]);
    assert_eq!(read(&laptop, "ops/staging.md"), NOTE.replace("birch", "oak"));
    assert!(recalled(&laptop, "where does staging run?").contains("oak"));
    tool(&laptop, &json!({ "command": "rename", "old_path": "/memories/ops", "new_path": "/memories/hosts" }));
    let now = agree(&[&laptop, &desktop]);
    assert_eq!(now.keys().collect::<Vec<_>>(), ["hosts/staging.md"]);
    assert!(recalled(&desktop, "where does staging run?").contains("/memories/hosts/staging.md"));
    fs::rename(place(&desktop, "hosts/staging.md"), place(&desktop, "s.md")).unwrap();
    assert_eq!(agree(&[&desktop, &laptop]).keys().collect::<Vec<_>>(), ["s.md"]);
    write(&laptop, "blank.md", "");
    assert_eq!(said(&agree(&[&laptop, &desktop]), "blank.md"), "");
    tool(&desktop, &json!({ "command": "delete", "path": "/memories/s.md" }));
    fs::remove_file(place(&desktop, "blank.md")).unwrap();
    assert!(agree(&[&desktop, &laptop]).is_empty());
    assert!(!recalled(&laptop, "where does staging run?").contains("oak"));
}

#[test]
fn changes_that_do_not_touch_are_put_together_and_others_are_kept_twice() {
    let Some(server) = TeamServer::start() else { return };
    let key = server.user("ada");
    let machines = [server.machine(&key), server.machine(&key), server.machine(&key)];
    let [one, two, three] = &machines;
    let all = [one, two, three];
    write(one, "staging.md", NOTE);
    agree(&all);
    // A week apart: each changes another observation, and each adds one at the end.
    write(one, "staging.md", &(NOTE.replace("5433", "6000") + "- [note] from one\n"));
    write(two, "staging.md", &(NOTE.replace("birch", "oak") + "- [note] from two\n"));
    write(three, "staging.md", &NOTE.replace("Ada", "Bob"));
    let merged = NOTE.replace("5433", "6000").replace("birch", "oak").replace("Ada", "Bob")
        + "- [note] from one\n- [note] from two\n";
    assert_eq!(agree(&all), BTreeMap::from([("staging.md".to_owned(), merged.clone())]));
    for machine in all {
        assert_eq!(machine.json(&["resolve"]), json!([]));
        assert!(recalled(machine, "what is noted from two?").contains("from two"));
    }
    // The same observation: both texts stay, until somebody says which it shall be.
    let (hers, his) = (merged.replace("6000", "7000"), merged.replace("6000", "8000"));
    write(one, "staging.md", &hers);
    write(two, "staging.md", &his);
    let now = agree(&all);
    assert_eq!(said(&now, "staging.md"), hers);
    let other = now.keys().find(|name| name.starts_with("staging.conflict-")).unwrap();
    assert_eq!((now.len(), &now[other]), (2, &his));
    for machine in all {
        let conflicts = machine.json(&["resolve"]);
        assert_eq!(conflicts.as_array().unwrap().len(), 1, "{conflicts}");
        assert_eq!(conflicts[0]["copy"]["file"]["path"], format!("/memories/{other}"), "{conflicts}");
    }
    let id = three.json(&["resolve"])[0]["copy"]["id"].to_string();
    three.json(&["resolve", &id, "--keep", "copy"]);
    assert_eq!(files(three), BTreeMap::from([("staging.md".to_owned(), his.clone())]), "at once");
    assert_eq!(agree(&all), BTreeMap::from([("staging.md".to_owned(), his)]));
}

#[test]
fn one_path_on_two_machines_is_one_file_or_two_under_two_names() {
    let Some(server) = TeamServer::start() else { return };
    let key = server.user("ada");
    let (one, two) = (World::new(), World::new());
    for machine in [&one, &two] {
        write(machine, "same.md", NOTE);
    }
    write(&one, "other.md", "- [a] from one\n");
    write(&two, "other.md", "- [a] from two\n");
    for machine in [&one, &two] {
        machine.run(&["files", "scan"]);
        server.join(machine, &key, &["--upload", "all"]);
    }
    let now = agree(&[&one, &two]);
    assert_eq!((now.len(), said(&now, "same.md"), said(&now, "other.md")), (3, NOTE, "- [a] from one\n"), "{now:?}");
    assert!(now.iter().any(|(name, text)| name.starts_with("other.conflict-") && text == "- [a] from two\n"));
    assert_eq!(two.json(&["resolve"]).as_array().unwrap().len(), 1);
    // Joined, and apart again: made under one path, renamed to one that the other took.
    write(&one, "b.md", "- [b] from one\n");
    write(&two, "b.md", "- [b] from two\n");
    write(&one, "c.md", "- [c] the same\n");
    write(&two, "c.md", "- [c] the same\n");
    fs::rename(place(&one, "same.md"), place(&one, "taken.md")).unwrap();
    write(&two, "taken.md", "- [d] was here\n");
    let now = agree(&[&one, &two]);
    let texts: Vec<&str> = now.values().map(String::as_str).collect();
    for text in ["- [b] from one\n", "- [b] from two\n", "- [c] the same\n", "- [d] was here\n", NOTE] {
        assert_eq!(texts.iter().filter(|there| **there == text).count(), 1, "{text}: {now:?}");
    }
    assert!(now.contains_key("b.md") && now.contains_key("c.md") && now.contains_key("taken.md"), "{now:?}");
    // Two that take each other's names.
    for (from, to) in [("b.md", "x.md"), ("c.md", "b.md"), ("x.md", "c.md")] {
        fs::rename(place(&one, from), place(&one, to)).unwrap();
    }
    let (b, c) = (said(&now, "b.md").to_owned(), said(&now, "c.md").to_owned());
    let now = agree(&[&one, &two]);
    assert_eq!((said(&now, "b.md"), said(&now, "c.md")), (&*c, &*b));
}

/// Runs something while files may be read and not be written: as between what arrives and what is written.
fn between(world: &World, work: impl FnOnce()) {
    let lock = File::options().create(true).append(true).open(world.home().join("files.lock")).unwrap();
    lock.lock().unwrap();
    work();
    lock.unlock().unwrap();
}

#[test]
fn an_edit_by_hand_before_what_arrived_is_written_is_put_together_with_it_or_kept() {
    let Some(server) = TeamServer::start() else { return };
    let key = server.user("ada");
    let (one, two) = (server.machine(&key), server.machine(&key));
    for name in ["a.md", "b.md", "c.md", "d.md"] {
        write(&one, name, NOTE);
    }
    agree(&[&one, &two]);
    for name in ["a.md", "b.md", "d.md"] {
        write(&one, name, &NOTE.replace("5433", "6000"));
    }
    fs::remove_file(place(&one, "c.md")).unwrap();
    write(&one, "e.md", "- [e] came\n");
    exchange(&one);
    between(&two, || exchange(&two));
    assert_eq!(read(&two, "a.md"), NOTE, "it has arrived, and is not written");
    write(&two, "a.md", &NOTE.replace("birch", "oak"));
    write(&two, "b.md", &NOTE.replace("5433", "7000"));
    write(&two, "c.md", &NOTE.replace("birch", "elm"));
    fs::remove_file(place(&two, "d.md")).unwrap();
    write(&two, "e.md", "- [e] by hand\n");
    let now = agree(&[&two, &one]);
    assert_eq!(said(&now, "a.md"), NOTE.replace("5433", "6000").replace("birch", "oak"));
    assert_eq!(said(&now, "b.md"), NOTE.replace("5433", "7000"), "what stands there stays");
    assert_eq!(said(&now, "c.md"), NOTE.replace("birch", "elm"), "an edit has precedence over a deletion");
    assert_eq!(said(&now, "d.md"), NOTE.replace("5433", "6000"), "on whichever side");
    assert_eq!(said(&now, "e.md"), "- [e] by hand\n");
    let kept = |name: &str, text: &str| now.iter().any(|(path, said)| path.starts_with(name) && said == text);
    assert!(kept("b.conflict-", &NOTE.replace("5433", "6000")), "{now:?}");
    assert!(kept("e.conflict-", "- [e] came\n") && now.len() == 7, "{now:?}");
    assert_eq!(one.json(&["resolve"]).as_array().unwrap().len(), 2);
}

/// Files that take one another's places elsewhere, while what stands there here was edited by hand.
#[test]
fn an_edit_by_hand_goes_along_with_the_file_that_makes_room_for_another() {
    let Some(server) = TeamServer::start() else { return };
    let key = server.user("ada");
    let (one, two) = (server.machine(&key), server.machine(&key));
    let text = |name: &str| NOTE.replace("Staging", name);
    for name in ["a", "b", "x", "y"] {
        write(&one, &format!("{name}.md"), &text(name));
    }
    agree(&[&one, &two]);
    let rename = |from: &str, to: &str| {
        let (old, new) = (format!("/memories/{from}.md"), format!("/memories/{to}.md"));
        tool(&one, &json!({ "command": "rename", "old_path": old, "new_path": new }));
    };
    // A chain, and two that change places.
    for (from, to) in [("b", "t"), ("a", "b"), ("t", "c"), ("x", "z"), ("y", "x"), ("z", "y")] {
        rename(from, to);
    }
    exchange(&one);
    between(&two, || exchange(&two));
    write(&two, "b.md", &text("b").replace("birch", "oak"));
    write(&two, "x.md", &text("x").replace("birch", "elm"));
    write(&two, "y.md", &text("y").replace("birch", "ash"));
    let now = agree(&[&two, &one]);
    assert_eq!((said(&now, "b.md"), said(&now, "c.md")), (&*text("a"), &*text("b").replace("birch", "oak")));
    // Where neither makes room first, both texts are kept all the same.
    for tree in ["elm", "ash"] {
        assert!(now.values().any(|said| said.contains(tree)), "{tree}: {now:?}");
    }
    for machine in [&one, &two] {
        let pending = machine.json(&["files", "scan"]);
        assert_eq!((&pending["written"], &pending["taken"]), (&json!(0), &json!(0)));
    }
}

#[test]
fn a_file_that_is_removed_for_good_is_removed_everywhere_and_one_that_was_changed_is_another() {
    let Some(server) = TeamServer::start() else { return };
    let key = server.user("ada");
    let (one, two) = (server.machine(&key), server.machine(&key));
    write(&one, "gone.md", "- [x] a word that nobody is to find again: quagga\n");
    agree(&[&one, &two]);
    one.json(&["forget", "--hard", "1"]);
    assert!(agree(&[&one, &two]).is_empty());
    for machine in [&one, &two] {
        assert!(!recalled(machine, "quagga").contains("quagga"));
        let bytes = fs::read(machine.home().join("tessera.db")).unwrap();
        assert!(!bytes.windows(6).any(|window| window == b"quagga"), "nothing of it is left in the store");
    }
    write(&one, "kept.md", "- [x] one\n");
    agree(&[&one, &two]);
    let short_id = one.json(&["sync", "status"]);
    assert_eq!(short_id["waiting"], 0);
    let listed = one.json(&["list", "--limit", "5"]);
    let part = listed["memories"][0]["id"].as_u64().unwrap();
    one.json(&["forget", "--hard", &(part - 1).to_string()]);
    exchange(&one);
    between(&two, || exchange(&two));
    write(&two, "kept.md", "- [x] one\n- [y] and mine\n");
    let now = agree(&[&two, &one]);
    assert_eq!(said(&now, "kept.md"), "- [x] one\n- [y] and mine\n");
}

/// A text that is deleted permanently is known by its bytes, however new its file is.
#[test]
fn a_file_that_is_removed_for_good_right_after_it_came_does_not_come_back() {
    let Some(server) = TeamServer::start() else { return };
    let key = server.user("ada");
    let (one, two) = (server.machine(&key), server.machine(&key));
    let text = "- [x] nobody is to find again: quagga\n";
    write(&one, "gone.md", text);
    exchange(&one);
    exchange(&two);
    assert_eq!(read(&two, "gone.md"), text);
    one.json(&["forget", "--hard", "/memories/gone.md"]);
    exchange(&one);
    // As an editor, a copy or a backup does.
    write(&two, "gone.md", text);
    for machine in [&two, &two, &one, &two] {
        exchange(machine);
    }
    assert!(files(&one).is_empty() && files(&two).is_empty(), "{:?} {:?}", files(&one), files(&two));
    assert!(!recalled(&one, "quagga").contains("nobody is to find"));
}

#[test]
fn a_server_that_goes_back_loses_no_file_and_undoes_no_edit() {
    let Some(mut server) = TeamServer::start() else { return };
    let key = server.user("ada");
    let (one, two, away) = (server.machine(&key), server.machine(&key), server.machine(&key));
    write(&one, "old.md", NOTE);
    write(&one, "dies.md", "- [x] deleted after the backup\n");
    agree(&[&one, &two, &away]);
    server.down();
    server.cluster.back_up();
    server.up();
    write(&one, "old.md", &NOTE.replace("5433", "6000"));
    write(&two, "new.md", "- [n] after the backup\n");
    fs::remove_file(place(&one, "dies.md")).unwrap();
    agree(&[&one, &two]);
    server.down();
    server.cluster.restore();
    server.up();
    write(&two, "old.md", &NOTE.replace("5433", "6000").replace("birch", "oak"));
    write(&away, "old.md", &NOTE.replace("Ada", "Eve"));
    // Whoever changed nothing since gives the server back what it lost; so the others can be put together with it.
    let now = agree(&[&one, &two, &away]);
    assert_eq!(said(&now, "old.md"), NOTE.replace("5433", "6000").replace("birch", "oak").replace("Ada", "Eve"));
    assert_eq!(said(&now, "new.md"), "- [n] after the backup\n");
    assert_eq!(now.len(), 2, "{now:?}");
}

#[test]
fn what_cannot_be_told_stays_here_and_is_said_to() {
    let Some(server) = TeamServer::start() else { return };
    let key = server.user("ada");
    let (one, two) = (server.machine(&key), server.machine(&key));
    write(&one, "secret.md", "- [login] password: hunter2-Quartz!99\n");
    write(&one, "large.txt", &"a line of a large file\n".repeat(3_000));
    write(&one, "plain.md", "- [x] told\n");
    exchange(&one);
    exchange(&two);
    assert_eq!(files(&two).keys().collect::<Vec<_>>(), ["plain.md"]);
    let status = one.json(&["sync", "status"]);
    assert_eq!(status["files_held_back"]["with_credential"], 1, "{status}");
    assert_eq!((&status["files_held_back"]["too_large"], &status["waiting"]), (&json!(1), &json!(0)), "{status}");
    let said = one.run(&["sync", "status"]).stdout;
    assert!(said.contains("files with a credential") && said.contains("files too large"), "{said}");
    // What was told before is not written over where it cannot be told any more, nor removed.
    write(&one, "plain.md", "- [x] told\n- [y] password: hunter2-Quartz!99\n");
    exchange(&one);
    write(&two, "plain.md", "- [x] told, and changed\n");
    settle(&[&two, &one]);
    assert_eq!(read(&one, "plain.md"), "- [x] told\n- [y] password: hunter2-Quartz!99\n");
    fs::remove_file(place(&two, "plain.md")).unwrap();
    settle(&[&two, &one]);
    assert_eq!(read(&one, "plain.md"), "- [x] told\n- [y] password: hunter2-Quartz!99\n");
}

#[test]
fn files_of_a_folder_that_is_not_known_here_wait_for_it() {
    let Some(server) = TeamServer::start() else { return };
    let key = server.user("ada");
    let (one, two) = (server.machine(&key), server.machine(&key));
    let (here, there) = (one.path("wiki"), two.path("elsewhere"));
    fs::create_dir_all(&here).unwrap();
    fs::create_dir_all(&there).unwrap();
    fs::write(here.join("page.md"), NOTE).unwrap();
    one.json(&["files", "add", here.to_str().unwrap(), "--writable"]);
    settle(&[&one, &two]);
    assert_eq!(one.json(&["sync", "status"])["files_held_back"]["in_untold_folder"], 1);
    assert_eq!(two.json(&["sync", "status"])["files_held_back"]["without_folder"], 0);
    one.json(&["files", "add", here.to_str().unwrap(), "--writable", "--sync"]);
    settle(&[&one, &two]);
    assert_eq!(two.json(&["sync", "status"])["files_held_back"]["without_folder"], 1);
    two.json(&["files", "add", there.to_str().unwrap(), "--name", "wiki", "--writable", "--sync"]);
    assert_eq!(fs::read_to_string(there.join("page.md")).unwrap(), NOTE);
    assert!(recalled(&two, "which port does staging use?").contains("/wiki/page.md"));
    fs::write(there.join("page.md"), NOTE.replace("5433", "6000")).unwrap();
    settle(&[&two, &one]);
    assert_eq!(fs::read_to_string(here.join("page.md")).unwrap(), NOTE.replace("5433", "6000"));
}

#[test]
fn a_name_that_is_spelled_otherwise_is_so_everywhere_and_its_file_goes_on() {
    let Some(server) = TeamServer::start() else { return };
    let key = server.user("ada");
    let (one, two) = (server.machine(&key), server.machine(&key));
    for name in ["a.md", "work/b.md", "work/c.md"] {
        write(&one, name, &NOTE.replace("Staging", name));
    }
    settle(&[&one, &two]);
    for (from, to) in [("a.md", "A.md"), ("work", "Work")] {
        fs::rename(place(&one, from), place(&one, to)).unwrap();
    }
    settle(&[&one, &two]);
    assert_eq!(files(&two).keys().collect::<Vec<_>>(), ["A.md", "Work/b.md", "Work/c.md"]);
    // What is edited on either goes on to the other, also where it is edited and spelled otherwise at once.
    for name in ["A.md", "Work/b.md"] {
        write(&two, name, &read(&two, name).replace("birch", "oak"));
    }
    settle(&[&two, &one]);
    write(&one, "A.md", &read(&one, "A.md").replace("5433", "6000"));
    fs::rename(place(&one, "A.md"), place(&one, "a.md")).unwrap();
    write(&two, "A.md", &read(&two, "A.md").replace("Ada looks", "Mara looks"));
    settle(&[&one, &two]);
    settle(&[&one, &two]);
    let now = files(&one);
    assert_eq!(files(&two), now);
    assert_eq!(now.keys().collect::<Vec<_>>(), ["Work/b.md", "Work/c.md", "a.md"]);
    assert!(["oak", "6000", "Mara looks"].iter().all(|word| now["a.md"].contains(word)), "{now:?}");
    assert!(now["Work/b.md"].contains("oak"));
    one.assert_healthy();
    two.assert_healthy();
}

#[test]
fn whoever_a_file_is_shared_with_has_a_memory_with_a_path_and_no_file() {
    let Some(server) = TeamServer::start() else { return };
    let (ada, bob) = (server.user("ada"), server.user("bob"));
    let (one, bobs) = (server.machine(&ada), server.machine(&bob));
    write(&one, "staging.md", NOTE);
    exchange(&one);
    one.json(&["share", "1", "--with", "bob", "--permission", "write"]);
    write(&bobs, "staging.md", "- [mine] of Bob\n");
    settle(&[&bobs, &one]);
    assert_eq!(files(&bobs), BTreeMap::from([("staging.md".to_owned(), "- [mine] of Bob\n".to_owned())]));
    let found = recalled(&bobs, "which port does staging use?");
    assert!(found.contains("5433") && found.contains("/memories/staging.md") && found.contains("from ada"), "{found}");
    let listed = bobs.json(&["list", "--limit", "9"]);
    let shared = listed["memories"].as_array().unwrap().iter().find(|memory| memory["shared_by"] == "ada").unwrap();
    // What he changes of it reaches her file, and is not believed as hers.
    let short_id = shared["id"].to_string();
    bobs.json(&["update", &short_id, "--content", &NOTE.replace("birch", "a host of Bob's")]);
    write(&one, "staging.md", &NOTE.replace("5433", "6000"));
    settle(&[&bobs, &one, &bobs]);
    assert_eq!(read(&one, "staging.md"), NOTE.replace("5433", "6000").replace("birch", "a host of Bob's"));
    let listed = one.json(&["list", "--limit", "9"]);
    let theirs =
        listed["memories"].as_array().unwrap().iter().find(|part| part["content"].to_string().contains("Bob's"));
    assert_eq!(theirs.unwrap()["trust"], "foreign", "{listed}");
}
