//! What an older system kept comes over on one machine, and reaches the other: there it is known.

use serde_json::{Value, json};

use crate::server::{TeamServer, exchange};
use crate::support::World;
use crate::support::older::{w_database, w_stores};

/// A credential that was made up.
const KEY: &str = "qX7pL2vN9dRtW4mZ8kBy";

fn import(world: &World, path: &str) -> Value {
    world.json(&["import", "memory-mcp", path, "--mine", "--yes"])
}

fn rows(world: &World) -> Vec<Value> {
    let parsed = world.run(&["export"]).stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut rows: Vec<Value> = parsed;
    rows.sort_by_key(|row| row["content"].as_str().unwrap().to_owned());
    rows
}

#[test]
fn what_came_over_on_one_machine_is_known_on_the_other_and_goes_there_when_it_is_undone() {
    let Some(server) = TeamServer::start() else { return };
    let ada = server.user("ada");
    let (laptop, desktop) = (server.machine(&ada), server.machine(&ada));
    let file = laptop.path("theirs/memory.db");
    let w = w_database(&file);
    w_stores(&w, "mem_a", "The ledger listens on port 9417", 5.0);
    w_stores(&w, "mem_b", &format!("deploy with api_key={KEY} to birch"), 9.0);
    w_stores(&w, "mem_c", "Deploys are on Tuesday", 5.0);
    let path = file.to_str().unwrap();
    laptop.remember("Something of my own");
    assert_eq!(import(&laptop, path)["statuses"], json!({ "new": 3 }));
    for world in [&laptop, &desktop] {
        exchange(world);
    }
    let (there, here) = (rows(&laptop), rows(&desktop));
    assert_eq!((there.len(), here.len()), (4, 4));
    for (one, other) in there.iter().zip(&here) {
        for field in ["id", "content", "created", "metadata", "tags", "importance", "trust", "type"] {
            assert_eq!(one[field], other[field], "{field}: {one} {other}");
        }
    }
    assert!(here.iter().any(|row| row["metadata"]["project"] == "shop"), "{here:?}");
    // The other machine reads the same source.
    assert_eq!(import(&desktop, path)["statuses"], json!({ "there": 3 }));
    assert_eq!(import(&desktop, path)["applied"], false);
    // What is said otherwise there since is not taken for what is here.
    let third = server.machine(&ada);
    exchange(&third);
    w.execute_batch(
        "UPDATE memories SET content = 'The ledger listens on port 6000' WHERE id = 'mem_a';
         INSERT INTO provenance VALUES ('p9', 'mem_a', 'update', 1799000000000, 'user', NULL, NULL, NULL)",
    )
    .unwrap();
    assert_eq!(import(&third, path)["statuses"], json!({ "both": 1, "there": 2 }));
    assert_eq!(import(&third, path)["applied"], false);
    let undone = third.run(&["import", "--undo", "1", "--yes"]);
    assert_eq!(undone.code, Some(0), "{undone:?}");
    exchange(&third);
    // Undone where it came over, it goes on every machine; nothing that is the person's goes with it.
    assert_eq!(laptop.json(&["import", "--undo", "1", "--yes"])["undone"]["forgotten"], 3);
    for world in [&laptop, &desktop, &third] {
        exchange(world);
    }
    for world in [&laptop, &desktop, &third] {
        assert_eq!(world.contents(), ["Something of my own"]);
        world.assert_healthy();
    }
    assert_eq!(import(&laptop, path)["statuses"], json!({ "back": 3 }));
    for world in [&laptop, &desktop] {
        exchange(world);
    }
    assert_eq!(rows(&desktop).len(), 4);
    assert!(!server.log.lock().unwrap().contains(KEY));
}
