//! Trains the classifier of letters: logistic regression over sequences of letters.

#![expect(clippy::indexing_slicing, reason = "all indices are below the lengths of the arrays")]

use tessera_engine::screen::probable::{BUCKETS, FACTOR_BITS, Table, buckets};

use super::Phrase;
use super::linear::{probability, remaining, shuffled};

/// Passes over all notes.
const PASSES: usize = 30;
/// The first step size; it falls to zero.
const RATE: f32 = 4.0;
/// How much large weights cost.
const PENALTY: f32 = 1e-4;

#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "small numbers")]
pub(super) fn train(table: &mut Table<'_>, phrases: &[Phrase]) {
    let notes: Vec<(Vec<usize>, bool)> =
        phrases.iter().map(|phrase| (buckets(&phrase.text), !phrase.secrets.is_empty())).collect();
    let mut weights = vec![0.0_f32; BUCKETS];
    let mut addend = 0.0_f32;
    let mut seed = 2;
    let steps = PASSES * notes.len();
    let mut step = 0;
    for _ in 0..PASSES {
        for at in shuffled(notes.len(), &mut seed) {
            let (buckets, label) = &notes[at];
            let size = (buckets.len().max(1) as f32).sqrt();
            let logit = buckets.iter().map(|bucket| weights[*bucket]).sum::<f32>() / size + addend;
            let rate = RATE * remaining(step, steps);
            let error = rate * (probability(logit) - f32::from(u8::from(*label)));
            for bucket in buckets {
                weights[*bucket] -= error / size * 0.1 + rate * PENALTY * weights[*bucket];
            }
            addend -= error * 0.01;
            step += 1;
        }
    }
    let most = weights.iter().fold(1e-9_f32, |most, weight| most.max(weight.abs()));
    table.letters = weights.iter().map(|weight| ((weight / most * 127.0).round() as i8).cast_unsigned()).collect();
    table.letters_factor = (most / 127.0 * 1024.0 * (1_u32 << FACTOR_BITS) as f32).min(i32::MAX as f32) as i32;
    table.letters_addend = (addend * 1024.0) as i32;
}
