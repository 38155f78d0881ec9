//! Questions.

use serde_json::json;

use super::{MEMORIES, RECALL, asked, in_category, one, stored};
use crate::older::steps::{Check, Is, Step, check, post};

fn by(sort: &str) -> Step {
    post("alice", RECALL, json!({ "context": "harbour crane", "sort_by": sort, "limit": 10 }))
}

fn cranes() -> [Step; 3] {
    [
        stored("alice", "The harbour crane is green", "", 0.3),
        stored("alice", "The harbour crane was painted", "", 0.9),
        stored("alice", "The harbour crane lifts ten tons", "", 0.6),
    ]
}

pub(super) fn recalling() -> Vec<Check> {
    vec![
        check(
            "recall finds what was asked for",
            [one(), asked("who drinks tea in the lighthouse").has("/memories/0/id", Is::Saved("m"))],
        ),
        check(
            "recall finds by the expanded query",
            [
                one(),
                post("alice", RECALL, json!({ "context": "beverages", "expanded_query": "coffee tea drinks cup pot" }))
                    .has("/memories/0/id", Is::Saved("m")),
            ],
        ),
        check(
            "recall finds by keywords that were stored",
            [
                post(
                    "alice",
                    MEMORIES,
                    json!({ "content": "Prefers Svelte", "expanded_keywords": "frontend framework dashboard ui web" }),
                )
                .save("m", "/id"),
                asked("which framework for the dashboard").has("/memories/0/id", Is::Saved("m")),
            ],
        ),
        check(
            "recall finds by a tag",
            [
                stored("alice", "Every Tuesday at nine", "billing", 0.5),
                asked("billing").has("/memories/0/id", Is::Saved("m")),
            ],
        ),
        check(
            "recall finds other forms of a word",
            [
                stored("alice", "She runs every morning", "", 0.5),
                asked("running").has("/memories/0/id", Is::Saved("m")),
            ],
        ),
        check(
            "recall may be of one category",
            [
                in_category("The crane operator is Marta", "people"),
                in_category("The crane is green", "facts"),
                post("alice", RECALL, json!({ "context": "crane", "category": "people" }))
                    .has("/memories", Is::Many(1))
                    .has("/memories/0/content", Is::With("Marta")),
            ],
        ),
    ]
}

pub(super) fn ordering() -> Vec<Check> {
    vec![
        check(
            "by importance, the rows that hold all words come first",
            [
                stored("alice", "The wombat diet is grass, says Python", "", 0.9),
                stored("alice", "zebra and wombat diet compared", "", 0.5),
                stored("alice", "A wombat diet needs fibre", "", 0.8),
                asked("zebra wombat diet")
                    .has("/memories", Is::Many(3))
                    .has("/memories/0/content", Is::With("zebra"))
                    .has("/memories/1/content", Is::With("Python"))
                    .has("/memories/2/content", Is::With("fibre")),
            ],
        ),
        check(
            "recall has the most important first",
            cranes()
                .into_iter()
                .chain([by("importance").is("/memories/0/importance", 0.9).is("/memories/2/importance", 0.3)]),
        ),
        check(
            "importance is the order if none is named",
            cranes().into_iter().chain([
                post("alice", RECALL, json!({ "context": "harbour crane" })).is("/memories/0/importance", 0.9)
            ]),
        ),
        check(
            "recall has the newest first",
            cranes()
                .into_iter()
                .chain([by("recency").is("/memories/0/importance", 0.6).is("/memories/2/importance", 0.3)]),
        ),
        check(
            "recall has the best match first",
            [
                stored("alice", "The harbour is deep and wide", "", 0.9),
                stored("alice", "The harbour crane is green", "", 0.1),
                by("relevance").is("/memories/0/importance", 0.1),
            ],
        ),
        check(
            "recall takes any name of an order",
            cranes().into_iter().chain([by("mood").has("/memories", Is::Many(3))]),
        ),
    ]
}

pub(super) fn asking() -> Vec<Check> {
    vec![
        check(
            "recall is as long as asked for",
            cranes()
                .into_iter()
                .chain([post("alice", RECALL, json!({ "context": "harbour crane", "limit": 2 }))
                    .has("/memories", Is::Many(2))]),
        ),
        check(
            "recall may be asked for 10000",
            cranes().into_iter().chain([post("alice", RECALL, json!({ "context": "harbour crane", "limit": 10000 }))
                .has("/memories", Is::Many(3))]),
        ),
        check(
            "a question of nothing lists everything",
            [
                one(),
                stored("alice", "Invoices go out on Monday", "", 0.9),
                asked("").has("/memories", Is::Many(2)).is("/memories/0/importance", 0.9),
            ],
        ),
        check(
            "no character of a question is an error",
            [one(), asked("lighthouse & keeper / (tea !drinks:* <-> \"").has("/memories", Is::Many(1))],
        ),
        check(
            "a match has every documented field",
            [
                one(),
                asked("lighthouse keeper")
                    .has("/memories/0/rank", Is::Number)
                    .is("/memories/0/tags", "port,tea")
                    .has("/memories/0/created_at", Is::Time)
                    .has("/memories/0/shared_by", Is::Nothing)
                    .has("/memories/0/share_permission", Is::Nothing),
            ],
        ),
        check(
            "recall that finds nothing says so",
            [one(), asked("quantum chromodynamics").has("/memories", Is::Many(0))],
        ),
        check(
            "recall finds nothing of others",
            [one(), post("bob", RECALL, json!({ "context": "lighthouse keeper" })).has("/memories", Is::Many(0))],
        ),
    ]
}
