//! What a server keeps so that it need not ask again: it is never what others see no more.

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::{Value, json};
use sqlx::PgPool;
use tessera_engine::index::{IndexView, Mask, Snapshot, Tail};

use crate::audit::purge;
use crate::site::{Site, with_site};

pub(crate) async fn store(site: &Site, key: &str, body: &Value) -> String {
    Site::ok(site.post(key, "/api/memories", body).await).await["uuid"].as_str().unwrap().to_owned()
}

/// What is given in full for a question.
pub(crate) async fn given(site: &Site, key: &str, question: &str) -> Vec<String> {
    let body = json!({ "context": question, "max_tokens": 2000 });
    let reply = Site::ok(site.post(key, "/api/memories/recall", &body).await).await;
    reply["details"].as_array().unwrap().iter().map(|row| row["content"].as_str().unwrap().to_owned()).collect()
}

/// Six hundred notes of a user: enough that their index is kept.
pub(crate) async fn many(site: &Site, key: &str) {
    for batch in 0..6 {
        let rows: Vec<Value> = (0..100)
            .map(|n| json!({ "content": format!("Berth {} of quay {batch} takes barges of class {}", 100 * batch + n, n % 7) }))
            .collect();
        Site::ok(site.post(key, "/api/memories/import", &json!(rows)).await).await;
    }
}

/// Waits for the kept index of a user.
pub(crate) async fn kept(admin: &PgPool, user: &str) -> Vec<u8> {
    for _ in 0..200 {
        let sql = "SELECT snapshot FROM index_cache WHERE user_id = $1";
        if let Some(found) = sqlx::query_scalar(sql).bind(user).fetch_optional(admin).await.unwrap() {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("no index of {user} was kept");
}

/// Whether a kept index has a word of this spelling.
pub(crate) fn holds(bytes: Vec<u8>, word: &str) -> bool {
    let (snapshot, tail) = (Snapshot::open(bytes).unwrap(), Tail::inverted());
    let mask = Mask::of(Some(&snapshot), &tail);
    !IndexView::new(Some(&snapshot), &tail, &mask).near_words(word, 1).is_empty()
}

#[test]
fn what_was_given_lately_is_read_anew_once_it_changed_wherever_that_was() {
    with_site(|site| async move {
        let (ada, bob) = (site.user("ada").await, site.user("bob").await);
        let other = site.replica().await;
        let first = "The crane at pier four is serviced on Mondays";
        let id = store(&site, &ada, &json!({ "content": first, "tags": ["ops"] })).await;
        let share = json!({ "shared_with": "bob", "permission": "write" });
        Site::ok(site.post(&ada, &format!("/api/memories/{id}/share"), &share).await).await;
        for round in 0..20 {
            let text = format!("The crane at pier four is serviced in week {round}");
            let (at, by, reader) = if round % 2 == 0 { (&other, &ada, &bob) } else { (&site, &bob, &ada) };
            // Everybody was given it as it was, by both.
            for server in [&site, &other] {
                for key in [&ada, &bob] {
                    assert_eq!(given(server, key, "when is the crane at pier four serviced").await.len(), 1);
                }
            }
            Site::ok(at.put(by, &format!("/api/memories/{id}"), "*", &json!({ "content": text })).await).await;
            for server in [&site, &other] {
                for key in [reader, by] {
                    assert_eq!(given(server, key, "when is the crane at pier four serviced").await, [text.as_str()]);
                }
            }
        }
        let unshare = site.delete(&ada, &format!("/api/memories/{id}/share/bob"), "").await;
        assert_eq!(unshare.status(), StatusCode::OK);
        for server in [&site, &other] {
            assert!(given(server, &bob, "when is the crane at pier four serviced").await.is_empty());
            assert_eq!(given(server, &ada, "when is the crane at pier four serviced").await.len(), 1);
        }
    });
}

#[test]
fn an_index_is_kept_and_another_server_goes_on_from_it() {
    with_site(|site| async move {
        let (ada, admin) = (site.user("ada").await, site.admin().await);
        many(&site, &ada).await;
        let question = "which barges does berth 321 of quay 3 take";
        let before = given(&site, &ada, question).await;
        assert_eq!(before.first().map(String::as_str), Some("Berth 321 of quay 3 takes barges of class 0"));
        kept(&admin, "ada").await;
        // What changed since is read; what did not is not: it could not be read any more.
        store(&site, &ada, &json!({ "content": "Berth 321 of quay 3 is closed for dredging" })).await;
        sqlx::query("UPDATE memories SET forward = '' WHERE content LIKE '%takes barges%'")
            .execute(&admin)
            .await
            .unwrap();
        let fresh = site.replica().await;
        let after = given(&fresh, &ada, question).await;
        for text in ["Berth 321 of quay 3 is closed for dredging", before[0].as_str()] {
            assert!(after.iter().any(|found| found == text), "{text}: {after:?}");
        }
    });
}

#[test]
fn what_was_removed_for_good_is_in_no_kept_index() {
    with_site(|site| async move {
        let (ada, bob, admin) = (site.user("ada").await, site.user("bob").await, site.admin().await);
        many(&site, &ada).await;
        many(&site, &bob).await;
        let id = store(&site, &ada, &json!({ "content": "The zorblax opens at noon" })).await;
        let share = json!({ "shared_with": "bob", "permission": "read" });
        Site::ok(site.post(&ada, &format!("/api/memories/{id}/share"), &share).await).await;
        for (name, key) in [("ada", &ada), ("bob", &bob)] {
            assert_eq!(given(&site, key, "when does the zorblax open").await.len(), 1);
            assert!(holds(kept(&admin, name).await, "zorblax"), "the words of an index can be looked for");
        }
        purge(&site, &ada, &id).await;
        let left: i64 = sqlx::query_scalar("SELECT count(*) FROM index_cache").fetch_one(&admin).await.unwrap();
        assert_eq!(left, 0);
        for (name, key) in [("ada", &ada), ("bob", &bob)] {
            let fresh = site.replica().await;
            assert!(given(&fresh, key, "when does the zorblax open").await.is_empty());
            assert!(!holds(kept(&admin, name).await, "zorblax"));
        }
    });
}

#[test]
fn keys_that_are_looked_up_together_are_not_mixed_up() {
    with_site(|site| async move {
        let mut keys = Vec::new();
        for number in 0..30 {
            let name = format!("user{number}");
            keys.push((site.user(&name).await, Some(name)));
        }
        // One that nobody has, and one with another's id.
        let (whole, stranger) = (keys[0].0.clone(), keys[1].0.clone());
        let parts: Vec<&str> = whole.split('_').collect();
        keys.push((format!("tsr_{}_{}_{}", "0".repeat(12), parts[2], parts[3]), None));
        keys.push((stranger.replace(stranger.split('_').nth(1).unwrap(), parts[1]), None));
        keys.push(("an older key, which nobody has, with ',{}' in it".to_owned(), None));
        for round in 0..3 {
            let asked = keys.iter().cycle().take(120).map(|(key, name)| {
                let (site, key, name) = (&site, key.clone(), name.clone());
                async move {
                    let reply = site.get(&key, "/api/auth-check").await;
                    match name {
                        Some(name) => assert_eq!(Site::ok(reply).await["user_id"], json!(name)),
                        None => assert_eq!(reply.status(), StatusCode::UNAUTHORIZED),
                    }
                }
            });
            futures_util::future::join_all(asked).await;
            if round == 0 {
                // The connection that they are looked up on goes like any other.
                site.cluster.crash();
            }
        }
    });
}
