//! A user who leaves: nothing names them any more but the audit, and who saw what they shared is told.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, PgPool};
use tessera_api::{ExportTo, SecretRules, Secrets};

use crate::site::{Site, key_rules, with_site};

/// Every column of text in the schema that holds a name, but those of the audit: found by looking, not by a list.
async fn naming(pool: &PgPool, name: &str) -> Vec<String> {
    let columns: Vec<(String, String, bool)> = sqlx::query_as(
        "SELECT c.relname::text, a.attname::text, a.atttypid = 'text[]'::regtype FROM pg_class c
         JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
         WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
             AND a.atttypid IN ('text'::regtype, 'text[]'::regtype) AND c.relname <> 'audit'",
    )
    .fetch_all(pool)
    .await
    .unwrap();
    let mut found = Vec::new();
    for (table, column, is_list) in columns {
        let is = if is_list { format!("$1 = ANY ({column})") } else { format!("{column} = $1") };
        let sql = AssertSqlSafe(format!("SELECT count(*) FROM {table} WHERE {is}"));
        let rows: i64 = sqlx::query_scalar(sql).bind(name).fetch_one(pool).await.unwrap();
        if rows > 0 {
            found.push(format!("{table}.{column} {rows}"));
        }
    }
    found
}

/// The texts of an export.
#[derive(Default)]
struct Exported(Mutex<Vec<String>>);

impl ExportTo for Exported {
    fn begin(&self) -> std::io::Result<()> {
        self.0.lock().unwrap().clear();
        Ok(())
    }

    fn line(&self, line: &str) -> std::io::Result<()> {
        let line: Value = serde_json::from_str(line).unwrap();
        self.0.lock().unwrap().push(line["content"].as_str().unwrap().to_owned());
        Ok(())
    }

    fn end(&self) -> std::io::Result<()> {
        Ok(())
    }
}

async fn store(site: &Site, key: &str, body: Value) -> String {
    let stored = Site::ok(site.post(key, "/api/memories", &body).await).await;
    stored["uuid"].as_str().unwrap().to_owned()
}

/// What bob has, with shares to ada and from her, and every other row that names him. Gives a memory of his that ada sees, and
/// one of hers that he wrote in.
async fn share_both_ways(site: &Site, ada: &str, bob: &str) -> (String, String) {
    let shared = store(site, bob, json!({ "content": "The crane is serviced in May", "tags": ["crane"] })).await;
    store(site, bob, json!({ "content": "The buoy is lit", "tags": ["buoy"] })).await;
    store(site, bob, json!({ "content": "db_password=Xk93mmQz7Lp2tt is of the quay" })).await;
    store(site, bob, json!({ "content": "One of four" })).await;
    let of_ada = store(site, ada, json!({ "content": "The gate is shut at low water" })).await;
    let share = json!({ "shared_with": "ada", "permission": "read" });
    Site::ok(site.post(bob, &format!("/api/memories/{shared}/share"), &share).await).await;
    let share = json!({ "shared_with": "bob", "permission": "write" });
    Site::ok(site.post(ada, &format!("/api/memories/{of_ada}/share"), &share).await).await;
    let tag = json!({ "tag": "buoy", "shared_with": "cleo", "permission": "read" });
    Site::ok(site.post(bob, "/api/memories/share-tag", &tag).await).await;
    let tag = json!({ "tag": "gate", "shared_with": "bob", "permission": "read" });
    Site::ok(site.post(ada, "/api/memories/share-tag", &tag).await).await;
    let pool = site.admin().await;
    sqlx::query("INSERT INTO mutes (user_id, owner, memory) VALUES ('cleo', 'bob', gen_random_uuid())")
        .execute(&pool)
        .await
        .unwrap();
    let edit = json!({ "content": "The gate is shut at high water" });
    let edited = site.put(bob, &format!("/api/memories/{of_ada}"), "*", &edit).await;
    assert!(edited.status().is_success());
    sqlx::query("INSERT INTO purges (owner, memory, told) VALUES ('ada', gen_random_uuid(), '{ada,bob}')")
        .execute(&pool)
        .await
        .unwrap();
    (shared, of_ada)
}

