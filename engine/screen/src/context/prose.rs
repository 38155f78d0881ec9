//! Statements of people: `the staging password is x`, `das Passwort für den Server lautet x`, `密码是 x`.

use tessera_tables::{field, section, words};

use super::assign::Bond;
use super::nouns::{Class, Noun};
use super::value::Value;
use super::{assign, judge, letters, logins, pairs, value};
use crate::LISTS;

/// Words that assign the text after them to the noun before them.
const BINDERS: &str = "is are was be = : ist lautet heißt heisst war sind est sont c'est c’est es son é è sarà será sera это \
     является jest wordt är er equals reads -> → => -- == - – — | are: is: to";
/// Words between the assignment and the value.
const HARMLESS: &str = "now set to still currently literally just simply the same always changed jetzt noch immer nun auf \
     gesetzt maintenant toujours ahora temporarily called actually also agora adesso теперь currently: following: this: \
     folgendes: probably again wieder temporär";
/// Words after which no value follows.
const REFUSALS: &str = "not no never stored kept required nicht kein pas an a in expired missing when if";
/// Words that make the noun before them a part of another name.
const THINGS: &str = "service services store storage policy policies manager page field form reset provider backend module \
     package library database db hash hashing checker generator";
const MOST_WORDS: usize = 10;
const FURTHEST: usize = 160;

/// The credential that a sentence assigns to a noun.
pub(super) fn value_of(text: &str, noun: &Noun) -> Option<Value> {
    let mut at = noun.span.end;
    let limit = at + FURTHEST;
    let is_verb = text.get(noun.span.clone()).is_some_and(|name| name.eq_ignore_ascii_case("pass"));
    let mut bound = None;
    let mut is_below = false;
    if letters::rest(text, at, 2) == "::" {
        return None;
    }
    // A longer name is part of a call or an expression.
    if matches!(
        letters::byte(text, at),
        b'(' | b'[' | b'/' | b'<' | b'>' | b'+' | b'&' | b'|' | b'#' | b'@' | b'%' | b'$'
    ) {
        return None;
    }
    // `the password's x`, `the password? x`
    let rest = letters::rest(text, at, 3);
    if rest.starts_with("'s ") || rest.starts_with("? ") {
        (bound, at) = (Some(Bond::Word), letters::on_while(text, at, 2, |byte| byte != b' '));
    }
    // `the password service is x`: the noun describes a thing.
    let next = letters::rest(text, at, 24).split_whitespace().next();
    if next.is_some_and(|next| letters::is_among(THINGS, next)) {
        return None;
    }
    for _ in 0..MOST_WORDS {
        let closed = letters::on_while(text, at, 3, |byte| b"*\"`')".contains(&byte));
        let mut start = assign::after_marks(text, letters::after_blanks(text, closed));
        if !is_below && let Some(next) = wrapped(text, start, bound == Some(Bond::Word)) {
            (start, is_below) = (next, true);
        }
        if start >= limit || letters::byte(text, start) == b'\n' || start >= text.len() {
            return None;
        }
        if let Some(bond) = bound.filter(|_| value::is_quote(text, start)) {
            return value::quoted(text, start).filter(|value| is_said(text, noun, value, bond));
        }
        let end = letters::on_while(text, start, FURTHEST, |byte| !byte.is_ascii_whitespace());
        let word = text.get(start..end)?;
        if bound.is_some() {
            let value = assign::unmarked(text, start, value::bare(text, start, false)?);
            if is_said(text, noun, &value, Bond::Word) {
                return Some(value);
            }
        }
        let lower = word.to_lowercase();
        match step(word, &lower) {
            // Tests pass, and people get to places.
            Step::Binds if lower == "to" && is_verb => return None,
            // A quoted word is a value after `is`, and a label or a thing after a symbol.
            Step::Binds if lower == "to" || !lower.starts_with(char::is_alphabetic) => bound = Some(Bond::Sign),
            Step::Binds => bound = Some(Bond::Word),
            Step::Ends => return None,
            // `the password to the safe is x`: the earlier assignment was about something else.
            Step::Passes if !letters::is_among(HARMLESS, &lower) => bound = None,
            Step::Passes => {}
        }
        at = end;
    }
    None
}

/// The credential that a sentence names before the noun: `x is the wifi password`, `use x as the password`.
pub(super) fn value_before(text: &str, noun: &Noun) -> Option<Value> {
    const BINDERS: &[&str] = words!(field(section(LISTS, "binders"), "before"));
    let head = letters::head(text, noun.span.start, FURTHEST / 2).rsplit('\n').next()?;
    let bound = BINDERS.iter().filter_map(|binder| head.rfind(binder)).max()?;
    let words_between = head.get(bound..)?.split_whitespace().count();
    let start = head.get(..bound)?.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let at = noun.span.start - head.len() + start;
    let value = logins::password(text, at).filter(|value| value.span.end <= noun.span.start)?;
    let is_whole = at == 0 || letters::byte(text, at - 1).is_ascii_whitespace();
    (words_between <= 5 && is_whole).then_some(value)
}

