//! Credentials in texts: whichever door they come by, none is stored in clear, and its owner alone has it back.

use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use tessera_api::{NewKey, SecretMode, SecretRules, Secrets};
use uuid::Uuid;

use crate::site::{Site, key_rules, with_site};
use crate::sync::{create, id as new_id};

pub(crate) const PASSWORD: &str = "hunter2!X9";

pub(crate) fn said() -> String {
    format!("The staging database password is {PASSWORD}")
}

fn github() -> String {
    format!("ghp_{}", "8sXk2QmT4vLw9ZbR7yNc3HdJ6pFgA1eU5iO0")
}

impl Site {
    pub(crate) async fn reveal(&self, key: &str, memory: &str) -> Response {
        self.post(key, &format!("/api/memories/{memory}/secret"), &Value::Null).await
    }

    /// The text of a memory with its secrets put back in.
    pub(crate) async fn whole(&self, key: &str, memory: &str) -> String {
        Self::ok(self.reveal(key, memory).await).await["content"].as_str().unwrap().to_owned()
    }

    async fn limited(&self, user: &str, scopes: &[&str]) -> String {
        let scopes = scopes.iter().map(|scope| (*scope).to_owned()).collect();
        self.db.add_key(&user.parse().unwrap(), &NewKey { scopes, ..NewKey::default() }).await.unwrap().reveal()
    }

    /// What was audited of a user, in words.
    pub(crate) async fn audited(&self, user: &str) -> Vec<String> {
        let all = self.db.audited(&user.parse().unwrap(), None).await.unwrap();
        all.into_iter().map(|entry| entry.what).collect()
    }
}

pub(crate) fn id(stored: &Value) -> String {
    stored["uuid"].as_str().unwrap().to_owned()
}

#[test]
fn what_is_found_is_set_aside_and_its_owner_has_it_back() {
    with_site(|site| async move {
        let site = site.encrypting().await;
        let ada = site.user("ada").await;
        let stored = Site::ok(site.post(&ada, "/api/memories", &json!({ "content": said() })).await).await;
        let aside = &stored["secrets"][0];
        let place = aside["place"].as_str().unwrap();
        assert_eq!((aside["kind"].as_str(), aside["kept"].as_str()), (Some("password"), Some("encrypted")), "{stored}");
        let memory = id(&stored);
        let path = format!("/api/memories/{memory}");
        let found = Site::ok(site.get(&ada, &path).await).await;
        assert_eq!(found["content"].as_str().unwrap(), said().replace(PASSWORD, place));
        assert_eq!(found["is_sensitive"], true);
        let shown = site.reveal(&ada, &memory).await;
        assert_eq!(shown.headers()["cache-control"], "no-store");
        let shown = Site::ok(shown).await;
        assert_eq!((shown["content"].as_str().unwrap(), &shown["source"]), (&*said(), &json!("encrypted")));
        assert_eq!(shown["secrets"][0]["value"], PASSWORD);
        assert_eq!(shown["secrets"][0]["name"], aside["name"]);
        // Every other door by which a text comes in.
        let token = github();
        let changed =
            json!({ "content": format!("The deploy token is {token} now"), "keywords": [format!("token {token}")] });
        let changed = Site::ok(site.put(&ada, &path, "*", &changed).await).await;
        assert_eq!(changed["secrets"].as_array().unwrap().len(), 1, "{changed}");
        assert_eq!(site.whole(&ada, &memory).await, format!("The deploy token is {token} now"));
        let rows = json!([{ "content": said() }, { "content": "Nothing to see" }, { "content": token, "tags": token.as_str() },
            { "content": "The recovery phrase lies in the safe", "force_sensitive": true, "category": "facts" }]);
        let report = Site::ok(site.post(&ada, "/api/memories/import", &rows).await).await;
        assert!(report.as_array().unwrap().iter().all(|row| row.get("error").is_none()), "{report}");
        assert_eq!(report[0]["secrets"][0]["name"], aside["name"], "the same value has the same name");
        assert!(report[1].get("secrets").is_none());
        assert_eq!(site.whole(&ada, &id(&report[2])).await, token);
        let whole = Site::ok(site.get(&ada, &format!("/api/memories/{}", id(&report[3]))).await).await;
        assert!(whole["content"].as_str().unwrap().starts_with("Sensitive note (facts): [secret s"), "{whole}");
        let back = site.whole(&ada, &id(&report[3])).await;
        assert_eq!(back, "Sensitive note (facts): The recovery phrase lies in the safe");
        // What is there already becomes a secret as a whole.
        let plain = id(&report[1]);
        let forced = json!({ "force_sensitive": true, "summary": "Where it is" });
        Site::ok(site.put(&ada, &format!("/api/memories/{plain}"), "*", &forced).await).await;
        let now = Site::ok(site.get(&ada, &format!("/api/memories/{plain}")).await).await;
        assert!(now["content"].as_str().unwrap().starts_with("Where it is: [secret s"), "{now}");
        let dump = site.cluster.dump();
        for value in [PASSWORD, &token, "recovery phrase lies"] {
            assert!(!dump.contains(value), "{value}");
        }
        let everything = site.get(&ada, "/api/memories/export").await.text().await.unwrap()
            + &site.get(&ada, "/v1/sync/snapshot").await.text().await.unwrap()
            + &site
                .post(&ada, "/api/memories/recall", &json!({ "context": "password token" }))
                .await
                .text()
                .await
                .unwrap();
        assert!(everything.contains(place) && !everything.contains(PASSWORD) && !everything.contains(&token));
    });
}

