//! Memories that were created through REST are compared with older ones; those of machines are not.

use serde_json::{Value, json};
use tessera_api::SemanticSearch;
use tessera_engine::domain::{Draft, LinkKind, MemoryRef, MemoryUuid};
use tessera_engine::store::Actor;

use crate::embedding::{machine, nothing, settings, until};
use crate::recall::send;
use crate::site::{Site, with_site_of};

const OLD: &str = "The checkout service listens on port 7070";
const NEW: &str = "The checkout service listens on port 7171";

async fn created(site: &Site, key: &str, new: &Value) -> String {
    let memory = Site::ok(site.post(key, "/api/memories", new).await).await;
    memory["id"].as_u64().map_or_else(|| memory["id"].as_str().unwrap().to_owned(), |id| id.to_string())
}

async fn links(site: &Site, text: &str) -> Vec<String> {
    let sql = "SELECT links FROM memories WHERE content = $1 AND state = 'live'";
    sqlx::query_scalar(sql).bind(text).fetch_one(&site.admin().await).await.unwrap()
}

async fn is_done(site: &Site) -> bool {
    let sql = "SELECT count(*) FROM memories WHERE NOT related";
    sqlx::query_scalar::<_, i64>(sql).fetch_one(&site.admin().await).await.unwrap() == 0
}

#[test]
fn a_memory_created_through_rest_updates_an_older_one_and_a_removed_link_stays_removed() {
    with_site_of(settings(SemanticSearch::On), |site| async move {
        let key = site.user("ada").await;
        // Another user's memory is not compared.
        let other = site.user("bob").await;
        created(&site, &other, &json!({ "content": OLD })).await;
        let old = created(&site, &key, &json!({ "content": OLD })).await;
        created(&site, &key, &json!({ "content": "Ferries leave at noon" })).await;
        until(async || is_done(&site).await).await;
        let new = created(&site, &key, &json!({ "content": NEW })).await;
        until(async || is_done(&site).await).await;
        let found = links(&site, NEW).await;
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("updates:"), "{found:?}");
        let question = json!({ "query": "which port does the checkout service listen on?", "max_tokens": 400 });
        let reply = Site::ok(site.post(&key, "/api/memories/recall", &question).await).await.to_string();
        assert!(reply.find("7171") < reply.find("7070"), "{reply}");
        assert!(reply.contains("\"older\""), "{reply}");
        assert!(links(&site, "Ferries leave at noon").await.is_empty());
        let path = format!("/api/memories/{new}/links/{old}/updates");
        assert!(site.delete(&key, &path, "").await.status().is_success());
        created(&site, &key, &json!({ "content": "The pilot is called Marta" })).await;
        until(async || is_done(&site).await).await;
        assert!(links(&site, NEW).await.is_empty());
    });
}

#[test]
fn a_machine_that_has_not_seen_the_link_can_still_delete_the_memory() {
    with_site_of(settings(SemanticSearch::On), |site| async move {
        let key = site.user("ada").await;
        for text in [OLD, NEW] {
            created(&site, &key, &json!({ "content": text })).await;
            until(async || is_done(&site).await).await;
        }
        assert_eq!(links(&site, NEW).await.len(), 1);
        let sql = "SELECT id, rev, people_rev FROM memories WHERE content = $1";
        let (id, rev, people_rev): (uuid::Uuid, i64, i64) =
            sqlx::query_as(sql).bind(NEW).fetch_one(&site.admin().await).await.unwrap();
        assert_eq!((rev, people_rev), (2, 1), "nobody changed it");
        let op = json!({ "op_id": MemoryUuid::from_key("gone"), "memory": id, "base_rev": 1,
            "at": "2026-11-20T12:00:00Z", "action": "delete" });
        let answer = Site::ok(site.post(&key, "/v1/sync/push", &json!({ "epoch": 1, "ops": [op] })).await).await;
        assert_eq!(answer["answers"][0]["refused"], Value::Null, "{answer}");
        let sql = "SELECT state FROM memories WHERE content = $1";
        let state: String = sqlx::query_scalar(sql).bind(NEW).fetch_one(&site.admin().await).await.unwrap();
        assert_eq!(state, "deleted");
    });
}

#[test]
fn the_server_leaves_memories_of_machines_to_the_machines() {
    with_site_of(settings(SemanticSearch::On), |site| async move {
        let key = site.user("ada").await;
        let dir = tempfile::tempdir().unwrap();
        let mut store = machine(&dir.path().join("one"), &nothing());
        let old = store.remember(Draft::new(OLD)).unwrap();
        while store.embed_some().unwrap() {}
        let new = store.remember(Draft::new(NEW)).unwrap();
        let [old, new] = [old, new].map(|stored| MemoryRef::Id(stored.memory.id));
        store.unlink(new, &LinkKind::Updates, old, &Actor::default()).unwrap();
        send(&site, &key, &mut store).await;
        created(&site, &key, &json!({ "content": "Ferries leave at noon" })).await;
        until(async || is_done(&site).await).await;
        assert!(links(&site, NEW).await.is_empty());
    });
}
