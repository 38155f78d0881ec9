//! Memories: stored, listed, changed, removed and imported.

use serde_json::{Value, json};

use super::{MEMORIES, SYNC, asked, in_category, one, shared, stored};
use crate::older::steps::{Check, Is, check, delete, get, post, put};

pub(super) fn storing() -> Vec<Check> {
    let sent = |body: Value| post("alice", MEMORIES, body);
    vec![
        check(
            "what was stored has a number, a category and an importance",
            [sent(json!({ "content": "x", "category": "people", "importance": 0.25 }))
                .has("/id", Is::Integer)
                .is("/category", "people")
                .is("/importance", 0.25)],
        ),
        check(
            "facts is the category of what has none",
            [sent(json!({ "content": "The gotcha is in the runbook" })).is("/category", "facts")],
        ),
        check(
            "0.5 is the importance of what has none",
            [sent(json!({ "content": "Never deploy on Friday, always ask" })).is("/importance", 0.5)],
        ),
        check(
            "an importance of 0.7 is 0.7",
            [sent(json!({ "content": "x", "importance": 0.7 })).is("/importance", 0.7)],
        ),
        check(
            "an importance is from 0 to 1",
            [
                sent(json!({ "content": "x", "importance": 1.5 })).gives(422),
                sent(json!({ "content": "x", "importance": -0.1 })).gives(422),
                sent(json!({ "content": "x", "importance": 0 })),
                sent(json!({ "content": "y", "importance": 1 })),
            ],
        ),
        check("a memory has a text", [sent(json!({ "category": "facts" })).gives(422)]),
        check(
            "what is not known is ignored",
            [sent(json!({ "content": "x", "mood": "good", "id": 7 })).has("/id", Is::Integer)],
        ),
        check(
            "a store of the offline queue is taken",
            [sent(json!({ "local_id": 3, "content": "x", "category": "facts", "tags": "",
            "expanded_keywords": "", "importance": 0.5, "force_sensitive": false }))
            .has("/id", Is::Integer)],
        ),
        check(
            "a category of one's own is kept",
            [sent(json!({ "content": "x", "category": "recipes" })).is("/category", "recipes")],
        ),
        check(
            "a text of 800 characters is stored, and one of 1400",
            [sent(json!({ "content": "word ".repeat(160) })), sent(json!({ "content": "word ".repeat(280) }))],
        ),
        check(
            "any number of keywords is stored",
            [sent(json!({ "content": "x", "expanded_keywords": "svelte ".repeat(70) }))],
        ),
    ]
}

pub(super) fn listing() -> Vec<Check> {
    vec![
        check(
            "a row of a list has every documented field",
            [
                one(),
                get("alice", MEMORIES)
                    .has("/memories", Is::Many(1))
                    .has("/memories/0/id", Is::Saved("m"))
                    .has("/memories/0/content", Is::With("lighthouse"))
                    .is("/memories/0/category", "facts")
                    .is("/memories/0/importance", 0.5)
                    .is("/memories/0/is_sensitive", false)
                    .has("/memories/0/created_at", Is::Time)
                    .has("/memories/0/updated_at", Is::Time),
            ],
        ),
        check("tags are a text with commas", [one(), get("alice", MEMORIES).is("/memories/0/tags", "port,tea")]),
        check(
            "tags come back as they were sent",
            [stored("alice", "x", "Zeta,Alpha", 0.5), get("alice", MEMORIES).is("/memories/0/tags", "Zeta,Alpha")],
        ),
        check(
            "a list has the most important first",
            [
                stored("alice", "low", "", 0.2),
                stored("alice", "high", "", 0.9),
                stored("alice", "mid", "", 0.4),
                get("alice", MEMORIES).is("/memories/0/content", "high").is("/memories/2/content", "low"),
            ],
        ),
        check(
            "a list may be of one category",
            [
                one(),
                in_category("Ada likes opera", "people"),
                get("alice", "/api/memories?category=people")
                    .has("/memories", Is::Many(1))
                    .is("/memories/0/content", "Ada likes opera"),
            ],
        ),
        check(
            "a list is as long as asked for",
            [one(), stored("alice", "y", "", 0.5), get("alice", "/api/memories?limit=1").has("/memories", Is::Many(1))],
        ),
        check(
            "a list may be asked for 10000",
            [one(), get("alice", "/api/memories?limit=10000").has("/memories", Is::Many(1))],
        ),
        check(
            "a list ignores what it does not know",
            [one(), get("alice", "/api/memories?mood=good").has("/memories", Is::Many(1))],
        ),
        check("a list has no memories of others", [one(), get("bob", MEMORIES).has("/memories", Is::Many(0))]),
    ]
}

