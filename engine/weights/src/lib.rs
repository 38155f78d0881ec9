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
