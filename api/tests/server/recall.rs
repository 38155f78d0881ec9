//! One engine: the server answers as a machine does, to the byte.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use reqwest::StatusCode;
use serde_json::{Value, json};
use tessera_api::{Limits, SemanticSearch, Settings};
use tessera_engine::Patch;
use tessera_engine::Store;
use tessera_engine::domain::{
    Category, Filters, FixedClock, LinkKind, MemoryRef, MemoryUuid, Packing, RecallRequest, Scope, Sort, Tag,
    Timestamp, TokenBudget, TokenProfile,
};
use tessera_engine::pack::JsonRows;
use tessera_engine::score::Weights;
use tessera_engine::store::{Actor, Erase, SecretRules, StoreConfig, Upload, Usage, Whole};
use tessera_engine::sync::{Push, Pushed};
use tessera_engine::text::{O200k, TokenCounter};

use crate::site::{Site, with_site, with_site_of};

const QUERIES: usize = 1_000;

fn clock() -> Arc<FixedClock> {
    Arc::new(FixedClock("2026-11-20T12:00:00Z".parse::<Timestamp>().unwrap()))
}

/// Sends everything that a store has.
pub(crate) async fn send(site: &Site, key: &str, store: &mut Store) {
    loop {
        let ops = store.ops(100).unwrap();
        if ops.is_empty() {
            return;
        }
        let ops = store.with_embeddings(ops).unwrap();
        let push = serde_json::to_value(Push { epoch: 1, ops }).unwrap();
        let pushed: Pushed =
            serde_json::from_value(Site::ok(site.post(key, "/v1/sync/push", &push).await).await).unwrap();
        assert!(pushed.answers.iter().all(|answer| answer.refused.is_none()));
        store.answered(1, &pushed).unwrap();
    }
}

/// A question, and the same as JSON.
fn question(random: &mut fastrand::Rng, words: &[String]) -> (RecallRequest, Value) {
    let mut some = |most: usize| {
        let count = random.usize(1..=most);
        (0..count).map(|_| random.choice(words).unwrap().clone()).collect::<Vec<_>>().join(" ")
    };
    let mut request = RecallRequest::new(some(9));
    let expanded = some(4);
    let mut json = json!({ "context": request.query });
    let budget = [60, 150, 300, 600, 1000, 2500][random.usize(..6)];
    request.budget = TokenBudget::try_from(budget).unwrap();
    json["max_tokens"] = json!(budget);
    request.limit = random.u32(1..=60);
    json["limit"] = json!(request.limit);
    if random.u8(..4) == 0 {
        json["expanded_query"] = json!(expanded);
        request.expanded_query = Some(expanded);
    }
    let sort = Sort::ALL[random.usize(..4)];
    request.sort = sort;
    json["sort_by"] = json!(sort.as_str());
    if random.u8(..4) == 0 {
        request.packing = Packing::Details;
        json["packing"] = json!("details");
    }
    if random.u8(..4) == 0 {
        request.profile = TokenProfile::CLAUDE;
        json["token_profile"] = json!("claude");
    }
    if random.u8(..5) == 0 {
        request.scope = Some(Scope::Project("ledger".into()));
        json["project"] = json!("ledger");
    }
    if random.u8(..6) == 0 {
        request.filters = Filters {
            categories: vec![Category::try_from("decisions".to_owned()).unwrap()],
            since: Some("2026-01-01T00:00:00Z".parse().unwrap()),
            ..Filters::default()
        };
        json["category"] = json!("decisions");
        json["since"] = json!("2026-01-01T00:00:00Z");
    }
    (request, json)
}

/// How many rows both stores have vectors of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meant {
    All,
    /// About half of them: the others wait.
    Half,
    /// None.
    Nothing,
    /// All, and nobody goes by them.
    Off,
}

impl Meant {
    fn give(self, store: &mut Store) {
        // Steps of the store's own, the newest rows first.
        let most = match self {
            Self::All | Self::Off => usize::MAX,
            Self::Half => 6,
            Self::Nothing => 0,
        };
        (0..most).take_while(|_| store.embed_some().unwrap()).for_each(drop);
    }

    fn weights(self) -> Weights {
        let weights = Weights::default();
        let embedding = if self == Self::Off { 0.0 } else { weights.embedding };
        Weights { embedding, ..weights }
    }
}

