//! The checksum some tokens end in: CRC-32 of what stands before, in six digits of base 62.

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const LENGTH: usize = 6;
const POLYNOMIAL: u32 = 0xEDB8_8320;

/// True when the last six bytes of a token's random part say the checksum of the rest of it.
pub(super) fn is_right(random: &[u8]) -> bool {
    let Some((body, said)) = random.len().checked_sub(LENGTH).and_then(|at| random.split_at_checked(at)) else {
        return false;
    };
    let value = said.iter().try_fold(0_u64, |value, byte| {
        let digit = DIGITS.iter().position(|digit| digit == byte)?;
        Some(value * 62 + digit as u64)
    });
    !body.is_empty() && value == Some(u64::from(crc32(body)))
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (POLYNOMIAL & 0_u32.wrapping_sub(crc & 1)))
    })
}

/// The checksum of the rest of a token.
#[cfg(test)]
pub(super) fn of(body: &[u8]) -> String {
    let digit = |place: u32| char::from(DIGITS[crc32(body) as usize / 62_usize.pow(place) % 62]);
    (0..6).rev().map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_is_the_one_of_the_published_algorithm() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32(b""), 0);
    }

    #[test]
    fn only_the_right_checksum_is_right() {
        let body = b"q7VxK2mZp9LtR4bWc8NfJ1sYh6Dg3A";
        let mut token = [&body[..], of(body).as_bytes()].concat();
        assert!(is_right(&token));
        token[0] ^= 1;
        assert!(!is_right(&token));
        assert!(!is_right(b"000000") && !is_right(b"") && !is_right("ghp_ä".as_bytes()));
    }
}
