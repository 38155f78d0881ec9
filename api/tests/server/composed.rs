//! One composer: the same text becomes the same row, whichever store keeps it and however it came there.

use std::collections::BTreeMap;
use std::sync::Arc;

use reqwest::StatusCode;
use rusqlite::Connection;
use serde_json::{Value, json};
use sqlx::Row as _;
use tessera_api::Settings;
use tessera_engine::Store;
use tessera_engine::domain::{
    Draft, FixedClock, Importance, MemoryRef, MemoryType, MemoryUuid, Origin, Patch, Scope, Timestamp,
};
use tessera_engine::score::Weights;
use tessera_engine::store::{Actor, SecretRules, StoreConfig, Usage};

use crate::site::{Site, with_site_of};

fn clock() -> Arc<FixedClock> {
    Arc::new(FixedClock("2026-11-20T12:00:00Z".parse::<Timestamp>().unwrap()))
}

/// The same memory to be stored, as a request and as a draft.
fn memories() -> Vec<(Value, Draft)> {
    let draft = |text: &str| Draft { origin: Origin::Agent, ..Draft::new(text) };
    let plain = "We decided that Mara owns the Billing service";
    let long = format!("The harbour crane is serviced in May.\n\n{}", "It takes a day, says Mara. ".repeat(60));
    vec![
        (json!({ "content": plain }), draft(plain)),
        (json!({ "content": "I prefer `tabs`, always <b>\u{200b}" }), draft("I prefer `tabs`, always <b>\u{200b}")),
        (json!({ "content": "上海的港口 is where Heron runs" }), draft("上海的港口 is where Heron runs")),
        (
            json!({ "content": long, "tags": ["Port", "crane", "port"] }),
            Draft { tags: vec!["port".parse().unwrap(), "crane".parse().unwrap()], ..draft(&long) },
        ),
        (
            json!({ "content": plain, "type": "entity", "category": "facts", "importance": 0.33, "entities": "Harbour, Crane",
                 "keywords": ["boom", "jib"], "scope": "ledger", "session": "s1" }),
            Draft {
                kind: Some(MemoryType::Entity),
                category: Some("facts".parse().unwrap()),
                importance: Some(Importance::from_percent(33)),
                entities: vec!["Harbour".into(), "Crane".into()],
                keywords: vec!["boom".into(), "jib".into()],
                scope: Scope::Project("ledger".into()),
                session: Some("s1".into()),
                ..draft(plain)
            },
        ),
        (
            json!({ "content": plain, "entities": [], "expires": "2027-01-01T00:00:00Z", "created": "2026-01-01T00:00:00Z" }),
            Draft {
                expires: Some("2027-01-01".parse().unwrap()),
                created: Some("2026-01-01".parse().unwrap()),
                ..draft(plain)
            },
        ),
    ]
}

/// The same changes, one after the other.
fn changes() -> Vec<(Value, Patch)> {
    let text = |text: &str| Patch { content: Some(text.into()), ..Patch::default() };
    vec![
        (json!({ "content": "I prefer the Heron exporter, always" }), text("I prefer the Heron exporter, always")),
        (
            json!({ "tags": "port, crane" }),
            Patch { tags: Some(vec!["port".parse().unwrap(), "crane".parse().unwrap()]), ..Patch::default() },
        ),
        (
            json!({ "content": "Falcon is a job runner", "keywords": ["jobs"] }),
            Patch { keywords: Some(vec!["jobs".into()]), ..text("Falcon is a job runner") },
        ),
        (
            json!({ "importance": 0.9, "category": "preferences", "scope": "billing" }),
            Patch {
                importance: Some(Importance::from_percent(90)),
                category: Some("preferences".parse().unwrap()),
                scope: Some(Scope::Project("billing".into())),
                ..Patch::default()
            },
        ),
        (
            json!({ "content": "Jon maintains the Falcon runner", "entities": ["Jon"], "type": "self" }),
            Patch {
                entities: Some(vec!["Jon".into()]),
                kind: Some(MemoryType::Person),
                ..text("Jon maintains the Falcon runner")
            },
        ),
        (json!({ "content": "maybe the runner was renamed?" }), text("maybe the runner was renamed?")),
        (json!({ "entities": [] }), Patch { entities: Some(Vec::new()), ..Patch::default() }),
    ]
}

type Fields = BTreeMap<String, Value>;

/// Every field that both stores keep of a memory.
const SAME: [&str; 15] = [
    "content",
    "summary",
    "category",
    "type",
    "importance",
    "scope",
    "created",
    "expires",
    "origin",
    "session",
    "edited_by",
    "owner_trust",
    "length",
    "signature",
    "keywords",
];

