//! A team server from the environment alone: what is said before the store belongs to it, and what it takes to join.

use std::fs;
use std::io::Read;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use unicode_width::UnicodeWidthStr;

use crate::front::Front;
use crate::proxy::{Proxy, Weather};
use crate::server::{TeamServer, exchange};
use crate::support::hooks::{hook, settled, stop, transcript};
use crate::support::terminal::{COLUMNS, on_terminal, plain, start_on_terminal};
use crate::support::{Client, Ran, Running, World};

fn with(world: &World, variables: &[(&str, &str)], args: &[&str]) -> Ran {
    world.command(World::binary()).envs(variables.iter().copied()).args(args).output().unwrap().into()
}

/// What a user's memories say on the server.
fn there(server: &TeamServer, key: &str) -> Vec<String> {
    texts(&server.machine(key))
}

fn texts(world: &World) -> Vec<String> {
    let mut texts = world.contents();
    texts.sort();
    texts
}

/// A variable leads the key of the file to no other server.
fn leads_the_key_nowhere(world: &World, url: &str) {
    for arguments in [&["sync", "now"][..], &["shares"], &["sync", "status"], &["sync", "join"], &["doctor"]] {
        let other = Front::start(url);
        let ran = with(world, &[("MEMORY_API_URL", other.url.as_str())], arguments);
        assert!(
            ran.stderr.contains("the key in config.toml belongs to") || arguments == ["doctor"],
            "{arguments:?}: {ran:?}"
        );
        assert!(other.seen().is_empty(), "{arguments:?}: {:?}", other.seen());
    }
}

#[test]
fn variables_alone_join_an_empty_store_and_of_what_was_here_nothing_new_is_told() {
    let Some(server) = TeamServer::start() else { return };
    let (ada, url) = (server.user("ada"), server.url());
    let laptop = server.machine(&ada);
    laptop.remember("Deploys happen on Tuesdays");
    exchange(&laptop);
    // The names of both systems; what a client could not fill in is not set.
    for names in [
        [("TESSERA_SERVER", url.as_str()), ("TESSERA_API_KEY", &ada), ("MEMORY_API_KEY", "")],
        [("MEMORY_API_URL", &url), ("MEMORY_API_KEY", &ada), ("TESSERA_SERVER", "${TESSERA_SERVER}")],
        [("CLAUDE_MEMORY_API_URL", &url), ("CLAUDE_MEMORY_API_KEY", &ada), ("MEMORY_API_URL", " ")],
    ] {
        let empty = World::new();
        let status = with(&empty, &names, &["sync", "status"]);
        assert!(status.stdout.contains("not joined yet: the server accepts the key of ada"), "{status:?}");
        let now = with(&empty, &names, &["sync", "now"]);
        assert_eq!((now.code, now.stdout.as_str()), (Some(0), "0 changes sent, 1 received\n"), "{now:?}");
        assert_eq!(empty.contents(), ["Deploys happen on Tuesdays"]);
        assert!(with(&empty, &names, &["sync", "status"]).stdout.contains("ada"));
    }
    let variables = [("MEMORY_API_URL", url.as_str()), ("MEMORY_API_KEY", ada.as_str())];
    let full = World::new();
    full.remember("Kept on this machine");
    full.remember("Deploys happen on Tuesdays");
    let status = with(&full, &variables, &["sync", "status"]);
    assert!(status.stdout.contains("already has 2 memories") && !status.stdout.contains(&ada), "{status:?}");
    // A directory can set variables: a store that has memories joins nobody by them.
    let now = with(&full, &variables, &["sync", "now"]);
    assert!(now.code == Some(1) && now.stderr.contains(&format!("run `tessera sync join {url}`")), "{now:?}");
    let doctor = with(&full, &variables, &["doctor"]);
    assert!(doctor.code == Some(1) && doctor.stdout.contains("team server"), "{doctor:?}");
    assert!(
        doctor.stdout.contains(&format!("is not used: the server address {url} comes from an environment variable")),
        "{doctor:?}"
    );
    let mut client = Client::start_with(&full, &variables);
    client.ok("memory_store", json!({ "content": "Told to nobody" }));
    // The server is asked in the background.
    let asked = Instant::now();
    let mut count = String::new();
    while !count.contains("run `tessera sync join") {
        assert!(asked.elapsed() < Duration::from_secs(30), "{count}");
        thread::sleep(Duration::from_millis(50));
        count = client.ok("memory_count", json!({}));
    }
    assert!(client.close().success());
    assert!(with(&full, &[], &["sync", "status"]).stdout.contains("The memories stay on this machine"));
    assert_eq!(there(&server, &ada), ["Deploys happen on Tuesdays"]);
    full.run(&["forget", "3", "--hard", "--yes"]);
    // The file in the store's directory is the user's own.
    fs::write(full.home().join("config.toml"), format!("[sync]\nserver = \"{url}\"\nkey = \"{ada}\"\n")).unwrap();
    let variables = [];
    let now = with(&full, &variables, &["sync", "now"]);
    assert_eq!((now.code, now.stdout.as_str()), (Some(0), "0 changes sent, 1 received\n"), "{now:?}");
    leads_the_key_nowhere(&full, &url);
    full.remember("Release notes are written by Ines");
    assert!(with(&full, &variables, &["sync", "now"]).stdout.starts_with("1 changes sent"));
    let status = with(&full, &variables, &["sync", "status"]);
    assert!(status.stdout.contains("sync join --upload all sends them"), "{status:?}");
    let mut client = Client::start_with(&full, &variables);
    let count = client.ok("memory_count", json!({}));
    assert!(count.contains("1 local only, stored before joining"), "{count}");
    assert!(client.close().success());
    // A session is told, once.
    let event =
        json!({ "hook_event_name": "SessionStart", "session_id": "s", "source": "startup", "cwd": full.path("user") });
    let begun = || full.run_with_stdin(&["hook"], event.to_string().as_bytes()).stdout;
    assert!(begun().contains("1 memories from before you joined the team server are only on this machine"));
    assert!(!begun().contains("from before"));
    let (deploys, notes) = ("Deploys happen on Tuesdays", "Release notes are written by Ines");
    assert_eq!(there(&server, &ada), [deploys, notes]);
    // Once the person says so it goes, and nothing is there twice.
    let sent = with(&full, &variables, &["sync", "join", "--upload", "all"]);
    assert!(sent.code == Some(0) && sent.stdout.contains("1 changes sent"), "{sent:?}");
    assert_eq!(there(&server, &ada), [deploys, "Kept on this machine", notes]);
    assert_eq!(texts(&full), [deploys, "Kept on this machine", notes]);
}

