//! Compares all rankers on all question sets in one table. Tessera's code fills the budget for all rankers, so only the
//! order and the threshold differ.

use std::path::{Path, PathBuf};

use serde::Serialize;
use tessera_engine::domain::Packing;
use tessera_engine::score::Weights;

use crate::{EvalConfig, EvalError, Fixture, Leg, QuestionFile, Ranker, Unit, Vectors, evaluate_locomo};

/// The budget for a question about short notes, and the budget for a question about conversations.
const NOTES_BUDGET: u32 = 400;
const CONVERSATION_BUDGET: u32 = 1000;

/// The compared systems: name and ranking.
const RANKERS: [(&str, Ranker, Numbers, Leg); 5] = [
    ("FTS5", Ranker::Fts5, Numbers::Ours, Leg::Off),
    ("BM25", Ranker::Tessera, Numbers::Textbook, Leg::Off),
    ("encoder alone", Ranker::Encoder, Numbers::Ours, Leg::On),
    ("Tessera, words only", Ranker::Tessera, Numbers::Ours, Leg::Off),
    ("Tessera", Ranker::Tessera, Numbers::Ours, Leg::On),
];

#[derive(Clone, Copy)]
enum Numbers {
    Ours,
    Textbook,
}

/// One measure on one question set, with the value of each ranker.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Compared {
    /// The set.
    pub set: String,
    /// The measure with its unit.
    pub measure: String,
    /// The displayed values, in the order of [`Comparison::rankers`].
    pub values: Vec<String>,
}

/// All measures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Comparison {
    /// The rankers.
    pub rankers: Vec<&'static str>,
    /// The result.
    pub rows: Vec<Compared>,
}

/// Compares all sets: `questions*.json`, `locomo*.json` and `beam*.json` in `data`, and `everyday/queries.toml` in
/// `fixtures`. Calls `done` after each measurement, because each one takes a while.
///
/// # Errors
/// Returns an error if a file cannot be read or parsed, or a store fails.
pub fn compare(
    data: &Path,
    fixtures: &Path,
    cache: Option<PathBuf>,
    mut done: impl FnMut(&str, &str),
) -> Result<Comparison, EvalError> {
    let mut comparison = Comparison { rankers: RANKERS.map(|(name, ..)| name).to_vec(), rows: Vec::new() };
    // Embeddings are computed once for all rankers.
    let kept =
        tempfile::tempdir().map_err(|source| EvalError::File { path: PathBuf::from("temporary directory"), source })?;
    let cache = cache.unwrap_or_else(|| kept.path().to_path_buf());
    for set in Set::all(data, fixtures)? {
        let mut found: Vec<Vec<(String, String)>> = Vec::new();
        for (name, ranker, numbers, leg) in RANKERS {
            let weights = match numbers {
                Numbers::Ours => Weights::default(),
                Numbers::Textbook => Weights::bm25_alone(),
            };
            let vectors = Vectors { leg, cache: Some(cache.clone()) };
            let config =
                EvalConfig { budgets: vec![CONVERSATION_BUDGET], packing: Packing::Dual, weights, vectors, ranker };
            found.push(set.measure(&config)?);
            done(&set.name, name);
        }
        let measures = found.first().map(Vec::len).unwrap_or_default();
        for at in 0..measures {
            let cells: Vec<&(String, String)> = found.iter().filter_map(|measures| measures.get(at)).collect();
            let measure = cells.first().map(|(measure, _)| measure.clone()).unwrap_or_default();
            let values = cells.iter().map(|(_, value)| value.clone()).collect();
            comparison.rows.push(Compared { set: set.name.clone(), measure, values });
        }
    }
    Ok(comparison)
}

impl Comparison {
    /// As a table in Markdown.
    pub fn markdown(&self) -> String {
        let mut table = format!(
            "| set | measure | {} |\n|---|---|{}\n",
            self.rankers.join(" | "),
            "---|".repeat(self.rankers.len())
        );
        let mut before = "";
        for Compared { set, measure, values } in &self.rows {
            let named = if set == before { "" } else { set };
            table.push_str(&format!("| {named} | {measure} | {} |\n", values.join(" | ")));
            before = set;
        }
        table
    }
}

/// A set of questions.
struct Set {
    name: String,
    path: PathBuf,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Questions,
    Everyday,
    Conversations,
}

impl Set {
    fn all(data: &Path, fixtures: &Path) -> Result<Vec<Self>, EvalError> {
        let failed = |source| EvalError::File { path: data.to_path_buf(), source };
        let entries = std::fs::read_dir(data).map_err(failed)?;
        let mut sets: Vec<Self> = entries.filter_map(Result::ok).filter_map(|entry| Self::of(entry.path())).collect();
        let everyday = fixtures.join("everyday/queries.toml");
        if everyday.is_file() {
            sets.push(Self { name: "everyday".to_owned(), path: everyday, kind: Kind::Everyday });
        }
        sets.sort_by_key(|set| (set.kind as u8, size_in(&set.name), set.name.clone()));
        Ok(sets)
    }

