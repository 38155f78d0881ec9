//! The weights of the sentence encoder, in a crate of their own: whoever changes the engine does not compile them again.
//!
//! `make.py` beside it makes the file, and says what is in it.

/// Aligned to a page, so that the layers of the net begin at one.
#[repr(C, align(4096))]
struct Page<T: ?Sized>(T);

static MINILM: &Page<[u8]> = &Page(*include_bytes!("../minilm.bin"));

/// The weights of all-MiniLM-L6-v2. They lie in the program's own pages, which all processes that run it share.
pub fn minilm() -> &'static [u8] {
    &MINILM.0
}

/// Gives back the pages of the weights that this process has read. They stay in the system's cache: whoever reads them
/// again finds them there, a page at a time.
#[cfg(unix)]
#[expect(unsafe_code, reason = "one call of the C library")]
pub fn rest() {
    use std::ffi::{c_int, c_void};
    unsafe extern "C" {
        fn madvise(address: *mut c_void, length: usize, advice: c_int) -> c_int;
    }
    /// The same number on Linux, macOS and the BSDs.
    const DONTNEED: c_int = 4;
    let weights = minilm();
    // SAFETY: the pages are a map of the program's file that nobody writes to; dropped, they are read from there again.
    // The length ends before the last page of the weights. Where pages are so large that the begin is not at one, the
    // call fails and nothing happens.
    unsafe { madvise(weights.as_ptr().cast_mut().cast(), weights.len() & !0xffff, DONTNEED) };
}

/// Gives back the pages of the weights where the system can take them.
#[cfg(not(unix))]
pub fn rest() {}
