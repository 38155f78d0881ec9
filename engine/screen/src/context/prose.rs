//! What people say: `the staging password is x`, `das Passwort für den Server lautet x`, `密码是 x`.

use super::assign::{self, Bond};
use super::nouns::{Class, Noun};
use super::value::{self, Value};
use super::{logins, pairs, scan};

/// Words that bind what follows to the noun before.
const BINDERS: &str = "is are was be = : ist lautet heißt heisst war sind est sont c'est c’est es son é è sarà será sera это \
     является jest wordt är er equals reads -> → => -- == - – — | are: is: to";
/// Words between the binder and the value.
const HARMLESS: &str = "now set to still currently literally just simply the same always changed jetzt noch immer nun auf \
     gesetzt maintenant toujours ahora temporarily called actually also agora adesso теперь currently: following: this: \
     folgendes: probably again wieder temporär";
/// Words after which no value comes.
const REFUSALS: &str = "not no never stored kept required nicht kein pas an a in expired missing when if";
const MOST_WORDS: usize = 10;
const FURTHEST: usize = 160;

/// The credential that a sentence gives a noun.
pub(super) fn value_of(text: &str, noun: &Noun) -> Option<Value> {
    let mut at = noun.span.end;
    let limit = at + FURTHEST;
    let is_verb = text.get(noun.span.clone()).is_some_and(|name| name.eq_ignore_ascii_case("pass"));
    let mut bound = None;
    if scan::rest(text, at, 2) == "::" {
        return None;
    }
    // A name that goes on is part of a call or an expression.
    if matches!(scan::byte(text, at), b'(' | b'[' | b'/' | b'<' | b'>' | b'+' | b'&' | b'|' | b'#' | b'@' | b'%' | b'$')
    {
        return None;
    }
    // `the password's x`, `the password? x`
    let rest = scan::rest(text, at, 3);
    if rest.starts_with("'s ") || rest.starts_with("? ") {
        (bound, at) = (Some(Bond::Word), scan::on_while(text, at, 2, |byte| byte != b' '));
    }
    for _ in 0..MOST_WORDS {
        let closed = scan::on_while(text, at, 3, |byte| b"*\"`')".contains(&byte));
        let start = assign::after_marks(text, scan::after_blanks(text, closed));
        if start >= limit || scan::byte(text, start) == b'\n' || start >= text.len() {
            return None;
        }
        if let Some(bond) = bound.filter(|_| value::is_quote(text, start)) {
            return value::quoted(text, start).filter(|value| is_said(text, noun, value, bond));
        }
        let end = scan::on_while(text, start, FURTHEST, |byte| !byte.is_ascii_whitespace());
        let word = text.get(start..end)?;
        if bound.is_some() {
            let value = assign::unmarked(text, start, value::bare(text, start, false)?);
            if is_said(text, noun, &value, Bond::Word) {
                return Some(value);
            }
        }
        let lower = word.to_lowercase();
        match step(word, &lower) {
            // Tests pass, and get to somewhere.
            Step::Binds if lower == "to" && is_verb => return None,
            // A word in quotes is plainly a value behind `is`, and a label or a thing behind a sign.
            Step::Binds if lower == "to" || !lower.starts_with(char::is_alphabetic) => bound = Some(Bond::Sign),
            Step::Binds => bound = Some(Bond::Word),
            Step::Ends => return None,
            // `the password to the safe is x`: what was bound was something else.
            Step::Passes if !scan::is_among(HARMLESS, &lower) => bound = None,
            Step::Passes => {}
        }
        at = end;
    }
    None
}

/// The credential that a sentence names before the noun: `x is the wifi password`, `use x as the password`.
pub(super) fn value_before(text: &str, noun: &Noun) -> Option<Value> {
    const BINDERS: [&str; 12] = [
        " is the ",
        " is my ",
        " is our ",
        " as the ",
        " as ",
        " ist das ",
        " als ",
        " est le ",
        " comme ",
        " es la ",
        " como ",
        " was the ",
    ];
    let head = scan::head(text, noun.span.start, FURTHEST / 2).rsplit('\n').next()?;
    let bound = BINDERS.iter().filter_map(|binder| head.rfind(binder)).max()?;
    let words_between = head.get(bound..)?.split_whitespace().count();
    let start = head.get(..bound)?.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let at = noun.span.start - head.len() + start;
    let value = logins::password(text, at).filter(|value| value.span.end <= noun.span.start)?;
    let is_whole = at == 0 || scan::byte(text, at - 1).is_ascii_whitespace();
    (words_between <= 5 && is_whole).then_some(value)
}

