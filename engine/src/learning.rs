//! Decides whether a person's message teaches something that later sessions need, of which kind, and where it applies.
//!
//! Each [`Output`] is a logistic regression. Its inputs are the embeddings of the message and of the agent's words before
//! it, some signs such as a question mark, and the words of the message. A word has no entry of its own: a hash chooses
//! one of [`WORDS`] weights. All numbers are whole, so all machines decide alike. `tessera-train turns` trains the weights.

use tessera_tables::names;

use crate::classifier::{Linear, odds_ratio};
use crate::embedding::{DIMENSIONS, Vector};
use crate::enrich;
use crate::text::{TokenKind, tokenize};

/// The results of the classifier, in the order of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// The message teaches something.
    Teaches,
    /// What a message is that teaches something.
    Kind(Kind),
    /// What the message teaches holds in all projects.
    Everywhere,
}

names! {
/// What a message teaches.
pub enum Kind {
    /// A lasting wish, rule or instruction.
    Preference = "preference",
    /// A choice that was made.
    Decision = "decision",
    /// Something that holds and that the agent could not know.
    Fact = "fact",
    /// A contradiction to the agent's words, or an answer to its question.
    Correction = "correction",
    /// What failed, and what to do instead.
    Lesson = "lesson",
}
}

impl Output {
    /// All outputs, in the order of the table.
    pub const ALL: [Self; 7] = [
        Self::Teaches,
        Self::Kind(Kind::Preference),
        Self::Kind(Kind::Decision),
        Self::Kind(Kind::Fact),
        Self::Kind(Kind::Correction),
        Self::Kind(Kind::Lesson),
        Self::Everywhere,
    ];
}

/// The minimum probability of a message from which a memory is stored without a question to the user.
pub const CERTAIN: f64 = 0.6;
/// The minimum probability of a message whose memory waits for review.
pub const POSSIBLE: f64 = 0.3;
/// The number of weights for words.
pub const WORDS: usize = 4096;
/// The number of signs.
const SIGNS: usize = 18;
/// The inputs that each message has: two embeddings and the signs.
pub const DENSE: usize = 2 * DIMENSIONS + SIGNS;
/// The value of an input that stands for 1.
pub const ONE: i8 = 127;
/// The value of a number of the embedding that stands for the length of the embedding. Larger values are cut off at 127.
const LENGTH: f32 = 1000.0;
/// The stored weights are multiples of one divided by this number.
pub const UNIT: f64 = 4096.0;
/// The bytes of an output.
const OUTPUT_BYTES: usize = Linear::bytes(DENSE + WORDS);
/// The trained table.
const TABLE: &[u8] = include_bytes!("learning/head.bin");
/// The part of the agent's words that is read, from their end, in characters.
const BEFORE: usize = 200;

/// The inputs of a message, from -127 to 127.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inputs {
    /// The two embeddings and the signs.
    pub dense: Vec<i8>,
    /// The places of the message's words among the weights for words, and the value of each.
    pub words: Vec<(u16, i8)>,
}

/// What the classifier says about a message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Taught {
    /// The probability that the message teaches something, 0 to 1.
    pub probability: f64,
    /// The most probable kind, if the message teaches something.
    pub kind: Kind,
    /// True if it probably holds in all projects.
    pub is_everywhere: bool,
}

/// The end of the agent's words, as the classifier reads it.
pub fn end_of(before: &str) -> &str {
    let start = before.trim_end().char_indices().rev().nth(BEFORE - 1).map_or(0, |(at, _)| at);
    before.trim_end().get(start..).unwrap_or_default()
}

/// The inputs of a message. `meant` and `before_meant` are the embeddings of the message and of [`end_of`] the agent's
/// words before it. The second one is `None` if there are no such words.
pub fn inputs(said: &str, before: &str, meant: &Vector, before_meant: Option<&Vector>) -> Inputs {
    let list = word_list(said);
    let mut dense = meant.scaled(LENGTH);
    dense.extend(before_meant.map_or_else(|| vec![0; DIMENSIONS], |meant| meant.scaled(LENGTH)));
    dense.extend(signs(said, list.len(), end_of(before)));
    Inputs { dense, words: words(&list) }
}

/// The signs of a message with `count` words. The number of words is limited to 20, and the length to 200 characters.
fn signs(said: &str, count: usize, before: &str) -> [i8; SIGNS] {
    let yes = |is_so: bool| if is_so { ONE } else { 0 };
    let share = |count: usize, most: usize| i8::try_from(count.min(most) * 127 / most).unwrap_or(ONE);
    let terms = |text: &str| -> Vec<String> {
        let kept = tokenize(text).into_iter().filter(|token| token.kind != TokenKind::Stop);
        kept.map(|token| token.term).collect()
    };
    let (own, agents) = (terms(said), terms(before));
    let asks = |text: &str| text.trim_end().ends_with(['?', '？']);
    [
        share(said.chars().count(), 200),
        share(count, 20),
        yes(count <= 3),
        yes(count <= 6),
        yes(!before.is_empty()),
        yes(!before.is_empty() && count <= 5),
        yes(asks(said)),
        yes(said.contains(['?', '？'])),
        yes(said.contains(|c: char| c.is_ascii_digit())),
        yes(said.contains(['"', '“', '«', '「', '`'])),
        share(said.matches(['.', '!', '?', '。', '！', '？', '\n']).count(), 3),
        yes(asks(before)),
        yes(said.chars().skip(1).any(char::is_uppercase)),
        yes(own.iter().any(|term| agents.contains(term))),
        yes(enrich::is_personal(said)),
        yes(enrich::is_about_people(said)),
        yes(enrich::is_instruction(said)),
        yes(enrich::is_about_here(said)),
    ]
}

