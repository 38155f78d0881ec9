//! What the server says and does when PostgreSQL does not do what it is asked, and when callers go away.

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::{Value, json};
use tessera_api::{Db, Patience, Settings};

use crate::site::{Site, with_patience, with_site};
use crate::sync::create;

/// A trigger that refuses texts with an error of PostgreSQL, so many times.
async fn refuse(site: &Site, word: &str, code: &str, times: u32) {
    let sql = format!(
        "CREATE SEQUENCE tries_{word};
         CREATE FUNCTION refuse_{word}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
             IF NEW.content LIKE '%{word}%' AND nextval('tries_{word}') <= {times} THEN
                 RAISE EXCEPTION 'refused' USING ERRCODE = '{code}';
             END IF;
             RETURN NEW;
         END $$;
         CREATE TRIGGER refuse_{word} BEFORE INSERT ON memories FOR EACH ROW EXECUTE FUNCTION refuse_{word}()"
    );
    sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&site.admin().await).await.unwrap();
}

async fn said(response: reqwest::Response) -> (StatusCode, Value, bool) {
    let (status, again) = (response.status(), response.headers().contains_key("retry-after"));
    (status, response.json::<Value>().await.unwrap()["code"].clone(), again)
}

#[test]
fn only_what_goes_away_by_itself_is_to_be_tried_again() {
    with_site(|site| async move {
        let ada = site.user("ada").await;
        refuse(&site, "constraint", "23514", 1_000).await;
        refuse(&site, "overtaken", "40P01", 2).await;
        refuse(&site, "again", "40001", 1_000).await;
        refuse(&site, "cancelled", "57014", 1_000).await;
        let store = async |word: &str| site.post(&ada, "/api/memories", &json!({ "content": word })).await;
        let unavailable = (StatusCode::SERVICE_UNAVAILABLE, json!("unavailable"), true);
        assert_eq!(said(store("constraint").await).await, (StatusCode::UNPROCESSABLE_ENTITY, json!("invalid"), false));
        // Overtaken by another transaction: the server does it again by itself, and gives up at some time.
        Site::ok(store("overtaken").await).await;
        assert_eq!(said(store("again").await).await, unavailable);
        assert_eq!(said(store("cancelled").await).await, unavailable);
        // A row that nobody can read is no reason to ask for it for ever.
        let made = Site::ok(store("readable").await).await;
        let pool = site.admin().await;
        sqlx::query("UPDATE memories SET category = '' WHERE content = 'readable'").execute(&pool).await.unwrap();
        let path = format!("/api/memories/{}", made["uuid"].as_str().unwrap());
        let internal = (StatusCode::INTERNAL_SERVER_ERROR, json!("internal"), false);
        assert_eq!(said(site.get(&ada, &path).await).await, internal);
    });
}

