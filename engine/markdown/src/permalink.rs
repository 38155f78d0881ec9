//! Permalinks: short unique names of notes, derived from their paths.

use unicode_normalization::UnicodeNormalization as _;

/// File extensions, which do not belong to the name. The `.2` of `notes v1.2` is not a file extension.
const ENDINGS: [&str; 36] = [
    "md", "markdown", "mdx", "mdown", "txt", "text", "rst", "adoc", "org", "html", "htm", "xml", "json", "jsonl",
    "yaml", "yml", "toml", "csv", "tsv", "pdf", "png", "jpg", "jpeg", "gif", "svg", "webp", "canvas", "base", "docx",
    "py", "rs", "js", "ts", "sh", "log", "ini",
];

/// Derives a permalink from a path: lower case, words joined by `-`, letters in ASCII except for Chinese, Japanese and
/// Korean.
///
/// ```
/// use tessera_markdown::permalink::of_path;
/// assert_eq!(of_path("user/Coding Style.md"), "user/coding-style");
/// assert_eq!(of_path("/用户/深色Mode.md"), "用户/深色-mode");
/// ```
pub fn of_path(path: &str) -> String {
    let path: String = path.nfc().collect();
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    let Some((last, folders)) = segments.split_last() else { return "note".to_owned() };
    let made: Vec<String> = folders
        .iter()
        .copied()
        .chain([without_ending(last)])
        .map(segment)
        .filter(|segment| !segment.is_empty() && !segment.bytes().all(|byte| byte == b'.'))
        .collect();
    if made.is_empty() { "note".to_owned() } else { made.join("/") }
}

/// The first unused one of `wanted`, `wanted-1`, `wanted-2` …
pub fn free(wanted: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let mut made = wanted.to_owned();
    let mut next = 1_u64;
    while is_taken(&made) {
        made = format!("{wanted}-{next}");
        next += 1;
    }
    made
}

/// A file name without its extension, if the extension is known.
pub(crate) fn without_ending(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() && ENDINGS.iter().any(|known| known.eq_ignore_ascii_case(ending)) => {
            stem
        }
        _ => name,
    }
}

/// The role of a character in a permalink.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Letter {
    Wide,
    Plain,
    Between,
}

fn segment(text: &str) -> String {
    let has_wide = text.chars().any(is_wide);
    let mut out = String::with_capacity(text.len());
    let (mut last, mut last_raw) = (Letter::Between, ' ');
    for letter in text.chars() {
        let raw = letter;
        if matches!(letter, '\'' | '’' | '‘' | '`') {
            continue;
        }
        if is_wide(letter) {
            if last == Letter::Plain {
                out.push('-');
            }
            out.push(letter);
            (last, last_raw) = (Letter::Wide, raw);
            continue;
        }
        let is_wide_mark =
            matches!(letter, '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ff65}' | '\u{ffe0}'..='\u{ffee}');
        if has_wide && is_wide_mark && !letter.is_alphanumeric() {
            continue;
        }
        let splits = letter.is_ascii_uppercase() && (last_raw.is_ascii_lowercase() || last_raw.is_ascii_digit());
        if last == Letter::Wide && letter.is_alphanumeric() || splits {
            out.push('-');
        }
        let plain = if letter.is_ascii() { None } else { deunicode::deunicode_char(letter) };
        let mut buffer = [0_u8; 4];
        for made in plain.unwrap_or_else(|| letter.encode_utf8(&mut buffer)).chars() {
            match made.to_ascii_lowercase() {
                kept @ ('a'..='z' | '0'..='9' | '.') => out.push(kept),
                '\'' => {}
                _ => out.push('-'),
            }
        }
        last = if letter.is_alphanumeric() { Letter::Plain } else { Letter::Between };
        last_raw = raw;
    }
    out.split('-').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

/// True for Chinese, Japanese and Korean characters, which are kept.
fn is_wide(letter: char) -> bool {
    matches!(letter,
        '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9d}' | '\u{20000}'..='\u{323af}')
}