#[test]
fn without_a_place_nothing_with_a_credential_is_stored_and_the_field_is_named() {
    with_site(|site| async move {
        let ada = site.user("ada").await;
        let plain = id(&Site::ok(site.post(&ada, "/api/memories", &json!({ "content": "Plain" })).await).await);
        let path = format!("/api/memories/{plain}");
        let refused = async |response: Response, field: &str| {
            assert_eq!(response.status(), StatusCode::UNPROCESSABLE_ENTITY);
            let problem: Value = response.json().await.unwrap();
            let detail = problem["detail"].as_str().unwrap();
            assert_eq!(problem["code"], "no_place_for_secrets", "{problem}");
            assert!(detail.starts_with(field) && detail.contains("TESSERA_SECRET_KEY"), "{detail}");
            assert!(!detail.contains(PASSWORD), "{detail}");
        };
        refused(site.post(&ada, "/api/memories", &json!({ "content": said() })).await, "content:").await;
        let tagged = json!({ "content": "Plain", "keywords": [said()] });
        refused(site.post(&ada, "/api/memories", &tagged).await, "keywords:").await;
        refused(site.put(&ada, &path, "*", &json!({ "content": said() })).await, "content:").await;
        let rows = json!([{ "content": said() }, { "content": "Another plain one" }]);
        let report = Site::ok(site.post(&ada, "/api/memories/import", &rows).await).await;
        assert!(
            report[0]["error"].as_str().unwrap().contains("TESSERA_SECRET_KEY") && report[1].get("error").is_none()
        );
        let shared = json!({ "tag": github(), "shared_with": "ada" });
        assert_eq!(
            site.post(&ada, "/api/memories/share-tag", &shared).await.status(),
            StatusCode::UNPROCESSABLE_ENTITY
        );
        let pushed =
            Site::ok(site.post(&ada, "/v1/sync/push", &json!({ "epoch": 1, "ops": [create(&said())] })).await).await;
        assert_eq!(pushed["answers"][0]["refused"], "invalid");
        let page = Site::ok(site.get(&ada, "/v1/sync/changes?epoch=1").await).await;
        assert!(page.get("keeps_secrets").is_none());
        let sent = json!({ "secrets": [{ "memory": plain, "name": "s7k4q2", "kind": "password", "value": PASSWORD }] });
        let answer = site.client.put(format!("http://{}/v1/sync/secrets", site.address)).bearer_auth(&ada).json(&sent);
        assert_eq!(answer.send().await.unwrap().status(), StatusCode::CONFLICT);
        let migrated = site.post(&ada, "/api/memories/migrate-secrets", &Value::Null).await;
        assert_eq!(migrated.status(), StatusCode::UNPROCESSABLE_ENTITY);
        assert!(!site.cluster.dump().contains(PASSWORD));
        // Thrown away only where that was said; and never all of a text.
        let dropping = site.keeping(SecretRules { mode: Some(SecretMode::Drop), ..SecretRules::default() }).await;
        let stored = Site::ok(dropping.post(&ada, "/api/memories", &json!({ "content": said() })).await).await;
        assert_eq!((&stored["secrets"][0]["kept"], &stored["secrets"][0]["name"]), (&json!("dropped"), &Value::Null));
        let shown = Site::ok(dropping.reveal(&ada, &id(&stored)).await).await;
        assert_eq!(shown["content"], "The staging database password is [secret dropped: password]");
        assert_eq!(shown["secrets"][0]["missing"], "dropped");
        let all = json!({ "content": "All of it", "force_sensitive": true });
        assert_eq!(dropping.post(&ada, "/api/memories", &all).await.status(), StatusCode::UNPROCESSABLE_ENTITY);
        assert!(dropping.audited("ada").await.contains(&"secret_dropped".into()));
    });
}

