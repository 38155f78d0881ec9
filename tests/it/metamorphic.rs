//! Questions asked otherwise: what answered a question answers it still when text is pasted before or after it, when it is written
//! otherwise, when the notes were stored in another order, when there is more room, and one page at a time.
//!
//! How many of the questions hold is told for each change: a change of ranking shows in review.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use expect_test::expect;
use tessera_engine::domain::{MemoryRef, MemoryUuid, RecallRequest, ShortId};
use tessera_engine::pack::Recall;
use tessera_engine::score::Weights;
use tessera_eval::{Fixture, FixtureQuery, Scratch};

/// Forty lines of a build, as people paste them.
fn pasted() -> String {
    (1..=40).map(|n| format!("   Compiling crate_{n} v0.{n}.1 (registry `mirror`) in {}.{n}s\n", n * 3)).collect()
}

fn ids(scratch: &Scratch, recall: &Recall) -> BTreeSet<MemoryUuid> {
    let short_ids = recall.details.iter().map(|detail| detail.memory.short_id);
    let short_ids: Vec<ShortId> = short_ids.chain(recall.index.iter().map(|entry| entry.memory.short_id)).collect();
    short_ids.into_iter().map(|short_id| scratch.store.get(MemoryRef::ShortId(short_id)).unwrap().unwrap().id).collect()
}

fn request(query: &FixtureQuery, text: String) -> RecallRequest {
    RecallRequest { budget: 600.try_into().unwrap(), scope: query.scope.clone(), ..RecallRequest::new(text) }
}

/// Every page, one after the other; each memory comes once.
fn paged(scratch: &mut Scratch, first: RecallRequest) -> BTreeSet<MemoryUuid> {
    let (mut all, mut request) = (BTreeSet::new(), RecallRequest { limit: 1, ..first });
    for _ in 0..1_000 {
        let recall = scratch.store.recall(&request).unwrap();
        for id in ids(scratch, &recall) {
            assert!(all.insert(id), "twice: {}", recall.body);
        }
        let Some(next) = recall.next_cursor else { return all };
        request.cursor = Some(next.parse().unwrap());
    }
    panic!("the pages never end");
}

#[test]
fn a_question_asked_otherwise_has_the_same_answer() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/queries.toml");
    let mut fixture = Fixture::read(&path).unwrap();
    let mut scratch = fixture.load(&Weights::default()).unwrap();
    fixture.corpus = fixture.corpus.lines().rev().map(|line| line.to_owned() + "\n").collect();
    let mut reversed = fixture.load(&Weights::default()).unwrap();
    let names = [
        "question, text",
        "text, question",
        "text, question, text",
        "case, white space",
        "another order",
        "more room",
        "pages",
    ];
    let mut held = [0; 7];
    let mut answered = 0;
    for query in &fixture.queries {
        let gold: BTreeSet<MemoryUuid> = query.gold.iter().map(|key| MemoryUuid::from_key(key)).collect();
        let asked = scratch.store.recall(&request(query, query.text.clone())).unwrap();
        let found: BTreeSet<MemoryUuid> = ids(&scratch, &asked).intersection(&gold).copied().collect();
        if found.is_empty() {
            continue;
        }
        answered += 1;
        let (text, paste) = (&query.text, pasted());
        let other = format!("  {}  ", text.to_lowercase().replace(' ', "\n\t "));
        let asked: [(usize, String); 4] = [
            (0, format!("{text}\n\n{paste}")),
            (1, format!("{paste}\n{text}")),
            (2, format!("{paste}\n{text}\n\n{paste}")),
            (3, other),
        ];
        for (at, text) in asked {
            let recall = scratch.store.recall(&request(query, text)).unwrap();
            held[at] += usize::from(!ids(&scratch, &recall).is_disjoint(&found));
        }
        let recall = reversed.store.recall(&request(query, text.clone())).unwrap();
        held[4] += usize::from(!ids(&reversed, &recall).is_disjoint(&found));
        let larger = RecallRequest { budget: 4_000.try_into().unwrap(), ..request(query, text.clone()) };
        let recall = scratch.store.recall(&larger).unwrap();
        held[5] += usize::from(ids(&scratch, &recall).is_superset(&found));
        let all = paged(&mut scratch, larger);
        held[6] += usize::from(all.is_superset(&found));
    }
    let mut told = String::new();
    for (name, held) in names.into_iter().zip(held) {
        writeln!(told, "{name}: {held} of {answered}").unwrap();
    }
    expect![[r"
        question, text: 137 of 142
        text, question: 137 of 142
        text, question, text: 137 of 142
        case, white space: 142 of 142
        another order: 142 of 142
        more room: 142 of 142
        pages: 142 of 142
    "]]
    .assert_eq(&told);
}
