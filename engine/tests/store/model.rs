//! A store against a plain model of it: random sequences of changes, after which both say the same.
//!
//! Three machines and a server are in `tests/sync`; deaths in the middle of a command in the program's own `killed` tests.

#![expect(clippy::indexing_slicing, reason = "a test may: the model has what its numbers name")]

use std::collections::BTreeSet;

use tessera_engine::Store;
use tessera_engine::domain::{Draft, Importance, LinkKind, MemoryRef, Patch, RecallRequest};
use tessera_engine::store::{Actor, Erase, ImportAs, ListRequest, StoreError};

use crate::support::{Home, listed, named};

const NOW: &str = "2028-01-20T11:00:00Z";
/// Steps of one sequence, and sequences: ten thousand steps. The encoder reads every new text.
const STEPS: usize = 200;
const SEQUENCES: u64 = 50;
/// Sequences that found a fault once.
const FOUND: [u64; 3] = [0, 1, 242];

/// What a memory is to be.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    text: String,
    /// The word that no other memory has.
    word: String,
    importance: u8,
    is_alive: bool,
    is_purged: bool,
    import: Option<u32>,
}

/// What a store is to be: memories by their number less one, and links from one to another.
#[derive(Default)]
struct Model {
    rows: Vec<Row>,
    links: BTreeSet<(usize, LinkKind, usize)>,
    imports: u32,
    words: u32,
}

impl Model {
    fn fresh(&mut self) -> (String, String) {
        self.words += 1;
        let word = format!("zq{}x", self.words);
        (format!("The crane {word} stands on the quay of the harbour"), word)
    }

    fn add(&mut self, text: String, word: String, importance: u8, import: Option<u32>) {
        self.rows.push(Row { text, word, importance, is_alive: true, is_purged: false, import });
    }

    fn some(&self, random: &mut fastrand::Rng, is: impl Fn(&Row) -> bool) -> Option<usize> {
        let fit: Vec<usize> = (0..self.rows.len()).filter(|at| is(&self.rows[*at])).collect();
        (!fit.is_empty()).then(|| fit[random.usize(..fit.len())])
    }

    fn is_replaced(&self, at: usize) -> bool {
        self.links.iter().any(|(by, kind, of)| *kind == LinkKind::Supersedes && *of == at && self.rows[*by].is_alive)
    }
}

/// True where links say, over others or at once, that a memory replaces itself: then either may be the one that holds.
fn is_in_circle(model: &Model, at: usize) -> bool {
    let (mut seen, mut left) = (BTreeSet::new(), vec![at]);
    while let Some(next) = left.pop() {
        let replaced = model.links.iter().filter(|(by, kind, _)| *by == next && *kind == LinkKind::Supersedes);
        for (_, _, of) in replaced {
            if *of == at {
                return true;
            }
            if seen.insert(*of) {
                left.push(*of);
            }
        }
    }
    false
}

fn of_hundred(importance: u8) -> Importance {
    Importance::try_from(f64::from(importance) / 100.0).unwrap()
}

fn short_id(at: usize) -> MemoryRef {
    named(u32::try_from(at + 1).unwrap())
}

/// One change of both.
fn step(model: &mut Model, store: &mut Store, random: &mut fastrand::Rng) {
    let actor = Actor::default();
    let alive = model.some(random, |row| row.is_alive);
    let other = model.some(random, |row| row.is_alive);
    match (random.u8(..20), alive, other) {
        (0..5, ..) | (_, None, _) | (_, _, None) => {
            let (text, word) = model.fresh();
            let importance = random.u8(1..=100);
            let draft = Draft { importance: Some(of_hundred(importance)), ..Draft::new(&text) };
            assert!(!store.remember(draft).unwrap().existed);
            model.add(text, word, importance, None);
        }
        (5, Some(at), _) if !model.is_replaced(at) && !is_in_circle(model, at) => {
            let again = store.remember(Draft::new(&model.rows[at].text)).unwrap();
            assert!(again.existed && MemoryRef::ShortId(again.memory.short_id) == short_id(at), "said again");
        }
        (6..8, Some(at), _) => {
            let (text, word) = model.fresh();
            store.update(short_id(at), &Patch { content: Some(text.clone()), ..Patch::default() }, &actor).unwrap();
            (model.rows[at].text, model.rows[at].word) = (text, word);
        }
        (8, Some(at), _) => {
            let importance = random.u8(1..=100);
            let patch = Patch { importance: Some(of_hundred(importance)), ..Patch::default() };
            store.update(short_id(at), &patch, &actor).unwrap();
            model.rows[at].importance = importance;
        }
        (9..13, Some(by), Some(of)) => link(model, store, random, (by, of)),
        (13..18, Some(one), Some(two)) => remove(model, store, random, (one, two)),
        _ => import(model, store, random),
    }
}

/// A link is made or taken away.
fn link(model: &mut Model, store: &mut Store, random: &mut fastrand::Rng, (by, of): (usize, usize)) {
    let actor = Actor::default();
    let is_alive = |at: &usize| model.rows[*at].is_alive;
    let known = model.links.iter().filter(|(by, _, of)| is_alive(by) && is_alive(of));
    let known: Vec<_> = known.cloned().collect();
    if random.u8(..4) == 0 && !known.is_empty() {
        let link = known[random.usize(..known.len())].clone();
        store.unlink(short_id(link.0), &link.1, short_id(link.2), &actor).unwrap();
        model.links.remove(&link);
        return;
    }
    let kind = if random.bool() { LinkKind::Supersedes } else { LinkKind::SeeAlso };
    match store.link(short_id(by), &kind, short_id(of), &actor) {
        Ok(_) => drop(model.links.insert((by, kind, of))),
        Err(StoreError::Conflict { .. }) => assert!(by == of || kind == LinkKind::Supersedes),
        Err(error) => panic!("{error}"),
    }
}

