//! Three ways to the same ranking: a cold reader, a warm reader with a tail, and a rebuilt snapshot,
//! checked against a slow scorer over the texts, and against SQLite FTS5 for who matches at all.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::too_many_lines, reason = "a test may")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use tessera_engine::Store;
use tessera_engine::domain::{
    Category, Draft, FixedClock, Importance, MAX_LIMIT, Memory, MemoryRef, Origin, Patch, RecallRequest, ShortId, Tag,
    Timestamp,
};
use tessera_engine::score::Weights;
use tessera_engine::store::{Actor, Erase, ListRequest, SecretRules, StoreConfig, Usage};
use tessera_engine::text::{TokenKind, tokenize};

const WORDS: [&str; 26] = [
    "alpha",
    "beta",
    "gamma",
    "delta",
    "server",
    "cache",
    "index",
    "token",
    "budget",
    "memory",
    "the",
    "is",
    "snake_case",
    "camelCase",
    "src/main.rs",
    "v2.1",
    "Mara",
    "Bob",
    "東京",
    "上海机房",
    "кот",
    "🚀",
    "C++",
    "deploys",
    "db",
    "database",
];

/// Words of the list and their other names, as terms.
const NAMES: [(&str, &str); 2] = [("db", "databas"), ("databas", "db")];

#[derive(Debug, Clone)]
enum Step {
    Insert { words: Vec<usize>, tags: Vec<usize>, session: Option<u8>, importance: u8 },
    Update { which: usize, words: Vec<usize> },
    Delete { which: usize, hard: bool },
    Restore { which: usize },
    Rebuild,
}

fn words() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0..WORDS.len(), 1..12)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (words(), prop::collection::vec(0..10_usize, 0..3), prop::option::of(0..2_u8), 0..=100_u8)
            .prop_map(|(words, tags, session, importance)| Step::Insert { words, tags, session, importance }),
        2 => (any::<usize>(), words()).prop_map(|(which, words)| Step::Update { which, words }),
        2 => (any::<usize>(), any::<bool>()).prop_map(|(which, hard)| Step::Delete { which, hard }),
        1 => any::<usize>().prop_map(|which| Step::Restore { which }),
        1 => Just(Step::Rebuild),
    ]
}

fn text(words: &[usize]) -> String {
    words.iter().map(|at| WORDS[*at]).collect::<Vec<_>>().join(" ")
}

fn now() -> Timestamp {
    "2026-11-20".parse().unwrap()
}

fn weights() -> Weights {
    // Near spellings and meanings are a search of their own, some words weigh less, and the floor hides matches: they
    // are tested elsewhere.
    Weights { near_words: 0.0, related: 0.0, light: 1.0, everyday: 1.0, floor: 0.0, ..Weights::default() }
}

fn open(home: &std::path::Path, usage: Usage) -> Store {
    let clock = Arc::new(FixedClock(now()));
    Store::open(StoreConfig {
        home: home.into(),
        clock,
        weights: weights(),
        usage,
        embedding: true,
        secrets: SecretRules::default(),
    })
    .unwrap()
}

fn apply(store: &mut Store, step: &Step, short_ids: &mut Vec<ShortId>) {
    let actor = Actor::default();
    let pick = |which: usize, short_ids: &[ShortId]| {
        short_ids.get(which % short_ids.len().max(1)).map(|h| MemoryRef::ShortId(*h))
    };
    match step {
        Step::Insert { words, tags, session, importance } => {
            let draft = Draft {
                category: Some(Category::default()),
                importance: Some(Importance::from_percent(*importance)),
                tags: tags.iter().map(|at| WORDS[*at].parse::<Tag>().unwrap()).collect(),
                session: session.map(|n| format!("s{n}")),
                origin: if session.is_some() { Origin::Conversation } else { Origin::Import },
                ..Draft::new(text(words))
            };
            short_ids.push(store.remember(draft).unwrap().memory.short_id);
        }
        Step::Update { which, words } => {
            let patch = Patch { content: Some(text(words)), ..Patch::default() };
            // A deleted memory refuses; that is part of the history.
            pick(*which, short_ids).map(|at| store.update(at, &patch, &actor));
        }
        Step::Delete { which, hard } => {
            let erase = if *hard { Erase::Hard } else { Erase::Soft };
            pick(*which, short_ids).map(|at| store.forget(&[at], erase, &actor));
        }
        Step::Restore { which } => {
            pick(*which, short_ids).map(|at| store.restore(at, None, &actor));
        }
        Step::Rebuild => store.rebuild_snapshot().unwrap(),
    }
}