/// Nor by SQL: the policy holds without any condition of the program's.
async fn held_by_policy(site: &Site) {
    let pool = sqlx::PgPool::connect(&site.cluster.url("server")).await.unwrap();
    for (user, seen) in [("", 0_i64), ("reader", 0), ("writer", 0), ("owner", 1)] {
        let mut tx = pool.begin().await.unwrap();
        sqlx::query("SET LOCAL ROLE tessera_app").execute(&mut *tx).await.unwrap();
        sqlx::query("SELECT set_config('app.user_id', $1, true)").bind(user).execute(&mut *tx).await.unwrap();
        let count: i64 = sqlx::query_scalar("SELECT count(*) FROM memory_secrets").fetch_one(&mut *tx).await.unwrap();
        assert_eq!(count, seen, "{user}");
    }
}

#[test]
fn nobody_but_its_owner_with_a_whole_key_has_a_secret_or_learns_of_one() {
    with_site(|site| async move {
        let site = site.encrypting().await;
        let owner = site.user("owner").await;
        let mut others = Vec::new();
        for name in ["stranger", "reader", "writer", "tagged"] {
            others.push((name, site.user(name).await));
        }
        let new = json!({ "content": said(), "tags": "ops" });
        let memory = id(&Site::ok(site.post(&owner, "/api/memories", &new).await).await);
        for (with, permission) in [("reader", "read"), ("writer", "write")] {
            let share = json!({ "shared_with": with, "permission": permission });
            Site::ok(site.post(&owner, &format!("/api/memories/{memory}/share"), &share).await).await;
        }
        let share = json!({ "tag": "ops", "shared_with": "tagged", "permission": "write" });
        Site::ok(site.post(&owner, "/api/memories/share-tag", &share).await).await;
        let accept = json!({ "owner": "owner", "tag": "ops", "accept": true });
        Site::ok(site.post(&others[3].1, "/api/memories/invitations", &accept).await).await;
        let unknown = Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0001).to_string();
        let mut answers = Vec::new();
        for (name, key) in &others {
            for asked in [&memory, &unknown] {
                let answer = site.reveal(key, asked).await;
                assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{name}");
                answers.push(answer.text().await.unwrap());
            }
        }
        answers.push(site.reveal(&owner, &unknown).await.text().await.unwrap());
        answers.dedup();
        assert_eq!(answers.len(), 1, "unknown and forbidden are told alike: {answers:?}");
        let mut limited = Vec::new();
        for scopes in [&["read"][..], &["read", "write"], &["share"]] {
            let key = site.limited("owner", scopes).await;
            for asked in [&memory, &unknown] {
                let answer = site.reveal(&key, asked).await;
                assert_eq!(answer.status(), StatusCode::FORBIDDEN, "{scopes:?}");
                limited.push((scopes.len(), answer.text().await.unwrap()));
            }
        }
        assert!(limited.chunks(2).all(|pair| pair[0] == pair[1]), "whatever the memory: {limited:?}");
        let denied = site.audited("owner").await.into_iter().filter(|what| what == "secret_denied").count();
        assert_eq!(denied, 7, "each refused attempt is recorded");
        let name =
            Site::ok(site.reveal(&owner, &memory).await).await["secrets"][0]["name"].as_str().unwrap().to_owned();
        for (whose, key) in &others {
            let answer = site.delete(key, &format!("/api/memories/{memory}/secret/{name}"), "").await;
            assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{whose}");
        }
        let revoked = site.user("owner").await;
        site.db.revoke_key(&"owner".parse().unwrap(), revoked.split('_').nth(1).unwrap()).await.unwrap();
        assert_eq!(site.reveal(&revoked, &memory).await.status(), StatusCode::UNAUTHORIZED);
        // Who may write in it leaves no secret of theirs there, and theirs of the same id is theirs.
        let door = json!({ "content": format!("The password is now {PASSWORD}") });
        let answer = site.put(&others[2].1, &format!("/api/memories/{memory}"), "*", &door).await;
        assert_eq!(answer.status(), StatusCode::UNPROCESSABLE_ENTITY);
        let mut op = create(&said());
        op["memory"] = json!(memory);
        op["action"] = json!({ "edit": { "content": said(), "tags_added": [], "tags_removed": [], "details": null } });
        op["base_rev"] = json!(1);
        let pushed =
            Site::ok(site.post(&others[2].1, "/v1/sync/push", &json!({ "epoch": 1, "ops": [op] })).await).await;
        assert_eq!(pushed["answers"][0]["refused"], "invalid", "{pushed}");
        assert_eq!(site.whole(&owner, &memory).await, said());
        held_by_policy(&site).await;
        // Each asking is noted with its account, those in vain too.
        assert!(site.audited("reader").await.contains(&"secret_denied".into()));
        let of_owner = site.db.audited(&"owner".parse().unwrap(), None).await.unwrap();
        let shown = of_owner.iter().find(|entry| entry.what == "secret_shown").unwrap();
        assert!(
            shown.target == memory && shown.key.is_some() && shown.address.as_deref() == Some("127.0.0.1"),
            "{shown:?}"
        );
    });
}

