//! Metadata on the server: kept and given back, screened, and taken away by nobody's silence.

use std::time::Duration;

use serde_json::{Value, json};
use tessera_api::Settings;
use tessera_engine::sync::{Action, Edit};
use tessera_engine::text::{O200k, TokenCounter};

use crate::site::{Site, with_site, with_site_of};
use crate::sync::{document, id, op, pushed};

#[test]
fn metadata_are_kept_given_back_and_screened() {
    with_site(|site| async move {
        let key = site.user("ada").await;
        let token = format!("ghp_{}", "a1B2".repeat(9));
        let body = json!({ "content": "The crane is oiled", "importance": 0.9, "metadata": { "n": 1 } });
        let stored = Site::ok(site.post(&key, "/api/memories", &body).await).await;
        assert_eq!(stored["importance"], 0.9, "{stored}");
        let path = format!("/api/memories/{}", stored["id"]);
        let kept = Site::ok(site.get(&key, &path).await).await;
        assert_eq!(kept["metadata"]["n"], 1, "{kept}");
        // A server without a place for secrets takes none, wherever it stands.
        let body = json!({ "content": "x", "metadata": { "deep": [{ "token": token }] } });
        let refused = site.post(&key, "/api/memories", &body).await;
        assert_eq!(refused.status(), 422);
        let told = refused.text().await.unwrap();
        assert!(told.contains("metadata: contains a credential") && !told.contains(&token), "{told}");
        Site::ok(site.put(&key, &path, "*", &json!({ "content": "The crane was oiled" })).await).await;
        assert_eq!(Site::ok(site.get(&key, &path).await).await["metadata"]["n"], 1, "silence takes nothing away");
        Site::ok(site.put(&key, &path, "*", &json!({ "metadata": {} })).await).await;
        assert_eq!(Site::ok(site.get(&key, &path).await).await["metadata"], json!({}));
        for (field, value) in [("importance", json!(11)), ("importance", json!(-1)), ("metadata", json!([1]))] {
            let refused = site.post(&key, "/api/memories", &json!({ "content": "x", field: value })).await;
            assert!(refused.status().is_client_error(), "{field}");
            assert!(refused.text().await.unwrap().contains(field), "{field}");
        }
    });
}

#[test]
fn a_machine_that_knows_of_no_metadata_takes_none_away() {
    with_site(|site| async move {
        let (key, memory) = (site.user("ada").await, id());
        let mut made = document("The crane is oiled");
        made.details.metadata = Some(r#"{"n":1}"#.parse().unwrap());
        pushed(&site, &key, &op(memory, 0, Action::Create(made.clone()))).await;
        let mut older = made.details.clone();
        (older.metadata, older.session) = (None, Some("night".into()));
        let edit = Edit { details: Some(older), ..Edit::default() };
        let row = pushed(&site, &key, &op(memory, 1, Action::Edit(edit))).await.row.unwrap().row;
        let details = &row.state.live().unwrap().details;
        assert_eq!((details.session.as_deref(), &details.metadata), (Some("night"), &made.details.metadata));
        let told: Value = serde_json::to_value(&row).unwrap();
        assert_eq!(told["state"]["live"]["details"]["metadata"], json!({ "n": 1 }), "{told}");
    });
}

#[test]
fn rows_in_full_say_all_that_is_known_and_cost_what_the_answer_says() {
    let settings = Settings { count_uses_every: Duration::from_millis(20), ..Settings::default() };
    with_site_of(settings, |site| async move {
        let key = site.user("ada").await;
        for number in 0..20 {
            let content = format!("Crane {number} is oiled at dawn 🚀 因为 {}", "again ".repeat(number));
            let body = json!({ "content": content, "metadata": { "n": number, "<who>": "\u{200b}x" } });
            Site::ok(site.post(&key, "/api/memories", &body).await).await;
        }
        let asked = |rows: &str, max_tokens: u32| json!({ "context": "crane dawn", "max_tokens": max_tokens, "rows": rows, "breadth": "off" });
        for (rows, max_tokens) in [("full", 320), ("full", 1000), ("full", 5000), ("short", 1000)] {
            // Twice: texts that are at hand say no less than those that are read.
            for _ in 0..2 {
                let answer = site.post(&key, "/api/memories/recall", &asked(rows, max_tokens)).await;
                let text = answer.text().await.unwrap();
                let answer: Value = serde_json::from_str(&text).unwrap();
                let tokens = O200k.count(&text) as usize;
                assert_eq!(answer["tokens_used"], json!(tokens), "{text}");
                assert!(tokens <= max_tokens as usize, "{text}");
                let first = answer["details"][0].as_object().unwrap();
                let of_full = ["summary", "created_at", "last_accessed", "access_count", "expires_at", "metadata"];
                assert!(of_full.iter().all(|name| first.contains_key(*name) == (rows == "full")), "{text}");
            }
        }
        // Uses are counted now and then.
        loop {
            let answer = Site::ok(site.post(&key, "/api/memories/recall", &asked("full", 1000)).await).await;
            let first = &answer["details"][0];
            if first["access_count"].as_u64().unwrap() > 0 && first["last_accessed"].is_string() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let refused = site.post(&key, "/api/memories/recall", &asked("long", 1000)).await;
        assert_eq!(refused.status(), 422);
        assert!(refused.text().await.unwrap().contains("rows: has an unknown value"));
    });
}
