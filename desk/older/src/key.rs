//! Keys of what has no name of its own.

use tessera_screen::is_clean;
use xxhash_rust::xxh3::xxh3_128;

/// The key of a text: another text has another one. Of a text with a credential nothing is kept by which the credential
/// could be guessed: where it stands is its key.
pub(crate) fn of_text(text: &str, at: &str) -> String {
    if is_clean(text) { format!("{:032x}", xxh3_128(text.as_bytes())) } else { format!("at {at}") }
}
