//! Measures which share of the expected evidence a reply contains, as the mean over all questions.
//!
//! Also measures the detector of credentials on labelled texts: texts whose credentials were found completely, and
//! false alarms.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use tessera_engine::domain::{MAX_LIMIT, RecallRequest, ShortId, TokenBudget};
use tessera_engine::screen::findings;
use tessera_engine::store::StoreError;

use crate::ranker::Asker;
use crate::{EvalConfig, EvalError};

/// Ranks at which recall is measured.
const RANKS: [usize; 3] = [5, 10, 20];
/// The token budget at which the time and the results by category are measured.
const MAIN_BUDGET: u32 = 1000;

/// A question, with the memories that contain its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// The question.
    pub request: RecallRequest,
    /// The memories; never empty.
    pub gold: BTreeSet<ShortId>,
    /// The kind of question.
    pub category: String,
}

/// Means over questions. Every share is between 0 and 1.
#[derive(Debug, Clone, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Report {
    /// Questions asked.
    pub questions: u32,
    /// For each budget, the share of the evidence that the reply contains as full results.
    pub recall_at_tokens: BTreeMap<u32, f64>,
    /// For each budget, the share of the evidence in full results, excerpts and summaries.
    pub surfaced_at_tokens: BTreeMap<u32, f64>,
    /// For 5, 10 and 20 results, the share of the evidence that they contain.
    pub recall_at_k: BTreeMap<u32, f64>,
    /// The mean of 1/rank of the first result that is evidence.
    pub mrr: f64,
    /// Median time of a recall at 1000 tokens, in milliseconds.
    pub ms_p50: f64,
    /// By budget: mean tokens of a reply.
    pub tokens_used: BTreeMap<u32, f64>,
    /// The number of replies over their budget. It is always 0.
    pub over_budget: u32,
    /// For each category, the number of questions, and the share of the evidence in full results at 1000 tokens.
    pub by_category: BTreeMap<String, CategoryReport>,
}

/// One kind of question.
#[derive(Debug, Clone, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct CategoryReport {
    /// Questions of the kind.
    pub questions: u32,
    /// The share of the evidence in full results at 1000 tokens.
    pub recall: f64,
    /// The share of the evidence that a reply of 1000 tokens contains in any form.
    pub surfaced: f64,
}

/// The sums for a [`Report`].
#[derive(Debug, Default)]
pub(crate) struct Tally {
    report: Report,
    times: Vec<f64>,
}

impl Tally {
    /// Asks one question once for each token budget.
    pub(crate) fn ask(&mut self, asker: &mut Asker<'_>, asked: &Asked, config: &EvalConfig) -> Result<(), EvalError> {
        let report = &mut self.report;
        report.questions += 1;
        let ranked = RecallRequest { limit: MAX_LIMIT, packing: config.packing, ..asked.request.clone() };
        let order = asker.order(&ranked)?;
        for k in RANKS {
            let found = order.iter().take(k).filter(|short_id| asked.gold.contains(short_id)).count();
            *report.recall_at_k.entry(u32::try_from(k).unwrap_or(0)).or_default() += share(found, asked);
        }
        if let Some(first) = order.iter().position(|short_id| asked.gold.contains(short_id)) {
            report.mrr += 1.0 / (first + 1) as f64;
        }
        let category = report.by_category.entry(asked.category.clone()).or_default();
        category.questions += 1;
        for budget in &config.budgets {
            let request =
                RecallRequest { budget: TokenBudget::try_from(*budget).map_err(StoreError::from)?, ..ranked.clone() };
            let started = Instant::now();
            let recall = asker.recall(&request)?;
            if *budget == MAIN_BUDGET {
                self.times.push(started.elapsed().as_secs_f64() * 1000.0);
            }
            let is_gold = |short_id: &ShortId| asked.gold.contains(short_id);
            let full = recall
                .details
                .iter()
                .filter(|d| d.excerpt.is_none())
                .map(|d| d.memory.short_id)
                .filter(is_gold)
                .count();
            let cut = recall
                .details
                .iter()
                .filter(|d| d.excerpt.is_some())
                .map(|d| d.memory.short_id)
                .filter(is_gold)
                .count();
            let listed = recall.index.iter().filter(|e| !e.is_bare).map(|e| e.memory.short_id).filter(is_gold).count();
            let (recalled, surfaced) = (share(full, asked), share(full + cut + listed, asked));
            *report.recall_at_tokens.entry(*budget).or_default() += recalled;
            *report.surfaced_at_tokens.entry(*budget).or_default() += surfaced;
            *report.tokens_used.entry(*budget).or_default() += f64::from(recall.tokens_used);
            report.over_budget += u32::from(recall.tokens_used > *budget);
            if *budget == MAIN_BUDGET {
                category.recall += recalled;
                category.surfaced += surfaced;
            }
        }
        Ok(())
    }