#[test]
fn what_an_older_machine_sends_in_clear_is_set_aside_and_a_retry_is_a_replay() {
    with_site(|site| async move {
        let site = site.encrypting().await;
        let ada = site.user("ada").await;
        let op = create(&said());
        let memory = op["memory"].as_str().unwrap().to_owned();
        for _ in 0..2 {
            let pushed =
                Site::ok(site.post(&ada, "/v1/sync/push", &json!({ "epoch": 1, "ops": [op.clone()] })).await).await;
            assert_eq!(pushed["answers"][0]["refused"], Value::Null, "{pushed}");
            assert!(pushed.to_string().contains("[secret s") && !pushed.to_string().contains(PASSWORD));
        }
        assert_eq!(site.whole(&ada, &memory).await, said());
        // Two texts on one base: the other becomes a memory whose secret is had by its name.
        let edit = |text: &str, base: u64| {
            let action = json!({ "edit": { "content": text, "tags_added": [], "tags_removed": [], "details": null } });
            json!({ "op_id": new_id(), "memory": memory, "base_rev": base, "at": "2026-11-20T12:00:00Z", "action": action })
        };
        let token = github();
        let other = format!("The staging database is reached with {token}");
        let ops = json!([edit("The staging database has no password", 1), edit(&other, 1)]);
        let pushed = Site::ok(site.post(&ada, "/v1/sync/push", &json!({ "epoch": 1, "ops": ops })).await).await;
        let copy = pushed["answers"][1]["copy"]["row"]["memory"].as_str().unwrap_or_else(|| panic!("{pushed}"));
        assert_eq!(site.whole(&ada, copy).await, other);
        // What is kept to know a request again tells nothing by a guess, and knows it again.
        let new = json!({ "content": said() });
        let first = Site::ok(site.post_with(&ada, "/api/memories", "once", &new).await).await;
        let again = Site::ok(site.post_with(&ada, "/api/memories", "once", &new).await).await;
        assert_eq!((&first["id"], &first["rev"]), (&again["id"], &again["rev"]));
        let differs = site.post_with(&ada, "/api/memories", "once", &json!({ "content": "Else" })).await;
        assert_eq!(differs.status(), StatusCode::UNPROCESSABLE_ENTITY);
        assert!(!site.cluster.dump().contains(PASSWORD));
    });
}

