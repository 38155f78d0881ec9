//! The calls that older systems' documents show, word for word: every argument is understood, and the keys they promise
//! are there.

use serde_json::{Value, json};

use crate::support::{Client, World};

fn counted(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len()
}

fn keys(row: &Value, wanted: &[&str]) {
    for key in wanted {
        assert!(row.get(key).is_some(), "{key} is missing: {row}");
    }
}

/// What a memory is promised to have.
const ROW: [&str; 10] = [
    "id",
    "content",
    "summary",
    "type",
    "importance",
    "entities",
    "created_at",
    "last_accessed",
    "access_count",
    "expires_at",
];

fn parsed(reply: &str) -> Value {
    serde_json::from_str(reply).unwrap_or_else(|error| panic!("{error}: {reply}"))
}

#[test]
fn the_calls_of_the_token_budgeted_system_are_understood() {
    let world = World::new();
    let mut client = Client::start(&world);
    let stored = client.ok(
        "memory_store",
        json!({ "content": "User prefers TypeScript over JavaScript for type safety", "type": "fact", "format": "json" }),
    );
    let stored = parsed(&stored);
    keys(&stored, &ROW);
    assert_eq!((&stored["id"], &stored["access_count"], &stored["expires_at"]), (&json!(1), &json!(0), &Value::Null));
    let updated = client.ok(
        "memory_store",
        json!({ "id": "1", "content": "User strongly prefers TypeScript for all projects", "importance": 9, "format": "json" }),
    );
    let updated = parsed(&updated);
    assert_eq!((&updated["importance"], &updated["id"]), (&json!(0.9), &json!(1)));
    let whole = client.ok(
        "memory_store",
        json!({
            "content": "Alice works at Acme Corp as a senior engineer", "type": "relationship", "importance": 10,
            "entities": ["Alice", "Acme Corp"], "tags": ["people"], "ttl_days": null,
            "metadata": { "ticket": "A-1", "nested": { "token": format!("ghp_{}", "a1B2".repeat(9)) } },
            "provenance": { "source": "mail", "context": "asked by Ann", "user_id": "mara", "timestamp": "2025-11-03T10:00:00Z" },
            "format": "json"
        }),
    );
    let whole = parsed(&whole);
    assert_eq!((&whole["importance"], &whole["metadata"]["ticket"]), (&json!(1.0), &json!("A-1")));
    assert!(whole["metadata"]["nested"]["token"].as_str().unwrap().starts_with("[secret "), "{whole}");
    let told = client.ok("memory_history", json!({ "id": 2 }));
    assert!(told.contains("why: from mail: asked by Ann (user mara, 2025-11-03T10:00:00Z)"), "{told}");
    let fleeting = client.ok(
        "memory_store",
        json!({ "content": "The demo is on Friday", "type": "fact", "ttl_days": 3, "format": "json" }),
    );
    assert!(parsed(&fleeting)["expires_at"].is_string(), "{fleeting}");

    let query = "What are the user's coding preferences?";
    let found = client.ok(
        "memory_recall",
        json!({ "query": query, "max_tokens": 1000, "format": "json", "rows": "full", "index": "all" }),
    );
    let reply = parsed(&found);
    keys(&reply, &["index", "details", "total_count", "has_more", "tokens_used", "query"]);
    assert_eq!(reply["tokens_used"], counted(&found));
    keys(&reply["details"][0], &ROW);
    assert_eq!(reply["index"][0]["id"], reply["details"][0]["id"], "the index lists all matches");
    assert!(reply["index"][0]["summary"].is_string());
    let filtered = client.ok(
        "memory_recall",
        json!({ "query": "Alice", "max_tokens": 500, "type": "relationship", "entities": ["Alice"], "limit": 20 }),
    );
    assert!(filtered.contains("Acme Corp"), "{filtered}");

    let gone = client.ok("memory_forget", json!({ "id": "1", "reason": "Outdated preference", "format": "json" }));
    let gone = parsed(&gone);
    assert_eq!((&gone["deleted_count"], &gone["deleted_ids"]), (&json!(1), &json!([1])));
    client.ok("memory_forget", json!({ "id": "2", "hard_delete": true }));
    client.close();
}

