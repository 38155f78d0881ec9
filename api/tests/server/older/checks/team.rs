//! Users, what they share, what machines are told, and secrets.

use serde_json::{Value, json};

use super::{LONG_AGO, MEMORIES, RECALL, SYNC, asked, one, shared, stored, tag_shared};
use crate::older::steps::{Check, Is, Step, check, delete, get, post};

/// What a detector takes for a password.
const PASSWORD: &str = "Tr7-kettle-Ombra-41";

pub(super) fn who_asks() -> Vec<Check> {
    vec![
        check("health asks for no key", [get("nobody", "/health").is("", json!({ "status": "ok" }))]),
        check(
            "auth-check says whose a key is",
            [get("alice", "/api/auth-check").is("/status", "ok").has("/user_id", Is::With("alice"))],
        ),
        check("auth-check refuses a wrong key", [get("wrong", "/api/auth-check").gives(401)]),
        check("nothing is told to a wrong key", [get("wrong", SYNC).gives(401)]),
        check(
            "nothing but health is told without a key",
            [
                get("nobody", MEMORIES).gives(401),
                get("nobody", SYNC).gives(401),
                get("nobody", "/api/auth-check").gives(401),
                post("nobody", RECALL, json!({ "context": "x" })).gives(401),
            ],
        ),
        check("a key may come without Bearer", [get("bare", "/api/auth-check").has("/user_id", Is::With("alice"))]),
    ]
}

/// What bob finds.
fn with_bob() -> Step {
    post("bob", RECALL, json!({ "context": "lighthouse keeper" }))
}

pub(super) fn sharing() -> Vec<Check> {
    let with = |body: Value| post("alice", "/api/memories/{m}/share", body);
    vec![
        check(
            "a share names the memory, the user and the permission",
            [
                one(),
                shared("write").has("/shared", Is::Saved("m")).has("/with", Is::With("bob")).is("/permission", "write"),
            ],
        ),
        check(
            "read is the permission if none is named",
            [one(), with(json!({ "shared_with": "{bob}" })).is("/permission", "read")],
        ),
        check(
            "sharing again changes the permission",
            [
                one(),
                shared("read"),
                shared("write"),
                get("alice", "/api/memories/my-shares")
                    .has("/memory_shares", Is::Many(1))
                    .is("/memory_shares/0/permission", "write"),
            ],
        ),
        check(
            "nobody shares with themselves",
            [
                one(),
                get("alice", "/api/auth-check").save("self", "/user_id"),
                with(json!({ "shared_with": "{self}" })).gives(400),
            ],
        ),
        check(
            "what is not one's own is not shared",
            [post("alice", "/api/memories/999999/share", json!({ "shared_with": "{bob}" })).gives(404)],
        ),
        check(
            "there are two permissions",
            [one(), with(json!({ "shared_with": "{bob}", "permission": "own" })).gives(422)],
        ),
    ]
}

pub(super) fn seeing() -> Vec<Check> {
    vec![
        check(
            "recall finds what is shared, and says whose it is",
            [
                one(),
                shared("read"),
                with_bob().has("/memories/0/shared_by", Is::With("alice")).is("/memories/0/share_permission", "read"),
            ],
        ),
        check(
            "what is shared is listed with its owner and permission",
            [
                one(),
                shared("write"),
                get("bob", "/api/memories/shared-with-me")
                    .has("/memories/0/id", Is::Integer)
                    .has("/memories/0/shared_by", Is::With("alice"))
                    .is("/memories/0/permission", "write")
                    .is("/memories/0/tags", "port,tea"),
            ],
        ),
        check(
            "what is shared no longer is gone at once",
            [
                one(),
                shared("read"),
                delete("alice", "/api/memories/{m}/share/{bob}")
                    .has("/unshared", Is::Saved("m"))
                    .has("/from", Is::With("bob")),
                with_bob().has("/memories", Is::Many(0)),
            ],
        ),
    ]
}

pub(super) fn tags() -> Vec<Check> {
    vec![
        check(
            "a shared tag names the tag, the user and the permission",
            [tag_shared().is("/shared_tag", "port").has("/with", Is::With("bob")).is("/permission", "read")],
        ),
        check(
            "a shared tag is of memories now and later",
            [
                one(),
                tag_shared(),
                with_bob().has("/memories", Is::Many(1)),
                stored("alice", "The lighthouse keeper sleeps", "port", 0.5),
                with_bob().has("/memories", Is::Many(2)),
            ],
        ),
        check(
            "a tag is shared no longer by a body of DELETE",
            [
                one(),
                tag_shared(),
                delete("alice", "/api/memories/share-tag")
                    .with(json!({ "tag": "port", "shared_with": "{bob}" }))
                    .is("/unshared_tag", "port")
                    .has("/from", Is::With("bob")),
                with_bob().has("/memories", Is::Many(0)),
            ],
        ),
        check(
            "what one shares is listed",
            [
                one(),
                shared("read"),
                tag_shared(),
                get("alice", "/api/memories/my-shares")
                    .has("/memory_shares/0/memory_id", Is::Saved("m"))
                    .has("/memory_shares/0/preview", Is::With("lighthouse"))
                    .has("/memory_shares/0/created_at", Is::Time)
                    .is("/tag_shares/0/tag", "port")
                    .has("/tag_shares/0/created_at", Is::Time),
            ],
        ),
    ]
}