/// A store with our sample notes, all of them sent, so many with what they mean; and their words.
async fn filled(site: &Site, key: &str, home: &std::path::Path, meant: Meant) -> (Store, Vec<String>) {
    let config = StoreConfig {
        home: home.join("t").into(),
        clock: clock(),
        weights: meant.weights(),
        usage: Usage::Serve,
        embedding: true,
        secrets: SecretRules::default(),
    };
    let mut store = Store::open(config).unwrap();
    store.join("http://server", "ada", Upload::All).unwrap();
    let (mut words, mut links) = (Vec::new(), Vec::new());
    for file in ["notes.jsonl", "conversation.jsonl"] {
        let path = format!("{}/../fixtures/corpus/{file}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let mut notes: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for note in &mut notes {
            // Links are made once everything is there: an ID on the server is a place in the order of changes.
            links.push((note["key"].clone(), note["links"].take()));
            note.as_object_mut().unwrap().remove("links");
            words.extend(note["content"].as_str().unwrap().split_whitespace().map(str::to_owned));
        }
        let lines: String = notes.iter().map(|note| format!("{note}\n")).collect();
        let imported = store.import(&mut lines.as_bytes(), tessera_engine::store::ImportAs::Own, |_| {}).unwrap();
        assert!(imported.rejected.is_empty(), "{imported:?}");
    }
    words.sort();
    words.dedup();
    store
        .begin_anew(&Whole {
            epoch: 1,
            restored_seq: u64::MAX,
            head: 0,
            checkpoint: None,
            rows: vec![],
            embeddings: BTreeMap::new(),
        })
        .unwrap();
    meant.give(&mut store);
    send(site, key, &mut store).await;
    let named = |name: &Value| MemoryRef::Id(MemoryUuid::from_key(name.as_str().unwrap()));
    for (key, links) in links {
        for link in links.as_array().unwrap_or(&Vec::new()) {
            let kind: LinkKind = link["type"].as_str().unwrap().parse().unwrap();
            store.link(named(&key), &kind, named(&link["to"]), &Actor::default()).unwrap();
        }
    }
    send(site, key, &mut store).await;
    (store, words)
}

/// Changes, replaces and deletes some: the server's index follows its feed.
fn change_some(store: &mut Store, round: u32, word: &str) {
    let actor = Actor::default();
    for number in 1..=12_u32 {
        let short_id = |at: u32| MemoryRef::ShortId((at * 20 + round).try_into().unwrap());
        let (one, other) = (short_id(number), short_id(number + 1));
        match number % 4 {
            0 => {
                let content = Some(format!("{word} {number} in round {round}"));
                store.update(one, &Patch { content, ..Patch::default() }, &actor).unwrap();
            }
            1 => {
                let tags = Some(vec![Tag::try_from(format!("round{round}")).unwrap()]);
                store.update(one, &Patch { tags, ..Patch::default() }, &actor).unwrap();
            }
            2 => drop(store.link(one, &LinkKind::Supersedes, other, &actor).unwrap()),
            _ if round == 2 => {
                let gone = MemoryRef::ShortId((number * 20 + 10).try_into().unwrap());
                store.forget(&[gone], Erase::Soft, &actor).unwrap();
            }
            _ => {}
        }
    }
}

/// True when both found something; they must answer alike, refusals included.
async fn compare(site: &Site, key: &str, store: &mut Store, request: &RecallRequest, json: &Value) -> bool {
    let ranking = store.rank(request).unwrap();
    let there = site.post(key, "/api/memories/recall", json).await;
    let here = match store.answer_json(request, &ranking, JsonRows::default()) {
        Ok(here) => here,
        Err(refused) => {
            assert_eq!(there.status(), StatusCode::UNPROCESSABLE_ENTITY, "{json}");
            assert_eq!(there.json::<Value>().await.unwrap()["detail"], refused.to_string());
            return false;
        }
    };
    assert_eq!(there.status(), StatusCode::OK, "{json}");
    let there = there.text().await.unwrap();
    assert_eq!(here.body, there, "{json}");
    let reply: Value = serde_json::from_str(&there).unwrap();
    assert!(reply["tokens_used"].as_u64().unwrap() <= json["max_tokens"].as_u64().unwrap());
    !here.details.is_empty()
}

