//! Addresses with a password before the host: `postgres://app:x@db/app`.

use super::value::Value;
use super::{judge, letters, names, stand_in};

const LONGEST: usize = 512;

/// The password of the address whose `://` ends here.
pub(super) fn password(text: &str, after: usize) -> Option<Value> {
    let rest = letters::rest(text, after, LONGEST);
    let length = rest
        .find(|character: char| character.is_whitespace() || "\"'`<>/?#|\\,;".contains(character))
        .unwrap_or(rest.len());
    let authority = rest.get(..length)?;
    let Some(at) = authority.rfind('@') else { return beyond(rest, length, after) };
    let user_info = authority.get(..at)?;
    let Some((user, password)) = user_info.split_once(':') else {
        // A token instead of the user.
        let is_token = user_info.len() >= 16 && judge::is_drawn(user_info) && !stand_in::is_stand_in(user_info);
        return is_token.then(|| value(after, user_info.len()));
    };
    // A random name is a part of the credential, so both are redacted together.
    if names::is_drawn(user) && !password.is_empty() {
        return Some(value(after, user_info.len()));
    }
    is_password(user, password).then(|| value(after + user.len() + 1, password.len()))
}

/// A password with a character that would end the host: `/`, `#`, `?`.
fn beyond(rest: &str, length: usize, after: usize) -> Option<Value> {
    let (user, _) = rest.get(..length)?.split_once(':')?;
    let end =
        rest.find(|character: char| character.is_whitespace() || "\"'`<>".contains(character)).unwrap_or(rest.len());
    let at = rest.get(..end)?.find('@')?;
    let password = rest.get(user.len() + 1..at)?;
    // A port with a path is not a password.
    let is_port = password.bytes().take_while(u8::is_ascii_digit).count();
    let is_path = is_port > 0 && matches!(password.as_bytes().get(is_port), Some(b'/' | b'?' | b'#'));
    (!is_path && !user.contains('.') && is_password(user, password))
        .then(|| value(after + user.len() + 1, password.len()))
}

fn is_password(user: &str, password: &str) -> bool {
    const DOCUMENTED: [&str; 1] = ["D1fficultP%40ssw0rd"];
    password.len() >= 4
        && password != user
        && !stand_in::is_stand_in(password)
        && !password.starts_with('$')
        && !password.contains(['{', '}'])
        && !DOCUMENTED.contains(&password)
}

fn value(start: usize, length: usize) -> Value {
    Value { span: start..start + length, is_quoted: false }
}
