//! Death at the n-th write or sync system call, for every n until a run passes clean.

use std::path::Path;

use crate::support::{World, has};

const CALLS: &str = "pwrite64,fdatasync,fsync,ftruncate,rename,unlink";
/// More than any of the commands makes.
const MOST_CALLS: usize = 400;

/// Runs the command under strace with a fault at the n-th call.
fn faulty(world: &World, calls: &str, fault: &str, when: &str, args: &[&str]) -> std::process::Output {
    let inject = format!("inject={calls}:{fault}:when={when}");
    let mut command = world.command(Path::new("strace"));
    command
        .args(["-f", "-o", "/dev/null", "-e", &format!("trace={calls}"), "-e", &inject])
        .arg(World::binary())
        .args(args);
    command.output().unwrap()
}

/// Kills a command at every call in turn; after each death, what was acknowledged before must be there.
fn sweep(prepare: impl Fn(&World) -> Vec<String>, args: &[&str], check: impl Fn(&World, bool)) -> usize {
    for n in 1..MOST_CALLS {
        let world = World::new();
        let acknowledged = prepare(&world);
        let output = faulty(&world, CALLS, "signal=SIGKILL", &n.to_string(), args);
        let finished = output.status.success();
        let kept = world.contents();
        for text in &acknowledged {
            assert!(kept.contains(text), "lost at call {n}: {text}");
        }
        world.assert_healthy();
        check(&world, finished);
        assert_eq!(world.run(&["remember", "afterwards"]).code, Some(0), "call {n}");
        if finished {
            return n;
        }
    }
    panic!("never ran clean");
}

fn three(world: &World) -> Vec<String> {
    let texts = ["first note", "second note", "third note"].map(str::to_owned);
    let lines: String = texts.iter().map(|text| format!("{{\"content\":\"{text}\"}}\n")).collect();
    assert_eq!(world.run_with_stdin(&["import", "-"], lines.as_bytes()).code, Some(0));
    texts.to_vec()
}

#[test]
fn a_write_that_was_acknowledged_survives_death_at_any_call() {
    if !has("strace") {
        return;
    }
    let points = sweep(three, &["remember", "the fourth note"], |world, finished| {
        let is_there = world.contents().iter().any(|text| text == "the fourth note");
        assert!(is_there || !finished, "acknowledged, and gone");
    });
    assert!(points > 3, "{points}");
}

#[test]
fn making_a_store_survives_death_at_any_call() {
    if !has("strace") {
        return;
    }
    let nothing = |_: &World| Vec::new();
    let points = sweep(nothing, &["remember", "the very first"], |world, finished| {
        assert!(!finished || world.contents().contains(&"the very first".to_owned()));
    });
    assert!(points > 10, "{points}");
}

#[test]
fn removal_for_good_survives_death_at_any_call() {
    if !has("strace") {
        return;
    }
    let keep_two = |world: &World| three(world).into_iter().skip(1).collect();
    sweep(keep_two, &["forget", "1", "--hard"], |world, finished| {
        assert!(!finished || !world.contents().contains(&"first note".to_owned()));
    });
}

#[test]
fn a_full_disk_fails_the_write_and_nothing_else() {
    if !has("strace") {
        return;
    }
    let world = World::new();
    let before = three(&world);
    for n in 1..MOST_CALLS {
        let output = faulty(&world, "pwrite64", "error=ENOSPC", &format!("{n}+"), &["remember", "no room for this"]);
        if output.status.success() {
            assert!(n > 1);
            break;
        }
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{stderr}");
        assert!(stderr.contains("no space left"), "{stderr}");
        assert_eq!(world.contents(), before);
    }
    world.assert_healthy();
    assert_eq!(world.run(&["remember", "room again"]).code, Some(0));
}

#[test]
fn a_failed_sync_is_never_reported_as_success() {
    if !has("strace") {
        return;
    }
    let world = World::new();
    three(&world);
    let output = faulty(&world, "fdatasync,fsync", "error=EIO", "1+", &["remember", "was it written?"]);
    assert!(!output.status.success());
    world.assert_healthy();
}
