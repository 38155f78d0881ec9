//! Turns of a person, with what a learner must keep of each.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{EvalError, read};

/// A turn.
#[derive(Deserialize)]
struct Turn {
    said: String,
    /// The memories that it teaches.
    learn: Vec<Expected>,
}

/// A memory that must be kept.
#[derive(Deserialize)]
struct Expected {
    /// Words of its text; case does not matter.
    must_contain: Vec<String>,
}

/// A turn, and the texts that the learner kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct TurnAnswer {
    /// The turn.
    pub said: String,
    /// The kept texts.
    pub kept: Vec<String>,
    /// Whether they are right.
    pub verdict: TurnVerdict,
}

/// How well a turn was learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TurnVerdict {
    /// Everything that it teaches was kept, and nothing else.
    Learned,
    /// A part of it was kept, or other texts, too.
    Partly,
    /// Nothing of it was kept.
    Missed,
    /// Only texts were kept that it does not teach.
    Mislearned,
    /// It teaches nothing, and nothing was kept.
    Quiet,
}

impl TurnVerdict {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Learned => "learned",
            Self::Partly => "partly",
            Self::Missed => "missed",
            Self::Mislearned => "mislearned",
            Self::Quiet => "quiet",
        }
    }
}

impl Turn {
    fn verdict(&self, kept: &[String]) -> TurnVerdict {
        let is = |expected: &Expected, text: &String| {
            let text = text.to_lowercase();
            expected.must_contain.iter().all(|word| text.contains(&word.to_lowercase()))
        };
        let taught = |text: &&String| self.learn.iter().any(|expected| is(expected, text));
        let found = self.learn.iter().filter(|expected| kept.iter().any(|text| is(expected, text))).count();
        match (found, self.learn.len()) {
            (0, 0) if kept.is_empty() => TurnVerdict::Quiet,
            (0, _) if !kept.is_empty() => TurnVerdict::Mislearned,
            (0, _) => TurnVerdict::Missed,
            (found, expected) if found == expected && kept.iter().all(|text| taught(&text)) => TurnVerdict::Learned,
            _ => TurnVerdict::Partly,
        }
    }
}

/// Has a learner read the turns of a file; a file without turns has none. `learner` returns the texts that it keeps.
///
/// # Errors
/// Returns an error if the file cannot be read, or a turn has another form.
pub fn evaluate(path: &Path, learner: impl Fn(&str) -> Vec<String>) -> Result<Vec<TurnAnswer>, EvalError> {
    #[derive(Deserialize)]
    struct Whole {
        #[serde(default)]
        turns: Vec<Turn>,
    }
    if path.extension().is_some_and(|extension| extension == "jsonl") {
        return Ok(Vec::new());
    }
    let format = |problem: String| EvalError::Format { path: path.to_path_buf(), problem };
    let whole: Whole = serde_json::from_str(&read(path)?).map_err(|error| format(error.to_string()))?;
    let answer = |turn: Turn| {
        let kept = learner(&turn.said);
        TurnAnswer { verdict: turn.verdict(&kept), said: turn.said, kept }
    };
    Ok(whole.turns.into_iter().map(answer).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_learned_if_all_that_it_teaches_is_kept_and_nothing_else() {
        let turn = |words: &[&[&str]]| Turn {
            said: String::new(),
            learn: words
                .iter()
                .map(|words| Expected { must_contain: words.iter().map(|word| (*word).to_owned()).collect() })
                .collect(),
        };
        let two: [&[&str]; 2] = [&["pnpm"], &["port", "8443"]];
        for (taught, kept, verdict) in [
            (&two[..], &["I prefer PNPM", "the Port is 8443"][..], TurnVerdict::Learned),
            (&two[..1], &["I prefer PNPM", "Lunch is at noon"], TurnVerdict::Partly),
            (&two[..], &["I prefer pnpm"], TurnVerdict::Partly),
            (&two[..], &[], TurnVerdict::Missed),
            (&two[..], &["The port is open"], TurnVerdict::Mislearned),
            (&[], &["The port is open"], TurnVerdict::Mislearned),
            (&[], &[], TurnVerdict::Quiet),
        ] {
            let kept: Vec<String> = kept.iter().map(|text| (*text).to_owned()).collect();
            assert_eq!(turn(taught).verdict(&kept), verdict, "{kept:?}");
        }
    }
}
