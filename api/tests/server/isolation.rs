//! What one user may not see of another, with and without the help of the code.

use serde_json::{Value, json};
use sqlx::Row as _;

use crate::site::{Site, with_site};
use crate::sync::create;

const TABLES: [&str; 8] =
    ["users", "api_keys", "memories", "memory_shares", "tag_shares", "user_seq", "feed", "applied_ops"];

#[test]
fn no_query_finds_rows_of_others_even_without_a_condition() {
    with_site(|site| async move {
        let (ada, bob) = (site.user("ada").await, site.user("bob").await);
        let op = create("ada's own text");
        Site::ok(site.post(&ada, "/v1/sync/push", &json!({ "epoch": 1, "ops": [op] })).await).await;
        let pool = sqlx::PgPool::connect(&site.cluster.url("server")).await.unwrap();
        for (user, seen) in [("", 0_i64), ("bob", 0), ("ada", 1)] {
            let mut tx = pool.begin().await.unwrap();
            sqlx::query("SET LOCAL ROLE tessera_app").execute(&mut *tx).await.unwrap();
            sqlx::query("SELECT set_config('app.user_id', $1, true)").bind(user).execute(&mut *tx).await.unwrap();
            for table in ["memories", "feed", "user_seq", "applied_ops"] {
                let sql = sqlx::AssertSqlSafe(format!("SELECT count(*) FROM {table}"));
                let count: i64 = sqlx::query(sql).fetch_one(&mut *tx).await.unwrap().get(0);
                assert_eq!(count, seen, "{table} as {user:?}");
            }
            let taken = sqlx::query("UPDATE memories SET owner = 'bob'").execute(&mut *tx).await;
            assert!(taken.unwrap_err().to_string().contains("permission denied"), "ownership cannot be taken");
        }
        // Bob makes a memory under the same id: it is his own, and says nothing of hers.
        let mut same = create("bob's text");
        same["memory"] = op["memory"].clone();
        let pushed = Site::ok(site.post(&bob, "/v1/sync/push", &json!({ "epoch": 1, "ops": [same] })).await).await;
        assert_eq!(pushed["answers"][0]["refused"], Value::Null);
        let page = Site::ok(site.get(&bob, "/v1/sync/changes?epoch=1").await).await;
        assert!(page.to_string().contains("bob's text") && !page.to_string().contains("ada's"), "{page}");
        let page = Site::ok(site.get(&ada, "/v1/sync/changes?epoch=1").await).await;
        assert!(page.to_string().contains("ada's own text") && !page.to_string().contains("bob's"), "{page}");
    });
}

#[test]
fn every_table_of_users_is_guarded_and_keyed_by_its_user() {
    with_site(|site| async move {
        let pool = sqlx::PgPool::connect(&site.cluster.url("admin")).await.unwrap();
        let rows = sqlx::query(
            "SELECT c.relname::text AS name, c.relrowsecurity AND c.relforcerowsecurity AS forced,
                 (SELECT a.attname::text FROM pg_index i JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
                  WHERE i.indrelid = c.oid AND i.indisprimary) AS first_key
             FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
             WHERE n.nspname = 'public' AND c.relkind = 'r' AND c.relname NOT IN ('server_meta', '_sqlx_migrations')",
        )
        .fetch_all(&pool)
        .await
        .unwrap();
        assert!(rows.len() > TABLES.len());
        for row in rows {
            let name: String = row.get("name");
            assert!(row.get::<bool, _>("forced"), "{name}");
            let first: String = row.get("first_key");
            assert!(["user_id", "owner"].contains(&first.as_str()), "{name}: {first}");
        }
    });
}
