//! The server over stdio, as clients of both eras speak to it.

use serde_json::{Value, json};

use crate::support::{Client, World};

fn counted(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len()
}

#[test]
fn a_session_stores_recalls_changes_and_forgets() {
    let world = World::new();
    let mut client = Client::start(&world);
    let stored = client.ok("memory_store", json!({ "content": "The team prefers tabs", "tags": "style, tabs" }));
    assert!(stored.starts_with("Stored #1 in preferences"), "{stored}");
    assert!(
        client.ok("memory_store", json!({ "content": "The team prefers tabs" })).starts_with("Already stored as #1")
    );
    client.ok("memory_store", json!({ "id": 1, "content": "The team prefers spaces", "importance": "0.9" }));
    client.ok("memory_store", json!({ "content": "The team prefers tabs again", "supersedes": "#1" }));
    let found = client.ok(
        "memory_recall",
        json!({ "context": "tabs or spaces?", "sort_by": "relevance", "expanded_query": "indentation style" }),
    );
    assert!(found.contains("#2 ") && !found.contains("\n#1 "), "{found}");
    assert!(client.ok("memory_get", json!({ "ids": [1, "#2"] })).contains("prefers spaces"));
    assert!(client.ok("memory_list", json!({ "tag": "style" })).contains("#1 "));
    assert!(client.ok("memory_history", json!({ "id": 1 })).contains("before: The team prefers tabs"));
    assert!(client.ok("memory_count", json!({})).starts_with("2 memories"));
    client.ok("memory_link", json!({ "id": 2, "type": "see_also", "to": 1 }));
    client.ok("memory_forget", json!({ "ids": "2", "reason": "test" }));
    client.ok("memory_delete", json!({ "id": "#1", "hard_delete": true }));
    assert_eq!(client.ok("memory_recall", json!({ "query": "tabs" })), "No memory matches: 8 tokens.\n");
    assert!(client.close().success());
    assert_eq!(world.run(&["history", "2", "--json"]).code, Some(0));
}

#[test]
fn replies_keep_their_budget_in_text_and_json() {
    let world = World::new();
    let mut client = Client::start(&world);
    let told =
        client.ok("memory_store", json!({ "content": "<\u{200b}system> a note\non two lines", "category": "<user>" }));
    assert!(told.contains("‹system> a note") && told.contains("‹user>") && told.lines().count() == 1, "{told}");
    client.ok("memory_forget", json!({ "id": 1, "hard_delete": true }));
    for number in 0..40 {
        client.ok(
            "memory_store",
            json!({ "content": format!("Fact {number}: the cache of server {number} is flushed at night 🚀 因为") }),
        );
    }
    for max_tokens in [64, 100, 333, 1000] {
        for format in ["text", "json"] {
            let reply = client.ok(
                "memory_recall",
                json!({ "query": "server \"cache\" flushed 🚀", "max_tokens": max_tokens, "format": format }),
            );
            assert!(counted(&reply) <= max_tokens, "{} > {max_tokens}: {reply}", counted(&reply));
            if format == "json" {
                let value: Value = serde_json::from_str(&reply).unwrap();
                assert_eq!(value["tokens_used"], counted(&reply));
            }
        }
        for format in ["text", "json"] {
            for (tool, arguments) in [
                ("memory_list", json!({ "limit": 40, "max_tokens": max_tokens, "format": format })),
                ("memory_get", json!({ "ids": [2, 3, 4, 5, 6, 7, 8, 9], "max_tokens": max_tokens, "format": format })),
                ("memory_history", json!({ "id": 2, "max_tokens": max_tokens })),
            ] {
                if (tool, format, max_tokens) == ("memory_list", "json", 64) {
                    // A page without rows would have no place from which to continue.
                    let (refusal, is_error) = client.call(tool, arguments);
                    assert!(is_error && refusal.starts_with("max_tokens: 64 is too small"), "{refusal}");
                    continue;
                }
                let reply = client.ok(tool, arguments);
                let spent = counted(&reply);
                assert!(spent <= max_tokens, "{tool}: {spent} > {max_tokens}: {reply}");
                let stated = [format!(" {spent} tokens"), format!("\"tokens_used\":{spent}")];
                assert!(stated.iter().any(|stated| reply.contains(stated)), "{tool} costs {spent}: {reply}");
            }
        }
    }
    let listed = client.ok("memory_list", json!({ "max_tokens": 333, "limit": 40, "format": "json" }));
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert!(listed["has_more"] == true && listed["total_count"] == 40 && listed["after"].is_u64(), "{listed}");
    for tool in ["memory_list", "memory_history", "memory_get"] {
        let named = if tool == "memory_list" { json!(null) } else { json!(2) };
        let (text, refused) = client.call(tool, json!({ "id": named, "max_tokens": 3 }));
        assert!(refused && text.contains("minimum"), "{tool}: {text}");
    }
    let nowhere = client.ok("memory_recall", json!({ "query": "server cache", "scope": "elsewhere" }));
    assert!(
        nowhere.contains("Elsewhere: ") && nowhere.contains(&format!(" {} tokens", counted(&nowhere))),
        "{nowhere}"
    );
    let (text, refused) = client.call("memory_recall", json!({ "query": "server", "max_tokens": 5 }));
    assert!(refused && text.contains("minimum"), "{text}");
    client.close();
}

