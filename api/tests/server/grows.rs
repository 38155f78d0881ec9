//! What grows is cleaned up, and nothing that a machine still needs.

use std::time::Duration;

use serde_json::{Value, json};
use sqlx::PgPool;
use tessera_api::{SemanticSearch, Settings};
use tessera_engine::sync::{Action, Checkpoint, MACHINE_HEADER, Page, Snapshot};

use crate::caches::{given, many, store};
use crate::site::{Site, with_site, with_site_of};
use crate::sync::{create, op, pushed};

async fn count(pool: &PgPool, sql: &str) -> i64 {
    sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).fetch_one(pool).await.unwrap()
}

/// As a machine asks for news, by its name.
async fn news(site: &Site, key: &str, machine: &str, after: u64, checkpoints: &[Checkpoint]) -> reqwest::Response {
    let url = format!("http://{}/v1/sync/changes?epoch=1&after={after}", site.address);
    let request = site.client.get(url).bearer_auth(key).header(MACHINE_HEADER, machine);
    let request = if checkpoints.is_empty() {
        request
    } else {
        request.header(Checkpoint::HEADER, Checkpoint::header(checkpoints))
    };
    request.send().await.unwrap()
}

/// Makes a machine one that asked so many days ago, after a number.
async fn asked(pool: &PgPool, machine: &str, after: i64, days: i32) {
    let sql = "INSERT INTO fetched (user_id, key_id, machine, after, asked)
               VALUES ('ada', 'k', $1, $2, now() - make_interval(days => $3))
               ON CONFLICT (user_id, key_id, machine) DO UPDATE SET after = excluded.after, asked = excluded.asked";
    sqlx::query(sql).bind(machine).bind(after).bind(days).execute(pool).await.unwrap();
}

#[test]
fn an_op_is_forgotten_once_every_machine_has_asked_since() {
    with_site(|site| async move {
        let ada = site.user("ada").await;
        let ops: Vec<Value> = (0..3).map(|number| create(&format!("note {number}"))).collect();
        Site::ok(site.post(&ada, "/v1/sync/push", &json!({ "epoch": 1, "ops": ops })).await).await;
        let pool = site.admin().await;
        for (op, days) in ops.iter().zip([20, 45, 100]) {
            let sql = "UPDATE applied_ops SET at = now() - make_interval(days => $1) WHERE op_id = $2::text::uuid";
            sqlx::query(sql).bind(days).bind(op["op_id"].as_str().unwrap()).execute(&pool).await.unwrap();
        }
        asked(&pool, "laptop", 3, 1).await;
        asked(&pool, "desktop", 3, 60).await;
        assert_eq!(site.db.clean_all().await.unwrap().ops, 1, "the desktop has asked since the last of them");
        // The one that was not forgotten is known: a retry is a replay.
        let again = Site::ok(site.post(&ada, "/v1/sync/push", &json!({ "epoch": 1, "ops": [ops[1]] })).await).await;
        assert_eq!(again["answers"][0]["refused"], Value::Null);
        assert_eq!(count(&pool, "SELECT count(*) FROM applied_ops").await, 2);
        asked(&pool, "desktop", 3, 10).await;
        assert_eq!(site.db.clean_all().await.unwrap().ops, 1);
        assert_eq!(count(&pool, "SELECT count(*) FROM applied_ops").await, 1, "a young one stays whoever has asked");
        // The one that is forgotten, sent once more, finds its memory and changes nothing.
        let head = Site::ok(site.get(&ada, "/v1/sync/snapshot").await).await;
        let again = Site::ok(site.post(&ada, "/v1/sync/push", &json!({ "epoch": 1, "ops": [ops[2]] })).await).await;
        assert_eq!(again["answers"][0]["refused"], Value::Null, "{again}");
        assert_eq!(count(&pool, "SELECT count(*) FROM memories").await, 3);
        let after = Site::ok(site.get(&ada, "/v1/sync/snapshot").await).await;
        assert_eq!((&head["rows"], &head["head"]), (&after["rows"], &after["head"]));
        // A machine that was silent for a year is forgotten.
        asked(&pool, "attic", 1, 400).await;
        assert_eq!(site.db.clean_all().await.unwrap().machines, 1);
    });
}

