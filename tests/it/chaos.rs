//! Real processes, killed and cut off at any moment: nothing that was acknowledged is lost, doubled or leaked.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::World;
use crate::support::proxy::{Proxy, Weather};
use crate::support::team::TeamServer;

/// How long; more with `TESSERA_CHAOS_SECONDS`.
const SECONDS: u64 = 15;

struct Machine {
    world: World,
    user: &'static str,
    /// Handles of its own memories.
    handles: Vec<u64>,
}

/// An acknowledged text: whose it is, and whether a later one took its place.
struct Text {
    user: &'static str,
    is_replaced: bool,
}

/// An exchange that may be killed on its way.
fn exchange(world: &World, kill_after: Option<u64>) {
    let mut command = world.command(World::binary());
    let mut child = command.args(["sync", "now"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    if let Some(after) = kill_after {
        thread::sleep(Duration::from_millis(after));
        let _ = child.kill();
    }
    child.wait().unwrap();
}

#[test]
fn kills_crashes_and_a_bad_network_lose_double_and_leak_nothing() {
    let Some(mut server) = TeamServer::start() else { return };
    #[expect(clippy::disallowed_methods, reason = "a test has no settings of its own")]
    let seconds = std::env::var("TESSERA_CHAOS_SECONDS").map_or(SECONDS, |text| text.parse().unwrap());
    let (ada, bob) = (server.user("ada"), server.user("bob"));
    let proxy = Proxy::start(server.url().trim_start_matches("http://"));
    let mut machines: Vec<Machine> = [("ada", &ada), ("ada", &ada), ("bob", &bob)]
        .into_iter()
        .map(|(user, key)| {
            let world = World::new();
            let url = format!("http://{}", proxy.address);
            let ran = world.run_with_stdin(&["sync", "join", &url], key.as_bytes());
            assert_eq!(ran.code, Some(0), "{ran:?}");
            Machine { world, user, handles: Vec::new() }
        })
        .collect();
    let seed = fastrand::u64(..);
    let mut random = fastrand::Rng::with_seed(seed);
    let mut texts: BTreeMap<String, Text> = BTreeMap::new();
    let mut told: BTreeMap<(usize, u64), String> = BTreeMap::new();
    let (mut kills, mut crashes) = (0, 0);
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(seconds) {
        let number = random.usize(..machines.len());
        let machine = &mut machines[number];
        match random.u8(..20) {
            0..7 => {
                let text = format!("text {} of {}", texts.len(), machine.user);
                let ran = machine.world.run(&["remember", &text, "--json"]);
                assert_eq!(ran.code, Some(0), "{ran:?}");
                let value: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
                let handle = value["handle"].as_u64().unwrap_or_else(|| panic!("{value}"));
                machine.handles.push(handle);
                told.insert((number, handle), text.clone());
                texts.insert(text, Text { user: machine.user, is_replaced: false });
            }
            7..10 => {
                let Some(handle) = random.choice(&machine.handles).copied() else { continue };
                let text = format!("text {} of {}", texts.len(), machine.user);
                let ran = machine.world.run(&["update", &handle.to_string(), "--content", &text]);
                assert_eq!(ran.code, Some(0), "{ran:?}");
                let before = told.insert((number, handle), text.clone()).unwrap();
                texts.get_mut(&before).unwrap().is_replaced = true;
                texts.insert(text, Text { user: machine.user, is_replaced: false });
            }
            // Nobody waits for a black hole as long as the client would.
            10..14 => exchange(&machine.world, proxy.is(Weather::Hole).then_some(1_500)),
            14..17 => {
                kills += 1;
                exchange(&machine.world, Some(random.u64(1..120)));
            }
            17 => proxy.set([Weather::Fair, Weather::Fair, Weather::Cut, Weather::Hole][random.usize(..4)]),
            18 => {
                crashes += 1;
                server.down();
                if random.bool() {
                    server.cluster.crash();
                }
                server.up();
            }
            _ => proxy.set(Weather::Fair),
        }
    }
    proxy.set(Weather::Fair);
    for _ in 0..4 {
        for machine in &machines {
            crate::support::team::exchange(&machine.world);
        }
    }
    eprintln!("seed {seed}: {} texts, {kills} kills of clients, {crashes} of the server", texts.len());
    for machine in &machines {
        let shown = machine.world.contents();
        for (text, fate) in &texts {
            let count = shown.iter().filter(|shown| *shown == text).count();
            let expected = usize::from(fate.user == machine.user && !fate.is_replaced);
            assert_eq!(count, expected, "seed {seed}: {text:?} on a machine of {}", machine.user);
        }
        machine.world.assert_healthy();
        assert_eq!(machine.world.json(&["sync", "status"])["waiting"], 0, "seed {seed}");
    }
}
