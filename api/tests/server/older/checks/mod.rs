//! The checks, in the order of the older API's reference. `alice` and `bob` are new for each.

mod memories;
mod recall;
mod team;

use serde_json::json;

use super::steps::{Check, Step, post};

pub(super) const MEMORIES: &str = "/api/memories";
pub(super) const RECALL: &str = "/api/memories/recall";
pub(super) const SYNC: &str = "/api/memories/sync";
pub(super) const LONG_AGO: &str = "/api/memories/sync?since=2020-01-01T00:00:00%2B00:00";

/// Stores a memory as the older client does, and keeps its number.
pub(super) fn stored(who: &'static str, content: &str, tags: &str, importance: f64) -> Step {
    let body = json!({ "content": content, "category": "facts", "tags": tags,
        "expanded_keywords": "", "importance": importance, "force_sensitive": false });
    post(who, MEMORIES, body).save("m", "/id")
}

pub(super) fn one() -> Step {
    stored("alice", "The lighthouse keeper drinks tea", "port,tea", 0.5)
}

pub(super) fn asked(context: &str) -> Step {
    post("alice", RECALL, json!({ "context": context, "expanded_query": "", "sort_by": "importance", "limit": 10 }))
}

pub(super) fn shared(permission: &str) -> Step {
    post("alice", "/api/memories/{m}/share", json!({ "shared_with": "{bob}", "permission": permission }))
}

pub(super) fn tag_shared() -> Step {
    post("alice", "/api/memories/share-tag", json!({ "tag": "port", "shared_with": "{bob}", "permission": "read" }))
}

pub(super) fn in_category(content: &str, category: &str) -> Step {
    post("alice", MEMORIES, json!({ "content": content, "category": category }))
}

/// All checks.
pub(super) fn all() -> Vec<Check> {
    [
        team::who_asks(),
        memories::storing(),
        memories::listing(),
        recall::recalling(),
        recall::ordering(),
        recall::asking(),
        memories::changing(),
        memories::removing(),
        team::sharing(),
        team::seeing(),
        team::tags(),
        team::syncing(),
        team::secrets(),
        memories::importing(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
