//! Pages of one question, while others write between them.

use std::collections::BTreeSet;

use tessera_engine::Store;
use tessera_engine::domain::{Draft, Packing, Patch, RecallRequest, Sort, TokenBudget};
use tessera_engine::store::{Actor, Erase};

use crate::support::{Home, at, named};

const NOW: &str = "2028-01-20T11:00:00Z";
const NOTES: u32 = 40;

/// The pages of a question, of which `between` is told before each but the first.
fn pages(store: &mut Store, packing: Packing, mut between: impl FnMut(&mut Store, &[u32])) -> Vec<u32> {
    let mut request = RecallRequest {
        limit: 10,
        packing,
        budget: TokenBudget::try_from(300).unwrap(),
        ..RecallRequest::new("gateway timeout")
    };
    let mut shown = Vec::new();
    loop {
        let reply = store.recall(&request).unwrap();
        let page: BTreeSet<u32> = reply
            .details
            .iter()
            .map(|detail| detail.memory.short_id.get())
            .chain(reply.index.iter().map(|entry| entry.memory.short_id.get()))
            .collect();
        shown.extend(page);
        let Some(cursor) = reply.next_cursor else { return shown };
        request.cursor = Some(cursor.parse().unwrap());
        between(store, &shown);
    }
}

fn filled() -> (Home, Store) {
    let home = Home::new();
    let mut store = home.open(NOW);
    for number in 1..=NOTES {
        let more = "and what it said about retries ".repeat((number as usize * 7) % 5);
        let created = Some(at(NOW).plus_days(i64::from(number) - 100));
        let said = format!("Gateway {number} has a timeout of {number} seconds {more}");
        store.remember(Draft { created, ..Draft::new(said) }).unwrap();
    }
    (home, store)
}

#[test]
fn nothing_is_lost_or_repeated_whatever_others_write() {
    for packing in [Packing::Dual, Packing::All] {
        let (_home, mut store) = filled();
        let mut made = 0;
        let shown = pages(&mut store, packing, |store, shown| {
            // Uses of what was shown lift it; new matches, edits and deletions of what was shown move ranks.
            store.fold_accesses().unwrap();
            for _ in 0..3 {
                store.note_uses(shown.iter().map(|short_id| (short_id_of(*short_id), store.now())));
            }
            store.fold_accesses().unwrap();
            made += 1;
            store.remember(Draft::new(format!("Gateway timeout gateway timeout {made}"))).unwrap();
            store.remember(Draft::new(format!("Nothing of that kind {made}"))).unwrap();
            let patch = Patch { content: Some("Gateway timeout: seconds".into()), ..Patch::default() };
            store.update(named(shown[0]), &patch, &Actor::default()).unwrap();
            if let Some(gone) = shown.get(made * 3) {
                store.forget(&[named(*gone)], Erase::Soft, &Actor::default()).unwrap();
            }
        });
        let mut old: Vec<u32> = shown.iter().copied().filter(|short_id| *short_id <= NOTES).collect();
        old.sort_unstable();
        assert_eq!(old, (1..=NOTES).collect::<Vec<_>>(), "{packing:?}");
    }
}

#[test]
fn without_writes_all_are_shown_once_and_a_cursor_whose_memory_is_gone_goes_on() {
    let (_home, mut store) = filled();
    let mut shown = pages(&mut store, Packing::Dual, |_, _| ());
    let order = shown.clone();
    shown.sort_unstable();
    assert_eq!(shown, (1..=NOTES).collect::<Vec<_>>());
    let mut forgotten = Vec::new();
    let shown = pages(&mut store, Packing::Dual, |store, shown| {
        // The match with which the next page would begin.
        let next = order.iter().find(|short_id| !shown.contains(short_id) && !forgotten.contains(*short_id));
        if let Some(next) = next {
            store.forget(&[named(*next)], Erase::Soft, &Actor::default()).unwrap();
            forgotten.push(*next);
        }
    });
    let all: BTreeSet<u32> = shown.iter().chain(&forgotten).copied().collect();
    assert_eq!(all.len(), NOTES as usize);
    assert_eq!(shown.len() + forgotten.len(), NOTES as usize);
}

fn short_id_of(number: u32) -> tessera_engine::domain::ShortId {
    number.try_into().unwrap()
}

#[test]
fn a_page_says_truly_whether_more_is_left_and_where_it_leads_is_not_guessed() {
    let (_home, mut store) = filled();
    let mut request = RecallRequest { limit: 5, sort: Sort::Recency, ..RecallRequest::new("gateway timeout") };
    let reply = store.recall(&request).unwrap();
    assert!(reply.has_more);
    request.cursor = Some(reply.next_cursor.unwrap().parse().unwrap());
    // The shown memories and the next one are deleted. The others still appear.
    for gone in [40, 39, 38, 37, 36, 35] {
        store.forget(&[named(gone)], Erase::Soft, &Actor::default()).unwrap();
    }
    let reply = store.recall(&request).unwrap();
    let shown: BTreeSet<u32> = reply.details.iter().map(|detail| detail.memory.short_id.get()).collect();
    assert!(shown.contains(&34) && reply.has_more && reply.next_cursor.is_some(), "{}", reply.body);
    assert!(reply.body.contains("+29 more"), "{}", reply.body);
    // Newer ones come in between: as many are left as there are.
    request.cursor = Some(reply.next_cursor.unwrap().parse().unwrap());
    for n in 0..6 {
        store.remember(Draft::new(format!("Gateway timeout {}", "again ".repeat(n)))).unwrap();
    }
    let reply = store.recall(&request).unwrap();
    assert!(reply.body.contains("+24 more"), "{}", reply.body);
    request.cursor = Some(reply.next_cursor.unwrap().parse().unwrap());
    for gone in (1..=24).rev() {
        store.forget(&[named(gone)], Erase::Soft, &Actor::default()).unwrap();
    }
    let error = store.recall(&request).unwrap_err().to_string();
    assert!(error.contains("omit it to start again"), "{error}");
}
