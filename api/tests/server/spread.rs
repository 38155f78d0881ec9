//! The server on a database whose rows Citus spreads over two machines: who sees what there, machines in sync, what was a
//! plain database before, and a machine that is added. Left out, and told, where the extension is not installed.

use std::sync::Arc;

use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _};
use tessera_api::{Db, Patience};

use crate::cluster::Cluster;
use crate::site::{Site, unlimited, with_spread_site};
use crate::sync::create;
use crate::{isolation, sync};

#[test]
fn every_route_knows_stranger_reader_writer_and_owner_on_two_machines() {
    with_spread_site(isolation::matrix);
}

#[test]
fn machines_converge_on_two_machines() {
    with_spread_site(sync::converge);
}

#[test]
fn a_reader_misses_nothing_on_two_machines() {
    with_spread_site(sync::six_writers);
}

/// A connection as the server has them, in a transaction of a user.
async fn acting(url: &str, user: &str) -> PgConnection {
    let mut connection = PgConnection::connect(url).await.unwrap();
    let user = format!("SET LOCAL app.user_id = '{user}'");
    for sql in ["SET citus.propagate_set_commands = local", "BEGIN", "SET LOCAL ROLE tessera_app", &user] {
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
    }
    connection
}

async fn count(connection: &mut PgConnection, table: &str) -> i64 {
    let sql = AssertSqlSafe(format!("SELECT count(*) FROM {table}"));
    sqlx::query(sql).fetch_one(connection).await.unwrap().get(0)
}

/// Ada has written one memory and shared it with nobody.
async fn nobody_finds_adas_rows(cluster: &Cluster) {
    for (user, seen) in [("", 0), ("bob", 0), ("ada", 1)] {
        // Asked of the first, and of each machine that holds rows.
        for number in 0..=2 {
            let mut connection = acting(&cluster.url_of(number, "server"), user).await;
            for table in ["memories", "feed", "user_seq", "checkpoints"] {
                assert_eq!(count(&mut connection, table).await, seen, "{table} as {user:?} of machine {number}");
            }
        }
    }
    let mut connection = acting(&cluster.url("server"), "bob").await;
    let taken = sqlx::raw_sql("UPDATE memories SET owner = 'bob'").execute(&mut connection).await;
    assert!(taken.is_err(), "ownership cannot be taken");
    // The rows themselves, under the names that they have on their machine.
    for number in 1..=2 {
        let mut connection = acting(&cluster.url_of(number, "server"), "bob").await;
        sqlx::raw_sql("SET LOCAL citus.override_table_visibility = off").execute(&mut connection).await.unwrap();
        let sql = "SELECT relname::text FROM pg_class WHERE relname ~ '^memories_[0-9]+$' AND relkind = 'r'";
        let shards: Vec<String> = sqlx::query_scalar(sql).fetch_all(&mut connection).await.unwrap();
        assert!(!shards.is_empty());
        for shard in shards {
            assert_eq!(count(&mut connection, &shard).await, 0, "{shard}");
        }
    }
}

#[test]
fn no_query_finds_rows_of_others_on_any_machine() {
    with_spread_site(|site| async move {
        let (ada, _) = (site.user("ada").await, site.user("bob").await);
        let push = json!({ "epoch": 1, "ops": [create("ada's own text")] });
        Site::ok(site.post(&ada, "/v1/sync/push", &push).await).await;
        nobody_finds_adas_rows(&site.cluster).await;
    });
}

async fn told(site: &Site, key: &str) -> Value {
    Site::ok(site.get(key, "/v1/sync/changes?epoch=1").await).await["news"].clone()
}

async fn stored(site: &Site, key: &str, text: &str) -> String {
    let made = site.post(key, "/api/memories", &json!({ "content": text, "tags": "ops" })).await;
    Site::ok(made).await["uuid"].as_str().unwrap().to_owned()
}

/// True where a question of the user is answered with a text.
async fn recalls(site: &Site, key: &str, text: &str) -> bool {
    let answer = Site::ok(site.post(key, "/api/memories/recall", &json!({ "context": text })).await).await;
    answer["memories"].as_array().unwrap().iter().any(|memory| memory["content"] == text)
}

#[test]
fn a_database_with_rows_is_spread_and_a_machine_is_added_to_it() {
    let Some(cluster) = Cluster::start_to_be_spread() else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let site = Site::on(cluster, unlimited(), &Patience::default()).await;
        let mut keys = Vec::new();
        for name in ["ada", "bob", "eve", "joe", "kim", "lea"] {
            let key = site.user(name).await;
            stored(&site, &key, &format!("the crane of {name} is serviced in May")).await;
            keys.push(key);
        }
        let shared = stored(&site, &keys[0], "the ferry leaves at noon").await;
        let share = json!({ "shared_with": "bob", "permission": "write" });
        Site::ok(site.post(&keys[0], &format!("/api/memories/{shared}/share"), &share).await).await;
        let before = [told(&site, &keys[0]).await, told(&site, &keys[1]).await];

        // With one machine for all rows at first; twice, as two servers would.
        let cluster = Arc::clone(&site.cluster);
        drop(site);
        cluster.join(0..=1);
        let again = Db::connect(&cluster.url("server")).await.unwrap();
        assert!(again.check().await.is_err(), "what is not spread is not served");
        let (one, other) = tokio::join!(again.migrate(), again.migrate());
        one.and(other).unwrap();
        again.check().await.unwrap();
        let mut admin = PgConnection::connect(&cluster.url("admin")).await.unwrap();
        let left: i64 = sqlx::query_scalar(
            "SELECT sum(pg_relation_size(table_name))::bigint FROM citus_tables WHERE citus_table_type <> 'local'",
        )
        .fetch_one(&mut admin)
        .await
        .unwrap();
        assert_eq!(left, 0, "nothing of it is kept twice");

        let site = Site::serve(cluster, again, unlimited()).await;
        let same = async |site: &Site| {
            assert_eq!([told(site, &keys[0]).await, told(site, &keys[1]).await], before);
            assert!(recalls(site, &keys[0], "the crane of ada is serviced in May").await);
            assert!(recalls(site, &keys[1], "the ferry leaves at noon").await);
            assert!(!recalls(site, &keys[2], "the ferry leaves at noon").await);
        };
        same(&site).await;
        site.cluster.join(2..=2);
        sqlx::query("SELECT rebalance_table_shards(shard_transfer_mode := 'block_writes')")
            .execute(&mut admin)
            .await
            .unwrap();
        let places: i64 = sqlx::query_scalar(
            "SELECT count(DISTINCT nodeport) FROM citus_shards WHERE table_name = 'memories'::regclass",
        )
        .fetch_one(&mut admin)
        .await
        .unwrap();
        assert_eq!(places, 2);
        same(&site).await;
        // Whoever may write does, from one machine's rows to another's.
        let path = format!("/api/memories/{shared}");
        Site::ok(site.put(&keys[1], &path, "*", &json!({ "content": "the ferry leaves at one" })).await).await;
        assert!(recalls(&site, &keys[0], "the ferry leaves at one").await);
    });
}