/// The credential that answers a question for a noun: `the staging pw?` and, in the next line, `bob: x`.
pub(super) fn answer_to(text: &str, noun: &Noun) -> Option<Value> {
    let line = scan::rest(text, noun.span.end, FURTHEST / 2).split('\n').next()?;
    let asked = line.find('?').filter(|at| line.get(at + 1..).is_some_and(|rest| rest.trim().is_empty()))?;
    // The question is for it, or for that of something: not for its policy.
    const OF: [&str; 10] = ["for", "of", "to", "on", "again", "für", "vom", "von", "de", "del"];
    let is_of_it = line.get(..asked)?.split_whitespace().next().is_none_or(|first| OF.contains(&first));
    is_of_it.then(|| pairs::answer(text, noun.span.end + asked + 1))?
}

enum Step {
    Binds,
    Passes,
    Ends,
}

/// What a word between the noun and its value does.
fn step(word: &str, lower: &str) -> Step {
    // Another noun gives its own value.
    let is_noun =
        ["passw", "passphrase", "token", "secret", "密码", "パスワード"].iter().any(|noun| lower.contains(noun));
    if is_noun {
        return Step::Ends;
    }
    let bare = lower.trim_end_matches(['.', ',', ';', '!', '?', ':', '=']);
    if scan::is_among(BINDERS, lower) || scan::is_among(BINDERS, bare) || word.ends_with([':', '=']) {
        return Step::Binds;
    }
    if scan::is_among(REFUSALS, bare) || word.ends_with(['.', ';', '!', '?']) {
        return Step::Ends;
    }
    Step::Passes
}

/// True of a bare word that stands where a value is said, and looks like one.
fn is_said(text: &str, noun: &Noun, value: &Value, bond: Bond) -> bool {
    let Some(inside) = text.get(value.span.clone()) else { return false };
    let lower = inside.to_lowercase();
    if [BINDERS, HARMLESS, REFUSALS].iter().any(|words| scan::is_among(words, &lower)) {
        return false;
    }
    let bond = if noun.class == Class::Token { Bond::Beside } else { bond };
    assign::is_credential(text, noun, value, bond)
}

/// The credential behind a noun of a script without spaces: particles first, then what is written in another script.
pub(super) fn foreign_value(text: &str, noun: &Noun) -> Option<Value> {
    const PARTICLES: &str = "是为為就：:=＝ \tはがをのに，,—–-→⇒>改成设設置定到了已的如下现在現는은이가";
    const WORDS: [&str; 5] = ["это", "является", "для", "от", "к"];
    let mut at = noun.span.end;
    let mut is_bound = false;
    let limit = at + FURTHEST / 2;
    while at < limit {
        if value::is_quote(text, at) {
            return value::quoted(text, at).filter(|value| assign::is_credential(text, noun, value, Bond::Word));
        }
        let rest = text.get(at..)?;
        let next = rest.chars().next()?;
        if let Some(word) = WORDS.iter().find(|word| rest.starts_with(*word)) {
            at += word.len();
        } else if PARTICLES.contains(next) {
            is_bound = true;
            at += next.len_utf8();
        } else if next.is_ascii_graphic() {
            let value = value::bare(text, at, false)?;
            let bond = if is_bound { Bond::Word } else { Bond::Beside };
            let is_near = is_bound || text.get(noun.span.end..at).is_some_and(|gap| gap == " ");
            return (is_near && is_said(text, noun, &value, bond)).then_some(value);
        } else if next == '\n' || "。！？；".contains(next) {
            return None;
        } else {
            // What the credential is of: `密码（测试环境）是`, `пароль от сервера`.
            at += next.len_utf8();
        }
    }
    None
}
