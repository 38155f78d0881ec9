//! The sync, simulated: machines of several users, a server, and a network that loses, repeats and
//! reorders what they say, in thousands of orders of events, each told by a seed.
//!
//! At the end of each, when the network is fair again: every machine shows what the server shows its
//! user; nothing that was written and not replaced, deleted or purged by somebody who had seen it is lost;
//! nothing is there twice. Every known flaw, put in on purpose, must be noticed.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may")]

mod flaw;
mod judge;
mod machine;
mod older;
mod server;
mod stores;
mod world;

use flaw::Flaw;
use world::World;

/// Orders of events of a run; more with `TESSERA_SYNC_SCHEDULES`.
const SCHEDULES: u64 = 10_000;
/// Orders within which a flaw must show.
const FLAWED: u64 = 2_000;

#[test]
fn machines_converge_and_lose_nothing_in_any_order_of_events() {
    #[expect(clippy::disallowed_methods, reason = "a test cannot use the settings of the program")]
    let schedules = std::env::var("TESSERA_SYNC_SCHEDULES").map_or(SCHEDULES, |count| count.parse().unwrap());
    for seed in 0..schedules {
        if let Err(broken) = World::run(seed, None) {
            panic!("seed {seed}: {broken}");
        }
    }
}

#[test]
fn every_known_flaw_is_noticed() {
    for flaw in Flaw::ALL {
        let found = (0..FLAWED).find(|seed| World::run(*seed, Some(flaw)).is_err());
        assert!(found.is_some(), "{flaw:?} was not noticed in {FLAWED} schedules");
    }
}