fn ranking(store: &mut Store, query: &str) -> Vec<(u32, f64)> {
    let request = RecallRequest { limit: MAX_LIMIT, ..RecallRequest::new(query) };
    let page = store.rank(&request).unwrap().page(&request).unwrap();
    page.iter().map(|ranked| (ranked.short_id.get(), ranked.score)).collect()
}

/// The formula of docs/ARCHITECTURE.md, straight from the texts.
fn naive(store: &Store, query: &str) -> Vec<(u32, f64)> {
    let weights = weights();
    let memories = store.list(&ListRequest { limit: MAX_LIMIT, ..ListRequest::default() }).unwrap().memories;
    let rows = memories.len() as f64;
    let counts = |text: &str| {
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for token in tokenize(text) {
            *counts.entry(token.term).or_default() += 1;
        }
        counts
    };
    let length = |memory: &Memory| {
        tokenize(&memory.content).iter().filter(|t| matches!(t.kind, TokenKind::Word | TokenKind::Pair)).count() as f64
    };
    let mean = (memories.iter().map(length).sum::<f64>() / rows.max(1.0)).max(f64::MIN_POSITIVE);
    let mean = if memories.iter().map(length).sum::<f64>() == 0.0 { 1.0 } else { mean };
    let own = |memory: &Memory, term: &str| {
        let tags: Vec<String> = memory.tags.iter().map(ToString::to_string).chain(memory.entities.clone()).collect();
        let in_tags: u32 = tags.iter().map(|tag| counts(tag).get(term).copied().unwrap_or(0)).sum();
        let in_text = counts(&memory.content).get(term).copied().unwrap_or(0);
        let in_category = counts(memory.category.as_str()).get(term).copied().unwrap_or(0);
        let norm = 1.0 - weights.b + weights.b * length(memory) / mean;
        f64::from(in_text) / norm + weights.tags * f64::from(in_tags) + weights.category * f64::from(in_category)
    };
    let around = |memory: &Memory, term: &str| {
        let mut session: Vec<&Memory> =
            memories.iter().filter(|m| m.session.is_some() && m.session == memory.session).collect();
        session.sort_by_key(|m| (m.created, m.short_id));
        let Some(at) = session.iter().position(|m| m.short_id == memory.short_id) else { return 0.0 };
        let mut sum = 0.0;
        for (distance, weight) in [(1, 25.0), (2, 15.0), (3, 9.0)] {
            for neighbour in
                [at.checked_sub(distance), Some(at + distance)].into_iter().flatten().filter_map(|n| session.get(n))
            {
                let tf = f64::from(counts(&neighbour.content).get(term).copied().unwrap_or(0));
                sum += (weight * tf / (0.25 + 0.75 * length(neighbour) / 20.0)).round();
            }
        }
        weights.context * f64::min(sum, 255.0) / 25.0
    };
    let all = tokenize(query);
    let has_content = all.iter().any(|t| t.kind != TokenKind::Stop);
    let mut terms: BTreeMap<String, (f64, bool)> = BTreeMap::new();
    for token in &all {
        let paired = all.iter().any(|t| t.kind == TokenKind::Pair && t.word == token.word);
        if (token.kind == TokenKind::Stop && has_content) || (token.kind == TokenKind::Single && paired) {
            continue;
        }
        let weight = if token.kind == TokenKind::Compound { weights.compounds } else { 1.0 };
        let known = terms.entry(token.term.clone()).or_insert((weight, false));
        known.0 = known.0.max(weight);
        known.1 |= token.is_name;
    }
    // A word and its other name are as common as both together, and the other name counts where the word is not.
    let df_of = |term: &str| memories.iter().filter(|m| own(m, term) > 0.0).count() as f64;
    let name_of = |term: &str| NAMES.iter().find(|(word, _)| *word == term).map(|(_, name)| *name);
    let names: Vec<(&str, &str)> =
        NAMES.iter().filter(|(word, name)| terms.contains_key(*word) && !terms.contains_key(*name)).copied().collect();
    let mut scored = Vec::new();
    for memory in &memories {
        let (mut evidence, mut is_match) = (0.0, false);
        for (term, (weight, is_name)) in &terms {
            let df = (df_of(term) + name_of(term).map_or(0.0, df_of)).min(rows);
            let idf = (1.0 + (rows - df + 0.5) / (df + 0.5)).ln();
            let (inside, outside) = (own(memory, term), around(memory, term));
            let tf = inside + outside;
            if tf > 0.0 {
                is_match = true;
                evidence += weight * idf * tf * (weights.k1 + 1.0) / (tf + weights.k1);
                if inside > 0.0 && *is_name {
                    evidence += weights.names * (1.0 + rows / df_of(term)).ln();
                }
            }
        }
        for (word, name) in &names {
            let (tf, itself) = (own(memory, name) + around(memory, name), own(memory, word) + around(memory, word));
            is_match |= tf > 0.0;
            if tf > 0.0 && itself == 0.0 {
                let df = (df_of(word) + df_of(name)).min(rows);
                let idf = (1.0 + (rows - df + 0.5) / (df + 0.5)).ln();
                evidence += weights.aliases * idf * tf * (weights.k1 + 1.0) / (tf + weights.k1);
            }
        }
        if is_match {
            let recency = if memory.origin == Origin::Conversation { 0.0 } else { 1.0 };
            let prior = 0.3 * f64::from(memory.importance) + 0.2 * recency;
            let score = evidence * (1.0 + weights.prior * prior / 0.6);
            scored.push((memory.short_id.get(), score / (score + weights.half_score)));
        }
    }
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    scored
}

