//! The table of the classifiers, and their calculations. All sums are exact.

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

/// The trained numbers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// The mean of each number of a row, and the inverse of its standard deviation.
    pub scales: Vec<[f32; 2]>,
    /// The weights of sequences of letters, a factor (with [`FACTOR_BITS`]) and an addend in 1/1024.
    pub letters: Vec<i8>,
    /// See `letters`.
    pub letters_factor: i32,
    /// See `letters`.
    pub letters_addend: i32,
    /// The weights of the units: for each input, those of all units.
    pub inputs: Vec<[i8; UNITS]>,
    /// The addend of each unit.
    pub addends: Vec<i32>,
    /// The factor of each unit, with [`FACTOR_BITS`].
    pub factors: Vec<i32>,
    /// The addend of the logit of a piece, in 1/1024.
    pub addend: i32,
    /// The factors of the text's inputs, with [`FACTOR_BITS`].
    pub text: Vec<i32>,
    /// The addend of the logit of a text, in 1/1024.
    pub text_addend: i32,
}

impl Table {
    /// Reads a table; see [`Table::to_bytes`].
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let mut number = || {
            let (first, after) = rest.split_first_chunk::<4>()?;
            rest = after;
            Some(u32::from_le_bytes(*first))
        };
        let mut table = Self::default();
        for _ in 0..WIDTH {
            table.scales.push([f32::from_bits(number()?), f32::from_bits(number()?)]);
        }
        let mut integer = || number().map(u32::cast_signed);
        for slot in [&mut table.letters_factor, &mut table.letters_addend, &mut table.addend, &mut table.text_addend] {
            *slot = integer()?;
        }
        table.addends = (0..UNITS).map(|_| integer()).collect::<Option<_>>()?;
        table.factors = (0..UNITS).map(|_| integer()).collect::<Option<_>>()?;
        table.text = (0..TEXT_INPUTS).map(|_| integer()).collect::<Option<_>>()?;
        let (letters, inputs) = rest.split_at_checked(BUCKETS)?;
        table.letters = letters.iter().map(|byte| byte.cast_signed()).collect();
        table.inputs = inputs.as_chunks::<UNITS>().0.iter().map(|row| row.map(u8::cast_signed)).collect();
        (inputs.len() == INPUTS * UNITS).then_some(table)
    }

    /// The stored form: scales, single numbers, units, text (each as four little-endian bytes), letters, inputs.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.scales.iter().flatten().flat_map(|number| number.to_le_bytes()).collect();
        let single = [self.letters_factor, self.letters_addend, self.addend, self.text_addend];
        let numbers = single.iter().chain(&self.addends).chain(&self.factors).chain(&self.text);
        bytes.extend(numbers.flat_map(|number| number.to_le_bytes()));
        bytes.extend(self.letters.iter().map(|weight| weight.cast_unsigned()));
        bytes.extend(self.inputs.iter().flatten().map(|weight| weight.cast_unsigned()));
        bytes
    }

    /// A row of the encoder as small integers.
    #[expect(clippy::cast_possible_truncation, reason = "at most 120")]
    pub fn row(&self, numbers: &[f32; WIDTH]) -> Row {
        let mut row = [0; WIDTH];
        for ((slot, number), [mean, factor]) in row.iter_mut().zip(numbers).zip(&self.scales) {
            *slot = (((number - mean) * factor).clamp(-5.0, 5.0) * DEVIATION).round() as i8;
        }
        row
    }

    /// The logit of a text from its letters, in 1/1024. Only operations are used whose results are exact to the last bit
    /// on every machine.
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "small numbers")]
    pub fn letters(&self, text: &str) -> i32 {
        let buckets = buckets(text);
        let sum: i32 = buckets.iter().filter_map(|at| self.letters.get(*at)).map(|weight| i32::from(*weight)).sum();
        let size = (buckets.len().max(1) as f64).sqrt();
        (f64::from(sum) / size * f64::from(self.letters_factor) / f64::from(1 << FACTOR_BITS)).round() as i32
            + self.letters_addend
    }

    /// The logit of each piece, in 1/1024: whether it is a part of a secret.
    pub fn pieces(&self, reading: &Reading) -> Vec<i32> {
        let mut of_text = [0; UNITS];
        of_text.iter_mut().zip(&self.addends).for_each(|(sum, addend)| *sum = *addend);
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
            let terms =
                sums.iter().zip(&self.factors).map(|(sum, factor)| i64::from((*sum).max(0)) * i64::from(*factor));
            clamped(terms.sum::<i64>() >> FACTOR_BITS) + self.addend
        };
        (0..count).map(logit).collect()
    }

    /// Adds the products of inputs and their weights.
    fn add(&self, sums: &mut [i32; UNITS], from: usize, values: &[i8]) {
        for (value, weights) in values.iter().zip(self.inputs.get(from..).unwrap_or_default()) {
            let value = i32::from(*value);
            sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += value * i32::from(*weight));
        }
    }

    /// The logit of a text, in 1/1024: whether it contains a secret.
    pub fn text(&self, reading: &Reading) -> i32 {
        let inputs = reading.text_inputs();
        let terms = inputs.iter().zip(&self.text).map(|(value, factor)| i64::from(*value) * i64::from(*factor));
        clamped(terms.sum::<i64>() >> FACTOR_BITS) + self.text_addend
    }
}

fn clamped(number: i64) -> i32 {
    i32::try_from(number.clamp(-(1 << 20), 1 << 20)).unwrap_or_default()
}