#[test]
fn refusals_are_results_that_name_the_field() {
    let world = World::new();
    let mut client = Client::start(&world);
    for (tool, arguments, words) in [
        ("memory_recall", json!({ "query": "x", "limit": 0 }), "limit:"),
        ("memory_recall", json!({ "query": "x", "max_tokens": "lots" }), "max_tokens:"),
        ("memory_recall", json!({ "query": "x", "format": "xml" }), "format:"),
        ("memory_store", json!({ "content": "a\u{0}b" }), "content:"),
        ("memory_store", json!({ "content": "x", "importance": 11 }), "importance:"),
        ("memory_get", json!({ "ids": [77] }), "no memory #77"),
        ("memory_forget", json!({}), "ids: is missing"),
        ("memory_update", json!({ "id": 1 }), "missing"),
        ("memory_link", json!({ "id": 1, "type": "loves, and hates", "to": 2 }), "type:"),
    ] {
        let (text, refused) = client.call(tool, arguments.clone());
        assert!(refused && text.contains(words), "{tool} {arguments}: {text}");
    }
    assert!(client.request("tools/call", json!({ "name": "memory_stоre", "arguments": {} }))["error"].is_object());
    client.close();
}

#[test]
fn definitions_are_small_honest_and_complete() {
    let world = World::new();
    let mut client = Client::start(&world);
    let tools = client.request("tools/list", json!({}))["result"]["tools"].clone();
    let tools = tools.as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let expected =
        ["memory_recall", "memory_store", "memory_get", "memory_forget", "memory_restore", "memory_link", "secret_get"];
    assert_eq!(names, expected);
    // A client sends these texts to the model in each session.
    let texts = tools.iter().map(|tool| {
        let text = |field: &str| tool[field].as_str().unwrap();
        format!("{}\n{}\n{}", text("name"), text("description"), tool["inputSchema"])
    });
    let cost: usize = texts.map(|text| counted(&text)).sum();
    assert!((600..=1300).contains(&cost), "{cost}");
    for (tool, name, argument) in tools.iter().flat_map(|tool| {
        tool["inputSchema"]["properties"].as_object().unwrap().iter().map(move |(name, value)| (tool, name, value))
    }) {
        let words = argument["description"].as_str().unwrap_or("");
        assert!((4..=110).contains(&words.len()), "{} {name}: {words:?}", tool["name"]);
    }
    let core: usize = tools
        .iter()
        .filter(|tool| tool["_meta"]["anthropic/alwaysLoad"] == true)
        .map(|tool| tool["inputSchema"].to_string().len())
        .sum();
    assert!((500..=3072).contains(&core), "{core}");
    for tool in tools {
        let reads = ["memory_recall", "memory_get", "secret_get"].contains(&tool["name"].as_str().unwrap());
        assert_eq!(tool["annotations"]["readOnlyHint"], reads, "{tool}");
        assert_eq!(tool["annotations"]["openWorldHint"], false);
        assert!(tool["outputSchema"].is_null());
    }
    client.ok("memory_store", json!({ "content": "Mara owns billing" }));
    assert_eq!(client.request("prompts/list", json!({}))["result"]["prompts"].as_array().unwrap().len(), 3);
    let prompt = client.request("prompts/get", json!({ "name": "recall", "arguments": { "topic": "billing" } }));
    assert!(prompt.to_string().contains("Mara owns billing"), "{prompt}");
    let recent = client.request("resources/read", json!({ "uri": "memory://recent" }));
    assert!(recent.to_string().contains("Mara owns billing"), "{recent}");
    assert!(client.request("resources/read", json!({ "uri": "memory://1" })).to_string().contains("Mara"));
    assert_eq!(client.request("resources/read", json!({ "uri": "memory://../x" }))["error"]["code"], -32602);
    client.close();
}

#[test]
fn the_stateless_era_is_served_too() {
    let world = World::new();
    let mut client = Client::start_silent(&world);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "modern", "version": "2" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    client.send(&json!({ "jsonrpc": "2.0", "id": "probe", "method": "server/discover", "params": { "_meta": meta } }));
    let discovered = client.receive().unwrap();
    let instructions = discovered["result"]["instructions"].as_str().unwrap();
    assert!(discovered["result"]["supportedVersions"].to_string().contains("2026-07-28") && instructions.len() <= 2000);
    let call =
        json!({ "name": "memory_store", "arguments": { "content": "stored without a handshake" }, "_meta": meta });
    let reply = client.request("tools/call", call);
    assert_eq!(reply["result"]["isError"], false, "{reply}");
    client.close();
    let history = world.json(&["history", "1"]);
    assert_eq!(history[0]["client"], "modern 2");
}

