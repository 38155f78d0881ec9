//! The inner loops of the encoder for each kind of processor, and the choice between them.
//!
//! All loops multiply small integers, and the sums are exact. So all kernels return exactly the same bits. The code
//! between these loops is generic Rust in `net`, which the compiler builds separately for each instruction set. In the
//! crate `tessera-encoder`, only this module uses `unsafe`. This module loads arrays into registers, and calls code for
//! a detected processor.

use super::vector::DIMENSIONS;
use super::weights::PackedPair;

/// Rows of a block of weights.
pub(super) const BLOCK: usize = 16;
/// For each row of a block, the weights of two neighbouring columns.
pub(super) type Pair = [u8; 2 * BLOCK];
/// For each row of two blocks, the sum of the products.
pub(super) type Sums = [i32; 2 * BLOCK];
/// Maximum inputs multiplied at once.
pub(super) const WIDEST: usize = 8;
/// A vector as bytes.
pub(super) type Values = [u8; DIMENSIONS];

/// A kind of processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernel {
    /// Any.
    Plain,
    /// x86-64.
    #[cfg(target_arch = "x86_64")]
    Sse2,
    /// x86-64 since 2013.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// x86-64 with dot products of small integers in 256-bit registers.
    #[cfg(target_arch = "x86_64")]
    AvxVnni,
    /// The same in 512-bit registers.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// arm64.
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl Kernel {
    /// The kinds that this machine supports, fastest last.
    pub fn here() -> Vec<Self> {
        let mut here = vec![Self::Plain];
        #[cfg(target_arch = "x86_64")]
        {
            here.push(Self::Sse2);
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
                here.push(Self::Avx2);
                if is_x86_feature_detected!("avxvnni") {
                    here.push(Self::AvxVnni);
                }
                let has_512 = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw");
                if has_512 && is_x86_feature_detected!("avx512vnni") && is_x86_feature_detected!("avx512vl") {
                    here.push(Self::Avx512);
                }
            }
        }
        #[cfg(target_arch = "aarch64")]
        here.push(Self::Neon);
        here
    }

    /// Returns the fastest kernel that this machine supports.
    pub fn best() -> Self {
        static BEST: std::sync::OnceLock<Kernel> = std::sync::OnceLock::new();
        *BEST.get_or_init(|| Self::here().last().copied().unwrap_or(Self::Plain))
    }
}

/// The operations that differ between processors.
pub(super) trait Kernels {
    /// The number of inputs that are multiplied at once, at most [`WIDEST`].
    const TILE: usize;

    /// For each of `T` inputs and each row of two blocks, computes the sum of the products of inputs and weights. An
    /// input contains the values of two columns. Each value has 13 bits and a sign.
    fn products<const T: usize>(blocks: [&[Pair]; 2], inputs: &[[i32; T]], sums: &mut [Sums]);

    /// Computes the dot product of one vector with each of many vectors, and writes the products to `dots`.
    fn dots(query: &Query, vectors: &[Values], dots: &mut [i32]);
}

/// Reads weights ahead into the cache of the processor. On arm64, there is no stable Rust function for this.
#[inline(always)]
pub(super) fn read_ahead(weights: &[PackedPair]) {
    #[cfg(target_arch = "x86_64")]
    x86::read_ahead(weights);
    #[cfg(not(target_arch = "x86_64"))]
    let _ = weights;
}

/// A vector that is compared with many vectors.
#[derive(Debug, Clone)]
pub(super) struct Query {
    values: [i8; DIMENSIONS],
    wide: [i16; DIMENSIONS],
}

impl Query {
    pub(super) fn of(values: &[i8; DIMENSIONS]) -> Self {
        Self { values: *values, wide: values.map(i16::from) }
    }
}

/// Work that is compiled for each kind of processor; `run` must be inlined.
pub(super) trait Job {
    type Output;

    fn run<K: Kernels>(self) -> Self::Output;
}

