//! `eval questions` tests natural questions over short notes, and `eval compare` prints one table of all sets and
//! rankers.

use std::path::{Path, PathBuf};

use tessera_eval::{EvalConfig, PromptTally, QuestionFile, QuestionReport, Verdicts, compare as compare_all};

use super::Context;
use crate::output;

/// Asks all questions of the given files, and prints how many of them were answered well, by kind and set.
pub(super) fn run(context: &Context, files: &[PathBuf], budget: u32, config: &EvalConfig) -> anyhow::Result<()> {
    let mut report = QuestionReport::default();
    for file in files {
        let name = if files.len() > 1 { file.file_stem().unwrap_or_default() } else { std::ffi::OsStr::new("") };
        let one = QuestionFile::read(file)?.evaluate(budget, config)?;
        if files.len() > 1 { report.extend(one, &name.to_string_lossy()) } else { report = one }
    }
    if context.json {
        return output::json(&serde_json::to_value(&report)?);
    }
    let QuestionReport { all, kinds, sets, prompts, .. } = &report;
    let mut rows: Vec<Vec<String>> = kinds.iter().map(|(kind, verdicts)| row(kind, verdicts)).collect();
    rows.extend(sets.iter().map(|(set, verdicts)| row(&format!("set {set}"), verdicts)));
    rows.push(row("all", all));
    let header = [
        "kind",
        "with an answer",
        "top",
        "shown",
        "wrong",
        "silent",
        "first %",
        "in three %",
        "shown %",
        "silent %",
        "MRR",
        "without",
        "quiet",
        "noise",
        "tokens",
    ];
    output::text(&output::table(&header, rows))?;
    if prompts.prompts() == 0 { Ok(()) } else { output::line(&told(prompts)) }
}

fn row(name: &str, verdicts: &Verdicts) -> Vec<String> {
    let Verdicts { answerable, top, shown, wrong, silent, in_three, mrr, unanswerable, quiet, noise, tokens } =
        verdicts;
    let share = |of: u32| if *answerable == 0 { String::new() } else { output::percent(verdicts.share(of)) };
    let mut cells = vec![name.to_owned(), answerable.to_string()];
    cells.extend([top, shown, wrong, silent].map(u32::to_string));
    cells.extend([*top, *in_three, top + shown, *silent].map(share));
    cells.push(if *answerable == 0 { String::new() } else { format!("{mrr:.3}") });
    cells.extend([unanswerable, quiet, noise].map(u32::to_string));
    cells.push(format!("{tokens:.0}"));
    cells
}

fn told(prompts: &PromptTally) -> String {
    let PromptTally { given_right, given_wrong_only, missed, noise, quiet, notes_given, notes_right } = prompts;
    format!(
        "{} prompts: {given_right} got a relevant memory, {given_wrong_only} only irrelevant ones, {missed} none; of the unrelated prompts, {quiet} got none, {noise} got some; {notes_right} of {notes_given} added memories are relevant",
        prompts.prompts()
    )
}

/// Measures every set with every ranker, and prints the table.
pub(super) fn compare(context: &Context, data: &Path, fixtures: &Path, cache: Option<PathBuf>) -> anyhow::Result<()> {
    let comparison = compare_all(data, fixtures, cache, |set, ranker| output::note(&format!("{set}: {ranker}")))?;
    context.print_text(&serde_json::to_value(&comparison)?, || comparison.markdown())
}
