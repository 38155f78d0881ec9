//! The weights of the sentence encoder, in a separate crate so that they are rarely recompiled.
//!
//! `make.py` and `make_e5.py` in this directory create the two files and document their formats.

use std::sync::atomic::{AtomicU32, Ordering};

/// Aligns the weights to a page, so that each layer of the network begins at the start of a page.
#[repr(C, align(4096))]
struct Page<T: ?Sized>(T);

static MINILM: &Page<[u8]> = &Page(*include_bytes!("../minilm.bin"));
static E5: &Page<[u8]> = &Page(*include_bytes!("../e5.bin"));

/// The weights of all-MiniLM-L6-v2. They are part of the program file, so all Tessera processes share their memory.
pub fn minilm() -> &'static [u8] {
    &MINILM.0
}

/// The weights of multilingual-e5-small.
pub fn e5() -> &'static [u8] {
    &E5.0
}

/// How often the pages were released.
static RESTED: AtomicU32 = AtomicU32::new(1);

/// When a part of the weights was mapped last.
#[derive(Debug, Default)]
pub struct Woken(AtomicU32);

impl Woken {
    /// Maps all pages of a part of the weights at once, unless that was done since the pages were last released. Each
    /// page that is mapped when it is first read takes several times longer. Systems without this call map them then.
    pub fn wake(&self, part: &'static [u8]) {
        let rested = RESTED.load(Ordering::Relaxed);
        if self.0.swap(rested, Ordering::Relaxed) != rested {
            advise(part, POPULATE_READ);
        }
    }
}

/// Releases the pages of the weights that this process has read. They stay in the system's cache and are read again
/// from there.
pub fn rest() {
    RESTED.fetch_add(1, Ordering::Relaxed);
    for weights in [minilm(), e5()] {
        advise(weights, DONT_NEED);
    }
}

type Advice = i32;
/// The constant has the same value on Linux, macOS and the BSDs.
const DONT_NEED: Advice = 4;
/// Known to Linux since version 5.14; other systems ignore it.
const POPULATE_READ: Advice = if cfg!(target_os = "linux") { 22 } else { DONT_NEED + 1000 };

#[cfg(unix)]
#[expect(unsafe_code, reason = "one call of the C library")]
fn advise(part: &'static [u8], advice: Advice) {
    use std::ffi::{c_int, c_void};
    unsafe extern "C" {
        fn madvise(address: *mut c_void, length: usize, advice: c_int) -> c_int;
    }
    /// The pages of the weights begin at such addresses.
    const ALIGNED: usize = 4096;
    let inside = part.as_ptr().align_offset(ALIGNED).min(part.len());
    let length = (part.len() - inside) & !0xffff;
    // SAFETY: the pages are a read-only map of the program's file. Dropped pages are read from there again, and reading
    // ahead changes nothing. The range is within the weights. If pages are larger than the alignment, or the system does
    // not know the advice, the call fails without effect.
    unsafe { madvise(part.as_ptr().wrapping_add(inside).cast_mut().cast(), length, advice) };
}

#[cfg(not(unix))]
fn advise(_: &'static [u8], _: Advice) {}
