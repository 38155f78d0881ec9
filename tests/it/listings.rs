//! Listings of large directories by the memory tool: every file is reached, page after page, and every page keeps its budget.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Client, World};

#[test]
fn every_file_of_a_large_directory_is_reached_within_the_budget() {
    let world = World::new();
    let counter = tiktoken_rs::o200k_base_singleton();
    for file in 0..240 {
        let path = world.home().join(format!("memories/notes-of-{:02}/{file:04}.md", file % 40));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "text\n").unwrap();
    }
    let mut client = Client::start(&world);
    for budget in [200, 1_000] {
        let (mut shown, mut range, mut pages) = (std::collections::BTreeSet::new(), Value::Null, 0);
        loop {
            let view = json!({ "command": "view", "path": "/memories", "view_range": range, "max_tokens": budget });
            let page = client.ok("memory", view);
            let cost = counter.encode_ordinary(&page).len();
            assert!(cost <= budget, "{cost} of {budget}: {page}");
            shown.extend(page.lines().filter(|line| line.contains(".md")).map(str::to_owned));
            let Some(rest) = page.lines().last().filter(|line| line.starts_with('[')) else { break };
            if budget == 1_000 && pages == 0 {
                assert!(
                    rest.contains("; or view /memories/notes-of-") && rest.contains(" more directories]"),
                    "{rest}"
                );
            }
            let next = rest.split_once("view_range ").unwrap().1.split_once(']').unwrap().0;
            range = serde_json::from_str(&format!("{next}]")).unwrap();
            pages += 1;
            assert!(pages < 240, "it goes on");
        }
        assert_eq!(shown.len(), 240, "{budget}");
    }
    let (little, _) = client.call("memory", json!({ "command": "view", "path": "/memories", "max_tokens": 60 }));
    assert!(little.ends_with("[280 more entries: use a larger max_tokens]"), "{little}");
    client.close();
}
