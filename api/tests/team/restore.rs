//! A server whose database goes back: to a backup, to a standby that lagged, to a point in time. Whether somebody says so or
//! not, no machine loses what was acknowledged, and the server gets it back.

use crate::cluster::Cluster;
use crate::server::{TeamServer, exchange, program};
use crate::support::World;

/// How a restore is announced: `tessera-server restored`, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    Never,
    Early,
    Late,
    Twice,
}

fn texts(world: &World) -> Vec<String> {
    let mut texts = world.contents();
    texts.sort();
    texts
}

/// Everybody, until nothing is left to tell.
fn settle(machines: &[&World]) {
    for _ in 0..3 {
        for machine in machines {
            exchange(machine);
        }
    }
}

fn id_of(world: &World, text: &str) -> String {
    let found = world.json(&["list", "--limit", "200"]);
    let memories = found["memories"].as_array().unwrap();
    let memory = memories.iter().find(|memory| memory["content"] == text).unwrap_or_else(|| panic!("{text}: {found}"));
    memory["uuid"].as_str().unwrap().to_owned()
}

fn a_restore_costs_nothing(said: Said) {
    let Some(mut server) = TeamServer::start() else { return };
    let key = server.user("ada");
    let (laptop, desktop, away) = (server.machine(&key), server.machine(&key), server.machine(&key));
    for text in ["old and kept", "old and edited later", "old and forgotten later", "old and purged later"] {
        laptop.remember(text);
    }
    settle(&[&laptop, &desktop, &away]);
    server.down();
    server.cluster.back_up();
    server.up();
    // What follows is acknowledged, and not in the backup.
    laptop.remember("new from the laptop");
    laptop.json(&["update", &id_of(&laptop, "old and edited later"), "--content", "edited after the backup"]);
    laptop.json(&["forget", &id_of(&laptop, "old and forgotten later")]);
    laptop.json(&["forget", "--hard", &id_of(&laptop, "old and purged later")]);
    laptop.remember("new and forgotten");
    settle(&[&laptop, &desktop]);
    desktop.remember("new from the desktop");
    exchange(&desktop);
    laptop.json(&["forget", &id_of(&laptop, "new and forgotten")]);
    exchange(&laptop);
    server.down();
    server.cluster.restore();
    server.up();
    if matches!(said, Said::Early | Said::Twice) {
        server.host(&["restored"]);
    }
    // One machine writes before the others come back, so that their cursors are not ahead of the counter.
    for number in 0..8 {
        away.remember(&format!("written after the restore {number}"));
    }
    exchange(&away);
    if said == Said::Late {
        server.host(&["restored"]);
    }
    exchange(&desktop);
    if said == Said::Twice {
        server.host(&["restored"]);
    }
    settle(&[&laptop, &desktop, &away]);
    let mut expected: Vec<String> = (0..8).map(|number| format!("written after the restore {number}")).collect();
    expected.extend(
        ["old and kept", "edited after the backup", "new from the laptop", "new from the desktop"].map(str::to_owned),
    );
    expected.sort();
    let fresh = server.machine(&key);
    settle(&[&fresh]);
    for (name, machine) in [("laptop", &laptop), ("desktop", &desktop), ("away", &away), ("fresh", &fresh)] {
        assert_eq!(texts(machine), expected, "{said:?}: {name}");
        let status = machine.json(&["sync", "status"]);
        assert_eq!((&status["waiting"], &status["refused"]), (&0.into(), &0.into()), "{said:?}: {name} {status}");
        machine.assert_healthy();
    }
}

#[test]
fn a_restore_that_nobody_speaks_of_costs_nothing() {
    a_restore_costs_nothing(Said::Never);
}

#[test]
fn a_restore_that_is_told_of_early_costs_nothing() {
    a_restore_costs_nothing(Said::Early);
}

#[test]
fn a_restore_that_is_told_of_late_costs_nothing() {
    a_restore_costs_nothing(Said::Late);
}

#[test]
fn a_restore_that_is_told_of_twice_costs_nothing() {
    a_restore_costs_nothing(Said::Twice);
}

/// The lines of a shell that docs/SCALING.md gives for backups: what makes one, and what brings it back.
fn documented() -> (String, String) {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/SCALING.md");
    let text = std::fs::read_to_string(file).unwrap();
    let part = text.split("## Backups").nth(1).unwrap();
    let mut blocks = part.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap().to_owned());
    (blocks.next().unwrap(), blocks.next().unwrap())
}

