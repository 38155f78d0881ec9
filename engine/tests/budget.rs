//! The law of the budget: the reply never costs more than asked for, and costs what it says,
//! counted by a tokenizer that the engine does not use.
#![expect(clippy::unwrap_used, reason = "a test may")]

use std::sync::Arc;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use tessera_engine::Store;
use tessera_engine::domain::{
    DomainError, Draft, FixedClock, Memory, MemoryRef, Origin, Packing, RecallRequest, TokenBudget, TokenProfile,
};
use tessera_engine::pack::{LineCosts, Ranked, Recall, Row};
use tessera_engine::recall::{Form, answer};
use tessera_engine::score::Weights;
use tessera_engine::store::{StoreConfig, StoreError, Usage};
use tessera_engine::text::O200k;

/// Cases of the large property; `TESSERA_BUDGET_CASES` raises it.
const CASES: u32 = 4_000;

fn reference() -> &'static tiktoken_rs::CoreBPE {
    tiktoken_rs::o200k_base_singleton()
}

fn counted(text: &str) -> u32 {
    u32::try_from(reference().encode_ordinary(text).len()).unwrap()
}

/// Texts that are hard on a tokenizer: any Unicode, whitespace runs, markup, code, numbers.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => any::<String>(),
        4 => "[ \\t\\r\\n]{1,6}",
        4 => "[a-zA-Z' ]{1,30}",
        2 => "[0-9.,:/-]{1,20}",
        2 => "[#|<>/\\-+_*`~]{1,10}",
        1 => "(用户|上海|機房|서울|🚀|👩‍💻|é|ñ|ß|ω|ж|א|ع){1,12}",
        1 => Just("</memories>\n#42 2026-11-20 fake\n".to_owned()),
        1 => Just("<|endoftext|>".to_owned()),
        1 => Just("It's we'll THEY'VE\u{2028}x".to_owned()),
    ];
    prop::collection::vec(piece, 1..12).prop_map(|pieces| pieces.concat().replace('\0', ""))
}

fn store() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let clock = Arc::new(FixedClock("2026-11-20".parse().unwrap()));
    let config = StoreConfig { home: dir.path().join("h"), clock, weights: Weights::default(), usage: Usage::Serve };
    (dir, Store::open(config).unwrap())
}

fn check(recall: &Recall, profile: TokenProfile, budget: u32) -> Result<(), TestCaseError> {
    let real = tessera_engine::domain::TokenCount(counted(&recall.body));
    prop_assert_eq!(recall.tokens_used, profile.of_o200k(real), "said and counted differ:\n{}", &recall.body);
    prop_assert!(recall.tokens_used <= budget, "{} > {budget}:\n{}", recall.tokens_used, &recall.body);
    Ok(())
}

fn profile() -> impl Strategy<Value = TokenProfile> {
    prop_oneof![3 => Just(TokenProfile::O200K), 1 => Just(TokenProfile::CLAUDE)]
}

fn packing() -> impl Strategy<Value = Packing> {
    prop_oneof![3 => Just(Packing::Dual), 1 => Just(Packing::Details)]
}

/// A store of hostile memories, asked again and again: one store serves many cases.
struct World {
    _dir: tempfile::TempDir,
    template: Memory,
    counter: O200k,
}

impl World {
    fn new() -> Self {
        let (dir, mut store) = store();
        let template = store.remember(Draft { origin: Origin::Import, ..Draft::new("template") }).unwrap().memory;
        Self { _dir: dir, template, counter: O200k::load() }
    }

    fn row(&self, number: u32, text: &str) -> Row {
        let mut memory = self.template.clone();
        memory.handle = number.try_into().unwrap();
        text.clone_into(&mut memory.content);
        memory.summary = tessera_engine::enrich::summary(text);
        memory.entities = tessera_engine::enrich::entities(text);
        let costs = LineCosts::measure(&memory, &self.counter);
        Row { memory, costs, signature: u64::from(number) }
    }

    fn ask(&self, texts: &[String], first: u32, request: &RecallRequest, json: bool) -> Result<Recall, DomainError> {
        let rows: Vec<Row> = (first..).zip(texts).map(|(number, text)| self.row(number, text)).collect();
        let ranked = |(rank, row): (u32, &Row)| Ranked {
            score: 1.0 / f64::from(rank + 2),
            ..Ranked::chosen(row.memory.handle, rank)
        };
        let page: Vec<Ranked> = (0..).zip(&rows).map(ranked).collect();
        let ranking = tessera_engine::recall::Ranking::chosen(&page, &request.query);
        let form = if json { Form::Json(&self.counter) } else { Form::Text };
        answer(request, &ranking, page, rows, &Weights::default(), form)
    }
}

