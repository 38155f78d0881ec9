//! What the server does for itself: it asks nothing twice, bounds what one user may store, ends without refusing anybody, and
//! shares background work with other replicas.

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::{Value, json};
use tessera_api::{App, Db, Quota, Settings};
use tessera_engine::sync::Checkpoint;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::audit::purge;
use crate::site::{Site, unlimited, with_site};

async fn stored(site: &Site, key: &str, content: &str) -> Value {
    Site::ok(site.post(key, "/api/memories", &json!({ "content": content })).await).await
}

/// Asks for what is new as a machine does.
async fn asked(site: &Site, key: &str, after: u64, checkpoints: &[Checkpoint]) -> Value {
    Site::ok(site.get_knowing(key, &format!("/v1/sync/changes?epoch=1&after={after}"), checkpoints).await).await
}

fn checkpoint(page: &Value) -> Checkpoint {
    serde_json::from_value(page["checkpoint"].clone()).unwrap()
}

#[test]
fn a_machine_with_everything_is_answered_by_the_look_up_of_its_key_alone() {
    with_site(|site| async move {
        let (ada, bob) = (site.user("ada").await, site.user("bob").await);
        stored(&site, &bob, "The buoy is lit").await;
        let page = asked(&site, &bob, 0, &[]).await;
        let (next, known) = (page["next"].as_u64().unwrap(), checkpoint(&page));
        // Notes how far the machine is.
        let page = asked(&site, &bob, next, &[known]).await;
        assert_eq!((page["next"].as_u64(), checkpoint(&page)), (Some(next), known));
        let pool = site.admin().await;
        let mut held = pool.begin().await.unwrap();
        let all = "LOCK TABLE feed, memories, tag_shares, mutes, fetched, server_meta IN ACCESS EXCLUSIVE MODE";
        // The look-up reads the epoch of server_meta: that one stays open.
        sqlx::raw_sql(&*all.replace(", server_meta", "").leak()).execute(&mut *held).await.unwrap();
        let page = asked(&site, &bob, next, &[known]).await;
        assert_eq!(page["news"], json!([]));
        assert_eq!((page["next"].as_u64(), checkpoint(&page), &page["invitations"]), (Some(next), known, &Value::Null));
        // One that lacks something waits for the tables.
        let lacking =
            tokio::time::timeout(Duration::from_millis(300), site.get(&bob, "/v1/sync/changes?epoch=1")).await;
        assert!(lacking.is_err(), "it asks the database");
        held.rollback().await.unwrap();
        // An offer changes no memory. The machine is told of it all the same.
        let rule = json!({ "tag": "port", "shared_with": "bob" });
        Site::ok(site.post(&ada, "/api/memories/share-tag", &rule).await).await;
        let page = asked(&site, &bob, next, &[known]).await;
        assert_eq!(page["invitations"][0]["tag"], "port", "{page}");
        let (next, known) = (page["next"].as_u64().unwrap(), checkpoint(&page));
        let rule = json!({ "tag": "port", "shared_with": "bob" });
        Site::ok(site.delete_with(&ada, "/api/memories/share-tag", &rule).await).await;
        let page = asked(&site, &bob, next, &[known]).await;
        assert_eq!(page["invitations"], json!([]), "withdrawn");
    });
}