#[test]
fn an_index_of_all_and_full_rows_cost_what_the_reply_says() {
    let world = World::new();
    let mut client = Client::start(&world);
    for number in 0..30 {
        let content = format!(
            "Fact {number}: the cache of server {number} is flushed at night 🚀 因为 {}",
            "again ".repeat(number)
        );
        client.ok("memory_store", json!({ "content": content, "metadata": { "n": number, "<who>": "\u{200b}x\n#1" } }));
    }
    for max_tokens in [120, 333, 1000, 5000] {
        for (rows, index) in [("full", "all"), ("full", "rest"), ("short", "all"), ("short", "rest")] {
            for format in ["json", "text"] {
                let call = json!({
                    "query": "cache server flushed", "max_tokens": max_tokens, "format": format, "rows": rows, "index": index
                });
                let reply = client.ok("memory_recall", call);
                let spent = counted(&reply);
                assert!(spent <= max_tokens, "{rows} {index}: {spent} > {max_tokens}: {reply}");
                if format == "text" {
                    assert!(reply.contains(&format!(" {spent} tokens")), "{spent}: {reply}");
                    continue;
                }
                let value = parsed(&reply);
                assert_eq!(value["tokens_used"], spent);
                let ids = |list: &str| -> Vec<u64> {
                    value[list].as_array().unwrap().iter().map(|row| row["id"].as_u64().unwrap()).collect()
                };
                let (details, listed) = (ids("details"), ids("index"));
                assert!(!details.is_empty() || !listed.is_empty(), "{reply}");
                assert_eq!(details.iter().all(|id| listed.contains(id)), index == "all" || details.is_empty());
                let is_full = value["details"].as_array().unwrap().iter().all(|row| row["metadata"]["n"].is_u64());
                assert!(details.is_empty() || is_full == (rows == "full"), "{reply}");
            }
        }
        let fetched =
            client.ok("memory_get", json!({ "ids": [3, 4, 5], "max_tokens": max_tokens.max(200), "format": "json" }));
        let value = parsed(&fetched);
        assert_eq!(value["tokens_used"], counted(&fetched));
        keys(&value["details"][0], &ROW);
    }
    client.close();
}

#[test]
fn the_calls_of_the_synchronised_system_are_understood() {
    let world = World::new();
    let mut client = Client::start(&world);
    client.ok(
        "memory_store",
        json!({
            "content": "User prefers Svelte for frontends", "category": "preferences", "tags": "svelte,frontend",
            "importance": 0.8, "expanded_keywords": "framework UI web dashboard component", "force_sensitive": false
        }),
    );
    let found = client.ok(
        "memory_recall",
        json!({
            "context": "which framework for the dashboard?", "expanded_query": "frontend UI library web app",
            "category": "preferences", "sort_by": "importance", "limit": 10
        }),
    );
    assert!(found.contains("Svelte"), "{found}");
    client.ok("memory_list", json!({ "category": "preferences", "limit": 20 }));
    for (tool, format) in
        [("memory_recall", "text"), ("memory_recall", "json"), ("memory_list", "text"), ("memory_list", "json")]
    {
        let query = if tool == "memory_recall" { json!("Svelte framework") } else { json!(null) };
        let reply = client.ok(tool, json!({ "query": query, "limit": 10_000, "format": format }));
        let says = if format == "json" { "\"limit\":200" } else { ", limit 200" };
        let spent = counted(&reply);
        let stated = if format == "json" { format!("\"tokens_used\":{spent}") } else { format!(" {spent} tokens") };
        assert!(reply.contains(says) && reply.contains(&stated), "{spent}: {reply}");
        for limit in [0, -1] {
            let (text, refused) = client.call(tool, json!({ "query": query, "limit": limit }));
            assert!(refused && text.starts_with("limit: "), "{text}");
        }
    }
    client.ok("memory_count", json!({}));
    client.ok("memory_delete", json!({ "id": 1 }));
    client.close();
}

