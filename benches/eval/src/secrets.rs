//! How many credentials are found whole, and how many harmless texts are taken for one, on labelled texts.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::{Deserialize, Serialize};
use tessera_engine::screen::findings;

use crate::EvalError;

/// A labelled text: a line of JSON.
#[derive(Debug, Deserialize)]
struct Labelled {
    text: String,
    /// `pos` where it holds a credential, `neg` where it holds none.
    label: String,
    /// Where credentials stand, in characters.
    #[serde(default)]
    spans: Vec<(usize, usize)>,
    /// Where the text comes from.
    #[serde(default)]
    origin: String,
    /// What kind of text it is.
    #[serde(default)]
    cls: String,
}

/// What was found in texts of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Screening {
    /// Texts with a credential.
    pub credentials: u32,
    /// Of them, those of which every character of every credential was found.
    pub whole: u32,
    /// Of them, those of which something was found.
    pub some: u32,
    /// Characters beside credentials that were taken for part of one, in texts with a credential.
    pub beside: u64,
    /// Texts without a credential.
    pub harmless: u32,
    /// Of them, those in which one was found.
    pub alarms: u32,
}

impl Screening {
    /// The share of credentials that were found whole.
    pub fn found(&self) -> f64 {
        f64::from(self.whole) / f64::from(self.credentials.max(1))
    }

    /// The share of harmless texts in which something was found.
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

/// What was found, by where the texts come from, and within that by what they are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ScreeningReport {
    /// All texts.
    pub total: Screening,
    /// By origin.
    pub by_origin: BTreeMap<String, Screening>,
    /// By kind of text.
    pub by_kind: BTreeMap<String, Screening>,
}

/// Looks through labelled texts: JSON lines with `text`, `label` (`pos` or `neg`), `spans`, `origin` and `cls`.
///
/// # Errors
/// When the file cannot be read, or a line is none of these.
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
