//! The two files of weights, read in place. `engine/weights/make.py` and `make_e5.py` document their formats.

use tessera_weights::Woken;

use super::kernels::{BLOCK, Pair};

/// The number of values per word piece between two layers.
pub const WIDTH: usize = 384;
/// The number of values per word piece in the middle of a layer.
pub(super) const INNER: usize = 1536;
/// Columns of a row of packed weights that have the same factor.
pub(super) const GROUP: usize = 32;

const VERSION: u32 = 1;

/// A number as stored in the file.
pub(super) type Bytes4 = [u8; 4];
/// For each row of a block, the 4-bit numbers of two neighbouring columns.
pub(super) type PackedPair = [u8; BLOCK];
/// For each row of a block, the factor of a group of columns.
pub(super) type Factors = [[u8; 2]; BLOCK];

/// An encoder: a network and the tokenizer that belongs to it.
#[derive(Debug)]
pub(super) struct Minilm {
    pub(super) pieces: PieceTable,
    pub(super) characters: CharacterTable,
    pub(super) network: Network,
}

/// The second encoder.
#[derive(Debug)]
pub(super) struct E5 {
    pub(super) pieces: UnigramTable,
    pub(super) changed: ChangeTable,
    pub(super) network: Network,
}

/// The network of an encoder.
#[derive(Debug)]
pub(super) struct Network {
    pub(super) words: WordTable,
    /// One row for each position in a text.
    pub(super) places: &'static [[Bytes4; WIDTH]],
    pub(super) norm: Norm,
    pub(super) layers: Vec<Layer>,
    /// The bytes of the layers. All of them are read for each text.
    bytes: &'static [u8],
    woken: Woken,
}

