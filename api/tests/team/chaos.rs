//! Real processes, killed and cut off at any moment: nothing that was acknowledged is lost, doubled or leaked.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use crate::proxy::{Proxy, Weather};
use crate::server::TeamServer;
use crate::support::World;

/// How long; more with `TESSERA_CHAOS_SECONDS`.
const SECONDS: u64 = 15;

struct Machine {
    world: World,
    user: &'static str,
    /// IDs of its own memories.
    short_ids: Vec<u64>,
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

/// A team, and what it was told.
struct Team {
    server: TeamServer,
    proxy: Proxy,
    machines: Vec<Machine>,
    random: fastrand::Rng,
    texts: BTreeMap<String, Text>,
    /// What each memory of a machine says.
    told: BTreeMap<(usize, u64), String>,
    kills: u32,
    crashes: u32,
}

impl Team {
    fn start(seed: u64) -> Option<Self> {
        let server = TeamServer::start()?;
        let proxy = Proxy::start(server.url().trim_start_matches("http://"));
        let (ada, bob) = (server.user("ada"), server.user("bob"));
        let machine = |user, key: &str| {
            let world = World::new();
            let url = format!("http://{}", proxy.address);
            let ran = world.run_with_stdin(&["sync", "join", &url], key.as_bytes());
            assert_eq!(ran.code, Some(0), "{ran:?}");
            Machine { world, user, short_ids: Vec::new() }
        };
        let machines = vec![machine("ada", &ada), machine("ada", &ada), machine("bob", &bob)];
        let random = fastrand::Rng::with_seed(seed);
        let (texts, told) = (BTreeMap::new(), BTreeMap::new());
        Some(Self { server, proxy, machines, random, texts, told, kills: 0, crashes: 0 })
    }

    fn act(&mut self) {
        let number = self.random.usize(..self.machines.len());
        match self.random.u8(..20) {
            0..7 => self.store(number),
            7..10 => self.change(number),
            // Nobody waits for a black hole as long as the client would.
            10..14 => exchange(&self.machines[number].world, self.proxy.is(Weather::Hole).then_some(1_500)),
            14..17 => {
                self.kills += 1;
                exchange(&self.machines[number].world, Some(self.random.u64(1..120)));
            }
            17 => {
                let weathers = [Weather::Fair, Weather::Cut, Weather::Hole, Weather::Errors, Weather::Errors];
                self.proxy.set(weathers[self.random.usize(..weathers.len())]);
            }
            18 => self.crash(),
            _ => self.proxy.set(Weather::Fair),
        }
    }

    fn new_text(&mut self, number: usize) -> String {
        let user = self.machines[number].user;
        let text = format!("text {} of {user}", self.texts.len());
        self.texts.insert(text.clone(), Text { user, is_replaced: false });
        text
    }

    fn store(&mut self, number: usize) {
        let text = self.new_text(number);
        let machine = &mut self.machines[number];
        let short_id = machine.world.remember(&text)["id"].as_u64().unwrap();
        machine.short_ids.push(short_id);
        self.told.insert((number, short_id), text);
    }

    fn change(&mut self, number: usize) {
        let Some(short_id) = self.random.choice(&self.machines[number].short_ids).copied() else { return };
        let text = self.new_text(number);
        let ran = self.machines[number].world.run(&["update", &short_id.to_string(), "--content", &text]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let before = self.told.insert((number, short_id), text).unwrap();
        self.texts.get_mut(&before).unwrap().is_replaced = true;
    }

    fn crash(&mut self) {
        self.crashes += 1;
        self.server.down();
        if self.random.bool() {
            self.server.cluster.crash();
        }
        self.server.up();
    }

    /// The network is fair, and everybody has asked often enough to know everything.
    fn extractor(&self, seed: u64) {
        self.proxy.set(Weather::Fair);
        for _ in 0..4 {
            self.machines.iter().for_each(|machine| crate::server::exchange(&machine.world));
        }
        let (kills, crashes) = (self.kills, self.crashes);
        eprintln!("seed {seed}: {} texts, {kills} kills of clients, {crashes} of the server", self.texts.len());
        for machine in &self.machines {
            let shown = machine.world.contents();
            for (text, fate) in &self.texts {
                let count = shown.iter().filter(|shown| *shown == text).count();
                let expected = usize::from(fate.user == machine.user && !fate.is_replaced);
                assert_eq!(count, expected, "seed {seed}: {text:?} on a machine of {}", machine.user);
            }
            machine.world.assert_healthy();
            assert_eq!(machine.world.json(&["sync", "status"])["waiting"], 0, "seed {seed}");
        }
    }
}

#[test]
fn kills_crashes_and_a_bad_network_lose_double_and_leak_nothing() {
    let seed = fastrand::u64(..);
    let Some(mut team) = Team::start(seed) else { return };
    #[expect(clippy::disallowed_methods, reason = "a test cannot use the settings of the program")]
    let seconds = std::env::var("TESSERA_CHAOS_SECONDS").map_or(SECONDS, |text| text.parse().unwrap());
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(seconds) {
        team.act();
    }
    team.extractor(seed);
}
