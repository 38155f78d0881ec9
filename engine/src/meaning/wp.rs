//! Prototype, replaced by the encoder.
#![allow(warnings, clippy::all, clippy::pedantic, unsafe_code)]
// BERT-uncased WordPiece over one flat read-only blob (vocab.bin); no crates.
pub struct Wp<'a> {
    n: usize,
    mask: usize,
    off: &'a [u32],
    tab: &'a [u32],
    ncp: &'a [u32],
    noff: &'a [u32],
    rng: &'a [[u32; 3]],
    blob: &'a [u8],
    nblob: &'a [u8],
}
fn u32s(b: &[u8]) -> &[u32] {
    unsafe {
        assert!(b.as_ptr() as usize % 4 == 0);
        std::slice::from_raw_parts(b.as_ptr() as *const u32, b.len() / 4)
    }
}
#[inline]
fn fold(mut h: u64, b: &[u8]) -> u64 {
    for &c in b {
        h = (h ^ c as u64).wrapping_mul(0x100000001b3)
    }
    h
}
const S: u64 = 0xcbf29ce484222325;
impl<'a> Wp<'a> {
    pub fn new(b: &'a [u8]) -> Self {
        assert!(&b[..4] == b"WPV1");
        let h = u32s(&b[..32]);
        let (n, hb, bl, ne, nbl, nr) =
            (h[1] as usize, h[2], h[3] as usize, h[4] as usize, h[5] as usize, h[6] as usize);
        let mut p = 32;
        let mut take = |k: usize| {
            let r = &b[p..p + k];
            p += k;
            r
        };
        let off = u32s(take(4 * (n + 1)));
        let tab = u32s(take(4 << hb));
        let ncp = u32s(take(4 * ne));
        let noff = u32s(take(4 * (ne + 1)));
        let r = u32s(take(12 * nr));
        let rng = unsafe { std::slice::from_raw_parts(r.as_ptr() as *const [u32; 3], nr) };
        let blob = take(bl);
        let nblob = take(nbl);
        Wp { n, mask: (1 << hb) - 1, off, tab, ncp, noff, rng, blob, nblob }
    }
    #[inline]
    fn find(&self, pre: bool, w: &[u8], h0: u64) -> Option<u32> {
        let h = h0;
        let mut k = (h ^ (h >> 29)) as usize & self.mask;
        let l = w.len() + if pre { 2 } else { 0 };
        loop {
            let t = self.tab[k];
            if t == 0 {
                return None;
            }
            let i = t as usize - 1;
            let s = &self.blob[self.off[i] as usize..self.off[i + 1] as usize];
            if s.len() == l && (if pre { &s[..2] == b"##" && &s[2..] == w } else { s == w }) {
                return Some(i as u32);
            }
            k = (k + 1) & self.mask
        }
    }
    fn kind(&self, c: u32) -> u32 {
        let i = self.rng.partition_point(|r| r[1] < c);
        if i < self.rng.len() && self.rng[i][0] <= c { self.rng[i][2] } else { 0 }
    }
    fn word(&self, w: &[u8], nch: usize, out: &mut Vec<u32>) {
        if w.is_empty() {
            return;
        }
        if nch > 100 {
            out.push(100);
            return;
        }
        let st = out.len();
        let mut s = 0;
        let mut hs = [0u64; 401];
        while s < w.len() {
            let base = if s == 0 { S } else { fold(S, b"##") };
            let m = w.len() - s;
            let mut h = base;
            for j in 0..m {
                h = (h ^ w[s + j] as u64).wrapping_mul(0x100000001b3);
                hs[j + 1] = h
            }
            let mut e = m;
            let mut f = None;
            if e > 20 {
                e = 20
            }
            while e > 0 {
                if s + e == w.len() || (w[s + e] & 0xC0) != 0x80 {
                    if let Some(i) = self.find(s > 0, &w[s..s + e], hs[e]) {
                        f = Some(i);
                        break;
                    }
                }
                e -= 1
            }
            match f {
                Some(i) => {
                    out.push(i);
                    s += e
                }
                None => {
                    out.truncate(st);
                    out.push(100);
                    return;
                }
            }
        }
    }
    /// ids without [CLS]/[SEP]
    pub fn ids(&self, t: &str, out: &mut Vec<u32>) {
        let mut w: Vec<u8> = Vec::with_capacity(64);
        let mut nch = 0;
        let _ = self.n;
        macro_rules! flush {
            () => {{
                self.word(&w, nch, out);
                w.clear();
                nch = 0;
            }};
        }
        macro_rules! solo {
            ($s:expr) => {{
                flush!();
                self.word($s, 1, out);
            }};
        }
        for c in t.chars() {
            if c.is_ascii() {
                let b = c as u8;
                match b {
                    b'a'..=b'z' | b'0'..=b'9' => {
                        w.push(b);
                        nch += 1
                    }
                    b'A'..=b'Z' => {
                        w.push(b | 32);
                        nch += 1
                    }
                    b' ' | 9 | 10 | 13 => flush!(),
                    0..=31 | 127 => {}
                    _ => solo!(&[b]),
                }
                continue;
            }
            let cp = c as u32;
            if (0xAC00..0xD7A4).contains(&cp) {
                let s = cp - 0xAC00;
                for j in [0x1100 + s / 588, 0x1161 + s % 588 / 28, 0x11A7 + s % 28] {
                    if j == 0x11A7 {
                        continue;
                    }
                    let mut q = [0; 4];
                    w.extend(char::from_u32(j).unwrap().encode_utf8(&mut q).bytes());
                    nch += 1
                }
                continue;
            }
            match self.kind(cp) {
                4 => continue,
                3 => {
                    flush!();
                    continue;
                }
                _ => {}
            }
            let mut q = [0; 4];
            let own = c.encode_utf8(&mut q) as &str;
            let rep: &str = match self.ncp.binary_search(&cp) {
                Ok(i) => unsafe {
                    std::str::from_utf8_unchecked(&self.nblob[self.noff[i] as usize..self.noff[i + 1] as usize])
                },
                Err(_) => own,
            };
            let cjk = self.kind(cp) == 2;
            if cjk {
                flush!()
            }
            for d in rep.chars() {
                let mut q = [0; 4];
                let s = d.encode_utf8(&mut q).as_bytes();
                let p = if d.is_ascii() { d.is_ascii_punctuation() } else { self.kind(d as u32) == 1 };
                if p {
                    let v = s.to_vec();
                    solo!(&v)
                } else if d == ' ' {
                    flush!()
                } else {
                    w.extend_from_slice(s);
                    nch += 1
                }
            }
            if cjk {
                flush!()
            }
        }
        flush!();
    }
    pub fn enc(&self, t: &str, max: usize) -> Vec<u32> {
        let mut v = Vec::with_capacity(32);
        v.push(101);
        self.ids(t, &mut v);
        v.truncate(max - 1);
        v.push(102);
        v
    }
}
