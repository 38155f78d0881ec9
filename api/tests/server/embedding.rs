//! What memories mean, between machines and the server: it travels beside them, is made where it is missing, and is
//! believed for others once it was made here.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use reqwest::StatusCode;
use serde_json::{Value, json};
use sqlx::Row as _;
use tessera_api::{Limits, SemanticSearch, Settings, metrics_text};
use tessera_engine::Patch;
use tessera_engine::Store;
use tessera_engine::domain::{Draft, FixedClock, MemoryRef, MemoryUuid, RecallRequest, Timestamp};
use tessera_engine::embedding::{Embedding, Encoder, passages_of};
use tessera_engine::pack::JsonRows;
use tessera_engine::score::Weights;
use tessera_engine::store::{Actor, SecretRules, StoreConfig, Upload, Usage, Whole};
use tessera_engine::sync::{Page, Push, SentEmbedding, SentOp, Snapshot};

use crate::recall::send;
use crate::site::{Site, with_site_of};
use crate::sync::create;

pub(crate) fn settings(embedding: SemanticSearch) -> Settings {
    let limits = Limits { key_per_second: 100_000, address_per_second: 100_000, ..Limits::default() };
    let clock = Arc::new(FixedClock("2026-11-20T12:00:00Z".parse::<Timestamp>().unwrap()));
    Settings { embedding, limits, clock, count_uses_every: Duration::from_hours(1), ..Settings::default() }
}

pub(crate) fn nothing() -> Whole {
    Whole { epoch: 1, restored_seq: u64::MAX, head: 0, checkpoint: None, rows: vec![], embeddings: BTreeMap::new() }
}

/// A machine of ada's that begins with this.
pub(crate) fn machine(home: &Path, whole: &Whole) -> Store {
    let clock = settings(SemanticSearch::Kept).clock;
    let config = StoreConfig {
        home: home.into(),
        clock,
        weights: Weights::default(),
        usage: Usage::Serve,
        embedding: true,
        secrets: SecretRules::default(),
    };
    let mut store = Store::open(config).unwrap();
    store.join("http://server", "ada", Upload::All).unwrap();
    store.begin_anew(whole).unwrap();
    store
}

fn embedding_of(text: &str) -> Vec<u8> {
    Embedding::of(&Encoder::shared().passages(&passages_of(text))).into_bytes()
}