#[test]
fn a_user_at_the_quota_stores_no_more_and_goes_on_editing_and_deleting() {
    with_site(|site| async move {
        let (ada, bob) = (site.user("ada").await, site.user("bob").await);
        let db = Db::connect(&site.cluster.url("server")).await.unwrap();
        let db = db.with_quota(Quota { memories: 3, bytes: 100 });
        let limited = Site::serve(site.cluster.clone(), db, unlimited()).await;
        for text in ["one", "two"] {
            stored(&limited, &ada, text).await;
        }
        let third = stored(&limited, &ada, "three").await;
        let refused = limited.post(&ada, "/api/memories", &json!({ "content": "four" })).await;
        assert_eq!(refused.status(), StatusCode::INSUFFICIENT_STORAGE);
        let problem: Value = refused.json().await.unwrap();
        assert_eq!(problem["code"], "quota_exceeded");
        let quota = json!({ "memories": 3, "bytes": 11, "most_memories": 3, "most_bytes": 100 });
        assert_eq!(problem["quota"], quota, "{problem}");
        assert_eq!(Site::ok(limited.get(&ada, "/api/stats").await).await["quota"], quota);
        let rows = json!([{ "content": "five" }, { "content": "six" }]);
        let refused = limited.post(&ada, "/api/memories/import", &rows).await;
        assert_eq!(refused.status(), StatusCode::INSUFFICIENT_STORAGE, "no row of an import is lost silently");
        let path = format!("/api/memories/{}", third["uuid"].as_str().unwrap());
        Site::ok(limited.put(&ada, &path, "", &json!({ "content": "a longer third text" })).await).await;
        Site::ok(limited.delete(&ada, &path, "").await).await;
        let refused = limited.post(&ada, "/api/memories", &json!({ "content": "four" })).await;
        assert_eq!(
            refused.status(),
            StatusCode::INSUFFICIENT_STORAGE,
            "a deleted memory can be restored, so it counts"
        );
        purge(&limited, &ada, third["uuid"].as_str().unwrap()).await;
        stored(&limited, &ada, "four").await;
        // Each user has a quota of their own, and texts count too.
        stored(&limited, &bob, &"long ".repeat(19)).await;
        let refused = limited.post(&bob, "/api/memories", &json!({ "content": "too much" })).await;
        assert_eq!(refused.status(), StatusCode::INSUFFICIENT_STORAGE);
        // Without a quota nothing is counted.
        assert_eq!(Site::ok(site.get(&bob, "/api/stats").await).await["quota"], Value::Null);
    });
}

#[test]
fn edits_that_meet_are_all_carried_out_on_the_text_as_it_is_then() {
    with_site(|site| async move {
        let ada = site.user("ada").await;
        let memory = stored(&site, &ada, "The crane is serviced in May").await;
        let path = format!("/api/memories/{}", memory["uuid"].as_str().unwrap());
        let edits = (0..24).map(|n| {
            let (site, path, ada) = (&site, &path, &ada);
            async move {
                let tags = json!({ "tags": [format!("tag-{n}")], "importance": 0.5 });
                let text = json!({ "content": format!("The crane is serviced in week {n}") });
                let change = if n % 2 == 0 { tags } else { text };
                assert_eq!(site.put(ada, path, "", &change).await.status(), StatusCode::OK);
            }
        });
        futures_util::future::join_all(edits).await;
        let now = Site::ok(site.get(&ada, &path).await).await;
        assert_eq!(now["rev"], 25, "each of them is a revision: {now}");
        assert!(now["content"].as_str().unwrap().starts_with("The crane is serviced in week"), "{now}");
        assert!(!now["tag_list"].as_array().unwrap().is_empty(), "tags are merged: {now}");
        // What recall finds is what the last one wrote.
        let question = json!({ "query": "crane serviced", "max_tokens": 500 });
        let found = Site::ok(site.post(&ada, "/api/memories/recall", &question).await).await;
        assert_eq!(found["details"][0]["content"], now["content"]);
    });
}

#[test]
fn a_server_that_ends_answers_until_balancers_have_noticed() {
    with_site(|site| async move {
        let ada = site.user("ada").await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let settings = Settings { drain_delay: Duration::from_secs(2), ..unlimited() };
        let (stop, stopped) = oneshot::channel::<()>();
        let app = App::new(site.db.clone(), settings);
        let serving = tokio::spawn(tessera_api::serve(listener, app, None, async { drop(stopped.await) }));
        let ending = Site { address, db: site.db.clone(), cluster: site.cluster.clone(), client: site.client.clone() };
        assert_eq!(ending.get("", "/ready").await.status(), StatusCode::OK);
        assert_ne!(ending.get("", "/metrics").await.status(), StatusCode::OK, "only where that was asked for");
        stop.send(()).unwrap();
        while ending.get("", "/ready").await.status() != StatusCode::SERVICE_UNAVAILABLE {
            tokio::task::yield_now().await;
        }
        // A new connection, and a write.
        stored(&ending, &ada, "The buoy is lit").await;
        serving.await.unwrap();
        assert!(site.client.get(format!("http://{address}/ready")).send().await.is_err(), "then it ends");
    });
}

