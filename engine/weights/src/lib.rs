//! The weights of the sentence encoder, in a separate crate so that they are rarely recompiled.
//!
//! `make.py` and `make_e5.py` in this directory create the two files and document their formats.

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

/// Releases the pages of the weights that this process has read. They stay in the system's cache and are read again
/// from there.
#[cfg(unix)]
#[expect(unsafe_code, reason = "one call of the C library")]
pub fn rest() {
    use std::ffi::{c_int, c_void};
    unsafe extern "C" {
        fn madvise(address: *mut c_void, length: usize, advice: c_int) -> c_int;
    }
    /// The constant has the same value on Linux, macOS and the BSDs.
    const DONTNEED: c_int = 4;
    for weights in [minilm(), e5()] {
        // SAFETY: the pages are a read-only map of the program's file, so dropped pages are read from there again. The
        // length ends before the last page of the weights. If pages are larger than the alignment, the call fails
        // without effect.
        unsafe { madvise(weights.as_ptr().cast_mut().cast(), weights.len() & !0xffff, DONTNEED) };
    }
}

/// Releases the pages of the weights, where the system supports it.
#[cfg(not(unix))]
pub fn rest() {}
