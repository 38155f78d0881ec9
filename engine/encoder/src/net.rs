//! The networks all-MiniLM-L6-v2 and multilingual-e5-small. They have the same structure, and six and twelve layers. A
//! network computes one vector per text from rows of word pieces.
//!
//! Weights are 8-bit integers; those of 4 bits are unpacked first. Inputs are rounded to integers of 13 bits and a sign,
//! and sums are exact. So the vector of a text does not depend on the other texts in the batch or on the processor.

use super::kernels::{BLOCK, Job, Kernels, Pair, Sums, WIDEST, read_ahead};
use super::steps::{Attention, HEAD, add, gelu, norm, rounded, scaled};
use super::weights::{Blocks, GROUP, INNER, Layer, Linear, Network, WIDTH, unpack};

/// Attention heads of a layer.
const HEADS: usize = WIDTH / HEAD;

/// Texts to encode, each as rows of the word table, at most as many as the network has positions.
pub(super) struct Encode<'a> {
    pub(super) network: &'a Network,
    pub(super) texts: &'a [&'a [u16]],
}

impl Job for Encode<'_> {
    type Output = Vec<[f32; WIDTH]>;

    #[inline(always)]
    fn run<K: Kernels>(self) -> Self::Output {
        let lengths = self.lengths();
        let rows = self.rows::<K>(&lengths, usize::MAX);
        let mut rows = rows.as_chunks::<WIDTH>().0.iter();
        lengths.iter().map(|length| total(rows.by_ref().take(*length))).collect()
    }
}

/// The sum of the rows of a text.
fn total<'a>(rows: impl Iterator<Item = &'a [f32; WIDTH]>) -> [f32; WIDTH] {
    let mut total = [0.0; WIDTH];
    rows.for_each(|row| add(&mut total, row));
    total
}

/// Computes one row per piece of the texts.
pub(super) struct EncodePieces<'a> {
    pub(super) texts: Encode<'a>,
    /// The rows after this number of layers.
    pub(super) layers: usize,
}

impl Job for EncodePieces<'_> {
    type Output = Vec<f32>;

    #[inline(always)]
    fn run<K: Kernels>(self) -> Self::Output {
        self.texts.rows::<K>(&self.texts.lengths(), self.layers)
    }
}

/// Continues with one text, from its rows after some layers.
pub(super) struct Continue<'a> {
    pub(super) network: &'a Network,
    /// The rows from [`EncodePieces`].
    pub(super) rows: Vec<f32>,
    /// The number of layers through which they have gone.
    pub(super) layers: usize,
}

impl Job for Continue<'_> {
    type Output = [f32; WIDTH];

    #[inline(always)]
    fn run<K: Kernels>(self) -> Self::Output {
        let lengths = [self.rows.len() / WIDTH];
        let mut state = State::<K>::new(&lengths);
        state.rows = self.rows;
        for layer in self.network.layers.iter().skip(self.layers) {
            state.go_through(layer, &lengths);
        }
        total(state.rows.as_chunks::<WIDTH>().0.iter())
    }
}

impl Encode<'_> {
    fn lengths(&self) -> Vec<usize> {
        self.texts.iter().map(|text| text.len().min(self.network.places.len())).collect()
    }

    /// The rows after this number of layers.
    #[inline(always)]
    fn rows<K: Kernels>(&self, lengths: &[usize], layers: usize) -> Vec<f32> {
        let mut state = State::<K>::new(lengths);
        self.look_up(&mut state.rows);
        norm(&mut state.rows, &self.network.norm);
        for layer in self.network.layers.iter().take(layers) {
            state.go_through(layer, lengths);
        }
        state.rows
    }

    /// The words and their positions.
    #[inline(always)]
    fn look_up(&self, rows: &mut [f32]) {
        let pieces = self.texts.iter().flat_map(|text| text.iter().zip(self.network.places));
        for (row, (piece, place)) in rows.as_chunks_mut::<WIDTH>().0.iter_mut().zip(pieces) {
            self.network.words.read(*piece, row);
            for (number, place) in row.iter_mut().zip(place) {
                *number += f32::from_le_bytes(*place);
            }
        }
    }
}

