//! Turns a prompt into a query: it removes code, pasted output and commands.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use pulldown_cmark::{Event, Parser, Tag};
use regex_lite::Regex;
use tessera_engine::text::{TokenKind, tokenize};
use unicode_segmentation::UnicodeSegmentation;

use crate::said::sentences;

/// The query of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reading {
    /// The prompt has no query. The reason is recorded with the event.
    Skip(&'static str),
    /// A query.
    Ask {
        /// The person's own words.
        query: String,
        /// Words of pasted errors, with a lower weight.
        expanded: Option<String>,
    },
}

/// Maximum bytes of a prompt. If a prompt is longer, only its beginning and its end are read.
const MOST_BYTES: usize = 48 * 1024;
/// Maximum characters of a query: from the beginning of the prose, and from its end.
const QUERY_CHARACTERS: (usize, usize) = (1_200, 600);
/// Maximum characters of pasted errors in a query.
const PASTED_CHARACTERS: usize = 400;
/// Minimum characters of a prompt in a script with spaces.
const SHORTEST: usize = 10;
/// The minimum in a script without spaces.
const SHORTEST_WITHOUT_SPACES: usize = 4;

static COMMAND: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?s)^/([A-Za-z][\w-]*(?::[\w:-]+)?)(?:\s+(.*))?$"));
static WRAPPED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?s)<(?:ide_\w+|system-reminder|memories|command-\w+|local-command-\w+)>.*?</(?:ide_\w+|system-reminder|memories|command-\w+|local-command-\w+)>",
    )
});
/// Lines that a program wrote.
static PASTED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^\s*(?:",
        r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|", // time first
        r"\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL)\b[\]: ]|(?:error|warning)(?:\[\w+\])?: |", // level first
        r"at [\w.$<>/\[\] ]+\(|at (?:async |/|file:)|File \x22|Traceback |Caused by: |\.\.\. \d+ more|-->|\d+: 0x|panicked at|", // stacks
        r"@@ |\+\+\+ |--- |[+-][ \t]|diff --git|index [0-9a-f]{7}|", // diffs
        r"[{}\[\]<(]|\x22[\w.-]+\x22\s*:|\||[=*#~_-]{4,}|[$%>❯] |\d+\s*\|", // data, tables, rules, prompts
        r"(?:npm|yarn|pnpm|cargo|pip|make)(?: ERR!|\[\d\]: )|test .* \.\.\. |\w+(?:Error|Exception)\b:? ",
        r")"
    ))
});
static TELLING: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)error|exception|fail|panic|fatal|cannot|refused|denied|timed? ?out|[A-Z]{2,}-\d+"));

/// Words of agreement, greetings, and words that direct the agent. A prompt with only these words needs no recall.
const SMALL_TALK: &str = "ok okay okey thx thanks thank ty great good nice perfect yes yeah yep yup no nope sure continue go \
     going ahead please looks look lgtm cool proceed next again retry try done right correct awesome hello hi hey bye morning \
     afternoon evening cheers keep carry on it do that this works work working well amazing excellent wonderful love nvm never \
     mind stop wait hold sounds fine alright got makes sense agreed approve approved approves accept merge ship now later \
     lol haha wow hmm oops sorry fix run start commit push all first second third one two three option think thought see \
     more less better much very really just also still even everything anything something nothing exactly indeed clean \
     weekend day week monday tuesday wednesday thursday friday saturday sunday lunch back moment minute time shorter simpler \
     words word say explain understand distracted feel fast \
     danke gut weiter ja nein bitte gracias bien vale sigue si merci oui non continuez grazie obrigado spasibo спасибо да нет \
     谢谢 好的 继续 可以 ありがとう はい 続けて 감사합니다 네";

/// Words such as "write" or "show", which occur in any request and say nothing about its subject.
const REQUESTS: &str = "write add make create give tell say show explain want need use using look find get let try check see \
     know think help please implement fix change update put handle happen wrong";

/// Words of all errors, which say nothing about the cause.
const ANY_ERROR: &str = "error errors err failed failure fail fatal exception panic panicked warning exit exited code status \
     cannot could not unable with to due previous aborting";

pub(crate) fn pattern(source: &str) -> Regex {
    Regex::new(source).expect("the patterns are constants, and a test compiles them")
}

