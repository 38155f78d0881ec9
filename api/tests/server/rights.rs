//! Users who keep to no rules: what they send is what no client of ours would. Nobody gets, changes, hides or takes the
//! place of what is another's.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::site::{Site, with_site};
use crate::sync::create;

async fn stored(site: &Site, key: &str, text: &str, tag: &str) -> String {
    let memory = json!({ "content": text, "tags": [tag] });
    Site::ok(site.post(key, "/api/memories", &memory).await).await["uuid"].as_str().unwrap().to_owned()
}

async fn shared(site: &Site, key: &str, id: &str, with: &str, permission: &str) {
    let share = json!({ "shared_with": with, "permission": permission });
    Site::ok(site.post(key, &format!("/api/memories/{id}/share"), &share).await).await;
}

async fn push(site: &Site, key: &str, memory: &str, action: Value) -> Value {
    let op = json!({
        "op_id": create("x")["op_id"], "memory": memory, "base_rev": 1_000_000, "at": "9999-01-01T00:00:00Z",
        "action": action,
    });
    let pushed = Site::ok(site.post(key, "/v1/sync/push", &json!({ "epoch": 1, "ops": [op] })).await).await;
    pushed["answers"][0].clone()
}

/// Everything that a machine of the user is told.
async fn told(site: &Site, key: &str) -> String {
    let snapshot = site.get(key, "/v1/sync/snapshot").await.text().await.unwrap();
    snapshot + &site.get(key, "/v1/sync/changes?epoch=1").await.text().await.unwrap()
}

#[test]
fn what_its_owner_deleted_is_deleted_for_everybody_else() {
    with_site(|site| async move {
        let (ada, bob) = (site.user("ada").await, site.user("bob").await);
        let one = stored(&site, &ada, "CANARY one is deleted after it was shared", "ops").await;
        shared(&site, &ada, &one, "bob", "write").await;
        assert!(told(&site, &bob).await.contains("CANARY one"));
        Site::ok(site.delete(&ada, &format!("/api/memories/{one}"), "*").await).await;
        let two = stored(&site, &ada, "CANARY two is deleted before its tag is shared", "late").await;
        Site::ok(site.delete(&ada, &format!("/api/memories/{two}"), "*").await).await;
        let rule = json!({ "tag": "late", "shared_with": "bob" });
        Site::ok(site.post(&ada, "/api/memories/share-tag", &rule).await).await;
        let answer = json!({ "owner": "ada", "tag": "late", "accept": true });
        Site::ok(site.post(&bob, "/api/memories/invitations", &answer).await).await;
        for id in [&one, &two] {
            assert_eq!(site.get(&bob, &format!("/api/memories/{id}")).await.status(), StatusCode::NOT_FOUND);
        }
        let page = told(&site, &bob).await;
        assert!(!page.contains("CANARY"), "{page}");
        // Whoever might write it cannot bring it back.
        let edit = json!({ "edit": { "content": "revived", "tags_added": [], "tags_removed": [], "details": null } });
        assert_eq!(push(&site, &bob, &one, edit).await["refused"], "unknown");
        assert!(Site::ok(site.get(&ada, &format!("/api/memories/{one}")).await).await["deleted_at"].is_string());
        // Its owner can, and then it is shared again.
        Site::ok(site.post(&ada, &format!("/api/memories/{one}/restore"), &json!({})).await).await;
        assert!(told(&site, &bob).await.contains("CANARY one"));
    });
}

#[test]
fn whoever_may_write_changes_the_text_and_is_named() {
    with_site(|site| async move {
        let (ada, bob) = (site.user("ada").await, site.user("bob").await);
        let memory = stored(&site, &ada, "The zanzibar rollout is on Friday", "ops").await;
        let victim = stored(&site, &ada, "An unrelated memory", "ops").await;
        shared(&site, &ada, &memory, "bob", "write").await;
        let path = format!("/api/memories/{memory}");
        let before = Site::ok(site.get(&ada, &path).await).await;
        let mut details = create("x")["action"]["create"]["details"].clone();
        details["expires_at"] = json!("2001-01-01T00:00:00Z");
        details["expires"] = json!("2001-01-01T00:00:00Z");
        details["created"] = json!("1999-01-01T00:00:00Z");
        details["conflict_of"] = json!(victim);
        details["owner_trust"] = json!("user");
        details["scope"] = json!("elsewhere");
        details["importance"] = json!(0.0);
        let edit = json!({ "edit": { "content": "The zanzibar rollout is off", "tags_added": ["evil"],
            "tags_removed": ["ops"], "links_added": [], "links_removed": [], "details": details } });
        assert_eq!(push(&site, &bob, &memory, edit).await["refused"], Value::Null);
        let mut after = Site::ok(site.get(&ada, &path).await).await;
        assert_eq!((&after["content"], &after["edited_by"]), (&json!("The zanzibar rollout is off"), &json!("bob")));
        for field in ["content", "edited_by", "rev", "updated_at", "summary"] {
            after[field] = before[field].clone();
        }
        assert_eq!(after, before, "nothing but the text");
        assert_eq!(push(&site, &bob, &memory, json!("delete")).await["refused"], "not_allowed");
        // A clock that is ahead does not keep the owner's later word out.
        Site::ok(site.put(&ada, &path, "*", &json!({ "importance": 0.9 })).await).await;
        assert_eq!(Site::ok(site.get(&ada, &path).await).await["importance"], 0.9);
        // Her own words are her own again.
        Site::ok(site.put(&ada, &path, "*", &json!({ "content": "The zanzibar rollout is on Monday" })).await).await;
        assert!(Site::ok(site.get(&ada, &path).await).await["edited_by"].is_null());
    });
}

