//! Values after their noun, in the answer to a question, or in the line below the noun.

use std::ops::Range;

use super::super::stand_in;
use super::line::{Line, is_joined, place_of};
use super::nouns::Stated;
use super::value::{self, Bond};
use super::words::{PARTS, QUESTIONS, Sort};

/// Maximum assignments in a sentence before its value.
const MOST_BONDS: usize = 4;
/// Maximum words between a noun and its assignment.
const MOST_BETWEEN: usize = 8;
/// Symbols of assignment, longer ones first.
const SIGNS: [&str; 13] = ["->", "=>", ":=", "=", ":", "→", "⇒", "：", "＝", "—", "–", "- ", "#:"];
/// Words between an assignment and the value.
const FILLERS: &str = "now still currently just literally simply again actually also called set to same jetzt nun noch immer maintenant \
    toujours ahora agora adesso теперь тепер nu currently, temporarily probably maybe 现在 現在";

/// The value that a sentence assigns to a preceding noun.
///
/// A sentence may contain several assignments before the value: `the password was rotated, it's x`.
pub(super) fn behind(line: &Line<'_>, noun: &Stated) -> Option<Range<usize>> {
    let mut from = noun.span.end;
    for turn in 0..MOST_BONDS {
        let (bond, at) = bound_from(line, noun, from)?;
        if turn > 0 && bond != Bond::Word {
            return None;
        }
        if let Some(span) = bound_value(line, noun, bond, at) {
            return Some(span);
        }
        if bond == Bond::Beside {
            return None;
        }
        from = at;
    }
    None
}

fn bound_value(line: &Line<'_>, noun: &Stated, bond: Bond, at: usize) -> Option<Range<usize>> {
    let at = opened(line, at);
    if value::quote_at(line.text, at) {
        // `the passphrase "x" is a joke`: the sentence continues after the value.
        let is_last = |span: &Range<usize>| {
            let behind =
                line.rest(span.end).trim_start_matches(|letter: char| !letter.is_alphanumeric() && letter != ' ');
            bond != Bond::Beside || behind.trim_start().is_empty() || !line.rest(span.end).contains(" is ")
        };
        let is_given = |span: &Range<usize>| {
            let inside = line.text.get(span.clone()).unwrap_or_default();
            match noun.sort {
                Sort::Setting => !stand_in::is_stand_in(inside) && inside.len() >= 8,
                Sort::Key => is_key(noun, bond, inside),
                _ => true,
            }
        };
        let quoted = value::in_quotes(line, noun, at).filter(is_last).filter(is_given);
        // In code, a quoted text beside a noun is a label. Other rules handle assignments.
        return quoted
            .filter(|_| bond != Bond::Beside && !line.is_code() || noun.sort == Sort::Phrase && !line.is_code());
    }
    if line.is_code() {
        return None;
    }
    match noun.sort {
        Sort::Phrase => {
            value::phrase(line, noun, at, 14).filter(|_| bond != Bond::Beside || noun.is_bare()).or_else(|| {
                let word = value::bare(line, noun, at, bond)?;
                line.text.get(word.clone()).is_some_and(value::is_mixed).then_some(word)
            })
        }
        Sort::Wifi => value::bare(line, noun, at, bond).filter(|span| {
            let inside = line.text.get(span.clone()).unwrap_or_default();
            bond == Bond::Sign && (inside.contains(' ') || value::is_mixed(inside))
        }),
        Sort::Key => value::first(line, noun, at)
            .filter(|span| line.text.get(span.clone()).is_some_and(|inside| is_key(noun, bond, inside))),
        Sort::NetworkKey => value::bare(line, noun, at, if bond == Bond::Beside { Bond::Word } else { bond }),
        Sort::Setting => setting(line, noun, bond, at),
        // `wifi Attic / pass nightowl`: a list of related values.
        _ if bond == Bond::Beside && line.head(noun.span.start).trim_end().ends_with(" /") => {
            value::bare(line, noun, at, Bond::Word)
        }
        _ => value::bare(line, noun, at, bond).filter(|span| {
            // `pass next_cursor with the query`: a verb, unless the following text has a digit or ends the sentence.
            let is_noun = bond != Bond::Beside || line.text.get(noun.span.clone()) != Some("pass");
            let inside = line.text.get(span.clone()).unwrap_or_default();
            let goes_on =
                line.rest(span.end).strip_prefix(' ').is_some_and(|rest| rest.starts_with(char::is_alphabetic));
            is_noun || !goes_on || inside.contains(|letter: char| letter.is_ascii_digit())
        }),
    }
}