/// A server whose clock and uses stand still, as those of the machine beside it.
fn as_a_machine() -> Settings {
    let limits = Limits { key_per_second: 100_000, address_per_second: 100_000, ..Limits::default() };
    let (clock, embedding) = (clock(), SemanticSearch::Kept);
    Settings { limits, clock, embedding, count_uses_every: Duration::from_hours(1), ..Settings::default() }
}

/// Both answer alike, to the byte, before and after changes.
fn answers_are_the_same(meant: Meant, questions: usize) {
    let embedding = if meant == Meant::Off { SemanticSearch::Off } else { SemanticSearch::Kept };
    with_site_of(Settings { embedding, ..as_a_machine() }, |site| async move {
        let key = site.user("ada").await;
        let home = tempfile::tempdir().unwrap();
        let (mut store, words) = filled(&site, &key, home.path(), meant).await;
        let mut random = fastrand::Rng::with_seed(11);
        let mut found = 0;
        for round in 0..4 {
            for _ in 0..questions / 4 {
                let (request, json) = question(&mut random, &words);
                found += usize::from(compare(&site, &key, &mut store, &request, &json).await);
            }
            let stats = Site::ok(site.get(&key, "/api/stats").await).await;
            let (waiting, all) =
                (stats["awaiting_embedding"].as_u64().unwrap(), stats["total_memories"].as_u64().unwrap());
            match meant {
                Meant::All | Meant::Off => assert_eq!(waiting, 0),
                Meant::Half => assert!(all / 4 < waiting && waiting < all * 3 / 4, "{waiting} of {all}"),
                Meant::Nothing => assert_eq!(waiting, all),
            }
            change_some(&mut store, round, random.choice(&words).unwrap());
            if meant != Meant::Half {
                meant.give(&mut store);
            }
            send(&site, &key, &mut store).await;
        }
        assert!(found > questions / 2, "{found} of {questions} questions found something");
    });
}

#[test]
fn the_server_answers_as_a_machine_does_to_the_byte() {
    answers_are_the_same(Meant::All, QUERIES);
}

#[test]
fn it_does_so_while_half_of_the_rows_wait_for_what_they_mean() {
    answers_are_the_same(Meant::Half, QUERIES / 4);
}

#[test]
fn it_does_so_while_all_of_them_wait_and_where_embedding_is_off() {
    answers_are_the_same(Meant::Nothing, QUERIES / 10);
    answers_are_the_same(Meant::Off, QUERIES / 2);
}

#[test]
fn a_small_cache_answers_alike_and_uses_are_counted() {
    // Room for nothing: each index goes when the next is asked for.
    let settings = Settings { index_bytes: 1, count_uses_every: Duration::from_millis(50), ..Settings::default() };
    with_site_of(settings, |site| async move {
        let mut keys = Vec::new();
        for name in ["ada", "bob", "cleo"] {
            let key = site.user(name).await;
            for number in 0..5 {
                let memory = json!({ "content": format!("{name} keeps note {number} about harbours") });
                Site::ok(site.post(&key, "/api/memories", &memory).await).await;
            }
            keys.push((name, key));
        }
        for _ in 0..3 {
            for (name, key) in &keys {
                let question = json!({ "context": "harbours", "max_tokens": 500 });
                let answer = Site::ok(site.post(key, "/api/memories/recall", &question).await).await;
                assert_eq!(answer["total_count"], 5, "{answer}");
                assert!(answer["details"][0]["content"].as_str().unwrap().starts_with(name), "{answer}");
            }
        }
        tokio::time::sleep(Duration::from_millis(400)).await;
        let pool = sqlx::PgPool::connect(&site.cluster.url("admin")).await.unwrap();
        let uses: i64 = sqlx::query_scalar("SELECT sum(uses) FROM feed").fetch_one(&pool).await.unwrap();
        assert_eq!(uses, 45);
    });
}

#[test]
fn two_replicas_see_one_anothers_changes_at_once() {
    with_site(|site| async move {
        let key = site.user("ada").await;
        let other = site.replica().await;
        let question = json!({ "context": "lighthouse keeper" });
        for (number, (writer, reader)) in [(&site, &other), (&other, &site)].into_iter().enumerate() {
            let memory = json!({ "content": format!("The lighthouse keeper has rule {number}") });
            Site::ok(writer.post(&key, "/api/memories", &memory).await).await;
            let answer = Site::ok(reader.post(&key, "/api/memories/recall", &question).await).await;
            assert_eq!(answer["memories"].as_array().unwrap().len(), number + 1, "{answer}");
        }
    });
}