#[test]
fn nobody_takes_the_place_of_anothers_memory() {
    with_site(|site| async move {
        let (ada, bob, mallory) = (site.user("ada").await, site.user("bob").await, site.user("mallory").await);
        let memory = stored(&site, &ada, "Ada tells Bob: deploy with blue and green", "ops").await;
        shared(&site, &ada, &memory, "bob", "write").await;
        shared(&site, &ada, &memory, "mallory", "read").await;
        let theirs = create("Mallory: deploy straight to production")["action"].clone();
        assert_eq!(push(&site, &mallory, &memory, theirs.clone()).await["refused"], "not_allowed");
        Site::ok(site.post(&mallory, &format!("/api/memories/{memory}/mute"), &json!({})).await).await;
        assert_eq!(push(&site, &mallory, &memory, theirs).await["refused"], "id_taken");
        let share = json!({ "shared_with": "bob", "permission": "write" });
        let path = format!("/api/memories/{memory}");
        assert_eq!(site.post(&mallory, &format!("{path}/share"), &share).await.status(), StatusCode::NOT_FOUND);
        let seen = Site::ok(site.get(&bob, &path).await).await;
        assert_eq!(
            (&seen["shared_by"], &seen["content"]),
            (&json!("ada"), &json!("Ada tells Bob: deploy with blue and green"))
        );
        Site::ok(site.put(&bob, &path, "*", &json!({ "content": "Bob's note meant for Ada" })).await).await;
        assert_eq!(Site::ok(site.get(&ada, &path).await).await["content"], "Bob's note meant for Ada");
        assert!(!told(&site, &mallory).await.contains("Bob's note"));
    });
}

/// Two who call their memories by one id, without having heard of each other, and share both with a third.
#[test]
fn two_memories_of_one_id_have_a_place_each() {
    with_site(|site| async move {
        let (ada, eve, bob) = (site.user("ada").await, site.user("eve").await, site.user("bob").await);
        let memory = create("x")["memory"].as_str().unwrap().to_owned();
        for (key, text) in [(&ada, "Ada's under the common id"), (&eve, "Eve's under the common id")] {
            let made = create(text)["action"].clone();
            assert_eq!(push(&site, key, &memory, made).await["refused"], Value::Null);
        }
        shared(&site, &ada, &memory, "bob", "read").await;
        shared(&site, &eve, &memory, "bob", "read").await;
        let path = format!("/api/memories/{memory}");
        assert_eq!(Site::ok(site.get(&bob, &path).await).await["shared_by"], "ada", "the first keeps the place");
        Site::ok(site.delete(&eve, &format!("{path}/share/bob"), "").await).await;
        assert_eq!(Site::ok(site.get(&bob, &path).await).await["shared_by"], "ada");
        assert!(told(&site, &bob).await.contains("Ada's under"));
        shared(&site, &eve, &memory, "bob", "read").await;
        Site::ok(site.delete(&ada, &format!("{path}/share/bob"), "").await).await;
        assert_eq!(Site::ok(site.get(&bob, &path).await).await["shared_by"], "eve");
        let page = told(&site, &bob).await;
        assert!(page.contains("Eve's under") && !page.contains("Ada's under"), "{page}");
    });
}

/// What somebody links to says nothing about what is another's.
#[test]
fn nobody_replaces_anothers_memory_in_their_recall() {
    with_site(|site| async move {
        let (ada, mallory) = (site.user("ada").await, site.user("mallory").await);
        let memory = stored(&site, &ada, "The tram depot key is behind the blue door", "keys").await;
        let question = json!({ "context": "tram depot key blue door", "max_tokens": 400 });
        let mut made = create("Gardens are nice in spring")["action"].clone();
        made["create"]["links"] = json!([{ "type": "supersedes", "to": memory }]);
        let other = create("x")["memory"].as_str().unwrap().to_owned();
        assert_eq!(push(&site, &mallory, &other, made).await["refused"], Value::Null);
        shared(&site, &mallory, &other, "ada", "read").await;
        let answer = Site::ok(site.post(&ada, "/api/memories/recall", &question).await).await;
        assert_eq!(answer["details"][0]["content"], "The tram depot key is behind the blue door", "{answer}");
        // Nor does anybody say who wrote a text but the server.
        let mut op = create("Words that Bob never wrote");
        op["edited_by"] = json!("bob");
        op["told_again"] = json!(true);
        Site::ok(site.post(&mallory, "/v1/sync/push", &json!({ "epoch": 1, "ops": [op] })).await).await;
        assert!(!told(&site, &mallory).await.contains("\"edited_by\":\"bob\""));
    });
}

