//! A team server from the environment alone: what is said before the store belongs to it, and what it takes to join.

use std::io::Read;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use unicode_width::UnicodeWidthStr;

use crate::proxy::{Proxy, Weather};
use crate::server::{TeamServer, exchange};
use crate::support::terminal::{COLUMNS, on_terminal, plain, start_on_terminal};
use crate::support::{Client, Ran, Running, World};

fn with(world: &World, variables: &[(&str, &str)], args: &[&str]) -> Ran {
    world.command(World::binary()).envs(variables.iter().copied()).args(args).output().unwrap().into()
}

#[test]
fn variables_alone_join_an_empty_store_and_ask_about_a_full_one() {
    let Some(server) = TeamServer::start() else { return };
    let (ada, url) = (server.user("ada"), server.url());
    let variables = [("TESSERA_SERVER", url.as_str()), ("TESSERA_API_KEY", ada.as_str())];
    let laptop = server.machine(&ada);
    laptop.remember("Deploys happen on Tuesdays");
    exchange(&laptop);
    let (empty, full) = (World::new(), World::new());
    full.remember("kept on this machine");
    let status = with(&empty, &variables, &["sync", "status"]);
    assert!(status.stdout.contains("not joined yet: this store is empty"), "{status:?}");
    let now = with(&empty, &variables, &["sync", "now"]);
    assert_eq!((now.code, now.stdout.as_str()), (Some(0), "0 changes sent, 1 received\n"), "{now:?}");
    assert_eq!(empty.contents(), ["Deploys happen on Tuesdays"]);
    assert!(with(&empty, &variables, &["sync", "status"]).stdout.contains("ada"));
    let status = with(&full, &variables, &["sync", "status"]);
    assert!(status.stdout.contains("tessera sync join") && !status.stdout.contains(&ada), "{status:?}");
    let now = with(&full, &variables, &["sync", "now"]);
    assert!(now.code == Some(1) && now.stderr.contains("tessera sync join"), "{now:?}");
    assert_eq!(full.contents(), ["kept on this machine"]);
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
        if count.contains("refuses the key") {
            assert!(count.contains("sync: local only"), "{count}");
            break;
        }
        assert!(started.elapsed() < Duration::from_mins(1), "{count}");
        thread::sleep(Duration::from_millis(50));
    }
    assert!(client.close().success());
    let now = with(&world, &variables, &["sync", "now"]);
    assert!(now.code == Some(1) && now.stderr.contains("refuses the key"), "{now:?}");
}

#[test]
fn what_is_shared_is_named_by_its_handle_and_fits_a_terminal() {
    let Some(server) = TeamServer::start() else { return };
    let (ada, bob) = (server.user("ada"), server.user("bob"));
    let (laptop, _bobs) = (server.machine(&ada), server.machine(&bob));
    let long =
        "The billing service runs PostgreSQL 16 with logical replication, and nobody changes that without a word";
    laptop.remember(long);
    laptop.json(&["share", "1", "--with", "bob"]);
    let mut client = Client::start(&laptop);
    let shares = client.ok("memory_my_shares", json!({}));
    assert!(shares.starts_with("#1 with bob (read) The billing"), "{shares}");
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
    while !plain(&seen).contains("2 changes to send, 2 memories here") {
        let count = terminal.read(&mut bytes).unwrap_or(0);
        assert!(count > 0, "it ended without a word of it: {seen}");
        seen += &String::from_utf8_lossy(&bytes[..count]);
    }
}
