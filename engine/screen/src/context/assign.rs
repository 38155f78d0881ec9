//! Nouns with a value in any syntax: `password: x`, `"api_key" => "x"`, `<token>x</token>`, `--password x`.

use super::judge::Shape;
use super::nouns::{Class, Noun};
use super::value::Value;
use super::{judge, letters, stand_in, value};

const JUDGED: usize = 256;

/// How a text assigns a value to a noun, for example by a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bond {
    /// By a symbol: `=`, `:`, `=>`.
    Sign,
    /// A word assigns the value, such as `is`, `lautet` or `est`.
    Word,
    /// The value directly follows the noun.
    Beside,
}

/// The credential directly after a noun.
pub(super) fn value_of(text: &str, noun: &Noun) -> Option<Value> {
    let (bond, at) = bond(text, noun)?;
    let is_query = matches!(letters::byte(text, noun.span.start.wrapping_sub(1)), b'?' | b'&')
        || letters::rest(text, noun.span.end, 1) == "%";
    if letters::byte(text, at) == b'{' {
        return nested(text, at).filter(|value| is_credential(text, noun, value, bond));
    }
    let at = after_wrapping(text, after_marks(text, at));
    let value = if value::is_quote(text, at) {
        value::quoted(text, at).or_else(|| value::unclosed(text, at))?
    } else {
        value::bare(text, at, is_query)?
    };
    let value = unmarked(text, at, value);
    if is_credential(text, noun, &value, bond) {
        return Some(value);
    }
    if bond == Bond::Sign && !value.is_quoted {
        return after_type(text, noun, &value).or_else(|| fallback(text, noun, &value));
    }
    // `"auth.login_with_api_key", "params": ["x"]`
    let is_list = bond == Bond::Sign && text.get(value.span.clone()) == Some("params");
    let at = is_list.then(|| letters::on_while(text, value.span.end, 32, |byte| b"\": [\n\t".contains(&byte)))?;
    value::quoted(text, at.checked_sub(1)?).filter(|value| is_credential(text, noun, value, bond))
}

/// Returns how the noun is linked with the following text, and where that text begins.
fn bond(text: &str, noun: &Noun) -> Option<(Bond, usize)> {
    // `Credentials::new`
    let goes_on = letters::rest(text, noun.span.end, 3);
    if goes_on.starts_with("::") && goes_on != "::=" {
        return None;
    }
    const CLOSERS: &[u8] = b"\"'`\\])*}";
    let closed = letters::on_while(text, noun.span.end, 6, |byte| CLOSERS.contains(&byte));
    // `password\u003dx`: the backslash begins a symbol.
    let closed = closed - usize::from(closed > noun.span.end && letters::rest(text, closed - 1, 5) == "\\u003");
    let was_quoted = text.get(noun.span.end..closed).is_some_and(|closers| closers.contains(['"', '\'', '`']));
    let after = if was_quoted { letters::after_space(text, closed) } else { letters::after_blanks(text, closed) };
    let rest = letters::rest(text, after, 24);
    if rest.starts_with('>') {
        return is_element(text, noun, after + 1).then_some((Bond::Sign, after + 1));
    }
    if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(*sign)) {
        // `"Password:"` is a label.
        let quote = letters::byte(text, noun.span.start.wrapping_sub(1));
        let is_label =
            b"\"'`".contains(&quote) && letters::byte(text, after + sign.len()) == quote && after == noun.span.end;
        return (!is_label).then(|| (Bond::Sign, after_sign(text, after + sign.len())));
    }
    // `variable "token" { default = "x" }`
    if was_quoted && rest.starts_with('{') {
        return Some((Bond::Sign, after));
    }
    if was_quoted && rest.starts_with(',') {
        let at = letters::after_space(text, after + 1);
        return value::is_quote(text, at).then_some((Bond::Sign, at));
    }
    for attribute in ["value=", "value =", "content="] {
        if letters::begins(rest, attribute) {
            return Some((Bond::Sign, letters::after_blanks(text, after + attribute.len())));
        }
    }
    // `setPassword("x")`
    if rest.starts_with('(') && after == noun.span.end && value::is_quote(text, after + 1) {
        return Some((Bond::Sign, after + 1));
    }
    let is_option = letters::head(text, noun.span.start, 2).ends_with('-');
    let is_near = after > closed && !was_quoted;
    if is_option && is_near {
        return Some((Bond::Sign, after));
    }
    is_near.then_some((Bond::Beside, after))
}