#[test]
fn who_leaves_has_left_whatever_the_variables_say() {
    let Some(server) = TeamServer::start() else { return };
    let (ada, url) = (server.user("ada"), server.url());
    let variables = [("MEMORY_API_URL", url.as_str()), ("MEMORY_API_KEY", ada.as_str())];
    let world = World::new();
    assert_eq!(with(&world, &variables, &["sync", "now"]).code, Some(0));
    world.remember("Told while it belonged to the server");
    assert_eq!(with(&world, &variables, &["sync", "now"]).code, Some(0));
    assert_eq!(with(&world, &variables, &["sync", "leave"]).code, Some(0));
    world.remember("Told to nobody");
    let now = with(&world, &variables, &["sync", "now"]);
    assert!(now.code == Some(1) && now.stderr.contains("sync.mode is off"), "{now:?}");
    let mut client = Client::start_with(&world, &variables);
    assert!(client.ok("memory_count", json!({})).contains("sync: local only"));
    assert!(client.close().success());
    assert_eq!(there(&server, &ada), ["Told while it belonged to the server"]);
    // And whoever joins again has nothing twice, here or there.
    let joined = with(&world, &variables, &["sync", "join", "--upload", "all"]);
    assert!(joined.code == Some(0) && joined.stdout.contains("1 changes sent"), "{joined:?}");
    let both = ["Told to nobody", "Told while it belonged to the server"];
    assert_eq!(
        (texts(&world), there(&server, &ada)),
        (both.map(str::to_owned).to_vec(), both.map(str::to_owned).to_vec())
    );
    assert!(with(&world, &variables, &["sync", "status"]).stdout.contains("ada"));
}

