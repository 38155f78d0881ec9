//! `eval`: measures how much evidence recall returns per token.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tessera_engine::domain::Packing;
use tessera_engine::score::Weights;
use tessera_eval::{
    EvalConfig, Filing, Fixture, LifeTally, ReplayReport, Report, Screening, TimeAnswer, TurnVerdict, Unit, UsageTrace,
    Vectors, World, evaluate_life, evaluate_locomo, evaluate_time, evaluate_turns, replay, screenings, total,
};

use super::{Context, questions};
use crate::cli::{Eval, EvalOptions, EvalUnit, EvalVectors};
use crate::output;
use crate::shapes::{EvalLife, EvalPrompts, EvalTimes};

/// Measures, and prints a report.
pub(super) fn run(context: &Context, what: Eval) -> anyhow::Result<()> {
    match what {
        Eval::Locomo { file, unit, options } => {
            let unit = match unit {
                EvalUnit::Turn => Unit::Turn,
                EvalUnit::Session => Unit::Session,
            };
            report(context, &options, |config| Ok(evaluate_locomo(&file, unit, config)?))
        }
        Eval::Queries { file, options } => queries(context, &file, &options),
        Eval::Prompts { file, vectors } => prompts(context, &file, &vectors.vectors()),
        Eval::Questions { files, max_tokens, ranker, vectors } => {
            let config = ranker.config(&vectors, &[], Packing::Dual, Weights::default());
            questions::run(context, &files, max_tokens, &config)
        }
        Eval::Life { files, max_tokens, ranker, semantic } => {
            let config = ranker.config(&EvalVectors::fresh(semantic), &[], Packing::Dual, Weights::default());
            life(context, &files, max_tokens, &config)
        }
        Eval::Time { file, all } => time(context, &file, all),
        Eval::Secrets { file } => secrets(context, &file),
        Eval::Compare { data, fixtures, cache } => questions::compare(context, &data, &fixtures, cache),
    }
}

/// The time at which the questions about notes that change are asked.
const LIFE_ASKED_AT: &str = "2026-11-23T12:00:00Z";

/// Asks the questions of sets of notes that change.
fn life(context: &Context, files: &[PathBuf], budget: u32, config: &EvalConfig) -> anyhow::Result<()> {
    let (mut answers, mut filing, mut turns) = (Vec::new(), Filing::default(), Vec::new());
    let (now, weights) = (LIFE_ASKED_AT.parse()?, config.store_weights());
    for file in files {
        turns.extend(evaluate_turns(file, tessera_learn::statements)?);
        for world in World::read_file(file)? {
            let (of_world, filed) = evaluate_life(&world, now, budget, (config.ranker, &weights))?;
            answers.extend(of_world);
            filing.with(filed);
        }
    }
    let groups = LifeTally::by_group(&answers);
    if context.json {
        return output::json(&EvalLife { groups, filing, answers, turns });
    }
    let share = |part: u32, of: u32| match of {
        0 => "-".to_owned(),
        of => output::percent(f64::from(part) / f64::from(of)),
    };
    let row = |(name, tally): (&String, &LifeTally)| {
        let mean = |sum: f64, of: u32| if of == 0 { "-".to_owned() } else { output::percent(sum / f64::from(of)) };
        vec![
            name.clone(),
            tally.asked.to_string(),
            share(tally.first, tally.asked),
            share(tally.shown, tally.asked),
            share(tally.silent, tally.asked),
            share(tally.stale_first, tally.with_stale),
            share(tally.stale_unmarked, tally.with_stale),
            share(tally.wanted, tally.rows),
            mean(tally.complete, tally.asked),
            mean(tally.order, tally.ordered),
            format!("{}/{}", tally.quiet, tally.unanswerable),
        ]
    };
    let header = [
        "questions",
        "n",
        "first",
        "shown",
        "silent",
        "stale first",
        "unmarked",
        "precision",
        "complete",
        "order",
        "quiet",
    ];
    output::text(&output::table(&header, groups.iter().map(row).collect()))?;
    let filed = [("category of three", filing.categories), ("scope", filing.scopes)];
    let row = |(name, right): (&str, u32)| vec![name.to_owned(), filing.notes.to_string(), share(right, filing.notes)];
    output::text(&output::table(&["notes", "n", "right"], filed.map(row).to_vec()))?;
    if turns.is_empty() {
        return Ok(());
    }
    let mut verdicts: BTreeMap<TurnVerdict, u32> = BTreeMap::new();
    turns.iter().for_each(|turn| *verdicts.entry(turn.verdict).or_default() += 1);
    let row = |(verdict, count): (&TurnVerdict, &u32)| vec![verdict.name().to_owned(), count.to_string()];
    output::text(&output::table(&["turns", "n"], verdicts.iter().map(row).collect()))
}

