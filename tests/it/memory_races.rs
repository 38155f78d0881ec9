//! Many writers of the memory tool at once, and death at every call of each of its commands: no file is lost or half
//! written, and what is recalled is what the files say.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread;

use serde_json::{Value, json};

use crate::support::{Client, World, has};

const PROCESSES: usize = 16;
const WRITES: usize = 24;

/// Files under the folder of the memory tool, by their paths in it.
fn files(world: &World) -> BTreeMap<String, String> {
    fn walk(dir: &Path, inside: &str, found: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(dir).into_iter().flatten() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            let path = if inside.is_empty() { name.clone() } else { format!("{inside}/{name}") };
            if entry.file_type().unwrap().is_dir() {
                walk(&entry.path(), &path, found);
            } else if !name.starts_with('.') {
                found.insert(path, fs::read_to_string(entry.path()).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(&world.home().join("memories"), "", &mut found);
    found
}

/// What memories of files say, each with the path of its file.
fn rows(world: &World) -> BTreeSet<(String, String)> {
    let (mut rows, mut after) = (BTreeSet::new(), None::<String>);
    loop {
        let mut args = vec!["list", "--limit", "200"];
        args.extend(after.iter().flat_map(|after| ["--after", after.as_str()]));
        let listed = world.json(&args);
        let page = listed["memories"].as_array().unwrap();
        let Some(last) = page.last() else { return rows };
        after = Some(last["id"].to_string());
        let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
        for row in page.iter().filter(|row| !row["file"].is_null()) {
            let path = row["file"]["path"].as_str().or_else(|| row["file"].as_str()).unwrap().to_owned();
            rows.insert((path, text(row, "content")));
        }
    }
}

/// The observations that files hold, as memories would say them.
fn observations(world: &World) -> BTreeSet<(String, String)> {
    let of = |(path, text): (String, String)| {
        let lines =
            text.lines().filter_map(|line| line.strip_prefix("- [fact] ").map(str::to_owned)).collect::<Vec<_>>();
        lines.into_iter().map(move |line| (format!("/memories/{path}"), line))
    };
    files(world).into_iter().flat_map(of).collect()
}

#[test]
fn sixteen_writers_lose_no_file_and_no_line() {
    let world = World::new();
    let mut first = Client::start(&world);
    for shared in 0..PROCESSES {
        first.ok(
            "memory",
            json!({ "command": "create", "path": format!("/memories/shared/{shared}.md"), "file_text": "" }),
        );
    }
    first.close();
    thread::scope(|scope| {
        for process in 0..PROCESSES {
            let world = &world;
            scope.spawn(move || {
                let mut client = Client::start(world);
                for write in 0..WRITES / 2 {
                    let line = format!("- [fact] writer {process} keeps {write} in a file of its own\n");
                    let path = format!("/memories/own/{process}/{write}.md");
                    client.ok("memory", json!({ "command": "create", "path": path, "file_text": line }));
                    let line = format!("- [fact] writer {process} adds {write} to what all write");
                    let path = format!("/memories/shared/{}.md", (process + write) % PROCESSES);
                    client.ok(
                        "memory",
                        json!({ "command": "insert", "path": path, "insert_line": 0, "insert_text": line }),
                    );
                }
                assert!(client.close().success());
            });
        }
    });
    let on_disk = files(&world);
    assert_eq!(on_disk.len(), PROCESSES * WRITES / 2 + PROCESSES);
    let lines: usize = on_disk.values().map(|text| text.lines().count()).sum();
    assert_eq!(lines, PROCESSES * WRITES);
    let said = observations(&world);
    assert_eq!(said.len(), PROCESSES * WRITES, "each once");
    assert_eq!(rows(&world), said);
    world.assert_healthy();
}

/// Every call by which something is written, named, removed or made sure of.
const CALLS: &str = "write,pwrite64,fdatasync,fsync,ftruncate,rename,renameat,renameat2,unlink,unlinkat,linkat,mkdirat";
/// More than any command makes.
const MOST_CALLS: usize = 400;

const OLD: &str = "# Old\n- [fact] the gate is on birch\n- [fact] the well is by the oak\n";

/// Kills a command at every call in turn. The files are then as before it or as after it, and recall agrees with them.
fn sweep(command: &Value, after: &[(&str, &str)]) -> usize {
    let after: BTreeMap<String, String> = after.iter().map(|(path, text)| ((*path).into(), (*text).into())).collect();
    let kept = [("kept.md".to_owned(), "- [fact] the mole stays\n".to_owned())];
    let before: BTreeMap<String, String> =
        kept.iter().cloned().chain([("old.md".to_owned(), OLD.to_owned())]).collect();
    let after: BTreeMap<String, String> = kept.into_iter().chain(after).collect();
    let prepared = World::new();
    for (path, text) in &before {
        let made = json!({ "command": "create", "path": format!("/memories/{path}"), "file_text": text });
        assert_eq!(prepared.run_with_stdin(&["memory-tool"], made.to_string().as_bytes()).code, Some(0));
    }
    for n in 1..MOST_CALLS {
        let world = World::new();
        copy(&prepared.home(), &world.home());
        let input = world.path("command.json");
        fs::write(&input, command.to_string()).unwrap();
        let mut traced = world.command(Path::new("strace"));
        let inject = format!("inject={CALLS}:signal=SIGKILL:when={n}");
        traced.args(["-f", "-o", "/dev/null", "-e", &format!("trace={CALLS}"), "-e", &inject]);
        traced.arg(World::binary()).arg("memory-tool").stdin(fs::File::open(&input).unwrap()).stdout(Stdio::null());
        let is_done = traced.output().unwrap().status.success();
        let found = files(&world);
        assert!(found == after || !is_done && found == before, "call {n}: {found:?}");
        // The next command takes up what the dead one left.
        assert_eq!(rows(&world), observations(&world), "call {n}");
        assert_eq!(files(&world), found, "call {n}");
        if n % 8 == 0 || is_done {
            world.assert_healthy();
            let again =
                json!({ "command": "create", "path": "/memories/again.md", "file_text": "- [fact] on it goes" });
            assert_eq!(world.run_with_stdin(&["memory-tool"], again.to_string().as_bytes()).code, Some(0), "call {n}");
        }
        if is_done {
            return n;
        }
    }
    panic!("never ran clean");
}

/// A home as it is, with all that is in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let place = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &place);
        } else {
            fs::copy(entry.path(), place).unwrap();
        }
    }
}

