//! Logistic regression, with the Adam optimiser.

#![expect(clippy::indexing_slicing, reason = "all indices are below the lengths of the arrays")]

use tessera_engine::classifier::odds_ratio;
use tessera_engine::screen::probable::{FACTOR_BITS, TEXT_INPUTS, Table};

use super::{Example, plain};

/// Passes over all examples.
const PASSES: usize = 60;
/// Examples per step.
const BATCH: usize = 64;
/// The first step size; it falls to zero.
const RATE: f32 = 2e-3;
/// How much large weights cost.
const PENALTY: f32 = 1e-3;

/// The state of the Adam optimiser for some weights (Kingma and Ba, 2015, with their constants).
pub(super) struct Adam {
    means: Vec<f32>,
    squares: Vec<f32>,
    steps: i32,
}

impl Adam {
    pub(super) fn new(weights: usize) -> Self {
        Self { means: vec![0.0; weights], squares: vec![0.0; weights], steps: 0 }
    }

    /// Changes the weights against their gradient.
    pub(super) fn step(&mut self, weights: &mut [f32], gradient: &[f32], rate: f32, penalty: f32) {
        self.steps += 1;
        let (mean_share, square_share) = (1.0 - 0.9_f32.powi(self.steps), 1.0 - 0.999_f32.powi(self.steps));
        let moments = self.means.iter_mut().zip(&mut self.squares);
        for ((weight, gradient), (mean, square)) in weights.iter_mut().zip(gradient).zip(moments) {
            *mean = 0.9 * *mean + 0.1 * gradient;
            *square = 0.999 * *square + 0.001 * gradient * gradient;
            *weight -=
                rate * (*mean / mean_share) / ((*square / square_share).sqrt() + 1e-8) + rate * penalty * *weight;
        }
    }
}

/// A shuffled order, the same in each run.
pub(super) fn shuffled(count: usize, seed: &mut u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for at in (1..count).rev() {
        let other = usize::try_from(random(seed) % (at as u64 + 1)).unwrap_or_default();
        order.swap(at, other);
    }
    order
}

/// The next pseudo-random number (SplitMix64, Steele and others 2014).
pub(super) fn random(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *seed;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// The probability that belongs to a logit, with the same bits on every machine.
#[expect(clippy::cast_possible_truncation, reason = "small numbers")]
pub(super) fn probability(logit: f32) -> f32 {
    let odds = odds_ratio((logit * 1024.0) as i32);
    (odds / (1.0 + odds)) as f32
}

/// The part of the training that is finished, as the factor of the rate.
#[expect(clippy::cast_precision_loss, reason = "small numbers")]
pub(super) fn remaining(step: usize, steps: usize) -> f32 {
    1.0 - step as f32 / steps as f32
}

/// Trains the classifier of texts.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "small numbers")]
pub(super) fn train_text(table: &mut Table<'_>, examples: &[Example]) {
    let inputs: Vec<Vec<f32>> = examples
        .iter()
        .map(|one| one.reading.text_inputs().into_iter().enumerate().map(|(at, value)| plain(at, value)).collect())
        .collect();
    let mut weights = vec![0.0_f32; TEXT_INPUTS + 1];
    let mut adam = Adam::new(weights.len());
    let mut seed = 1;
    let steps = PASSES * (examples.len() / BATCH);
    let mut step = 0;
    for _ in 0..PASSES {
        for batch in shuffled(examples.len(), &mut seed).chunks_exact(BATCH) {
            let mut gradient = vec![0.0; weights.len()];
            for &at in batch {
                let logit: f32 = inputs[at].iter().zip(&weights).map(|(input, weight)| input * weight).sum();
                let label = f32::from(u8::from(examples[at].has_secret));
                let error = (probability(logit + weights[TEXT_INPUTS]) - label) / BATCH as f32;
                gradient.iter_mut().zip(&inputs[at]).for_each(|(sum, input)| *sum += error * input);
                gradient[TEXT_INPUTS] += error;
            }
            adam.step(&mut weights, &gradient, RATE * remaining(step, steps), PENALTY * 100.0);
            step += 1;
        }
    }
    let factor = |(at, weight): (usize, &f32)| {
        ((weight * plain(at, 1) * 1024.0 * (1_u32 << FACTOR_BITS) as f32) as i32).to_le_bytes()
    };
    table.text = weights.iter().take(TEXT_INPUTS).enumerate().map(factor).collect();
    table.text_addend = (weights[TEXT_INPUTS] * 1024.0) as i32;
}