/// Symbols of assignment, the longest first.
const SIGNS: [&str; 22] = [
    "%3D", "%3d", "\\u003d", "\\u003D", "===", "!==", "==", "!=", "::=", ":=", "=>", "->", "+=", "?=", "||=", "=", ":",
    "：", "＝", "→", "⇒", "—",
];

/// Returns where the value begins. Skips spaces, the symbol of a YAML block, and a new line before a quote or an
/// indented value.
fn after_sign(text: &str, at: usize) -> usize {
    // `**Password:** x`, `<b>Password:</b> x`
    let rest = letters::rest(text, at, 16);
    let closed = if rest.starts_with("** ") || rest.starts_with("__ ") {
        2
    } else if rest.starts_with("</") {
        rest.find('>').map_or(0, |end| end + 1)
    } else {
        0
    };
    let blanks = letters::after_blanks(text, at + closed);
    // Some files align values in a distant column.
    let far = letters::after_space(text, blanks);
    if value::is_quote(text, far) {
        return far;
    }
    let block = letters::on_while(text, blanks, 2, |byte| b"|>-".contains(&byte));
    let next = letters::after_space(text, block);
    let is_indented = matches!(letters::byte(text, next.wrapping_sub(1)), b' ' | b'\t');
    if block > blanks && letters::byte(text, block) == b'\n' && is_indented { next } else { blanks }
}

/// The position after the asterisks or underscores before a bold value: `**x**`.
pub(super) fn after_marks(text: &str, at: usize) -> usize {
    let line = letters::rest(text, at, 200).lines().next().unwrap_or_default();
    let is_bold = ["**", "__"].iter().any(|mark| line.strip_prefix(mark).is_some_and(|inside| inside.contains(mark)));
    at + if is_bold { 2 } else { 0 }
}

/// True if the noun is in the tag of an element, as its name or in an attribute: `<password>x</`, `<entry
/// key="password">x</`.
fn is_element(text: &str, noun: &Noun, content: usize) -> bool {
    letters::head(text, noun.span.start, 120).rsplit('>').next().is_some_and(|head| head.contains('<'))
        && letters::rest(text, content, 300).split_once('<').is_some_and(|(_, after)| after.starts_with('/'))
}

/// The position after the syntax around a literal: `b"x"`, `String("x"`, `Some("x"`, `new Secret("x"`, `[`.
fn after_wrapping(text: &str, at: usize) -> usize {
    let rest = letters::rest(text, at, 48);
    let name = rest.strip_prefix("new ").unwrap_or(rest);
    let skipped = rest.len() - name.len();
    let length = name.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"_.:@$".contains(byte)).count();
    // `password.encode("latin1")` does not contain a value.
    let is_method = name.get(..length).is_some_and(|name| name.contains('.'));
    let opened = !is_method && name.as_bytes().get(length) == Some(&b'(');
    let next = at + skipped + length + usize::from(opened);
    if (opened || length <= 2) && value::is_quote(text, next) { next } else { at }
}

/// A value without the asterisks or underscores after it.
pub(super) fn unmarked(text: &str, at: usize, value: Value) -> Value {
    let mark = letters::head(text, at, 2);
    let is_marked = (mark == "**" || mark == "__")
        && text.get(value.span.clone()).is_some_and(|inside| inside.len() > 2 && inside.ends_with(mark));
    Value { span: value.span.start..value.span.end - if is_marked { 2 } else { 0 }, ..value }
}

/// The credential in an object after a noun: `{ "value": "x" }`, `{ default = "x" }`.
fn nested(text: &str, at: usize) -> Option<Value> {
    let inside = letters::after_space(text, at + 1);
    let name = inside + usize::from(value::is_quote(text, inside));
    let rest = letters::rest(text, name, 16);
    let word = ["value", "default"].iter().find(|word| letters::begins(rest, word))?;
    let after = letters::on_while(text, name + word.len(), 12, |byte| b"\"' \t".contains(&byte));
    matches!(letters::byte(text, after), b':' | b'=')
        .then(|| value::quoted(text, letters::after_blanks(text, after + 1)))?
}

