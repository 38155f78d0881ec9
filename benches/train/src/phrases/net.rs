//! Trains the classifier of pieces: a network with one hidden layer.

#![expect(clippy::indexing_slicing, reason = "all indices are below the lengths of the arrays")]

use tessera_engine::embedding::WIDTH;
use tessera_engine::screen::probable::{FACTOR_BITS, INPUTS, SHAPES, Table, UNITS};

use super::linear::{Adam, probability, random, remaining, shuffled};
use super::{Example, UNIT};

/// Passes over all pieces.
const PASSES: usize = 6;
/// Pieces per step.
const BATCH: usize = 512;
/// The first step size; it falls to zero.
const RATE: f32 = 2e-3;
/// How much large weights cost.
const PENALTY: f32 = 0.2;
/// The share of hidden units that each piece ignores.
const DROPPED: f32 = 0.4;

/// The weights during the training.
struct Net {
    /// For each input, the weights of all units.
    inputs: Vec<f32>,
    addends: Vec<f32>,
    outputs: Vec<f32>,
    addend: Vec<f32>,
}

impl Net {
    #[expect(clippy::cast_precision_loss, reason = "a random number")]
    fn new(seed: &mut u64) -> Self {
        // Sums of uniform numbers are nearly normally distributed.
        let mut normal = |deviation: f32| {
            let sum: f32 = (0..12).map(|_| (random(seed) >> 40) as f32 / (1_u32 << 24) as f32).sum();
            (sum - 6.0) * deviation
        };
        let inputs = (0..INPUTS * UNITS).map(|_| normal(1.0 / (INPUTS as f32).sqrt())).collect();
        let outputs = (0..UNITS).map(|_| normal(1.0 / (UNITS as f32).sqrt())).collect();
        Self { inputs, addends: vec![0.0; UNITS], outputs, addend: vec![-2.0] }
    }
}

/// Visits the parts of a piece's inputs: where they begin, their values, and the worth of 1.
fn each_part(example: &Example, at: usize, mut see: impl FnMut(usize, &[i8], f32)) {
    let pieces = &example.reading.pieces;
    see(3 * WIDTH, &example.reading.mean, UNIT[0]);
    for (part, at) in [Some(at), at.checked_sub(1), Some(at + 1)].into_iter().enumerate() {
        if let Some(piece) = at.and_then(|at| pieces.get(at)) {
            see(part * WIDTH, &piece.row, UNIT[0]);
            see(4 * WIDTH + part * SHAPES, &piece.shape, UNIT[1]);
        }
    }
}

/// The gradient of one step.
struct Gradient {
    inputs: Vec<f32>,
    addends: Vec<f32>,
    outputs: Vec<f32>,
    addend: Vec<f32>,
}

impl Gradient {
    fn new() -> Self {
        Self {
            inputs: vec![0.0; INPUTS * UNITS],
            addends: vec![0.0; UNITS],
            outputs: vec![0.0; UNITS],
            addend: vec![0.0],
        }
    }

    /// Adds the gradient of one piece.
    #[expect(clippy::cast_precision_loss, reason = "a random number")]
    fn add(&mut self, net: &Net, example: &Example, at: usize, seed: &mut u64) {
        let mut sums = [0.0_f32; UNITS];
        sums.copy_from_slice(&net.addends);
        each_part(example, at, |from, values, worth| {
            let rows = net.inputs[from * UNITS..].as_chunks::<UNITS>().0;
            for (value, row) in values.iter().zip(rows).filter(|(value, _)| **value != 0) {
                let value = f32::from(*value) * worth;
                sums.iter_mut().zip(row).for_each(|(sum, weight)| *sum += value * weight);
            }
        });
        let kept = std::array::from_fn::<f32, UNITS, _>(|_| {
            let number = (random(seed) >> 40) as f32 / (1_u32 << 24) as f32;
            if number < DROPPED { 0.0 } else { 1.0 / (1.0 - DROPPED) }
        });
        let logit: f32 = (0..UNITS).map(|unit| sums[unit].max(0.0) * kept[unit] * net.outputs[unit]).sum();
        let label = f32::from(u8::from(example.labels[at]));
        let error = (probability(logit + net.addend[0]) - label) / BATCH as f32;
        let mut errors = [0.0_f32; UNITS];
        for unit in 0..UNITS {
            self.outputs[unit] += error * sums[unit].max(0.0) * kept[unit];
            errors[unit] = if sums[unit] > 0.0 { error * net.outputs[unit] * kept[unit] } else { 0.0 };
            self.addends[unit] += errors[unit];
        }
        self.addend[0] += error;
        each_part(example, at, |from, values, worth| {
            let rows = self.inputs[from * UNITS..].as_chunks_mut::<UNITS>().0;
            for (value, row) in values.iter().zip(rows).filter(|(value, _)| **value != 0) {
                let value = f32::from(*value) * worth;
                row.iter_mut().zip(&errors).for_each(|(sum, error)| *sum += value * error);
            }
        });
    }
}