/// A machine that has heard of what is gone goes on, one that has not compares all it has: neither keeps what is not shared
/// any more, and what its own user removed for good comes back from neither.
#[test]
fn news_of_what_is_gone_goes_once_it_was_heard_and_who_comes_later_is_told_otherwise() {
    with_site(|site| async move {
        let (ada, bob) = (site.user("ada").await, site.user("bob").await);
        let store = async |key: &str, text: &str| {
            let body = json!({ "content": text });
            let stored = Site::ok(site.post(key, "/api/memories", &body).await).await;
            stored["uuid"].as_str().unwrap().to_owned()
        };
        let own = store(&ada, "ada's own").await;
        let purged = store(&ada, "ada's own, removed for good").await;
        let shared = store(&bob, "bob's, shared for a while").await;
        let path = format!("/api/memories/{shared}/share");
        let share = json!({ "shared_with": "ada", "permission": "read" });
        Site::ok(site.post(&bob, &path, &share).await).await;
        // A machine that is away from here on, and one that goes on.
        let away: Snapshot = serde_json::from_value(Site::ok(site.get(&ada, "/v1/sync/snapshot").await).await).unwrap();
        assert_eq!(away.rows.len(), 3);
        let checkpoints = vec![away.checkpoint.unwrap()];
        Site::ok(site.delete_with(&bob, &format!("{path}/ada"), &json!({})).await).await;
        let gone = pushed(&site, &ada, &op(purged.parse().unwrap(), 1, Action::Purge)).await;
        assert!(gone.refused.is_none(), "{gone:?}");
        store(&ada, "ada's later one").await;
        let page: Page =
            serde_json::from_value(Site::ok(news(&site, &ada, "laptop", away.head, &checkpoints).await).await).unwrap();
        assert_eq!(page.news.len(), 3, "{page:?}");
        let pool = site.admin().await;
        asked(&pool, "laptop", i64::try_from(away.head).unwrap(), 1).await;
        assert_eq!(site.db.clean_all().await.unwrap().gone, 0, "the laptop has not said that it heard");
        asked(&pool, "laptop", i64::try_from(page.next).unwrap(), 1).await;
        sqlx::query("DELETE FROM fetched WHERE key_id <> 'k'").execute(&pool).await.unwrap();
        let cleaned = site.db.clean_all().await.unwrap();
        assert!(cleaned.gone == 1 && cleaned.checkpoints > 0, "{cleaned:?}");
        // The laptop goes on as if nothing had been.
        let checkpoints_of_laptop = vec![page.checkpoint.unwrap()];
        let response = news(&site, &ada, "laptop", page.next, &checkpoints_of_laptop).await;
        let next: Page = serde_json::from_value(Site::ok(response).await).unwrap();
        assert!(next.news.is_empty(), "{next:?}");
        // The one that was away is not told of changes, but of all there is: without what is not shared, with the tombstone.
        let response = news(&site, &ada, "away", away.head, &checkpoints).await;
        assert!(!response.status().is_success(), "{}", response.text().await.unwrap());
        let response = site.get_knowing(&ada, "/v1/sync/snapshot?epoch=1", &checkpoints).await;
        let anew: Snapshot = serde_json::from_value(Site::ok(response).await).unwrap();
        let ids: Vec<String> = anew.rows.iter().map(|base_version| base_version.row.memory.to_string()).collect();
        assert!(ids.contains(&own) && ids.contains(&purged) && !ids.contains(&shared), "{ids:?}");
        let tombstone = anew.rows.iter().find(|base_version| base_version.row.memory.to_string() == purged).unwrap();
        assert!(tombstone.row.state.document().is_none(), "{tombstone:?}");
        // Shared once more, it is there once more.
        Site::ok(site.post(&bob, &path, &share).await).await;
        let response = news(&site, &ada, "laptop", page.next, &checkpoints_of_laptop).await;
        let next: Page = serde_json::from_value(Site::ok(response).await).unwrap();
        assert_eq!(next.news.len(), 1, "{next:?}");
        let question = json!({ "context": "what does bob share for a while?", "max_tokens": 300 });
        let answer = Site::ok(site.post(&ada, "/api/memories/recall", &question).await).await;
        assert!(answer.to_string().contains("shared for a while"), "{answer}");
    });
}