    fn of(path: PathBuf) -> Option<Self> {
        let name = path.file_name()?.to_str()?.strip_suffix(".json")?.to_owned();
        let kind = match name.as_str() {
            name if name.starts_with("questions") => Kind::Questions,
            name if name.starts_with("locomo") || name.starts_with("beam") => Kind::Conversations,
            _ => return None,
        };
        Some(Self { name, path, kind })
    }

    /// Its measures and values.
    fn measure(&self, config: &EvalConfig) -> Result<Vec<(String, String)>, EvalError> {
        match self.kind {
            Kind::Questions => {
                let all = QuestionFile::read(&self.path)?.evaluate(NOTES_BUDGET, config)?.all;
                let share = |of| percent(all.share(of));
                Ok(vec![
                    ("right first %".to_owned(), share(all.top)),
                    ("among the first three %".to_owned(), share(all.in_three)),
                    ("shown %".to_owned(), share(all.top + all.shown)),
                    ("MRR".to_owned(), format!("{:.3}", all.mrr)),
                    ("no result, although a note has the answer, %".to_owned(), share(all.silent)),
                    (format!("no result, of {} unanswerable", all.unanswerable), all.quiet.to_string()),
                ])
            }
            Kind::Everyday => {
                let asked = Fixture::read(&self.path)?.evaluate(config)?;
                let quiet = format!("no result, of {} unanswerable", asked.unrelated);
                Ok(vec![("MRR".to_owned(), format!("{:.3}", asked.report.mrr)), (quiet, asked.silent.to_string())])
            }
            Kind::Conversations => {
                let report = evaluate_locomo(&self.path, Unit::Turn, config)?;
                let at = |shares: &std::collections::BTreeMap<u32, f64>| {
                    percent(shares.get(&CONVERSATION_BUDGET).copied().unwrap_or_default())
                };
                Ok(vec![
                    ("evidence in full, 1000 tokens, %".to_owned(), at(&report.recall_at_tokens)),
                    ("evidence surfaced, 1000 tokens, %".to_owned(), at(&report.surfaced_at_tokens)),
                ])
            }
        }
    }
}

/// The size in a file name, such as `100K` or `1M`, in thousands; 0 if there is none.
fn size_in(name: &str) -> u32 {
    let digits: String = name.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    let unit = name.split_once(&digits).and_then(|(_, after)| after.chars().next());
    let number: u32 = digits.parse().unwrap_or(0);
    if unit == Some('M') { number.saturating_mul(1000) } else { number }
}

fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_found_by_name_in_the_order_of_their_size() {
        let dir = tempfile::tempdir().unwrap();
        for name in
            ["beam1M-dev.json", "beam100K-dev.json", "locomo-dev.json", "questions-dev.json", "notes.json", "beam.txt"]
        {
            std::fs::write(dir.path().join(name), "[]").unwrap();
        }
        let everyday = dir.path().join("everyday");
        std::fs::create_dir(&everyday).unwrap();
        std::fs::write(everyday.join("queries.toml"), "").unwrap();
        let names: Vec<String> = Set::all(dir.path(), dir.path()).unwrap().into_iter().map(|set| set.name).collect();
        assert_eq!(names, ["questions-dev", "everyday", "locomo-dev", "beam100K-dev", "beam1M-dev"]);
    }

    #[test]
    fn every_ranker_has_a_value_for_every_measure() {
        let dir = tempfile::tempdir().unwrap();
        let file = r#"{"notes": [{"id": "a", "text": "The cache lives on birch", "created": "2026-05-05"}],
            "questions": [{"q": "where does the cache live?", "gold": ["a"], "kind": "exact"}]}"#;
        std::fs::write(dir.path().join("questions-t.json"), file).unwrap();
        let mut told = Vec::new();
        let comparison =
            compare(dir.path(), dir.path(), None, |set, ranker| told.push(format!("{set}: {ranker}"))).unwrap();
        assert_eq!((told.len(), comparison.rows.len()), (5, 6));
        let first = &comparison.rows[0];
        assert_eq!(
            (first.measure.as_str(), first.values.join(" ")),
            ("right first %", "100.0 ".repeat(5).trim().to_owned())
        );
        let table = comparison.markdown();
        assert!(table.starts_with("| set | measure | FTS5 | BM25 | encoder alone |"), "{table}");
        assert!(table.lines().all(|line| line.matches('|').count() == 8), "{table}");
    }
}
