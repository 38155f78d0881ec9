//! From what a person typed to a question: code, pasted output and commands set aside.

use std::ops::Range;
use std::sync::LazyLock;

use pulldown_cmark::{Event, Parser, Tag};
use regex_lite::Regex;
use tessera_engine::text::{TokenKind, tokenize};
use unicode_segmentation::UnicodeSegmentation;

/// What a prompt asks of the memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Nothing; the reason is for the receipt.
    Skip(&'static str),
    /// This.
    Ask {
        /// The person's own words.
        query: String,
        /// What stands in pasted errors, at a lower weight.
        expanded: Option<String>,
    },
}

/// Bytes of a prompt that are read: of a longer one, its beginning and its end.
const MOST_BYTES: usize = 48 * 1024;
/// Characters of a question from the beginning of the prose, and from its end.
const QUERY_CHARACTERS: (usize, usize) = (1_200, 600);
/// Characters of pasted errors that are looked for.
const PASTED_CHARACTERS: usize = 400;
/// Characters below which a prompt in a script with spaces says nothing.
const SHORTEST: usize = 10;
/// And in a script without.
const SHORTEST_WITHOUT_SPACES: usize = 4;

static COMMAND: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?s)^/([A-Za-z][\w-]*(?::[\w:-]+)?)(?:\s+(.*))?$"));
static WRAPPED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?s)<(?:ide_\w+|system-reminder|memories|command-\w+|local-command-\w+)>.*?</(?:ide_\w+|system-reminder|memories|command-\w+|local-command-\w+)>",
    )
});
/// Lines that a program wrote, not a person.
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

/// Words of agreement, greeting and steering: a prompt of these alone asks nothing of a memory.
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

/// What people ask for in any prompt: it says nothing of what the prompt is about.
const REQUESTS: &str = "write add make create give tell say show explain want need use using look find get let try check see \
     know think help please implement fix change update put handle happen wrong";

fn pattern(source: &str) -> Regex {
    Regex::new(source).expect("the patterns are constants, compiled in a test")
}

impl Reading {
    /// Reads a prompt.
    pub(crate) fn of(prompt: &str) -> Self {
        let prompt = shortened(prompt.trim());
        let unwrapped = WRAPPED.replace_all(&prompt, " ");
        let mut text = unwrapped.trim();
        if text.is_empty() {
            return Self::Skip("empty");
        }
        if text.starts_with('!') {
            return Self::Skip("shell command");
        }
        if let Some(command) = COMMAND.captures(text) {
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
            return expanded.map_or(Self::Skip("pasted text alone"), |query| Self::Ask { query, expanded: None });
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

/// What a person wrote themselves: no code, no pasted output, nothing that a harness put around it.
pub fn own_words(text: &str) -> String {
    parts(&unwrapped(text)).0
}

/// A prompt without what a harness put around it.
pub(crate) fn unwrapped(text: &str) -> String {
    WRAPPED.replace_all(text, " ").into_owned()
}

/// A prompt of bounded length.
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

/// The person's own lines, and the lines that were pasted: code blocks and output of programs.
fn parts(text: &str) -> (String, Vec<String>) {
    let (mut prose, mut pasted) = (Vec::new(), Vec::new());
    let code = code_blocks(text);
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let is_code = code.iter().any(|block| block.contains(&at));
        at += line.len();
        let line = line.trim_end();
        if is_code || PASTED.is_match(line) || is_machine_made(line) {
            pasted.push(line.to_owned());
        } else {
            prose.push(line);
        }
    }
    (prose.join("\n").trim().to_owned(), pasted)
}

/// Fenced blocks. Indented text is not code here: people indent what they write, too.
fn code_blocks(text: &str) -> Vec<Range<usize>> {
    let events = Parser::new(text).into_offset_iter();
    let block = |(event, range): (Event<'_>, Range<usize>)| match event {
        Event::Start(Tag::CodeBlock(pulldown_cmark::CodeBlockKind::Fenced(_))) => Some(range),
        _ => None,
    };
    events.filter_map(block).collect()
}

/// A long line with hardly a space in it.
fn is_machine_made(line: &str) -> bool {
    let length = line.chars().count();
    length > 160 && line.is_ascii() && line.chars().filter(|c| *c == ' ').count() * 20 < length
}

/// The lines of a paste that tell what went wrong.
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

/// A question without the words of asking, unless nothing else is left of it.
fn without_requests(query: &str) -> String {
    let is_request = |word: &str| REQUESTS.split_whitespace().any(|request| word.eq_ignore_ascii_case(request));
    let kept = query.split_word_bounds().filter(|word| !is_request(word)).collect::<String>();
    if kept.chars().any(char::is_alphanumeric) { kept } else { query.to_owned() }
}

fn is_short(prose: &str) -> bool {
    let spaced = prose.chars().filter(|c| c.is_alphanumeric()).all(|c| (c as u32) < 0x2E80);
    prose.chars().count() < if spaced { SHORTEST } else { SHORTEST_WITHOUT_SPACES }
}

/// True when nothing of a text is more than agreement, greeting or steering.
pub fn is_small_talk(prose: &str) -> bool {
    // No form of a word begins otherwise than the word: only those that begin alike are cut into terms.
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
