//! Exchanges with the server that are killed at their system calls, on the machine and on the server's host: both go on from there.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use crate::server::{TeamServer, exchange, program};
use crate::support::{World, has};

const CALLS: &str =
    "write,pwrite64,pwritev,fdatasync,fsync,ftruncate,rename,renameat,renameat2,unlink,unlinkat,sendto,writev";
/// Calls between two points.
const STEP: usize = 7;

fn texts(world: &World) -> BTreeSet<String> {
    let texts = world.contents();
    let all: BTreeSet<String> = texts.iter().cloned().collect();
    assert_eq!(all.len(), texts.len(), "twice: {texts:?}");
    all
}

/// True where the program came to its end before the call.
fn ended_before(mut strace: Command, call: usize, binary: &Path, args: &[&str]) -> bool {
    strace.args(["-f", "-o", "/dev/null", "-e", &format!("trace={CALLS}")]);
    strace.args(["-e", &format!("inject={CALLS}:signal=SIGKILL:when={call}")]).arg(binary).args(args);
    strace.output().unwrap().status.success()
}

#[test]
fn an_exchange_is_killed_anywhere_and_nothing_is_lost_or_doubled() {
    let Some(server) = TeamServer::start().filter(|_| has("strace")) else { return };
    let key = server.user("ada");
    let (laptop, desktop) = (server.machine(&key), server.machine(&key));
    let mut expected = BTreeSet::new();
    let (mut call, mut whole) = (1, 0);
    while whole < 2 {
        // Changes on both machines: new ones, a change, one that is forgotten.
        for (machine, name) in [(&laptop, "laptop"), (&desktop, "desktop")] {
            for n in 0..3 {
                let text = format!("note {n} of the {name} at call {call}");
                let id = machine.remember(&text)["id"].to_string();
                let changed = format!("{text}, changed");
                match n {
                    0 => drop(machine.json(&["forget", &id])),
                    1 => {
                        machine.json(&["update", &id, "--content", &changed]);
                        expected.insert(changed);
                    }
                    _ => drop(expected.insert(text)),
                }
            }
        }
        exchange(&desktop);
        let before = texts(&laptop);
        let strace = laptop.command(Path::new("strace"));
        whole += usize::from(ended_before(strace, call, World::binary(), &["sync", "now"]));
        assert!(texts(&laptop).is_superset(&before), "lost at call {call}");
        for machine in [&laptop, &desktop] {
            exchange(machine);
        }
        assert_eq!(texts(&laptop), expected, "call {call}");
        assert_eq!(texts(&desktop), expected, "call {call}");
        call += STEP;
    }
    assert!(call > 6 * STEP, "it was killed at {} calls", call / STEP);
    laptop.assert_healthy();
    assert_eq!(texts(&server.machine(&key)), expected);
}

#[test]
fn the_clean_up_of_credentials_is_killed_anywhere_and_ends_when_it_is_run_again() {
    let variables = [("TESSERA_SECRET_KEY", "correct horse")];
    let Some(mut server) = TeamServer::start_with(&variables).filter(|_| has("strace")) else { return };
    let key = server.user("ada");
    let laptop = server.machine(&key);
    exchange(&laptop);
    // As a program wrote them that looked for no credentials.
    let value = |n: usize| format!("hunter{n}!X9qz");
    let mut call = 1;
    for round in 0.. {
        for n in 0..4 {
            laptop.remember(&format!("The pier is swept in round {round}, part {n}"));
        }
        exchange(&laptop);
        let sql = format!(
            "UPDATE memories SET content = 'The password of pier ' || right(content, 1) || ' in round {round} is {}'
             WHERE content LIKE 'The pier is swept in round {round},%'",
            value(round)
        );
        server.cluster.sql_on("tessera", &sql);
        let is_whole = ended_before(server.on_host(Path::new("strace")), call, program(), &["migrate-secrets"]);
        let again = server.host(&["migrate-secrets"]);
        assert_eq!(again.code, Some(0), "call {call}: {again:?}");
        let dump = server.cluster.dump();
        assert!(!dump.contains(&value(round)), "call {call}");
        if is_whole {
            break;
        }
        call += 5;
    }
    assert!(call > 15, "it was killed at {} calls", call / 5);
    server.down();
    server.up();
    exchange(&laptop);
    assert!(texts(&laptop).iter().any(|text| text.contains("[secret ")), "{:?}", texts(&laptop));
}
