//! Many processes, one store: every acknowledged write is kept, and none fails.

use std::collections::BTreeSet;
use std::thread;

use serde_json::json;

use crate::support::{Client, World};

const PROCESSES: usize = 16;
const WRITES: usize = 200;

#[test]
fn sixteen_writing_processes_lose_nothing() {
    let world = World::new();
    thread::scope(|scope| {
        for process in 0..PROCESSES {
            let world = &world;
            scope.spawn(move || {
                let mut client = Client::start(world);
                for write in 0..WRITES {
                    client.ok(
                        "memory_store",
                        json!({ "content": format!("process {process} keeps note number {write}") }),
                    );
                    if write % 20 == 0 {
                        let found = client.ok(
                            "memory_recall",
                            json!({ "query": format!("process {process} note {write}"), "max_tokens": 300 }),
                        );
                        assert!(found.contains("found"), "{found}");
                    }
                }
                assert!(client.close().success());
            });
        }
    });
    let kept: BTreeSet<String> = world.contents().into_iter().collect();
    let expected: BTreeSet<String> = (0..PROCESSES)
        .flat_map(|process| (0..WRITES).map(move |write| format!("process {process} keeps note number {write}")))
        .collect();
    assert_eq!(kept.len(), PROCESSES * WRITES);
    assert_eq!(kept, expected);
    world.assert_healthy();
}

#[test]
fn killed_writers_lose_nothing_that_was_acknowledged() {
    let world = World::new();
    let acknowledged: Vec<String> = thread::scope(|scope| {
        let writers: Vec<_> = (0..8)
            .map(|process| {
                let world = &world;
                scope.spawn(move || {
                    let mut client = Client::start(world);
                    let mut done = Vec::new();
                    for write in 0..30 + process * 7 {
                        let text = format!("writer {process} note {write}");
                        client.ok("memory_store", json!({ "content": text }));
                        done.push(text);
                    }
                    client.send(&json!({ "jsonrpc": "2.0", "id": 999, "method": "tools/call",
                        "params": { "name": "memory_store", "arguments": { "content": format!("writer {process} in flight") } } }));
                    client.signal("KILL");
                    done
                })
            })
            .collect();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    let kept: BTreeSet<String> = world.contents().into_iter().collect();
    assert!(acknowledged.iter().all(|text| kept.contains(text)));
    world.assert_healthy();
    assert_eq!(world.run(&["remember", "life goes on"]).code, Some(0));
}