/// True for a key: digits among letters. `key` has many meanings, so only a verb assigns it a value.
fn is_key(noun: &Stated, bond: Bond, inside: &str) -> bool {
    let digits = inside.bytes().filter(u8::is_ascii_digit).count();
    let is_alone = noun.is_short;
    let is_plain = inside.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let fits = if is_alone { bond == Bond::Word && !is_plain } else { bond != Bond::Setting };
    fits && inside.len() >= 8 && digits > 1 && value::is_mixed(inside) && !inside.contains(['_', ':'])
}

/// The value of a name in capitals in a settings file: the rest of the line.
fn setting(line: &Line<'_>, noun: &Stated, bond: Bond, at: usize) -> Option<Range<usize>> {
    let name = line.text.get(noun.span.clone())?;
    let is_name = name.contains('_') && !name.contains(char::is_lowercase) && bond == Bond::Setting;
    let is_alone =
        line.rest(noun.span.end).starts_with('=') && matches!(line.head(noun.span.start).trim(), "" | "export");
    let whole = line.rest(at).trim();
    let text = value::trimmed(whole);
    let is_open = !whole.starts_with(['<', '{', '$', '[', '(']) && !stand_in::is_stand_in(text);
    let is_given = is_open && text.chars().count() >= 4 && !value::is_none(line, noun, text);
    // `jwt secret in prod: super-secret-signing-phrase`
    let is_made_up = bond == Bond::Sign && text.len() >= 12 && !text.contains(' ') && text.matches('-').count() > 2;
    let is_given = is_given && (is_name && is_alone || is_made_up) && !noun.is_other(&text.to_lowercase());
    let start = at + place_of(text, line.rest(at));
    is_given.then(|| start..start + text.len())
}

/// The assignment of the noun, and the start of the value.
pub(super) fn bound(line: &Line<'_>, noun: &Stated) -> Option<(Bond, usize)> {
    bound_from(line, noun, noun.span.end)
}