/// Trains the network, and writes its weights as integers.
pub(super) fn train(table: &mut Table<'_>, examples: &[Example]) {
    let mut seed = 3;
    let mut net = Net::new(&mut seed);
    let pieces: Vec<(usize, usize)> =
        examples.iter().enumerate().flat_map(|(of, one)| (0..one.labels.len()).map(move |at| (of, at))).collect();
    let mut optimisers = [Adam::new(INPUTS * UNITS), Adam::new(UNITS), Adam::new(UNITS), Adam::new(1)];
    let steps = PASSES * (pieces.len() / BATCH);
    let mut step = 0;
    for _ in 0..PASSES {
        for batch in shuffled(pieces.len(), &mut seed).chunks_exact(BATCH) {
            let mut gradient = Gradient::new();
            for &at in batch {
                let (of, piece) = pieces[at];
                gradient.add(&net, &examples[of], piece, &mut seed);
            }
            let rate = RATE * remaining(step, steps);
            let [inputs, addends, outputs, addend] = &mut optimisers;
            inputs.step(&mut net.inputs, &gradient.inputs, rate, PENALTY);
            addends.step(&mut net.addends, &gradient.addends, rate, 0.0);
            outputs.step(&mut net.outputs, &gradient.outputs, rate, 0.0);
            addend.step(&mut net.addend, &gradient.addend, rate, 0.0);
            step += 1;
        }
    }
    write(table, &net);
}

/// Rounds the weights. Each is first multiplied by the worth of its input, because the table stores no worths.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "small numbers")]
fn write(table: &mut Table<'_>, net: &Net) {
    let worth = |at: usize| if at / UNITS < 4 * WIDTH { UNIT[0] } else { UNIT[1] };
    let scaled: Vec<f32> = net.inputs.iter().enumerate().map(|(at, weight)| weight * worth(at)).collect();
    let mut most = [1e-12_f32; UNITS];
    for row in scaled.as_chunks::<UNITS>().0 {
        most.iter_mut().zip(row).for_each(|(most, weight)| *most = most.max(weight.abs()));
    }
    let steps = most.map(|most| most / 127.0);
    let round = |(weight, step): (&f32, &f32)| ((weight / step).round() as i8).cast_unsigned();
    table.inputs = scaled
        .as_chunks::<UNITS>()
        .0
        .iter()
        .map(|row| {
            let mut rounded = [0; UNITS];
            rounded.iter_mut().zip(row.iter().zip(&steps)).for_each(|(slot, pair)| *slot = round(pair));
            rounded
        })
        .collect();
    table.addends =
        net.addends.iter().zip(&steps).map(|(addend, step)| ((addend / step).round() as i32).to_le_bytes()).collect();
    let factor =
        |(output, step): (&f32, &f32)| ((output * step * 1024.0 * (1_u32 << FACTOR_BITS) as f32) as i32).to_le_bytes();
    table.factors = net.outputs.iter().zip(&steps).map(factor).collect();
    table.addend = (net.addend[0] * 1024.0) as i32;
}