#[test]
fn a_user_who_is_removed_is_named_nowhere_and_whoever_saw_theirs_is_told() {
    with_site(|site| async move {
        let rules = || key_rules("a passphrase of the tests");
        let site = site.keeping(rules()).await;
        let (ada, bob, cleo) = (site.user("ada").await, site.user("bob").await, site.user("cleo").await);
        let (shared, of_ada) = share_both_ways(&site, &ada, &bob).await;
        let pool = site.admin().await;
        let before = Site::ok(site.get(&ada, "/v1/sync/snapshot").await).await;
        assert!(before.to_string().contains("serviced in May"));
        let user = "bob".parse().unwrap();
        let secrets = Secrets::open(&site.db, rules()).await.unwrap();
        let named = site.db.rows_naming(&user).await.unwrap();
        let exported = Exported::default();
        let removed = site.db.remove_user(&user, &secrets, Some(&exported), |_, _| ()).await.unwrap();
        let lines = exported.0.into_inner().unwrap();
        assert!(lines.len() == 4 && lines.iter().any(|text| text == "The buoy is lit"), "{lines:?}");
        for (table, rows) in [
            ("memories", 4),
            ("memory_secrets", 1),
            ("memory_shares", 1),
            ("tag_shares", 1),
            ("users", 1),
            ("api_keys", 1),
            ("user_seq", 1),
            ("memory_shares of other users", 1),
            ("tag_shares of other users", 1),
            ("mutes of other users", 1),
            ("memories of other users", 1),
            ("purges of other users", 1),
            ("feed of other users", 1),
        ] {
            assert_eq!((named.get(table), removed.get(table)), (Some(&rows), Some(&rows)), "{table}: {removed:?}");
        }
        assert!(site.db.rows_naming(&user).await.unwrap().is_empty());
        assert_eq!(naming(&pool, "bob").await, Vec::<String>::new(), "whatever table there is");
        assert_eq!(site.get(&bob, "/api/auth-check").await.status(), 401);

        // Machines of others hear that it is gone, and a text that the other one wrote is still no word of its owner's.
        let news = Site::ok(site.get(&ada, &format!("/v1/sync/changes?epoch=1&after={}", before["head"])).await).await;
        let told = |memory: &str| {
            let news = news["news"].as_array().unwrap();
            news.iter().find(|one| one["memory"] == memory).unwrap_or_else(|| panic!("{news:?}")).clone()
        };
        assert!(told(&shared).to_string().contains("gone") && !told(&shared).to_string().contains("May"), "{news}");
        let kept = told(&of_ada).to_string();
        assert!(kept.contains("high water") && kept.contains("(removed)") && !kept.contains("bob"), "{kept}");
        let snapshot = Site::ok(site.get(&ada, "/v1/sync/snapshot").await).await.to_string();
        assert!(!snapshot.contains("bob") && !snapshot.contains("serviced in May"), "{snapshot}");
        let question = json!({ "context": "when is the crane serviced?", "max_tokens": 300 });
        let answer = Site::ok(site.post(&ada, "/api/memories/recall", &question).await).await.to_string();
        assert!(!answer.contains("serviced in May"), "{answer}");
        let invitations = Site::ok(site.get(&cleo, "/v1/sync/snapshot").await).await;
        assert!(!invitations.to_string().contains("bob"));

        nothing_of_it_comes_back(&site, &secrets).await;
    });
}

async fn nothing_of_it_comes_back(site: &Site, secrets: &Secrets) {
    let user = "bob".parse().unwrap();
    // The audit has all of it, and a last line.
    let audited = site.audited("bob").await;
    assert!(audited.iter().any(|line| line.contains("shared")), "{audited:?}");
    assert!(audited.iter().any(|line| line.contains("user_removed")), "{audited:?}");
    // Done again it does nothing, and the name may be given to somebody else, who has nothing of it.
    let again = site.db.remove_user(&user, secrets, None, |_, _| ()).await.unwrap();
    assert!(again.is_empty(), "{again:?}");
    let other = site.user("bob").await;
    assert_eq!(Site::ok(site.get(&other, "/v1/sync/snapshot").await).await["rows"], json!([]));
    let shared_with = Site::ok(site.get(&other, "/api/memories/shared-with-me").await).await;
    assert_eq!(shared_with["total"], 0);
}