/// IDs of a machine's rows that wait.
fn waiting(home: &Path) -> Vec<u32> {
    let database = rusqlite::Connection::open(home.join("tessera.db")).unwrap();
    let mut statement =
        database.prepare("SELECT short_id FROM memories WHERE embedding = x'' AND deleted IS NULL").unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

async fn snapshot(site: &Site, key: &str) -> Snapshot {
    serde_json::from_value(Site::ok(site.get(key, "/v1/sync/snapshot").await).await).unwrap()
}

/// Texts on the server with their vectors and the key that they came under.
async fn kept(site: &Site) -> BTreeMap<String, (Vec<u8>, Option<String>)> {
    let sql = "SELECT content, embedding, embedding_key FROM memories WHERE state = 'live'";
    let rows = sqlx::query(sql).fetch_all(&site.admin().await).await.unwrap();
    rows.iter().map(|row| (row.get("content"), (row.get("embedding"), row.get("embedding_key")))).collect()
}

pub(crate) async fn until(mut is_so: impl AsyncFnMut() -> bool) {
    for _ in 0..1_200 {
        if is_so().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it does not come to that");
}

fn id_of(key: &str) -> String {
    key.split('_').nth(1).unwrap().to_owned()
}

#[test]
fn vectors_travel_and_a_new_machine_need_not_make_them() {
    with_site_of(settings(SemanticSearch::Kept), |site| async move {
        let key = site.user("ada").await;
        let dir = tempfile::tempdir().unwrap();
        let (one, two) = (dir.path().join("one"), dir.path().join("two"));
        let mut store = machine(&one, &nothing());
        let texts = ["The crane is serviced in May", "Ferries leave at noon", "The pilot is called Marta"];
        let made: Vec<_> = texts.iter().map(|text| store.remember(Draft::new(*text)).unwrap().memory.id).collect();
        while store.embed_some().unwrap() {}
        send(&site, &key, &mut store).await;
        assert_eq!(store.ops(9).unwrap(), []);
        for (text, (embedding, by)) in kept(&site).await {
            assert_eq!((embedding, by), (embedding_of(&text), Some(id_of(&key))), "{text}");
        }
        let Snapshot { epoch, restored_seq, head, checkpoint, rows, embeddings, .. } = snapshot(&site, &key).await;
        let mut other = machine(&two, &Whole { epoch, restored_seq, head, checkpoint, rows, embeddings });
        assert!(waiting(&two).is_empty() && other.ops(9).unwrap().is_empty());
        // A change of tags leaves the vector and whose word it is; another text waits, and news say so.
        let path = format!("/api/memories/{}", made[0]);
        Site::ok(site.put(&key, &path, "*", &json!({ "tags": "yard" })).await).await;
        assert_eq!(kept(&site).await[texts[0]], (embedding_of(texts[0]), Some(id_of(&key))));
        let patch = Patch { content: Some("Ferries leave at dusk".into()), ..Patch::default() };
        store.update(MemoryRef::Id(made[1]), &patch, &Actor::default()).unwrap();
        send(&site, &key, &mut store).await;
        assert_eq!(kept(&site).await["Ferries leave at dusk"], (Vec::new(), None));
        let stats = Site::ok(site.get(&key, "/api/stats").await).await;
        assert_eq!(stats["awaiting_embedding"], 1, "{stats}");
        let pull = async |store: &mut Store| {
            let cursor = store.server().unwrap().unwrap().cursor;
            let path = format!("/v1/sync/changes?epoch=1&after={cursor}");
            let page: Page = serde_json::from_value(Site::ok(site.get(&key, &path).await).await).unwrap();
            store.arrived(1, cursor, &page).unwrap();
        };
        pull(&mut other).await;
        assert_eq!(waiting(&two).len(), 1);
        // Deleted and brought back, it waits again.
        let path = format!("/api/memories/{}", made[2]);
        Site::ok(site.delete(&key, &path, "*").await).await;
        Site::ok(site.post(&key, &format!("{path}/restore"), &json!({})).await).await;
        assert_eq!(kept(&site).await[texts[2]].0, Vec::<u8>::new());
    });
}

#[test]
fn what_an_older_machine_sends_waits_and_what_cannot_be_a_vector_blocks_nothing() {
    with_site_of(settings(SemanticSearch::Kept), |site| async move {
        let key = site.user("ada").await;
        let text = "The lock is closed at night";
        let [mut odd, mut other] = [create(text), create(text)];
        odd["embedding"] = json!({ "no": "vector" });
        other["embedding"] =
            serde_json::to_value(SentEmbedding::of(&embedding_of(&"It floods. ".repeat(200)))).unwrap();
        let body = json!({ "epoch": 1, "ops": [create(text), odd, other] });
        let answer = Site::ok(site.post(&key, "/v1/sync/push", &body).await).await;
        assert!(answer["answers"].as_array().unwrap().iter().all(|one| one["refused"].is_null()), "{answer}");
        // Sent again with a vector it is the same op, and nothing is made of it.
        let mut again = body["ops"][0].clone();
        again["embedding"] = serde_json::to_value(SentEmbedding::of(&embedding_of(text))).unwrap();
        let answer = Site::ok(site.post(&key, "/v1/sync/push", &json!({ "epoch": 1, "ops": [again] })).await).await;
        assert_eq!(answer["answers"][0]["refused"], Value::Null, "{answer}");
        let stats = Site::ok(site.get(&key, "/api/stats").await).await;
        assert_eq!((&stats["awaiting_embedding"], &stats["total_memories"]), (&json!(3), &json!(3)));
    });
}

#[test]
fn nobody_else_goes_by_what_a_machine_sent_until_it_was_made_here() {
    with_site_of(settings(SemanticSearch::Kept), |site| async move {
        let (ada, bob) = (site.user("ada").await, site.user("bob").await);
        let dir = tempfile::tempdir().unwrap();
        let mut store = machine(&dir.path().join("one"), &nothing());
        let memory = store.remember(Draft::new("The crane is serviced in May")).unwrap().memory.id;
        while store.embed_some().unwrap() {}
        send(&site, &ada, &mut store).await;
        let share = json!({ "shared_with": "bob", "permission": "write" });
        Site::ok(site.post(&ada, &format!("/api/memories/{memory}/share"), &share).await).await;
        let (mine, theirs) = (snapshot(&site, &ada).await, snapshot(&site, &bob).await);
        assert_eq!((mine.rows.len(), mine.embeddings.len(), theirs.rows.len(), theirs.embeddings.len()), (1, 1, 1, 0));
        // Another server of the team makes it, and bob's index hears of it though nothing changed.
        let other = site.replica_of(settings(SemanticSearch::On)).await;
        let unchecked = "SELECT count(*) FROM memories WHERE embedding_key IS NOT NULL";
        let pool = site.admin().await;
        until(async || sqlx::query_scalar::<_, i64>(unchecked).fetch_one(&pool).await.unwrap() == 0).await;
        assert_eq!(snapshot(&site, &bob).await.embeddings.len(), 1);
        drop(other);
        // A text that bob wrote is not taken with bob's vector: ada goes by the server's.
        let row = &snapshot(&site, &bob).await.rows[0].row;
        let edit = json!({ "content": "The crane is gone", "tags_added": [], "tags_removed": [], "details": null });
        let op = json!({ "op_id": MemoryUuid::from_key("edit"), "memory": memory, "base_rev": row.rev,
            "at": "2026-11-20T12:00:00Z", "action": { "edit": edit },
            "embedding": SentEmbedding::of(&embedding_of("The crane is gone")) });
        let answer = Site::ok(site.post(&bob, "/v1/sync/push", &json!({ "epoch": 1, "ops": [op] })).await).await;
        assert_eq!(answer["answers"][0]["refused"], Value::Null, "{answer}");
        until(async || kept(&site).await.contains_key("The crane is gone")).await;
        // As a server of before changes a text.
        sqlx::query("UPDATE memories SET content = 'The crane is back', rev = rev + 1, content_rev = rev + 1")
            .execute(&pool)
            .await
            .unwrap();
        assert!(snapshot(&site, &ada).await.embeddings.is_empty(), "it is of another text");
    });
}

/// Sends texts with what another text means; gives their ids.
async fn send_wrong(site: &Site, key: &str, texts: &[&str]) -> Vec<MemoryUuid> {
    let wrong = SentEmbedding::of(&embedding_of("Whales sing in winter"));
    let op = |text: &&str| SentOp { embedding: wrong.clone(), ..serde_json::from_value(create(text)).unwrap() };
    let ops: Vec<SentOp> = texts.iter().map(op).collect();
    let ids = ops.iter().map(|sent| sent.op.memory).collect();
    let push = serde_json::to_value(Push { epoch: 1, ops }).unwrap();
    assert_eq!(site.post(key, "/v1/sync/push", &push).await.status(), StatusCode::OK);
    ids
}

#[test]
fn a_machine_whose_vectors_are_wrong_is_not_believed_any_more() {
    with_site_of(settings(SemanticSearch::On), |site| async move {
        let (ada, other, _) = (site.user("ada").await, site.key("ada").await, site.user("bob").await);
        let dir = tempfile::tempdir().unwrap();
        let mut store = machine(&dir.path().join("one"), &nothing());
        store.remember(Draft::new("The tide gauge is right")).unwrap();
        while store.embed_some().unwrap() {}
        send(&site, &other, &mut store).await;
        let ids = send_wrong(&site, &ada, &["The crane is red", "The ferry is late", "The pilot is ill"]).await;
        let head = snapshot(&site, &ada).await.head;
        // What others see is checked; that one is wrong is enough.
        let share = json!({ "shared_with": "bob", "permission": "read" });
        Site::ok(site.post(&ada, &format!("/api/memories/{}/share", ids[0]), &share).await).await;
        let distrusted = "SELECT key_id FROM api_keys WHERE distrusted IS NOT NULL";
        let pool = site.admin().await;
        let keys = async || sqlx::query_scalar::<_, String>(distrusted).fetch_all(&pool).await.unwrap();
        until(async || keys().await == [id_of(&ada)]).await;
        let is_right = async || kept(&site).await.iter().all(|(text, (embedding, _))| *embedding == embedding_of(text));
        until(is_right).await;
        let by: Vec<Option<String>> = kept(&site).await.into_values().filter_map(|(_, by)| by.map(Some)).collect();
        assert!(by.iter().all(|by| *by == Some(id_of(&other))), "{by:?}");
        // Indexes hear of what was wrong, by news that change nothing.
        let path = format!("/v1/sync/changes?epoch=1&after={head}");
        let page: Page = serde_json::from_value(Site::ok(site.get(&ada, &path).await).await).unwrap();
        let told: Vec<MemoryUuid> = page.news.iter().map(|news| news.memory).collect();
        assert!(ids.iter().all(|id| told.contains(id)), "{told:?}");
        // Later ones are not taken; the machine goes on otherwise, and so do the user's others.
        send_wrong(&site, &ada, &["The mole is wet"]).await;
        assert!(kept(&site).await["The mole is wet"].1.is_none());
        until(is_right).await;
        store.remember(Draft::new("The jetty is new")).unwrap();
        while store.embed_some().unwrap() {}
        send(&site, &other, &mut store).await;
        assert_eq!(keys().await.len(), 1);
        let metrics = metrics_text();
        for name in
            ["tessera_keys_distrusted_total", "tessera_embeddings_made_total", "tessera_embeddings_refused_total"]
        {
            assert!(metrics.contains(name), "{metrics}");
        }
    });
}

#[test]
fn what_waits_is_made_though_nobody_sends_it_and_the_next_questions_go_by_it() {
    with_site_of(settings(SemanticSearch::Kept), |site| async move {
        let key = site.user("ada").await;
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("one");
        let mut store = machine(&home, &nothing());
        for text in [
            "The cat naps on the windowsill",
            "Lorries unload at gate four",
            "The crane is red",
            "A loan is due in May",
        ] {
            store.remember(Draft::new(text)).unwrap();
        }
        send(&site, &key, &mut store).await;
        let request =
            RecallRequest { budget: 2_000.try_into().unwrap(), ..RecallRequest::new("where does the kitten sleep?") };
        let here = |store: &mut Store| {
            let ranking = store.rank(&request).unwrap();
            store.answer_json(&request, &ranking, JsonRows::default()).unwrap().body
        };
        let asked = json!({ "context": request.query, "max_tokens": 2_000 });
        let there = async |site: &Site| site.post(&key, "/api/memories/recall", &asked).await.text().await.unwrap();
        let before = here(&mut store);
        assert_eq!(there(&site).await, before);
        while store.embed_some().unwrap() {}
        let after = here(&mut store);
        assert_ne!(before, after, "the question says it in other words");
        // Another server makes them; neither is told by a feed.
        let other = site.replica_of(settings(SemanticSearch::On)).await;
        until(async || there(&other).await == after).await;
        until(async || there(&site).await == after).await;
        let off = site.replica_of(settings(SemanticSearch::Off)).await;
        assert_eq!(there(&off).await, before, "as if there were none");
    });
}

#[test]
fn another_encoders_vectors_are_not_gone_by_and_only_older_ones_are_made_again() {
    with_site_of(settings(SemanticSearch::Kept), |site| async move {
        let key = site.user("ada").await;
        let texts = ["The crane is red", "The ferry is late"];
        for text in texts {
            Site::ok(site.post(&key, "/api/memories", &json!({ "content": text })).await).await;
        }
        let pool = site.admin().await;
        for (text, version) in texts.iter().zip([0_u8, 200]) {
            let mut embedding = embedding_of(text);
            embedding[0] = version;
            let sql = "UPDATE memories SET embedding = $1, embedding_rev = content_rev WHERE content = $2";
            sqlx::query(sql).bind(embedding).bind(text).execute(&pool).await.unwrap();
        }
        assert!(snapshot(&site, &key).await.embeddings.is_empty());
        assert_eq!(Site::ok(site.get(&key, "/api/stats").await).await["awaiting_embedding"], 1);
        let other = site.replica_of(settings(SemanticSearch::On)).await;
        until(async || kept(&site).await[texts[0]].0 == embedding_of(texts[0])).await;
        until(async || Site::ok(other.get(&key, "/api/stats").await).await["awaiting_embedding"] == 0).await;
        assert_eq!(kept(&site).await[texts[1]].0[0], 200, "a newer server's");
    });
}
