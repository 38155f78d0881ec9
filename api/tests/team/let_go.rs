//! Files that are out of recall on one machine and deleted nowhere: those of a folder that is let go of, those that are no
//! texts for a while, and those of a directory that a link stands for. What was changed in them goes on, or is kept.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::files::{NOTE, files, files_of, place, read, recalled, said, settle, tool, write};
use crate::server::{TeamServer, exchange};
use crate::support::World;

fn add(world: &World, dir: &Path) {
    world.json(&["files", "add", dir.to_str().unwrap(), "--writable", "--sync"]);
}

/// Two machines that have a folder of some files together.
fn with_wiki(server: &TeamServer, names: &[&str]) -> [(World, PathBuf); 2] {
    let key = server.user("ada");
    let machines = [server.machine(&key), server.machine(&key)].map(|machine| {
        let dir = machine.path("wiki");
        fs::create_dir_all(&dir).unwrap();
        (machine, dir)
    });
    for name in names {
        fs::write(machines[0].1.join(name), NOTE.replace("Staging", name)).unwrap();
    }
    for (machine, dir) in &machines {
        add(machine, dir);
        exchange(machine);
    }
    settle(&[&machines[0].0, &machines[1].0]);
    assert_eq!(files_of(&machines[1].1), files_of(&machines[0].1));
    machines
}

#[cfg(unix)]
#[test]
fn a_file_that_is_no_text_any_more_is_deleted_nowhere() {
    let Some(server) = TeamServer::start() else { return };
    let key = server.user("ada");
    let (one, two) = (server.machine(&key), server.machine(&key));
    for name in ["long.md", "bytes.md", "link.md"] {
        write(&one, name, &NOTE.replace("Staging", name));
    }
    settle(&[&one, &two]);
    let before = files(&two);
    assert_eq!(before.len(), 3);
    // Too large to be read, no text, a link: each of them at the place where a text was.
    write(&one, "long.md", &"a line that is said again and again\n".repeat(40_000));
    fs::write(place(&one, "bytes.md"), b"\x00\xff\xfe").unwrap();
    fs::remove_file(place(&one, "link.md")).unwrap();
    std::os::unix::fs::symlink(place(&one, "long.md"), place(&one, "link.md")).unwrap();
    settle(&[&one, &two]);
    assert_eq!(files(&two), before, "nobody deleted them");
    assert!(!recalled(&one, "which port does staging use?").contains("5433"), "here they say nothing");
    // One that is a text again is told again, and comes together with what was said of it meanwhile.
    write(&one, "bytes.md", &NOTE.replace("Staging", "bytes.md").replace("birch", "oak"));
    settle(&[&one, &two]);
    settle(&[&one, &two]);
    let text = |world: &World| read(world, "bytes.md");
    assert!(text(&one).contains("oak") && text(&one) == text(&two), "{:?}", (files(&one).keys(), files(&two)));
    one.assert_healthy();
    two.assert_healthy();
}