#[test]
fn what_lies_in_a_vault_keeps_a_user_from_being_removed_without_it() {
    with_site(|site| async move {
        let bob = site.user("bob").await;
        let id = store(&site, &bob, json!({ "content": "The crane is serviced in May" })).await;
        let pool = site.admin().await;
        let kept = "INSERT INTO memory_secrets (owner, memory, name, kind, mark, place)
                    VALUES ('bob', $1::uuid, 's23456', 'password', '', 'vault')";
        sqlx::query(kept).bind(&id).execute(&pool).await.unwrap();
        let user = "bob".parse().unwrap();
        let secrets = Secrets::open(&site.db, SecretRules::default()).await.unwrap();
        let said = site.db.remove_user(&user, &secrets, None, |_, _| ()).await.unwrap_err().to_string();
        assert!(said.contains("VAULT_ADDR"), "{said}");
        let there = site.db.rows_naming(&user).await.unwrap();
        assert_eq!(there.get("memories"), Some(&1), "nothing is removed that could not be found again");
        assert_eq!(site.get(&bob, "/api/auth-check").await.status(), 401, "nobody writes there any more");
    });
}

#[test]
fn a_removed_user_stays_removed_and_a_write_in_progress_is_stored_nowhere() {
    with_site(|site| async move {
        let (ada, bob) = (site.user("ada").await, site.user("bob").await);
        store(&site, &bob, json!({ "content": "The buoy is lit" })).await;
        store(&site, &ada, json!({ "content": "The pier is lit" })).await;
        let secrets = Secrets::open(&site.db, SecretRules::default()).await.unwrap();
        let user = "bob".parse().unwrap();
        let pool = site.admin().await;
        // A write that was authenticated before the removal, and that the removal has to wait for.
        let mut tx = pool.begin().await.unwrap();
        sqlx::query("INSERT INTO applied_ops (user_id, op_id, hash) VALUES ('bob', gen_random_uuid(), '')")
            .execute(&mut *tx)
            .await
            .unwrap();
        let db = site.db.clone();
        let removing = tokio::spawn(async move { db.remove_user(&user, &secrets, None, |_, _| ()).await.map(drop) });
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        assert!(!removing.is_finished(), "it waits for writes in progress");
        tx.commit().await.unwrap();
        removing.await.unwrap().unwrap();
        assert!(naming(&pool, "bob").await.is_empty(), "{:?}", naming(&pool, "bob").await);
        let late = sqlx::query("INSERT INTO applied_ops (user_id, op_id, hash) VALUES ('bob', gen_random_uuid(), '')");
        assert!(late.execute(&pool).await.is_err(), "nothing is stored for a user who is not there");
        let late = sqlx::query("INSERT INTO memories (owner, id, updated, rev, content_rev, details_at, state, content, tags, links,
             category, type, importance, keywords, entities, scope, created, origin, summary, is_instruction, length, signature, forward,
             costs, passages) SELECT 'bob', gen_random_uuid(), updated, rev, content_rev, details_at, state, content, tags, links,
             category, type, importance, keywords, entities, scope, created, origin, summary, is_instruction, length, signature, forward,
             costs, passages FROM memories LIMIT 1");
        let said = late.execute(&pool).await.unwrap_err().to_string();
        assert!(said.contains("memories_user"), "{said}");
        let bob = "bob".parse().unwrap();
        assert!(site.db.is_removed(&bob).await.unwrap());
        assert!(!site.db.is_removed(&"ada".parse().unwrap()).await.unwrap());
        site.db.add_user(&bob).await.unwrap();
        assert!(!site.db.is_removed(&bob).await.unwrap(), "added again by whoever runs the server");
        drop(ada);
    });
}

#[test]
fn what_is_acknowledged_while_a_user_is_removed_is_in_the_export() {
    with_site(|site| async move {
        let key = site.user("bob").await;
        let secrets = Secrets::open(&site.db, SecretRules::default()).await.unwrap();
        let site = Arc::new(site);
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let (site, key) = (Arc::clone(&site), key.clone());
                tokio::spawn(async move {
                    let mut acknowledged = Vec::new();
                    for number in 0.. {
                        let text = format!("Note {number} of writer {writer}");
                        let reply = site.post(&key, "/api/memories", &json!({ "content": text })).await;
                        if reply.status() != 200 {
                            break;
                        }
                        acknowledged.push(text);
                    }
                    acknowledged
                })
            })
            .collect();
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
        let exported = Exported::default();
        let user = "bob".parse().unwrap();
        let removed = site.db.remove_user(&user, &secrets, Some(&exported), |_, _| ()).await.unwrap();
        let exported = exported.0.into_inner().unwrap();
        assert_eq!(removed["memories"], exported.len() as u64);
        for writer in writers {
            for text in writer.await.unwrap() {
                assert!(exported.contains(&text), "{text}");
            }
        }
    });
}
