//! Verdicts, counted.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Answered;

/// The verdict on a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// An answering note is the first full result.
    Top,
    /// An answering note is elsewhere in the reply.
    Shown,
    /// The reply is empty, although a note answers the question.
    Silent,
    /// Something else came back.
    Wrong,
    /// The reply is correctly empty, because no note answers the question.
    Quiet,
    /// The reply contains a memory, although no note answers the question.
    Noise,
}

/// Counts of questions by verdict.
#[derive(Debug, Clone, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Verdicts {
    /// Questions that a note answers.
    pub answerable: u32,
    /// Answerable questions whose first full result answers the question.
    pub top: u32,
    /// Answerable questions for which a note with the answer is in the reply, but not first.
    pub shown: u32,
    /// Answerable questions whose replies contain only notes that do not answer them.
    pub wrong: u32,
    /// Answerable questions without a result.
    pub silent: u32,
    /// Answerable questions with an answering note among the first three results.
    pub in_three: u32,
    /// The mean of 1/rank of the first answering note.
    pub mrr: f64,
    /// Questions that no note answers.
    pub unanswerable: u32,
    /// Unanswerable questions without a result.
    pub quiet: u32,
    /// Unanswerable questions with a result.
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

    /// A share of the answerable questions, 0 to 1.
    pub fn share(&self, of: u32) -> f64 {
        f64::from(of) / f64::from(self.answerable.max(1))
    }
}

/// The mean of one value more.
fn mean(mean: f64, values: f64, next: f64) -> f64 {
    mean + (next - mean) / (values + 1.0)
}

/// Counts of prompts by the memories that the hook added.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct PromptTally {
    /// Prompts with a relevant note.
    pub given_right: u32,
    /// Given others only.
    pub given_wrong_only: u32,
    /// Prompts without a memory, although a note is relevant.
    pub missed: u32,
    /// Prompts with a memory, although no note is relevant.
    pub noise: u32,
    /// Prompts that correctly received no memory, because no note is relevant.
    pub quiet: u32,
    /// Notes given.
    pub notes_given: usize,
    /// Added notes that are relevant.
    pub notes_right: usize,
}

impl PromptTally {
    /// Counts a prompt. The arguments are: whether a relevant note exists, whether the hook added text, how many notes
    /// it added, and how many of these are relevant.
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

/// The results of all questions and prompts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct QuestionReport {
    /// All questions.
    pub all: Verdicts,
    /// By kind.
    pub kinds: BTreeMap<String, Verdicts>,
    /// By set of notes.
    pub sets: BTreeMap<String, Verdicts>,
    /// All prompts.
    pub prompts: PromptTally,
    /// Every question with its results, in order.
    pub rows: Vec<Answered>,
}

impl QuestionReport {
    pub(super) fn add(&mut self, answered: Answered) {
        let set = self.sets.entry(answered.set.clone()).or_default();
        let kind = self.kinds.entry(answered.kind.clone()).or_default();
        [&mut self.all, set, kind].into_iter().for_each(|verdicts| verdicts.add(&answered));
        self.rows.push(answered);
    }

    /// Adds the report of another file. Sets of the same name in two files are different sets.
    pub fn extend(&mut self, other: Self, file: &str) {
        self.prompts.add(&other.prompts);
        for mut row in other.rows {
            row.set = format!("{file} {}", row.set);
            self.add(row);
        }
    }
}
