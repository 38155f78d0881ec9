//! The weights of the sentence encoder, in a crate of their own: whoever changes the engine does not compile them again.

/// Aligned to a page, so that processes share what they read of it.
#[repr(C, align(4096))]
struct Page<T: ?Sized>(T);

static MINILM: &Page<[u8]> = &Page(*include_bytes!("../minilm.bin"));
static VOCABULARY: &Page<[u8]> = &Page(*include_bytes!("../vocabulary.bin"));

/// The weights of all-MiniLM-L6-v2.
pub fn minilm() -> &'static [u8] {
    &MINILM.0
}

/// Its word pieces.
pub fn vocabulary() -> &'static [u8] {
    &VOCABULARY.0
}