#[test]
fn marks_are_thinned_behind_every_machine_and_the_head_keeps_its_own() {
    with_site(|site| async move {
        let ada = site.user("ada").await;
        Site::ok(site.post(&ada, "/api/memories", &json!({ "content": "the first" })).await).await;
        let pool = site.admin().await;
        // A history of many changes.
        let history = "INSERT INTO checkpoints (user_id, seq) SELECT 'ada', n FROM generate_series(2, 3000) n;
                       UPDATE user_seq SET seq = 3000 WHERE user_id = 'ada'; UPDATE feed SET seq = 3000 WHERE user_id = 'ada'";
        sqlx::raw_sql(history).execute(&pool).await.unwrap();
        asked(&pool, "laptop", 2_500, 1).await;
        assert_eq!(site.db.clean_all().await.unwrap().checkpoints, 1_499);
        assert_eq!(count(&pool, "SELECT min(seq) FROM checkpoints").await, 1_500);
        assert_eq!(count(&pool, "SELECT max(seq) FROM checkpoints").await, 3_000);
        assert!(site.db.clean_all().await.unwrap().is_empty(), "done once is done");
        let snapshot = Site::ok(site.get(&ada, "/v1/sync/snapshot").await).await;
        assert_eq!(snapshot["checkpoint"]["seq"], 3_000);
    });
}

/// It is done without being asked for, by one of the replicas, and counted.
#[test]
fn replicas_clean_up_by_themselves_one_at_a_time() {
    let every = Some(Duration::from_millis(100));
    let settings = Settings { clean_every: every, embedding: SemanticSearch::Kept, ..Settings::default() };
    with_site_of(settings.clone(), |site| async move {
        let other = site.replica_of(settings).await;
        let ada = site.user("ada").await;
        let pool = site.admin().await;
        for round in 0..3 {
            let key = if round == 1 { site.key("ada").await } else { ada.clone() };
            let to = if round == 1 { &other } else { &site };
            let ops: Vec<Value> = (0..5).map(|number| create(&format!("note {number} of round {round}"))).collect();
            Site::ok(to.post(&key, "/v1/sync/push", &json!({ "epoch": 1, "ops": ops })).await).await;
            sqlx::query("UPDATE applied_ops SET at = now() - interval '100 days'").execute(&pool).await.unwrap();
            for _ in 0..200 {
                if count(&pool, "SELECT count(*) FROM applied_ops").await == 0 {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            assert_eq!(count(&pool, "SELECT count(*) FROM applied_ops").await, 0, "round {round}");
        }
        assert_eq!(count(&pool, "SELECT count(*) FROM memories").await, 15);
        let metrics = tessera_api::metrics_text();
        assert!(metrics.contains("tessera_cleaned_rows_total{table=\"applied_ops\"}"), "{metrics}");
    });
}

/// In a database that grows from nothing the planner knows nothing of its tables yet: what it makes of that holds for as long
/// as a connection lives.
#[test]
fn a_row_is_found_by_its_id_where_nothing_is_known_of_the_tables() {
    with_site(|site| async move {
        let (ada, pool) = (site.user("ada").await, site.admin().await);
        many(&site, &ada).await;
        for round in 0..40 {
            store(&site, &ada, &json!({ "content": format!("Barge {round} left berth {round}") })).await;
            assert!(!given(&site, &ada, &format!("which barge left berth {round}")).await.is_empty());
        }
        let reads = "SELECT coalesce(sum(idx_tup_read), 0)::bigint FROM pg_stat_user_indexes WHERE indexrelname = ";
        let reads = async |index: &str| count(&pool, &format!("{reads}'{index}'")).await;
        // Connections tell of what they read a while later.
        for _ in 0..300 {
            if reads("memories_pkey").await > 640 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let (by_id, of_owner) = (reads("memories_pkey").await, reads("memories_waiting").await);
        assert!(by_id > 640 && of_owner < 10_000, "{by_id} by their ids, {of_owner} by their owner");
    });
}