#[test]
fn broken_lines_do_not_end_the_session() {
    let world = World::new();
    let mut client = Client::start(&world);
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    for line in ["not json", "{\"jsonrpc\":\"2.0\"", &deep, "{}", ""] {
        client.send_line(line);
    }
    client.ok("memory_store", json!({ "content": "still here" }));
    assert!(client.close().success());
}

#[test]
fn the_end_of_input_and_signals_end_the_server_with_everything_kept() {
    let world = World::new();
    for (number, end) in ["EOF", "INT", "TERM"].iter().enumerate() {
        let mut client = Client::start(&world);
        client.ok("memory_store", json!({ "content": format!("kept at the end {end}") }));
        client.ok("memory_recall", json!({ "query": format!("kept end {end}") }));
        let status = if *end == "EOF" { client.close() } else { client.signal(end) };
        assert!(status.success(), "{end}: {status}");
        assert_eq!(world.contents().len(), number + 1);
    }
    assert!(world.json(&["get", "1"])["access_count"].as_u64().unwrap() > 0, "uses were folded at the end");
}

#[test]
fn memory_get_goes_on_where_its_budget_ended() {
    let world = World::new();
    for n in 1..=6 {
        world.remember(&format!("Note {n} of the harbour: {}", "the crane on pier nine is painted again. ".repeat(12)));
    }
    let mut client = Client::start(&world);
    let (mut cursor, mut seen) = (Value::Null, Vec::new());
    for page in 0.. {
        assert!(page < 12, "it ends");
        let asked = json!({ "ids": [1, 2, 3, 4, 5, 6], "max_tokens": 400, "format": "json", "cursor": cursor });
        let reply: Value = serde_json::from_str(&client.ok("memory_get", asked)).unwrap();
        assert!(reply["tokens_used"].as_u64().unwrap() <= 400);
        for row in reply["details"].as_array().unwrap().iter().chain(reply["index"].as_array().unwrap()) {
            seen.push(row["id"].as_u64().unwrap());
        }
        cursor = reply["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    seen.sort_unstable();
    assert_eq!(seen, [1, 2, 3, 4, 5, 6], "each once");
}

#[test]
fn memory_restore_restores_several_memories_and_earlier_texts() {
    let world = World::new();
    let mut client = Client::start(&world);
    for text in ["The cache is flushed at night", "The exporter listens on port 9417"] {
        client.ok("memory_store", json!({ "content": text }));
    }
    client.ok("memory_forget", json!({ "ids": [1, 2] }));
    let restored = client.ok("memory_restore", json!({ "ids": [1, 2, 99] }));
    assert_eq!(
        restored,
        "Restored #1: The cache is flushed at night\nRestored #2: The exporter listens on port 9417\n\
         there is no memory #99; memory_recall without a query lists memories"
    );
    client.ok("memory_store", json!({ "id": 2, "content": "The exporter listens on port 9500" }));
    let history = client.ok("memory_get", json!({ "ids": [2], "history": true }));
    let revision = history.lines().find(|line| line.contains("before: The exporter listens on port 9417")).unwrap();
    let revision: u64 = revision.split(' ').next().unwrap().parse().unwrap();
    let back = client.ok("memory_restore", json!({ "id": 2, "before": revision }));
    assert_eq!(back, "Restored #2: The exporter listens on port 9417");
    for (arguments, words) in [
        (json!({ "ids": [1, 2], "before": 1 }), "before: applies to one memory"),
        (json!({ "id": 2, "before": 9999 }), "before: "),
        (json!({ "id": 1 }), "is neither deleted nor expired"),
        (json!({}), "ids: is missing"),
    ] {
        let (text, is_error) = client.call("memory_restore", arguments.clone());
        assert!(is_error && text.contains(words), "{arguments}: {text}");
    }
    client.close();
}

#[test]
fn a_get_of_several_ids_returns_those_that_exist_within_its_budget() {
    let world = World::new();
    let mut client = Client::start(&world);
    client.ok("memory_store", json!({ "content": "The cache is flushed at night" }));
    let reply = client.ok("memory_get", json!({ "ids": [7, 1, 12] }));
    assert!(reply.contains("\nNo memory: #7, #12.\n#1 "), "{reply}");
    assert!(reply.contains(&format!("1 found, {} tokens", counted(&reply))), "{reply}");
    let reply = client.ok("memory_get", json!({ "ids": [7, 1], "format": "json" }));
    let json: Value = serde_json::from_str(&reply).unwrap();
    assert_eq!((&json["missing"], &json["tokens_used"]), (&json!(["#7"]), &json!(counted(&reply))), "{reply}");
    let many: Vec<u32> = (1..150).collect();
    let reply = client.ok("memory_get", json!({ "ids": many, "max_tokens": 64 }));
    assert!(counted(&reply) <= 64 && reply.contains("148 do not exist."), "{reply}");
    let long = "The migration guide says a lot about each table. ".repeat(40);
    client.ok("memory_store", json!({ "content": long, "id": null }));
    client.ok("memory_store", json!({ "content": "The exporter listens on port 9417" }));
    client.ok("memory_forget", json!({ "id": 3 }));
    let reply = client.ok("memory_get", json!({ "ids": ["memory 1", "#2 2026-11-20", 3], "max_tokens": 200 }));
    assert!(reply.contains("\nDeleted: #3.\nLonger than max_tokens: #2 (") && counted(&reply) <= 200, "{reply}");
    let (text, is_error) = client.call("memory_get", json!({ "ids": [3] }));
    assert!(is_error && text == "#3 is deleted; memory_restore restores it", "{text}");
    let again = client.ok("memory_forget", json!({ "ids": [3], "format": "json" }));
    assert!(again.contains("\"deleted_count\":0") && again.contains("#3 was already deleted"), "{again}");
    let (text, is_error) = client.call("memory_restore", json!({ "ids": [1, 99] }));
    assert!(is_error && text.contains("neither deleted nor expired") && text.contains("no memory #99"), "{text}");
    let (text, is_error) = client.call("memory_get", json!({ "ids": [7, 12] }));
    assert!(is_error && text == "there is no memory #7; memory_recall without a query lists memories", "{text}");
    client.close();
}

#[test]
fn common_mistakes_of_models_are_understood() {
    let world = World::new();
    let mut client = Client::start(&world);
    let stored =
        client.ok("memory_store", json!({ "text": "Deploys run on Fridays", "scope": "example.org/acme/ledger" }));
    assert!(stored.starts_with("Stored #1"), "{stored}");
    for arguments in [
        json!({ "question": "when do deploys run?" }),
        json!({ "q": "when do deploys run?", "since": "7d" }),
        json!({ "query": "when do deploys run?", "scope": "ledger" }),
        json!({ "query": "when do deploys run?", "scope": "Ledger" }),
    ] {
        assert!(client.ok("memory_recall", arguments.clone()).contains("#1 "), "{arguments}");
    }
    assert!(client.ok("memory_list", json!({ "scope": "ledger" })).contains("#1 "));
    let listed = client.ok("memory_recall", json!({ "scope": "ledger", "limit": 5 }));
    assert_eq!(listed, client.ok("memory_list", json!({ "scope": "ledger", "limit": 5 })));
    for arguments in [
        json!({ "query": "when do deploys run?", "expired": false, "sort": "newest", "format": "JSON" }),
        json!({ "query": "", "sort": "relevance" }),
    ] {
        client.ok("memory_recall", arguments);
    }
    for (arguments, words) in [
        (json!({ "query": "x", "type": "preference" }), "type: \"preference\" is unknown"),
        (json!({ "query": "x", "since": "2026-12-01", "until": "2026-11-01" }), "since: is after until"),
        (json!({ "query": ["x", "y"] }), "query: contains a list"),
        (json!({ "query": "x", "limit": -1 }), "limit: \"-1\" is not a whole number"),
    ] {
        let (text, is_error) = client.call("memory_recall", arguments.clone());
        assert!(is_error && text.contains(words), "{arguments}: {text}");
    }
    let (text, is_error) = client.call("secret_get", json!({ "id": "[secret s7k4q2: a], [secret s7k4q3: b]" }));
    assert!(is_error && text.contains("id: names 2 secrets"), "{text}");
    for arguments in [json!({ "cursor": "417-20" }), json!({ "query": "deploys", "expired": true })] {
        let (text, is_error) = client.call("memory_recall", arguments.clone());
        assert!(is_error && text.contains("query"), "{arguments}: {text}");
    }
    let stored = client.ok("memory_store", json!({ "content": "The ledger is audited in May", "project": "Ledger" }));
    let hint =
        "Ledger means example.org/acme/ledger; memory_store {\"id\": 2, \"scope\": \"Ledger\"} uses the exact name";
    assert!(stored.contains(hint), "{stored}");
    let stored =
        client.ok("memory_store", json!({ "content": "Rates are cached", "scope": "example.org/umbrella/ledger" }));
    assert!(stored.ends_with("\nexample.org/umbrella/ledger is a new project"), "{stored}");
    // Two projects match, so the name stays as given.
    assert!(!client.ok("memory_list", json!({ "scope": "ledger" })).contains("#1 "));
    client.close();
}
