//! Prints figures.
#![expect(clippy::print_stdout, reason = "the figures are the output of the program")]

use tessera_eval::{LifeAnswer, LifeTally};

use crate::pairs::{Label, Pair};

/// Prints the share of updates that is found at several precisions, and the odds at which it is reached. `missed` is
/// the number of updates that were never compared.
pub(crate) fn pairs(name: &str, scored: &[(i32, Pair)], missed: usize) {
    let mut order: Vec<&(i32, Pair)> = scored.iter().collect();
    order.sort_by_key(|(odds, _)| -odds);
    let all = scored.iter().filter(|(_, pair)| pair.label.is_update()).count() + missed;
    let share = |part: usize| part as f64 / all.max(1) as f64;
    let (mut right, mut sum) = (0_usize, 0.0);
    let mut best = [(0.95, 0.0, 0), (0.9, 0.0, 0), (0.8, 0.0, 0), (0.7, 0.0, 0)];
    for (at, (odds, pair)) in order.iter().enumerate() {
        right += usize::from(pair.label.is_update());
        let precision = right as f64 / (at + 1) as f64;
        sum += if pair.label.is_update() { precision } else { 0.0 };
        for (wanted, recall, from) in &mut best {
            if precision >= *wanted {
                (*recall, *from) = (share(right), *odds);
            }
        }
    }
    let look_alikes = scored.iter().filter(|(odds, pair)| pair.label == Label::LookAlike && *odds > 0).count();
    let best: Vec<String> =
        best.iter().map(|(wanted, recall, odds)| format!("{recall:.2} at {wanted} (odds {odds})")).collect();
    println!(
        "{name:6} {all:4} updates, {missed} not compared, {:6} pairs, average precision {:.3}, found {}, look-alikes {look_alikes}",
        scored.len(),
        sum / all.max(1) as f64,
        best.join(", "),
    );
}

/// Prints the figures of each group of questions.
pub(crate) fn answers(name: &str, answers: &[LifeAnswer]) {
    println!("== {name}");
    for (group, tally) in LifeTally::by_group(answers) {
        let share = |part: u32, of: u32| 100.0 * f64::from(part) / f64::from(of.max(1));
        let asked = f64::from(tally.asked.max(1));
        if tally.asked == 0 {
            println!("{group:17} {:4}  quiet {}  unsure {}", tally.unanswerable, tally.quiet, tally.unsure);
            continue;
        }
        println!(
            "{group:17} {:4}  first {:5.1}  shown {:5.1}  silent {:4.1}  MRR {:.3}  stale first {:4.1} unmarked {:4.1}  precision {:4.1}  complete {:5.1}  order {:5.1}  unsure {:.0}  tokens {:.0}",
            tally.asked,
            share(tally.first, tally.asked),
            share(tally.shown, tally.asked),
            share(tally.silent, tally.asked),
            tally.reciprocal / asked,
            share(tally.stale_first, tally.with_stale),
            share(tally.stale_unmarked, tally.with_stale),
            share(tally.wanted, tally.rows),
            100.0 * tally.complete / asked,
            100.0 * tally.order / f64::from(tally.ordered.max(1)),
            share(tally.unsure_answers, tally.asked),
            f64::from(tally.tokens) / asked,
        );
    }
}