impl Reading {
    /// Reads a prompt.
    pub(crate) fn of(prompt: &str) -> Self {
        let prompt = shortened(prompt.trim());
        let unwrapped = unwrapped(&prompt);
        let mut text = unwrapped.trim();
        if text.is_empty() {
            return Self::Skip("empty");
        }
        if text.starts_with('!') {
            return Self::Skip("shell command");
        }
        if let Some(command) = text.starts_with('/').then(|| COMMAND.captures(text)).flatten() {
            let name = command.get(1).map_or("", |name| name.as_str());
            if matches!(name.rsplit(':').next(), Some("recall" | "remember")) {
                return Self::Skip("our own command");
            }
            text = command.get(2).map_or("", |rest| rest.as_str()).trim();
            if text.is_empty() {
                return Self::Skip("slash command");
            }
        }
        let (prose, pasted) = parts(text);
        let expanded = errors_of(&pasted);
        if !prose.chars().any(char::is_alphanumeric) {
            return expanded.map_or(Self::Skip("only pasted text"), |query| Self::Ask { query, expanded: None });
        }
        if is_short(&prose) && expanded.is_none() {
            return Self::Skip("short");
        }
        if is_small_talk(&prose) {
            return expanded.map_or(Self::Skip("small talk"), |query| Self::Ask { query, expanded: None });
        }
        let (head, tail) = QUERY_CHARACTERS;
        Self::Ask { query: without_requests(&ends(&prose, head, tail)), expanded }
    }
}

/// The text that a person wrote, without code, pasted output, or text that the client added.
pub fn own_words(text: &str) -> String {
    parts(&unwrapped(text)).0
}

/// Returns the prompt without the text that the client added.
pub(crate) fn unwrapped(text: &str) -> Cow<'_, str> {
    // Most prompts contain no such text, and the pattern is built at its first use.
    if text.contains("</") { WRAPPED.replace_all(text, " ") } else { Cow::Borrowed(text) }
}

/// True for a line that matches [`PASTED`].
fn is_pasted(line: &str) -> bool {
    may_be_pasted(line) && PASTED.is_match(line)
}

/// False for a line that cannot match [`PASTED`]: it begins with an ordinary word and contains no colon. Most prompts
/// contain only such lines, so the pattern is not built.
fn may_be_pasted(line: &str) -> bool {
    const FIRST: &str = " at File Traceback Caused panicked diff index test npm yarn pnpm cargo pip make ";
    let line = line.trim_start();
    let end = line.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(line.len());
    let word = line.get(..end).unwrap_or_default();
    let is_level = word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase());
    let is_known = FIRST.split(' ').any(|first| first == word);
    !word.starts_with(char::is_alphabetic)
        || is_level
        || is_known
        || line.contains(':')
        || word.contains("Error")
        || word.contains("Exception")
}

/// A prompt of limited length.
fn shortened(prompt: &str) -> String {
    if prompt.len() <= MOST_BYTES {
        return prompt.to_owned();
    }
    let head = prompt.floor_char_boundary(MOST_BYTES / 2);
    let tail = prompt.ceil_char_boundary(prompt.len() - MOST_BYTES / 2);
    format!("{}\n{}", prompt.get(..head).unwrap_or(""), prompt.get(tail..).unwrap_or(""))
}

fn ends(text: &str, head: usize, tail: usize) -> String {
    let count = text.chars().count();
    if count <= head + tail {
        return text.to_owned();
    }
    text.chars().take(head).chain([' ']).chain(text.chars().skip(count - tail)).collect()
}

/// The person's own lines, and the pasted ones: code blocks and program output.
fn parts(text: &str) -> (String, Vec<String>) {
    let (mut prose, mut pasted) = (Vec::new(), Vec::new());
    let code = code_blocks(text);
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let is_code = code.iter().any(|block| block.contains(&at));
        at += line.len();
        let line = line.trim_end();
        if is_code || is_pasted(line) || is_machine_made(line) {
            pasted.push(line.to_owned());
        } else {
            prose.push(line);
        }
    }
    (prose.join("\n").trim().to_owned(), pasted)
}

/// The sentences of an agent's text, without code blocks, tables and headings, and without the signs of lists and emphasis.
/// Unlike a person's prompt, such a text contains no pasted output outside of code blocks.
pub fn agent_sentences(text: &str) -> Vec<String> {
    let code = code_blocks(text);
    let (mut found, mut at) = (Vec::new(), 0);
    for line in text.split_inclusive('\n') {
        let is_code = code.iter().any(|block| block.contains(&at));
        at += line.len();
        let line = line.trim();
        let is_prose = !is_code && !line.starts_with(['#', '|']);
        let line = line.trim_start_matches(['-', '*', '>', ' ', '\t']).replace("**", "");
        if is_prose {
            found.extend(sentences(&line).into_iter().map(str::to_owned));
        }
    }
    found
}