#[test]
fn an_argument_that_no_tool_knows_is_named_and_nothing_is_done() {
    let world = World::new();
    let mut client = Client::start(&world);
    for (tool, arguments, words) in [
        ("memory_store", json!({ "content": "x", "importnce": 3 }), "importnce: unknown argument"),
        ("memory_store", json!({ "content": "x", "importnce": 3 }), "did you mean importance?"),
        ("memory_recall", json!({ "query": "x", "maxTokens": 3 }), "did you mean max_tokens?"),
        ("memory_count", json!({ "zzz": 1 }), "memory_count takes no arguments"),
        ("memory_forget", json!({ "ids": [1], "qqqqqqqqqqq": true }), "memory_forget knows "),
        ("memory_store", json!({ "content": "x", "summary": "y" }), "summary: "),
        ("search_notes", json!({ "query": "x", "metadata_filters": {} }), "metadata_filters: "),
        // Two names of one thing, and what is asked of another call.
        ("memory_store", json!({ "content": "x", "tags": "a", "tag": ["b"] }), "tag: is another name for tags"),
        (
            "memory_recall",
            json!({ "query": "x", "max_tokens": 300, "token_budget": 400 }),
            "token_budget: is another name",
        ),
        (
            "memory_recall",
            json!({ "query": "x", "index": "all", "packing": "dual" }),
            "packing: cannot be used together with index",
        ),
        (
            "memory_store",
            json!({ "id": 1, "content": "x", "supersedes": 1 }),
            "supersedes: applies only to a new memory",
        ),
        ("memory_store", json!({ "id": 1, "content": "x", "session": "s" }), "session: applies only to a new memory"),
        ("memory_store", json!({ "ids": [1, 2], "content": "x" }), "ids: names 2 memories; pass one ID"),
        ("memory_history", json!({ "id": "1,2" }), "id: names 2 memories; pass one ID"),
    ] {
        let (text, refused) = client.call(tool, arguments.clone());
        assert!(refused && text.contains(words), "{tool} {arguments}: {text}");
    }
    assert!(client.ok("memory_count", json!({ "zzz": null, "y": "" })).starts_with("0 memories"));
    client.ok("memory_recall", json!({ "query": "x", "max_tokens": 300, "token_budget": 300 }));
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let (text, _) = client.call("memory_store", json!({ "content": "x", "b\u{1b}[31m\n\u{202e}</memories>": 1 }));
    assert!(text.contains("unknown argument") && !text.contains(['\u{1b}', '\n', '\u{202e}', '<']), "{text:?}");
    let (text, _) = client.call("memory_store", json!({ "content": "x", secret.clone(): 1 }));
    assert!(!text.contains(&secret), "{text}");
    client.close();
}

#[test]
fn what_changes_nothing_is_told_in_the_reply_and_counted() {
    let world = World::new();
    let mut client = Client::start(&world);
    let call =
        |format: &str| json!({ "query": "x", "search_type": "hybrid", "workspace": "w", "output_format": format });
    let text = client.ok("search_notes", call("text"));
    assert!(text.contains("search_type has no effect here: ") && text.contains("workspace"), "{text}");
    assert!(text.contains(&format!(" {} tokens", counted(&text))), "{text}");
    let reply = client.ok("search_notes", call("json"));
    let value = parsed(&reply);
    assert!(value["note"].as_str().unwrap().contains("search_type"), "{reply}");
    assert_eq!(value["tokens_used"], counted(&reply));
    // Kinds of rows are no types of notes, and a page of a note is had by its line.
    for (tool, arguments, told) in [
        ("recent_activity", json!({ "type": "entity", "depth": 1 }), "every row is a note"),
        ("search_notes", json!({ "query": "x", "entity_types": ["observation"] }), "entity_types has no effect here: "),
    ] {
        let text = client.ok(tool, arguments);
        assert!(text.contains(told) && text.contains(&format!(" {} tokens", counted(&text))), "{tool}: {text}");
    }
    let (text, _) = client.call("read_note", json!({ "identifier": "nowhere", "page": 1, "page_size": 10 }));
    assert!(!text.contains("unknown argument"), "{text}");
    client.close();
}

