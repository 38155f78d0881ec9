//! What the memory tool shows keeps its budget, in the tokens of whoever reads it.

use serde_json::json;

use crate::memory_tool::create;
use crate::support::{Client, World};

#[test]
fn a_view_keeps_the_budget_of_its_call() {
    let world = World::new();
    let mut client = Client::start(&world);
    let text: String = (0..400).map(|line| format!("line {line} of the long file\n")).collect();
    client.ok("memory", create("/memories/long.md", &text));
    let whole = client.ok("memory", json!({ "command": "view", "path": "/memories/long.md" }));
    assert!(whole.contains("line 399"));
    let view = json!({ "command": "view", "path": "/memories/long.md", "max_tokens": 300 });
    let part = client.ok("memory", view);
    let cost = tiktoken_rs::o200k_base_singleton().encode_ordinary(&part).len();
    assert!(cost <= 300 && part.contains("view_range") && part.contains("line 3 of"), "{cost}: {part}");
    client.ok("memory", create("/memories/line.md", &"one long line of words ".repeat(20_000)));
    for (profile, percent) in [("o200k", 100), ("claude", 160)] {
        let mut client = Client::start_with(&world, &[("TESSERA_TOKEN_PROFILE", profile)]);
        for (path, most) in
            ["long.md", "line.md", ""].iter().flat_map(|path| (3..80).step_by(2).map(move |most| (path, most)))
        {
            let view = json!({ "command": "view", "path": format!("/memories/{path}"), "max_tokens": most });
            let (part, _) = client.call("memory", view);
            let cost = tiktoken_rs::o200k_base_singleton().encode_ordinary(&part).len();
            assert!(cost * percent <= most * 100, "{profile} {path}: {cost} of {most}: {part}");
        }
        client.close();
    }
    let (wrong, is_refused) =
        client.call("memory", json!({ "command": "view", "path": "/memories", "max_tokens": "x" }));
    assert!(is_refused && wrong.starts_with("max_tokens: "), "{wrong}");
    client.close();
}