/// Fenced code blocks. Indented text does not count as code, because people also indent prose.
fn code_blocks(text: &str) -> Vec<Range<usize>> {
    let events = Parser::new(text).into_offset_iter();
    let block = |(event, range): (Event<'_>, Range<usize>)| match event {
        Event::Start(Tag::CodeBlock(pulldown_cmark::CodeBlockKind::Fenced(_))) => Some(range),
        _ => None,
    };
    events.filter_map(block).collect()
}

/// A long line with very few spaces.
fn is_machine_made(line: &str) -> bool {
    let length = line.chars().count();
    length > 160 && line.is_ascii() && line.chars().filter(|c| *c == ' ').count() * 20 < length
}

/// The pasted lines that contain error messages.
fn errors_of(pasted: &[String]) -> Option<String> {
    let mut found = String::new();
    for line in pasted.iter().filter(|line| TELLING.is_match(line)).take(6) {
        found.extend(line.trim().chars().take(160));
        found.push('\n');
        if found.len() > PASTED_CHARACTERS {
            break;
        }
    }
    (!found.is_empty()).then(|| found.trim().to_owned())
}

/// The query of a failed command: its error messages, without what differs from run to run: directories, numbers and
/// hashes. `None` if the output contains no error message.
pub(crate) fn error_query(output: &str) -> Option<String> {
    let lines: Vec<String> = shortened(output.trim()).lines().map(normal_line).collect();
    let errors = errors_of(&lines)?;
    let is_any_error = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        ANY_ERROR.split_whitespace().any(|other| word.eq_ignore_ascii_case(other))
    };
    let telling: Vec<&str> = errors.split_whitespace().filter(|word| !is_any_error(word)).collect();
    (!telling.is_empty()).then(|| telling.join(" "))
}

/// The line of a failed command's output that contains the error, otherwise the last line. The line with the exit code does
/// not count.
pub fn error_line(output: &str) -> Option<String> {
    let lines = shortened(output.trim());
    let mut lines = lines
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with("Exit code ") && !line.starts_with('>'));
    let last = lines.clone().next_back()?;
    Some(lines.find(|line| TELLING.is_match(line)).unwrap_or(last).to_owned())
}

/// A line of output without directories, numbers and hashes.
fn normal_line(line: &str) -> String {
    let words = line.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    let is_changing = |word: &&str| {
        let digits = word.chars().filter(char::is_ascii_digit).count();
        let hexadecimal = word.chars().filter(char::is_ascii_hexdigit).count();
        let letters = word.chars().filter(|c| c.is_alphanumeric()).count();
        digits == letters || digits > 0 && letters >= 7 && hexadecimal == letters
    };
    words.filter(|word| !word.chars().any(char::is_alphanumeric) || !is_changing(word)).collect::<Vec<_>>().join(" ")
}

/// Returns the query without words such as "please" and "show". If it has no other words, returns it unchanged.
fn without_requests(query: &str) -> String {
    let is_request = |word: &str| REQUESTS.split_whitespace().any(|request| word.eq_ignore_ascii_case(request));
    let kept = query.split_word_bounds().filter(|word| !is_request(word)).collect::<String>();
    if kept.chars().any(char::is_alphanumeric) { kept } else { query.to_owned() }
}

fn is_short(prose: &str) -> bool {
    let spaced = prose.chars().filter(|c| c.is_alphanumeric()).all(|c| (c as u32) < 0x2E80);
    prose.chars().count() < if spaced { SHORTEST } else { SHORTEST_WITHOUT_SPACES }
}

/// True if a text contains only agreement, greetings or directions to the agent.
pub fn is_small_talk(prose: &str) -> bool {
    // All forms of a word begin alike, so only words with the same beginning are stemmed.
    let is_listed = |term: &str| {
        let alike = SMALL_TALK.split_whitespace().filter(|word| word.chars().next() == term.chars().next());
        alike.flat_map(tokenize).any(|listed| listed.term == term)
    };
    let is_empty_word = |token: &tessera_engine::text::Token| {
        token.kind == TokenKind::Stop || token.term.chars().count() < 2 || is_listed(&token.term)
    };
    tokenize(prose).iter().all(is_empty_word)
}

#[cfg(test)]
mod tests;
