//! Prototype, replaced by the encoder.
#![allow(warnings, clippy::all, clippy::pedantic, unsafe_code)]
// all-MiniLM-L6-v2, int8 per-row weights, dynamic int8 activations per token, exact i32 dot products,
// f32 rest in a fixed order without fused multiply-add: same bits on every IEEE machine.
pub struct Lin<'a> {
    s: &'a [f32],
    b: &'a [f32],
    w: &'a [i8],
    o: usize,
    k: usize,
}
struct Lay<'a> {
    qkv: Lin<'a>,
    ao: Lin<'a>,
    g1: &'a [f32],
    b1: &'a [f32],
    up: Lin<'a>,
    dn: Lin<'a>,
    g2: &'a [f32],
    b2: &'a [f32],
}
pub struct Mini<'a> {
    es: &'a [f32],
    e: &'a [i8],
    pos: &'a [f32],
    g: &'a [f32],
    b: &'a [f32],
    l: Vec<Lay<'a>>,
    pub enc_at: usize,
    pub simd: u8,
}
const D: usize = 384;
const F: usize = 1536;
impl<'a> Mini<'a> {
    pub fn new(m: &'a [u8]) -> Self {
        assert!(&m[..4] == b"MLM1");
        let mut p = 64usize;
        let b = m.as_ptr();
        macro_rules! f {
            ($n:expr) => {{
                p = (p + 63) & !63;
                assert!(p + 4 * $n <= m.len());
                let r = unsafe { std::slice::from_raw_parts(b.add(p) as *const f32, $n) };
                p += 4 * $n;
                r
            }};
        }
        macro_rules! i {
            ($n:expr) => {{
                p = (p + 63) & !63;
                assert!(p + $n <= m.len());
                let r = unsafe { std::slice::from_raw_parts(b.add(p) as *const i8, $n) };
                p += $n;
                r
            }};
        }
        macro_rules! lin {
            ($o:expr,$k:expr) => {{
                let s = f!($o);
                let bb = f!($o);
                let w = i!($o * $k);
                Lin { s, b: bb, w, o: $o, k: $k }
            }};
        }
        let es = f!(30522);
        let e = i!(30522 * D);
        let enc_at = p;
        let pos = f!(256 * D);
        let g = f!(D);
        let bb = f!(D);
        let l = (0..6)
            .map(|_| {
                let qkv = lin!(3 * D, D);
                let ao = lin!(D, D);
                let g1 = f!(D);
                let b1 = f!(D);
                let up = lin!(F, D);
                let dn = lin!(D, F);
                let g2 = f!(D);
                let b2 = f!(D);
                Lay { qkv, ao, g1, b1, up, dn, g2, b2 }
            })
            .collect();
        #[cfg(target_arch = "x86_64")]
        let simd = match std::env::var("NOSIMD").as_deref() {
            Ok("1") => 1,
            Ok("2") => 0,
            _ => {
                if std::is_x86_feature_detected!("avx2") {
                    2
                } else {
                    1
                }
            }
        };
        #[cfg(not(target_arch = "x86_64"))]
        let simd = 0;
        Mini { es, e, pos, g, b: bb, l, enc_at, simd }
    }
    /// one or more id sequences, no padding; returns unit vectors
    pub fn enc(&self, b: &[Vec<u32>]) -> Vec<[f32; D]> {
        #[cfg(target_arch = "x86_64")]
        {
            if self.simd == 2 {
                return unsafe { fwd_avx2(self, b) };
            }
            if self.simd == 1 {
                return fwd::<1>(self, b);
            }
        }
        fwd::<0>(self, b)
    }
}
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn fwd_avx2(m: &Mini, b: &[Vec<u32>]) -> Vec<[f32; D]> {
    fwd::<2>(m, b)
}
#[inline(always)]
fn sum8(x: &[f32]) -> f32 {
    let mut a = [0f32; 8];
    for c in x.chunks_exact(8) {
        for j in 0..8 {
            a[j] += c[j]
        }
    }
    ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]))
}
#[inline(always)]
fn dot8(x: &[f32], y: &[f32]) -> f32 {
    let mut a = [0f32; 8];
    for (c, d) in x.chunks_exact(8).zip(y.chunks_exact(8)) {
        for j in 0..8 {
            a[j] += c[j] * d[j]
        }
    }
    ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]))
}
#[inline(always)]
fn rnd(x: f32) -> f32 {
    (x + 12582912.0) - 12582912.0
}
#[inline(always)]
fn exp(x: f32) -> f32 {
    let x = if x < -87.0 { -87.0 } else { x };
    let n = rnd(x * 1.44269504);
    let r = x - n * 0.693359375;
    let r = r - n * (-2.12194440e-4);
    let p = ((((((1.9875691500e-4 * r) + 1.3981999507e-3) * r + 8.3334519073e-3) * r + 4.1665795894e-2) * r
        + 1.6666665459e-1)
        * r
        + 5.0000001201e-1)
        * r
        * r
        + r
        + 1.0;
    p * f32::from_bits(((n as i32 + 127) as u32) << 23)
}
#[inline(always)]
fn gelu(x: f32) -> f32 {
    let z = x.abs() * 0.70710678;
    let t = 1.0 / (1.0 + 0.3275911 * z);
    let y =
        ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t * exp(-z * z);
    let e = 1.0 - y;
    let e = if x < 0.0 { -e } else { e };
    0.5 * x * (1.0 + e)
}
#[inline(always)]
fn ln(x: &mut [f32], g: &[f32], b: &[f32]) {
    for r in x.chunks_exact_mut(D) {
        let m = sum8(r) / D as f32;
        for v in r.iter_mut() {
            *v -= m
        }
        let v = dot8(r, r) / D as f32;
        let i = 1.0 / (v + 1e-12).sqrt();
        for j in 0..D {
            r[j] = r[j] * i * g[j] + b[j]
        }
    }
}
#[inline(always)]
fn quant(x: &[f32], k: usize, q: &mut [i16], s: &mut [f32]) {
    for (t, r) in x.chunks_exact(k).enumerate() {
        let mut a = [0f32; 8];
        for c in r.chunks_exact(8) {
            for j in 0..8 {
                let v = c[j].abs();
                a[j] = if v > a[j] { v } else { a[j] }
            }
        }
        let mut m = 1e-20f32;
        for v in a {
            if v > m {
                m = v
            }
        }
        let i = 8191.0 / m;
        s[t] = m / 8191.0;
        let o = &mut q[t * k..(t + 1) * k];
        for j in 0..k {
            o[j] = unsafe { rnd(r[j] * i).to_int_unchecked::<i32>() } as i16
        }
    }
}
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn kern<const R: usize, const T: usize>(w: *const i8, x: *const i16, k: usize) -> [[i32; T]; R] {
    use std::arch::x86_64::*;
    let mut a = [[_mm256_setzero_si256(); T]; R];
    let mut i = 0;
    while i < k {
        let mut xv = [_mm256_setzero_si256(); T];
        for t in 0..T {
            xv[t] = _mm256_loadu_si256(x.add(t * k + i) as *const __m256i)
        }
        for r in 0..R {
            let wv = _mm256_cvtepi8_epi16(_mm_loadu_si128(w.add(r * k + i) as *const __m128i));
            for t in 0..T {
                a[r][t] = _mm256_add_epi32(a[r][t], _mm256_madd_epi16(wv, xv[t]))
            }
        }
        i += 16
    }
    let mut o = [[0i32; T]; R];
    for r in 0..R {
        for t in 0..T {
            let v = a[r][t];
            let v = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
            let v = _mm_add_epi32(v, _mm_shuffle_epi32(v, 0x4e));
            let v = _mm_add_epi32(v, _mm_shuffle_epi32(v, 0xb1));
            o[r][t] = _mm_cvtsi128_si32(v)
        }
    }
    o
}
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn kern_sse2<const R: usize, const T: usize>(w: *const i8, x: *const i16, k: usize) -> [[i32; T]; R] {
    use std::arch::x86_64::*;
    let mut a = [[_mm_setzero_si128(); T]; R];
    let mut i = 0;
    while i < k {
        for r in 0..R {
            let v = _mm_loadu_si128(w.add(r * k + i) as *const __m128i);
            let l = _mm_srai_epi16(_mm_unpacklo_epi8(v, v), 8);
            let h = _mm_srai_epi16(_mm_unpackhi_epi8(v, v), 8);
            for t in 0..T {
                let p = x.add(t * k + i);
                a[r][t] = _mm_add_epi32(
                    a[r][t],
                    _mm_add_epi32(
                        _mm_madd_epi16(l, _mm_loadu_si128(p as *const __m128i)),
                        _mm_madd_epi16(h, _mm_loadu_si128(p.add(8) as *const __m128i)),
                    ),
                )
            }
        }
        i += 16
    }
    let mut o = [[0i32; T]; R];
    for r in 0..R {
        for t in 0..T {
            let v = a[r][t];
            let v = _mm_add_epi32(v, _mm_shuffle_epi32(v, 0x4e));
            let v = _mm_add_epi32(v, _mm_shuffle_epi32(v, 0xb1));
            o[r][t] = _mm_cvtsi128_si32(v)
        }
    }
    o
}
#[inline(always)]
fn idot(w: &[i8], x: &[i16]) -> i32 {
    let mut a = 0i32;
    for (p, q) in w.iter().zip(x) {
        a += *p as i32 * *q as i32
    }
    a
}
#[inline(always)]
fn lin<const A: u8>(l: &Lin, q: &[i16], s: &[f32], n: usize, y: &mut [f32]) {
    let (o, k) = (l.o, l.k);
    let mut t0 = 0;
    while t0 < n {
        let t1 = (t0 + 32).min(n);
        let mut r = 0;
        while r < o {
            if A > 0 {
                #[cfg(target_arch = "x86_64")]
                unsafe {
                    macro_rules! go {
                        ($t:expr,$T:literal) => {{
                            let z = if A == 2 {
                                kern::<2, $T>(l.w.as_ptr().add(r * k), q.as_ptr().add($t * k), k)
                            } else {
                                kern_sse2::<2, $T>(l.w.as_ptr().add(r * k), q.as_ptr().add($t * k), k)
                            };
                            for j in 0..2 {
                                for u in 0..$T {
                                    *y.get_unchecked_mut(($t + u) * o + r + j) =
                                        z[j][u] as f32 * (l.s[r + j] * s[$t + u]) + l.b[r + j]
                                }
                            }
                        }};
                    }
                    let mut t = t0;
                    while t + 4 <= t1 {
                        go!(t, 4);
                        t += 4
                    }
                    match t1 - t {
                        3 => go!(t, 3),
                        2 => go!(t, 2),
                        1 => go!(t, 1),
                        _ => {}
                    }
                }
                r += 2;
            } else {
                for t in t0..t1 {
                    y[t * o + r] =
                        idot(&l.w[r * k..(r + 1) * k], &q[t * k..(t + 1) * k]) as f32 * (l.s[r] * s[t]) + l.b[r]
                }
                r += 1;
            }
        }
        t0 = t1
    }
}
#[inline(always)]
fn fwd<const A: u8>(m: &Mini, b: &[Vec<u32>]) -> Vec<[f32; D]> {
    let n: usize = b.iter().map(|x| x.len()).sum();
    let mut x = vec![0f32; n * D];
    let mut t = 0;
    for s in b {
        for (p, &id) in s.iter().enumerate() {
            let id = id as usize;
            let sc = m.es[id];
            let e = &m.e[id * D..(id + 1) * D];
            let ps = &m.pos[p * D..(p + 1) * D];
            let r = &mut x[t * D..(t + 1) * D];
            for j in 0..D {
                r[j] = e[j] as f32 * sc + ps[j]
            }
            t += 1
        }
    }
    ln(&mut x, m.g, m.b);
    let mut q = vec![0i16; n * F];
    let mut s = vec![0f32; n];
    let mut h = vec![0f32; n * F];
    let mut c = vec![0f32; n * D];
    let mut y = vec![0f32; n * D];
    let mx = b.iter().map(|x| x.len()).max().unwrap();
    let mut at = vec![0f32; mx];
    let mut kt = vec![0f32; 32 * mx];
    for l in &m.l {
        quant(&x, D, &mut q, &mut s);
        lin::<A>(&l.qkv, &q, &s, n, &mut h[..n * 3 * D]);
        let mut o = 0;
        for sq in b {
            let len = sq.len();
            for hd in 0..12 {
                let at_ = |t: usize, w: usize| (o + t) * 3 * D + w * D + hd * 32;
                for t in 0..len {
                    let r = &h[at_(t, 1)..at_(t, 1) + 32];
                    for d in 0..32 {
                        kt[d * len + t] = r[d]
                    }
                }
                for i in 0..len {
                    let a = &mut at[..len];
                    a.fill(0.0);
                    let qq = &h[at_(i, 0)..at_(i, 0) + 32];
                    for d in 0..32 {
                        let v = qq[d] * 0.17677669;
                        let r = &kt[d * len..(d + 1) * len];
                        for j in 0..len {
                            a[j] += v * r[j]
                        }
                    }
                    let mut mxv = f32::MIN;
                    for &v in a.iter() {
                        if v > mxv {
                            mxv = v
                        }
                    }
                    for v in a.iter_mut() {
                        *v = exp(*v - mxv)
                    }
                    let mut sm = 0f32;
                    for &v in a.iter() {
                        sm += v
                    }
                    let iv = 1.0 / sm;
                    let mut acc = [0f32; 32];
                    for j in 0..len {
                        let v = a[j] * iv;
                        let r = &h[at_(j, 2)..at_(j, 2) + 32];
                        for d in 0..32 {
                            acc[d] += v * r[d]
                        }
                    }
                    c[(o + i) * D + hd * 32..(o + i) * D + hd * 32 + 32].copy_from_slice(&acc)
                }
            }
            o += len
        }
        quant(&c, D, &mut q, &mut s);
        lin::<A>(&l.ao, &q, &s, n, &mut y);
        for (a, b) in x.iter_mut().zip(&y) {
            *a += *b
        }
        ln(&mut x, l.g1, l.b1);
        quant(&x, D, &mut q, &mut s);
        lin::<A>(&l.up, &q, &s, n, &mut h);
        for v in h.iter_mut() {
            *v = gelu(*v)
        }
        quant(&h, F, &mut q, &mut s);
        lin::<A>(&l.dn, &q, &s, n, &mut y);
        for (a, b) in x.iter_mut().zip(&y) {
            *a += *b
        }
        ln(&mut x, l.g2, l.b2);
    }
    let mut o = 0;
    b.iter()
        .map(|sq| {
            let mut e = [0f32; D];
            for t in 0..sq.len() {
                let r = &x[(o + t) * D..(o + t + 1) * D];
                for j in 0..D {
                    e[j] += r[j]
                }
            }
            o += sq.len();
            let z = 1.0 / dot8(&e, &e).sqrt();
            for v in &mut e {
                *v *= z
            }
            e
        })
        .collect()
}