#[test]
fn two_machines_with_the_same_texts_make_one_row_each_with_the_tags_of_both() {
    let Some(server) = TeamServer::start() else { return };
    let ada = server.user("ada");
    let machines = [("laptop", World::new()), ("desktop", World::new())];
    for (name, machine) in &machines {
        machine.json(&["remember", "Deploys happen on Tuesdays", "--tag", name, "--importance", "0.7"]);
        machine.remember("Release notes are written by Ines");
        machine.remember(&format!("This is the {name}"));
        server.join(machine, &ada, &["--upload", "all"]);
    }
    let [(_, laptop), (_, desktop)] = &machines;
    let all = [
        "Deploys happen on Tuesdays",
        "Release notes are written by Ines",
        "This is the desktop",
        "This is the laptop",
    ];
    for machine in [laptop, desktop] {
        exchange(machine);
    }
    for machine in [laptop, desktop, &server.machine(&ada)] {
        assert_eq!(texts(machine), all);
        let listed = machine.json(&["list", "--tag", "laptop"]);
        assert_eq!(listed["memories"][0]["tags"], json!(["desktop", "laptop"]), "{listed}");
    }
    // One that left and was worked on meanwhile doubles nothing either.
    desktop.run(&["sync", "leave"]);
    desktop.remember("Made while it was on its own");
    server.join(desktop, &ada, &["--upload", "all"]);
    exchange(laptop);
    assert_eq!(texts(laptop).len(), 5);
    assert_eq!((texts(laptop), there(&server, &ada)), (texts(desktop), texts(desktop)));
}

#[test]
fn another_users_key_is_told_nothing_of_a_store() {
    let Some(server) = TeamServer::start() else { return };
    let (ada, bob, url) = (server.user("ada"), server.user("bob"), server.url());
    let world = server.machine(&ada);
    world.remember("For nobody but ada");
    exchange(&world);
    let variables = [("TESSERA_SERVER", url.as_str()), ("TESSERA_API_KEY", bob.as_str())];
    world.remember("Nor this");
    let now = with(&world, &variables, &["sync", "now"]);
    assert!(now.code == Some(1) && now.stderr.contains("is already joined to"), "{now:?}");
    assert_eq!(there(&server, &bob), [""; 0]);
    exchange(&world);
    assert_eq!(there(&server, &ada), ["For nobody but ada", "Nor this"]);
}

#[test]
fn what_is_stored_is_on_the_server_at_once_and_news_come_within_the_interval() {
    let Some(server) = TeamServer::start() else { return };
    let (ada, url) = (server.user("ada"), server.url());
    let variables =
        |interval| [("MEMORY_API_URL", url.as_str()), ("MEMORY_API_KEY", &ada), ("MEMORY_SYNC_INTERVAL", interval)];
    let (desk, lap) = (World::new(), World::new());
    // The one exchanges by itself once a day, and after what is done on it.
    let mut here = Client::start_with(&desk, &variables("86400"));
    let mut there = Client::start_with(&lap, &variables("1"));
    let wait = |client: &mut Client, word: &str| {
        let started = Instant::now();
        while !client.ok("memory_list", json!({})).contains(word) {
            assert!(started.elapsed() < Duration::from_secs(30), "{word} did not come");
            thread::sleep(Duration::from_millis(20));
        }
    };
    here.ok("memory_store", json!({ "content": "Stored on the desk" }));
    wait(&mut there, "Stored on the desk");
    // Whoever works sees what is new a few seconds later, however long the interval is.
    there.ok("memory_store", json!({ "content": "Stored on the lap" }));
    wait(&mut here, "Stored on the lap");
    assert!(here.close().success() && there.close().success());
    for wrong in ["soon", "0", "1.5"] {
        let mut client = Client::start_with(&desk, &variables(wrong));
        let count = client.ok("memory_count", json!({}));
        assert!(count.contains("not used: the variable MEMORY_SYNC_INTERVAL"), "{count}");
        assert!(client.close().success());
    }
}

#[test]
fn an_address_that_would_show_the_key_to_a_network_leaves_the_store_alone_and_says_so() {
    let world = World::new();
    let variables = [("MEMORY_API_URL", "http://tessera.example.org"), ("MEMORY_API_KEY", "key-alice-xxx")];
    let mut client = Client::start_with(&world, &variables);
    client.ok("memory_store", json!({ "content": "Stored all the same" }));
    let count = client.ok("memory_count", json!({}));
    assert!(count.contains("needs https") && count.contains("local only"), "{count}");
    assert!(client.close().success());
    let status = with(&world, &variables, &["sync", "status"]);
    assert!(status.code == Some(0) && status.stderr.contains("needs https"), "{status:?}");
    // With a key of the older system alone its server is where it always was; with one of ours nobody is asked.
    let status = with(&world, &[("CLAUDE_MEMORY_API_KEY", "key-alice-xxx")], &["sync", "status"]);
    assert!(status.stdout.contains("http://localhost:8080"), "{status:?}");
    let status = with(&world, &[("TESSERA_API_KEY", "key-alice-xxx")], &["sync", "status"]);
    assert!(status.stdout.contains("The memories stay on this machine"), "{status:?}");
}

