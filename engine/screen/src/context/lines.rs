//! Lines that hold a credential by their make: `.pgpass`, password files, hashes of passwords.

use std::ops::Range;

use super::{judge, scan, stand_in};

/// The password of a line of `.pgpass` whose port stands here: `host:port:database:user:password`.
pub(super) fn pgpass(text: &str, port: usize) -> Option<Range<usize>> {
    let is_field = |byte: u8| byte.is_ascii_alphanumeric() || b"._-*".contains(&byte);
    let host = scan::back_while(text, port, 128, is_field);
    let is_start =
        host == 0 || scan::byte(text, host - 1).is_ascii_whitespace() || b"\"'`".contains(&scan::byte(text, host - 1));
    if host == port || !is_start {
        return None;
    }
    let mut at = port + 1;
    for _ in 0..3 {
        let end = scan::on_while(text, at, 64, is_field);
        if end == at || scan::byte(text, end) != b':' {
            return None;
        }
        at = end + 1;
    }
    let line = scan::rest(text, at, 256);
    let length =
        line.find(|character: char| character.is_whitespace() || "\"'`".contains(character)).unwrap_or(line.len());
    let password = line.get(..length)?;
    (password.len() >= 4 && !stand_in::is_stand_in(password)).then_some(at..at + length)
}

/// The hash of a password whose first `$` stands here: `$6$salt$hash`, `$2b$10$…`, `$argon2id$…`.
pub(super) fn hash(text: &str, start: usize) -> Option<Range<usize>> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"./$,=+-_".contains(&byte);
    let end = scan::on_while(text, start, 512, is_part);
    let whole = text.get(start..end)?.trim_end_matches([',', '-']);
    let mut parts = whole.split('$').skip(2);
    let last = whole.rsplit('$').next()?;
    let least = if whole.starts_with("$2") { 53 } else { 20 };
    let is_hash = parts.next().is_some() && last.len() >= least && !stand_in::is_stand_in(last);
    is_hash.then(|| start..start + whole.len())
}

/// The hash of a password whose scheme stands here: `{SSHA}…`, `pbkdf2_sha256$…`, `scrypt:32768:…`.
pub(super) fn named_hash(text: &str, start: usize) -> Option<Range<usize>> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"./$=+-_:{}".contains(&byte);
    let end = scan::on_while(text, start, 512, is_part);
    let whole = text.get(start..end)?.trim_end_matches([',', '-', ':']);
    let last = whole.rsplit(['$', '}']).next()?;
    (last.len() >= 20 && judge::is_drawn(last)).then(|| start..start + whole.len())
}
