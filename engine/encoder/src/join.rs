//! Joins the results of both networks to one vector.
//!
//! The similarity of a question and a passage is the weighted mean of the two cosine similarities. The results of the
//! second network are centred first: all of them point nearly in the same direction, so without this step, their
//! cosines differ little.

use super::vector::{DIMENSIONS, Vector};
use super::weights::{Bytes4, WIDTH};

/// What a text is. The second network was trained to distinguish questions and passages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// A text that searches.
    Question,
    /// A text that is found.
    Passage,
}

impl Side {
    /// The words before a text.
    pub(super) fn prefix(self) -> &'static str {
        match self {
            Self::Question => "query: ",
            Self::Passage => "passage: ",
        }
    }

    /// The mean of the second network's results, with length 1, for texts of this side.
    fn centre(self) -> &'static [Bytes4] {
        let (questions, passages) = CENTRES.as_chunks::<4>().0.split_at(WIDTH);
        match self {
            Self::Question => questions,
            Self::Passage => passages,
        }
    }
}

/// The means for questions and passages (f32, little endian). `tessera-train centre` computes them.
const CENTRES: &[u8; 2 * 4 * WIDTH] = include_bytes!("centres.bin");

/// The share of the first network in the similarity of English texts. On our development sets, the mean reciprocal rank
/// changes little between .3 and .5.
const FIRST: f32 = 0.4;

/// The vector of a text. Without a result of the first network, the text is in another language, and only the second
/// network counts.
pub(super) fn joined(first: Option<&[f32; WIDTH]>, second: &[f32; WIDTH], side: Side) -> Vector {
    let mut second = unit(second);
    for (number, centre) in second.iter_mut().zip(side.centre()) {
        *number -= f32::from_le_bytes(*centre);
    }
    let share = if first.is_some() { FIRST } else { 0.0 };
    let parts = [(first.map_or([0.0; WIDTH], unit), share), (unit(&second), 1.0 - share)];
    let mut values = [0.0; DIMENSIONS];
    let scaled = parts.iter().flat_map(|(part, share)| part.iter().map(|number| *number * share.sqrt()));
    values.iter_mut().zip(scaled).for_each(|(value, number)| *value = number);
    match side {
        Side::Passage => Vector::of(&values),
        Side::Question => Vector::of_question(&values, first.is_none()),
    }
}

/// For a question in another language, only the second part counts. In the vector of an English passage, this part has
/// this length.
pub(super) fn foreign_size() -> f32 {
    (1.0 - FIRST).sqrt()
}

/// A vector of the same direction with length 1.
pub(super) fn unit(vector: &[f32; WIDTH]) -> [f32; WIDTH] {
    let size = vector.iter().fold(0.0_f32, |sum, number| sum + number * number).sqrt();
    if size > 0.0 && size.is_finite() { vector.map(|number| number / size) } else { [0.0; WIDTH] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_similarity_is_the_mean_of_both_cosines_whatever_the_share() {
        let axis = |at: usize| {
            let mut vector = [0.0; WIDTH];
            vector[at] = 1.0;
            vector
        };
        let centred = |side: Side| {
            let mut vector: Vec<f32> = side.centre().iter().map(|number| f32::from_le_bytes(*number)).collect();
            vector[7] += 3.0;
            unit(&vector.try_into().unwrap())
        };
        let (question, passage) = (centred(Side::Question), centred(Side::Passage));
        for (asked, share) in [(None, 0.0), (Some(&axis(1)), FIRST)] {
            let asked = joined(asked, &question, Side::Question);
            let same = joined(Some(&axis(1)), &passage, Side::Passage);
            let other = joined(Some(&axis(2)), &passage, Side::Passage);
            let (same, other) = (asked.similarities(&same), asked.similarities(&other));
            assert!(same > 0.9 && same <= 1.01, "{same}");
            let first = f64::from((share * FIRST).sqrt() / ((share * FIRST).sqrt() + ((1.0 - share) * 0.6).sqrt()));
            assert!((same - other - first).abs() < 0.02, "{share}: {same} {other}");
        }
    }
}
