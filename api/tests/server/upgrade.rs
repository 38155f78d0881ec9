//! A database as the server before marks, authors and offers wrote it, with a machine's store of the same time: both
//! open, and the machine goes on with the server.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use tessera_engine::domain::{FixedClock, MemoryRef, Timestamp};
use tessera_engine::score::Weights;
use tessera_engine::store::{ListRequest, SecretRules, StoreConfig, Usage, Whole};
use tessera_engine::sync::{Action, Page, Push, Pushed, Snapshot};
use tessera_engine::{Memory, Store};

use crate::site::{Site, key_rules, with_database};
use crate::sync::{document, id as new_id, op, pushed};

/// One of the memories that the rule deleted, as a machine with a right clock deleted it.
/// They are shared, with somebody whose name comes before the owner's and with somebody whose comes after it.
const BY_THE_RULE: &str = "UPDATE memories SET updated = expires + 3000000000000
        WHERE content IN ('Crane four needs a new limit switch', 'The parser rejects empty headers');
    UPDATE memories SET state = 'deleted' WHERE content = 'The parser rejects empty headers';
    INSERT INTO memory_shares (owner, memory, grantee, permission)
        SELECT owner, id, 'bob', 'read' FROM memories WHERE content = 'Crane four needs a new limit switch'";

fn fixture(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/db").join(name)
}

/// A copy of a machine's store.
fn machine_of(database: &str, home: &Path, now: i64) -> Store {
    std::fs::create_dir_all(home).unwrap();
    std::fs::copy(fixture(database), home.join("tessera.db")).unwrap();
    let clock = Arc::new(FixedClock(Timestamp::from_micros(now)));
    let home = home.to_path_buf();
    Store::open(StoreConfig {
        home: home.into(),
        clock,
        weights: Weights::default(),
        usage: Usage::Serve,
        meaning: true,
        secrets: SecretRules::default(),
    })
    .unwrap()
}

fn live(store: &Store) -> Vec<Memory> {
    store.list(&ListRequest { limit: 200, ..ListRequest::default() }).unwrap().memories
}

/// One exchange, as a machine makes it; gives how many ops it sent.
async fn exchange(site: &Site, key: &str, store: &mut Store) -> usize {
    let mut sent = 0;
    let known = store.server().unwrap().unwrap();
    if !known.is_whole {
        // A program that knows more than the one before it fetches all anew.
        let path = format!("/v1/sync/snapshot?epoch={}", known.epoch);
        let response = site.get_knowing(key, &path, &store.marks().unwrap()).await;
        let snapshot: Snapshot = serde_json::from_value(Site::ok(response).await).unwrap();
        let Snapshot { epoch, restored_seq, head, rows, mark, meanings, .. } = snapshot;
        store.begin_anew(&Whole { epoch, restored_seq, head, mark, rows, meanings }).unwrap();
    }
    loop {
        let ops = store.ops(100).unwrap();
        let epoch = store.server().unwrap().unwrap().epoch;
        sent += ops.len();
        if ops.is_empty() {
            break;
        }
        let ops = store.with_meanings(ops).unwrap();
        let body = serde_json::to_value(Push { epoch, ops }).unwrap();
        let pushed: Pushed =
            serde_json::from_value(Site::ok(site.post(key, "/v1/sync/push", &body).await).await).unwrap();
        store.answered(epoch, &pushed).unwrap();
    }
    loop {
        let state = store.server().unwrap().unwrap();
        let path = format!("/v1/sync/changes?epoch={}&after={}", state.epoch, state.cursor);
        let page: Page = serde_json::from_value(Site::ok(site.get(key, &path).await).await).unwrap();
        let more = page.more;
        store.arrived(state.epoch, state.cursor, &page).unwrap();
        if !more {
            return sent;
        }
    }
}

/// What is shared by a tag before there were offers goes on being shared.
#[test]
fn shares_of_an_older_database_hold() {
    with_database(&fixture("server-v2.sql"), BY_THE_RULE, |site| async move {
        let pool = sqlx::PgPool::connect(&site.cluster.url("admin")).await.unwrap();
        let rules: Vec<(String, String)> =
            sqlx::query_as("SELECT grantee, status FROM tag_shares").fetch_all(&pool).await.unwrap();
        assert!(rules.iter().all(|(_, status)| status == "accepted"), "{rules:?}");
        let grantees: Vec<String> =
            sqlx::query_scalar("SELECT DISTINCT grantee FROM memory_shares").fetch_all(&pool).await.unwrap();
        assert!(!grantees.is_empty(), "the database has shares");
        for grantee in grantees {
            let key = site.key(&grantee).await;
            let shared = Site::ok(site.get(&key, "/api/memories/shared-with-me").await).await;
            assert!(shared["total"].as_u64().unwrap() > 0, "{grantee}: {shared}");
        }
        // The server gives back what the rule took, and finds it though nothing was kept of its words.
        let ada = site.key("ada").await;
        let question = json!({ "context": "limit switch of crane four", "max_tokens": 500 });
        let answer: Value = Site::ok(site.post(&ada, "/api/memories/recall", &question).await).await;
        assert_eq!(answer["details"][0]["content"], "Crane four needs a new limit switch", "{answer}");
        let bob = site.key("bob").await;
        for (key, shared) in [(&bob, "Crane four needs a new limit switch"), (&ada, "The parser rejects empty headers")]
        {
            let page = site.get(key, "/v1/sync/snapshot").await.text().await.unwrap();
            assert!(page.contains(shared), "{page}");
        }
        let ends: i64 =
            sqlx::query_scalar("SELECT count(*) FROM memories WHERE expires % 1000000 <> 0 AND NOT standing AND category <> 'people' AND importance < 60")
                .fetch_one(&pool)
                .await
                .unwrap();
        assert_eq!(ends, 0, "no end that a rule made");
    });
}

