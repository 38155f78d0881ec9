//! Properties of packing that hold for any costs and any budget.

use proptest::prelude::*;

use super::*;

struct Plain;
impl Frame for Plain {
    fn envelope(&self) -> u32 {
        10
    }
    fn bare_line(&self) -> Option<u32> {
        Some(2)
    }
}

fn fair(items: &[Item], budget: u32, packing: Packing) -> Bounds {
    Bounds::fair(TokenCount(budget), packing, items, &Plain)
}

fn item() -> impl Strategy<Value = Item> {
    (0.0..1.0_f64, 1..400_u32, 3..40_u32, any::<bool>(), prop::bool::weighted(0.1)).prop_map(
        |(score, detail, index, can_be_cut, is_duplicate)| Item {
            score,
            detail,
            index,
            bare: 3,
            is_duplicate,
            can_be_cut,
        },
    )
}

fn packing() -> impl Strategy<Value = Packing> {
    prop_oneof![Just(Packing::Dual), Just(Packing::Details), Just(Packing::All)]
}

proptest! {
    #[test]
    fn the_budget_is_never_exceeded_and_every_item_is_shown_once(
        mut items in prop::collection::vec(item(), 0..60), budget in 10..3000_u32, packing in packing(),
    ) {
        items.sort_by(|a, b| b.score.total_cmp(&a.score));
        let cut = |_: usize, room: u32| (room > 50).then_some(50);
        let chosen = select(&items, fair(&items, budget, packing), &Plain, &Weights::default(), cut);
        let is_bare = |shown: &Shown| *shown == Shown::Bare;
        let cost: u32 = chosen.iter().zip(&items).map(|(shown, item)| shown.cost(item)).sum::<u32>()
            + if chosen.iter().any(is_bare) { 2 } else { 0 };
        prop_assert!(cost + 10 <= budget);
        prop_assert_eq!(chosen.len(), items.len());
        for (shown, item) in chosen.iter().zip(&items) {
            prop_assert_eq!(*shown == Shown::Duplicate, item.is_duplicate);
        }
    }

    #[test]
    fn none_of_several_gets_more_than_half_unless_all_fit(
        mut items in prop::collection::vec(item(), 2..40), budget in 40..3000_u32, packing in packing(),
    ) {
        items.sort_by(|a, b| b.score.total_cmp(&a.score));
        items[0].is_duplicate = false;
        items[1].is_duplicate = false;
        let cut = |_: usize, room: u32| (room > 30).then_some(room);
        let chosen = select(&items, fair(&items, budget, packing), &Plain, &Weights::default(), cut);
        let is_whole = |(shown, item): (&Shown, &Item)| *shown == Shown::Detail || item.is_duplicate;
        if !chosen.iter().zip(&items).all(is_whole) {
            for (shown, item) in chosen.iter().zip(&items) {
                let is_text = matches!(shown, Shown::Detail | Shown::Excerpt(_));
                prop_assert!(!is_text || shown.cost(item) <= budget / 2, "{shown:?} of {budget}");
            }
        }
    }

    #[test]
    fn everything_is_given_in_full_when_it_fits(items in prop::collection::vec(item(), 0..30), packing in packing()) {
        let chosen = select(&items, fair(&items, 100_000, packing), &Plain, &Weights::default(), |_, _| None);
        let wanted = items.iter().map(|item| if item.is_duplicate { Shown::Duplicate } else { Shown::Detail });
        prop_assert_eq!(chosen, wanted.collect::<Vec<_>>());
    }
}

#[test]
fn a_budget_too_small_for_one_detail_still_gives_an_index() {
    let item = Item { score: 0.5, detail: 300, index: 20, bare: 3, is_duplicate: false, can_be_cut: false };
    let chosen = select(&[item; 4], fair(&[item; 4], 60, Packing::Dual), &Plain, &Weights::default(), |_, _| None);
    assert_eq!(chosen, [Shown::Index, Shown::Index, Shown::Bare, Shown::Bare]);
}

#[test]
fn a_long_text_that_blocks_everything_is_cut() {
    let long = Item { score: 0.9, detail: 900, index: 20, bare: 3, is_duplicate: false, can_be_cut: true };
    let short = Item { score: 0.5, detail: 40, ..long };
    let chosen =
        select(&[long, short], fair(&[long, short], 400, Packing::Dual), &Plain, &Weights::default(), |at, room| {
            (at == 0).then_some(room / 2)
        });
    assert!(matches!(chosen[..], [Shown::Excerpt(_), Shown::Detail]), "{chosen:?}");
}

#[test]
fn the_only_match_may_have_all_and_what_is_named_gets_what_it_needs() {
    let long = Item { score: 0.9, detail: 300, index: 20, bare: 3, is_duplicate: false, can_be_cut: true };
    let short = Item { detail: 200, ..long };
    let shown = |items: &[Item], bounds| select(items, bounds, &Plain, &Weights::default(), |_, room| Some(room));
    let fairly = |items: &[Item]| shown(items, fair(items, 400, Packing::Dual));
    assert_eq!(fairly(&[long]), [Shown::Detail]);
    assert_eq!(fairly(&[long, Item { is_duplicate: true, ..short }]), [Shown::Detail, Shown::Duplicate]);
    assert!(matches!(fairly(&[long, short])[..], [Shown::Excerpt(cut), Shown::Detail] if cut <= 200));
    let unbound = Bounds { most: u32::MAX, ..fair(&[long, short], 400, Packing::Dual) };
    assert!(shown(&[long, short], unbound).contains(&Shown::Detail));
    let short = Item { detail: 50, ..long };
    assert_eq!(fairly(&[long, short]), [Shown::Detail, Shown::Detail], "there is room for all");
}