/// The credential in the line after a question: `the staging pw?` and, in the next line, `bob: x`.
pub(super) fn answer_to(text: &str, noun: &Noun) -> Option<Value> {
    let line = letters::rest(text, noun.span.end, FURTHEST / 2).split('\n').next()?;
    let asked = line.find('?').filter(|at| line.get(at + 1..).is_some_and(|rest| rest.trim().is_empty()))?;
    // The question is for the value, not for a policy.
    let is_of_it = line.get(..asked)?.split_whitespace().next().is_none_or(|first| OF.contains(&first));
    is_of_it.then(|| pairs::answer(text, noun.span.end + asked + 1))?
}

/// The start of the next line if it continues the sentence: it starts with a small letter and has a verb, or it
/// contains only the value.
fn wrapped(text: &str, at: usize, is_bound: bool) -> Option<usize> {
    const VERBS: &str = "is ist lautet est es was är è é";
    let next = at + letters::rest(text, at, 2).len() - letters::rest(text, at, 2).trim_start_matches('\r').len();
    let start = (letters::byte(text, next) == b'\n').then(|| letters::after_blanks(text, next + 1))?;
    let line = letters::rest(text, start, FURTHEST).lines().next()?;
    let has_verb = line.split_whitespace().take(MOST_BELOW).any(|word| letters::is_among(VERBS, word));
    let goes_on = line.starts_with(|first: char| first.is_lowercase()) && has_verb;
    (goes_on || is_bound && !line.contains(' ')).then_some(start)
}

/// Maximum words of the next line before its verb.
const MOST_BELOW: usize = 4;

/// A credential that is alone in the line below its noun: `password:` and, in the next line, `x`.
pub(super) fn value_below(text: &str, noun: &Noun) -> Option<Value> {
    let closed = letters::on_while(text, noun.span.end, 8, |byte| b":*\"'` \t\r".contains(&byte));
    let start = (letters::byte(text, closed) == b'\n').then(|| letters::after_blanks(text, closed + 1))?;
    let line = letters::rest(text, start, FURTHEST).lines().next()?.trim_end();
    let value =
        if value::is_quote(text, start) { value::quoted(text, start)? } else { value::bare(text, start, false)? };
    let inside = text.get(value.span.clone())?;
    let is_alone = line.trim_matches(['"', '\'', '`']).len() == inside.len();
    // Without a symbol, the noun is a title, or a word of a list.
    let is_signed = text.get(noun.span.end..closed)?.contains(':');
    let lead = letters::head(text, noun.span.start, FURTHEST).rsplit('\n').next()?;
    let title = lead.trim_start_matches(['#', '*', ' ', '-']);
    let is_title = title.split_whitespace().count() <= 2
        && text.get(noun.span.start - title.len()..)?.starts_with(|first: char| first.is_uppercase());
    let is_one = is_signed || is_title && (pairs::is_strong(inside) || judge::is_drawn(inside));
    (is_alone && is_one && is_said(text, noun, &value, Bond::Beside)).then_some(value)
}

/// The replaced password: `changed the password from x to y`.
pub(super) fn value_replaced(text: &str, noun: &Noun) -> Option<Value> {
    let line = letters::rest(text, noun.span.end, FURTHEST / 2).lines().next()?;
    let at = [" from ", " von "].iter().find_map(|from| line.find(from).map(|at| at + from.len()))?;
    let start = noun.span.end + at;
    let value =
        if value::is_quote(text, start) { value::quoted(text, start)? } else { value::bare(text, start, false)? };
    let behind = letters::rest(text, value.span.end + usize::from(value.is_quoted), 6);
    let is_replaced = [" to ", " zu ", " auf ", " -> "].iter().any(|to| behind.starts_with(to));
    const CHANGES: [&str; 8] = ["chang", "rotat", "updat", "reset", "switch", "set", "änder", "geändert"];
    let verb = letters::head(text, noun.span.start, FURTHEST / 2).rsplit('\n').next()?.to_lowercase();
    let is_changed = CHANGES.iter().any(|change| verb.contains(change));
    let between: Vec<&str> = line.get(..at)?.split_whitespace().collect();
    let is_near = between.len() <= 5 && between.first().is_some_and(|first| OF.contains(first));
    (is_replaced && is_changed && is_near && is_said(text, noun, &value, Bond::Word)).then_some(value)
}

