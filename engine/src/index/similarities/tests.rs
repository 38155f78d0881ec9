//! Nearness is of a row, wherever it stands: all in the snapshot, all in the tail, or some replaced by others.

use std::sync::LazyLock;

use super::*;
use crate::embedding::{ENCODER_VERSION, Encoder};
use crate::index::{Features, ForwardDoc, Identity, Mask, Tail};

static QUESTION: LazyLock<Vector> = LazyLock::new(|| Encoder::shared().question("which port does staging use?"));

/// A row with up to three passages, some of them near the question.
fn row(short_id: u32, random: &mut fastrand::Rng) -> IndexRow {
    let question = QUESTION.to_bytes();
    let mut embedding = vec![ENCODER_VERSION];
    for _ in 0..random.u32(..4) {
        let share = if random.u8(..20) == 0 { 3 } else { random.i32(-2..2) };
        let value = |byte: &u8| {
            let mixed = i32::from(byte.cast_signed()) * share / 4 + random.i32(-40..=40);
            i8::try_from(mixed.clamp(-127, 127)).unwrap()
        };
        let values: Vec<i8> = question[4..].iter().map(value).collect();
        let squares: u32 = values.iter().map(|value| u32::from(value.unsigned_abs()).pow(2)).sum();
        embedding.extend(squares.to_le_bytes());
        embedding.extend(values.iter().map(|value| value.cast_unsigned()));
    }
    let features = Features { short_id, ..Features::default() };
    IndexRow {
        features,
        scope: "global".into(),
        blob: ForwardDoc::default().encode(),
        embedding,
        ..IndexRow::default()
    }
}

/// How near the row of each ID is, with these rows in a snapshot and those in a tail, and what is told of the rest.
fn near(snapshot: &[IndexRow], tail: &[IndexRow], completed: bool) -> Vec<f64> {
    let identity = Identity { store: [0; 16], rev: 1, stamp: [0; 16] };
    let snapshot = Snapshot::open(Snapshot::build(identity, snapshot)).unwrap();
    let mut newer = Tail::scanned();
    tail.iter().for_each(|row| newer.push(row.clone()));
    let mask = Mask::of(Some(&snapshot), &newer);
    let view = IndexView::new(Some(&snapshot), &newer, &mask);
    let mut similarities = view.similarities(&QUESTION);
    if completed {
        view.complete(&mut similarities, &QUESTION, &[view.rows_where(|_| true)]);
    }
    (1..=view.rows())
        .map(|short_id| similarities.of(view.find(short_id).unwrap()).unwrap_or(f64::NEG_INFINITY))
        .collect()
}

fn exact(rows: &[IndexRow]) -> Vec<f64> {
    rows.iter().map(|row| f64::from(nearest(&QUESTION, row))).collect()
}

fn same_wherever_it_stands(rows: &[IndexRow], completed: bool) -> Vec<f64> {
    let mut random = fastrand::Rng::with_seed(3);
    let all = near(rows, &[], completed);
    assert_eq!(near(&[], rows, completed), all, "all in the tail");
    let (older, newer) = rows.split_at(rows.len() / 3);
    assert_eq!(near(older, newer, completed), all, "some in each");
    let stale: Vec<IndexRow> = (1..).zip(rows).map(|(short_id, _)| row(short_id, &mut random)).collect();
    assert_eq!(near(&stale, rows, completed), all, "all replaced");
    let mut both = older.to_vec();
    both.extend_from_slice(&stale[older.len()..]);
    assert_eq!(near(&both, newer, completed), all, "some replaced");
    all
}

#[test]
fn few_rows_are_compared_exactly_wherever_they_stand() {
    let mut random = fastrand::Rng::with_seed(1);
    let rows: Vec<IndexRow> = (1..=200).map(|short_id| row(short_id, &mut random)).collect();
    let all = same_wherever_it_stands(&rows, false);
    assert_eq!(all, exact(&rows));
    assert!(all.iter().any(|near| *near > 0.5) && all.contains(&f64::NEG_INFINITY));
}

#[test]
fn of_many_rows_the_nearest_are_found_by_their_signs_wherever_they_stand() {
    let mut random = fastrand::Rng::with_seed(2);
    let rows: Vec<IndexRow> = (1..=1500).map(|short_id| row(short_id, &mut random)).collect();
    let (found, exact) = (same_wherever_it_stands(&rows, false), exact(&rows));
    assert!(found.iter().zip(&exact).all(|(found, exact)| found.to_bits() == exact.to_bits() || found.abs() < 1e-12));
    let left_out = found.iter().zip(&exact).filter(|(found, exact)| found.to_bits() != exact.to_bits()).count();
    assert!(left_out > 100, "{left_out}");
    let mut nearest: Vec<usize> = (0..rows.len()).collect();
    nearest.sort_by(|a, b| exact[*b].total_cmp(&exact[*a]));
    assert!(nearest[..50].iter().all(|at| found[*at] > 0.0), "the fifty nearest are among them");
    assert_eq!(same_wherever_it_stands(&rows, true), exact, "rows that hold a term are all compared");
}

#[test]
fn a_row_that_waits_is_near_to_nothing() {
    let mut random = fastrand::Rng::with_seed(4);
    let rows: Vec<IndexRow> = (1..=40).map(|short_id| row(short_id, &mut random)).collect();
    let at = exact(&rows).iter().position(|near| *near > 0.0).unwrap();
    let mut waits = rows[at].clone();
    waits.embedding.clear();
    assert!(near(&rows, &[], false)[at] > 0.0 && near(&rows, &[waits], false)[at] <= 0.0);
}