/// Runs a job with the kernel for a kind of processor.
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "a kernel runs only after the required CPU features were detected")
)]
pub(super) fn run<J: Job>(kernel: Kernel, job: J) -> J::Output {
    match kernel {
        Kernel::Plain => job.run::<Plain>(),
        #[cfg(target_arch = "x86_64")]
        Kernel::Sse2 => job.run::<x86::Sse2>(),
        // SAFETY: `Kernel::here` has detected each of these features.
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2 => unsafe { x86::on_avx2(job) },
        #[cfg(target_arch = "x86_64")]
        Kernel::AvxVnni => unsafe { x86::on_avx_vnni(job) },
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512 => unsafe { x86::on_avx512(job) },
        #[cfg(target_arch = "aarch64")]
        Kernel::Neon => job.run::<arm::Neon>(),
    }
}

/// The code for any processor; the others are tested against it.
struct Plain;

impl Kernels for Plain {
    const TILE: usize = 2;

    #[inline(always)]
    fn products<const T: usize>(blocks: [&[Pair]; 2], inputs: &[[i32; T]], sums: &mut [Sums]) {
        for (half, block) in blocks.into_iter().enumerate() {
            let mut totals = [[0; BLOCK]; T];
            for (pair, inputs) in block.iter().zip(inputs) {
                let mut weights = [[0_i16; 2]; BLOCK];
                for (weights, bytes) in weights.iter_mut().zip(pair.as_chunks::<2>().0) {
                    *weights = bytes.map(|byte| i16::from(byte.cast_signed()));
                }
                for (totals, input) in totals.iter_mut().zip(inputs) {
                    let [a, b, c, d] = input.to_le_bytes();
                    let (low, high) = (i16::from_le_bytes([a, b]), i16::from_le_bytes([c, d]));
                    for (total, [first, second]) in totals.iter_mut().zip(&weights) {
                        *total += i32::from(*first) * i32::from(low) + i32::from(*second) * i32::from(high);
                    }
                }
            }
            for (sums, totals) in sums.iter_mut().zip(totals) {
                sums.iter_mut().skip(half * BLOCK).zip(totals).for_each(|(sum, total)| *sum = total);
            }
        }
    }

    #[inline(always)]
    fn dots(query: &Query, vectors: &[Values], dots: &mut [i32]) {
        for (vector, dot) in vectors.iter().zip(dots) {
            *dot = query.wide.iter().zip(vector).map(|(a, b)| i32::from(*a) * i32::from(b.cast_signed())).sum();
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[cfg_attr(not(test), expect(clippy::wildcard_imports, reason = "instructions"))]
#[expect(
    unsafe_code,
    reason = "each load reads a whole array; code for a CPU feature runs only if the CPU has this feature"
)]
mod x86 {
    use std::arch::x86_64::*;

    use super::{BLOCK, Job, Kernels, PackedPair, Pair, Query, Sums, Values};

    pub(super) struct Sse2;
    pub(super) struct Avx2;
    pub(super) struct AvxVnni;
    pub(super) struct Avx512;

    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn on_avx2<J: Job>(job: J) -> J::Output {
        job.run::<Avx2>()
    }

    #[target_feature(enable = "avx2,popcnt,avxvnni")]
    pub(super) fn on_avx_vnni<J: Job>(job: J) -> J::Output {
        job.run::<AvxVnni>()
    }

    #[target_feature(enable = "avx2,popcnt,avx512f,avx512bw,avx512vl,avx512vnni")]
    pub(super) fn on_avx512<J: Job>(job: J) -> J::Output {
        job.run::<Avx512>()
    }

    /// Bytes of a line of the cache.
    const LINE: usize = 64;

    #[inline(always)]
    pub(super) fn read_ahead(weights: &[PackedPair]) {
        for line in weights.chunks(LINE / size_of::<PackedPair>()) {
            // SAFETY: this instruction only fetches a line into the cache.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
        }
    }