#[test]
fn a_file_is_old_or_new_whenever_its_writer_dies() {
    if !has("strace") {
        return;
    }
    let new = "- [fact] the mill is new\n";
    let replaced = OLD.replace("birch", "elm");
    let inserted = OLD.replace("# Old\n", "# Old\n- [fact] the mill is new\n");
    let commands = [
        (
            json!({ "command": "create", "path": "/memories/new.md", "file_text": new }),
            vec![("new.md", new), ("old.md", OLD)],
        ),
        (
            json!({ "command": "str_replace", "path": "/memories/old.md", "old_str": "birch", "new_str": "elm" }),
            vec![("old.md", replaced.as_str())],
        ),
        (
            json!({ "command": "insert", "path": "/memories/old.md", "insert_line": 1, "insert_text": new }),
            vec![("old.md", inserted.as_str())],
        ),
        (
            json!({ "command": "rename", "old_path": "/memories/old.md", "new_path": "/memories/d/moved.md" }),
            vec![("d/moved.md", OLD)],
        ),
        (json!({ "command": "delete", "path": "/memories/old.md" }), vec![]),
    ];
    thread::scope(|scope| {
        for (command, after) in &commands {
            scope.spawn(move || {
                let points = sweep(command, after);
                assert!(points > 5, "{command}: {points}");
            });
        }
    });
}