/// The same after a position.
fn bound_from(line: &Line<'_>, noun: &Stated, from: usize) -> Option<(Bond, usize)> {
    let mut at = closed(line, from);
    let mut passed = 0;
    if from == noun.span.end && is_part_of_name(line, from, at) {
        return None;
    }
    // The topic particles of Korean belong to the word.
    let is_topic = line.text.get(noun.span.clone()).is_some_and(|name| name.ends_with(['는', '은']));
    if from == noun.span.end && is_topic && line.rest(at).starts_with(' ') {
        return Some((Bond::Word, after_fillers(line, noun, at)));
    }
    let beside = at;
    while passed <= MOST_BETWEEN {
        at = blanks(line, at);
        let rest = line.rest(at);
        if rest.starts_with("::") {
            return None;
        }
        if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            // `--password=x` and `key: value` are assignments; a hyphen needs spaces around it.
            let is_sign = *sign != "- " || line.head(at).ends_with(' ');
            let is_near = *sign == "=" && at == noun.span.end && !line.rest(at + 1).starts_with(' ');
            let bond = if is_near { Bond::Setting } else { Bond::Sign };
            return is_sign.then(|| (bond, after_fillers(line, noun, at + sign.len())));
        }
        let Some(next) = rest.chars().next() else { break };
        if next == '?' && passed == 0 {
            return answered(line, noun, at);
        }
        if value::quote_at(line.text, at) && (passed == 0 || noun.sort == Sort::Phrase) {
            return Some((Bond::Beside, at));
        }
        if next == '(' || next == '（' {
            let end = rest.find([')', '）'])?;
            if passed == 0 && is_value_in_brackets(noun, rest.get(next.len_utf8()..end)?) {
                return Some((Bond::Sign, at + next.len_utf8()));
            }
            at += end + rest.get(end..)?.chars().next().map_or(1, char::len_utf8);
            continue;
        }
        if is_joined(next) {
            return joined(line, noun, at);
        }
        if ",，、".contains(next) && passed == 0 {
            at += next.len_utf8();
            continue;
        }
        if !(next.is_alphanumeric() || "'’@#$*_".contains(next)) {
            break;
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let word = rest.get(..end)?;
        let bare = word.trim_end_matches([',', '.', ';', ':', '=', '?', '!', '，']);
        let lower = bare.to_lowercase();
        if passed == 0 && PARTS.split_ascii_whitespace().any(|part| part == lower) {
            return None;
        }
        if noun.is_bound_by(&lower) && (bare.len() == word.len() || word.ends_with([':', '='])) {
            let at = at + word.len();
            return Some((Bond::Word, after_fillers(line, noun, at)));
        }
        if word.ends_with([':', '=', '：']) && !word.contains("//") && (passed == 0 || !noun.is_other(&lower)) {
            return Some((Bond::Sign, after_fillers(line, noun, at + word.len())));
        }
        if word.len() > bare.len() && !word.ends_with(',') {
            break;
        }
        at += word.len();
        passed += 1;
    }
    let beside = blanks(line, beside);
    let may_be_beside = line.rest(beside).starts_with(|first: char| first.is_alphanumeric()) && beside > noun.span.end;
    may_be_beside.then_some((Bond::Beside, beside))
}

/// True for a longer name: `password.length`, `password_hash`, `password::new`.
fn is_part_of_name(line: &Line<'_>, from: usize, closed: usize) -> bool {
    line.rest(from).starts_with(['.', '_', '[', '(', '/', '@']) && !line.rest(closed).starts_with([' ', ':', '='])
}

/// The value directly after a question: `my mail password? it's x`.
fn answered(line: &Line<'_>, noun: &Stated, at: usize) -> Option<(Bond, usize)> {
    let rest = line.rest(at);
    let said = rest.get(1..)?.trim_start();
    let word = said.split(' ').next().unwrap_or_default();
    let is_answer = is_lead(word) && said.len() > word.len();
    is_answer.then(|| (Bond::Word, after_fillers(line, noun, at + rest.len() - said.len() + word.len())))
}

/// True if brackets after a noun contain its value, as in `the password (Quiet-Otter-91) is for staging`.
fn is_value_in_brackets(noun: &Stated, inside: &str) -> bool {
    let has_digit = inside.bytes().any(|byte| byte.is_ascii_digit());
    let is_made_up = inside.len() >= 8 && has_digit && value::is_mixed(inside);
    noun.sort == Sort::Password && is_made_up && !inside.contains([' ', '/'])
}

/// In writing systems without spaces, finds the particle after a noun and then the value.
fn joined(line: &Line<'_>, noun: &Stated, at: usize) -> Option<(Bond, usize)> {
    let rest = line.rest(at);
    let binders = noun.spoken().flat_map(|language| language.binders.split_ascii_whitespace());
    let mut starts: Vec<(usize, usize)> = binders
        .filter(|binder| !binder.is_ascii())
        .filter_map(|binder| rest.find(binder).map(|found| (found, found + binder.len())))
        .collect();
    starts.extend(["：", ":", "「", "“"].iter().filter_map(|sign| {
        let found = rest.find(sign)?;
        Some((found, if *sign == "「" || *sign == "“" { found } else { found + sign.len() }))
    }));
    let (from, to) = starts.into_iter().min()?;
    let between = rest.get(..from)?;
    let is_near = between.chars().count() <= 12
        && !noun.holds_other(between)
        && !between.contains(['。', '，', '？', '！', '、']);
    is_near.then(|| (Bond::Word, after_fillers(line, noun, at + to)))
}

