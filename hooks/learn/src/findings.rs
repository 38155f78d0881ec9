//! Findings of a subagent: sentences of its report that later sessions may need. They always wait for review, because no
//! person wrote them.

use std::sync::LazyLock;

use regex_lite::Regex;
use tessera_desk::queue::Job;
use tessera_desk::results::LearningResult;
use tessera_engine::Store;
use tessera_engine::domain::Tag;
use tessera_engine::learning::Kind;
use tessera_engine::store::StoreError;
use tessera_hooks::ReviewChoice;
use tessera_hooks::prompt::agent_sentences;

use crate::correction::lacks_subject;
use crate::extracted_memory::ExtractedMemory;
use crate::extractor::Extractor;
use crate::heuristic::pattern;
use crate::reconcile::{self, Outcome, Source};
use crate::taught::Message;
use crate::transcript::Turn;

/// The maximum number of findings of one subagent.
const MOST_FINDINGS: usize = 3;
/// The maximum number of sentences of a report that are read.
const MOST_SENTENCES: usize = 80;
/// The fewest words of a finding. A shorter sentence needs the sentences around it.
const FEWEST_WORDS: usize = 5;
/// The minimum probability that the classifier of messages states for a finding. Reports contain many statements that only
/// matter for the present task, so the limit is higher than for a person's message.
const LEAST_PROBABILITY: f64 = 0.8;
/// The tag of a finding.
const TAG: &str = "subagent";

/// Adds the findings of a subagent to the review queue.
pub(crate) fn propose(store: &mut Store, job: &Job, review: ReviewChoice) -> Result<Vec<LearningResult>, StoreError> {
    if review == ReviewChoice::Off {
        return Ok(Vec::new());
    }
    let turn = Turn { id: String::new(), at: Some(job.at), user: job.answer.clone(), assistant: String::new() };
    let mut waiting = Vec::new();
    for finding in findings(&job.answer) {
        let source = Source { job, turn: &turn, extractor: Extractor::Heuristic, review: ReviewChoice::All };
        match reconcile::reconcile(store, &finding, source) {
            Ok(Outcome::Waiting(id)) => waiting.push(LearningResult::Waiting(id)),
            Ok(_) | Err(StoreError::Domain(_) | StoreError::Conflict { .. } | StoreError::InFile { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(waiting)
}

/// The sentences of a report that state something lasting, most probable first.
fn findings(report: &str) -> Vec<ExtractedMemory> {
    let sentences = agent_sentences(report).into_iter().filter(|sentence| is_clear(sentence)).take(MOST_SENTENCES);
    let mut found: Vec<ExtractedMemory> = sentences.filter_map(|sentence| finding(&sentence)).collect();
    found.sort_by(|a, b| b.probability.unwrap_or_default().total_cmp(&a.probability.unwrap_or_default()));
    found.truncate(MOST_FINDINGS);
    found
}

fn finding(sentence: &str) -> Option<ExtractedMemory> {
    let message = Message::new(sentence, "");
    let is_statement = matches!(message.kind(), Kind::Fact | Kind::Decision | Kind::Lesson);
    let mut memory = message.memory().filter(|_| is_statement)?;
    if memory.probability.is_none_or(|probability| probability < LEAST_PROBABILITY) {
        return None;
    }
    memory.tags.extend(TAG.parse::<Tag>().ok());
    // A subagent works on one project.
    memory.is_everywhere = Some(false);
    Some(memory)
}

pattern!(
    OF_THIS_TASK,
    r"(?i):\d|\bdiff\b|\b\d+ (?:passed|failed|failures?|errors?|offenses?|tests?|commits?|files|lines)\b|\bthere (?:was|were)\b|\b(?:searched|looked|step|lines?|zeilen?|lignes?) \d"
);

/// True for a sentence that can be understood alone, and that speaks of the project, not of the work.
fn is_clear(sentence: &str) -> bool {
    let speaks_of_itself =
        |word: &str| matches!(word.to_lowercase().as_str(), "i" | "i'll" | "i've" | "let" | "ich" | "je" | "yo");
    let words: Vec<&str> = sentence.split_whitespace().collect();
    let is_wide = sentence.chars().any(|c| (c as u32) >= 0x2E80);
    sentence.ends_with(['.', '!', '。'])
        && !OF_THIS_TASK.is_match(sentence)
        && (is_wide || words.len() >= FEWEST_WORDS)
        && !words.first().is_some_and(|word| speaks_of_itself(word))
        && !lacks_subject(sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(report: &str) -> Vec<String> {
        findings(report).into_iter().map(|memory| memory.content).collect()
    }

    #[test]
    fn a_report_has_findings_and_chatter() {
        let report = "I looked at the deployment scripts and ran the tests.\n\n## Findings\n\n\
            - **The nightly batch of the ledger always runs at three, from deploy/cron.d/ledger.**\n\
            - It is fast.\n- Done.\n\nLet me know if you need more. Should I change it?";
        let found = found(report);
        assert!(found.iter().any(|text| text.contains("nightly batch of the ledger")), "{found:?}");
        assert!(
            found.len() <= MOST_FINDINGS && !found.iter().any(|text| text.contains('?') || text.contains("It is fast"))
        );
    }

    #[test]
    fn progress_and_odd_texts_have_no_findings() {
        for report in [
            "",
            "\0",
            "?",
            "I searched the repository. I found nothing. All done!",
            "No issues found in the three files that I checked.",
            "```\nthe password is hunter22\n```",
            &"x ".repeat(10_000),
        ] {
            assert_eq!(found(report), [] as [&str; 0], "{report}");
        }
    }
}