/// Checks how times are understood.
fn time(context: &Context, file: &Path, lists_all: bool) -> anyhow::Result<()> {
    let answers = evaluate_time(file)?;
    if context.json {
        return output::json(&EvalTimes { answers });
    }
    let listed = answers.iter().filter(|answer| lists_all || !answer.is_right);
    let mark = |answer: &TimeAnswer| match (answer.is_right, answer.is_soft) {
        (true, _) => "right",
        (false, true) => "disputed",
        (false, false) => "wrong",
    };
    let entry = |answer: &TimeAnswer| {
        [mark(answer), &answer.group, &answer.text, &answer.got, &answer.expected].map(str::to_owned).to_vec()
    };
    output::text(&output::table(&["", "kind", "text", "understood", "expected"], listed.map(entry).collect()))?;
    let mut groups: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    for answer in &answers {
        for group in [answer.group.as_str(), "all"] {
            let tally = groups.entry(group).or_default();
            tally[0] += usize::from(answer.is_right);
            tally[1] += 1;
        }
    }
    let row = |(name, [right, of]): (&&str, &[usize; 2])| {
        vec![(*name).to_owned(), format!("{right}/{of}"), output::percent(*right as f64 / *of as f64)]
    };
    output::text(&output::table(&["kind", "right", "%"], groups.iter().map(row).collect()))
}

/// Measures the secret detector on labelled texts.
fn secrets(context: &Context, file: &Path) -> anyhow::Result<()> {
    let report = screenings(file)?;
    if context.json {
        return output::json(&serde_json::to_value(&report)?);
    }
    let row = |name: &str, part: &Screening| {
        let share = |of: u32, share: f64| if of == 0 { "-".to_owned() } else { output::percent(share) };
        vec![
            name.to_owned(),
            format!("{}/{}", part.whole, part.credentials),
            share(part.credentials, part.found()),
            format!("{}/{}", part.alarms, part.harmless),
            share(part.harmless, part.false_alarms()),
            part.beside.to_string(),
        ]
    };
    let mut rows: Vec<Vec<String>> = report.by_origin.iter().map(|(name, part)| row(name, part)).collect();
    rows.push(row("all", &report.total));
    let header = ["texts", "found whole", "%", "false alarms", "%", "characters beside"];
    output::text(&output::table(&header, rows))
}

/// Replays prompts through the hook.
fn prompts(context: &Context, file: &Path, vectors: &Vectors) -> anyhow::Result<()> {
    let by_kind = replay(file, vectors)?;
    let total = total(&by_kind);
    if context.json {
        let precision = total.precision();
        return output::json(&EvalPrompts { total, precision, kinds: by_kind });
    }
    let row = |name: &str, report: &ReplayReport| {
        vec![
            name.to_owned(),
            report.prompts.to_string(),
            output::percent(f64::from(report.silent) / f64::from(report.prompts.max(1))),
            format!("{}/{}", report.answered, report.answerable),
            format!("{}/{}", report.to_the_point, report.given),
            format!("{:.1}", f64::from(report.tokens) / f64::from(report.prompts.max(1))),
            format!("{} / {}", report.most_tokens, report.most_characters),
        ]
    };
    let mut rows: Vec<Vec<String>> = by_kind.iter().map(|(kind, report)| row(kind, report)).collect();
    rows.push(row("all", &total));
    let header = [
        "kind",
        "prompts",
        "silent %",
        "answered",
        "relevant",
        "tokens per prompt",
        "highest number of tokens / characters",
    ];
    output::text(&output::table(&header, rows))?;
    output::line(&format!("precision {} %", output::percent(total.precision())))
}