pub(super) fn changing() -> Vec<Check> {
    let change = |who, body: Value| put(who, "/api/memories/{m}", body);
    vec![
        check(
            "a change of the text names the memory",
            [
                one(),
                change("alice", json!({ "content": "The keeper drinks coffee" })).has("/updated", Is::Saved("m")),
                get("alice", MEMORIES).is("/memories/0/content", "The keeper drinks coffee"),
            ],
        ),
        check(
            "tags are changed by a text",
            [
                one(),
                change("alice", json!({ "tags": "harbour,milk" })),
                get("alice", MEMORIES).is("/memories/0/tags", "harbour,milk"),
            ],
        ),
        check(
            "an importance is changed",
            [
                one(),
                change("alice", json!({ "importance": 0.9 })),
                get("alice", MEMORIES).is("/memories/0/importance", 0.9),
            ],
        ),
        check(
            "keywords are changed",
            [
                one(),
                change("alice", json!({ "expanded_keywords": "beverage kettle" })),
                asked("beverage kettle").has("/memories/0/id", Is::Saved("m")),
                get("alice", SYNC).is("/memories/0/expanded_keywords", "beverage kettle"),
            ],
        ),
        check("a change names a field", [one(), change("alice", json!({})).gives(400)]),
        check(
            "a change is of a memory that is there",
            [put("alice", "/api/memories/999999", json!({ "content": "x" })).gives(404)],
        ),
        check("a change keeps to the limits", [one(), change("alice", json!({ "importance": 2 })).gives(422)]),
        check(
            "a share for reading changes nothing",
            [
                one(),
                shared("read"),
                get("bob", "/api/memories/shared-with-me").save("m", "/memories/0/id"),
                change("bob", json!({ "content": "x" })).gives(403),
            ],
        ),
        check(
            "a share for writing changes the text",
            [
                one(),
                shared("write"),
                get("bob", "/api/memories/shared-with-me").save("m", "/memories/0/id"),
                change("bob", json!({ "content": "The keeper drinks cocoa" })),
                get("alice", MEMORIES).is("/memories/0/content", "The keeper drinks cocoa"),
            ],
        ),
        check(
            "a share for writing is of tags and importance too",
            [
                one(),
                shared("write"),
                get("bob", "/api/memories/shared-with-me").save("m", "/memories/0/id"),
                change("bob", json!({ "tags": "cocoa", "importance": 0.8 })),
            ],
        ),
    ]
}

pub(super) fn removing() -> Vec<Check> {
    vec![
        check(
            "a deletion names the memory and how it begins",
            [
                one(),
                delete("alice", "/api/memories/{m}")
                    .has("/deleted", Is::Saved("m"))
                    .is("/preview", "The lighthouse keeper drinks tea"),
                get("alice", MEMORIES).has("/memories", Is::Many(0)),
                asked("lighthouse").has("/memories", Is::Many(0)),
            ],
        ),
        check(
            "a second deletion is no error",
            [
                one(),
                delete("alice", "/api/memories/{m}"),
                delete("alice", "/api/memories/{m}")
                    .has("/deleted", Is::Saved("m"))
                    .is("/preview", "[already deleted]"),
            ],
        ),
        check(
            "a deletion of what never was is no error",
            [delete("alice", "/api/memories/999999").is("/deleted", 999_999).is("/preview", "[already deleted]")],
        ),
        check(
            "only its owner deletes a memory",
            [
                one(),
                shared("write"),
                get("bob", "/api/memories/shared-with-me").save("m", "/memories/0/id"),
                delete("bob", "/api/memories/{m}").gives(403),
            ],
        ),
        check("what is no number is refused", [delete("alice", "/api/memories/lighthouse").gives(422)]),
    ]
}

pub(super) fn importing() -> Vec<Check> {
    let rows = json!([{ "content": "one" }, { "content": "two", "category": "preferences", "importance": 0.8 }]);
    vec![
        check(
            "an import says what each row became",
            [
                post("alice", "/api/memories/import", rows)
                    .has("", Is::Many(2))
                    .has("/0/id", Is::Integer)
                    .is("/0/category", "facts")
                    .is("/0/importance", 0.5)
                    .has("/1/id", Is::Integer)
                    .is("/1/category", "preferences")
                    .is("/1/importance", 0.8),
                get("alice", MEMORIES).has("/memories", Is::Many(2)),
            ],
        ),
        check("an import is a list", [post("alice", "/api/memories/import", json!({ "content": "x" })).gives(422)]),
    ]
}