/// The state between layers: one row per word piece of all texts.
struct State<K> {
    rows: Vec<f32>,
    /// The results of the matrices `attend` (queries, keys and values) and `widen`.
    wide: Vec<f32>,
    /// The results of the attention and of the matrices `gather` and `narrow`, with `WIDTH` numbers per piece.
    narrow: Vec<f32>,
    inputs: Inputs,
    attention: Attention,
    /// The weights of two blocks, if they must be unpacked.
    unpacked: Vec<Pair>,
    kernels: std::marker::PhantomData<K>,
}

impl<K: Kernels> State<K> {
    #[inline(always)]
    fn new(lengths: &[usize]) -> Self {
        let pieces = lengths.iter().sum::<usize>();
        Self {
            rows: vec![0.0; pieces * WIDTH],
            wide: vec![0.0; pieces * INNER],
            narrow: vec![0.0; pieces * WIDTH],
            inputs: Inputs::of(pieces, K::TILE),
            attention: Attention::default(),
            unpacked: vec![[0; 2 * BLOCK]; INNER],
            kernels: std::marker::PhantomData,
        }
    }

    #[inline(always)]
    fn go_through(&mut self, layer: &Layer, lengths: &[usize]) {
        let attended = self.rows.len() * 3;
        self.inputs.take(&self.rows, WIDTH);
        let attending = self.wide.get_mut(..attended).unwrap_or_default();
        multiply::<K>(&layer.attend, &self.inputs, &mut self.unpacked, attending);
        attend(&mut self.attention, attending, lengths, &mut self.narrow);
        self.inputs.take(&self.narrow, WIDTH);
        multiply::<K>(&layer.gather, &self.inputs, &mut self.unpacked, &mut self.narrow);
        add(&mut self.rows, &self.narrow);
        norm(&mut self.rows, &layer.first_norm);
        self.inputs.take(&self.rows, WIDTH);
        multiply::<K>(&layer.widen, &self.inputs, &mut self.unpacked, &mut self.wide);
        gelu(&mut self.wide);
        self.inputs.take(&self.wide, INNER);
        multiply::<K>(&layer.narrow, &self.inputs, &mut self.unpacked, &mut self.narrow);
        add(&mut self.rows, &self.narrow);
        norm(&mut self.rows, &layer.second_norm);
    }
}

/// Rounded rows in the order in which a kernel reads them: tile by tile, column by column.
struct Inputs {
    /// The rows of each tile.
    tiles: Vec<usize>,
    /// The rounded inputs, with two columns of a row in each number.
    values: Vec<i32>,
    /// The scale of each row: what one unit of its integers is worth.
    worth: Vec<f32>,
    row: Vec<i32>,
}

impl Inputs {
    /// Tiles of nearly equal size, none larger than `most`.
    fn of(rows: usize, most: usize) -> Self {
        let count = rows.div_ceil(most).max(1);
        let tiles = (0..count).map(|tile| rows * (tile + 1) / count - rows * tile / count).collect();
        Self { tiles, values: Vec::new(), worth: Vec::new(), row: Vec::new() }
    }

    #[inline(always)]
    fn take(&mut self, numbers: &[f32], columns: usize) {
        self.values.resize(numbers.len() / 2, 0);
        self.worth.clear();
        let (mut rows, mut values) = (numbers.chunks_exact(columns), self.values.as_mut_slice());
        for tile in &self.tiles {
            let (room, rest) = values.split_at_mut(tile * columns / 2);
            values = rest;
            for (at, row) in rows.by_ref().take(*tile).enumerate() {
                self.worth.push(rounded(row, &mut self.row));
                for (slots, value) in room.chunks_exact_mut(*tile).zip(&self.row) {
                    if let Some(slot) = slots.get_mut(at) {
                        *slot = *value;
                    }
                }
            }
        }
    }
}

