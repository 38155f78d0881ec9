//! Secrets as people state them, in twenty-five languages: a noun, an assignment, and a value.
//!
//! The other rules check the look of a value. The rules of this module check the sentence around a value. After a noun
//! for a password, any value is accepted unless it is clearly something else, such as a policy, a place or a question.

use std::ops::Range;

use line::Line;
use nouns::Stated;
use words::Sort;

use crate::place::{Finding, Kind, places};

mod before;
mod digits;
mod line;
mod links;
mod nouns;
mod pairs;
mod sentence;
#[cfg(test)]
mod tests;
mod value;
mod words;

const PASSWORD: Kind = Kind::new("password");
const PASSPHRASE: Kind = Kind::new("passphrase");
const PIN: Kind = Kind::new("PIN");
const CODE: Kind = Kind::new("recovery code");
const SEED: Kind = Kind::new("seed phrase");
const SECRET: Kind = Kind::new("secret");
const KEY: Kind = Kind::new("API key");
const LINK: Kind = Kind::new("private link");

impl Sort {
    fn kind(self) -> Kind {
        match self {
            Self::Password | Self::Wifi | Self::NetworkKey => PASSWORD,
            Self::Phrase => PASSPHRASE,
            Self::Pin | Self::Lock | Self::Opens => PIN,
            Self::Codes => CODE,
            Self::Seed => SEED,
            Self::Key => KEY,
            Self::Setting => SECRET,
        }
    }
}

/// Finds secrets in the sentences of a text.
pub(super) fn findings(text: &str) -> Vec<Finding> {
    let taken: Vec<Range<usize>> = places(text).into_iter().map(|(span, _)| span).collect();
    let mut found = Vec::new();
    let lines = Line::all(text, &taken);
    // Lines since a network was named.
    let mut network = NETWORK_LINES;
    for (number, line) in lines.iter().enumerate() {
        links::find(line, &mut found);
        pairs::find(line, &mut found);
        network += 1;
        let mut until = 0;
        for noun in nouns::in_line(line) {
            network = if noun.sort == Sort::Wifi { 0 } else { network };
            if noun.span.start < until || noun.sort == Sort::NetworkKey && network >= NETWORK_LINES {
                continue;
            }
            let column = pairs::column(&lines, number, &noun);
            let spans = if column.is_empty() { values(line, &noun) } else { column };
            for span in spans {
                until = until.max(span.end);
                found.push(Finding { span, kind: noun.sort.kind() });
            }
        }
    }
    found
}

/// If a line names a network, a word for a key in this line or the next lines means the network's key. This is the
/// number of these lines, including the first.
const NETWORK_LINES: usize = 3;

/// The values of one noun.
fn values(line: &Line<'_>, noun: &Stated) -> Vec<Range<usize>> {
    match noun.sort {
        Sort::Setting | Sort::NetworkKey => sentence::behind(line, noun).into_iter().collect(),
        Sort::Password | Sort::Wifi | Sort::Phrase | Sort::Key => {
            let behind = sentence::behind(line, noun).into_iter().collect::<Vec<_>>();
            if !behind.is_empty() {
                return behind;
            }
            let before = before::value(line, noun).or_else(|| sentence::answer(line, noun));
            before.or_else(|| sentence::below(line, noun)).into_iter().collect()
        }
        Sort::Pin | Sort::Lock | Sort::Opens => digits::pin(line, noun).into_iter().collect(),
        Sort::Codes => digits::codes(line, noun),
        Sort::Seed => sentence::seed(line, noun).into_iter().collect(),
    }
}
