//! What is kept beside a text: it may be of an older version, and what was counted with it is what is shown.

use std::time::Duration;

use serde_json::{Value, json};
use sqlx::Row as _;
use tessera_api::{Limits, SemanticSearch, Settings};

use crate::site::{Site, with_site, with_site_of};

async fn found(site: &Site, key: &str, question: &str) -> Vec<String> {
    let answer = Site::ok(site.post(key, "/api/memories/recall", &json!({ "context": question })).await).await;
    answer["memories"].as_array().unwrap().iter().map(|one| one["content"].as_str().unwrap().to_owned()).collect()
}

/// Where the version of the analyzer stands in a blob.
const AT: i32 = 3;

async fn versions(site: &Site) -> Vec<i32> {
    let sql =
        format!("SELECT DISTINCT get_byte(forward, {AT}) AS version FROM memories WHERE state = 'live' ORDER BY 1");
    let rows = sqlx::query(sqlx::AssertSqlSafe(sql)).fetch_all(&site.admin().await).await.unwrap();
    rows.iter().map(|row| row.get("version")).collect()
}

/// Makes rows those of another analyzer, with a signature of its own.
async fn make(site: &Site, version: i32) {
    let sql = format!("UPDATE memories SET forward = set_byte(forward, {AT}, {version}), signature = 0");
    sqlx::query(sqlx::AssertSqlSafe(sql)).execute(&site.admin().await).await.unwrap();
}

/// Of a server that leaves rows as they are, unless somebody asks.
fn quiet() -> Settings {
    let limits = Limits { key_per_second: 100_000, address_per_second: 100_000, ..Limits::default() };
    Settings { reanalyse_every: None, embedding: SemanticSearch::Kept, limits, ..Settings::default() }
}

async fn idle(site: &Site) -> Site {
    site.replica_of(quiet()).await
}

/// Users ada and bob, with twenty notes of ada's that bob sees.
async fn port(site: &Site) -> (String, String) {
    let (ada, bob) = (site.user("ada").await, site.user("bob").await);
    for number in 0..20 {
        let memory = json!({ "content": format!("Crane {number} of the harbour is serviced"), "tags": "port" });
        Site::ok(site.post(&ada, "/api/memories", &memory).await).await;
    }
    Site::ok(site.post(&ada, "/api/memories/share-tag", &json!({ "tag": "port", "shared_with": "bob" })).await).await;
    let answer = json!({ "owner": "ada", "tag": "port", "accept": true });
    Site::ok(site.post(&bob, "/api/memories/invitations", &answer).await).await;
    (ada, bob)
}

#[test]
fn what_another_version_analysed_is_analysed_again_and_found() {
    with_site_of(quiet(), |site| async move {
        let (ada, bob) = port(&site).await;
        let current = versions(&site).await;
        // A newer server's are read again, and left as they are.
        make(&site, 200).await;
        assert_eq!(found(&idle(&site).await, &ada, "harbour crane").await.len(), 20);
        assert_eq!(versions(&site).await, [200]);
        // What others share is theirs to keep; one's own is written back.
        make(&site, 0).await;
        let replica = idle(&site).await;
        assert_eq!(found(&replica, &bob, "harbour crane").await.len(), 20);
        assert_eq!(versions(&site).await, [0]);
        assert_eq!(found(&replica, &ada, "harbour crane").await.len(), 20);
        assert_eq!(versions(&site).await, current);
        // Also what comes with the feed.
        make(&site, 0).await;
        sqlx::query("UPDATE user_seq SET seq = seq + 1").execute(&site.admin().await).await.unwrap();
        sqlx::query(
            "UPDATE feed SET seq = seq + 1 WHERE seq = (SELECT max(seq) FROM feed f WHERE f.user_id = feed.user_id)",
        )
        .execute(&site.admin().await)
        .await
        .unwrap();
        assert_eq!(found(&replica, &ada, "harbour crane").await.len(), 20);
        assert_eq!(versions(&site).await, [&[0], &*current].concat());
    });
}

#[test]
fn a_server_makes_the_rows_of_an_older_one_current_though_nobody_asks() {
    with_site_of(quiet(), |site| async move {
        let (ada, bob) = port(&site).await;
        let rows =
            "SELECT id, content, rev, updated, summary, is_instruction, length, signature, forward, costs, passages
                    FROM memories ORDER BY id";
        let read = async || -> Vec<String> {
            let sql = format!("SELECT to_jsonb(row)::text AS row FROM ({rows}) row");
            let rows = sqlx::query(sqlx::AssertSqlSafe(sql)).fetch_all(&site.admin().await).await.unwrap();
            rows.iter().map(|row| row.get("row")).collect()
        };
        let before = read().await;
        make(&site, 0).await;
        // Counted as lines were once shown; some with a blob that is no blob.
        sqlx::query("UPDATE memories SET costs = costs[1:4], forward = CASE WHEN rev % 2 = 1 AND content LIKE '%7%' THEN '\\x0009'::bytea ELSE forward END, is_instruction = true")
            .execute(&site.admin().await)
            .await
            .unwrap();
        assert_ne!(read().await, before);
        let replica = site.replica().await;
        // Both are answered at once, whether their rows are current by then or not.
        for key in [&ada, &bob] {
            assert_eq!(found(&replica, key, "harbour crane").await.len(), 20);
        }
        for _ in 0..1_000 {
            if read().await == before {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(read().await, before);
        assert_eq!(found(&replica, &ada, "harbour crane").await.len(), 20);
    });
}

#[test]
fn the_summary_that_is_shown_is_the_one_that_was_counted() {
    with_site(|site| async move {
        let ada = site.user("ada").await;
        for month in ["May", "June", "July"] {
            let text = format!("The harbour crane is serviced in {month}. {}", "It takes a day. ".repeat(300));
            Site::ok(site.post(&ada, "/api/memories", &json!({ "content": text })).await).await;
        }
        // As another version would have made them, of as many tokens.
        let sql = "UPDATE memories SET summary = replace(summary, 'crane', 'train')";
        sqlx::query(sql).execute(&site.admin().await).await.unwrap();
        let listed = Site::ok(site.get(&ada, "/api/memories").await).await;
        let kept: Vec<&Value> = listed["memories"].as_array().unwrap().iter().map(|one| &one["summary"]).collect();
        assert!(kept.len() == 3 && kept.iter().all(|summary| summary.as_str().unwrap().contains("train")), "{kept:?}");
        let question = json!({ "context": "harbour crane service", "max_tokens": 200 });
        let answer = Site::ok(site.post(&ada, "/api/memories/recall", &question).await).await;
        let shown: Vec<&Value> = answer["index"].as_array().unwrap().iter().map(|one| &one["summary"]).collect();
        assert!(!shown.is_empty() && shown.iter().all(|summary| kept.contains(summary)), "{answer}");
    });
}
