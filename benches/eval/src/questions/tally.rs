//! Verdicts, counted.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Answered;

/// What is to be thought of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// A note that answers is the first detail.
    Top,
    /// One is anywhere else in the reply.
    Shown,
    /// Nothing came back, though a note answers.
    Silent,
    /// Something else came back.
    Wrong,
    /// Nothing came back, and no note answers.
    Quiet,
    /// Something came back, though no note answers.
    Noise,
}

/// Questions, by what is to be thought of their replies.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Verdicts {
    /// Questions that a note answers.
    pub answerable: u32,
    /// Of these, those whose reply begins with such a note in full.
    pub top: u32,
    /// Of these, those that show one elsewhere.
    pub shown: u32,
    /// Of these, those that show others only.
    pub wrong: u32,
    /// Of these, those that were met with silence.
    pub silent: u32,
    /// Of these, those that have one among the first three of what is shown.
    pub in_three: u32,
    /// Over these: mean of one over the place of the first such note.
    pub mrr: f64,
    /// Questions that no note answers.
    pub unanswerable: u32,
    /// Of these, those that were met with silence.
    pub quiet: u32,
    /// Of these, those that were not.
    pub noise: u32,
    /// Mean tokens of a reply.
    pub tokens: f64,
}

impl Verdicts {
    fn add(&mut self, answered: &Answered) {
        let before = f64::from(self.answerable + self.unanswerable);
        self.tokens = mean(self.tokens, before, f64::from(answered.tokens));
        let of = match answered.verdict {
            Verdict::Top => &mut self.top,
            Verdict::Shown => &mut self.shown,
            Verdict::Silent => &mut self.silent,
            Verdict::Wrong => &mut self.wrong,
            Verdict::Quiet => &mut self.quiet,
            Verdict::Noise => &mut self.noise,
        };
        *of += 1;
        if answered.gold.is_empty() {
            self.unanswerable += 1;
            return;
        }
        self.mrr = mean(self.mrr, f64::from(self.answerable), answered.rr);
        self.in_three += u32::from(answered.rr > 0.3);
        self.answerable += 1;
    }

    /// A share of the questions that a note answers, 0 to 1.
    pub fn share(&self, of: u32) -> f64 {
        f64::from(of) / f64::from(self.answerable.max(1))
    }
}

/// The mean of one value more.
fn mean(mean: f64, values: f64, next: f64) -> f64 {
    mean + (next - mean) / (values + 1.0)
}

/// Prompts, by what the hook gave for them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct PromptTally {
    /// Given a note that bears on it.
    pub given_right: u32,
    /// Given others only.
    pub given_wrong_only: u32,
    /// Given nothing, though a note bears on it.
    pub missed: u32,
    /// Given something, though no note bears on it.
    pub noise: u32,
    /// Given nothing, and no note bears on it.
    pub quiet: u32,
    /// Notes given.
    pub notes_given: usize,
    /// Of these, those that bear on their prompt.
    pub notes_right: usize,
}

impl PromptTally {
    /// Counts a prompt: whether a note bears on it, whether anything was said, notes given, those of them that bear on it.
    pub(super) fn note(&mut self, bears: bool, said: bool, given: usize, right: usize) {
        let of = match (bears, said) {
            _ if right > 0 => &mut self.given_right,
            (true, _) if given > 0 => &mut self.given_wrong_only,
            (true, _) => &mut self.missed,
            (false, true) => &mut self.noise,
            (false, false) => &mut self.quiet,
        };
        *of += 1;
        self.notes_given += given;
        self.notes_right += right;
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.given_right += other.given_right;
        self.given_wrong_only += other.given_wrong_only;
        self.missed += other.missed;
        self.noise += other.noise;
        self.quiet += other.quiet;
        self.notes_given += other.notes_given;
        self.notes_right += other.notes_right;
    }

    /// Prompts.
    pub fn prompts(&self) -> u32 {
        self.given_right + self.given_wrong_only + self.missed + self.noise + self.quiet
    }
}

/// What came of all questions and prompts.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct QuestionReport {
    /// All questions.
    pub all: Verdicts,
    /// By kind.
    pub kinds: BTreeMap<String, Verdicts>,
    /// By set of notes.
    pub sets: BTreeMap<String, Verdicts>,
    /// All prompts.
    pub prompts: PromptTally,
    /// Every question with what came back, in the order they were asked.
    pub rows: Vec<Answered>,
}

impl QuestionReport {
    pub(super) fn add(&mut self, answered: Answered) {
        let set = self.sets.entry(answered.set.clone()).or_default();
        let kind = self.kinds.entry(answered.kind.clone()).or_default();
        [&mut self.all, set, kind].into_iter().for_each(|verdicts| verdicts.add(&answered));
        self.rows.push(answered);
    }

    /// Takes in the report of another file, whose sets are others.
    pub fn extend(&mut self, other: Self, file: &str) {
        self.prompts.add(&other.prompts);
        for mut row in other.rows {
            row.set = format!("{file} {}", row.set);
            self.add(row);
        }
    }
}
