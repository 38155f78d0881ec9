//! HTTP headers: `Authorization: Basic x`, `Bearer x`, `Cookie: sid=x`.

use super::value::Value;
use super::{judge, letters, stand_in, value};

/// The credential of a header.
pub(super) enum Given {
    Basic(Value),
    Bearer(Value),
    Other(Value),
}

/// The credential that follows the word `Basic` or `Bearer` at `start..end`.
pub(super) fn scheme(text: &str, start: usize, end: usize) -> Option<Value> {
    let is_whole = start == 0 || !letters::byte(text, start - 1).is_ascii_alphanumeric();
    let at = letters::on_while(text, end, 4, |byte| b" :=\"".contains(&byte));
    if !is_whole || at == end {
        return None;
    }
    let given = value::bare(text, at, false)?;
    let inside = text.get(given.span.clone())?;
    if stand_in::is_stand_in(inside) || judge::is_expression(inside) {
        return None;
    }
    let is_header = letters::head(text, start, 24).to_ascii_lowercase().contains("authorization");
    let is_basic = letters::begins(text.get(start..)?, "basic");
    let is_one = if is_basic {
        is_pair(inside) || is_header && inside.len() >= 12 && judge::is_drawn(inside)
    } else {
        inside.len() >= if is_header { 8 } else { 16 } && judge::is_drawn(inside) && !judge::is_uuid(inside)
            || is_header && inside.len() >= 20 && judge::words_in_hundred(inside) < 40
    };
    is_one.then_some(given)
}

/// The credential of `Authorization:` with any scheme.
pub(super) fn authorization(text: &str, end: usize) -> Option<Given> {
    let at = letters::on_while(text, end, 8, |byte| b"\"'\\: =,[(".contains(&byte));
    if at == end {
        return None;
    }
    let first = value::bare(text, at, false)?;
    let word = text.get(first.span.clone())?;
    if word.eq_ignore_ascii_case("basic") || word.eq_ignore_ascii_case("bearer") {
        let value = scheme(text, first.span.start, first.span.end)?;
        return Some(if word.eq_ignore_ascii_case("basic") { Given::Basic(value) } else { Given::Bearer(value) });
    }
    let is_scheme = word.len() <= 16 && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let is_token = |value: &Value| {
        text.get(value.span.clone()).is_some_and(|inside| {
            inside.len() >= 12
                && judge::is_drawn(inside)
                && !stand_in::is_stand_in(inside)
                && !judge::is_expression(inside)
        })
    };
    let second = letters::after_blanks(text, first.span.end);
    let behind = (is_scheme && second > first.span.end).then(|| value::bare(text, second, false)).flatten();
    behind.filter(|value| is_token(value)).or_else(|| Some(first).filter(is_token)).map(Given::Other)
}

/// The session cookies in a header whose name ends at `end`.
pub(super) fn cookies(text: &str, end: usize) -> Vec<Value> {
    const NAMES: [&str; 9] = ["sess", "sid", "token", "auth", "jwt", "login", "remember", "ident", "xoxd"];
    let at = letters::on_while(text, end, 4, |byte| b"\"': ".contains(&byte));
    let line = letters::rest(text, at, 2048).lines().next().unwrap_or_default();
    let line = line.split(['"', '\'']).next().unwrap_or_default();
    let mut found = Vec::new();
    let mut start = at;
    for pair in line.split(';') {
        let from = start;
        start += pair.len() + 1;
        let Some((name, content)) = pair.split_once('=') else { continue };
        let lower = name.trim().to_ascii_lowercase();
        let is_named =
            NAMES.iter().any(|known| lower.contains(known)) && !lower.contains("csrf") && !lower.contains("xsrf");
        let content_at = from + name.len() + 1;
        let content = content.trim_end();
        if is_named && content.len() >= 12 && judge::is_drawn(content) && !stand_in::is_stand_in(content) {
            found.push(Value { span: content_at..content_at + content.len(), is_quoted: false });
        }
    }
    found
}

/// True if the base64 text contains a name and a password, separated by a colon.
pub(super) fn is_pair(encoded: &str) -> bool {
    if encoded.len() < 8 || encoded.len() > 4096 {
        return false;
    }
    let Some(decoded) = decoded(encoded) else { return false };
    let is_readable = decoded.iter().all(|byte| (b' '..0x7f).contains(byte));
    is_readable && decoded.iter().position(|byte| *byte == b':').is_some_and(|at| at > 0 && decoded.len() > at + 3)
}

/// The decoded bytes of base64 in either alphabet, padded or not.
pub(super) fn decoded(encoded: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(encoded.len() * 3 / 4);
    let (mut bits, mut held) = (0_u32, 0_u32);
    for byte in encoded.trim_end_matches('=').bytes() {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(six);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(bits >> held & 0xff).ok()?);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_a_name_and_a_password_is_told() {
        for pair in ["Ym9iOjEyMzQ1Njc4", "Ym9iOnFTMm16S2Fx", "c3ZjOk9iTm9rWWU0T2NSRjJn"] {
            assert!(is_pair(pair), "{pair}");
        }
        for none in ["authentication", "aGVsbG8gd29ybGQ=", "", "a:b"] {
            assert!(!is_pair(none), "{none}");
        }
    }
}
