//! A server that keeps secrets in a vault: with a real OpenBao, where there is one.

use std::time::{Duration, Instant};

use reqwest::StatusCode;
use serde_json::{Value, json};
use tessera_api::{SecretMode, SecretRules};

use crate::bao::Bao;
use crate::secrets::{PASSWORD, id, said};
use crate::site::{Site, key_rules, with_site};
use crate::sync::id as new_id;

fn rules(bao: &Bao, token: &str) -> SecretRules {
    SecretRules { vault: Some(bao.config(token)), ..SecretRules::default() }
}

async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let begun = Instant::now();
    while !is_so().await {
        assert!(begun.elapsed() < Duration::from_secs(10), "{what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

impl Bao {
    async fn lies(&self, memory: &str) -> bool {
        self.order("GET", &format!("secret/data/claude-memory/ada/mem-{memory}"), Value::Null).await.0 == 200
    }
}

async fn purge(site: &Site, key: &str, memory: &str) {
    let op =
        json!({ "op_id": new_id(), "memory": memory, "base_rev": 1, "at": "2026-11-20T12:00:00Z", "action": "purge" });
    Site::ok(site.post(key, "/v1/sync/push", &json!({ "epoch": 1, "ops": [op] })).await).await;
}

#[test]
fn values_lie_in_the_vault_and_leave_it_with_their_rows() {
    with_site(|site| async move {
        let Some(bao) = Bao::start().await else { return };
        let site = site.keeping(rules(&bao, "root")).await;
        let ada = site.user("ada").await;
        let stored = Site::ok(site.post(&ada, "/api/memories", &json!({ "content": said() })).await).await;
        assert_eq!(stored["secrets"][0]["kept"], "vault", "{stored}");
        let memory = id(&stored);
        let shown = Site::ok(site.reveal(&ada, &memory).await).await;
        assert_eq!((&shown["source"], shown["content"].as_str().unwrap()), (&json!("vault"), &*said()));
        // A second value of the memory lies beside the first.
        let more = json!({ "content": format!("{}, and the pin is 4711-xyz-09", shown["content"].as_str().unwrap()) });
        let path = format!("/api/memories/{memory}");
        Site::ok(site.put(&ada, &path, "*", &more).await).await;
        assert_eq!(site.whole(&ada, &memory).await, more["content"].as_str().unwrap());
        // From a machine, by its own route; the same again, and another value.
        let put = async |value: &str| {
            let sent =
                json!({ "secrets": [{ "memory": memory, "name": "s7k4q2", "kind": "password", "value": value }] });
            let request =
                site.client.put(format!("http://{}/v1/sync/secrets", site.address)).bearer_auth(&ada).json(&sent);
            Site::ok(request.send().await.unwrap()).await["kept"][0]["became"].as_str().unwrap().to_owned()
        };
        assert_eq!([put("one").await, put("one").await, put("two").await], ["kept", "kept", "differs"]);
        assert!(!site.cluster.dump().contains(PASSWORD));
        // One value is forgotten for good, the others stay.
        Site::ok(site.delete(&ada, &format!("{path}/secret/s7k4q2"), "").await).await;
        assert_eq!(site.delete(&ada, &format!("{path}/secret/s7k4q2"), "").await.status(), StatusCode::NOT_FOUND);
        let at = format!("secret/data/claude-memory/ada/mem-{memory}");
        let fields = async || bao.order("GET", &at, Value::Null).await.1["data"]["data"].as_object().unwrap().len();
        until("what is forgotten leaves it", async || fields().await == 2).await;
        assert_eq!(site.whole(&ada, &memory).await, more["content"].as_str().unwrap());
        // What the older system put there is had too.
        let older = json!({ "data": { "content": "token=older-Value_77" } });
        bao.does("POST", "secret/data/claude-memory/ada/mem-7", older).await;
        let row = json!([{ "content": "A token of the harbour", "vault_id": 7 }, { "content": "None", "vault_id": 8 }]);
        let report = Site::ok(site.post(&ada, "/api/memories/import", &row).await).await;
        assert_eq!(site.whole(&ada, &id(&report[0])).await, "A token of the harbour: token=older-Value_77");
        assert!(report[1]["error"].as_str().unwrap().starts_with("vault_id"), "{report}");
        // An orphan: its row never came.
        let orphan = "0190aaaa-0000-7000-8000-000000000001";
        bao.does("POST", &format!("secret/data/claude-memory/ada/mem-{orphan}"), json!({ "data": { "s1": "lost" } }))
            .await;
        let pool = site.admin().await;
        let lost = format!("INSERT INTO vault_writes VALUES ('ada', '{orphan}', 's1', now() - interval '1 hour')");
        sqlx::query(sqlx::AssertSqlSafe(lost)).execute(&pool).await.unwrap();
        purge(&site, &ada, &memory).await;
        until("what has no row stays", async || !bao.lies(&memory).await && !bao.lies(orphan).await).await;
        assert!(bao.lies(&id(&report[0])).await, "what has one stays");
        let left = "SELECT (SELECT count(*) FROM vault_removals) + (SELECT count(*) FROM vault_writes)";
        until("the queues stay", async || sqlx::query_scalar::<_, i64>(left).fetch_one(&pool).await.unwrap() == 0)
            .await;
    });
}

#[test]
fn what_is_forgotten_while_the_queues_are_read_leaves_the_vault() {
    with_site(|site| async move {
        let Some(bao) = Bao::start().await else { return };
        let site = site.keeping(rules(&bao, "root")).await;
        let ada = site.user("ada").await;
        let memory = id(&Site::ok(site.post(&ada, "/api/memories", &json!({ "content": said() })).await).await);
        let pool = site.admin().await;
        let count =
            async |sql: &str| sqlx::query_scalar::<_, i64>(sqlx::AssertSqlSafe(sql)).fetch_one(&pool).await.unwrap();
        let locked = async |table: &str| {
            let mut lock = pool.begin().await.unwrap();
            let sql = format!("LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE");
            sqlx::query(sqlx::AssertSqlSafe(sql)).execute(&mut *lock).await.unwrap();
            lock
        };
        let waits_to = async |what: &str| {
            let sql = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE";
            until(what, async || count(&format!("{sql} '{what}%'")).await > 0).await;
        };
        // Whoever reads the queues stands before the one of removals, and a write is noted whose row is there.
        let before = locked("vault_removals").await;
        waits_to("SELECT owner FROM vault_writes").await;
        let noted =
            "INSERT INTO vault_writes SELECT owner, memory, name, now() FROM memory_secrets ON CONFLICT DO NOTHING";
        sqlx::query(noted).execute(&pool).await.unwrap();
        // The request that forgets the row is not done before its audit is written: the reader waits for it.
        let audit = locked("audit").await;
        let name: String = sqlx::query_scalar("SELECT name FROM memory_secrets").fetch_one(&pool).await.unwrap();
        let path = format!("/api/memories/{memory}/secret/{name}");
        let lets_go = async {
            waits_to("INSERT INTO audit").await;
            before.rollback().await.unwrap();
            waits_to("DELETE FROM vault_writes").await;
            audit.rollback().await.unwrap();
        };
        tokio::join!(async { Site::ok(site.delete(&ada, &path, "").await).await }, lets_go);
        until("what is forgotten leaves it", async || !bao.lies(&memory).await).await;
    });
}

#[test]
fn while_the_vault_is_away_all_goes_on_but_what_needs_it() {
    with_site(|site| async move {
        let Some(mut bao) = Bao::on_files().await else { return };
        let unseal = bao.set_up().await;
        let rules = |folder: &str| {
            format!(
                r#"path "secret/data/{folder}/*" {{ capabilities = ["create", "read", "update"] }}
                   path "secret/metadata/{folder}/*" {{ capabilities = ["delete"] }}"#
            )
        };
        let token = bao.token(&rules("claude-memory"), json!({ "ttl": "1h" })).await;
        let plain = site.encrypting().await;
        let kept = site.keeping(SecretRules { mode: Some(SecretMode::Vault), ..rules_with_key(&bao, &token) }).await;
        let ada = site.user("ada").await;
        let in_vault = id(&Site::ok(kept.post(&ada, "/api/memories", &json!({ "content": said() })).await).await);
        let here = id(&Site::ok(plain.post(&ada, "/api/memories", &json!({ "content": said() })).await).await);
        assert_eq!(kept.whole(&ada, &here).await, said(), "what was encrypted before the vault is had as well");
        let ready =
            async || Site::ok(kept.get(&ada, "/ready").await).await["vault"].as_str().unwrap_or_default().to_owned();
        until("it is looked at", async || ready().await == "ok").await;
        let refused = async |code: &str| {
            let stored = kept.post(&ada, "/api/memories", &json!({ "content": said() })).await;
            assert_eq!(stored.status(), StatusCode::SERVICE_UNAVAILABLE, "{code}");
            let text = stored.text().await.unwrap() + &kept.reveal(&ada, &in_vault).await.text().await.unwrap();
            assert_eq!(text.matches(code).count(), 2, "{code}: {text}");
            assert!(!text.contains(PASSWORD) && !text.contains(&token), "{text}");
            // Reads, and writes without a credential, go on; so does what is sealed here.
            Site::ok(kept.post(&ada, "/api/memories", &json!({ "content": format!("Plain, while {code}") })).await)
                .await;
            assert!(
                kept.get(&ada, &format!("/api/memories/{in_vault}")).await.text().await.unwrap().contains("[secret s")
            );
            assert_eq!(kept.whole(&ada, &here).await, said());
        };
        let going = id(&Site::ok(kept.post(&ada, "/api/memories", &json!({ "content": said() })).await).await);
        bao.does("PUT", "sys/seal", Value::Null).await;
        refused("vault_sealed").await;
        until("sealed", async || ready().await == "sealed").await;
        purge(&kept, &ada, &going).await;
        bao.unseal(&unseal).await;
        until("unsealed", async || ready().await == "ok").await;
        assert_eq!(kept.whole(&ada, &in_vault).await, said());
        until("what was removed meanwhile leaves it", async || !bao.lies(&going).await).await;
        bao.does("PUT", "sys/policies/acl/of-a-test", json!({ "policy": rules("other") })).await;
        refused("vault_denied").await;
        bao.does("PUT", "sys/policies/acl/of-a-test", json!({ "policy": rules("claude-memory") })).await;
        assert_eq!(kept.whole(&ada, &in_vault).await, said());
        bao.does("POST", "auth/token/revoke", json!({ "token": token })).await;
        refused("vault_expired").await;
        until("expired", async || ready().await == "expired").await;
    });
}

fn rules_with_key(bao: &Bao, token: &str) -> SecretRules {
    SecretRules { vault: Some(bao.config(token)), ..key_rules("a passphrase of the tests") }
}