fn here(database: &Connection, id: MemoryUuid) -> Fields {
    let columns = SAME.map(|name| format!("'{name}', {name}")).join(", ");
    let sql = format!(
        "SELECT json_object({columns}, 'entities', entities, 'is_instruction', is_instruction, 'forward', hex(forward),
             'costs', json_array(detail_tokens, index_tokens, json_detail_tokens, json_index_tokens),
             'passages', hex(passages),
             'tags', (SELECT json_group_array(value) FROM (SELECT value FROM json_each(tags) ORDER BY 1)))
         FROM memories WHERE id = ?1"
    );
    let text: String = database.query_row(&sql, [id.as_bytes().as_slice()], |row| row.get(0)).unwrap();
    let mut fields: Fields = serde_json::from_str(&text).unwrap();
    for list in ["keywords", "entities"] {
        let value: Value = serde_json::from_str(fields[list].as_str().unwrap()).unwrap();
        fields.insert(list.into(), value);
    }
    let is_instruction = fields["is_instruction"] == 1;
    fields.insert("is_instruction".into(), is_instruction.into());
    fields
}

async fn there(site: &Site, id: MemoryUuid) -> Fields {
    let columns = SAME.map(|name| format!("'{name}', {name}")).join(", ");
    let sql = format!(
        "SELECT jsonb_build_object({columns}, 'entities', entities, 'is_instruction', is_instruction,
             'forward', upper(encode(forward, 'hex')), 'costs', costs[1:4], 'passages', upper(encode(passages, 'hex')),
             'tags', (SELECT coalesce(jsonb_agg(tag ORDER BY tag COLLATE \"C\"), '[]') FROM unnest(tags) tag))::text AS fields
         FROM memories WHERE id = $1"
    );
    let row = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(uuid::Uuid::from_bytes(*id.as_bytes()));
    let row = row.fetch_one(&site.admin().await).await.unwrap();
    serde_json::from_str(row.get("fields")).unwrap()
}

#[test]
fn the_same_text_becomes_the_same_row_in_both_stores() {
    with_site_of(Settings { clock: clock(), ..Settings::default() }, |site| async move {
        let key = site.user("ada").await;
        let home = tempfile::tempdir().unwrap();
        let config = StoreConfig {
            home: home.path().into(),
            clock: clock(),
            weights: Weights::default(),
            usage: Usage::Write,
            embedding: true,
            secrets: SecretRules::default(),
        };
        let mut store = Store::open(config).unwrap();
        let database = Connection::open(home.path().join("tessera.db")).unwrap();
        for (number, (mut request, draft)) in memories().into_iter().enumerate() {
            let id = MemoryUuid::from_key(&number.to_string());
            request["id"] = json!(id.to_string());
            // What is left out has the older API's defaults; what is null is found out, as a store does.
            for field in ["category", "importance"] {
                request.as_object_mut().unwrap().entry(field).or_insert(Value::Null);
            }
            let draft = Draft { id: Some(id), ..draft };
            store.remember(draft).unwrap();
            Site::ok(site.post(&key, "/api/memories", &request).await).await;
            assert_eq!(there(&site, id).await, here(&database, id), "{request}");
            for (change, patch) in changes() {
                store.update(MemoryRef::Id(id), &patch, &Actor::default()).unwrap();
                Site::ok(site.put(&key, &format!("/api/memories/{id}"), "*", &change).await).await;
                assert_eq!(there(&site, id).await, here(&database, id), "{request}, then {change}");
            }
        }
    });
}

#[test]
fn what_one_store_refuses_the_other_refuses_in_the_same_words() {
    with_site_of(Settings { clock: clock(), ..Settings::default() }, |site| async move {
        let key = site.user("ada").await;
        let home = tempfile::tempdir().unwrap();
        let config = StoreConfig {
            home: home.path().into(),
            clock: clock(),
            weights: Weights::default(),
            usage: Usage::Write,
            embedding: true,
            secrets: SecretRules::default(),
        };
        let mut store = Store::open(config).unwrap();
        let long = "x".repeat(201);
        let drafts = [
            (json!({ "content": " " }), Draft::new(" ")),
            (json!({ "content": "a\0b" }), Draft::new("a\0b")),
            (json!({ "content": "x".repeat(40_000) }), Draft::new("x".repeat(40_000))),
            (json!({ "content": "x", "keywords": [long] }), Draft { keywords: vec![long.clone()], ..Draft::new("x") }),
            (json!({ "content": "x", "session": long }), Draft { session: Some(long.clone()), ..Draft::new("x") }),
        ];
        for (request, draft) in drafts {
            let problem = store.remember(draft).unwrap_err().to_string();
            let response = site.post(&key, "/api/memories", &request).await;
            assert_eq!(response.status(), StatusCode::UNPROCESSABLE_ENTITY);
            let body: Value = response.json().await.unwrap();
            assert_eq!(body["detail"], json!(problem), "{request}");
        }
    });
}

/// What a machine reads off a text by itself is never what a server refuses.
#[test]
fn no_name_that_is_read_off_a_text_is_too_long_to_be_told() {
    for times in 1..60 {
        for word in
            ["Northern Harbour Crane Inspection ", "Heading: Northern-Harbour ", "`code_span` ", "ÄÖÜÄÖÜ ", "a.b.c.d."]
        {
            for name in tessera_engine::enrich::entities(&word.repeat(times)) {
                assert!(name.chars().count() <= tessera_engine::domain::MAX_NAME_CHARS, "{name}");
            }
        }
    }
}
