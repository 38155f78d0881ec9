//! Who sees what, and from when until when: over REST, in recall, and in the feed.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::site::{Site, with_site};

async fn stored(site: &Site, key: &str, text: &str, tags: &str) -> String {
    let memory = json!({ "content": text, "tags": tags });
    Site::ok(site.post(key, "/api/memories", &memory).await).await["uuid"].as_str().unwrap().to_owned()
}

/// What a user recalls of a question: texts and whose they are.
async fn recalled(site: &Site, key: &str, question: &str) -> Vec<(String, Value)> {
    let answer = Site::ok(site.post(key, "/api/memories/recall", &json!({ "context": question })).await).await;
    let memories = answer["memories"].as_array().unwrap().clone();
    memories
        .into_iter()
        .map(|memory| (memory["content"].as_str().unwrap().to_owned(), memory["shared_by"].clone()))
        .collect()
}

async fn accept(site: &Site, key: &str, owner: &str, tag: &str) {
    let answer = json!({ "owner": owner, "tag": tag, "accept": true });
    assert_eq!(Site::ok(site.post(key, "/api/memories/invitations", &answer).await).await["changed"], true);
}

async fn feed(site: &Site, key: &str, after: u64) -> (Vec<Value>, u64) {
    let page = Site::ok(site.get(key, &format!("/v1/sync/changes?epoch=1&after={after}")).await).await;
    (page["news"].as_array().unwrap().clone(), page["next"].as_u64().unwrap())
}

#[test]
fn a_shared_memory_comes_with_its_owner_and_leaves_at_once() {
    with_site(|site| async move {
        let (ada, bob, eve) = (site.user("ada").await, site.user("bob").await, site.user("eve").await);
        let id = stored(&site, &ada, "The harbour crane is serviced in May", "port").await;
        assert!(recalled(&site, &bob, "harbour crane").await.is_empty());
        let path = format!("/api/memories/{id}/share");
        for (body, status) in [
            (json!({ "shared_with": "nobody" }), StatusCode::NOT_FOUND),
            (json!({ "shared_with": "ada" }), StatusCode::BAD_REQUEST),
            (json!({ "shared_with": "bob", "permission": "own" }), StatusCode::UNPROCESSABLE_ENTITY),
        ] {
            assert_eq!(site.post(&ada, &path, &body).await.status(), status, "{body}");
        }
        // Neither a stranger nor a reader can share it on.
        let with_eve = json!({ "shared_with": "eve" });
        assert_eq!(site.post(&bob, &path, &with_eve).await.status(), StatusCode::NOT_FOUND);
        Site::ok(site.post(&ada, &path, &json!({ "shared_with": "bob" })).await).await;
        assert_eq!(site.post(&bob, &path, &with_eve).await.status(), StatusCode::NOT_FOUND);
        let seen = recalled(&site, &bob, "harbour crane").await;
        assert_eq!(seen, [("The harbour crane is serviced in May".to_owned(), json!("ada"))]);
        let (news, next) = feed(&site, &bob, 0).await;
        assert_eq!(news[0]["arrival"]["row"]["share"], json!({ "shared_by": "ada", "share_permission": "read" }));
        // A reader reads.
        let change = site.put(&bob, &format!("/api/memories/{id}"), "*", &json!({ "content": "x" })).await;
        assert_eq!(change.status(), StatusCode::FORBIDDEN);
        assert_eq!(site.delete(&bob, &format!("/api/memories/{id}"), "*").await.status(), StatusCode::FORBIDDEN);
        // Told of another permission, though nothing else changed.
        Site::ok(site.post(&ada, &path, &json!({ "shared_with": "bob", "permission": "write" })).await).await;
        let (news, next_after) = feed(&site, &bob, next).await;
        assert_eq!((news.len(), next_after), (1, next + 1));
        assert_eq!(news[0]["arrival"]["row"]["share"]["share_permission"], "write");
        // A writer changes the text, and neither its tags nor its being there.
        let mut body = json!({ "content": "The harbour crane is serviced in June", "tags": ["bobs"] });
        let refused = site.put(&bob, &format!("/api/memories/{id}"), "*", &body).await;
        assert_eq!(refused.status(), StatusCode::FORBIDDEN);
        body.as_object_mut().unwrap().remove("tags");
        Site::ok(site.put(&bob, &format!("/api/memories/{id}"), "*", &body).await).await;
        let memory = Site::ok(site.get(&ada, &format!("/api/memories/{id}")).await).await;
        assert_eq!(
            (&memory["content"], &memory["tags"]),
            (&json!("The harbour crane is serviced in June"), &json!("port"))
        );
        assert_eq!(memory["owner"], "ada");
        assert_eq!(site.delete(&bob, &format!("/api/memories/{id}"), "*").await.status(), StatusCode::FORBIDDEN);
        assert!(recalled(&site, &eve, "harbour crane").await.is_empty());
        // It leaves at once: recall, one memory, and the feed of his machines.
        Site::ok(site.delete(&ada, &format!("/api/memories/{id}/share/bob"), "").await).await;
        assert!(recalled(&site, &bob, "harbour crane").await.is_empty());
        assert_eq!(site.get(&bob, &format!("/api/memories/{id}")).await.status(), StatusCode::NOT_FOUND);
        let (news, _) = feed(&site, &bob, next_after).await;
        assert!(news.last().unwrap()["arrival"]["gone"].is_object(), "{news:?}");
        // Unsharing what is not shared is no error.
        Site::ok(site.delete(&ada, &format!("/api/memories/{id}/share/bob"), "").await).await;
    });
}

