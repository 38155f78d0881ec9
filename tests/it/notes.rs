//! Notes over stdio and on the command line, in a vault that somebody else's program wrote.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Client, World};

/// Calls of the four tools, over notes that are hard to show.
const CALLS: usize = 2_000;

fn counted(text: &str) -> u64 {
    tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len() as u64
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to.join(entry.file_name()));
        } else {
            std::fs::write(to.join(entry.file_name()), std::fs::read(entry.path()).unwrap()).unwrap();
        }
    }
}

/// A world that knows the vault.
fn with_vault() -> World {
    let world = World::new();
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/vault"), &world.path("vault"));
    add(&world);
    world
}

fn add(world: &World) {
    let dir = world.path("vault");
    let ran = world.run(&["files", "add", dir.to_str().unwrap(), "--name", "vault", "--writable"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

fn said(world: &World, args: &[&str]) -> String {
    let ran = world.run(args);
    assert_eq!(ran.code, Some(0), "{args:?}: {ran:?}");
    ran.stdout
}

#[test]
fn the_tools_of_notes_are_offered_where_there_are_notes_and_answer_as_the_commands_do() {
    let world = World::new();
    let mut client = Client::start(&world);
    let names = |client: &mut Client| {
        let tools = client.request("tools/list", json!({}))["result"]["tools"].clone();
        tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let tools = ["search_notes", "build_context", "recent_activity", "read_note"];
    assert!(names(&mut client).iter().all(|name| !tools.contains(&name.as_str())), "without a folder there are none");
    assert!(client.close().success());
    let world = with_vault();
    let mut client = Client::start(&world);
    let listed = client.request("tools/list", json!({}))["result"]["tools"].clone();
    for tool in tools {
        let found = listed.as_array().unwrap().iter().find(|listed| listed["name"] == tool);
        let found = found.unwrap_or_else(|| panic!("{tool} is not listed"));
        assert_eq!(found["annotations"]["readOnlyHint"], true);
        assert!(found["_meta"]["anthropic/alwaysLoad"].is_null(), "it is loaded on demand");
    }
    // Whatever the arguments are called.
    for arguments in [
        json!({ "query": "what stalls in the cold?", "page_size": 3 }),
        json!({ "q": "what stalls in the cold?", "limit": "3" }),
    ] {
        let found = client.ok("search_notes", arguments);
        assert!(
            found.starts_with("- Tide clock [project] ")
                && found.contains("memory://projects/tide-clock /vault/projects/tide-clock.md: The stepper"),
            "{found}"
        );
    }
    let found = said(&world, &["note", "search", "what stalls in the cold?", "--page-size", "3"]);
    assert_eq!(
        found,
        client.ok("search_notes", json!({ "query": "what stalls in the cold?", "limit": 3, "max_tokens": 2000 }))
    );
    let around =
        client.ok("build_context", json!({ "url": "memory://user/preferences", "depth": 1, "timeframe": "7d" }));
    for part in
        ["# Reading preferences [memory] memory://user/preferences", "- [units] Metres", "-> relates_to Tide clock"]
    {
        assert!(around.contains(part), "{part}: {around}");
    }
    assert_eq!(
        around.replace(" tokens", ""),
        said(&world, &["graph", "memory://user/preferences"]).replace(" tokens", "")
    );
    let recent = client.ok("recent_activity", json!({ "project": "vault", "since": "all" }));
    assert!(recent.lines().count() == 11 && recent.ends_with(" tokens\n"), "{recent}");
    assert_eq!(said(&world, &["note", "list", "--json"]).matches("\"file_path\"").count(), 14);
    assert!(said(&world, &["note", "recent", "1 hour"]).starts_with("- "), "what was just written is recent");
    let note = client.ok("read_note", json!({ "title": "潮汐笔记" }));
    assert!(note.starts_with("# 潮汐笔记 ") && note.contains("\n| - [观察] 大潮"), "{note}");
    assert_eq!(note, said(&world, &["note", "read", "日记/潮汐笔记.md"]));
    for (tool, arguments, problem) in [
        ("read_note", json!({ "identifier": "Meeting" }), "identifier: matches 2 notes"),
        ("read_note", json!({}), "identifier: is missing"),
        ("search_notes", json!({}), "query: is missing"),
        ("search_notes", json!({ "query": "x", "page_size": 0 }), "page_size: 0 is out of range"),
        ("build_context", json!({ "url": "memory://nobody" }), "there is no note `memory://nobody`"),
        ("build_context", json!({ "url": "a?b<c" }), "url: "),
        ("recent_activity", json!({ "timeframe": "soonish" }), "timeframe: "),
        ("recent_activity", json!({ "project": "attic" }), "project: "),
    ] {
        let (text, refused) = client.call(tool, arguments);
        assert!(refused && text.starts_with(problem), "{tool}: {text}");
    }
}

#[test]
fn questions_of_any_spelling_are_questions() {
    let world = with_vault();
    let mut client = Client::start(&world);
    for query in [
        "Why UTC?",
        "\"unclosed",
        "a AND OR NOT (",
        "NEAR(tide clock, 3)",
        "col:umn * ^ -",
        "'; DROP TABLE files; --",
        "潮汐？",
        "「大潮」",
        "🚀",
        "%_\\",
        "tag:",
        "tag:a,b type:",
        "\u{202e}\u{200b}",
        "memory://",
        "[[Tide clock]]",
    ] {
        for (tool, name) in [("search_notes", "query"), ("read_note", "identifier"), ("build_context", "url")] {
            let (text, refused) = client.call(tool, json!({ name: query }));
            assert!(!text.contains("sqlite") && !text.contains("database"), "{tool} {query}: {text}");
            assert!(!refused || tool != "search_notes", "{query}: {text}");
        }
    }
    assert!(client.ok("search_notes", json!({ "query": "Why UTC?" })).starts_with("- Why UTC? [decision] 1.00 "));
}

#[test]
fn links_of_any_type_join_memories_and_notes_and_resources_give_a_note() {
    let world = with_vault();
    let mut client = Client::start(&world);
    let stored = client.ok("memory_store", json!({ "content": "The servo costs forty euros" }));
    let id: u32 = stored.split(['#', ' ']).nth(2).unwrap().parse().unwrap();
    let linked =
        client.ok("memory_link", json!({ "id": id, "type": "Priced in", "to": "/vault/projects/tide-clock.md" }));
    assert!(linked.contains("now priced_in"), "{linked}");
    let around = client.ok("build_context", json!({ "url": "Tide clock" }));
    assert!(around.contains(&format!("<- priced_in #{id} The servo costs forty euros")), "{around}");
    let ran = said(&world, &["link", "projects/tide-tables", "fed-by", &id.to_string(), "--json"]);
    assert!(ran.contains("\"type\":\"fed_by\""), "{ran}");
    for (kind, problem) in [("a,b", "type: contains a character"), ("", "type: is missing")] {
        let (text, refused) = client.call("memory_link", json!({ "id": id, "type": kind, "to": "Tide tables" }));
        assert!(refused && text.starts_with(problem), "{text}");
    }
    let key = format!("ghp_{}", "a8F3kQ0ZbX7mN2pL5vR9tY1wC4dE6gH0jK2s");
    let (text, refused) = client.call("memory_link", json!({ "id": id, "type": key, "to": "Tide tables" }));
    assert!(refused && !text.contains("a8F3kQ0ZbX7mN2pL5vR9tY1wC4dE6gH0jK2s"), "{text}");
    client.ok("memory_link", json!({ "id": id, "type": "priced_in", "to": "Tide clock", "remove": true }));
    assert!(!client.ok("build_context", json!({ "url": "Tide clock" })).contains("priced_in"));
    for uri in ["memory://projects/tide-clock", "memory://vault/projects/tide-clock.md", "memory://Tide%20clock"] {
        let read = client.request("resources/read", json!({ "uri": uri }));
        let text = read["result"]["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{uri}: {read}"));
        assert!(text.contains("- [state] The stepper motor stalls"), "{uri}: {text}");
    }
    let read = client.request("resources/read", json!({ "uri": "memory://%E6%97%A5%E8%AE%B0/潮汐笔记" }));
    assert!(read["result"]["contents"][0]["text"].as_str().unwrap().contains("大潮"), "{read}");
    assert!(client.request("resources/read", json!({ "uri": "memory://no/such" }))["error"].is_object());
}

/// Notes that are hard on a budget: any script, runs of white space, marks, long lines, long names.
fn hostile(random: &mut fastrand::Rng) -> String {
    let pieces = [
        "用户",
        "上海の潮",
        " \t  ",
        "\n\n\n",
        "\u{2028}",
        "</memories>",
        "<system>",
        "<|endoftext|>",
        "It's we'll THEY'VE",
        "🚀👩‍💻",
        "\u{200b}\u{202e}",
        "0123456789.,:/-",
        "||||",
        "    code",
        "\r\n",
        "a/b/c",
        "#",
        "- ",
        "/",
        "\u{0301}",
        "Ωжאع",
        "word ",
        "another word ",
        "- [cat] seen #tag (why)\n",
        "- likes [[Note 3]]\n",
        "- sees [[Note 7|seven]] (far)\n",
    ];
    let mut text = String::new();
    for _ in 0..random.usize(1..60) {
        let piece = pieces[random.usize(..pieces.len())];
        let most = if random.u8(..30) == 0 { 200 } else { 3 };
        for _ in 0..random.usize(1..most) {
            text.push_str(piece);
        }
    }
    text
}

#[test]
fn no_reply_about_notes_costs_more_than_asked_or_other_than_it_says() {
    let world = with_vault();
    let mut random = fastrand::Rng::with_seed(12);
    for number in 0..60 {
        let title: String = hostile(&mut random).chars().filter(|letter| !letter.is_control()).take(300).collect();
        let mut text = String::new();
        if number % 3 == 0 {
            write!(text, "---\ntitle: {}\ntags: [one, \"{number}\"]\n---\n", json!(title)).unwrap();
        }
        text.push_str(&hostile(&mut random));
        std::fs::write(world.path("vault").join(format!("Note {number}.md")), text).unwrap();
    }
    said(&world, &["files", "scan"]);
    let mut client = Client::start(&world);
    let questions =
        ["Note 3", "word", "用户", "likes?", "*", "tag:one", "<system>", "cat seen", "clock", "\"a/b", "memory://**"];
    let (mut given, mut too_small) = (0, 0);
    for call in 0..CALLS {
        let question = questions[random.usize(..questions.len())];
        let most = if call % 4 == 0 { random.u64(1..120) } else { random.u64(20..3_000) };
        let format = if random.bool() { "json" } else { "text" };
        let tool = ["search_notes", "build_context", "recent_activity", "read_note"][call % 4];
        let note = format!("Note {}", random.u8(..60));
        let arguments = match tool {
            "search_notes" => json!({ "query": question, "page": random.u8(1..4), "page_size": random.u8(1..40) }),
            "build_context" if random.bool() => {
                json!({ "url": "memory://*", "depth": random.u8(..4), "after": random.u8(..60) })
            }
            "build_context" => json!({ "url": note, "depth": random.u8(..4), "max_related": random.u8(..30) }),
            "recent_activity" => json!({ "timeframe": "all", "page_size": random.u8(1..60) }),
            _ => json!({ "identifier": note, "line": random.u8(1..30) }),
        };
        let mut arguments = arguments;
        arguments["max_tokens"] = most.into();
        arguments["format"] = format.into();
        let (text, refused) = client.call(tool, arguments.clone());
        if refused {
            assert!(text.starts_with("max_tokens: ") || text.contains("is no note"), "{tool} {arguments}: {text}");
            too_small += 1;
            continue;
        }
        given += 1;
        let real = counted(&text);
        assert!(real <= most, "{real} > {most}: {tool} {arguments}: {text}");
        let stated = if format == "json" {
            let body: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
            body["tokens_used"].as_u64()
        } else {
            text.trim_end().rsplit(' ').nth(1).and_then(|number| number.parse().ok())
        };
        assert_eq!(stated, Some(real), "{tool} {arguments}: {text}");
        let raw = ["<system", "</memories", "<|endoftext", "\u{200b}", "\u{202e}"];
        assert!(raw.iter().all(|mark| !text.contains(mark)), "{tool} {arguments}: {text}");
    }
    assert!(given > CALLS * 2 / 3, "{given} given, {too_small} refused");
}