/// Evaluates recall on a file of questions. If `usage.toml` exists, also evaluates it after replaying the uses in this
/// file.
fn queries(context: &Context, file: &Path, options: &EvalOptions) -> anyhow::Result<()> {
    let fixture = Fixture::read(file)?;
    let whole = fixture.evaluate(&options.config(Weights::default()))?;
    let trace = file.with_file_name("usage.toml");
    let usage = if trace.exists() {
        let vectors = options.vectors.vectors();
        Some(UsageTrace::read(&trace)?.evaluate(&fixture, &Weights::default(), &vectors)?)
    } else {
        None
    };
    if context.json {
        let mut value = serde_json::to_value(&whole)?;
        if let (Some(object), Some(usage)) = (value.as_object_mut(), &usage) {
            object.insert("usage".into(), serde_json::to_value(usage)?);
        }
        return output::json(&value);
    }
    report(context, options, |config| Ok(fixture.evaluate(config)?.report))?;
    output::line(&format!(
        "recall correctly returned nothing for {} of {} unrelated questions",
        whole.silent, whole.unrelated
    ))?;
    if let Some(usage) = usage {
        let rows = usage.runs.iter().map(|(run, (first, reciprocal))| {
            vec![(*run).to_owned(), output::percent(*first), format!("{reciprocal:.3}")]
        });
        output::text(&output::table(&["usage trace", "right note first", "MRR"], rows.collect()))?;
    }
    Ok(())
}

/// Runs the configured evaluation. With `--ablate`, repeats it for each signal, with this signal switched off.
fn report(
    context: &Context,
    options: &EvalOptions,
    evaluate: impl Fn(&EvalConfig) -> anyhow::Result<Report>,
) -> anyhow::Result<()> {
    let config = |weights| options.config(weights);
    let whole = evaluate(&config(Weights::default()))?;
    let mut ablation = Vec::new();
    if options.ablate {
        for (name, weights) in Weights::ablations() {
            ablation.push((name, evaluate(&config(weights))?));
        }
    }
    if context.json {
        let mut value = serde_json::to_value(&whole)?;
        if let (Some(object), true) = (value.as_object_mut(), options.ablate) {
            let without: serde_json::Map<String, serde_json::Value> = ablation
                .iter()
                .map(|(name, report)| Ok(((*name).to_owned(), serde_json::to_value(report)?)))
                .collect::<anyhow::Result<_>>()?;
            object.insert("ablation".into(), without.into());
        }
        return output::json(&value);
    }
    output::text(&table(&whole, &ablation))?;
    let kinds = whole.by_category.iter().map(|(kind, part)| {
        vec![kind.clone(), part.questions.to_string(), output::percent(part.recall), output::percent(part.surfaced)]
    });
    output::text(&output::table(&["kind", "questions", "in full within 1000 tokens", "surfaced"], kinds.collect()))
}

fn table(whole: &Report, ablation: &[(&'static str, Report)]) -> String {
    let budgets: Vec<String> =
        whole.recall_at_tokens.keys().map(|budget| format!("in full within {budget} tokens")).collect();
    let surfaced: Vec<String> =
        whole.surfaced_at_tokens.keys().map(|budget| format!("surfaced within {budget}")).collect();
    let mut header = vec!["run".to_owned(), "questions".to_owned()];
    header.extend(budgets.into_iter().chain(surfaced));
    header.extend(["first 10", "MRR", "ms"].map(str::to_owned));
    let row = |name: &str, report: &Report| {
        let mut cells = vec![name.to_owned(), report.questions.to_string()];
        cells.extend(
            report
                .recall_at_tokens
                .values()
                .chain(report.surfaced_at_tokens.values())
                .map(|share| output::percent(*share)),
        );
        cells.push(output::percent(report.recall_at_k.get(&10).copied().unwrap_or(0.0)));
        cells.extend([format!("{:.3}", report.mrr), format!("{:.2}", report.ms_p50)]);
        cells
    };
    let mut rows = vec![row("all signals", whole)];
    rows.extend(ablation.iter().map(|(name, report)| row(name, report)));
    output::table(&header.iter().map(String::as_str).collect::<Vec<_>>(), rows)
}
