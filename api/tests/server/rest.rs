//! The routes of the older API, and the contract.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::site::{Site, with_site};

#[test]
fn a_memory_is_stored_listed_changed_deleted_and_restored() {
    with_site(|site| async move {
        let ada = site.user("ada").await;
        let body = json!({ "content": "Invoices are numbered per year", "category": "decisions", "tags": "billing, tax",
            "expanded_keywords": "accounting, numbering", "importance": 0.7, "force_sensitive": false });
        let made = Site::ok(site.post(&ada, "/api/memories", &body).await).await;
        assert_eq!(
            (&made["category"], &made["importance"], &made["rev"]),
            (&json!("decisions"), &json!(0.7), &json!(1))
        );
        let path = format!("/api/memories/{}", made["uuid"].as_str().unwrap());
        let got = site.get(&ada, &path).await;
        assert_eq!(got.headers()["etag"], "\"1\"");
        let got = Site::ok(got).await;
        assert_eq!((&got["tags"], &got["keywords"]), (&json!("billing,tax"), &json!(["accounting", "numbering"])));
        let listed = Site::ok(site.get(&ada, "/api/memories?category=decision&tag=tax&limit=5").await).await;
        assert_eq!((listed["memories"].as_array().unwrap().len(), &listed["total"]), (1, &json!(1)));
        assert_eq!(
            (&got["tag_list"], &got["expanded_keywords"]),
            (&json!(["billing", "tax"]), &json!("accounting numbering"))
        );
        // Changes may name the rev that they are made on.
        let change = json!({ "content": "Invoices are numbered per calendar year" });
        Site::ok(site.put(&ada, &path, "\"1\"", &change).await).await;
        let late = site.put(&ada, &path, "\"1\"", &json!({ "content": "late" })).await;
        assert_eq!(late.status(), StatusCode::PRECONDITION_FAILED);
        let late: Value = late.json().await.unwrap();
        assert_eq!((&late["code"], &late["current"]["rev"]), (&json!("changed"), &json!(2)));
        Site::ok(site.put(&ada, &path, "", &change).await).await;
        assert_eq!(site.put(&ada, &path, "*", &json!({})).await.status(), StatusCode::BAD_REQUEST);
        assert_eq!(site.put(&ada, &path, "*", &json!({ "contents": "x" })).await.status(), StatusCode::BAD_REQUEST);
        for (bad, field) in [
            (json!({ "content": "" }), "content"),
            (json!({ "content": "a\u{0}b" }), "content"),
            (json!({ "importance": 11 }), "importance"),
            (json!({ "type": "thing" }), "type"),
            (json!({ "keywords": ["a\u{0}"] }), "keywords"),
        ] {
            let response = site.put(&ada, &path, "*", &bad).await;
            assert_eq!(response.status(), StatusCode::UNPROCESSABLE_ENTITY, "{bad}");
            let problem: Value = response.json().await.unwrap();
            assert!(problem["detail"].as_str().unwrap().contains(field), "{problem}");
        }
        let gone = Site::ok(site.delete(&ada, &path, "*").await).await;
        assert_eq!(gone["preview"], "Invoices are numbered per calendar year");
        let again = Site::ok(site.delete(&ada, &path, "*").await).await;
        assert_eq!(again["preview"], "[already deleted]");
        assert_eq!(Site::ok(site.get(&ada, "/api/memories").await).await["total"], 0);
        assert_eq!(Site::ok(site.get(&ada, "/api/memories?deleted=true").await).await["total"], 1);
        let back = Site::ok(site.post(&ada, &format!("{path}/restore"), &json!({})).await).await;
        assert_eq!(back["content"], "Invoices are numbered per calendar year");
        assert_eq!(site.post(&ada, &format!("{path}/restore"), &json!({})).await.status(), StatusCode::CONFLICT);
        assert_eq!(Site::ok(site.get(&ada, "/api/tags").await).await[0], json!({ "tag": "billing", "count": 1 }));
        assert_eq!(Site::ok(site.get(&ada, "/api/categories").await).await[0]["category"], "decisions");
        assert_eq!(Site::ok(site.get(&ada, "/api/stats").await).await["total_memories"], 1);
        let lines = site.get(&ada, "/api/memories/export").await.text().await.unwrap();
        assert_eq!(lines.lines().count(), 1);
        let line: Value = serde_json::from_str(&lines).unwrap();
        assert_eq!((&line["id"], &line["tags"]), (&made["uuid"], &json!(["billing", "tax"])), "as an import reads it");
        let again = Site::ok(site.post(&ada, "/api/memories/import", &json!([line])).await).await;
        assert_eq!((&again[0]["id"], &again[0]["error"]), (&made["id"], &Value::Null), "{again}");
        let changed = Site::ok(site.get(&ada, "/api/memories/sync?since=2020-01-01T00:00:00+00:00").await).await;
        assert_eq!(changed["memories"][0]["id"], made["id"], "{changed}");
        let since = changed["server_time"].as_str().unwrap();
        let later = Site::ok(site.get(&ada, &format!("/api/memories/sync?since={since}")).await).await;
        assert_eq!(later["memories"], json!([]));
        let bad = site.get(&ada, "/api/memories/sync?since=yesterday").await;
        assert_eq!(bad.status(), StatusCode::UNPROCESSABLE_ENTITY);
        assert_eq!(site.get(&ada, "/api/memories/17").await.status(), StatusCode::NOT_FOUND);
        assert_eq!(site.get(&ada, "/api/memories/x").await.status(), StatusCode::UNPROCESSABLE_ENTITY);
        assert_eq!(site.get(&ada, "/nowhere").await.json::<Value>().await.unwrap()["code"], "no_route");
    });
}