/// A server and a machine of one schema later: what the machine had not been answered arrives once, what is private
/// stays, what is offered stays an offer, and the teammate goes on seeing what is shared.
#[test]
fn a_database_with_marks_and_offers_and_its_machine_go_on_together() {
    with_database(&fixture("server-v3.sql"), "SELECT 1", |site| async move {
        let dir = tempfile::tempdir().unwrap();
        let mut store = machine_of("v6.db", &dir.path().join("t"), 1_805_500_000_000_000);
        let key = site.key("ada").await;
        let before = live(&store).len();
        // What was not answered had been carried out: that shows in what is fetched.
        assert_eq!(exchange(&site, &key, &mut store).await, 2, "a deletion, a new one");
        assert_eq!(exchange(&site, &key, &mut store).await, 0);
        assert_eq!(live(&store).len(), before);
        let snapshot: Snapshot =
            serde_json::from_value(Site::ok(site.get(&key, "/v1/sync/snapshot").await).await).unwrap();
        let there: Vec<&str> = snapshot
            .rows
            .iter()
            .filter_map(|shadow| shadow.row.state.live().map(|document| document.content.as_str()))
            .collect();
        let count = |text: &str| there.iter().filter(|content| **content == text).count();
        assert_eq!(count("I prefer Svelte over React for new front ends, with TypeScript"), 1, "{there:?}");
        assert_eq!(count("Buoy twelve sends nothing since the storm"), 1);
        assert_eq!(count("Ferry line seven turns at the north mole"), 0, "deleted");
        assert_eq!(count("The spare key of the boathouse hangs behind the tide table"), 0, "private");
        assert_eq!(store.offers().unwrap().len(), 1);
        let question = json!({ "context": "which port does the staging gateway listen on?", "max_tokens": 500 });
        let answer: Value = Site::ok(site.post(&key, "/api/memories/recall", &question).await).await;
        assert_eq!(answer["details"][0]["content"], "The staging gateway listens on port 9000", "{answer}");
        let bob = site.key("bob").await;
        let page = site.get(&bob, "/v1/sync/snapshot").await.text().await.unwrap();
        assert!(page.contains("Buoy twelve sends nothing since the storm"), "the tag ops is shared with bob");
        assert!(page.contains("booked through Marta, two days ahead") && page.contains("\"edited_by\":\"ada\""));
        assert!(!page.contains("harbour master"), "what is not shared is not seen");
    });
}