#[test]
fn secrets_of_a_machine_come_by_a_route_of_their_own() {
    with_site(|site| async move {
        let site = site.encrypting().await;
        let (ada, bob) = (site.user("ada").await, site.user("bob").await);
        let text = "The staging database password is [secret s7k4q2: password]";
        let op = create(text);
        let memory = op["memory"].as_str().unwrap().to_owned();
        Site::ok(site.post(&ada, "/v1/sync/push", &json!({ "epoch": 1, "ops": [op] })).await).await;
        let page = Site::ok(site.get(&ada, "/v1/sync/changes?epoch=1").await).await;
        assert_eq!(page["keeps_secrets"], true);
        let missing = Site::ok(site.reveal(&ada, &memory).await).await;
        assert_eq!((&missing["content"], &missing["secrets"][0]["missing"]), (&json!(text), &json!("not_here")));
        let put = async |key: &str, memory: &str, name: &str, kind: &str, value: &str| {
            let sent = json!({ "secrets": [{ "memory": memory, "name": name, "kind": kind, "value": value }] });
            let request =
                site.client.put(format!("http://{}/v1/sync/secrets", site.address)).bearer_auth(key).json(&sent);
            Site::ok(request.send().await.unwrap()).await["kept"][0]["became"].as_str().unwrap().to_owned()
        };
        for _ in 0..2 {
            assert_eq!(put(&ada, &memory, "s7k4q2", "password", PASSWORD).await, "kept");
        }
        assert_eq!(put(&ada, &memory, "s7k4q2", "password", "another").await, "differs");
        assert_eq!(put(&bob, &memory, "s7k4q2", "password", PASSWORD).await, "unknown");
        for (name, kind, value) in [("7k4q", "password", "x"), ("s7", "pass]word", "x"), ("s7", "password", "")] {
            assert_eq!(put(&ada, &memory, name, kind, value).await, "invalid", "{name} {kind} {value}");
        }
        assert_eq!(site.whole(&ada, &memory).await, said());
        assert!(!site.cluster.dump().contains(PASSWORD));
        // Removed for good, it takes its secrets along, and which machines know is told.
        let head = Site::ok(site.get(&ada, "/v1/sync/snapshot").await).await["head"].as_u64().unwrap();
        let asked = async |machine: &str, after: u64| {
            let request = site.client.get(format!("http://{}/v1/sync/changes?epoch=1&after={after}", site.address));
            Site::ok(request.bearer_auth(&ada).header("tessera-machine", machine).send().await.unwrap()).await
        };
        asked("laptop", head).await;
        asked("tower", head).await;
        let purge = json!({ "op_id": new_id(), "memory": memory, "base_rev": 1, "at": "2026-11-20T12:00:00Z", "action": "purge" });
        Site::ok(site.post(&ada, "/v1/sync/push", &json!({ "epoch": 1, "ops": [purge] })).await).await;
        let pool = site.admin().await;
        let left: i64 = sqlx::query_scalar("SELECT count(*) FROM memory_secrets").fetch_one(&pool).await.unwrap();
        assert_eq!(left, 0);
        assert_eq!(site.reveal(&ada, &memory).await.status(), StatusCode::NOT_FOUND);
        assert_eq!(put(&ada, &memory, "s7k4q2", "password", PASSWORD).await, "unknown");
        let next = asked("laptop", head).await["next"].as_u64().unwrap();
        let report = async || Site::ok(site.get(&ada, &format!("/v1/sync/purged/{memory}")).await).await;
        let confirmed = |report: &Value| -> Vec<(String, bool)> {
            let machines = report["machines"].as_array().unwrap().iter();
            let named = machines.filter(|of| of["machine"] != "");
            named.map(|of| (of["machine"].as_str().unwrap().into(), of["confirmed"].as_bool().unwrap())).collect()
        };
        assert!(confirmed(&report().await).iter().all(|(_, confirmed)| !confirmed), "given, and not taken yet");
        asked("laptop", next).await;
        let told = report().await;
        assert_eq!(
            (&told["state"], confirmed(&told)),
            (&json!("purged"), vec![("laptop".into(), true), ("tower".into(), false)])
        );
        assert_eq!(Site::ok(site.get(&bob, &format!("/v1/sync/purged/{memory}")).await).await["state"], "unknown");
    });
}