fn same(found: &[(u32, f64)], expected: &[(u32, f64)]) -> Result<(), TestCaseError> {
    prop_assert_eq!(found.len(), expected.len(), "{:?} {:?}", found, expected);
    for ((_, score), (_, wanted)) in found.iter().zip(expected) {
        prop_assert!((score - wanted).abs() < 1e-9, "{:?} {:?}", found, expected);
    }
    let by_short_id: BTreeMap<u32, f64> = expected.iter().copied().collect();
    for (short_id, score) in found {
        prop_assert!(by_short_id.get(short_id).is_some_and(|wanted| (wanted - score).abs() < 1e-9));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]
    #[test]
    fn every_reader_ranks_as_the_slow_scorer_does(steps in prop::collection::vec(step(), 1..30), query in words()) {
        let dir = tempfile::tempdir().unwrap();
        let mut warm = open(dir.path(), Usage::Serve);
        let mut short_ids = Vec::new();
        let query = text(&query);
        for step in &steps {
            apply(&mut warm, step, &mut short_ids);
            ranking(&mut warm, &query);
        }
        let expected = naive(&warm, &query);
        let found = ranking(&mut warm, &query);
        same(&found, &expected)?;
        let cold = ranking(&mut open(dir.path(), Usage::ReadOnce), &query);
        prop_assert_eq!(&cold, &found, "a cold reader ranks bit for bit the same");
        warm.rebuild_snapshot().unwrap();
        prop_assert_eq!(&ranking(&mut warm, &query), &found);
        prop_assert_eq!(&ranking(&mut open(dir.path(), Usage::ReadOnce), &query), &found);
    }

    #[test]
    fn full_text_search_of_sqlite_finds_the_same_rows(
        rows in prop::collection::vec(prop::collection::vec(0..10_usize, 1..8), 1..20), query in prop::collection::vec(0..10_usize, 1..4),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut store = open(dir.path(), Usage::Serve);
        let fts = rusqlite::Connection::open_in_memory().unwrap();
        fts.execute_batch("CREATE VIRTUAL TABLE notes USING fts5(body, tokenize = 'porter unicode61')").unwrap();
        for words in &rows {
            let stored = store.remember(Draft { origin: Origin::Import, ..Draft::new(text(words)) }).unwrap();
            // The stored text, because words without meaning may look like a secret.
            let row = (stored.memory.short_id.get(), stored.memory.content.as_str());
            fts.execute("INSERT INTO notes (rowid, body) VALUES (?1, ?2)", row).unwrap();
        }
        let quoted: Vec<String> = query.iter().map(|at| format!("\"{}\"", WORDS[*at])).collect();
        let mut statement = fts.prepare("SELECT rowid FROM notes WHERE notes MATCH ?1").unwrap();
        let wanted: BTreeSet<u32> = statement.query_map([quoted.join(" OR ")], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        let found: BTreeSet<u32> = ranking(&mut store, &text(&query)).iter().map(|(short_id, _)| *short_id).collect();
        prop_assert_eq!(found, wanted);
    }
}
