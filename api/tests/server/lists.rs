//! Lists, exports and changes: whole, in bounded pages.

use std::collections::BTreeSet;

use reqwest::StatusCode;
use serde_json::{Value, json};
use tessera_api::NewKey;

use crate::site::{Site, with_site};

/// More than a page holds: texts of 30 kB.
async fn long_texts(site: &Site, key: &str, count: usize) {
    let rows: Vec<Value> = (0..count)
        .map(|n| json!({ "content": format!("{n} {}", "lorem ".repeat(5_000)), "tags": "long", "importance": 0.5 }))
        .collect();
    Site::ok(site.post(key, "/api/memories/import", &json!(rows)).await).await;
}

fn ids(page: &Value) -> Vec<String> {
    page["memories"].as_array().unwrap().iter().map(|one| one["uuid"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn pages_of_long_texts_are_bounded_and_lead_to_all_of_them() {
    with_site(|site| async move {
        let (ada, bob) = (site.user("ada").await, site.user("bob").await);
        long_texts(&site, &ada, 90).await;
        Site::ok(site.post(&ada, "/api/memories/share-tag", &json!({ "tag": "long", "shared_with": "bob" })).await)
            .await;
        let answer = json!({ "owner": "ada", "tag": "long", "accept": true });
        Site::ok(site.post(&bob, "/api/memories/invitations", &answer).await).await;
        for (key, path) in [(&ada, "/api/memories"), (&bob, "/api/memories/shared-with-me")] {
            let (mut seen, mut offset, mut pages) = (BTreeSet::new(), 0, 0);
            loop {
                let answer = site.get(key, &format!("{path}?limit=1000&offset={offset}")).await;
                let text = answer.text().await.unwrap();
                assert!(text.len() < 2 << 20, "{path}: {} bytes", text.len());
                let page: Value = serde_json::from_str(&text).unwrap();
                assert_eq!(page["total"], 90, "{path}");
                seen.extend(ids(&page));
                pages += 1;
                let Some(next) = page["next_offset"].as_u64() else { break };
                offset = next;
            }
            assert_eq!((seen.len(), pages), (90, 3), "{path}");
        }
        // Whoever names no place gets all that they ask for at once: clients of the older API know no pages.
        for (key, path) in
            [(&ada, "/api/memories?limit=1000"), (&bob, "/api/memories/shared-with-me"), (&ada, "/api/memories/sync")]
        {
            let whole = Site::ok(site.get(key, path).await).await;
            let seen: BTreeSet<String> = ids(&whole).into_iter().collect();
            assert_eq!((seen.len(), &whole["next_offset"]), (90, &Value::Null), "{path}");
        }
        let short = Site::ok(site.get(&ada, "/api/memories?limit=5&offset=85").await).await;
        assert_eq!((ids(&short).len(), &short["next_offset"]), (5, &Value::Null));
        let export = site.get(&ada, "/api/memories/export").await.text().await.unwrap();
        assert_eq!(export.lines().filter(|line| serde_json::from_str::<Value>(line).is_ok()).count(), 90);
        // What a machine fetches on a slow line, too.
        let (mut rows, mut after, mut pages) = (0, String::new(), 0);
        loop {
            let page = site.get(&bob, &format!("/v1/sync/snapshot?epoch=0{after}")).await.text().await.unwrap();
            assert!(page.len() < 2 << 20, "{} bytes", page.len());
            let page: Value = serde_json::from_str(&page).unwrap();
            rows += page["rows"].as_array().unwrap().len();
            pages += 1;
            let Some(next) = page["next"].as_str() else { break };
            after = format!("&after={next}");
        }
        assert!(rows == 90 && pages > 2, "{rows} rows on {pages} pages");
    });
}

#[test]
fn changes_of_one_time_are_told_page_after_page() {
    with_site(|site| async move {
        let ada = site.user("ada").await;
        for part in 0..8 {
            let rows: Vec<Value> = (0..250).map(|n| json!({ "content": format!("note {part} {n}") })).collect();
            Site::ok(site.post(&ada, "/api/memories/import", &json!(rows)).await).await;
        }
        // The very same time for more than a page, as an import of the time before has it.
        sqlx::query("UPDATE memories SET updated = 1790000000000000").execute(&site.admin().await).await.unwrap();
        let gone = Site::ok(site.post(&ada, "/api/memories", &json!({ "content": "gone" })).await).await;
        let gone = gone["uuid"].as_str().unwrap().to_owned();
        Site::ok(site.delete(&ada, &format!("/api/memories/{gone}"), "*").await).await;
        let (mut seen, mut since, mut pages) = (Vec::new(), String::new(), 0);
        loop {
            let request = site.client.get(format!("http://{}/api/memories/sync", site.address)).bearer_auth(&ada);
            let page = Site::ok(request.query(&[("since", &since)]).send().await.unwrap()).await;
            if pages == 0 {
                assert!(page["memories"].as_array().unwrap().iter().all(|one| one["deleted_at"].is_null()));
                assert_eq!(ids(&page).len(), 2_000, "all at once, though no time lies between them");
            }
            seen.extend(ids(&page));
            pages += 1;
            assert!(pages < 9, "it comes to an end");
            since = page["server_time"].as_str().unwrap().to_owned();
            if ids(&page).is_empty() {
                break;
            }
        }
        let different: BTreeSet<&String> = seen.iter().collect();
        assert_eq!((different.len(), seen.len() - different.len()), (2_000, 0));
        // A place that a server of before gave is one as well.
        let mut places = different.iter().copied();
        let since = format!("2026-09-21T14:13:20Z[_after={}]", places.nth(1_499).unwrap());
        let request = site.client.get(format!("http://{}/api/memories/sync", site.address)).bearer_auth(&ada);
        let rest = ids(&Site::ok(request.query(&[("since", &since)]).send().await.unwrap()).await);
        assert_eq!((rest.len(), rest.contains(&gone)), (501, true));
        // With a time, what was deleted since is told; from the beginning it is not.
        let since = "/api/memories/sync?since=2026-10-01T00:00:00Z";
        assert!(ids(&Site::ok(site.get(&ada, since).await).await).contains(&gone));
        sqlx::query("DELETE FROM memories WHERE state = 'live'").execute(&site.admin().await).await.unwrap();
        assert!(ids(&Site::ok(site.get(&ada, "/api/memories/sync").await).await).is_empty());
        for bad in ["x", "2026-10-01T00:00:00Z[_after=x]", "2026-10-01T00:00:00Z[_after="] {
            let request = site.client.get(format!("http://{}/api/memories/sync", site.address)).bearer_auth(&ada);
            let status = request.query(&[("since", bad)]).send().await.unwrap().status();
            assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{bad}");
        }
    });
}

#[test]
fn a_new_text_takes_along_what_was_derived_from_it() {
    with_site(|site| async move {
        let ada = site.user("ada").await;
        let first = "Grace Hopper decided that releases are never cut on Friday";
        let second = "lunch is at noon";
        for (given, kept) in [(json!({}), false), (json!({ "entities": ["Ada Lovelace"], "importance": 0.33 }), true)] {
            let mut body = json!({ "content": first, "category": null, "importance": null });
            body.as_object_mut().unwrap().extend(given.as_object().unwrap().clone());
            let made = Site::ok(site.post(&ada, "/api/memories", &body).await).await;
            let path = format!("/api/memories/{}", made["uuid"].as_str().unwrap());
            let before = Site::ok(site.get(&ada, &path).await).await;
            Site::ok(site.put(&ada, &path, "*", &json!({ "content": second })).await).await;
            let after = Site::ok(site.get(&ada, &path).await).await;
            assert!(!before["entities"].as_array().unwrap().is_empty());
            assert_eq!(before["entities"] == after["entities"], kept, "{before} {after}");
            assert_eq!(before["importance"] == after["importance"], kept, "{before} {after}");
            assert_eq!(after["summary"], second);
        }
    });
}

#[test]
fn a_share_for_writing_is_of_the_text_and_a_key_for_reading_hides_nothing() {
    with_site(|site| async move {
        let (ada, bob) = (site.user("ada").await, site.user("bob").await);
        let made = Site::ok(site.post(&ada, "/api/memories", &json!({ "content": "ours", "tags": "a" })).await).await;
        let path = format!("/api/memories/{}", made["uuid"].as_str().unwrap());
        let share = json!({ "shared_with": "bob", "permission": "write" });
        Site::ok(site.post(&ada, &format!("{path}/share"), &share).await).await;
        for (field, value) in [("tags", json!(["b"])), ("scope", json!("x")), ("importance", json!(1))] {
            let refused = site.put(&bob, &path, "*", &json!({ "content": "theirs", field: value })).await;
            assert_eq!(refused.status(), StatusCode::FORBIDDEN);
            let problem: Value = refused.json().await.unwrap();
            assert!(problem["detail"].as_str().unwrap().starts_with(field), "{problem}");
        }
        Site::ok(site.put(&bob, &path, "*", &json!({ "content": "the text" })).await).await;
        let now = Site::ok(site.get(&ada, &path).await).await;
        assert_eq!((&now["content"], &now["tags"]), (&json!("the text"), &json!("a")));
        let reading = NewKey { scopes: vec!["read".into()], ..NewKey::default() };
        let reading = site.db.add_key(&"bob".parse().unwrap(), &reading).await.unwrap().reveal();
        for path in [format!("{path}/mute"), "/api/users/ada/mute".to_owned()] {
            assert_eq!(site.post(&reading, &path, &json!({})).await.status(), StatusCode::FORBIDDEN, "{path}");
            assert_eq!(site.delete(&reading, &path, "").await.status(), StatusCode::FORBIDDEN, "{path}");
        }
        assert_eq!(site.get(&reading, &path).await.status(), StatusCode::OK);
    });
}
