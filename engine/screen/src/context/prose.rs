//! What people say: `the staging password is x`, `das Passwort für den Server lautet x`, `密码是 x`.

use super::assign::{self, Bond};
use super::judge;
use super::nouns::{Class, Noun};
use super::value::{self, Value};
use super::{scan, stand_in};

/// Words that bind what follows to the noun before.
const BINDERS: [&str; 33] = [
    "is",
    "are",
    "was",
    "be",
    "=",
    ":",
    "ist",
    "lautet",
    "heißt",
    "heisst",
    "war",
    "sind",
    "est",
    "sont",
    "es",
    "son",
    "é",
    "è",
    "sarà",
    "será",
    "sera",
    "это",
    "является",
    "jest",
    "wordt",
    "är",
    "er",
    "equals",
    "reads",
    "->",
    "→",
    "--",
    "==",
];
/// Words between the binder and the value.
const HARMLESS: [&str; 36] = [
    "now",
    "set",
    "to",
    "still",
    "currently",
    "literally",
    "just",
    "simply",
    "the",
    "same",
    "always",
    "changed",
    "jetzt",
    "noch",
    "immer",
    "nun",
    "auf",
    "gesetzt",
    "maintenant",
    "toujours",
    "ahora",
    "temporarily",
    "called",
    "actually",
    "also",
    "agora",
    "adesso",
    "теперь",
    "currently:",
    "following:",
    "this:",
    "folgendes:",
    "probably",
    "again",
    "wieder",
    "temporär",
];
/// Words after which no value comes.
const REFUSALS: [&str; 16] = [
    "not", "no", "never", "stored", "kept", "required", "nicht", "kein", "pas", "an", "a", "in", "expired", "missing",
    "when", "if",
];
const MOST_WORDS: usize = 10;
const FURTHEST: usize = 160;

/// The credential that a sentence gives a noun.
pub(super) fn value_of(text: &str, noun: &Noun) -> Option<Value> {
    let mut at = noun.span.end;
    let limit = at + FURTHEST;
    let mut is_bound = false;
    // A name that goes on is part of a call or an expression.
    if matches!(scan::byte(text, at), b'(' | b'[' | b'/' | b'<' | b'>' | b'+' | b'&' | b'|' | b'#' | b'@' | b'%' | b'$')
    {
        return None;
    }
    for _ in 0..MOST_WORDS {
        let closed = scan::on_while(text, at, 3, |byte| b"*\"`').".contains(&byte) && scan::byte(text, at) != b'.');
        let start = scan::after_blanks(text, closed);
        if start >= limit || scan::byte(text, start) == b'\n' || start >= text.len() {
            return None;
        }
        if is_bound && value::is_quote(text, start) {
            return value::quoted(text, start).filter(|value| assign::is_credential(text, noun, value, Bond::Word));
        }
        let end = scan::on_while(text, start, FURTHEST, |byte| !byte.is_ascii_whitespace());
        let word = text.get(start..end)?;
        if is_bound {
            let value = value::bare(text, start, false)?;
            if is_said(text, noun, &value) {
                return Some(value);
            }
        }
        match step(word) {
            Step::Binds => is_bound = true,
            Step::Ends => return None,
            Step::Passes if is_bound && !HARMLESS.contains(&lower(word).as_str()) => return None,
            Step::Passes => {}
        }
        at = end;
    }
    None
}

enum Step {
    Binds,
    Passes,
    Ends,
}

/// What a word between the noun and its value does.
fn step(word: &str) -> Step {
    let lower = lower(word);
    let bare = lower.trim_end_matches(['.', ',', ';', '!', '?', ':', '=']);
    if BINDERS.contains(&lower.as_str()) || BINDERS.contains(&bare) || word.ends_with([':', '=']) {
        return Step::Binds;
    }
    if REFUSALS.contains(&bare) || word.ends_with(['.', ';', '!', '?']) {
        return Step::Ends;
    }
    Step::Passes
}

fn lower(word: &str) -> String {
    word.to_lowercase()
}