#[test]
fn a_tag_is_a_live_rule_and_a_direct_share_has_the_last_word() {
    with_site(|site| async move {
        let (ada, bob) = (site.user("ada").await, site.user("bob").await);
        let first = stored(&site, &ada, "Tide tables are on the second shelf", "port").await;
        stored(&site, &ada, "The safe is behind the picture", "private").await;
        let rule = json!({ "tag": "port", "shared_with": "bob", "permission": "write" });
        Site::ok(site.post(&ada, "/api/memories/share-tag", &rule).await).await;
        // It is offered, and comes once he wants it.
        assert!(recalled(&site, &bob, "tide tables shelf").await.is_empty());
        let (rows, next) = feed(&site, &bob, 0).await;
        assert!(rows.is_empty() && next == 1, "an offer moves his counter, so that machines ask, and no memory");
        let page = Site::ok(site.get(&bob, "/v1/sync/changes?epoch=1").await).await;
        assert_eq!(page["invitations"], json!([{ "owner": "ada", "tag": "port", "permission": "write" }]));
        accept(&site, &bob, "ada", "port").await;
        assert_eq!(Site::ok(site.get(&bob, "/api/memories/invitations").await).await, json!([]));
        assert_eq!(recalled(&site, &bob, "tide tables shelf").await.len(), 1);
        assert!(recalled(&site, &bob, "safe picture").await.is_empty());
        // What comes later is shared as well, and what loses the tag no longer.
        let later = stored(&site, &ada, "Tide tables are printed every spring", "port").await;
        assert_eq!(recalled(&site, &bob, "tide tables").await.len(), 2);
        Site::ok(site.put(&ada, &format!("/api/memories/{later}"), "*", &json!({ "tags": [] })).await).await;
        assert_eq!(recalled(&site, &bob, "tide tables").await.len(), 1);
        // A direct share for reading hides the tag's right to write.
        let path = format!("/api/memories/{first}/share");
        Site::ok(site.post(&ada, &path, &json!({ "shared_with": "bob", "permission": "read" })).await).await;
        let change = site.put(&bob, &format!("/api/memories/{first}"), "*", &json!({ "content": "x" })).await;
        assert_eq!(change.status(), StatusCode::FORBIDDEN);
        let with_me = Site::ok(site.get(&bob, "/api/memories/shared-with-me").await).await;
        assert_eq!((&with_me["memories"][0]["shared_by"], &with_me["total"]), (&json!("ada"), &json!(1)));
        let mine = Site::ok(site.get(&ada, "/api/memories/my-shares").await).await;
        assert_eq!(mine["tag_shares"][0]["tag"], "port", "{mine}");
        assert_eq!(mine["memory_shares"][0]["memory_uuid"], json!(first), "{mine}");
        assert_eq!(mine["memory_shares"][0]["memory_id"], json!(1), "{mine}");
        // A client of ours from before there were numbers reads a UUID there.
        let request = site.client.get(format!("http://{}/api/memories/my-shares", site.address)).bearer_auth(&ada);
        let mine = Site::ok(request.header("user-agent", "tessera/0.1.0").send().await.unwrap()).await;
        assert_eq!(mine["memory_shares"][0]["memory_id"], json!(first), "{mine}");
        // Both ways of taking the rule back.
        let body = json!({ "tag": "port", "shared_with": "bob" });
        Site::ok(site.delete_with(&ada, "/api/memories/share-tag", &body).await).await;
        assert_eq!(recalled(&site, &bob, "tide tables").await.len(), 1, "the direct share holds");
        Site::ok(site.delete(&ada, &format!("{path}/bob"), "").await).await;
        assert!(recalled(&site, &bob, "tide tables").await.is_empty());
    });
}