/// By PostgreSQL's own programs, into another cluster, as it is written down.
#[test]
fn a_backup_that_is_made_and_brought_back_as_documented_costs_nothing() {
    let Some(mut server) = TeamServer::start() else { return };
    let Some(other) = Cluster::start() else { return };
    let (key, bobs) = (server.user("ada"), server.user("bob"));
    let (laptop, desktop, bob) = (server.machine(&key), server.machine(&key), server.machine(&bobs));
    for text in ["old and kept", "old and edited later", "old and purged later"] {
        laptop.remember(text);
    }
    exchange(&laptop);
    let shared = id_of(&laptop, "old and kept");
    assert_eq!(laptop.run(&["share", "--with", "bob", &shared]).code, Some(0));
    settle(&[&laptop, &desktop, &bob]);
    assert_eq!(texts(&bob), ["old and kept"]);
    let (back_up, bring_back) = documented();
    server.cluster.shell(&back_up, &[("ADMIN", &server.cluster.url("admin"))]);
    // What follows is acknowledged, and not in the backup.
    laptop.remember("new from the laptop");
    laptop.json(&["update", &id_of(&laptop, "old and edited later"), "--content", "edited after the backup"]);
    laptop.json(&["forget", "--hard", &id_of(&laptop, "old and purged later")]);
    bob.remember("new from bob");
    settle(&[&laptop, &desktop, &bob]);
    server.down();
    let programs = program().parent().unwrap().to_str().unwrap();
    let bring_back = format!("PATH=\"$PATH:{programs}\"\n{bring_back}");
    let (admin, url) = (other.url("admin"), other.url("server"));
    let said = server.cluster.shell(&bring_back, &[("ADMIN", &admin), ("DATABASE_URL", &url)]);
    assert!(!said.contains("error"), "{said}");
    let first = std::mem::replace(&mut server.cluster, other);
    drop(first);
    server.up();
    settle(&[&laptop, &desktop, &bob]);
    let fresh = server.machine(&key);
    settle(&[&fresh]);
    for machine in [&laptop, &desktop, &fresh] {
        assert_eq!(texts(machine), ["edited after the backup", "new from the laptop", "old and kept"]);
        machine.assert_healthy();
    }
    assert_eq!(texts(&bob), ["new from bob", "old and kept"], "what was shared before the backup is shared");
    bob.assert_healthy();
}

/// With the cursor ahead of the head: the least that can be noticed.
#[test]
fn what_the_backup_lacks_is_told_again_by_a_clean_machine() {
    let Some(mut server) = TeamServer::start() else { return };
    let key = server.user("ada");
    let (one, other) = (server.machine(&key), server.machine(&key));
    one.remember("in the backup");
    settle(&[&one, &other]);
    server.down();
    server.cluster.back_up();
    server.up();
    one.remember("acknowledged on both machines after the backup");
    settle(&[&one, &other]);
    server.down();
    server.cluster.restore();
    server.up();
    settle(&[&one, &other]);
    for machine in [&one, &other] {
        assert_eq!(texts(machine), ["acknowledged on both machines after the backup", "in the backup"]);
        machine.assert_healthy();
    }
}

/// The same text on two machines before they knew of each other is one memory.
#[test]
fn joining_with_equal_texts_doubles_nothing() {
    let Some(server) = TeamServer::start() else { return };
    let key = server.user("ada");
    let (one, other) = (World::new(), World::new());
    for machine in [&one, &other] {
        machine.remember("The exporter listens on port 9417");
    }
    one.remember("only on the first");
    other.remember("only on the second");
    for machine in [&one, &other] {
        server.join(machine, &key, &["--upload", "all"]);
    }
    settle(&[&one, &other]);
    for machine in [&one, &other] {
        assert_eq!(texts(machine), ["The exporter listens on port 9417", "only on the first", "only on the second"]);
        machine.assert_healthy();
    }
}

/// What cannot be sent keeps nothing from coming: a key for reading, on a machine that wrote.
#[test]
fn a_key_for_reading_alone_still_brings_news() {
    let Some(server) = TeamServer::start() else { return };
    let (key, reading) = (server.user("ada"), server.host(&["key", "new", "ada", "--scopes", "read"]));
    let (writer, reader) = (server.machine(&key), server.machine(reading.stdout.trim()));
    reader.remember("written where it may not be sent");
    writer.remember("news from the writer");
    exchange(&writer);
    let ran = reader.run(&["sync", "now"]);
    assert!(ran.code == Some(1) && ran.stderr.contains("some local changes are not uploaded yet"), "{ran:?}");
    assert_eq!(texts(&reader), ["news from the writer", "written where it may not be sent"]);
}

#[test]
fn a_server_that_takes_nothing_still_brings_news() {
    let Some(server) = TeamServer::start() else { return };
    let key = server.user("ada");
    let (writer, reader) = (server.machine(&key), server.machine(&key));
    writer.remember("news from the writer");
    exchange(&writer);
    server.cluster.sql_on("tessera", "REVOKE INSERT ON memories FROM tessera_app");
    reader.remember("written while nothing is taken");
    let ran = reader.run(&["sync", "now"]);
    assert!(ran.code != Some(0) && ran.stderr.contains("some local changes are not uploaded yet"), "{ran:?}");
    assert_eq!(texts(&reader), ["news from the writer", "written while nothing is taken"]);
    server.cluster.sql_on("tessera", "GRANT INSERT ON memories TO tessera_app");
    exchange(&reader);
    exchange(&writer);
    assert_eq!(texts(&writer), ["news from the writer", "written while nothing is taken"]);
}