/// The credential for a login: `use x to log in`.
pub(super) fn value_used(text: &str, log_in: usize) -> Option<Value> {
    let head = letters::head(text, log_in, FURTHEST / 2).strip_suffix(" to ")?;
    let word = head.split_whitespace().next_back()?;
    let is_used = head.strip_suffix(word)?.trim_end().to_ascii_lowercase().ends_with("use");
    let at = log_in - " to ".len() - word.len();
    let value = is_used.then(|| logins::password(text, at))??;
    let inside = text.get(value.span.clone())?;
    (pairs::is_strong(inside) || judge::is_drawn(inside)).then_some(value)
}

/// Words after a noun that name its purpose or source.
const OF: [&str; 11] = ["for", "of", "to", "on", "again", "from", "für", "vom", "von", "de", "del"];

enum Step {
    Binds,
    Passes,
    Ends,
}

/// How a word between the noun and its value changes the assignment.
fn step(word: &str, lower: &str) -> Step {
    // Another noun has its own value.
    let is_noun =
        ["passw", "passphrase", "token", "secret", "密码", "パスワード"].iter().any(|noun| lower.contains(noun));
    if is_noun {
        return Step::Ends;
    }
    let bare = lower.trim_end_matches(['.', ',', ';', '!', '?', ':', '=']);
    if letters::is_among(BINDERS, lower) || letters::is_among(BINDERS, bare) || word.ends_with([':', '=']) {
        return Step::Binds;
    }
    if letters::is_among(REFUSALS, bare) || word.ends_with(['.', ';', '!', '?']) {
        return Step::Ends;
    }
    Step::Passes
}

/// True for an unquoted word that is in the position of a value and looks like a credential.
fn is_said(text: &str, noun: &Noun, value: &Value, bond: Bond) -> bool {
    let Some(inside) = text.get(value.span.clone()) else { return false };
    let lower = inside.to_lowercase();
    // `root@oak:~#` is the prompt of a shell.
    if inside.contains('@') && inside.contains(':') && inside.ends_with(['#', '$', '>']) {
        return false;
    }
    if [BINDERS, HARMLESS, REFUSALS].iter().any(|words| letters::is_among(words, &lower)) {
        return false;
    }
    let bond = if noun.class == Class::Token { Bond::Beside } else { bond };
    assign::is_credential(text, noun, value, bond)
}

/// Finds a credential after a noun in a writing system without spaces. A particle follows the noun, and the value
/// follows the particle. The value is usually in another script.
pub(super) fn foreign_value(text: &str, noun: &Noun) -> Option<Value> {
    const PARTICLES: &str = "是为為就：:=＝ \tはがをのに，,—–-→⇒>改成设設置定到了已的如下现在現는은이가";
    const WORDS: [&str; 5] = ["это", "является", "для", "от", "к"];
    // After these and after spaces, any letter may begin a value.
    const STRONG: &str = "是为為：:=＝は \t";
    let mut at = noun.span.end;
    let (mut is_bound, mut is_new) = (false, false);
    let limit = at + FURTHEST / 2;
    while at < limit {
        if value::is_quote(text, at) {
            return value::quoted(text, at).filter(|value| assign::is_credential(text, noun, value, Bond::Word));
        }
        let rest = text.get(at..)?;
        let next = rest.chars().next()?;
        // `パスワードははやぶさ9`: the second は belongs to the value.
        let is_bond = STRONG.contains(next) && !(next == 'は' && is_new && at > noun.span.end + 1);
        let is_begun = is_bound && !next.is_ascii() && !is_bond && (is_new || !PARTICLES.contains(next));
        if let Some(value) = is_begun.then(|| mixed_value(text, noun, at)).flatten() {
            return Some(value);
        }
        is_new = STRONG.contains(next);
        let is_word =
            |word: &&&str| rest.strip_prefix(**word).is_some_and(|after| !after.starts_with(char::is_alphabetic));
        if let Some(word) = WORDS.iter().find(is_word) {
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
            // The purpose of the credential: `密码（测试环境）是`, `пароль от сервера`.
            at += next.len_utf8();
        }
    }
    None
}

/// The credential that begins here. Its first letter is not ASCII, and ASCII letters or digits follow.
fn mixed_value(text: &str, noun: &Noun, at: usize) -> Option<Value> {
    let value = value::bare(text, at, false)?;
    let is_mixed = text.get(value.span.clone())?.bytes().any(|byte| byte.is_ascii_alphanumeric());
    (is_mixed && is_said(text, noun, &value, Bond::Word)).then_some(value)
}
