//! The table of the classifiers, and their calculations. All sums are exact.

use std::borrow::Cow;

use super::shape::SHAPES;
use super::words::{BUCKETS, buckets};
use super::{Reading, WIDTH};

/// The hidden units of the classifier of pieces.
pub const UNITS: usize = 32;
/// The inputs of the classifier of pieces: the rows of a piece, of its neighbours and of the text, and their shapes.
pub const INPUTS: usize = 4 * WIDTH + 3 * SHAPES;
/// The inputs of the classifier of texts: the mean row, and the largest and the mean value of each feature.
pub const TEXT_INPUTS: usize = WIDTH + 2 * SHAPES;
/// Bits after the point of the factors.
pub const FACTOR_BITS: u32 = 24;
/// The number of a row that stands for 1 standard deviation.
pub const DEVIATION: f32 = 24.0;

/// A row as small integers.
pub type Row = [i8; WIDTH];

/// A little-endian number.
type Number = [u8; 4];
/// The mean of a number of a row, and the inverse of its standard deviation, as little-endian `f32`.
pub type Scale = [Number; 2];

/// The trained numbers, as they are stored. A table that is read borrows them, so reading costs nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table<'a> {
    /// The scales of a row.
    pub scales: Cow<'a, [Scale]>,
    /// The weights of sequences of letters, a factor (with [`FACTOR_BITS`]) and an addend in 1/1024.
    pub letters: Cow<'a, [u8]>,
    /// See `letters`.
    pub letters_factor: i32,
    /// See `letters`.
    pub letters_addend: i32,
    /// The weights of the units: for each input, those of all units.
    pub inputs: Cow<'a, [[u8; UNITS]]>,
    /// The addend of each unit.
    pub addends: Cow<'a, [Number]>,
    /// The factor of each unit, with [`FACTOR_BITS`].
    pub factors: Cow<'a, [Number]>,
    /// The addend of the logit of a piece, in 1/1024.
    pub addend: i32,
    /// The factors of the text's inputs, with [`FACTOR_BITS`].
    pub text: Cow<'a, [Number]>,
    /// The addend of the logit of a text, in 1/1024.
    pub text_addend: i32,
}

impl<'a> Table<'a> {
    /// Reads a table; see [`Table::to_bytes`].
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut rest = bytes;
        let mut numbers = |count: usize| {
            let (numbers, after) = rest.split_at_checked(4 * count)?;
            rest = after;
            Some(numbers.as_chunks::<4>().0)
        };
        let scales = numbers(2 * WIDTH)?.as_chunks::<2>().0;
        let &[letters_factor, letters_addend, addend, text_addend] = numbers(4)? else { return None };
        let (addends, factors, text) = (numbers(UNITS)?, numbers(UNITS)?, numbers(TEXT_INPUTS)?);
        let (letters, inputs) = rest.split_at_checked(BUCKETS)?;
        (inputs.len() == INPUTS * UNITS).then(|| Self {
            scales: scales.into(),
            letters: letters.into(),
            letters_factor: i32::from_le_bytes(letters_factor),
            letters_addend: i32::from_le_bytes(letters_addend),
            inputs: inputs.as_chunks().0.into(),
            addends: addends.into(),
            factors: factors.into(),
            addend: i32::from_le_bytes(addend),
            text: text.into(),
            text_addend: i32::from_le_bytes(text_addend),
        })
    }

    /// The stored form: scales, single numbers, units, text (each as four little-endian bytes), letters, inputs.
    pub fn to_bytes(&self) -> Vec<u8> {
        let single = [self.letters_factor, self.letters_addend, self.addend, self.text_addend].map(i32::to_le_bytes);
        let numbers = [self.scales.as_flattened(), &single, &self.addends, &self.factors, &self.text];
        [numbers.concat().as_flattened(), &self.letters, self.inputs.as_flattened()].concat()
    }

    /// The logit of a text from its letters, in 1/1024. Only operations are used whose results are exact to the last bit
    /// on every machine.
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "small numbers")]
    pub fn letters(&self, text: &str) -> i32 {
        let buckets = buckets(text);
        let sum: i32 = buckets.iter().filter_map(|at| self.letters.get(*at)).map(|weight| weight_of(*weight)).sum();
        let size = (buckets.len().max(1) as f64).sqrt();
        (f64::from(sum) / size * f64::from(self.letters_factor) / f64::from(1 << FACTOR_BITS)).round() as i32
            + self.letters_addend
    }

    /// The logit of each piece, in 1/1024: whether it is a part of a secret.
    pub fn pieces(&self, reading: &Reading) -> Vec<i32> {
        let mut of_text = [0; UNITS];
        of_text.iter_mut().zip(&*self.addends).for_each(|(sum, addend)| *sum = i32::from_le_bytes(*addend));
        self.add(&mut of_text, 3 * WIDTH, &reading.mean);
        let count = reading.pieces.len();
        let logit = |at: usize| {
            let mut sums = of_text;
            let around = [Some(at), at.checked_sub(1), Some(at + 1).filter(|next| *next < count)];
            for (part, at) in around.into_iter().enumerate() {
                if let Some(piece) = at.and_then(|at| reading.pieces.get(at)) {
                    self.add(&mut sums, part * WIDTH, &piece.row);
                    self.add(&mut sums, 4 * WIDTH + part * SHAPES, &piece.shape);
                }
            }
            products(sums.iter().map(|sum| (*sum).max(0)), &self.factors) + self.addend
        };
        (0..count).map(logit).collect()
    }

    /// Adds the products of inputs and their weights.
    fn add(&self, sums: &mut [i32; UNITS], from: usize, values: &[i8]) {
        for (value, weights) in values.iter().zip(self.inputs.get(from..).unwrap_or_default()) {
            let value = i32::from(*value);
            sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += value * weight_of(*weight));
        }
    }

    /// The logit of a text, in 1/1024: whether it contains a secret.
    pub fn text(&self, reading: &Reading) -> i32 {
        products(reading.text_inputs().into_iter().map(i32::from), &self.text) + self.text_addend
    }
}

fn weight_of(byte: u8) -> i32 {
    i32::from(byte.cast_signed())
}

/// The sum of the products of values and factors.
fn products(values: impl Iterator<Item = i32>, factors: &[Number]) -> i32 {
    let terms = values.zip(factors).map(|(value, factor)| i64::from(value) * i64::from(i32::from_le_bytes(*factor)));
    let sum = terms.sum::<i64>() >> FACTOR_BITS;
    i32::try_from(sum.clamp(-(1 << 20), 1 << 20)).unwrap_or_default()
}

/// A row of the encoder as small integers.
#[expect(clippy::cast_possible_truncation, reason = "at most 120")]
pub(super) fn row(scales: &[Scale], numbers: &[f32; WIDTH]) -> Row {
    let mut row = [0; WIDTH];
    for ((slot, number), scale) in row.iter_mut().zip(numbers).zip(scales) {
        let [mean, factor] = scale.map(f32::from_le_bytes);
        *slot = (((number - mean) * factor).clamp(-5.0, 5.0) * DEVIATION).round() as i8;
    }
    row
}