/// Multiplies each input with a matrix.
#[inline(always)]
fn multiply<K: Kernels>(step: &Linear, inputs: &Inputs, unpacked: &mut [Pair], results: &mut [f32]) {
    let (pairs, outputs) = (step.inputs / 2, step.scales.len());
    let (scales, addends) = (step.scales.chunks_exact(2 * BLOCK), step.addends.chunks_exact(2 * BLOCK));
    for (at, (scales, addends)) in scales.zip(addends).enumerate() {
        let blocks = two_blocks(step, at, unpacked).split_at(pairs);
        let mut rest = inputs.values.as_slice();
        let mut rows = results.chunks_exact_mut(outputs).zip(&inputs.worth);
        for tile in &inputs.tiles {
            let (values, after) = rest.split_at(tile * pairs);
            rest = after;
            let mut sums = [[0; 2 * BLOCK]; WIDEST];
            products::<K>(*tile, [blocks.0, blocks.1], values, &mut sums);
            for (sums, (row, worth)) in sums.iter().zip(rows.by_ref().take(*tile)) {
                let row = row.get_mut(at * 2 * BLOCK..).unwrap_or_default();
                scaled(sums, *worth, scales, addends, row);
            }
        }
    }
}

/// The weights of two neighbouring blocks of a matrix. The packed weights of the next two are read ahead, so that
/// unpacking them does not wait for memory.
#[inline(always)]
fn two_blocks<'a>(step: &Linear, at: usize, unpacked: &'a mut [Pair]) -> &'a [Pair] {
    let size = step.inputs;
    let range = |at: usize, size: usize| at * size..(at + 1) * size;
    match step.blocks {
        Blocks::Bytes(pairs) => pairs.get(range(at, size)).unwrap_or_default(),
        Blocks::Packed { factors, pairs } => {
            let unpacked = unpacked.get_mut(..size).unwrap_or_default();
            let factors = factors.get(range(at, 2 * size / GROUP)).unwrap_or_default();
            unpack(factors, pairs.get(range(at, size)).unwrap_or_default(), unpacked);
            read_ahead(pairs.get(range(at + 1, size)).unwrap_or_default());
            unpacked
        }
    }
}

/// The same kernel for every possible width of a tile.
#[inline(always)]
fn products<K: Kernels>(tile: usize, blocks: [&[Pair]; 2], values: &[i32], sums: &mut [Sums]) {
    match tile {
        1 => K::products::<1>(blocks, values.as_chunks().0, sums),
        2 => K::products::<2>(blocks, values.as_chunks().0, sums),
        3 if K::TILE > 2 => K::products::<3>(blocks, values.as_chunks().0, sums),
        4 if K::TILE > 2 => K::products::<4>(blocks, values.as_chunks().0, sums),
        5 if K::TILE > 4 => K::products::<5>(blocks, values.as_chunks().0, sums),
        6 if K::TILE > 4 => K::products::<6>(blocks, values.as_chunks().0, sums),
        7 if K::TILE > 6 => K::products::<7>(blocks, values.as_chunks().0, sums),
        8 if K::TILE > 6 => K::products::<8>(blocks, values.as_chunks().0, sums),
        _ => {}
    }
}

/// Attention of each piece to all pieces of its text: queries, keys and values in, results out.
#[inline(always)]
fn attend(attention: &mut Attention, attending: &[f32], lengths: &[usize], found: &mut [f32]) {
    let (all, found) = (attending.as_chunks::<HEAD>().0, found.as_chunks_mut::<HEAD>().0);
    let (mut all, mut found) = (all, found);
    for &length in lengths {
        let (text, rest) = all.split_at(length * 3 * HEADS);
        let (places, later) = found.split_at_mut(length * HEADS);
        (all, found) = (rest, later);
        for head in 0..HEADS {
            let part = |part: usize| text.iter().skip(part * HEADS + head).step_by(3 * HEADS);
            attention.look_at(part(1), part(2));
            for (query, place) in part(0).zip(places.iter_mut().skip(head).step_by(HEADS)) {
                *place = attention.find(query);
            }
        }
    }
}