/// The position after spaces and filler words.
fn after_fillers(line: &Line<'_>, noun: &Stated, at: usize) -> usize {
    let mut at = opened(line, blanks(line, at));
    let signs = line.rest(at);
    at += signs.len() - signs.trim_start_matches([':', '：']).len();
    at = blanks(line, at);
    for _ in 0..3 {
        let rest = line.rest(at);
        let word = rest.split(char::is_whitespace).next().unwrap_or_default();
        let lower = word.trim_end_matches([':', ',']).to_lowercase();
        let is_filler = FILLERS.split_ascii_whitespace().any(|filler| filler == lower) || noun.is_bound_by(&lower);
        let goes_on = rest.len() > word.len();
        if word.is_empty() || !is_filler || !goes_on {
            break;
        }
        at = blanks(line, at + word.len());
    }
    at
}

fn blanks(line: &Line<'_>, at: usize) -> usize {
    let rest = line.rest(at);
    at + rest.len() - rest.trim_start_matches([' ', '\t', '\u{3000}', '\u{a0}']).len()
}

/// The position after the quotes, brackets and formatting that follow a noun.
fn closed(line: &Line<'_>, at: usize) -> usize {
    let rest = line.rest(at);
    at + rest.len() - rest.trim_start_matches(['"', '\'', '`', '*', ')', ']', '”', '’', '»', '」', '_']).len()
}

/// The position after the marks of bold text.
fn opened(line: &Line<'_>, at: usize) -> usize {
    let rest = line.rest(at);
    at + rest.len() - rest.trim_start_matches(['*', ' ', '\t']).len()
}

/// The next line, if it answers a question about the noun: `<kim> what's the vpn password again`, `<joe> saltmarsh`.
pub(super) fn answer(line: &Line<'_>, noun: &Stated) -> Option<Range<usize>> {
    if noun.is_part_of_more(line) {
        return None;
    }
    let asks = line.head(line.span.end).trim_end().ends_with(['?', '？', '؟']);
    let is_question = |word: &str| QUESTIONS.split_ascii_whitespace().any(|question| begins_with(word, question));
    let is_worded = line.words.iter().any(|word| is_question(&word.lower));
    let asked = asks || is_worded;
    let next = line.next.clone().filter(|_| asked)?;
    let said = line.text.get(next.clone())?;
    let spoken = speaker(said);
    // Without a speaker, only a question mark makes the next line an answer.
    if spoken == 0 && !asks {
        return None;
    }
    let answer = said.get(spoken..)?;
    let words: Vec<&str> = answer.split_whitespace().collect();
    let lead = words.iter().take_while(|word| is_lead(word)).count();
    let given = words.get(lead..)?;
    let text = value::trimmed(answer.get(answer.find(given.first()?)?..)?.trim_end());
    let text = value::without_ending(text);
    let is_short = (1..=4).contains(&given.len()) && text.chars().count() >= 2 && !text.ends_with('?');
    let is_one = is_short
        && !value::is_none(line, noun, text)
        && !noun.is_other(&given.first()?.to_lowercase())
        && (noun.sort != Sort::Key || is_key(noun, Bond::Word, text));
    // A line of several words without a speaker is about something else.
    let is_mixed = given.len() == 1 && value::is_mixed(text);
    // `did you change the password?` does not ask for a value.
    const DEEDS: [&str; 9] =
        ["forgot", "forget", "change", "changed", "reset", "rotate", "vergessen", "oublié", "olvidé"];
    let is_of_deed = line.words.iter().any(|word| DEEDS.contains(&word.lower.as_str()));
    let is_spoken = spoken > 0 && is_worded || is_mixed && !is_of_deed;
    let start = next.start + place_of(text, said);
    (is_one && is_spoken).then(|| start..start + text.len())
}

/// True for a word, also if an ending with an apostrophe follows it: `who's`, but not `wasp` for `was`. In writing
/// systems without spaces, other text may directly follow the question word.
fn begins_with(word: &str, question: &str) -> bool {
    let rest = word.strip_prefix(question);
    rest.is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric() && !is_joined(next)))
}