/// `password: String = "x"`: the first value is a type.
fn after_type(text: &str, noun: &Noun, value: &Value) -> Option<Value> {
    let after = letters::after_blanks(text, value.span.end);
    let at = letters::after_blanks(text, after + 1);
    let is_type = letters::byte(text, after) == b'=' && value::is_quote(text, at);
    is_type.then(|| value::quoted(text, at))?.filter(|value| is_credential(text, noun, value, Bond::Sign))
}

/// `key = env("X") || "x"`: the default of an unset variable.
fn fallback(text: &str, noun: &Noun, value: &Value) -> Option<Value> {
    let line = letters::rest(text, value.span.start, 120).lines().next().unwrap_or_default();
    let at = ["|| ", "?? ", " or ", ", "].iter().find_map(|or| line.find(or).map(|at| at + or.len()))?;
    let value = value::quoted(text, letters::after_blanks(text, value.span.start + at))?;
    let inside = text.get(value.span.clone())?;
    (judge::is_drawn(inside) && is_credential(text, noun, &value, Bond::Sign)).then_some(value)
}

/// True if a noun's value is a credential.
pub(super) fn is_credential(text: &str, noun: &Noun, value: &Value, bond: Bond) -> bool {
    // A longer value is judged by its beginning.
    let whole = letters::rest(text, value.span.start, value.span.len().min(JUDGED));
    // Letters of scripts without spaces may belong to the value or to the sentence. The text between them decides.
    let inside = if value.is_quoted { whole } else { whole.trim_matches(value::is_ideographic) };
    let name = text.get(noun.span.clone()).unwrap_or_default();
    let behind = letters::rest(text, value.span.end, 4);
    if behind.starts_with("...") || behind.starts_with('…') {
        return false;
    }
    if inside.len() < 4
        || !value.is_quoted && judge::is_argument(inside)
        || stand_in::is_stand_in(inside)
        || judge::is_technical(inside)
        || inside.eq_ignore_ascii_case(name)
    {
        return false;
    }
    let is_open = bond != Bond::Sign && inside.starts_with(['(', '[', '{', '<', '-']);
    if is_code(inside, value.is_quoted) || is_open && !value.is_quoted {
        return false;
    }
    // `POSTGRES_PASSWORD=sunshine`: a program reads the value literally.
    let is_setting = bond == Bond::Sign && is_setting(text, noun, value);
    match noun.class {
        Class::Password
            if (is_setting || bond == Bond::Sign && is_paired(text, noun, inside)) && is_long_word(inside) =>
        {
            true
        }
        Class::Secret if is_signing(text, noun) && is_phrase(inside) => true,
        Class::Password => is_password(inside, value.is_quoted, bond),
        Class::Secret => {
            is_token(inside, bond) || value.is_quoted && is_made_up(inside) || bond != Bond::Beside && is_strong(inside)
        }
        Class::Token => is_token(inside, bond),
        Class::Login => bond == Bond::Sign && inside.len() >= 16 && is_token(inside, bond),
        Class::Header => false,
    }
}

/// True for code that is not a literal.
fn is_code(inside: &str, is_quoted: bool) -> bool {
    if is_quoted {
        return inside.starts_with('/') && inside.matches('/').count() > 1 && judge::words_in_hundred(inside) > 50
            || inside.contains("://")
            || judge::is_argument(inside)
            || judge::is_constant(inside)
            || (inside.contains("::") || inside.starts_with('&')) && judge::words_in_hundred(inside) >= 50
            || inside.ends_with(':') && judge::words_in_hundred(inside) >= 60;
    }
    let is_short = inside.len() < 8 || judge::words_in_hundred(inside) >= 50;
    judge::is_expression(inside)
        || inside.starts_with(['(', ')', '}'])
        || inside.starts_with(['{', '[', '<', '|', '&', '*']) && is_short
        || inside.split_once('<').is_some_and(|(name, _)| judge::is_name(name) && judge::words_in_hundred(name) >= 50)
        || inside.ends_with('(')
}

