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
    prop_oneof![Just(Packing::Dual), Just(Packing::Details)]
}

proptest! {
    #[test]
    fn the_budget_is_never_exceeded_and_every_item_is_shown_once(
        mut items in prop::collection::vec(item(), 0..60), budget in 10..3000_u32, packing in packing(),
    ) {
        items.sort_by(|a, b| b.score.total_cmp(&a.score));
        let cut = |_: usize, room: u32| (room > 50).then_some(50);
        let chosen = select(&items, TokenCount(budget), packing, &Plain, &Weights::default(), cut);
        let cost: u32 = chosen.details.iter().map(|at| items[*at].detail).sum::<u32>()
            + chosen.excerpts.iter().map(|(_, tokens)| tokens).sum::<u32>()
            + chosen.index.iter().map(|at| items[*at].index).sum::<u32>()
            + chosen.bare.iter().map(|at| items[*at].bare).sum::<u32>()
            + if chosen.bare.is_empty() { 0 } else { 2 };
        prop_assert_eq!(cost, chosen.tokens);
        prop_assert!(chosen.tokens + 10 <= budget);
        let mut shown: Vec<usize> = chosen.details.iter().chain(&chosen.index).chain(&chosen.bare).copied()
            .chain(chosen.excerpts.iter().map(|(at, _)| *at)).collect();
        shown.sort_unstable();
        prop_assert!(shown.windows(2).all(|pair| pair[0] < pair[1]));
        prop_assert!(shown.iter().all(|at| !items[*at].is_duplicate));
    }

    #[test]
    fn everything_is_given_in_full_when_it_fits(items in prop::collection::vec(item(), 0..30), packing in packing()) {
        let chosen = select(&items, TokenCount(100_000), packing, &Plain, &Weights::default(), |_, _| None);
        let wanted: Vec<usize> = (0..items.len()).filter(|at| !items[*at].is_duplicate).collect();
        prop_assert_eq!(chosen.details, wanted);
    }
}

#[test]
fn a_budget_too_small_for_one_detail_still_gives_an_index() {
    let item = Item { score: 0.5, detail: 300, index: 20, bare: 3, is_duplicate: false, can_be_cut: false };
    let chosen = select(&[item; 4], TokenCount(60), Packing::Dual, &Plain, &Weights::default(), |_, _| None);
    assert_eq!((chosen.details.len(), chosen.index.len(), chosen.bare.len()), (0, 2, 2));
}

#[test]
fn a_long_text_that_blocks_everything_is_cut() {
    let long = Item { score: 0.9, detail: 900, index: 20, bare: 3, is_duplicate: false, can_be_cut: true };
    let short = Item { score: 0.5, detail: 40, ..long };
    let chosen = select(&[long, short], TokenCount(400), Packing::Dual, &Plain, &Weights::default(), |at, room| {
        (at == 0).then_some(room / 2)
    });
    assert_eq!((chosen.details, chosen.excerpts.len()), (vec![1], 1));
}