#[test]
fn an_older_client_asks_again_from_before_changes_that_are_under_way() {
    with_site(|site| async move {
        let ada = site.user("ada").await;
        let memory = stored(&site, &ada, "The buoy is lit").await;
        // A write that began before the question and ends after it. Its row has the time of its beginning.
        let server = sqlx::PgPool::connect(&site.cluster.url("server")).await.unwrap();
        let mut slow = server.begin().await.unwrap();
        for sql in ["SET LOCAL application_name = 'tessera writes'", "SET LOCAL app.user_id = 'ada'"] {
            sqlx::query(sql).execute(&mut *slow).await.unwrap();
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        stored(&site, &ada, "The pier is lit").await;
        let page = Site::ok(site.get(&ada, "/api/memories/sync").await).await;
        let late = "UPDATE memories SET updated = (extract(epoch FROM now()) * 1000000)::bigint WHERE owner = 'ada' AND id = $1::uuid";
        let done = sqlx::query(late).bind(memory["uuid"].as_str()).execute(&mut *slow).await.unwrap();
        assert_eq!(done.rows_affected(), 1);
        slow.commit().await.unwrap();
        let since = page["server_time"].as_str().unwrap();
        let next = Site::ok(site.get(&ada, &format!("/api/memories/sync?since={since}")).await).await;
        assert!(next.to_string().contains("The buoy is lit"), "{next}");
        // With nothing under way nothing comes twice.
        let since = next["server_time"].as_str().unwrap();
        let next = Site::ok(site.get(&ada, &format!("/api/memories/sync?since={since}")).await).await;
        assert_eq!(next["memories"], json!([]));
    });
}

#[test]
fn indexes_are_there_are_used_and_are_made_again_if_they_were_cut_short() {
    with_site(|site| async move {
        let pool = site.admin().await;
        let invalid = "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'memories_said'::regclass";
        sqlx::query(invalid).execute(&pool).await.unwrap();
        site.db.migrate().await.unwrap();
        let valid = "SELECT relname::text FROM pg_class JOIN pg_index ON indexrelid = oid
                     WHERE indisvalid AND relname IN ('memories_changed', 'memories_linked', 'memories_said') ORDER BY 1";
        let names: Vec<String> = sqlx::query_scalar(valid).fetch_all(&pool).await.unwrap();
        assert_eq!(names, ["memories_changed", "memories_linked", "memories_said"]);
        // As a request asks: row security must not keep the planner from them.
        let mut tx = pool.begin().await.unwrap();
        for sql in ["SET LOCAL ROLE tessera_app", "SET LOCAL app.user_id = 'ada'", "SET LOCAL enable_seqscan = off"] {
            sqlx::query(sql).execute(&mut *tx).await.unwrap();
        }
        for (index, sql) in [
            (
                "memories_said",
                "SELECT id FROM memories WHERE owner = 'ada' AND state = 'live' AND content_md5 <> ''
                 AND content_md5 = md5('x') AND content = 'x'",
            ),
            (
                "memories_changed",
                "SELECT id FROM memories WHERE owner = 'ada' AND (updated, id) > (0, gen_random_uuid())
                 ORDER BY updated, id LIMIT 5",
            ),
            (
                "memories_linked",
                "SELECT id FROM memories, unnest(links) AS link WHERE owner = 'ada' AND state = 'live'
                 AND links <> '{}' AND split_part(link, ':', 2) = 'x'",
            ),
        ] {
            let plan: Vec<String> =
                sqlx::query_scalar(&*format!("EXPLAIN {sql}").leak()).fetch_all(&mut *tx).await.unwrap();
            assert!(plan.join("\n").contains(index), "{plan:#?}");
        }
    });
}