/// A server and a machine before vectors: nothing of either is lost, the server makes what waits by itself, and a new
/// machine has it from there.
#[test]
fn a_database_before_vectors_and_its_machine_go_on_together() {
    with_database(&fixture("server-v4.sql"), "SELECT 1", |site| async move {
        let dir = tempfile::tempdir().unwrap();
        let mut store = machine_of("v7-joined.db", &dir.path().join("t"), 1_805_500_000_000_000);
        let key = site.key("ada").await;
        let before = live(&store).len();
        assert_eq!(exchange(&site, &key, &mut store).await, 2, "a new one, and a change");
        assert_eq!(exchange(&site, &key, &mut store).await, 0);
        assert_eq!(live(&store).len(), before);
        let waiting =
            "SELECT count(*) FROM memories WHERE state = 'live' AND (meaning = '' OR meant_rev <> content_rev)";
        let pool = site.admin().await;
        let count = async || sqlx::query_scalar::<_, i64>(waiting).fetch_one(&pool).await.unwrap();
        for _ in 0..1_200 {
            if count().await == 0 {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        assert_eq!(count().await, 0);
        let snapshot: Snapshot =
            serde_json::from_value(Site::ok(site.get(&key, "/v1/sync/snapshot").await).await).unwrap();
        let there: Vec<_> = snapshot.rows.iter().filter(|shadow| shadow.row.state.live().is_some()).collect();
        assert_eq!(there.len(), before);
        assert!(there.iter().all(|shadow| snapshot.meanings.contains_key(&shadow.row.memory)));
        // What was said, deleted, removed for good, edited by a teammate and kept twice is as it was.
        let texts: Vec<&str> = there.iter().map(|shadow| shadow.row.state.live().unwrap().content.as_str()).collect();
        for (text, count) in [
            ("We deploy the tide service on Wednesdays, never on Fridays", 1),
            ("Buoy twelve sends nothing since the storm", 1),
            ("The staging gateway listens on port 9100", 1),
            ("The build cache lives on host oak", 1),
            ("The build cache lives on host elm", 1),
            ("This note is forgotten", 0),
            ("This note is removed for good", 0),
        ] {
            assert_eq!(texts.iter().filter(|known| **known == text).count(), count, "{text}");
        }
        let question = json!({ "context": "which port does the staging gateway listen on?", "max_tokens": 500 });
        let answer: Value = Site::ok(site.post(&key, "/api/memories/recall", &question).await).await;
        assert_eq!(answer["details"][0]["content"], "The staging gateway listens on port 9100", "{answer}");
        assert_eq!(answer["details"][0]["edited_by"], "bob", "{answer}");
        // The machine of before takes what the server made, with the next news of a memory; a new one has all of it.
        let Snapshot { epoch, restored_seq, head, rows, mark, meanings, .. } = snapshot;
        store.must_begin_anew().unwrap();
        store.begin_anew(&Whole { epoch, restored_seq, head, mark, rows, meanings }).unwrap();
        assert!(!store.give_meaning_to_some().unwrap());
        assert_eq!(exchange(&site, &key, &mut store).await, 0, "that is no change");
        let bob = site.key("bob").await;
        let page = site.get(&bob, "/v1/sync/snapshot").await.text().await.unwrap();
        assert!(page.contains("Buoy twelve sends nothing since the storm"), "the tag shared is shared with bob");
        assert!(!page.contains("Marta"), "what is not shared is not seen");
    });
}

/// A server and a machine before files: what was offered, edited, kept twice, sealed and not yet sent is as it was, and a
/// file that another machine writes now reaches this one.
#[test]
fn a_database_before_files_and_its_machine_go_on_together() {
    go_on_together("server-v6.sql", "v10-joined.db");
}

/// The same of the version before indexes were kept and users could be removed.
#[test]
fn a_database_before_kept_indexes_and_its_machine_go_on_together() {
    go_on_together("server-v7.sql", "v11-joined.db");
}

/// The same of the version before metadata were kept.
#[test]
fn a_database_before_metadata_and_its_machine_go_on_together() {
    go_on_together("server-v9.sql", "v11-joined-v9.db");
}

fn go_on_together(server: &str, machine: &str) {
    let machine = machine.to_owned();
    with_database(&fixture(server), "SELECT 1", |site| async move {
        let site = site.keeping(key_rules(&"2a".repeat(32))).await;
        let dir = tempfile::tempdir().unwrap();
        let mut store = machine_of(&machine, &dir.path().join("t"), 1_805_500_000_000_000);
        let key = site.key("ada").await;
        let before = live(&store).len();
        assert_eq!(exchange(&site, &key, &mut store).await, 2, "a new one, and a change");
        assert_eq!(exchange(&site, &key, &mut store).await, 0);
        assert_eq!(live(&store).len(), before);
        let texts: Vec<String> = live(&store).into_iter().map(|memory| memory.content).collect();
        for (text, count) in [
            ("Marta's line at the depot is booked three days ahead", 1),
            ("We deploy the crane service on Mondays", 1),
            ("We deploy the crane service on Tuesdays", 1),
            ("Buoy nine sends again", 1),
            ("Pier six is closed for dredging", 1),
            ("The harbour gate opens with code word Anchor", 1),
            ("This note is forgotten", 0),
            ("This note is removed for good", 0),
        ] {
            assert_eq!(texts.iter().filter(|known| *known == text).count(), count, "{text}: {texts:?}");
        }
        let sealed = live(&store).into_iter().find(|memory| memory.content.contains("[secret s")).unwrap();
        assert!(site.whole(&key, &sealed.id.to_string()).await.ends_with("Quay-lamp-4471!"));
        let bob = site.key("bob").await;
        let page = site.get(&bob, "/v1/sync/snapshot").await.text().await.unwrap();
        assert!(page.contains("Buoy nine sends again") && page.contains("Marta"), "shared, and accepted");
        assert!(!page.contains("Pier six"), "what is not shared is not seen");
        // A file of another machine, that knows files.
        let mut file = document("# Pier\n\n- [gate] gate four is shut at low water\n");
        file.details.file = Some("/memories/pier.md".parse().unwrap());
        let memory = new_id();
        assert!(pushed(&site, &key, &op(memory, 0, Action::Create(file))).await.row.is_some());
        exchange(&site, &key, &mut store).await;
        let told = store.get(MemoryRef::Id(memory)).unwrap().unwrap();
        assert_eq!(told.file.unwrap().path.to_string(), "/memories/pier.md");
    });
}
