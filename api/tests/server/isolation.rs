//! What one user may not see of another, with and without the help of the code.

use serde_json::{Value, json};
use sqlx::Row as _;

use crate::site::{Site, with_site};
use crate::sync::create;

const TABLES: [&str; 8] =
    ["users", "api_keys", "memories", "memory_shares", "tag_shares", "user_seq", "feed", "applied_ops"];

/// What each of a memory's routes answers to: a stranger, somebody who may read, who may write, its owner, and somebody
/// without a key.
const MATRIX: [(&str, &str, &str, [u16; 5]); 13] = [
    ("GET", "", "", [404, 200, 200, 200, 401]),
    ("PUT", "", r#"{"content":"another text"}"#, [404, 403, 200, 200, 401]),
    ("PUT", "", r#"{"content":"x","importance":0.3}"#, [404, 403, 403, 200, 401]),
    ("PUT", "", r#"{"tags":"theirs"}"#, [404, 403, 403, 200, 401]),
    ("PUT", "", r#"{"scope":"theirs"}"#, [404, 403, 403, 200, 401]),
    ("POST", "/secret", "", [404, 404, 404, 200, 401]),
    ("POST", "/share", r#"{"shared_with":"eve"}"#, [404, 404, 404, 200, 401]),
    ("DELETE", "/share/eve", "", [404, 404, 404, 200, 401]),
    ("POST", "/links", r#"{"target_id":"OTHER","link_type":"see_also"}"#, [404, 403, 403, 200, 401]),
    ("DELETE", "/links/OTHER/see_also", "", [404, 403, 403, 200, 401]),
    ("POST", "/mute", "{}", [404, 200, 200, 404, 401]),
    ("DELETE", "", "", [200, 403, 403, 200, 401]),
    ("POST", "/restore", "", [404, 404, 404, 200, 401]),
];

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
            // Citus says so itself, of any user's.
            let taken = taken.unwrap_err().to_string();
            assert!(
                taken.contains("permission denied") || taken.contains("partition value"),
                "ownership cannot be taken"
            );
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
             WHERE n.nspname = 'public' AND c.relkind = 'r' AND c.relname NOT IN ('server_meta', 'chores', '_sqlx_migrations')",
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

#[test]
fn every_route_of_a_memory_knows_stranger_reader_writer_and_owner() {
    with_site(matrix);
}

/// Asks everything as everybody.
pub(crate) async fn matrix(site: Site) {
    let mut callers = Vec::new();
    for name in ["stranger", "reader", "writer", "owner", "eve"] {
        callers.push(site.user(name).await);
    }
    let owner = callers[3].clone();
    callers[4] = "tsr_000000000000_x_00000000".into();
    let mut asked = 0;
    for (method, tail, body, expected) in MATRIX {
        for (number, expected) in expected.into_iter().enumerate() {
            // Each on a memory of its own, as routes change what they are asked about.
            let mut ids = Vec::new();
            for text in ["the memory", "the other"] {
                let made = site.post(&owner, "/api/memories", &json!({ "content": text, "tags": "t" })).await;
                ids.push(Site::ok(made).await["uuid"].as_str().unwrap().to_owned());
            }
            let path = format!("/api/memories/{}", ids[0]);
            for (with, permission) in [("reader", "read"), ("writer", "write")] {
                let share = json!({ "shared_with": with, "permission": permission });
                Site::ok(site.post(&owner, &format!("{path}/share"), &share).await).await;
            }
            if tail.starts_with("/links/") {
                let link = json!({ "target_id": ids[1], "link_type": "see_also" });
                Site::ok(site.post(&owner, &format!("{path}/links"), &link).await).await;
            }
            if tail == "/restore" {
                Site::ok(site.delete(&owner, &path, "*").await).await;
            }
            let tail = tail.replace("OTHER", &ids[1]);
            let body = body.replace("OTHER", &ids[1]);
            let body: Value = serde_json::from_str(&body).unwrap_or(Value::Null);
            let (key, path) = (&callers[number], format!("{path}{tail}"));
            let answer = match method {
                "GET" => site.get(key, &path).await,
                "PUT" => site.put(key, &path, "*", &body).await,
                "DELETE" => site.delete(key, &path, "*").await,
                _ => site.post(key, &path, &body).await,
            };
            asked += 1;
            assert_eq!(answer.status().as_u16(), expected, "{method} {tail} by caller {number}");
        }
    }
    assert_eq!(asked, 65);
}
