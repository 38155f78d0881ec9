//! A name and a password joined by a symbol, without a noun: `bob:x@host`, `bob@host:x`, `admin/x`, `vpn: bob / x`.

use super::assign::Bond;
use super::judge::Shape;
use super::value::Value;
use super::{assign, judge, letters, stand_in, value};

const FURTHEST: usize = 96;

/// The password before or after an `@` at this position.
pub(super) fn around_at(text: &str, at: usize) -> Option<Value> {
    let is_host = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
    let host_end = letters::on_while(text, at + 1, 64, is_host);
    let host = text.get(at + 1..host_end)?;
    if host.len() < 2 || !host.starts_with(|first: char| first.is_ascii_alphanumeric()) {
        return None;
    }
    let start = letters::back_while(text, at, FURTHEST, |byte| byte.is_ascii_graphic() && !b"\"'`<>=,".contains(&byte));
    let user_info = text.get(start..at)?;
    // A text with a scheme is an address.
    if user_info.contains("://") {
        return None;
    }
    let is_port = letters::byte(text, host_end) == b':' && letters::byte(text, host_end + 1).is_ascii_digit();
    let is_at_host = host.contains('.') || is_port || host == "localhost";
    before(user_info, start, is_at_host).or_else(|| behind(text, host, host_end))
}

/// `bob:x` before a host, `bob/x` before an Oracle database.
fn before(user_info: &str, start: usize, is_at_host: bool) -> Option<Value> {
    let value = |from: usize| Value { span: start + from..start + user_info.len(), is_quoted: false };
    let lead = user_info.rfind("oracle:thin:").map_or(0, |at| at + "oracle:thin:".len());
    let pair = user_info.get(lead..)?;
    let sign = pair.find([':', '/'])?;
    let (user, password) = (pair.get(..sign)?, pair.get(sign + 1..)?);
    let is_user = (2..=40).contains(&user.len()) && judge::is_name(&user.replace(['-', '.'], "_"));
    let is_slash = pair.as_bytes().get(sign) == Some(&b'/');
    // `@types/node@20`, `app/main@v2`: a path and a version look similar.
    let is_bound = if is_slash { lead > 0 || !is_at_host && is_strong(password) } else { is_at_host };
    (is_user && is_bound && is_given(password)).then(|| value(lead + sign + 1))
}

/// The password in `bob@example.org:x`, without a space after the colon.
fn behind(text: &str, host: &str, host_end: usize) -> Option<Value> {
    let is_joined = letters::byte(text, host_end) == b':' && host.contains('.');
    // A longer text is not a password that a person chose.
    let near = letters::rest(text, 0, host_end + FURTHEST);
    let given = is_joined.then(|| value::bare(near, host_end + 1, false))??;
    let inside = text.get(given.span.clone())?;
    (is_given(inside) && is_strong(inside)).then_some(given)
}

/// `sqlplus bob/x@host`: the login of a command whose name ends here.
pub(super) fn of_oracle(text: &str, end: usize) -> Option<Value> {
    let at = letters::after_blanks(text, end);
    let given = value::bare(text, at, false)?;
    let (user, rest) = text.get(given.span.clone())?.split_once('/')?;
    let password = rest.split('@').next()?;
    let start = given.span.start + user.len() + 1;
    (judge::is_name(user) && is_given(password))
        .then(|| Value { span: start..start + password.len(), is_quoted: false })
}

/// `admin/x`: the password after a common name that begins here and ends with its slash.
pub(super) fn of_known_name(text: &str, start: usize, end: usize) -> Option<Value> {
    let is_whole = start == 0 || letters::byte(text, start - 1).is_ascii_whitespace();
    let given = is_whole.then(|| value::bare(text, end, false))??;
    let inside = text.get(given.span.clone())?;
    let is_path = inside.contains(['/', '.', '_', '-']);
    // `root/etc2024` and `admin/v2beta3` are folders.
    let digits = inside.split(|character: char| !character.is_ascii_digit()).filter(|group| !group.is_empty()).count();
    let is_folder = inside.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        && (digits < 2 || inside.starts_with('v'));
    let is_mixed = inside.len() >= 6 && digits > 0 && !is_folder;
    (!is_path && is_mixed && is_given(inside)).then_some(given)
}