    // SAFETY, for all loads and stores here: each reads or writes one whole array, and none requires an alignment.
    #[inline(always)]
    fn load128<T>(from: &[T; 16]) -> __m128i {
        const { assert!(size_of::<T>() == 1) };
        unsafe { _mm_loadu_si128(from.as_ptr().cast()) }
    }

    impl Kernels for Sse2 {
        const TILE: usize = 2;

        #[inline(always)]
        fn products<const T: usize>(blocks: [&[Pair]; 2], inputs: &[[i32; T]], sums: &mut [Sums]) {
            for (half, block) in blocks.into_iter().enumerate() {
                let mut totals = [[unsafe { _mm_setzero_si128() }; 4]; T];
                for (pair, inputs) in block.iter().zip(inputs) {
                    let inputs = inputs.map(|input| unsafe { _mm_set1_epi32(input) });
                    let (parts, _) = pair.as_chunks::<16>();
                    for (two, part) in parts.iter().enumerate() {
                        let part = load128(part);
                        let low = unsafe { _mm_srai_epi16(_mm_unpacklo_epi8(part, part), 8) };
                        let high = unsafe { _mm_srai_epi16(_mm_unpackhi_epi8(part, part), 8) };
                        for (totals, input) in totals.iter_mut().zip(inputs) {
                            let (totals, _) = totals.as_chunks_mut::<2>();
                            if let Some([first, second]) = totals.get_mut(two) {
                                *first = unsafe { _mm_add_epi32(*first, _mm_madd_epi16(low, input)) };
                                *second = unsafe { _mm_add_epi32(*second, _mm_madd_epi16(high, input)) };
                            }
                        }
                    }
                }
                for (sums, totals) in sums.iter_mut().zip(totals) {
                    let (places, _) = sums.as_chunks_mut::<4>();
                    for (place, total) in places.iter_mut().skip(half * 4).zip(totals) {
                        unsafe { _mm_storeu_si128(place.as_mut_ptr().cast(), total) };
                    }
                }
            }
        }

        #[inline(always)]
        fn dots(query: &Query, vectors: &[Values], dots: &mut [i32]) {
            let (query, _) = query.wide.as_chunks::<16>();
            for (vector, dot) in vectors.iter().zip(dots) {
                let mut total = unsafe { _mm_setzero_si128() };
                for (query, part) in query.iter().zip(vector.as_chunks::<16>().0) {
                    let part = load128(part);
                    unsafe {
                        let low = _mm_srai_epi16(_mm_unpacklo_epi8(part, part), 8);
                        let high = _mm_srai_epi16(_mm_unpackhi_epi8(part, part), 8);
                        let first = _mm_loadu_si128(query.as_ptr().cast());
                        let second = _mm_loadu_si128(query.as_ptr().add(8).cast());
                        total = _mm_add_epi32(total, _mm_madd_epi16(low, first));
                        total = _mm_add_epi32(total, _mm_madd_epi16(high, second));
                    }
                }
                *dot = sum128(total);
            }
        }
    }