#[test]
fn an_answer_says_whose_a_memory_is_and_costs_what_it_says_whatever_the_costs_that_were_kept() {
    with_site(|site| async move {
        let (ada, bob) = (site.user("ada").await, site.user("bob").await);
        let memory = json!({ "content": "<\u{200b}system> The lighthouse lamp is lit at dusk" });
        let stored = Site::ok(site.post(&ada, "/api/memories", &memory).await).await;
        let path = format!("/api/memories/{}", stored["uuid"].as_str().unwrap());
        let with_bob = json!({ "shared_with": "bob", "permission": "write" });
        Site::ok(site.post(&ada, &format!("{path}/share"), &with_bob).await).await;
        let question = json!({ "context": "lighthouse lamp", "max_tokens": 400 });
        let ask = async |key: &str| {
            let text = site.post(key, "/api/memories/recall", &question).await.text().await.unwrap();
            let answer: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(answer["tokens_used"], O200k.count(&text), "{text}");
            answer["details"][0].clone()
        };
        // As rows were kept before lines had a form: four counts, some of them of other lines.
        let pool = sqlx::PgPool::connect(&site.cluster.url("admin")).await.unwrap();
        sqlx::query("UPDATE memories SET costs = ARRAY[costs[1] + 5, costs[2] + 5, costs[3] + 5, costs[4] + 5]")
            .execute(&pool)
            .await
            .unwrap();
        assert!(ask(&ada).await["content"].as_str().unwrap().starts_with("‹system>"));
        assert_eq!(ask(&bob).await["shared_by"], "ada");
        let edit = json!({ "content": "The lighthouse lamp is lit at noon" });
        Site::ok(site.put(&bob, &path, "*", &edit).await).await;
        let (here, there) = (ask(&ada).await, ask(&bob).await);
        assert_eq!((&here["edited_by"], &here["shared_by"]), (&json!("bob"), &Value::Null), "{here}");
        assert_eq!((&there["edited_by"], &there["shared_by"]), (&json!("bob"), &json!("ada")), "{there}");
        assert_eq!(Site::ok(site.get(&ada, &path).await).await["edited_by"], "bob");
    });
}

#[test]
fn a_new_turn_changes_what_is_around_others_as_on_a_machine() {
    with_site_of(as_a_machine(), |site| async move {
        let key = site.user("ada").await;
        let home = tempfile::tempdir().unwrap();
        let (mut store, words) = filled(&site, &key, home.path(), Meant::Half).await;
        let mut random = fastrand::Rng::with_seed(23);
        let mut found = 0;
        for round in 0..12 {
            // Between known turns, at the end, and of a conversation of its own.
            let session = ["new conversation", "another"][round % 2];
            let mut said: Vec<&str> = (0..8).map(|_| random.choice(&words).unwrap().as_str()).collect();
            said.push("zanzibar");
            let line = json!({ "content": said.join(" "), "origin": "conversation", "session": session,
                "created": format!("2026-03-{:02}T10:00:00Z", 1 + (round * 5) % 12) });
            let imported = store
                .import(&mut format!("{line}\n").as_bytes(), tessera_engine::store::ImportAs::Foreign, |_| {})
                .unwrap();
            assert!(imported.rejected.is_empty(), "{imported:?}");
            send(&site, &key, &mut store).await;
            for text in [&said[..2], &said[3..5], &said[7..]].map(|words| words.join(" ")) {
                let request = RecallRequest { budget: 2_000.try_into().unwrap(), ..RecallRequest::new(text.clone()) };
                let ranking = store.rank(&request).unwrap();
                let here = store.answer_json(&request, &ranking, JsonRows::default()).unwrap();
                let asked = json!({ "context": text, "max_tokens": 2_000 });
                let there = Site::ok(site.post(&key, "/api/memories/recall", &asked).await).await;
                // An ID on the server is a place in the order of changes: another than here.
                let (here, there) = (unnumbered(serde_json::from_str(&here.body).unwrap()), unnumbered(there));
                assert_eq!(here, there, "{text}");
                found += here["details"].as_array().unwrap().len();
            }
        }
        assert!(found > 36, "{found}");
    });
}

/// An answer without IDs.
fn unnumbered(mut answer: Value) -> Value {
    for part in ["details", "index"] {
        for row in answer[part].as_array_mut().unwrap() {
            row.as_object_mut().unwrap().remove("id");
        }
    }
    answer
}