#[test]
fn a_recipient_mutes_one_memory_or_all_of_an_owner() {
    with_site(|site| async move {
        let (ada, bob) = (site.user("ada").await, site.user("bob").await);
        let one = stored(&site, &ada, "The pilot boat leaves at six", "port").await;
        stored(&site, &ada, "The pilot boat is painted red", "port").await;
        let rule = json!({ "tag": "port", "shared_with": "bob" });
        Site::ok(site.post(&ada, "/api/memories/share-tag", &rule).await).await;
        accept(&site, &bob, "ada", "port").await;
        assert_eq!(recalled(&site, &bob, "pilot boat").await.len(), 2);
        let (_, next) = feed(&site, &bob, 0).await;
        Site::ok(site.post(&bob, &format!("/api/memories/{one}/mute"), &json!({})).await).await;
        assert_eq!(recalled(&site, &bob, "pilot boat").await.len(), 1);
        let (news, next) = feed(&site, &bob, next).await;
        assert!(news.len() == 1 && news[0]["arrival"]["gone"].is_object(), "{news:?}");
        Site::ok(site.post(&bob, "/api/users/ada/mute", &json!({})).await).await;
        assert!(recalled(&site, &bob, "pilot boat").await.is_empty());
        Site::ok(site.delete(&bob, "/api/users/ada/mute", "").await).await;
        Site::ok(site.delete(&bob, &format!("/api/memories/{one}/mute"), "").await).await;
        assert_eq!(recalled(&site, &bob, "pilot boat").await.len(), 2);
        let (news, _) = feed(&site, &bob, next).await;
        assert_eq!(news.len(), 2, "{news:?}");
        // Her own memories nobody can mute for her.
        assert_eq!(
            site.post(&ada, &format!("/api/memories/{one}/mute"), &json!({})).await.status(),
            StatusCode::NOT_FOUND
        );
    });
}

/// Shares that come while memories are written: whoever comes to see one is told of it, by one or the other.
#[test]
fn a_share_and_a_write_at_once_tell_of_the_memory() {
    with_site(|site| async move {
        let (ada, bob) = (site.user("ada").await, site.user("bob").await);
        for round in 0..20 {
            let tag = format!("round{round}");
            let rule = json!({ "tag": tag, "shared_with": "bob" });
            Site::ok(site.post(&ada, "/api/memories/share-tag", &rule).await).await;
            let text = format!("Round {round} of the race");
            let write = stored(&site, &ada, &text, &tag);
            let (id, ()) = tokio::join!(write, accept(&site, &bob, "ada", &tag));
            let (news, _) = feed(&site, &bob, 0).await;
            assert!(news.iter().any(|news| news["memory"] == json!(id)), "round {round}");
        }
    });
}

#[test]
fn a_number_of_the_older_system_never_changes_another_memory_without_a_word() {
    with_site(|site| async move {
        let (ada, bob) = (site.user("ada").await, site.user("bob").await);
        let texts = ["One buoy", "Two buoys", "Three buoys", "Four buoys", "The crane is serviced in May by Ines"];
        let mut last = String::new();
        for text in texts {
            last = stored(&site, &ada, text, "port").await;
        }
        for text in ["Bob's first note", "Bob's second note"] {
            stored(&site, &bob, text, "own").await;
        }
        let share = json!({ "shared_with": "bob", "permission": "write" });
        Site::ok(site.post(&ada, &format!("/api/memories/{last}/share"), &share).await).await;
        let text = json!({ "content": "The crane is serviced in June by Ines" });
        // He has no five of his own: hers is meant, as where one number was for all.
        Site::ok(site.put(&bob, "/api/memories/5", "", &text).await).await;
        let now = Site::ok(site.get(&ada, &format!("/api/memories/{last}")).await).await;
        assert_eq!((&now["content"], &now["edited_by"]), (&text["content"], &json!("bob")));
        assert_eq!(site.delete(&bob, "/api/memories/5", "").await.status(), StatusCode::FORBIDDEN);
        // Of what is not shared with him no number tells him anything.
        assert_eq!(site.get(&bob, "/api/memories/4").await.status(), StatusCode::NOT_FOUND);
        let mut own = String::new();
        for text in ["Bob's third note on tea", "Bob's lamp is green", "Bob's kettle is blue", "Bob's mug is red"] {
            let id = stored(&site, &bob, text, "own").await;
            let view = Site::ok(site.get(&bob, &format!("/api/memories/{id}")).await).await;
            if view["id"] == 5 {
                own = id;
            }
        }
        let before = Site::ok(site.get(&bob, &format!("/api/memories/{own}")).await).await;
        assert_eq!(before["id"], 5, "he has a five of his own now");
        let said = json!({ "content": "The crane is serviced in July by Ines" });
        let refused = site.put(&bob, "/api/memories/5", "", &said).await;
        assert_eq!(refused.status(), StatusCode::CONFLICT);
        let problem: Value = refused.json().await.unwrap();
        let words = problem["detail"].as_str().unwrap();
        assert!(problem["code"] == "ambiguous_number" && words.contains(&last) && words.contains(&own), "{problem}");
        let said = json!({ "content": format!("{} today", before["content"].as_str().unwrap()) });
        Site::ok(site.put(&bob, "/api/memories/5", "", &said).await).await;
        assert_eq!(Site::ok(site.get(&bob, &format!("/api/memories/{own}")).await).await["content"], said["content"]);
        for text in ["+5", "-5", "5.0"] {
            assert_eq!(
                site.get(&bob, &format!("/api/memories/{text}")).await.status(),
                StatusCode::UNPROCESSABLE_ENTITY
            );
        }
    });
}