/// The password after a slash with spaces: `vpn: bob / x`. The space before the slash is at `start`.
pub(super) fn behind_slash(text: &str, start: usize, end: usize) -> Option<Value> {
    let head = letters::head(text, start, FURTHEST).rsplit('\n').next()?;
    let name = head.rsplit(' ').next()?;
    let is_led = head.strip_suffix(name)?.trim_end().ends_with([':', '=']);
    let is_named = name.len() > 1 && judge::is_name(&name.replace(['-', '.', '@'], "_"));
    let given = (is_led && is_named).then(|| value::bare(text, end, false))??;
    let inside = text.get(given.span.clone())?;
    (is_given(inside) && is_strong(inside)).then_some(given)
}

/// `u: bob p: x`: the password that follows a short name; the name begins here.
pub(super) fn behind_short(text: &str, start: usize, end: usize) -> Option<Value> {
    let head = letters::head(text, start, FURTHEST).rsplit('\n').next()?.trim_end_matches([' ', ',', ';', '/', '|']);
    let (names, name) = head.rsplit_once(": ")?;
    let named = names.rsplit(|character: char| !character.is_alphanumeric()).next()?.to_ascii_lowercase();
    let is_named = ["u", "user", "username", "login"].contains(&named.as_str()) && !name.contains(' ');
    let given = is_named.then(|| value::bare(text, end, false))??;
    is_given(text.get(given.span.clone())?).then_some(given)
}

/// The answer to a request for a password: `x` in `the staging pw?` with the next line `bob: x`.
pub(super) fn answer(text: &str, question: usize) -> Option<Value> {
    let line_end = letters::on_while(text, question, 3, |byte| byte != b'\n');
    let next = (letters::byte(text, line_end) == b'\n').then_some(line_end + 1)?;
    let line = letters::rest(text, next, FURTHEST).lines().next()?;
    // `[10:42] bob: its x`
    let spoken = line.rfind(": ").filter(|at| *at < 40).map_or(0, |at| at + 2);
    let said = line.get(spoken..)?;
    let lead = ["its ", "it's ", "it is "].iter().find(|lead| letters::begins(said, lead)).map_or(0, |lead| lead.len());
    let given = value::bare(text, next + spoken + lead, false)?;
    let inside = text.get(given.span.clone())?;
    let is_alone = given.span.end + 1 >= next + line.trim_end().len();
    (is_alone && is_given(inside) && assign::is_password(inside, false, Bond::Beside)).then_some(given)
}

/// True for a text that is probably a password, and not a placeholder, a path or an expression.
fn is_given(inside: &str) -> bool {
    (4..=64).contains(&inside.len())
        && !inside.starts_with(['$', '/', '{', '<', '[', '('])
        && !inside.contains(['{', '}', ':'])
        && !stand_in::is_stand_in(inside)
        && !judge::is_technical(inside)
        && !judge::is_expression(inside)
        && assign::is_password(inside, false, Bond::Sign)
}

/// True for letters with a number and a symbol.
pub(super) fn is_strong(inside: &str) -> bool {
    let shape = Shape::of(inside);
    let inner = inside.trim_end_matches(|last: char| last.is_ascii_punctuation());
    let is_signed = inner.bytes().any(|byte| b"!#$%&*+?^~@".contains(&byte));
    shape.length >= 7 && shape.digits > 0 && shape.letters() > 2 && is_signed && !inside.contains(['/', '.', '(', '_'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn around(text: &str) -> Option<&str> {
        around_at(text, text.find('@').unwrap()).map(|value| &text[value.span])
    }

    #[test]
    fn pairs_before_and_behind_a_host_are_told_from_paths_and_remotes() {
        assert_eq!(around("ssh deploy:Nordwind!44@birch.example.org"), Some("Nordwind!44"));
        assert_eq!(around("jdbc:oracle:thin:app/Grau7Reiher@ora1:1521/X"), Some("Grau7Reiher"));
        assert_eq!(around("bob@example.org:Zander#41"), Some("Zander#41"));
        for none in [
            "git@github.com:acme/ledger.git",
            "registry.example.org/app:1.4.2@sha256:9f86d081884c7d65",
            "npm i @types/node@20.11.5",
            "user:group@host",
            "ask mara@example.org:8080",
            "deploy@oak.example.org:/var/www",
            "bob:$PASS@db.example.org",
        ] {
            assert_eq!(around(none), None, "{none}");
        }
    }

    #[test]
    fn a_name_that_everyone_knows_has_a_password_behind_it() {
        let known = |text: &str| of_known_name(text, 0, "admin/".len()).is_some();
        assert!(known("admin/Lotse7x9 works"));
        for none in ["admin/settings works", "admin/dashboard.tsx", "admin/user roles", "admin/v2"] {
            assert!(!known(none), "{none}");
        }
    }
}