#[test]
fn a_folder_that_is_let_go_of_here_is_deleted_nowhere() {
    let Some(server) = TeamServer::start() else { return };
    let key = server.user("ada");
    let (one, two) = (server.machine(&key), server.machine(&key));
    let (here, there) = (one.path("wiki"), two.path("wiki"));
    for dir in [&here, &there] {
        fs::create_dir_all(dir).unwrap();
    }
    for name in ["page.md", "same.md", "old.md", "new.md"] {
        fs::write(here.join(name), NOTE.replace("Staging", name)).unwrap();
    }
    add(&one, &here);
    settle(&[&one, &two]);
    add(&two, &there);
    settle(&[&one, &two]);
    assert_eq!(files_of(&there), files_of(&here));
    one.json(&["files", "remove", "wiki"]);
    settle(&[&one, &two]);
    assert_eq!(files_of(&there).len(), 4, "nobody deleted them");
    assert_eq!(files_of(&here).len(), 4);
    assert!(recalled(&two, "which port does staging use?").contains("/wiki/"));
    assert!(!recalled(&one, "which port does staging use?").contains("/wiki/"));
    let three = server.machine(&key);
    fs::create_dir(three.path("wiki")).unwrap();
    settle(&[&three]);
    add(&three, &three.path("wiki"));
    assert_eq!(files_of(&three.path("wiki")), files_of(&there), "the server has them");
    // What is edited there, and here while nobody looks, comes together when the folder is known again.
    fs::write(there.join("page.md"), NOTE.replace("Staging", "page.md").replace("5433", "6000")).unwrap();
    fs::write(here.join("new.md"), NOTE.replace("Staging", "new.md").replace("birch", "oak")).unwrap();
    fs::remove_file(there.join("old.md")).unwrap();
    settle(&[&two, &one, &three]);
    assert_eq!(files_of(&here).len(), 4);
    add(&one, &here);
    settle(&[&one, &two, &three]);
    settle(&[&one, &two, &three]);
    let now = files_of(&here);
    assert_eq!((files_of(&there), files_of(&three.path("wiki"))), (now.clone(), now.clone()));
    assert!(said(&now, "page.md").contains("6000") && said(&now, "new.md").contains("oak"), "{now:?}");
    assert!(said(&now, "same.md").contains("5433") && !now.keys().any(|name| name.contains("conflict")), "{now:?}");
    for machine in [&one, &two, &three] {
        machine.assert_healthy();
    }
}

#[test]
fn an_edit_that_was_not_told_before_its_folder_was_let_go_of_goes_on_or_is_kept() {
    let Some(server) = TeamServer::start() else { return };
    let [(one, here), (two, there)] = with_wiki(&server, &["page.md", "both.md"]);
    let text = |name: &str| NOTE.replace("Staging", name);
    fs::write(here.join("page.md"), text("page.md").replace("birch", "oak")).unwrap();
    fs::write(here.join("both.md"), text("both.md").replace("5433", "6000")).unwrap();
    one.json(&["files", "scan"]);
    one.json(&["files", "remove", "wiki"]);
    fs::write(there.join("page.md"), text("page.md").replace("Ada", "Bob")).unwrap();
    fs::write(there.join("both.md"), text("both.md").replace("5433", "7000")).unwrap();
    settle(&[&two, &one]);
    assert!(!files_of(&there).values().any(|said| said.contains("oak")), "nobody is told while it is let go of");
    add(&one, &here);
    let page = text("page.md").replace("birch", "oak").replace("Ada", "Bob");
    assert_eq!(said(&files_of(&here), "page.md"), page, "at once");
    settle(&[&one, &two]);
    settle(&[&one, &two]);
    let now = files_of(&here);
    assert_eq!((files_of(&there), said(&now, "page.md")), (now.clone(), &*page));
    for port in ["6000", "7000"] {
        assert_eq!(now.values().filter(|said| said.contains(port)).count(), 1, "{port}: {now:?}");
    }
    assert_eq!((now.len(), said(&now, "both.md")), (3, &*text("both.md").replace("5433", "6000")), "{now:?}");
    for machine in [&one, &two] {
        assert_eq!(machine.json(&["resolve"]).as_array().unwrap().len(), 1);
        machine.assert_healthy();
    }
    // Now that the server has had it, it is an older text.
    one.json(&["files", "remove", "wiki"]);
    fs::write(there.join("page.md"), page.replace("oak", "elm")).unwrap();
    settle(&[&two, &one]);
    add(&one, &here);
    settle(&[&one, &two]);
    let now = files_of(&here);
    assert_eq!((now.len(), said(&now, "page.md")), (3, &*page.replace("oak", "elm")), "{now:?}");
}