pub(super) fn syncing() -> Vec<Check> {
    vec![
        check(
            "a full sync has every row with every field",
            [
                one(),
                get("alice", SYNC)
                    .has("/memories", Is::Many(1))
                    .has("/memories/0/id", Is::Saved("m"))
                    .is("/memories/0/tags", "port,tea")
                    .is("/memories/0/expanded_keywords", "")
                    .is("/memories/0/is_sensitive", false)
                    .has("/memories/0/updated_at", Is::Time)
                    .has("/memories/0/deleted_at", Is::Nothing)
                    .has("/server_time", Is::Time),
            ],
        ),
        check(
            "a full sync has nothing that was deleted",
            [one(), delete("alice", "/api/memories/{m}"), get("alice", SYNC).has("/memories", Is::Many(0))],
        ),
        check(
            "a sync has what changed since a time",
            [
                one(),
                get("alice", SYNC).save("since", "/server_time"),
                stored("alice", "Later", "", 0.5),
                get("alice", "/api/memories/sync?since={since}")
                    .has("/memories", Is::Many(1))
                    .is("/memories/0/content", "Later"),
            ],
        ),
        check(
            "nothing that did not change comes again",
            [
                one(),
                get("alice", SYNC).save("since", "/server_time"),
                get("alice", "/api/memories/sync?since={since}").has("/memories", Is::Many(0)),
            ],
        ),
        check(
            "what was deleted comes with when it was",
            [
                one(),
                get("alice", SYNC).save("since", "/server_time"),
                delete("alice", "/api/memories/{m}"),
                get("alice", "/api/memories/sync?since={since}")
                    .has("/memories/0/id", Is::Saved("m"))
                    .has("/memories/0/deleted_at", Is::Time),
            ],
        ),
        check(
            "a time zone may have lost its plus",
            [
                one(),
                get("alice", "/api/memories/sync?since=2020-01-01T00:00:00+00:00").has("/memories", Is::Many(1)),
                get("alice", LONG_AGO).has("/memories", Is::Many(1)),
            ],
        ),
        check(
            "a sync is of one's own memories",
            [
                one(),
                shared("read"),
                get("bob", SYNC).has("/memories", Is::Many(0)),
                get("bob", LONG_AGO).has("/memories", Is::Many(0)),
            ],
        ),
    ]
}

pub(super) fn secrets() -> Vec<Check> {
    let password = || stored("alice", "The staging database password is Tr7-kettle-Ombra-41", "ops", 0.5);
    let whole = || {
        post(
            "alice",
            MEMORIES,
            json!({ "content": "The recovery phrase lies under the blue stone", "force_sensitive": true }),
        )
        .save("m", "/id")
    };
    let show = |who| post(who, "/api/memories/{m}/secret", json!({}));
    vec![
        check(
            "a credential does not stand in lists",
            [
                password(),
                get("alice", MEMORIES)
                    .is("/memories/0/is_sensitive", true)
                    .has("/memories/0/content", Is::Without(PASSWORD)),
                get("alice", SYNC)
                    .is("/memories/0/is_sensitive", true)
                    .has("/memories/0/content", Is::Without(PASSWORD)),
            ],
        ),
        check(
            "a credential comes back when it is asked for",
            [
                password(),
                show("alice").has("/id", Is::Saved("m")).has("/content", Is::With(PASSWORD)).is("/source", "encrypted"),
            ],
        ),
        check(
            "a text may be a secret as a whole",
            [
                whole(),
                asked("sensitive note")
                    .is("/memories/0/is_sensitive", true)
                    .has("/memories/0/content", Is::Without("blue stone")),
                show("alice").has("/content", Is::With("blue stone")),
            ],
        ),
        check(
            "what is no secret comes back as it is",
            [one(), show("alice").is("/content", "The lighthouse keeper drinks tea").is("/source", "plaintext")],
        ),
        check(
            "a secret is of a memory that is there",
            [post("alice", "/api/memories/999999/secret", json!({})).gives(404)],
        ),
        check(
            "a secret is its owner's",
            [
                password(),
                shared("write"),
                get("bob", "/api/memories/shared-with-me").save("m", "/memories/0/id"),
                show("bob").gives(404),
            ],
        ),
        check(
            "secrets of before are taken out on demand",
            [password(), post("alice", "/api/memories/migrate-secrets", json!({})).is("/migrated", 0)],
        ),
    ]
}