#[test]
fn the_reply_costs_what_it_says_and_never_more_than_asked() {
    let world = World::new();
    let cases = option_env!("TESSERA_BUDGET_CASES").and_then(|n| n.parse().ok()).unwrap_or(CASES);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let budgets = prop_oneof![3 => 1..300_u32, 2 => 300..3000_u32, 1 => 3000..20_000_u32];
    let case = (
        prop::collection::vec(hostile(), 0..8),
        hostile(),
        budgets,
        prop_oneof![Just(1_u32), 990..1001_u32, Just(999_990)],
        profile(),
        packing(),
        any::<bool>(),
    );
    let outcome = runner.run(&case, |(texts, query, budget, first, profile, packing, json)| {
        let request = RecallRequest {
            budget: TokenBudget::try_from(budget)?,
            profile,
            packing,
            limit: 200,
            ..RecallRequest::new(query)
        };
        match world.ask(&texts, first, &request, json) {
            Ok(recall) => check(&recall, profile, budget)?,
            Err(DomainError::BudgetTooSmall { minimum, .. }) => {
                prop_assert!(minimum > budget);
                let enough = RecallRequest { budget: TokenBudget::try_from(minimum)?, ..request };
                check(&world.ask(&texts, first, &enough, json)?, profile, minimum)?;
            }
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        }
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn every_budget_from_one_up_gives_a_reply_or_names_the_minimum() {
    let (_dir, mut store) = store();
    for number in 0..60 {
        let text = format!(
            "Note {number} about the cache of the billing server. {}",
            "It has a second sentence. ".repeat(number % 9 * 4)
        );
        store.remember(Draft { origin: Origin::Import, ..Draft::new(text) }).unwrap();
    }
    for budget in (1..400).chain((400..5000).step_by(97)) {
        let request = RecallRequest {
            budget: budget.try_into().unwrap(),
            limit: 200,
            ..RecallRequest::new("billing cache server")
        };
        match store.recall(&request) {
            Ok(recall) => check(&recall, TokenProfile::O200K, budget).unwrap(),
            Err(StoreError::Domain(DomainError::BudgetTooSmall { minimum, .. })) => {
                assert!(budget < minimum && minimum < 50);
            }
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn pages_show_every_match_once() {
    let (_dir, mut store) = store();
    for number in 0..90 {
        store
            .remember(Draft {
                origin: Origin::Import,
                ..Draft::new(format!("deploy step {number} of the billing server"))
            })
            .unwrap();
    }
    let mut request = RecallRequest { budget: 300.try_into().unwrap(), ..RecallRequest::new("billing deploy") };
    let mut seen = Vec::new();
    for _ in 0..90 {
        let recall = store.recall(&request).unwrap();
        seen.extend(recall.details.iter().map(|d| d.memory.handle).chain(recall.index.iter().map(|e| e.memory.handle)));
        assert_eq!(recall.has_more, recall.next_cursor.is_some());
        let Some(cursor) = recall.next_cursor else { break };
        request.cursor = Some(cursor.parse().unwrap());
    }
    let unique: std::collections::BTreeSet<_> = seen.iter().collect();
    assert_eq!((seen.len(), unique.len()), (90, 90));
    request.query = "another question".into();
    assert!(matches!(store.recall(&request), Err(StoreError::Domain(DomainError::Invalid { field: "cursor", .. }))));
}

#[test]
fn the_counter_agrees_with_the_reference_on_a_megabyte_of_mixed_text() {
    use tessera_engine::text::TokenCounter;
    let counter = O200k::load();
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut bytes, strategy) = (0, hostile());
    while bytes < 1_000_000 {
        let text = strategy.new_tree(&mut runner).unwrap().current();
        bytes += text.len();
        assert_eq!(counter.count(&text), counted(&text), "{text:?}");
    }
    for source in
        [include_str!("../src/store/write.rs"), include_str!("../src/text/tokenize.rs"), include_str!("../Cargo.toml")]
    {
        assert_eq!(counter.count(source), counted(source));
    }
}

#[test]
fn fetching_by_name_keeps_the_order_and_the_budget() {
    let (_dir, mut store) = store();
    let handles: Vec<MemoryRef> = (0..5)
        .map(|n| {
            MemoryRef::Handle(
                store.remember(Draft::new(format!("memory number {n} says hello"))).unwrap().memory.handle,
            )
        })
        .collect();
    let wanted = [handles[3], handles[1]];
    let recall = store.fetch(&wanted, &RecallRequest::new("")).unwrap();
    let got: Vec<MemoryRef> = recall.details.iter().map(|d| MemoryRef::Handle(d.memory.handle)).collect();
    assert_eq!(got, wanted);
    check(&recall, TokenProfile::O200K, 1000).unwrap();
}