/// A flood that nobody accepted reaches nobody, and keeps nobody from writing.
#[test]
fn an_import_of_many_keeps_nobody_else_from_writing() {
    with_site(|site| async move {
        let (ada, mallory) = (site.user("ada").await, site.user("mallory").await);
        let rule = json!({ "tag": "flood", "shared_with": "ada" });
        Site::ok(site.post(&mallory, "/api/memories/share-tag", &rule).await).await;
        let rows: Vec<Value> =
            (0..400).map(|n| json!({ "content": format!("flood {n}"), "tags": ["flood"] })).collect();
        let rows = Value::Array(rows);
        let flood = async {
            for _ in 0..3 {
                assert_eq!(site.post(&mallory, "/api/memories/import", &rows).await.status(), StatusCode::OK);
            }
        };
        let write = async {
            for n in 0..12 {
                stored(&site, &ada, &format!("ada's own {n}"), "own").await;
            }
        };
        tokio::join!(flood, write);
        assert!(!told(&site, &ada).await.contains("flood 1"));
    });
}

#[test]
fn no_id_is_nil_and_no_table_of_ones_own_stands_before_the_servers() {
    with_site(|site| async move {
        let (ada, bob) = (site.user("ada").await, site.user("bob").await);
        let nil = "00000000-0000-0000-0000-000000000000";
        let mut document = create("linked to nothing")["action"].clone();
        assert_eq!(push(&site, &ada, nil, document.clone()).await["refused"], "invalid");
        document["create"]["links"] = json!([{ "type": "see_also", "to": nil }]);
        let memory = create("x")["memory"].as_str().unwrap().to_owned();
        assert_eq!(push(&site, &ada, &memory, document).await["refused"], "invalid");
        let real = stored(&site, &ada, "a real one", "t").await;
        let link = json!({ "target_id": nil, "link_type": "see_also" });
        let answer = site.post(&ada, &format!("/api/memories/{real}/links"), &link).await;
        assert!(answer.status().is_client_error(), "{}", answer.status());
        // By SQL, as a request's role: a temporary table does not change what is seen.
        let pool = sqlx::PgPool::connect(&site.cluster.url("server")).await.unwrap();
        let mut tx = pool.begin().await.unwrap();
        sqlx::query("SET LOCAL ROLE tessera_app").execute(&mut *tx).await.unwrap();
        sqlx::query("SELECT set_config('app.user_id', 'bob', true)").execute(&mut *tx).await.unwrap();
        let made =
            sqlx::query("CREATE TEMP TABLE memory_shares (owner text, memory uuid, grantee text, permission text)");
        assert!(made.execute(&mut *tx).await.is_err(), "a request makes no tables");
        drop(tx);
        assert!(!told(&site, &bob).await.contains("a real one"));
    });
}

/// What an owner links to, where it was said and how far they vouch for it is no part of what they share.
#[test]
fn what_is_shared_is_the_memory_and_nothing_of_its_owners_beside() {
    with_site(|site| async move {
        let (ada, bob) = (site.user("ada").await, site.user("bob").await);
        let other = stored(&site, &ada, "Nobody else is to know that this is there", "own").await;
        let memory = create("x")["memory"].as_str().unwrap().to_owned();
        let mut made = create("The lantern is on the north pier")["action"].clone();
        made["create"]["links"] = json!([{ "type": "see_also", "to": other }]);
        made["create"]["details"]["session"] = json!("session-of-ada");
        made["create"]["details"]["owner_trust"] = json!("model");
        assert_eq!(push(&site, &ada, &memory, made).await["refused"], Value::Null);
        assert!(told(&site, &ada).await.contains("session-of-ada"));
        shared(&site, &ada, &memory, "bob", "write").await;
        let question = json!({ "context": "where is the lantern", "max_tokens": 400 });
        let mut seen = told(&site, &bob).await;
        seen += &site.get(&bob, &format!("/api/memories/{memory}")).await.text().await.unwrap();
        seen += &site.get(&bob, "/api/memories/shared-with-me").await.text().await.unwrap();
        seen += &site.post(&bob, "/api/memories/recall", &question).await.text().await.unwrap();
        seen += &site
            .put(&bob, &format!("/api/memories/{memory}"), "*", &json!({ "content": "The lantern is out" }))
            .await
            .text()
            .await
            .unwrap();
        assert!(seen.matches("lantern").count() >= 5, "{seen}");
        for word in [other.as_str(), "session-of-ada", "\"owner_trust\":\"model\""] {
            assert!(!seen.contains(word), "{word}: {seen}");
        }
    });
}
