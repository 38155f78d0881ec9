//! Verdicts over a small file, and what is refused.

use tessera_engine::domain::Packing;
use tessera_engine::score::Weights;

use super::*;
use crate::{Leg, Vectors};

const FILE: &str = r#"{
    "notes": [
        {"id": "cache", "text": "The cache lives on birch, port 6380.", "created": "2026-05-05", "set": "a"},
        {"id": "deploy", "text": "We deploy with ./ship --canary first.", "created": "2026-05-06T08:00:00Z", "set": "a"},
        {"key": "cats", "content": "The two cats are called Mio and Nala.", "created": "2026-05-07", "tags": ["home"], "set": 2}
    ],
    "questions": [
        {"q": "on which port does the cache live?", "gold": ["cache"], "kind": "exact", "set": "a"},
        {"q": "cache on birch, port 6380; deploy with canary", "gold": ["deploy"], "kind": "both", "set": "a"},
        {"q": "what are the cats called?", "gold": [], "kind": "none", "set": "a"},
        {"q": "what are the cats called?", "gold": ["cats"], "kind": "exact", "set": 2},
        {"q": "zymurgy of quokkas", "gold": ["cats"], "kind": "hard", "set": 2}
    ],
    "prompts": [
        {"prompt": "The cache on birch does not answer on port 6380, please have a look", "gold": ["cache"], "set": "a"},
        {"prompt": "thanks, that is all", "gold": [], "set": "a"},
        {"prompt": "rename the variable in the parser", "gold": ["cats"], "set": 2}
    ]}"#;

fn config(ranker: Ranker) -> EvalConfig {
    let vectors = Vectors { leg: Leg::Off, cache: None };
    EvalConfig { budgets: Vec::new(), packing: Packing::Dual, weights: Weights::default(), vectors, ranker }
}

fn report(ranker: Ranker) -> QuestionReport {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("questions.json");
    std::fs::write(&path, FILE).unwrap();
    QuestionFile::read(&path).unwrap().evaluate(400, &config(ranker)).unwrap()
}

#[test]
fn every_set_is_asked_by_itself_and_every_question_gets_a_verdict() {
    let report = report(Ranker::Tessera);
    let verdicts: Vec<(String, Verdict)> = report.rows.iter().map(|row| (row.q[..9].to_owned(), row.verdict)).collect();
    let expected = [
        ("what are ", Verdict::Top),
        ("zymurgy o", Verdict::Silent),
        ("on which ", Verdict::Top),
        ("cache on ", Verdict::Shown),
        ("what are ", Verdict::Quiet),
    ];
    assert_eq!(verdicts, expected.map(|(q, verdict)| (q.to_owned(), verdict)));
    let all = &report.all;
    assert_eq!((all.answerable, all.top, all.shown, all.silent, all.wrong), (4, 2, 1, 1, 0));
    assert_eq!((all.unanswerable, all.quiet, all.noise, all.in_three), (1, 1, 0, 3));
    assert!((all.mrr - 2.5 / 4.0).abs() < 1e-9, "{}", all.mrr);
    assert!((all.share(all.top) - 0.5).abs() < 1e-9);
    assert_eq!(report.sets.keys().collect::<Vec<_>>(), ["2", "a"]);
    assert_eq!(report.kinds["exact"].top, 2);
    let mean = report.rows.iter().map(|row| f64::from(row.tokens)).sum::<f64>() / 5.0;
    assert!((all.tokens - mean).abs() < 1e-9);
}

#[test]
fn prompts_go_through_the_hook_and_only_where_tessera_is_asked() {
    let prompts = report(Ranker::Tessera).prompts;
    assert_eq!((prompts.given_right, prompts.quiet, prompts.missed, prompts.prompts()), (1, 1, 1, 3));
    assert_eq!((prompts.notes_right, prompts.noise, prompts.given_wrong_only), (1, 0, 0));
    let peer = report(Ranker::Fts5);
    assert_eq!((peer.prompts.prompts(), peer.all.answerable), (0, 4));
}

#[test]
fn reports_of_several_files_become_one() {
    let mut both = report(Ranker::Tessera);
    both.extend(report(Ranker::Tessera), "more");
    assert_eq!((both.all.answerable, both.all.top, both.prompts.prompts()), (8, 4, 6));
    assert_eq!(both.sets.keys().collect::<Vec<_>>(), ["2", "a", "more 2", "more a"]);
}

#[test]
fn a_file_that_is_not_in_the_format_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("questions.json");
    for wrong in ["[7]", r#"{"notes": [{"id": "a", "text": "b", "created": "May"}]}"#] {
        std::fs::write(&path, wrong).unwrap();
        assert!(matches!(QuestionFile::read(&path), Err(EvalError::Format { .. })), "{wrong}");
    }
}