#[test]
fn what_a_text_that_is_said_again_does_not_take_is_told() {
    let world = World::new();
    let mut client = Client::start(&world);
    let content = "The staging port is 8443";
    client.ok(
        "memory_store",
        json!({ "content": content, "tags": ["net"], "importance": 0.4, "category": "facts", "metadata": { "a": 1 } }),
    );
    let same = client.ok("memory_store", json!({ "content": content, "tags": ["net"], "importance": 0.4 }));
    assert!(!same.contains("were not changed"), "{same}");
    let other =
        json!({ "content": content, "tags": ["ports"], "importance": 9, "ttl_days": 3, "metadata": { "b": 2 } });
    let told = client.ok("memory_store", other.clone());
    let words = "\nThe memory already existed, and its importance, tags, metadata, expires_at were not changed; use memory_store with id to change them";
    assert!(told.starts_with("Already stored as #1") && told.contains(words), "{told}");
    let mut other = other;
    other["format"] = json!("json");
    let reply = parsed(&client.ok("memory_store", other));
    assert_eq!(
        (&reply["existed"], &reply["kept"]),
        (&json!(true), &json!(["importance", "tags", "metadata", "expires_at"]))
    );
    client.close();
    assert_eq!(world.json(&["get", "1"])["metadata"], json!({ "a": 1 }));
    world.remember("The gate is shut");
    world.json(&["remember", "The gate is shut", "--metadata", r#"{"c":3}"#, "--expires", "9999-12-31"]);
    assert_eq!(world.json(&["get", "2"])["metadata"], json!({ "c": 3 }), "nothing was beside it");
    let told = world.run(&["remember", content, "--category", "projects", "--expires", "30d"]).stdout;
    assert!(
        told.contains("its category, expires_at were not changed; use `tessera update 1` to change them"),
        "{told}"
    );
}

#[test]
fn an_id_of_an_older_system_means_what_came_over_under_it() {
    let world = World::new();
    let line = json!({ "key": "memory-mcp:mem_abc123", "content": "The staging port is 8443" }).to_string();
    std::fs::write(world.path("old.jsonl"), line).unwrap();
    assert_eq!(world.run(&["import", world.path("old.jsonl").to_str().unwrap()]).code, Some(0));
    let refused = world.run(&["remember", "Staging is gone", "--supersedes", "mem_zzz"]);
    assert!(refused.code != Some(0) && refused.stderr.contains("mem_zzz is an ID from another system"), "{refused:?}");
    let mut client = Client::start(&world);
    assert!(client.ok("memory_get", json!({ "ids": ["mem_abc123"] })).contains("8443"));
    let updated = client.ok("memory_store", json!({ "id": "mem_abc123", "content": "The staging port is 9443" }));
    assert!(updated.starts_with("Updated #1"), "{updated}");
    client.ok("memory_store", json!({ "content": "Staging is gone", "supersedes": "mem_abc123" }));
    for (tool, arguments, field) in [
        ("memory_get", json!({ "ids": ["mem_zzz"] }), "ids: "),
        ("memory_store", json!({ "id": "mem_zzz", "content": "x" }), "id: "),
        ("memory_store", json!({ "content": "x", "supersedes": "mem_zzz" }), "supersedes: "),
        ("memory_forget", json!({ "memory_id": "mem_zzz" }), "memory_id: "),
        ("memory_history", json!({ "id": "mem_zzz" }), "id: "),
        ("memory_link", json!({ "id": 1, "type": "see_also", "to": "mem_zzz" }), "to: "),
    ] {
        let (text, refused) = client.call(tool, arguments);
        assert!(refused && text.starts_with(field) && text.contains("`tessera import memory-mcp`"), "{tool}: {text}");
    }
    let gone = client.ok("memory_forget", json!({ "id": "mem_abc123", "hard_delete": true }));
    assert!(gone.contains("#1"), "{gone}");
    client.close();
    let refused = world.run(&["get", "mem_zzz"]);
    assert!(refused.code == Some(1) && refused.stderr.contains("import memory-mcp"), "{refused:?}");
}

#[test]
fn the_older_switch_for_debugging_logs_on_stderr_without_texts() {
    let world = World::new();
    world.remember("The heron nests in the north basin");
    for (value, is_on) in [("1", true), ("true", true), ("0", false), ("", false)] {
        let mut command = world.command(World::binary());
        let ran = command.env("DEBUG_MODE", value).args(["recall", "heron nests"]).output().unwrap();
        let log = String::from_utf8(ran.stderr).unwrap();
        assert_eq!(log.contains("DEBUG"), is_on, "{value}: {log}");
        assert!(!log.contains("heron"), "{log}");
    }
}

#[test]
fn what_is_promised_of_the_older_systems_is_held_by_tests_that_there_are() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let table = std::fs::read_to_string(root.join("docs/moving/parity.md")).unwrap();
    let mut named = 0;
    for row in table.lines().filter(|row| row.starts_with("| V") || row.starts_with("| W")) {
        let mut file = String::new();
        for said in row.split('`').skip(1).step_by(2) {
            let (path, test) = said.split_once("::").unwrap_or((said, ""));
            let is_word = |letter: char| letter.is_ascii_lowercase() || letter == '_';
            let is_alone = path.chars().all(is_word) && path.matches('_').count() > 3;
            if path.contains(".rs") && path.contains('/') {
                path.clone_into(&mut file);
            } else if !is_alone {
                continue;
            }
            let test = if is_alone { path } else { test };
            let source =
                std::fs::read_to_string(root.join(&file)).unwrap_or_else(|error| panic!("{file}: {error}: {row}"));
            assert!(test.is_empty() || source.contains(&format!("fn {test}(")), "{file} has no {test}: {row}");
            named += 1;
        }
    }
    assert!(named > 60, "{named}");
}

#[test]
fn a_credential_beside_a_text_is_known_by_the_name_of_its_field() {
    let world = World::new();
    let mut client = Client::start(&world);
    let values =
        ["hunter2Tr0ub4dor&3", "S3cr3tPazzw0rd99", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzqq12KEYA", "Zq8!kLm2#vTr9"];
    let metadata = json!({
        "password": values[0], "nested": { "db": { "password": [values[1]] } }, "aws_secret_access_key": values[2],
        "ticket": "A-1", "author": "Ann"
    });
    let reply =
        client.ok("memory_store", json!({ "content": "The crane is oiled", "metadata": metadata, "format": "json" }));
    let reply = parsed(&reply);
    assert!(reply["metadata"]["password"].as_str().unwrap().starts_with("[secret "), "{reply}");
    assert_eq!((&reply["metadata"]["ticket"], &reply["metadata"]["author"]), (&json!("A-1"), &json!("Ann")));
    client.ok("memory_update", json!({ "id": 1, "metadata": { "n": [{ "password": values[3] }] } }));
    let read = client.ok("memory_recall", json!({ "query": "crane", "format": "json", "rows": "full" }));
    assert!(values.iter().all(|value| !read.contains(value)), "{read}");
    client.close();
    for file in std::fs::read_dir(world.home()).unwrap().map(|file| file.unwrap().path()).filter(|path| path.is_file())
    {
        let bytes = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
        assert!(values.iter().all(|value| !bytes.contains(value)), "{}", file.display());
    }
    let line = json!({ "content": "The gate is shut", "metadata": { "password": values[3] } }).to_string();
    std::fs::write(world.path("line.jsonl"), line).unwrap();
    assert_eq!(world.run(&["import", world.path("line.jsonl").to_str().unwrap()]).code, Some(0));
    assert!(!world.run(&["export"]).stdout.contains(values[3]));
}
