//! Numbers that open something, and recovery codes.

use std::ops::Range;

use super::line::{Line, place_of};
use super::nouns::Stated;
use super::sentence;
use super::value::{self, Bond};
use super::words::Sort;

/// Maximum words between a noun and its number if there is no assignment between them.
const MOST_BETWEEN: usize = 6;
/// Words after a number that make it a count, a time or an amount.
const COUNTED: &str = "bytes lines characters digits times ms seconds minutes hours days weeks entries users people px mm cm km kg eur usd \
    chf percent zeichen stellen minuten stunden tage jahre fois minutes heures jours chiffres años días horas dígitos \
    znaků znaków tecken tegn merkkiä haneli символов цифр символів attempts tries versuche more o'clock uhr volts amps";
/// If one of these words precedes a number, the number identifies something else, and is no credential.
const NAMED: &str = "gpio room ticket port version page step line error exit http status order invoice issue pr build release rfc iso year \
    zip postal extension ext level floor table row column line nr no zimmer raum seite zeile fehler salle page sala pagina \
    комната кабинет строка ошибка quarto piso node numpy python rust java debian ubuntu windows on and board header pins in";

/// The number of a lock.
pub(super) fn pin(line: &Line<'_>, noun: &Stated) -> Option<Range<usize>> {
    // Pins of circuit boards, and error codes.
    const BOARDS: [&str; 9] = ["gpio", "board", "relay", "header", "socket", "means", "voltage", "led", "sensor"];
    if line.is_code() || line.words.iter().any(|word| BOARDS.contains(&word.lower.as_str())) {
        return None;
    }
    let bound = sentence::bound(line, noun).filter(|(bond, _)| *bond != Bond::Beside);
    let from = bound.map_or(noun.span.end, |(_, at)| at);
    let number = number_in(line, from, if bound.is_some() { 4 } else { MOST_BETWEEN });
    // The noun may stand at the end: `835921 opens it`.
    let before = || (noun.sort == Sort::Opens).then(|| number_in(line, line.span.start, MOST_BETWEEN)).flatten();
    let number = number.or_else(before)?;
    let inside = line.text.get(number.clone())?;
    let digits = inside.bytes().filter(u8::is_ascii_digit).count();
    let is_grouped = inside.contains('-') || inside.ends_with(['#', '*']) || inside.contains(char::is_alphabetic);
    let between = line.text.get(noun.span.end..number.start).unwrap_or_default();
    let is_near = between.split_whitespace().count() <= 1;
    let fits = match noun.sort {
        // A noun for a code: the next number, or an assigned one.
        Sort::Pin => bound.is_some() || is_near || is_grouped,
        // Only a lock: assigned by a symbol, or an unusual number.
        Sort::Lock => {
            let is_signed = bound.is_some_and(|(bond, _)| bond == Bond::Sign);
            is_grouped || is_signed && digits >= 4
        }
        _ => digits >= 4,
    };
    (fits && (3..=12).contains(&digits)).then_some(number)
}

/// The first possible code from a position, within a limited number of words.
fn number_in(line: &Line<'_>, from: usize, most: usize) -> Option<Range<usize>> {
    let clause = line.rest(from);
    let mut before = "";
    let is_space = |letter: char| letter.is_whitespace() || "，、。,".contains(letter);
    for (passed, word) in clause.split(is_space).filter(|word| !word.is_empty()).enumerate() {
        let at = from + place_of(word, clause);
        let bare = value::trimmed(word);
        let lead = place_of(bare, word);
        // A date, a time, an amount and a number with a unit are not codes.
        if bare.starts_with(|first: char| first.is_ascii_digit()) {
            let is_one =
                bare.chars().all(|letter| letter.is_ascii_digit() || "-#*".contains(letter) || letter.is_uppercase())
                    && !is_date(bare);
            let next = clause.get(at - from + word.len()..)?.split_whitespace().next().unwrap_or_default();
            let next = next.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase();
            let among = |words: &str, word: &str| words.split_ascii_whitespace().any(|known| known == word);
            let is_counted = !word.ends_with([',', '.', ';']) && among(COUNTED, &next);
            let is_named = among(NAMED, &before.to_lowercase());
            return (is_one && !is_counted && !is_named).then(|| at + lead..at + lead + bare.len());
        }
        if let Some(inner) = joined_number(bare) {
            return Some(at + lead + inner.start..at + lead + inner.end);
        }
        // The sentence ends, or continues with something else.
        if passed >= most || word.ends_with(['.', ';', '!']) && !word.ends_with("..") {
            return None;
        }
        before = bare;
    }
    None
}

/// Digits inside a text in a script without spaces: `スマホは835921でロック解除`.
fn joined_number(word: &str) -> Option<Range<usize>> {
    let start = word.find(|letter: char| letter.is_ascii_digit())?;
    let is_joined = word.get(..start)?.chars().next_back().is_some_and(super::line::is_joined);
    let length = word.get(start..)?.bytes().take_while(u8::is_ascii_digit).count();
    (is_joined && length >= 4).then(|| start..start + length)
}

/// `2026-11-23`, `23-11-2026`, `1990`: a date or a year is not a code.
fn is_date(word: &str) -> bool {
    let parts: Vec<&str> = word.split('-').collect();
    matches!(parts.as_slice(), [year, month, day] if year.len() == 4 && month.len() == 2 && day.len() == 2)
        || matches!(parts.as_slice(), [day, month, year] if year.len() == 4 && month.len() == 2 && day.len() == 2)
}

/// Returns the recovery codes after their noun, or in the line below it.
pub(super) fn codes(line: &Line<'_>, noun: &Stated) -> Vec<Range<usize>> {
    if line.is_code() {
        return Vec::new();
    }
    let behind = sentence::bound(line, noun).map_or(noun.span.end, |(_, at)| at);
    let mut found = parts(line.text, behind..line.span.end);
    if let Some(next) = line.next.clone().filter(|_| found.is_empty()) {
        found = parts(line.text, next);
    }
    found
}

fn parts(text: &str, span: Range<usize>) -> Vec<Range<usize>> {
    let stretch = text.get(span.clone()).unwrap_or_default();
    let mut found = Vec::new();
    for word in stretch.split(|letter: char| letter.is_whitespace() || ",;|".contains(letter)) {
        let bare = value::trimmed(word);
        let digits = bare.bytes().filter(u8::is_ascii_digit).count();
        let is_plain = bare.chars().all(|letter| letter.is_alphanumeric() || letter == '-');
        // `ABCDE-FGHIJ-KLMNO`: groups of capitals.
        let is_grouped = bare.split('-').count() >= 3 && !bare.contains(char::is_lowercase);
        let is_one = is_plain && (digits >= 2 || is_grouped) && (4..=60).contains(&bare.len()) && !is_date(bare);
        if is_one {
            let start = span.start + place_of(bare, stretch);
            found.push(start..start + bare.len());
        } else if !found.is_empty() && !bare.is_empty() {
            break;
        }
    }
    found
}
