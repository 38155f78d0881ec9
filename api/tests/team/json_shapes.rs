//! The JSON of the commands for teams has the shape that its schema in `docs/schemas` describes.

use serde_json::Value;

use crate::server::{TeamServer, exchange};
use crate::shapes::conforms;
use crate::support::World;

#[test]
fn the_json_of_team_commands_has_the_shape_of_its_schema() {
    let Some(server) = TeamServer::start() else { return };
    let (ada, bob) = (server.user("ada"), server.user("bob"));
    let (laptop, desktop, bobs) = (server.machine(&ada), server.machine(&ada), server.machine(&bob));
    laptop.json(&["remember", "The exporter listens on port 9417", "--tags", "ops"]);
    let run = |world: &World, schema: &str, args: &[&str]| {
        let value = world.json(args);
        conforms(schema, &value);
        value
    };
    let joining = World::new();
    let joined = joining.run_with_stdin(&["sync", "join", &server.url(), "--json"], bob.as_bytes());
    conforms("sync-join", &serde_json::from_str::<Value>(&joined.stdout).unwrap_or_else(|_| panic!("{joined:?}")));
    run(&laptop, "sync-now", &["sync", "now"]);
    run(&laptop, "sync-status", &["sync", "status"]);
    run(&laptop, "share", &["share", "1", "--with", "bob"]);
    run(&laptop, "share", &["share", "--tag", "ops", "--with", "bob"]);
    exchange(&bobs);
    run(&bobs, "shares", &["shares"]);
    run(&bobs, "accept", &["accept", "ada", "ops"]);
    run(&laptop, "shares", &["shares"]);
    exchange(&bobs);
    run(&bobs, "get", &["get", "1"]);
    exchange(&desktop);
    laptop.json(&["update", "1", "--content", "The exporter listens on port 9418"]);
    desktop.json(&["update", "1", "--content", "The exporter listens on port 9419"]);
    for world in [&laptop, &desktop, &laptop] {
        exchange(world);
    }
    let conflicts = run(&laptop, "resolve-list", &["resolve"]);
    let id = conflicts[0]["memory"]["id"].to_string();
    run(&laptop, "resolve", &["resolve", &id, "--keep", "copy"]);
    run(&laptop, "forget", &["forget", &id, "--hard"]);
    exchange(&laptop);
    let purged = laptop.run(&["purged", &id, "--json"]);
    conforms("purged", &serde_json::from_str::<Value>(&purged.stdout).unwrap_or_else(|_| panic!("{purged:?}")));
    run(&laptop, "sync-leave", &["sync", "leave"]);
}
