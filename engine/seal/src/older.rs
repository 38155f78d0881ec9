//! Ciphertexts of the older system: nonce, value and tag, bound to nothing, under a key that was hexadecimal digits or
//! the bare SHA-256 of a passphrase. They are read, and never written.

use ring::aead::{Aad, NONCE_LEN};
use ring::digest::{SHA256, digest};
use zeroize::Zeroizing;

use crate::key::{KEY_BYTES, Key};
use crate::sealed::{SealError, Value, opened};

/// Opens a ciphertext of the older system with its `MEMORY_ENCRYPTION_KEY`.
///
/// # Errors
/// When the key is another one, or the ciphertext was changed.
pub fn open_older(given: &str, ciphertext: &[u8]) -> Result<Value, SealError> {
    let key = Key::from_hex(given).unwrap_or_else(|_| {
        let mut bytes = Zeroizing::new([0; KEY_BYTES]);
        bytes.iter_mut().zip(digest(&SHA256, given.as_bytes()).as_ref()).for_each(|(byte, of)| *byte = *of);
        Key(bytes)
    });
    let (nonce, rest) = ciphertext.split_at_checked(NONCE_LEN).ok_or(SealError::Damaged)?;
    opened(&key, nonce, Aad::empty(), rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        hex.as_bytes()
            .chunks(2)
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
            .collect()
    }

    #[test]
    fn what_the_older_system_encrypted_is_read() {
        let plain = "token=abcd1234efgh5678ijkl Grüße";
        let by_passphrase = "9fd6a5f577140105f00b48d7ee371703c478047f6dd20f682851e2d155ab2b8701edb9393af195ee845f9c8a\
                             3c0c7b12067f85920427eda4ff4dd5df23df";
        let by_digits = "79674be90d5a27a77ce785164523920376bd55896e181c874323c2794fa14d1be261ef374f155625d357c4d7098f3\
                         a702e38b156b46051b2011b2ecbc2b6";
        assert_eq!(open_older("correct horse battery staple", &bytes(by_passphrase)).unwrap().as_str(), plain);
        let digits = "00112233445566778899aabbccddeeff".repeat(2);
        assert_eq!(open_older(&digits, &bytes(by_digits)).unwrap().as_str(), plain);
        assert_eq!(open_older("another", &bytes(by_digits)), Err(SealError::Damaged));
        assert_eq!(open_older("another", b"short"), Err(SealError::Damaged));
    }
}