fn is_lead(word: &str) -> bool {
    const LEADS: [&str; 18] = [
        "it's", "its", "it", "is", "yes", "yeah", "ja", "ouais", "oui", "c'est", "c", "es", "это", "tak", "the",
        "just", "try", "ist",
    ];
    LEADS.contains(&word.trim_end_matches([',', ':']).to_lowercase().as_str())
}

/// The names of fields in a note's front matter. They look like the names of speakers.
const FIELDS: [&str; 14] = [
    "type", "kind", "about", "tags", "title", "category", "status", "author", "date", "created", "modified", "updated",
    "scope", "origin",
];

/// The length of a speaker's name at the beginning of a line, with its symbol: `<joe> `, `B: `, `老李：`.
fn speaker(line: &str) -> usize {
    let lead = line.len() - line.trim_start().len();
    let rest = line.get(lead..).unwrap_or_default();
    let end = if rest.starts_with('<') {
        rest.find('>').map(|at| at + 1)
    } else {
        rest.find([':', '：'])
            .map(|at| at + rest.get(at..).and_then(|sign| sign.chars().next()).map_or(1, char::len_utf8))
    };
    let is_speaker = |name: &str| {
        let field = name.trim_end_matches([':', '：']).to_lowercase();
        name.chars().count() <= 20 && !name.contains(' ') && !FIELDS.contains(&field.as_str())
    };
    let end = end.filter(|end| rest.get(..*end).is_some_and(is_speaker));
    end.map_or(0, |end| {
        let after = rest.get(end..).unwrap_or_default();
        lead + end + after.len() - after.trim_start().len()
    })
}

/// The next line, if the noun ends its own line with a symbol: `Cụm mật khẩu của két:` and, below, the phrase.
pub(super) fn below(line: &Line<'_>, noun: &Stated) -> Option<Range<usize>> {
    let tail = line.rest(noun.span.end).trim_end();
    let is_open = tail.ends_with([':', '：']) && tail.split_whitespace().count() <= 5 && !line.is_code();
    let next = line.next.clone().filter(|_| is_open)?;
    let said = line.text.get(next.clone())?;
    let text = value::trimmed(said.trim());
    let words = text.split_whitespace().count();
    let fits = match noun.sort {
        Sort::Phrase => (1..=12).contains(&words),
        Sort::Password => words == 1 && value::is_mixed(text),
        _ => false,
    };
    let is_listed = said.trim_start().starts_with(['-', '*', '|', '#']) || text.contains([':', '@']);
    let is_one = fits && !is_listed && !value::is_none(line, noun, text.split_whitespace().next()?);
    let start = next.start + place_of(text, said);
    (is_one && !noun.is_other(&text.split_whitespace().next()?.to_lowercase())).then(|| start..start + text.len())
}

/// The words of a seed phrase after a noun for it, in the same line.
pub(super) fn seed(line: &Line<'_>, noun: &Stated) -> Option<Range<usize>> {
    let (bond, at) = bound(line, noun)?;
    let rest = line.rest(at);
    let mut words = 0;
    let mut end = 0;
    for (place, word) in rest.split(' ').scan(0, |from, word| {
        let place = *from;
        *from += word.len() + 1;
        Some((place, word))
    }) {
        let bare = word.trim_matches(|letter: char| !letter.is_alphabetic());
        let numbered = word.trim_end_matches('.').bytes().all(|byte| byte.is_ascii_digit());
        if bare.is_empty() && numbered {
            continue;
        }
        let is_word = !bare.is_empty() && bare.chars().count() <= 10 && bare.chars().all(char::is_alphabetic);
        if !is_word || bare.chars().any(char::is_uppercase) {
            break;
        }
        words += 1;
        end = place + word.trim_end_matches(['.', ',', ';']).len();
    }
    (bond != Bond::Beside && (11..=24).contains(&words)).then(|| at..at + end)
}