/// The rows of word pieces.
#[derive(Debug)]
pub(super) enum WordTable {
    /// A scale (f32), then numbers of 8 bits.
    Bytes(&'static [[u8; 4 + WIDTH]]),
    /// A scale (f32), a factor for each group of numbers, then numbers of 4 bits.
    Packed(&'static [[u8; 4 + WIDTH / GROUP + WIDTH / 2]]),
}

/// Texts, sorted by their bytes.
#[derive(Debug)]
pub(super) struct SortedTexts {
    /// The offset at which each text starts, and the end of the last one.
    pub(super) offsets: &'static [Bytes4],
    pub(super) text: &'static [u8],
}

/// The word pieces of the first encoder.
#[derive(Debug)]
pub(super) struct PieceTable {
    pub(super) sorted: SortedTexts,
    /// The row of each word piece in the word table.
    pub(super) rows: &'static [[u8; 2]],
}

/// The word pieces of the second encoder.
#[derive(Debug)]
pub(super) struct UnigramTable {
    pub(super) sorted: SortedTexts,
    /// The logarithm of the probability of each piece.
    pub(super) scores: &'static [Bytes4],
}

/// Characters that a tokenizer replaces.
#[derive(Debug)]
pub(super) struct ChangeTable {
    pub(super) changed: &'static [Bytes4],
    pub(super) offsets: &'static [Bytes4],
    pub(super) becomes: &'static [u8],
}

/// The treatment of characters outside of ASCII.
#[derive(Debug)]
pub(super) struct CharacterTable {
    pub(super) changed: ChangeTable,
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
    pub(super) blocks: Blocks,
}

/// The weights of a matrix, block by block of rows, and two columns at a time.
#[derive(Debug)]
pub(super) enum Blocks {
    /// Weights of 8 bits.
    Bytes(&'static [Pair]),
    /// Numbers of 4 bits, and the factors of each block. They are unpacked to 8 bits before a multiplication.
    Packed { factors: &'static [Factors], pairs: &'static [PackedPair] },
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

/// The form of the weights in a file.
#[derive(Debug, Clone, Copy)]
enum Form {
    Bytes,
    Packed,
}

/// The sections of a file.
fn sections<const N: usize>(file: &'static [u8], magic: [u8; 8]) -> Option<[&'static [u8]; N]> {
    let (head, mut rest) = file.split_first_chunk::<8>()?;
    let (version, count) = (number(&mut rest)?, number(&mut rest)?);
    if *head != magic || version != VERSION || count as usize != N {
        return None;
    }
    let mut sections = [&[][..]; N];
    for section in &mut sections {
        let (offset, length) = (number(&mut rest)? as usize, number(&mut rest)? as usize);
        *section = file.get(offset..offset + length)?;
    }
    Some(sections)
}

impl Minilm {
    /// Reads the built-in file without copying it.
    pub(super) fn of(file: &'static [u8]) -> Option<Self> {
        let sections = sections::<11>(file, *b"TESSMEAN")?;
        let [offsets, rows, text, changed, ends, becomes, ranges, marks, words, places, layers] = sections;
        Some(Self {
            pieces: PieceTable { sorted: SortedTexts { offsets: whole(offsets)?, text }, rows: whole(rows)? },
            characters: CharacterTable {
                changed: ChangeTable { changed: whole(changed)?, offsets: whole(ends)?, becomes },
                ranges: whole(whole::<4, _>(ranges)?)?,
                marks: whole(whole::<4, _>(marks)?)?,
            },
            network: Network::of(WordTable::Bytes(whole(words)?), places, layers, Form::Bytes)?,
        })
    }
}

impl E5 {
    /// Reads the built-in file without copying it.
    pub(super) fn of(file: &'static [u8]) -> Option<Self> {
        let sections = sections::<9>(file, *b"TESSPECE")?;
        let [offsets, scores, text, changed, ends, becomes, words, places, layers] = sections;
        Some(Self {
            pieces: UnigramTable { sorted: SortedTexts { offsets: whole(offsets)?, text }, scores: whole(scores)? },
            changed: ChangeTable { changed: whole(changed)?, offsets: whole(ends)?, becomes },
            network: Network::of(WordTable::Packed(whole(words)?), places, layers, Form::Packed)?,
        })
    }
}

impl Network {
    fn of(words: WordTable, places: &'static [u8], mut layers: &'static [u8], form: Form) -> Option<Self> {
        // The two rows of the norm follow the rows of the positions.
        let (mut norm, mut places) = (places, places);
        let all = places.len().checked_sub(8 * WIDTH)?;
        norm = norm.get(all..)?;
        let (mut read, bytes) = (Vec::new(), layers);
        while !layers.is_empty() {
            read.push(Layer::take(&mut layers, form)?);
        }
        let places = whole(numbers(&mut places, all / 4)?)?;
        Some(Self { words, places, norm: Norm::take(&mut norm)?, layers: read, bytes, woken: Woken::default() })
    }

    /// Maps the layers before they are read.
    pub(super) fn wake(&self) {
        self.woken.wake(self.bytes);
    }
}

impl Layer {
    fn take(rest: &mut &'static [u8], form: Form) -> Option<Self> {
        Some(Self {
            attend: Linear::take(rest, WIDTH, 3 * WIDTH, form)?,
            gather: Linear::take(rest, WIDTH, WIDTH, form)?,
            first_norm: Norm::take(rest)?,
            widen: Linear::take(rest, WIDTH, INNER, form)?,
            narrow: Linear::take(rest, INNER, WIDTH, form)?,
            second_norm: Norm::take(rest)?,
        })
    }
}

impl Norm {
    fn take(rest: &mut &'static [u8]) -> Option<Self> {
        Some(Self { factors: numbers(rest, WIDTH)?.try_into().ok()?, addends: numbers(rest, WIDTH)?.try_into().ok()? })
    }
}

impl Linear {
    fn take(rest: &mut &'static [u8], inputs: usize, outputs: usize, form: Form) -> Option<Self> {
        let (scales, addends) = (numbers(rest, outputs)?, numbers(rest, outputs)?);
        debug_assert!(inputs.is_multiple_of(GROUP) && outputs.is_multiple_of(2 * BLOCK), "blocks come in pairs");
        let weights = inputs * outputs;
        let blocks = match form {
            Form::Bytes => Blocks::Bytes(whole(bytes(rest, weights)?)?),
            Form::Packed => Blocks::Packed {
                factors: whole(whole::<2, _>(bytes(rest, 2 * weights / GROUP)?)?)?,
                pairs: whole(bytes(rest, weights / 2)?)?,
            },
        };
        Some(Self { inputs, scales, addends, blocks })
    }
}

impl WordTable {
    /// The numbers of a word piece.
    #[inline(always)]
    pub(super) fn read(&self, row: u16, numbers: &mut [f32; WIDTH]) {
        match self {
            Self::Bytes(rows) => {
                let Some((scale, values)) = rows.get(usize::from(row)).and_then(|row| row.split_first_chunk()) else {
                    return;
                };
                let scale = f32::from_le_bytes(*scale);
                numbers
                    .iter_mut()
                    .zip(values)
                    .for_each(|(number, value)| *number = f32::from(value.cast_signed()) * scale);
            }
            Self::Packed(rows) => {
                let Some((scale, rest)) = rows.get(usize::from(row)).and_then(|row| row.split_first_chunk()) else {
                    return;
                };
                let (factors, values) = rest.split_at(WIDTH / GROUP);
                let groups = numbers.as_chunks_mut::<GROUP>().0.iter_mut().zip(values.as_chunks::<{ GROUP / 2 }>().0);
                for ((numbers, values), factor) in groups.zip(factors) {
                    let scale = f32::from_le_bytes(*scale) * f32::from(factor.cast_signed());
                    for ([low, high], value) in numbers.as_chunks_mut::<2>().0.iter_mut().zip(values) {
                        *low = (f32::from(value & 15) - 8.0) * scale;
                        *high = (f32::from(value >> 4) - 8.0) * scale;
                    }
                }
            }
        }
    }
}

/// Unpacks weights of 4 bits to weights of 8 bits. Each factor belongs to [`GROUP`] columns. A weight is
/// `((number - 8) * factor + 128) >> 8`. The sum is computed modulo 2^16, and its upper byte is the weight.
#[inline(always)]
pub(super) fn unpack(factors: &[Factors], packed: &[PackedPair], pairs: &mut [Pair]) {
    let groups = packed.as_chunks::<{ GROUP / 2 }>().0.iter().zip(pairs.as_chunks_mut::<{ GROUP / 2 }>().0);
    for ((packed, pairs), factors) in groups.zip(factors) {
        let factors = factors.map(u16::from_le_bytes);
        let addends = factors.map(|factor| 128_u16.wrapping_sub(factor.wrapping_mul(8)));
        for (packed, pair) in packed.iter().zip(pairs) {
            let mut weights = [0_u16; BLOCK];
            let steps = packed.iter().zip(factors).zip(addends);
            for (weight, ((byte, factor), addend)) in weights.iter_mut().zip(steps) {
                let number = u16::from(*byte);
                let low = (number & 15).wrapping_mul(factor).wrapping_add(addend);
                let high = (number >> 4).wrapping_mul(factor).wrapping_add(addend);
                *weight = (low >> 8) | (high & 0xff00);
            }
            for (bytes, weight) in pair.as_chunks_mut::<2>().0.iter_mut().zip(weights) {
                *bytes = weight.to_le_bytes();
            }
        }
    }
}

fn number(rest: &mut &[u8]) -> Option<u32> {
    let (number, after) = rest.split_first_chunk::<4>()?;
    *rest = after;
    Some(u32::from_le_bytes(*number))
}

fn bytes(rest: &mut &'static [u8], count: usize) -> Option<&'static [u8]> {
    let (bytes, after) = rest.split_at_checked(count)?;
    *rest = after;
    Some(bytes)
}

fn numbers(rest: &mut &'static [u8], count: usize) -> Option<&'static [Bytes4]> {
    whole(bytes(rest, 4 * count)?)
}

fn whole<const N: usize, T>(items: &[T]) -> Option<&[[T; N]]> {
    let (chunks, rest) = items.as_chunks::<N>();
    rest.is_empty().then_some(chunks)
}