/// Two transactions that wait for one another: PostgreSQL ends one, and nobody who asked hears of it.
#[test]
fn a_share_that_ran_into_a_deadlock_is_done_again() {
    with_site(|site| async move {
        let (ada, _bob) = (site.user("ada").await, site.user("bob").await);
        let stored = Site::ok(site.post(&ada, "/api/memories", &json!({ "content": "The gate is shut" })).await).await;
        let path = format!("/api/memories/{}/share", stored["uuid"].as_str().unwrap());
        let pool = site.admin().await;
        sqlx::query("INSERT INTO user_seq VALUES ('bob', 0)").execute(&pool).await.unwrap();
        let deadlocks = async || {
            let sql = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
            sqlx::query_scalar::<_, i64>(sql).fetch_one(&pool).await.unwrap()
        };
        let before = deadlocks().await;
        // Holds what the share takes last, and asks for what it took first once it waits.
        let mut tx = pool.begin().await.unwrap();
        sqlx::query("SELECT FROM user_seq WHERE user_id = 'bob' FOR UPDATE").execute(&mut *tx).await.unwrap();
        let share = json!({ "shared_with": "bob", "permission": "read" });
        let asked = site.post(&ada, &path, &share);
        let other = async {
            let waits = "SELECT count(*) FROM pg_locks WHERE NOT granted";
            while sqlx::query_scalar::<_, i64>(waits).fetch_one(&pool).await.unwrap() == 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            let lock = "SELECT pg_advisory_xact_lock(hashtextextended('ada', 0))";
            let locked = sqlx::query(lock).execute(&mut *tx).await;
            drop(tx);
            locked
        };
        let (answer, locked) = tokio::join!(asked, other);
        locked.unwrap();
        Site::ok(answer).await;
        for _ in 0..100 {
            if deadlocks().await > before {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("there was no deadlock");
    });
}

#[test]
fn an_op_that_can_never_be_stored_holds_up_no_other() {
    with_site(|site| async move {
        let ada = site.user("ada").await;
        refuse(&site, "constraint", "23514", 1_000).await;
        let ops = [create("before"), create("constraint"), create("after")];
        let pushed = Site::ok(site.post(&ada, "/v1/sync/push", &json!({ "epoch": 1, "ops": ops })).await).await;
        let refused: Vec<&Value> = pushed["answers"].as_array().unwrap().iter().map(|one| &one["refused"]).collect();
        assert_eq!(refused, [&Value::Null, &json!("invalid"), &Value::Null]);
    });
}

#[test]
fn a_migration_waits_longer_than_a_request_may() {
    let patience =
        Patience { lock: Duration::from_millis(20), statement: Duration::from_millis(500), ..Patience::default() };
    with_patience(Settings::default(), &patience.clone(), |site| async move {
        let mut tx = site.admin().await.begin().await.unwrap();
        sqlx::query("LOCK TABLE _sqlx_migrations IN ACCESS EXCLUSIVE MODE").execute(&mut *tx).await.unwrap();
        let held = async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            tx.rollback().await.unwrap();
        };
        let (migrated, ()) = tokio::join!(site.db.migrate(), held);
        migrated.unwrap();
        // Several servers that start at once.
        let other = Db::connect_with(&site.cluster.url("server"), &patience).await.unwrap();
        let (one, two) = tokio::join!(site.db.migrate(), other.migrate());
        one.and(two).unwrap();
    });
}

#[test]
fn a_user_whose_index_takes_long_does_not_take_the_connections() {
    let patience = Patience { connections: 2, connection: Duration::from_secs(2), ..Patience::default() };
    with_patience(Settings::default(), &patience, |site| async move {
        let (ada, bob) = (site.user("ada").await, site.user("bob").await);
        for (key, name) in [(&ada, "ada"), (&bob, "bob")] {
            let memory = json!({ "content": format!("{name} keeps a note about harbours") });
            Site::ok(site.post(key, "/api/memories", &memory).await).await;
        }
        // To read what Ada's index is made of takes longer than anybody waits for a connection.
        let slow = "CREATE POLICY slow ON feed AS RESTRICTIVE FOR SELECT
            USING (user_id <> 'ada' OR pg_sleep(4) IS NOT NULL)";
        sqlx::query(slow).execute(&site.admin().await).await.unwrap();
        let ask = |key: &str| {
            let (client, key) = (site.client.clone(), key.to_owned());
            let url = format!("http://{}/api/memories/recall", site.address);
            async move { client.post(url).bearer_auth(key).json(&json!({ "context": "harbours" })).send().await.unwrap() }
        };
        let waiting: Vec<_> = (0..4).map(|_| tokio::spawn(ask(&ada))).collect();
        let asked = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%feed.short_id%'
            AND pid <> pg_backend_pid()";
        let pool = site.admin().await;
        while sqlx::query_scalar::<_, i64>(asked).fetch_one(&pool).await.unwrap() == 0 {
            tokio::task::yield_now().await;
        }
        for _ in 0..3 {
            let answer = Site::ok(ask(&bob).await).await;
            assert_eq!(answer["memories"].as_array().unwrap().len(), 1);
        }
        waiting.into_iter().for_each(|one| one.abort());
    });
}

#[test]
fn whoever_hangs_up_takes_nothing_out_of_the_index() {
    with_site(|site| async move {
        let ada = site.user("ada").await;
        let store = async |text: &str| {
            let made = site.post(&ada, "/api/memories", &json!({ "content": text })).await;
            Site::ok(made).await["uuid"].as_str().unwrap().to_owned()
        };
        let question = json!({ "context": "harbour rule" });
        let ask = || site.post(&ada, "/api/memories/recall", &question);
        let old = store("The harbour rule is the first").await;
        assert_eq!(Site::ok(ask().await).await["memories"][0]["uuid"], old);
        let new = store("The harbour rule is the second").await;
        let link = json!({ "target_id": old, "link_type": "supersedes" });
        Site::ok(site.post(&ada, &format!("/api/memories/{new}/links"), &link).await).await;
        // What the index needs besides the change itself takes long to read; the caller leaves before it is there.
        let slow = format!(
            "CREATE POLICY slow ON feed AS RESTRICTIVE FOR SELECT USING (memory <> '{old}' OR pg_sleep(2) IS NOT NULL)"
        );
        let pool = site.admin().await;
        sqlx::query(sqlx::AssertSqlSafe(slow)).execute(&pool).await.unwrap();
        let asking = tokio::spawn(
            site.client
                .post(format!("http://{}/api/memories/recall", site.address))
                .bearer_auth(&ada)
                .json(&question)
                .send(),
        );
        let read = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%feed.memory = ANY%'
            AND pid <> pg_backend_pid()";
        while sqlx::query_scalar::<_, i64>(read).fetch_one(&pool).await.unwrap() == 0 {
            assert!(!asking.is_finished());
            tokio::task::yield_now().await;
        }
        asking.abort();
        let _ = asking.await;
        sqlx::query("DROP POLICY slow ON feed").execute(&pool).await.unwrap();
        let answer = Site::ok(ask().await).await;
        let found: Vec<&Value> = answer["memories"].as_array().unwrap().iter().map(|one| &one["uuid"]).collect();
        assert_eq!(found, [&json!(new)], "{answer}");
    });
}