#[test]
fn an_edit_that_was_not_told_before_its_file_was_no_text_goes_together_with_what_came() {
    let Some(server) = TeamServer::start() else { return };
    let key = server.user("ada");
    let (one, two) = (server.machine(&key), server.machine(&key));
    write(&one, "staging.md", NOTE);
    settle(&[&one, &two]);
    let edit =
        json!({ "command": "str_replace", "path": "/memories/staging.md", "old_str": "birch", "new_str": "oak" });
    tool(&one, &edit);
    fs::write(place(&one, "staging.md"), b"a\0").unwrap();
    one.json(&["files", "scan"]);
    write(&two, "staging.md", &NOTE.replace("Ada", "Bob"));
    settle(&[&two, &one]);
    write(&one, "staging.md", &NOTE.replace("birch", "oak"));
    settle(&[&one, &two]);
    settle(&[&one, &two]);
    let both = NOTE.replace("birch", "oak").replace("Ada", "Bob");
    assert_eq!((read(&one, "staging.md"), read(&two, "staging.md")), (both.clone(), both));
    assert_eq!((files(&one).len(), one.json(&["resolve"])), (1, json!([])));
}

#[cfg(unix)]
#[test]
fn a_directory_that_a_link_stands_for_is_deleted_nowhere() {
    let Some(server) = TeamServer::start() else { return };
    let key = server.user("ada");
    let (one, two) = (server.machine(&key), server.machine(&key));
    for name in ["work/deep/a.md", "work/b.md", "play/c.md", "gone/d.md"] {
        write(&one, name, &NOTE.replace("Staging", name));
    }
    settle(&[&one, &two]);
    let before = files(&two);
    assert_eq!(before.len(), 4);
    let elsewhere = one.path("elsewhere");
    fs::rename(place(&one, "work"), &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, place(&one, "work")).unwrap();
    // Within the folder that is a new name, whatever is left in its place; and what is deleted is deleted.
    fs::rename(place(&one, "play"), place(&one, "games")).unwrap();
    std::os::unix::fs::symlink(place(&one, "games"), place(&one, "play")).unwrap();
    fs::remove_dir_all(place(&one, "gone")).unwrap();
    settle(&[&one, &two]);
    let now = files(&two);
    assert_eq!(now.keys().collect::<Vec<_>>(), ["games/c.md", "work/b.md", "work/deep/a.md"], "nobody deleted them");
    assert!(!recalled(&one, "who looks after staging?").contains("/memories/work"), "here they say nothing");
    fs::remove_file(place(&one, "work")).unwrap();
    fs::rename(&elsewhere, place(&one, "work")).unwrap();
    fs::remove_file(place(&one, "play")).unwrap();
    write(&one, "work/b.md", &NOTE.replace("birch", "oak"));
    settle(&[&one, &two]);
    settle(&[&one, &two]);
    assert_eq!(files(&one), files(&two));
    assert!(read(&two, "work/b.md").contains("oak") && files(&two).len() == 3);
    one.assert_healthy();
    two.assert_healthy();
}

#[test]
fn a_folder_that_is_told_of_again_gets_back_what_was_deleted_while_nobody_was_told() {
    let Some(server) = TeamServer::start() else { return };
    let [(one, here), (two, there)] = with_wiki(&server, &["a.md", "b.md", "c.md"]);
    one.json(&["files", "remove", "wiki"]);
    fs::remove_file(here.join("a.md")).unwrap();
    fs::remove_file(here.join("b.md")).unwrap();
    fs::remove_file(here.join("c.md")).unwrap();
    fs::remove_file(there.join("b.md")).unwrap();
    fs::write(there.join("c.md"), "- [host] it runs on oak\n").unwrap();
    settle(&[&two, &one]);
    add(&one, &here);
    let now = files_of(&here);
    assert_eq!(now.keys().collect::<Vec<_>>(), ["a.md", "c.md"]);
    settle(&[&one, &two]);
    assert_eq!((files_of(&here), files_of(&there)), (now.clone(), now.clone()));
    assert!(
        said(&now, "c.md").contains("oak") && recalled(&one, "which port does staging use?").contains("/wiki/a.md")
    );
    assert_eq!(one.json(&["sync", "status"])["waiting"], 0);
    one.assert_healthy();
}
