//! The quality gate: what the fixture queries bring back, in which order and at what cost. A change
//! here shows in review; `UPDATE_EXPECT=1 cargo test quality` accepts it.

use std::fmt::Write;
use std::path::Path;

use expect_test::expect_file;
use tessera_engine::domain::{DomainError, MAX_LIMIT, MemoryRef, MemoryUuid, RecallRequest};
use tessera_engine::score::Weights;
use tessera_engine::store::StoreError;
use tessera_eval::{EvalConfig, Fixture, Leg, Ranker, UsageTrace, Vectors};

use crate::support::World;

fn fixture() -> Fixture {
    Fixture::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/queries.toml").as_path()).unwrap()
}

fn words_alone() -> Vectors {
    Vectors { leg: Leg::Off, cache: None }
}

fn counted(text: &str) -> u32 {
    u32::try_from(tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len()).unwrap()
}

#[test]
fn fixture_queries_bring_back_what_they_did() {
    let fixture = fixture();
    let mut scratch = fixture.load(&Weights::default()).unwrap();
    let mut lines = String::new();
    for query in &fixture.queries {
        let request = RecallRequest {
            budget: 300.try_into().unwrap(),
            scope: query.scope.clone(),
            ..RecallRequest::new(&query.text)
        };
        let recall = scratch.store.recall(&request).unwrap();
        let short_ids = |key: &String| {
            let id = MemoryRef::Id(MemoryUuid::from_key(key));
            scratch.store.get(id).unwrap().unwrap().short_id.to_string()
        };
        let gold: Vec<String> = query.gold.iter().map(short_ids).collect();
        let details: Vec<String> = recall.details.iter().map(|d| d.memory.short_id.to_string()).collect();
        let index: Vec<String> = recall.index.iter().map(|e| e.memory.short_id.to_string()).collect();
        let text: String = query.text.chars().take(60).collect::<String>().replace('\n', " ");
        writeln!(
            lines,
            "{} {text:?} wants [{}] gives [{}] lists [{}] of {} for {}",
            query.kind,
            gold.join(" "),
            details.join(" "),
            index.join(" "),
            recall.total_count,
            recall.tokens_used
        )
        .unwrap();
    }
    expect_file!["../../fixtures/quality.txt"].assert_eq(&lines);
}

/// Questions in other words than the notes: how many find their note first, and how many that no note answers stay quiet.
#[test]
fn everyday_questions_find_their_note_and_others_are_met_with_silence() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/everyday/queries.toml");
    let fixture = Fixture::read(&path).unwrap();
    let mut scratch = fixture.load(&Weights::default()).unwrap();
    let (mut first, mut silent, mut asked, mut quiet, mut unanswerable) = (0, 0, 0, 0, 0);
    for query in &fixture.queries {
        let request = RecallRequest { budget: 400.try_into().unwrap(), ..RecallRequest::new(&query.text) };
        let recall = scratch.store.recall(&request).unwrap();
        let is_silent = recall.details.is_empty() && recall.index.is_empty();
        if query.gold.is_empty() {
            unanswerable += 1;
            quiet += u32::from(is_silent);
            continue;
        }
        let is_gold = |short_id| {
            let mut ids = query.gold.iter().map(|key| MemoryRef::Id(MemoryUuid::from_key(key)));
            ids.any(|id| scratch.store.get(id).unwrap().unwrap().short_id == short_id)
        };
        asked += 1;
        silent += u32::from(is_silent);
        first += u32::from(recall.details.first().is_some_and(|detail| is_gold(detail.memory.short_id)));
    }
    assert_eq!((asked, unanswerable), (89, 25));
    assert!(first >= 67, "{first} of {asked} first");
    assert!(silent <= 9, "{silent} of {asked} silent");
    assert!(quiet >= 21, "{quiet} of {unanswerable} quiet");
}

#[test]
fn every_fixture_query_keeps_every_budget() {
    let fixture = fixture();
    let mut scratch = fixture.load(&Weights::default()).unwrap();
    for query in &fixture.queries {
        for budget in [50, 75, 100, 150, 200, 300, 500, 750, 1000, 1500, 2000, 3000, 4000, 5000] {
            let request = RecallRequest {
                budget: budget.try_into().unwrap(),
                limit: MAX_LIMIT,
                ..RecallRequest::new(&query.text)
            };
            let recall = match scratch.store.recall(&request) {
                // From 64 on every question has a reply.
                Err(StoreError::Domain(DomainError::BudgetTooSmall { minimum, .. })) if budget < 64 => {
                    assert!((budget..=64).contains(&minimum), "{}: {minimum}", query.text);
                    continue;
                }
                recall => recall.unwrap(),
            };
            assert_eq!(recall.tokens_used, counted(&recall.body), "{}", query.text);
            assert!(recall.tokens_used <= budget, "{}", query.text);
        }
    }
}

#[test]
fn the_fixture_is_answered_at_least_as_well_as_by_bm25_alone() {
    let fixture = fixture();
    let config = |weights| EvalConfig {
        budgets: vec![500, 1000],
        packing: tessera_engine::domain::Packing::Details,
        weights,
        vectors: words_alone(),
        ranker: Ranker::Tessera,
    };
    let ours = fixture.evaluate(&config(Weights::default())).unwrap();
    let plain = fixture.evaluate(&config(Weights::bm25_alone())).unwrap();
    assert!(ours.report.mrr >= plain.report.mrr, "{} {}", ours.report.mrr, plain.report.mrr);
    assert!(ours.report.recall_at_tokens[&500] >= plain.report.recall_at_tokens[&500]);
    assert!(ours.silent >= 13, "{} of {}", ours.silent, ours.unrelated);
}

#[test]
fn knowing_what_is_in_use_helps_and_harms_nothing_where_it_is_unknown() {
    let fixture = fixture();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/usage.toml");
    let report = UsageTrace::read(&path).unwrap().evaluate(&fixture, &Weights::default(), &words_alone()).unwrap();
    let mrr = |run: &str| report.runs[run].1;
    assert!(mrr("use known") > mrr("without both") + 0.05, "{report:?}");
    assert!(mrr("use known") >= mrr("without recency") && mrr("use known") >= mrr("without frequency"), "{report:?}");
    assert!(mrr("no uses") >= mrr("no uses, without both"), "{report:?}");
}

#[test]
fn prompts_are_answered_to_the_point_or_not_at_all() {
    let world = World::new();
    for (file, fewest_right) in [("prompts.toml", 85), ("prompts-held-out.toml", 80)] {
        let path = format!("{}/fixtures/{file}", env!("CARGO_MANIFEST_DIR"));
        let report = world.json(&["eval", "prompts", &path]);
        let kinds = report["kinds"].as_object().unwrap();
        let sum = |field: &str| kinds.values().map(|kind| kind[field].as_u64().unwrap()).sum::<u64>();
        assert!(sum("given") > 20 && sum("to_the_point") * 100 >= sum("given") * fewest_right, "{file}: {report}");
        assert!(sum("answered") * 100 >= sum("answerable") * 90, "{file}: {report}");
        assert!(kinds.values().all(|kind| kind["most_characters"].as_u64().unwrap() <= 9_500), "{file}");
        for kind in ["chatter", "command", "pasted_unrelated"] {
            let Some(kind) = kinds.get(kind) else { continue };
            assert_eq!((&kind["silent"], &kind["tokens"]), (&kind["prompts"], &0.into()), "{file}: {kind}");
        }
    }
}