/// True of a bare word that stands where a value is said, and looks like one.
fn is_said(text: &str, noun: &Noun, value: &Value) -> bool {
    let Some(inside) = text.get(value.span.clone()) else { return false };
    let lower = lower(inside);
    if BINDERS.contains(&lower.as_str()) || HARMLESS.contains(&lower.as_str()) || REFUSALS.contains(&lower.as_str()) {
        return false;
    }
    let bond = if noun.class == Class::Password { Bond::Word } else { Bond::Beside };
    assign::is_credential(text, noun, value, bond)
}

/// The credential behind a noun of a script without spaces: particles first, then what is written in another script.
pub(super) fn foreign_value(text: &str, noun: &Noun) -> Option<Value> {
    const PARTICLES: [&str; 46] = [
        "是",
        "为",
        "為",
        "就",
        "：",
        ":",
        "=",
        "＝",
        " ",
        "は",
        "が",
        "を",
        "の",
        "には",
        "，",
        ",",
        "—",
        "-",
        "это",
        "является",
        "пока",
        "に",
        "改",
        "成",
        "设",
        "設",
        "置",
        "定",
        "到",
        "了",
        "已",
        "的",
        "如",
        "下",
        "现",
        "在",
        "現",
        "：\n",
        "는",
        "은",
        "이",
        "가",
        "\t",
        "для",
        "от",
        "к",
    ];
    let mut at = noun.span.end;
    let mut is_bound = false;
    let limit = at + FURTHEST / 2;
    while at < limit {
        if value::is_quote(text, at) {
            return value::quoted(text, at).filter(|value| assign::is_credential(text, noun, value, Bond::Word));
        }
        let rest = text.get(at..)?;
        let next = rest.chars().next()?;
        if let Some(particle) = PARTICLES.iter().find(|particle| rest.starts_with(*particle)) {
            is_bound = true;
            at += particle.len();
        } else if next.is_ascii_graphic() {
            let value = is_bound.then(|| value::bare(text, at, false))??;
            return is_said(text, noun, &value).then_some(value);
        } else if next == '\n' || "。！？；".contains(next) {
            return None;
        } else {
            // What the credential is of: `密码（测试环境）是`, `пароль от сервера`.
            at += next.len_utf8();
        }
    }
    None
}

/// The password of a login: `login: admin / x`, `auth = ('bob', 'x')`, `log in with bob:x`.
pub(super) fn login_value(text: &str, noun: &Noun) -> Option<Value> {
    let rest = scan::rest(text, noun.span.end, FURTHEST);
    let line = rest.lines().next().unwrap_or_default();
    let mut offset = line.find(|character: char| !character.is_whitespace() && !"\"':=(<>*`".contains(character))?;
    for filler in ["is ", "with ", "using ", "as ", "mit ", "are ", "avec ", "con ", "["] {
        if line.get(offset..).is_some_and(|tail| scan::begins(tail, filler)) {
            offset += filler.len();
        }
    }
    let tail = line.get(offset..)?;
    let name = tail.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"._@-+\\".contains(byte)).count();
    if !(2..=64).contains(&name) {
        return None;
    }
    let after = tail.get(name..)?;
    let gap = after.bytes().take_while(|byte| b" \"'`,/:|".contains(byte)).count();
    let between = after.get(..gap)?;
    if !between.contains(['/', ':', ',', '|']) {
        return None;
    }
    let quote = between.char_indices().next_back().filter(|(_, last)| "\"'`".contains(*last));
    let at = noun.span.end + offset + name + quote.map_or(gap, |(place, _)| place);
    let value = if quote.is_some() { value::quoted(text, at)? } else { value::bare(text, at, false)? };
    let inside = text.get(value.span.clone())?;
    let is_one = inside.len() >= 4
        && !stand_in::is_stand_in(inside)
        && !judge::is_technical(inside)
        && !judge::is_expression(inside)
        && assign::is_password(inside, value.is_quoted, if value.is_quoted { Bond::Sign } else { Bond::Beside });
    is_one.then_some(value)
}
