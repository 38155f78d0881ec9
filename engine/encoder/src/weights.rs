//! The file of weights, read in place. `engine/weights/make.py` documents the format of the file.

use super::kernels::{BLOCK, Pair};

/// The number of values per word piece between two layers.
pub(super) const WIDTH: usize = 384;
/// The number of values per word piece in the middle of a layer.
pub(super) const INNER: usize = 1536;
/// Layers of the network.
pub(super) const LAYERS: usize = 6;
/// Maximum positions in a text.
pub(super) const PLACES: usize = 128;

const VERSION: u32 = 1;
const SECTIONS: usize = 11;

/// A number as stored in the file.
pub(super) type Bytes4 = [u8; 4];
/// A row of the word table: its scale, then its numbers.
pub(super) type Word = [u8; 4 + WIDTH];

/// The content of the file.
#[derive(Debug)]
pub(super) struct Weights {
    pub(super) pieces: PieceTable,
    pub(super) characters: CharacterTable,
    pub(super) words: &'static [Word],
    pub(super) places: &'static [[Bytes4; WIDTH]],
    pub(super) norm: Norm,
    pub(super) layers: [Layer; LAYERS],
}

/// The word pieces, sorted by their bytes.
#[derive(Debug)]
pub(super) struct PieceTable {
    /// The offset at which each word piece starts, and the end of the last piece.
    pub(super) offsets: &'static [Bytes4],
    /// The row of each word piece in the word table.
    pub(super) rows: &'static [[u8; 2]],
    pub(super) text: &'static [u8],
}

/// The treatment of characters outside of ASCII.
#[derive(Debug)]
pub(super) struct CharacterTable {
    pub(super) changed: &'static [Bytes4],
    pub(super) offsets: &'static [Bytes4],
    pub(super) becomes: &'static [u8],
    /// First, last, kind.
    pub(super) ranges: &'static [[Bytes4; 3]],
    /// First, last.
    pub(super) marks: &'static [[Bytes4; 2]],
}

/// A normalisation step.
#[derive(Debug)]
pub(super) struct Norm {
    pub(super) factors: &'static [Bytes4; WIDTH],
    pub(super) addends: &'static [Bytes4; WIDTH],
}

/// A matrix multiplication.
#[derive(Debug)]
pub(super) struct Linear {
    /// The number of inputs.
    pub(super) inputs: usize,
    /// The value of one unit in each row.
    pub(super) scales: &'static [Bytes4],
    /// The addend of each row.
    pub(super) addends: &'static [Bytes4],
    /// The weights, block by block of rows, and two columns at a time.
    pub(super) blocks: &'static [Pair],
}

/// A layer of the network.
#[derive(Debug)]
pub(super) struct Layer {
    pub(super) attend: Linear,
    pub(super) gather: Linear,
    pub(super) first_norm: Norm,
    pub(super) widen: Linear,
    pub(super) narrow: Linear,
    pub(super) second_norm: Norm,
}

impl Weights {
    /// Reads the built-in file without copying it.
    pub(super) fn of(file: &'static [u8]) -> Option<Self> {
        let (head, mut rest) = file.split_first_chunk::<8>()?;
        let (version, count) = (number(&mut rest)?, number(&mut rest)?);
        if head != b"TESSMEAN" || version != VERSION || count as usize != SECTIONS {
            return None;
        }
        let mut sections = [&[][..]; SECTIONS];
        for section in &mut sections {
            let (offset, length) = (number(&mut rest)? as usize, number(&mut rest)? as usize);
            *section = file.get(offset..offset + length)?;
        }
        let [offsets, rows, text, changed, ends, becomes, ranges, marks, words, mut places, mut layers] = sections;
        Some(Self {
            pieces: PieceTable { offsets: whole(offsets)?, rows: whole(rows)?, text },
            characters: CharacterTable {
                changed: whole(changed)?,
                offsets: whole(ends)?,
                becomes,
                ranges: whole(whole::<4, _>(ranges)?)?,
                marks: whole(whole::<4, _>(marks)?)?,
            },
            words: whole(words)?,
            places: whole(numbers(&mut places, PLACES * WIDTH)?)?,
            norm: Norm::take(&mut places)?,
            layers: take_layers(&mut layers)?,
        })
    }
}

fn take_layers(rest: &mut &'static [u8]) -> Option<[Layer; LAYERS]> {
    let mut layers = Vec::with_capacity(LAYERS);
    for _ in 0..LAYERS {
        layers.push(Layer {
            attend: Linear::take(rest, WIDTH, 3 * WIDTH)?,
            gather: Linear::take(rest, WIDTH, WIDTH)?,
            first_norm: Norm::take(rest)?,
            widen: Linear::take(rest, WIDTH, INNER)?,
            narrow: Linear::take(rest, INNER, WIDTH)?,
            second_norm: Norm::take(rest)?,
        });
    }
    layers.try_into().ok()
}

impl Norm {
    fn take(rest: &mut &'static [u8]) -> Option<Self> {
        Some(Self { factors: numbers(rest, WIDTH)?.try_into().ok()?, addends: numbers(rest, WIDTH)?.try_into().ok()? })
    }
}

impl Linear {
    fn take(rest: &mut &'static [u8], inputs: usize, outputs: usize) -> Option<Self> {
        let (scales, addends) = (numbers(rest, outputs)?, numbers(rest, outputs)?);
        let (blocks, after) = rest.split_at_checked(inputs * outputs)?;
        *rest = after;
        debug_assert!(inputs.is_multiple_of(2) && outputs.is_multiple_of(2 * BLOCK), "blocks come in pairs");
        Some(Self { inputs, scales, addends, blocks: whole(blocks)? })
    }
}

/// The numbers of a word.
#[inline(always)]
pub(super) fn numbers_of(word: &Word, numbers: &mut [f32; WIDTH]) {
    let Some((scale, values)) = word.split_first_chunk::<4>() else { return };
    let scale = f32::from_le_bytes(*scale);
    numbers.iter_mut().zip(values).for_each(|(number, value)| *number = f32::from(value.cast_signed()) * scale);
}

fn number(rest: &mut &[u8]) -> Option<u32> {
    let (number, after) = rest.split_first_chunk::<4>()?;
    *rest = after;
    Some(u32::from_le_bytes(*number))
}

fn numbers(rest: &mut &'static [u8], count: usize) -> Option<&'static [Bytes4]> {
    let (numbers, after) = rest.split_at_checked(4 * count)?;
    *rest = after;
    whole(numbers)
}

fn whole<const N: usize, T>(items: &[T]) -> Option<&[[T; N]]> {
    let (chunks, rest) = items.as_chunks::<N>();
    rest.is_empty().then_some(chunks)
}