#[test]
fn another_key_is_noticed_and_a_new_one_opens_what_the_old_one_sealed() {
    with_site(|site| async move {
        let (old, new) = ("a passphrase of the tests", "6f".repeat(32));
        let first = site.keeping(key_rules(old)).await;
        let ada = site.user("ada").await;
        let memory = id(&Site::ok(first.post(&ada, "/api/memories", &json!({ "content": said() })).await).await);
        let error = Secrets::open(&site.db, key_rules(&new)).await.unwrap_err().to_string();
        let id_of = |text: &str| text.split_whitespace().find(|word| word.len() == 9 && word.ends_with(',')).is_some();
        assert!(id_of(&error) && error.contains("TESSERA_SECRET_KEY_BEFORE"), "{error}");
        let rules = SecretRules { before: vec![old.to_owned().into()], ..key_rules(&new) };
        let rotated = site.keeping(rules.clone()).await;
        assert_eq!(rotated.whole(&ada, &memory).await, said());
        assert!(Secrets::open(&site.db, key_rules(old)).await.is_err(), "the old one alone does not serve any more");
        let secrets = Secrets::open(&site.db, rules).await.unwrap();
        let user = "ada".parse().unwrap();
        let done = site.db.migrate_secrets_of(&user, &secrets, None, false).await.unwrap();
        assert_eq!((done.resealed, done.found), (1, 0));
        assert_eq!(site.db.migrate_secrets_of(&user, &secrets, None, false).await.unwrap().resealed, 0);
        // The old key is needed no more.
        assert_eq!(site.keeping(key_rules(&new)).await.whole(&ada, &memory).await, said());
        // A server without the key says that it has not got it, and reads on.
        let shown = Site::ok(site.reveal(&ada, &memory).await).await;
        assert_eq!((&shown["secrets"][0]["missing"], &shown["secrets"][0]["value"]), (&json!("key"), &Value::Null));
        let made = site.keeping(key_rules(&new)).await;
        let older = "9fd6a5f577140105f00b48d7ee371703c478047f6dd20f682851e2d155ab2b8701edb9393af195ee845f9c8a3c0c7b12067f85920427eda4ff4dd5df23df";
        let bytes: Vec<u8> =
            (0..older.len()).step_by(2).map(|at| u8::from_str_radix(&older[at..at + 2], 16).unwrap()).collect();
        let row = json!({ "content": "A token of the harbour", "encrypted_content": base64(&bytes) });
        assert_eq!(made.post(&ada, "/api/memories", &row).await.status(), StatusCode::UNPROCESSABLE_ENTITY);
        let with_older =
            SecretRules { before: vec!["correct horse battery staple".to_owned().into()], ..key_rules(&new) };
        let with_older = site.keeping(with_older).await;
        let stored = Site::ok(with_older.post(&ada, "/api/memories", &row).await).await;
        let back = with_older.whole(&ada, &id(&stored)).await;
        assert_eq!(back, "A token of the harbour: token=abcd1234efgh5678ijkl Grüße");
    });
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// What the fixture's texts hold.
const OLD: [&str; 8] = [
    PASSWORD,
    "Tr0ub4dor-and-3",
    "wrench-Turn-77!",
    "Lantern_8812!",
    "Junk-boat-2019!",
    "tea4Two!kettle",
    "ladder-Fox-31!",
    "gone4Ever!x",
];

#[test]
fn what_stood_in_clear_before_is_taken_out_of_live_and_deleted_rows() {
    let dump = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/db/clear-credentials.sql");
    with_site(|site| async move {
        site.cluster.load(&dump);
        let here = |site: &Site| OLD.iter().filter(|value| site.cluster.dump().contains(**value)).count();
        assert_eq!(here(&site), 7, "all but what was removed for good");
        let site = site.encrypting().await;
        let ada = site.key("ada").await;
        let head = Site::ok(site.get(&ada, "/v1/sync/snapshot").await).await["head"].as_u64().unwrap();
        let secrets = Secrets::open(&site.db, key_rules("a passphrase of the tests")).await.unwrap();
        let user = "ada".parse().unwrap();
        let counted = site.db.migrate_secrets_of(&user, &secrets, None, true).await.unwrap();
        assert_eq!((counted.found, counted.migrated), (6, 0), "{counted:?}");
        assert_eq!(here(&site), 7, "counting changes nothing");
        // By the route of the older API, then on the host for all; again, nothing is left to do.
        let done = Site::ok(site.post(&ada, "/api/memories/migrate-secrets", &Value::Null).await).await;
        assert_eq!((&done["found"], &done["migrated"]), (&json!(6), &json!(6)), "{done}");
        let done = Site::ok(site.post(&ada, "/api/memories/migrate-secrets", &Value::Null).await).await;
        assert_eq!(done["found"], 0, "{done}");
        let bobs = site.db.migrate_secrets_of(&"bob".parse().unwrap(), &secrets, None, false).await.unwrap();
        assert_eq!(bobs.migrated, 1);
        assert_eq!(here(&site), 0);
        // Machines hear of each, and its owner has each back, also of what is deleted and of the other text of a conflict.
        let page = site.get(&ada, &format!("/v1/sync/changes?epoch=1&after={head}")).await.text().await.unwrap();
        assert_eq!(serde_json::from_str::<Value>(&page).unwrap()["news"].as_array().unwrap().len(), 6);
        let pool = site.admin().await;
        let ids: Vec<Uuid> = sqlx::query_scalar("SELECT DISTINCT memory FROM memory_secrets WHERE owner = 'ada'")
            .fetch_all(&pool)
            .await
            .unwrap();
        let mut had = String::new();
        for memory in ids {
            had += &site.reveal(&ada, &memory.to_string()).await.text().await.unwrap();
        }
        for value in OLD.iter().filter(|value| !["tea4Two!kettle", "gone4Ever!x"].contains(value)) {
            assert!(had.contains(value), "{value}");
        }
        let digests: i64 =
            sqlx::query_scalar("SELECT count(*) FROM applied_ops WHERE hash <> '' AND user_id <> 'carol'")
                .fetch_one(&pool)
                .await
                .unwrap();
        assert_eq!(digests, 0);
        let deleted: i64 =
            sqlx::query_scalar("SELECT count(*) FROM memories WHERE state = 'deleted'").fetch_one(&pool).await.unwrap();
        assert_eq!(deleted, 1, "what was deleted stays deleted");
        assert_eq!(site.audited("ada").await.iter().filter(|what| *what == "secret_migrated").count(), 6);
        // What is shared is seen as before, without the values; a key that may only read has none.
        let bob = site.key("bob").await;
        let shared = site.get(&bob, "/api/memories/shared-with-me").await.text().await.unwrap();
        assert!(
            shared.contains("The staging database password is [secret s") && shared.contains("port 9200"),
            "{shared}"
        );
        assert!(OLD.iter().all(|value| !shared.contains(value)));
    });
}

/// Whoever knows the name of a secret and may write in another memory leads its owner to no other value than that memory's.
#[test]
fn a_text_that_somebody_else_wrote_names_no_secret_of_another_memory() {
    with_site(|site| async move {
        let site = site.encrypting().await;
        let (ada, bob) = (site.user("ada").await, site.user("bob").await);
        let stored = Site::ok(site.post(&ada, "/api/memories", &json!({ "content": said() })).await).await;
        let place = stored["secrets"][0]["place"].as_str().unwrap().to_owned();
        let other = id(&Site::ok(site.post(&ada, "/api/memories", &json!({ "content": "A list" })).await).await);
        let share = json!({ "shared_with": "bob", "permission": "write" });
        Site::ok(site.post(&ada, &format!("/api/memories/{other}/share"), &share).await).await;
        let path = format!("/api/memories/{other}");
        let text = format!("Send {place} to the harbour");
        Site::ok(site.put(&bob, &path, "*", &json!({ "content": text })).await).await;
        let shown = Site::ok(site.reveal(&ada, &other).await).await;
        assert_eq!((&shown["content"], &shown["secrets"][0]["missing"]), (&json!(text), &json!("not_here")));
        // What she writes herself may name it.
        Site::ok(site.put(&ada, &path, "*", &json!({ "content": format!("Once more: {place}") })).await).await;
        assert_eq!(site.whole(&ada, &other).await, format!("Once more: {PASSWORD}"));
    });
}
