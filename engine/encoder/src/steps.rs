//! The floating-point calculations of the neural network. They compute each number independently, or add numbers in a
//! fixed order, so that all machines get the same bits. No fused multiply-add is used, and the exponential function is
//! our own.
//!
//! Everything here is inlined into the code of each kind of processor (see `kernels`).

use super::weights::{Bytes4, Norm, WIDTH};

/// The number of partial sums that are computed in parallel.
pub(super) const LANES: usize = 16;

/// Numbers of an attention head.
pub(super) const HEAD: usize = 32;

/// Adding 1.5 · 2^23 to a number rounds it to an integer, which is then in the lowest bits of the result.
const WHOLE: f32 = 12_582_912.0;

#[inline(always)]
fn added_up(lanes: [f32; LANES]) -> f32 {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = lanes;
    let quarter = |a, b, c, d| (a + b) + (c + d);
    quarter(quarter(a, e, i, m), quarter(b, f, j, n), quarter(c, g, k, o), quarter(d, h, l, p))
}

/// The sum of the given numbers. The number of given numbers must be a multiple of [`LANES`].
#[inline(always)]
fn sum(numbers: &[f32]) -> f32 {
    let mut lanes = [0.0; LANES];
    for part in numbers.as_chunks::<LANES>().0 {
        lanes.iter_mut().zip(part).for_each(|(lane, number)| *lane += number);
    }
    added_up(lanes)
}

#[inline(always)]
fn sum_of_squares(numbers: &[f32]) -> f32 {
    let mut lanes = [0.0; LANES];
    for part in numbers.as_chunks::<LANES>().0 {
        lanes.iter_mut().zip(part).for_each(|(lane, number)| *lane += number * number);
    }
    added_up(lanes)
}

/// Returns the largest of the numbers; `least` if all numbers are smaller. The count of the numbers is a multiple of
/// [`LANES`].
#[inline(always)]
fn largest(numbers: &[f32], least: f32) -> f32 {
    let mut lanes = [least; LANES];
    for part in numbers.as_chunks::<LANES>().0 {
        lanes.iter_mut().zip(part).for_each(|(lane, number)| *lane = if *number > *lane { *number } else { *lane });
    }
    lanes.into_iter().fold(least, |largest, lane| if lane > largest { lane } else { largest })
}

/// The exponential function for numbers up to 88; below -87 it is constant. The polynomial is from Cephes.
#[inline(always)]
#[expect(clippy::excessive_precision, reason = "the published constants")]
fn power(of: f32) -> f32 {
    let of = if of < -87.0 { -87.0 } else { of };
    let shifted = of * std::f32::consts::LOG2_E + WHOLE;
    let twos = shifted - WHOLE;
    let rest = of - twos * 0.693_359_375;
    let rest = rest - twos * -2.121_944_40e-4;
    let series = ((((1.987_569_15e-4 * rest + 1.398_199_950_7e-3) * rest + 8.333_451_907_3e-3) * rest
        + 4.166_579_589_4e-2)
        * rest
        + 1.666_666_545_9e-1)
        * rest
        + 5.000_000_120_1e-1;
    let series = series * rest * rest + rest + 1.0;
    series * f32::from_bits(shifted.to_bits().wrapping_sub(WHOLE.to_bits()).wrapping_add(127) << 23)
}

/// The activation between the two matrices of a layer: x · Φ(x). Φ(x) is approximated with formula 7.1.26 of Abramowitz
/// and Stegun.
#[inline(always)]
#[expect(clippy::excessive_precision, reason = "the published constants")]
pub(super) fn gelu(numbers: &mut [f32]) {
    for number in numbers {
        let x = *number;
        let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
        let t = 1.0 / (1.0 + 0.327_591_1 * z);
        let series =
            ((((1.061_405_429 * t - 1.453_152_027) * t + 1.421_413_741) * t - 0.284_496_736) * t + 0.254_829_592) * t;
        let error = 1.0 - series * power(-z * z);
        *number = 0.5 * x * (1.0 + error.copysign(x));
    }
}

/// Normalises each row to mean 0 and variance 1, then scales it with learned factors.
#[inline(always)]
pub(super) fn norm(rows: &mut [f32], norm: &Norm) {
    for row in rows.as_chunks_mut::<WIDTH>().0 {
        let mean = sum(row) / WIDTH as f32;
        row.iter_mut().for_each(|number| *number -= mean);
        let size = 1.0 / (sum_of_squares(row) / WIDTH as f32 + 1e-12).sqrt();
        for ((number, factor), addend) in row.iter_mut().zip(norm.factors).zip(norm.addends) {
            *number = *number * size * f32::from_le_bytes(*factor) + f32::from_le_bytes(*addend);
        }
    }
}