/// True for a likely password. The weaker the assignment, the stricter the test.
pub(super) fn is_password(inside: &str, is_quoted: bool, bond: Bond) -> bool {
    let shape = Shape::of(inside);
    let in_words = judge::words_in_hundred(inside);
    if shape.spaces > 0 {
        return bond != Bond::Beside && shape.spaces <= 2 && shape.length <= 40 && in_words < 50;
    }
    if shape.letters() + shape.foreign == 0 && (shape.digits == 0 || shape.symbols == 0) {
        return false;
    }
    // `100%` and `testing?` are never passwords.
    let asked = inside.trim_end_matches(['?', '!', '%', '@', ')', ';']);
    let is_word = asked.len() < inside.len() && asked.bytes().all(|byte| byte.is_ascii_alphabetic()) && in_words >= 60;
    if bond != Bond::Sign && (is_word || shape.letters() + shape.foreign < 2) {
        return false;
    }
    let is_mixed = shape.symbols > 0 && (shape.length >= 6 || shape.digits > 0)
        || shape.digits > 0 && shape.letters() + shape.foreign > 0 && shape.length >= 5;
    if is_mixed {
        // A quoted text after `is` is meant literally.
        let is_meant = is_quoted && bond == Bond::Word && shape.joints == 0 && !is_of_nouns(inside);
        return (is_meant || !is_name_of_words(inside, shape, in_words)) && (bond != Bond::Beside || shape.length >= 6);
    }
    if shape.foreign > 0 {
        return is_quoted && bond != Bond::Beside;
    }
    // Names of types and constants: `LPCSTR`.
    if !is_quoted && shape.lower == 0 && shape.length < 10 {
        return false;
    }
    match bond {
        // A single quoted word after `is` is a value.
        Bond::Word if is_quoted => shape.joints == 0 && shape.length >= 5,
        Bond::Word | Bond::Sign => {
            in_words < 45 && shape.length >= 5 && (shape.length >= 8 || letters::cost(inside) >= 50)
        }
        Bond::Beside => in_words < 20 && shape.length >= 8 && letters::cost(inside) >= 56,
    }
}

/// True for a name that consists of words and one or two numbers: `password2`, `user_password_1`, `OAuth2Client`.
fn is_name_of_words(inside: &str, shape: Shape, in_words: usize) -> bool {
    if shape.symbols > 0 || shape.digits > 3 && shape.digits * 3 > shape.letters() {
        return false;
    }
    let groups = inside.split(|character: char| !character.is_ascii_digit()).filter(|group| !group.is_empty()).count();
    let is_small = shape.upper == 0 && inside.ends_with(|last: char| last.is_ascii_lowercase());
    if (groups > 1 || is_small) && shape.joints == 0 {
        return false;
    }
    let runs: Vec<&str> = letters::runs(inside).map(|(_, run)| run).collect();
    let is_of_nouns = is_of_nouns(inside);
    // `dragonhunter-6196`: words and a number chosen by a person.
    let last = inside.rsplit(['-', '_', '.', '/']).next().unwrap_or_default();
    let is_own = shape.joints == 1
        && shape.digits > 2
        && runs.len() <= 2
        && !is_of_nouns
        && last.bytes().all(|byte| byte.is_ascii_digit());
    // `harbour-tulip-92`: no program uses such a name after `password`.
    let is_hyphened = inside.split('-').count() <= 4
        && inside.matches('-').count() == shape.joints
        && shape.joints > 0
        && ends_in_number(last);
    // `K3strel-9-Otter`: digits instead of letters, and a number.
    let is_hyphened =
        is_hyphened || shape.joints > 0 && shape.joints == inside.matches('-').count() && shape.upper > 0 && groups > 1;
    // `ticket-4411` is a reference.
    let is_reference = runs.first().is_some_and(|run| {
        ["ticket", "issue", "case", "item", "step", "page", "row", "ref", "task", "card"].contains(run)
    });
    let is_own = (is_own || is_hyphened && !is_of_nouns && runs.len() <= 3) && !is_reference;
    let is_joined = runs.len() > 1 || shape.joints > 0;
    in_words >= 60 && !is_own && (is_joined || is_of_nouns && shape.digits <= 2)
}

/// True for a number of at most four digits, or for a word and a number of at most three digits: `92`, `Plume77`.
fn ends_in_number(part: &str) -> bool {
    let word = part.trim_end_matches(|last: char| last.is_ascii_digit());
    let digits = part.len() - word.len();
    // `v2` is a version.
    let is_word = word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    word.is_empty() && (1..=4).contains(&digits) || is_word && (1..=3).contains(&digits)
}

/// True for the name of a credential: `user_password_1`.
fn is_of_nouns(inside: &str) -> bool {
    letters::runs(inside).any(|(_, run)| {
        let run = run.to_ascii_lowercase();
        ["pass", "pwd", "secret", "token", "key", "user", "cred", "auth", "login"].iter().any(|noun| run.contains(noun))
    })
}