    #[inline(always)]
    fn sum128(total: __m128i) -> i32 {
        unsafe {
            let total = _mm_add_epi32(total, _mm_shuffle_epi32(total, 0b01_00_11_10));
            _mm_cvtsi128_si32(_mm_add_epi32(total, _mm_shuffle_epi32(total, 0b10_11_00_01)))
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn sum256(total: __m256i) -> i32 {
        sum128(_mm_add_epi32(_mm256_castsi256_si128(total), _mm256_extracti128_si256(total, 1)))
    }

    /// The two 256-bit kernels use different instructions to multiply and add pairs of numbers.
    macro_rules! kernels_of_256_bits {
        ($name:ident, $features:literal, $tile:literal, $add:expr) => {
            impl Kernels for $name {
                const TILE: usize = $tile;

                #[inline(always)]
                fn products<const T: usize>(blocks: [&[Pair]; 2], inputs: &[[i32; T]], sums: &mut [Sums]) {
                    #[inline]
                    #[target_feature(enable = $features)]
                    fn block<const T: usize>(block: &[Pair], inputs: &[[i32; T]]) -> [[__m256i; 2]; T] {
                        let mut totals = [[_mm256_setzero_si256(); 2]; T];
                        for (pair, inputs) in block.iter().zip(inputs) {
                            let [first, second] = [&pair[..16], &pair[16..]]
                                .map(|part| unsafe { _mm256_cvtepi8_epi16(_mm_loadu_si128(part.as_ptr().cast())) });
                            for (totals, input) in totals.iter_mut().zip(inputs) {
                                let input = _mm256_set1_epi32(*input);
                                totals[0] = $add(totals[0], first, input);
                                totals[1] = $add(totals[1], second, input);
                            }
                        }
                        totals
                    }
                    for (half, weights) in blocks.into_iter().enumerate() {
                        let totals = unsafe { block(weights, inputs) };
                        for (sums, totals) in sums.iter_mut().zip(totals) {
                            let (places, _) = sums.as_chunks_mut::<8>();
                            for (place, total) in places.iter_mut().skip(half * 2).zip(totals) {
                                unsafe { _mm256_storeu_si256(place.as_mut_ptr().cast(), total) };
                            }
                        }
                    }
                }

                #[inline(always)]
                fn dots(query: &Query, vectors: &[Values], dots: &mut [i32]) {
                    #[inline]
                    #[target_feature(enable = $features)]
                    fn all(query: &Query, vectors: &[Values], dots: &mut [i32]) {
                        let (query, _) = query.wide.as_chunks::<16>();
                        for (vector, dot) in vectors.iter().zip(dots) {
                            let mut total = _mm256_setzero_si256();
                            for (query, part) in query.iter().zip(vector.as_chunks::<16>().0) {
                                let query = unsafe { _mm256_loadu_si256(query.as_ptr().cast()) };
                                total = $add(total, _mm256_cvtepi8_epi16(load128(part)), query);
                            }
                            *dot = sum256(total);
                        }
                    }
                    unsafe { all(query, vectors, dots) };
                }
            }
        };
    }

    kernels_of_256_bits!(Avx2, "avx2", 4, |total, a, b| _mm256_add_epi32(total, _mm256_madd_epi16(a, b)));
    kernels_of_256_bits!(AvxVnni, "avx2,avxvnni", 6, |total, a, b| _mm256_dpwssd_avx_epi32(total, a, b));

    impl Kernels for Avx512 {
        const TILE: usize = 8;

        #[inline(always)]
        fn products<const T: usize>(blocks: [&[Pair]; 2], inputs: &[[i32; T]], sums: &mut [Sums]) {
            #[inline]
            #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
            fn both<const T: usize>([first, second]: [&[Pair]; 2], inputs: &[[i32; T]]) -> [[__m512i; 2]; T] {
                let mut totals = [[_mm512_setzero_si512(); 2]; T];
                for ((first, second), inputs) in first.iter().zip(second).zip(inputs) {
                    let [first, second] = [first, second]
                        .map(|pair| unsafe { _mm512_cvtepi8_epi16(_mm256_loadu_si256(pair.as_ptr().cast())) });
                    for (totals, input) in totals.iter_mut().zip(inputs) {
                        let input = _mm512_set1_epi32(*input);
                        totals[0] = _mm512_dpwssd_epi32(totals[0], first, input);
                        totals[1] = _mm512_dpwssd_epi32(totals[1], second, input);
                    }
                }
                totals
            }
            let totals = unsafe { both(blocks, inputs) };
            for (sums, totals) in sums.iter_mut().zip(totals) {
                for (place, total) in sums.as_chunks_mut::<BLOCK>().0.iter_mut().zip(totals) {
                    unsafe { _mm512_storeu_si512(place.as_mut_ptr().cast(), total) };
                }
            }
        }

        /// The instruction multiplies unsigned numbers by signed numbers, but both vectors contain signed numbers. So
        /// 128 is added to each value of one vector by flipping its highest bit. Flipping the highest bit of each value
        /// adds 128. Because 128 was added to each value, 128 times the sum of the other vector is subtracted
        /// afterwards.
        #[inline(always)]
        fn dots(query: &Query, vectors: &[Values], dots: &mut [i32]) {
            #[inline]
            #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
            fn all(query: &Query, vectors: &[Values], dots: &mut [i32]) {
                let (parts, _) = query.values.as_chunks::<64>();
                let turn = _mm512_set1_epi8(-128);
                let turned = 128 * query.wide.iter().map(|value| i32::from(*value)).sum::<i32>();
                for (vector, dot) in vectors.iter().zip(dots) {
                    let mut total = _mm512_setzero_si512();
                    for (query, part) in parts.iter().zip(vector.as_chunks::<64>().0) {
                        let query = unsafe { _mm512_loadu_si512(query.as_ptr().cast()) };
                        let part = unsafe { _mm512_loadu_si512(part.as_ptr().cast()) };
                        total = _mm512_dpbusd_epi32(total, _mm512_xor_si512(part, turn), query);
                    }
                    *dot = _mm512_reduce_add_epi32(total) - turned;
                }
            }
            unsafe { all(query, vectors, dots) };
        }
    }
}

#[cfg(target_arch = "aarch64")]
#[cfg_attr(not(test), expect(clippy::wildcard_imports, reason = "instructions"))]
#[expect(unsafe_code, reason = "loads of whole arrays")]
mod arm {
    use std::arch::aarch64::*;

    use super::{Kernels, Pair, Query, Sums, Values};

    pub(super) struct Neon;

    impl Kernels for Neon {
        const TILE: usize = 2;

        // SAFETY: every processor for which this is compiled has these instructions; each load and store is of one
        // whole array.
        #[inline(always)]
        fn products<const T: usize>(blocks: [&[Pair]; 2], inputs: &[[i32; T]], sums: &mut [Sums]) {
            for (half, block) in blocks.into_iter().enumerate() {
                // Four rows each: the products of even and odd columns stay separate until the end.
                let mut totals = [[[unsafe { vdupq_n_s32(0) }; 2]; 4]; T];
                for (pair, inputs) in block.iter().zip(inputs) {
                    let inputs = inputs.map(|input| unsafe { vreinterpretq_s16_s32(vdupq_n_s32(input)) });
                    let (parts, _) = pair.as_chunks::<8>();
                    for (four, part) in parts.iter().enumerate() {
                        let weights = unsafe { vmovl_s8(vld1_s8(part.as_ptr().cast())) };
                        for (totals, input) in totals.iter_mut().zip(inputs) {
                            if let Some([low, high]) = totals.get_mut(four) {
                                *low = unsafe { vmlal_s16(*low, vget_low_s16(weights), vget_low_s16(input)) };
                                *high = unsafe { vmlal_high_s16(*high, weights, input) };
                            }
                        }
                    }
                }
                for (sums, totals) in sums.iter_mut().zip(totals) {
                    let (places, _) = sums.as_chunks_mut::<4>();
                    for (place, [low, high]) in places.iter_mut().skip(half * 4).zip(totals) {
                        unsafe { vst1q_s32(place.as_mut_ptr(), vpaddq_s32(low, high)) };
                    }
                }
            }
        }

        #[inline(always)]
        fn dots(query: &Query, vectors: &[Values], dots: &mut [i32]) {
            let (query, _) = query.values.as_chunks::<16>();
            for (vector, dot) in vectors.iter().zip(dots) {
                let mut total = unsafe { vdupq_n_s32(0) };
                for (query, part) in query.iter().zip(vector.as_chunks::<16>().0) {
                    unsafe {
                        let (query, part) = (vld1q_s8(query.as_ptr()), vld1q_s8(part.as_ptr().cast()));
                        total = vpadalq_s16(total, vmull_s8(vget_low_s8(query), vget_low_s8(part)));
                        total = vpadalq_s16(total, vmull_high_s8(query, part));
                    }
                }
                *dot = unsafe { vaddvq_s32(total) };
            }
        }
    }
}

#[cfg(test)]
mod tests;
