//! Every kernel of this machine against sums in 64 bits, with the largest numbers that can occur.

use super::*;

struct Products<'a> {
    blocks: [&'a [Pair]; 2],
    inputs: &'a [i32],
    tile: usize,
}

impl Job for Products<'_> {
    type Output = Option<Vec<Sums>>;

    #[inline(always)]
    fn run<K: Kernels>(self) -> Self::Output {
        let mut sums = vec![[0; 2 * BLOCK]; self.tile];
        let (blocks, inputs) = (self.blocks, self.inputs);
        match self.tile {
            1 => K::products::<1>(blocks, inputs.as_chunks().0, &mut sums),
            2 => K::products::<2>(blocks, inputs.as_chunks().0, &mut sums),
            3 => K::products::<3>(blocks, inputs.as_chunks().0, &mut sums),
            5 => K::products::<5>(blocks, inputs.as_chunks().0, &mut sums),
            8 => K::products::<8>(blocks, inputs.as_chunks().0, &mut sums),
            _ => return None,
        }
        Some(sums)
    }
}

struct Dots<'a>(&'a Query, &'a [Values]);

impl Job for Dots<'_> {
    type Output = Vec<i32>;

    #[inline(always)]
    fn run<K: Kernels>(self) -> Self::Output {
        let mut dots = vec![0; self.1.len()];
        K::dots(self.0, self.1, &mut dots);
        dots
    }
}

fn halves(low: i16, high: i16) -> i32 {
    i32::from(low) & 0xffff | i32::from(high) << 16
}

#[test]
fn products_are_exact() {
    let mut random = fastrand::Rng::with_seed(10);
    for (pairs, tile) in [(192, 1), (192, 8), (768, 2), (768, 5), (1, 3), (7, 8)] {
        for extreme in [false, true] {
            let mut weight = || if extreme { 129 } else { random.u8(..) };
            let blocks: [Vec<Pair>; 2] =
                [(); 2].map(|()| (0..pairs).map(|_| [(); 2 * BLOCK].map(|()| weight())).collect());
            let mut number = || if extreme { -8191 } else { random.i16(-8191..=8191) };
            let inputs: Vec<[i16; 2]> = (0..pairs * tile).map(|_| [number(), number()]).collect();
            let packed: Vec<i32> = inputs.iter().map(|[low, high]| halves(*low, *high)).collect();
            let expected = |input: usize, row: usize| {
                let block = &blocks[row / BLOCK];
                let product = |(pair, column): (usize, usize)| {
                    let weight = block[pair][row % BLOCK * 2 + column].cast_signed();
                    i64::from(weight) * i64::from(inputs[pair * tile + input][column])
                };
                (0..pairs).flat_map(|pair| [(pair, 0), (pair, 1)]).map(product).sum::<i64>()
            };
            for kernel in Kernel::here() {
                let job = Products { blocks: [&blocks[0], &blocks[1]], inputs: &packed, tile };
                let sums = run(kernel, job).unwrap();
                for (input, sums) in sums.iter().enumerate() {
                    for (row, sum) in sums.iter().enumerate() {
                        assert_eq!(i64::from(*sum), expected(input, row), "{kernel:?} {pairs} {tile} {input} {row}");
                    }
                }
            }
        }
    }
}

#[test]
fn dots_are_exact_for_every_byte() {
    let mut random = fastrand::Rng::with_seed(11);
    for extreme in [Some(-127), Some(127), None] {
        let query: [i8; DIMENSIONS] = [(); DIMENSIONS].map(|()| extreme.unwrap_or_else(|| random.i8(-127..=127)));
        let mut vectors: Vec<Values> = (0..37).map(|_| [(); DIMENSIONS].map(|()| random.u8(..))).collect();
        vectors.extend([[0x80; DIMENSIONS], [0x7f; DIMENSIONS], [0; DIMENSIONS]]);
        let expected = |vector: &Values| -> i32 {
            query.iter().zip(vector).map(|(a, b)| i32::from(*a) * i32::from(b.cast_signed())).sum()
        };
        let expected: Vec<i32> = vectors.iter().map(expected).collect();
        for kernel in Kernel::here() {
            assert_eq!(run(kernel, Dots(&Query::of(&query), &vectors)), expected, "{kernel:?}");
        }
    }
}