/// True for a random value that is long enough for its kind of assignment.
fn is_token(inside: &str, bond: Bond) -> bool {
    let least = if bond == Bond::Beside { 16 } else { 8 };
    if inside.len() < least || judge::is_uuid(inside) && bond != Bond::Sign {
        return false;
    }
    // A long word after `is` is an ordinary word.
    if bond != Bond::Sign && !inside.bytes().any(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let is_plain = inside.bytes().filter(|byte| b"\"'`<>(){}|\\^;,".contains(byte)).count() * 8 < inside.len();
    is_plain && judge::is_drawn(inside)
}

/// True for a text with a symbol and letters that has several digits, or that does not consist of words.
fn is_strong(inside: &str) -> bool {
    let shape = Shape::of(inside);
    let is_signed = shape.spaces == 0 && shape.length >= 8 && shape.symbols > 0 && shape.letters() > 3;
    is_signed && (shape.digits > 1 || judge::words_in_hundred(inside) < 50)
}

/// True for `NAME=value` or `NAME="value"` without spaces, if the name consists of capitals or has several dots, like
/// the keys of a properties file.
fn is_setting(text: &str, noun: &Noun, value: &Value) -> bool {
    let name = text.get(noun.span.clone()).unwrap_or_default();
    let is_capital = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    let is_near = value.span.start == noun.span.end + 1 + usize::from(value.is_quoted);
    let is_named = name.bytes().all(is_capital) && (value.is_quoted || name.contains('_'))
        || name.matches('.').count() > 1 && !value.is_quoted;
    is_near && is_named && letters::byte(text, noun.span.end) == b'='
}

/// True if the previous line names the user of the password: `User: bob`.
fn is_paired(text: &str, noun: &Noun, inside: &str) -> bool {
    let mut lines = letters::head(text, noun.span.start, 120).rsplit('\n');
    let is_first = lines.next().is_some_and(|lead| lead.trim_matches([' ', '-', '*', '\t']).is_empty());
    let before = lines.next().unwrap_or_default().trim();
    before.split_once(':').is_some_and(|(name, given)| {
        let name = name.trim_matches([' ', '-', '*']).to_ascii_lowercase();
        let given = given.trim_matches([' ', '*', '`']);
        let is_name = ["user", "username", "login", "benutzer", "nutzer", "usuario"].contains(&name.as_str());
        is_first && is_name && !given.contains(' ') && given.len() > 1 && !given.eq_ignore_ascii_case(inside)
    })
}

/// True for a setting whose value is a signing key. The program uses the value directly as a key, so even plain words
/// are a secret.
fn is_signing(text: &str, noun: &Noun) -> bool {
    let name = text.get(noun.span.clone()).unwrap_or_default();
    let is_set = letters::byte(text, noun.span.end) == b'=';
    is_set && ["JWT_", "SESSION_", "COOKIE_", "SIGNING_", "HMAC_"].iter().any(|owner| name.contains(owner))
}

/// True for words joined by hyphens: `my-super-secret-key`.
fn is_phrase(inside: &str) -> bool {
    const TELLING: [&str; 12] =
        ["see", "generated", "from", "ask", "set", "use", "stored", "managed", "read", "vault", "secrets", "rotated"];
    let words = inside.split(['-', '_']).filter(|word| !word.is_empty()).count();
    !inside.split(['-', '_']).any(|word| TELLING.contains(&word))
        && words >= 3
        && inside.len() >= 12
        && inside.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

/// True for a word that is not itself a name of a credential.
fn is_long_word(inside: &str) -> bool {
    inside.len() >= 8
        && inside.bytes().all(|byte| byte.is_ascii_lowercase())
        // `disabled`, `generated`, `encrypted`
        && !inside.ends_with("ed")
        && !["pass", "secret", "token", "key", "auth"].iter().any(|noun| inside.contains(noun))
}

/// True for a text in which at least one run of letters is not a word: `open-qvceya`. The caller checks the quotes.
fn is_made_up(inside: &str) -> bool {
    let shape = Shape::of(inside);
    shape.length >= 8
        && shape.spaces + shape.symbols + shape.foreign == 0
        && letters::runs(inside).any(|(_, run)| run.len() >= 5 && letters::cost(run) >= 55)
}