#[test]
fn a_retry_with_the_same_key_stores_once_and_imports_report_on_each_row() {
    with_site(|site| async move {
        let (ada, bob) = (site.user("ada").await, site.user("bob").await);
        let body = json!({ "content": "Stored once" });
        let mut ids = Vec::new();
        for _ in 0..5 {
            let made = Site::ok(site.post_with(&ada, "/api/memories", "k1", &body).await).await;
            ids.push(made["uuid"].clone());
        }
        ids.dedup();
        assert_eq!(ids.len(), 1);
        let other = site.post_with(&ada, "/api/memories", "k1", &json!({ "content": "Another" })).await;
        assert_eq!(other.status(), StatusCode::UNPROCESSABLE_ENTITY);
        assert_eq!(other.json::<Value>().await.unwrap()["code"], "op_reused");
        // Another user's key of the same name is theirs.
        let bobs = Site::ok(site.post_with(&bob, "/api/memories", "k1", &body).await).await;
        assert_ne!(bobs["uuid"], ids[0]);
        let rows =
            json!([{ "content": "One" }, { "content": "" }, { "nothing": 1 }, { "content": "Two", "uuid": ids[0] }, 7]);
        for _ in 0..2 {
            let report = Site::ok(site.post_with(&ada, "/api/memories/import", "k2", &rows).await).await;
            let errors: Vec<bool> = report.as_array().unwrap().iter().map(|row| row["error"].is_string()).collect();
            assert_eq!(errors, [false, true, true, false, true], "{report}");
        }
        assert_eq!(Site::ok(site.get(&ada, "/api/memories").await).await["total"], 2);
    });
}