/// The words of a message in lower case. A number becomes `#`. In a script without spaces, each character is a word.
fn word_list(said: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut is_open = false;
    for c in said.chars().flat_map(char::to_lowercase) {
        let is_single = matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}');
        let is_mark = matches!(c, '?' | '？' | '!' | '！' | '"' | '“' | '«' | '「' | '`' | ':' | '：');
        if is_single || is_mark {
            words.push(c.to_string());
            is_open = false;
        } else if c.is_numeric() {
            if !words.last().is_some_and(|last| is_open && last == "#") {
                words.push("#".into());
            }
            is_open = true;
        } else if c.is_alphabetic() || c == '\'' || c == '’' {
            let c = if c == '’' { '\'' } else { c };
            match words.last_mut().filter(|last| is_open && *last != "#") {
                Some(last) => last.push(c),
                None => words.push(c.to_string()),
            }
            is_open = true;
        } else {
            is_open = false;
        }
    }
    words
}

/// The words, pairs of words and, without spaces, triples, each with the weight that its hash chooses. The value of each
/// becomes smaller the more there are.
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "small numbers")]
fn words(list: &[String]) -> Vec<(u16, i8)> {
    let mut found: Vec<String> = Vec::new();
    for (at, word) in list.iter().enumerate() {
        found.push(word.clone());
        found.extend(list.get(at + 1).map(|next| format!("{word} {next}")));
        if !word.is_ascii() {
            found
                .extend(list.get(at + 1).zip(list.get(at + 2)).map(|(second, third)| format!("{word}{second}{third}")));
        }
    }
    found.extend(list.first().map(|first| format!("^{first}")));
    found.extend(list.last().map(|last| format!("{last}$")));
    found.sort_unstable();
    found.dedup();
    let value = (f64::from(ONE) / (found.len() as f64).sqrt().max(1.0)).round() as i8;
    let place = |word: &String| {
        let hash = hash(word);
        let sign = if (hash >> 16) & 1 == 0 { value } else { -value };
        ((hash % WORDS as u32) as u16, sign)
    };
    found.iter().map(place).collect()
}

/// The 32-bit FNV-1a hash (RFC 9923).
fn hash(word: &str) -> u32 {
    word.bytes().fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// What a message with these inputs teaches.
pub fn taught(inputs: &Inputs) -> Taught {
    taught_by(TABLE, inputs)
}

/// What a message with these inputs teaches according to a table.
#[expect(clippy::cast_possible_truncation, reason = "limited")]
pub fn taught_by(table: &[u8], inputs: &Inputs) -> Taught {
    let logits: Vec<f64> = table.chunks_exact(OUTPUT_BYTES).map(|output| logit(output, inputs)).collect();
    let of = |output: Output| {
        let place = Output::ALL.iter().position(|known| *known == output);
        place.and_then(|place| logits.get(place)).copied().unwrap_or(f64::MIN)
    };
    let best = Kind::ALL.into_iter().max_by(|a, b| of(Output::Kind(*a)).total_cmp(&of(Output::Kind(*b))));
    let odds = odds_ratio((of(Output::Teaches).clamp(-20.0, 20.0) * 1024.0) as i32);
    Taught {
        probability: odds / (1.0 + odds),
        kind: best.unwrap_or(Kind::Fact),
        is_everywhere: of(Output::Everywhere) > 0.0,
    }
}

/// The logarithm of the odds.
#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
fn logit(output: &[u8], inputs: &Inputs) -> f64 {
    let words = inputs.words.iter().map(|(place, value)| (DENSE + usize::from(*place), *value));
    let sum = Linear(output).sum(inputs.dense.iter().copied().enumerate().chain(words));
    sum as f64 / f64::from(ONE) / UNIT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_lower_case_and_numbers_are_alike() {
        assert_eq!(word_list("Don’t use 8080, OK?"), ["don't", "use", "#", "ok", "?"]);
        assert_eq!(word_list("换回5个了"), ["换", "回", "#", "个", "了"]);
        assert_eq!(words(&word_list("on port 8080")), words(&word_list("ON port 9")));
        assert!(words(&[]).is_empty());
    }

    #[test]
    fn an_output_adds_up_its_weights() {
        let inputs = Inputs { dense: [vec![0; DENSE - 1], vec![ONE]].concat(), words: vec![(3, -ONE)] };
        let mut weights = vec![0; DENSE + WORDS];
        weights[DENSE - 1] = 2 * 4096;
        weights[DENSE + 3] = 4096;
        let output = Linear::table(&weights, 4096 * i32::from(ONE));
        assert!((logit(&output, &inputs) - 2.0).abs() < 1e-9);
        let taught = taught_by(&output, &inputs);
        assert!((taught.probability - 0.880_797).abs() < 1e-4, "{taught:?}");
        assert_eq!(taught_by(&[], &inputs).probability.to_bits(), taught_by(&[1, 2], &inputs).probability.to_bits());
    }

    #[test]
    fn the_table_has_all_outputs_and_is_small() {
        assert_eq!(TABLE.len(), Output::ALL.len() * OUTPUT_BYTES);
        const { assert!(Output::ALL.len() * OUTPUT_BYTES <= 100_000) };
    }

    #[test]
    fn the_end_of_the_agents_words_is_read() {
        assert_eq!(end_of("Which port? \n"), "Which port?");
        assert_eq!(end_of(&"é".repeat(500)).chars().count(), BEFORE);
        assert_eq!(end_of(""), "");
    }
}