#[test]
fn a_key_that_is_refused_at_first_contact_is_said_to_be() {
    let Some(server) = TeamServer::start() else { return };
    let url = server.url();
    let world = World::new();
    let variables = [("TESSERA_SERVER", url.as_str()), ("TESSERA_API_KEY", "tsr_000000000000_x_00000000")];
    let mut client = Client::start_with(&world, &variables);
    let started = Instant::now();
    loop {
        let count = client.ok("memory_count", json!({}));
        if count.contains("rejects the key") {
            assert!(count.contains("sync: local only"), "{count}");
            break;
        }
        assert!(started.elapsed() < Duration::from_mins(1), "{count}");
        thread::sleep(Duration::from_millis(50));
    }
    assert!(client.close().success());
    let now = with(&world, &variables, &["sync", "now"]);
    assert!(now.code == Some(1) && now.stderr.contains("rejects the key"), "{now:?}");
}

#[test]
fn what_is_shared_is_named_by_its_short_id_and_fits_a_terminal() {
    let Some(server) = TeamServer::start() else { return };
    let (ada, bob) = (server.user("ada"), server.user("bob"));
    let (laptop, _bobs) = (server.machine(&ada), server.machine(&bob));
    let long =
        "The billing service runs PostgreSQL 16 with logical replication, and nobody changes that without a word";
    laptop.remember(long);
    laptop.json(&["share", "1", "--with", "bob"]);
    let mut client = Client::start(&laptop);
    let shares = client.ok("memory_my_shares", json!({}));
    assert!(shares.starts_with("#1 shared with bob (read) The billing"), "{shares}");
    assert!(client.close().success());
    let text = plain(&on_terminal(&laptop, &["shares"]));
    assert!(
        text.contains("bob")
            && text.contains("#1 The billing")
            && text.lines().all(|line| line.width() <= usize::from(COLUMNS)),
        "{text}"
    );
}

#[test]
fn whoever_waits_for_an_exchange_sees_how_far_it_is() {
    let Some(server) = TeamServer::start() else { return };
    let ada = server.user("ada");
    let proxy = Proxy::start(server.url().trim_start_matches("http://"));
    let world = World::new();
    let joined = world.run_with_stdin(&["sync", "join", &format!("http://{}", proxy.address)], ada.as_bytes());
    assert_eq!((joined.code, joined.stderr.as_str()), (Some(0), ""), "nothing but the outcome for a pipe: {joined:?}");
    assert!(joined.stdout.contains("0 changes sent, 0 received"), "{joined:?}");
    world.remember("Deploys happen on Tuesdays");
    world.remember("Release notes are written by Ines");
    // From here on the server takes what it is sent, and says nothing.
    proxy.set(Weather::Hole);
    let (child, mut terminal) = start_on_terminal(&world, &["sync", "now"]);
    let _running = Running(child);
    let (mut seen, mut bytes) = (String::new(), [0; 4096]);
    while !plain(&seen).contains("2 changes to send, 2 memories on this machine") {
        let count = terminal.read(&mut bytes).unwrap_or(0);
        assert!(count > 0, "it ended without a word of it: {seen}");
        seen += &String::from_utf8_lossy(&bytes[..count]);
    }
}

#[test]
fn what_a_session_taught_is_on_the_server_when_its_worker_ends() {
    let Some(server) = TeamServer::start() else { return };
    let (ada, url) = (server.user("ada"), server.url());
    let variables = [("MEMORY_API_URL", url.as_str()), ("MEMORY_API_KEY", ada.as_str())];
    let world = World::new();
    assert_eq!(with(&world, &variables, &["sync", "now"]).code, Some(0));
    let path = world.path("session.jsonl");
    transcript(&path, &[("I prefer tabs over spaces in Makefiles.", "Noted.")]);
    let ended = hook(&world, stop(&world, "s", &path, "Noted.").to_string().as_bytes(), &variables);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    settled(&world);
    let known = there(&server, &ada);
    assert!(known.len() == 1 && known[0].contains("tabs"), "{known:?}, {:?}", texts(&world));
}