    /// Means instead of sums.
    pub(crate) fn finish(mut self) -> Report {
        let report = &mut self.report;
        let questions = f64::from(report.questions.max(1));
        let maps = [
            &mut report.recall_at_tokens,
            &mut report.surfaced_at_tokens,
            &mut report.recall_at_k,
            &mut report.tokens_used,
        ];
        for value in maps.into_iter().flat_map(BTreeMap::values_mut).chain([&mut report.mrr]) {
            *value /= questions;
        }
        for category in report.by_category.values_mut() {
            category.recall /= f64::from(category.questions);
            category.surfaced /= f64::from(category.questions);
        }
        self.times.sort_by(f64::total_cmp);
        report.ms_p50 = self.times.get(self.times.len() / 2).copied().unwrap_or(0.0);
        self.report
    }
}

fn share(found: usize, asked: &Asked) -> f64 {
    found as f64 / asked.gold.len().max(1) as f64
}

/// A labelled text: a line of JSON.
#[derive(Debug, Deserialize)]
struct Labelled {
    text: String,
    /// `pos` if it contains a credential, otherwise `neg`.
    label: String,
    /// The positions of credentials, in characters.
    #[serde(default)]
    spans: Vec<(usize, usize)>,
    /// The source of the text.
    #[serde(default)]
    origin: String,
    /// The kind of the text.
    #[serde(default)]
    cls: String,
}

/// The results of the detector for texts of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Screening {
    /// Texts with a credential.
    pub credentials: u32,
    /// Texts in which every character of every credential was found.
    pub whole: u32,
    /// Texts with a credential in which the detector found anything.
    pub some: u32,
    /// Characters beside a credential that were counted as part of it.
    pub beside: u64,
    /// Texts without a credential.
    pub harmless: u32,
    /// Harmless texts with a finding.
    pub alarms: u32,
}

impl Screening {
    /// The share of completely found credentials.
    pub fn found(&self) -> f64 {
        f64::from(self.whole) / f64::from(self.credentials.max(1))
    }

    /// The share of harmless texts with a finding.
    pub fn false_alarms(&self) -> f64 {
        f64::from(self.alarms) / f64::from(self.harmless.max(1))
    }

    fn note(&mut self, row: &Labelled) {
        let found = findings(&row.text);
        if row.label == "neg" {
            self.harmless += 1;
            self.alarms += u32::from(!found.is_empty());
            return;
        }
        let chars = |at: usize| row.text.get(..at).map_or(0, |head| head.chars().count());
        let mut marked = vec![false; row.text.chars().count()];
        for finding in &found {
            let span = chars(finding.span.start)..chars(finding.span.end);
            marked.iter_mut().take(span.end).skip(span.start).for_each(|mark| *mark = true);
        }
        let inside = |at: usize| row.spans.iter().any(|(start, end)| (*start..*end).contains(&at));
        let is_whole = row.spans.iter().all(|(start, end)| marked.iter().take(*end).skip(*start).all(|mark| *mark));
        self.credentials += 1;
        self.whole += u32::from(is_whole);
        self.some += u32::from(!found.is_empty());
        self.beside += marked.iter().enumerate().filter(|(at, mark)| **mark && !inside(*at)).count() as u64;
    }
}

/// Counts of found credentials by source of the texts and, within a source, by kind of text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct ScreeningReport {
    /// All texts.
    pub total: Screening,
    /// By origin.
    pub by_origin: BTreeMap<String, Screening>,
    /// By kind of text.
    pub by_kind: BTreeMap<String, Screening>,
}

/// Screens labelled texts: JSON lines with `text`, `label` (`pos` or `neg`), `spans`, `origin` and `cls`.
///
/// # Errors
/// Returns an error if the file cannot be read, or a line does not have the fields of a labelled text.
pub fn screenings(path: &Path) -> Result<ScreeningReport, EvalError> {
    let failed = |source| EvalError::File { path: path.to_owned(), source };
    let mut report = ScreeningReport::default();
    for line in BufReader::new(File::open(path).map_err(failed)?).lines() {
        let line = line.map_err(failed)?;
        let row: Labelled = serde_json::from_str(&line).map_err(|error| failed(error.into()))?;
        report.total.note(&row);
        report.by_origin.entry(row.origin.clone()).or_default().note(&row);
        report.by_kind.entry(row.cls.clone()).or_default().note(&row);
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_credential_counts_where_it_was_found_whole_and_a_harmless_text_where_it_was_left() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        for line in [
            r#"{"text":"Für später: password=x9!kLm2$Qw","label":"pos","spans":[[21,31]],"origin":"a","cls":"k"}"#,
            r#"{"text":"Nothing is here","label":"pos","spans":[[0,7]],"origin":"a","cls":"k"}"#,
            r#"{"text":"The password is required","label":"neg","origin":"b","cls":"n"}"#,
        ] {
            writeln!(file, "{line}").unwrap();
        }
        let report = screenings(file.path()).unwrap();
        let expected = Screening { credentials: 2, whole: 1, some: 1, beside: 0, harmless: 1, alarms: 0 };
        assert_eq!(report.total, expected);
        assert_eq!((report.by_origin["a"].credentials, report.by_kind["n"].harmless), (2, 1));
        writeln!(file, "no line").unwrap();
        assert!(screenings(file.path()).is_err());
    }
}