/// Adds numbers to others.
#[inline(always)]
pub(super) fn add(to: &mut [f32], numbers: &[f32]) {
    to.iter_mut().zip(numbers).for_each(|(to, number)| *to += number);
}

/// Rounds the numbers of one input to 13 bits and a sign, and packs two of them into each output number. Returns the
/// value of one unit.
#[inline(always)]
pub(super) fn rounded(numbers: &[f32], halves: &mut Vec<i32>) -> f32 {
    const MOST: f32 = 8191.0;
    let mut lanes = [1e-20_f32; LANES];
    for part in numbers.as_chunks::<LANES>().0 {
        for (lane, number) in lanes.iter_mut().zip(part) {
            let size = number.abs();
            *lane = if size > *lane { size } else { *lane };
        }
    }
    let most = largest(&lanes, 1e-20);
    let factor = MOST / most;
    halves.clear();
    halves.extend(numbers.as_chunks::<2>().0.iter().map(|[low, high]| {
        let (low, high) = ((low * factor + WHOLE).to_bits(), (high * factor + WHOLE).to_bits());
        (low & 0xffff | high << 16).cast_signed()
    }));
    most / MOST
}

/// Calculates a row of results from exact sums.
#[inline(always)]
pub(super) fn scaled<const N: usize>(
    sums: &[i32; N],
    worth: f32,
    scales: &[Bytes4],
    addends: &[Bytes4],
    row: &mut [f32],
) {
    for (((sum, scale), addend), result) in sums.iter().zip(scales).zip(addends).zip(row) {
        *result = *sum as f32 * (f32::from_le_bytes(*scale) * worth) + f32::from_le_bytes(*addend);
    }
}

/// A text's keys and values in one head, and space for the attention weights.
#[derive(Default)]
pub(super) struct Attention {
    /// Word pieces of the text.
    length: usize,
    /// The numbers of [`LANES`] word pieces, transposed: the first number of each piece, then the second number of each
    /// piece, and so on.
    keys: Vec<[[f32; LANES]; HEAD]>,
    values: Vec<[f32; HEAD]>,
    weights: Vec<[f32; LANES]>,
}

impl Attention {
    /// Reads the keys and the values of a text.
    #[inline(always)]
    pub(super) fn look_at<'a>(
        &mut self,
        keys: impl Iterator<Item = &'a [f32; HEAD]>,
        values: impl Iterator<Item = &'a [f32; HEAD]>,
    ) {
        self.values.clear();
        self.values.extend(values);
        self.length = self.values.len();
        let lines = self.length.div_ceil(LANES);
        self.keys.clear();
        self.keys.resize(lines, [[0.0; LANES]; HEAD]);
        self.weights.resize(lines, [0.0; LANES]);
        for (place, key) in keys.enumerate() {
            let Some(line) = self.keys.get_mut(place / LANES) else { break };
            for (numbers, number) in line.iter_mut().zip(key) {
                if let Some(slot) = numbers.get_mut(place % LANES) {
                    *slot = *number;
                }
            }
        }
    }

    /// The weighted sum of the values; a value counts more, the more similar its key is to the query.
    #[inline(always)]
    pub(super) fn find(&mut self, query: &[f32; HEAD]) -> [f32; HEAD] {
        /// One divided by the square root of the number of values per head.
        const SHRINK: f32 = 0.176_776_7;
        for (weights, keys) in self.weights.iter_mut().zip(&self.keys) {
            let mut near = [0.0; LANES];
            for (number, keys) in query.iter().zip(keys) {
                let number = number * SHRINK;
                near.iter_mut().zip(keys).for_each(|(near, key)| *near += number * key);
            }
            *weights = near;
        }
        // Positions after the end of the text have no weight.
        self.weights.as_flattened_mut().iter_mut().skip(self.length).for_each(|weight| *weight = f32::MIN);
        let most = largest(self.weights.as_flattened(), f32::MIN);
        for weight in self.weights.as_flattened_mut() {
            *weight = power(*weight - most);
        }
        self.weights.as_flattened_mut().iter_mut().skip(self.length).for_each(|weight| *weight = 0.0);
        let share = 1.0 / sum(self.weights.as_flattened());
        let mut found = [0.0; HEAD];
        for (weight, value) in self.weights.as_flattened().iter().zip(&self.values) {
            let weight = weight * share;
            found.iter_mut().zip(value).for_each(|(found, number)| *found += weight * number);
        }
        found
    }
}