#[test]
fn links_redirect_recall_and_do_not_run_in_circles() {
    with_site(|site| async move {
        let ada = site.user("ada").await;
        let mut ids = Vec::new();
        for text in ["The exporter listens on port 9100", "The exporter listens on port 9417"] {
            let made = Site::ok(site.post(&ada, "/api/memories", &json!({ "content": text })).await).await;
            ids.push(made["uuid"].as_str().unwrap().to_owned());
        }
        let link = |from: usize, to: usize| {
            (format!("/api/memories/{}/links", ids[from]), json!({ "target_id": ids[to], "link_type": "supersedes" }))
        };
        let (path, body) = link(1, 0);
        assert_eq!(Site::ok(site.post(&ada, &path, &body).await).await["dst_uuid"], json!(ids[0]));
        assert_eq!(site.post(&ada, &path, &body).await.status(), StatusCode::CONFLICT);
        let (back, body) = link(0, 1);
        assert_eq!(site.post(&ada, &back, &body).await.status(), StatusCode::UNPROCESSABLE_ENTITY);
        let question = json!({ "context": "on which port does the exporter listen" });
        let answer = Site::ok(site.post(&ada, "/api/memories/recall", &question).await).await;
        let texts: Vec<&str> =
            answer["memories"].as_array().unwrap().iter().map(|memory| memory["content"].as_str().unwrap()).collect();
        assert_eq!(texts, ["The exporter listens on port 9417"]);
        let target = Site::ok(site.get(&ada, &format!("/api/memories/{}", ids[0])).await).await;
        assert_eq!(target["links_in"], json!([{ "id": 2, "uuid": ids[1], "type": "supersedes" }]));
        Site::ok(site.delete(&ada, &format!("{path}/{}/supersedes", ids[0]), "").await).await;
        let answer = Site::ok(site.post(&ada, "/api/memories/recall", &question).await).await;
        assert_eq!(answer["memories"].as_array().unwrap().len(), 2);
        // A circle is noticed however long it is.
        for number in 2..5 {
            let text = json!({ "content": format!("The exporter listens on port {number}000") });
            let made = Site::ok(site.post(&ada, "/api/memories", &text).await).await;
            ids.push(made["uuid"].as_str().unwrap().to_owned());
        }
        let link = |from: usize, to: usize| {
            (format!("/api/memories/{}/links", ids[from]), json!({ "target_id": ids[to], "link_type": "supersedes" }))
        };
        for (from, to) in [(1, 0), (2, 1), (3, 2), (4, 3)] {
            let (path, body) = link(from, to);
            Site::ok(site.post(&ada, &path, &body).await).await;
        }
        let (path, body) = link(0, 4);
        assert_eq!(site.post(&ada, &path, &body).await.status(), StatusCode::UNPROCESSABLE_ENTITY);
        let updates = |to: usize| json!({ "target_id": ids[to], "link_type": "updates" });
        let (path, back) = (format!("/api/memories/{}/links", ids[0]), format!("/api/memories/{}/links", ids[1]));
        Site::ok(site.post(&ada, &path, &updates(1)).await).await;
        assert_eq!(site.post(&ada, &back, &updates(0)).await.status(), StatusCode::UNPROCESSABLE_ENTITY);
    });
}

#[test]
fn the_contract_names_every_route_and_hostile_questions_do_no_harm() {
    with_site(|site| async move {
        let ada = site.user("ada").await;
        let contract = Site::ok(site.get("", "/openapi.json").await).await;
        for path in ["/api/memories", "/api/memories/recall", "/api/memories/{id}", "/v1/sync/push", "/ready"] {
            assert!(contract["paths"][path].is_object(), "{path}");
        }
        Site::ok(site.post(&ada, "/api/memories", &json!({ "content": "naïve 国 \u{1f600} text" })).await).await;
        for question in
            ["", "?", "\"", "a AND OR NOT *", "'; DROP TABLE memories; --", "国", "\u{202e}", "a\u{0}b", "\\"]
        {
            let answer =
                site.post(&ada, "/api/memories/recall", &json!({ "context": question, "max_tokens": 200 })).await;
            assert_eq!(answer.status(), StatusCode::OK, "{question:?}");
        }
        let small = site.post(&ada, "/api/memories/recall", &json!({ "context": "x", "max_tokens": 1 })).await;
        assert_eq!(small.status(), StatusCode::UNPROCESSABLE_ENTITY);
        assert!(site.get(&ada, "/health").await.headers().contains_key("x-request-id"));
    });
}