/// Memories are forgotten, permanently deleted, or restored.
fn remove(model: &mut Model, store: &mut Store, random: &mut fastrand::Rng, (one, two): (usize, usize)) {
    let actor = Actor::default();
    match random.u8(..5) {
        0..2 => {
            let all: BTreeSet<usize> = [one, two].into();
            let refs: Vec<MemoryRef> = all.iter().map(|at| short_id(*at)).collect();
            store.forget(&refs, Erase::Soft, &actor).unwrap();
            all.into_iter().for_each(|at| model.rows[at].is_alive = false);
        }
        2 => {
            let Some(at) = model.some(random, |row| !row.is_purged) else { return };
            store.forget(&[short_id(at)], Erase::Hard, &actor).unwrap();
            model.rows[at] = Row { is_alive: false, is_purged: true, ..model.rows[at].clone() };
            model.links.retain(|(by, _, of)| *by != at && *of != at);
        }
        _ => {
            let Some(at) = model.some(random, |row| !row.is_alive && !row.is_purged) else { return };
            store.restore(short_id(at), None, &actor).unwrap();
            model.rows[at].is_alive = true;
        }
    }
}

/// Lines are imported, or an import is taken back.
fn import(model: &mut Model, store: &mut Store, random: &mut fastrand::Rng) {
    let imported = model.some(random, |row| row.import.is_some() && row.is_alive);
    if let Some(n) = imported.filter(|_| random.bool()).and_then(|at| model.rows[at].import) {
        let undone = store.undo_import(n).unwrap();
        let kept: BTreeSet<u32> = undone.kept.iter().map(|short_id| short_id.get()).collect();
        for (short_id, row) in (1..).zip(&mut model.rows).filter(|(_, row)| row.import == Some(n)) {
            row.is_alive &= kept.contains(&short_id);
            row.import = None;
        }
        return;
    }
    model.imports += 1;
    let mut lines = String::new();
    for _ in 0..random.u8(1..4) {
        let (text, word) = model.fresh();
        lines += &format!("{}\n", serde_json::json!({ "content": text, "importance": 0.5 }));
        model.add(text, word, 50, Some(model.imports));
    }
    store.import(&mut lines.as_bytes(), ImportAs::Own, |_| ()).unwrap();
}

/// Both say the same.
fn agree(model: &Model, store: &mut Store, random: &mut fastrand::Rng) {
    for (at, row) in model.rows.iter().enumerate() {
        let memory = store.get(short_id(at)).unwrap();
        assert_eq!(memory.is_none(), row.is_purged, "{row:?}");
        let Some(memory) = memory else { continue };
        assert_eq!((&memory.content, memory.deleted.is_none()), (&row.text, row.is_alive));
        assert_eq!(memory.importance, of_hundred(row.importance));
        let links: BTreeSet<_> = memory.links.iter().map(|link| (link.kind.clone(), link.to)).collect();
        let wanted = model.links.iter().filter(|(by, ..)| *by == at);
        let wanted: BTreeSet<_> =
            wanted.map(|(_, kind, of)| (kind.clone(), store.get(short_id(*of)).unwrap().unwrap().id)).collect();
        assert_eq!(links, wanted, "links of {row:?}");
    }
    let alive = (1..).zip(&model.rows).filter(|(_, row)| row.is_alive).map(|(short_id, _)| short_id);
    let alive: Vec<u32> = alive.collect();
    let shown = listed(store, ListRequest { limit: 200, ..ListRequest::default() });
    assert!(shown.iter().all(|short_id| alive.contains(short_id)), "{shown:?}");
    assert_eq!(shown.len(), alive.len().min(200));
    for _ in 0..3 {
        let Some(at) = model.some(random, |_| true) else { return };
        let row = &model.rows[at];
        let recall = store.recall(&RecallRequest::new(&row.word)).unwrap();
        let found: Vec<u32> = recall.details.iter().map(|detail| detail.memory.short_id.get()).collect();
        let is_found = found.contains(&u32::try_from(at + 1).unwrap());
        if !is_in_circle(model, at) {
            assert_eq!(is_found, row.is_alive && !model.is_replaced(at), "{row:?}: {}", recall.body);
        }
        let dead = found.iter().find(|short_id| !model.rows[**short_id as usize - 1].is_alive);
        assert_eq!(dead, None, "{}", recall.body);
    }
}

fn sequence(seed: u64) {
    let (home, mut random) = (Home::new(), fastrand::Rng::with_seed(seed));
    let (mut model, mut store) = (Model::default(), home.open(NOW));
    for n in 1..=STEPS {
        step(&mut model, &mut store, &mut random);
        if random.u8(..64) == 0 {
            drop(store);
            store = home.open(NOW);
        }
        if n % 50 == 0 {
            agree(&model, &mut store, &mut random);
        }
    }
    assert!(Store::examine(home.config(NOW), false).unwrap().is_good());
}

#[test]
fn a_store_says_what_a_plain_model_says() {
    FOUND.into_iter().for_each(sequence);
    let next = std::sync::atomic::AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    if seed >= SEQUENCES {
                        return;
                    }
                    let done = std::panic::catch_unwind(|| sequence(seed));
                    assert!(done.is_ok(), "sequence {seed} found a fault: keep its number in FOUND");
                }
            });
        }
    });
}
