//! The classifier of memories that bind to a tool call, trained on the labelled tool calls in `fixtures/actions`.

#![expect(clippy::print_stdout, reason = "a developer's tool reports on stdout")]

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::Deserialize;
use serde_json::Value;
use tessera_engine::action::{Action, Candidate, Note, rated};
use tessera_engine::classifier::Forest;
use tessera_engine::domain::{ShortId, Timestamp};

use crate::boost::Example;
use crate::forest::{Growing, grow};
use crate::save;

const GROWING: Growing = Growing { trees: 120, leaves: 96, tried: 0.4, least: 2, seed: 1 };
/// The directories with projects.
const SETS: [&str; 3] = ["training", "held-out", "plain"];
/// The parts into which the projects are divided; each is left out once.
const PARTS: usize = 8;
/// Maximum memories for one action.
const MOST: usize = 2;
/// The directory of the repository in the tool calls.
const ROOT: &str = "/repository";

/// A project with notes and tool calls.
#[derive(Deserialize)]
struct Project {
    notes: Vec<LabelledNote>,
    actions: Vec<LabelledAction>,
}

#[derive(Deserialize)]
struct LabelledNote {
    id: String,
    text: String,
    created: String,
}

#[derive(Deserialize)]
struct LabelledAction {
    tool_name: String,
    tool_input: Value,
    /// The notes that bind to the action.
    gold: Vec<String>,
    /// A reason that begins with a kind; `complies` for actions that already do what a note asks.
    why: String,
}

/// A tool call with the features of its candidates.
struct Call {
    /// The features of each candidate, and whether it binds.
    candidates: Vec<(Vec<i16>, bool)>,
    binds: bool,
    complies: bool,
}

/// Writes the classifier, trained on all projects.
pub(crate) fn write(dir: &str, out: &Path) -> anyhow::Result<()> {
    let sets = sets(dir)?;
    save(out, &trained(sets.iter().flatten().flatten()))
}

/// Prints how well the memories are found: with the training projects alone, and with each part left out once.
pub(crate) fn check(dir: &str) -> anyhow::Result<()> {
    let sets = sets(dir)?;
    let [training, tested @ ..] = &sets;
    let forest = trained(training.iter().flatten());
    for (name, projects) in SETS.iter().skip(1).zip(tested) {
        println!("{name}, trained with the projects in `training` only:");
        report(projects.iter().flatten().map(|call| (call, rate(&forest, call))).collect());
    }
    let all: Vec<Vec<Call>> = sets.into_iter().flatten().collect();
    let mut rated = Vec::new();
    for part in 0..PARTS {
        let is_left_out = |at: &usize| at % PARTS == part;
        let rest = all.iter().enumerate().filter(|(at, _)| !is_left_out(at)).flat_map(|(_, calls)| calls);
        let forest = trained(rest);
        let left_out = all.iter().enumerate().filter(|(at, _)| is_left_out(at)).flat_map(|(_, calls)| calls);
        rated.extend(left_out.map(|call| (call, rate(&forest, call))));
    }
    println!("all projects, each part left out once:");
    report(rated);
    Ok(())
}

/// The tool calls of each project in each of [`SETS`].
fn sets(dir: &str) -> anyhow::Result<[Vec<Vec<Call>>; 3]> {
    let [training, held_out, plain] = SETS.map(|name| projects(&Path::new(dir).join(name)));
    Ok([training?, held_out?, plain?])
}

fn projects(dir: &Path) -> anyhow::Result<Vec<Vec<Call>>> {
    let entries = std::fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))?;
    let mut files: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    files.iter().map(|file| calls(file)).collect()
}

fn calls(file: &Path) -> anyhow::Result<Vec<Call>> {
    let text = std::fs::read_to_string(file)?.replace("$ROOT", ROOT);
    let project: Project = serde_json::from_str(&text).with_context(|| format!("cannot read {}", file.display()))?;
    project.actions.iter().map(|action| call(action, &project.notes)).collect()
}

fn call(labelled: &LabelledAction, notes: &[LabelledNote]) -> anyhow::Result<Call> {
    let mut call = Call {
        candidates: Vec::new(),
        binds: !labelled.gold.is_empty(),
        complies: labelled.why.starts_with("complies"),
    };
    let Some(action) = Action::read(&labelled.tool_name, &labelled.tool_input, ROOT, ROOT) else { return Ok(call) };
    let keys = action.keys();
    let has_key = |note: &&LabelledNote| Note::read(&note.text).keys().iter().any(|key| keys.contains(key));
    let found: Vec<&LabelledNote> = notes.iter().filter(has_key).collect();
    let candidate = |note: &&LabelledNote| -> anyhow::Result<Candidate> {
        let created: Timestamp = format!("{}T10:00:00Z", note.created).parse()?;
        Ok(Candidate { short_id: ShortId::FIRST, text: note.text.clone(), created })
    };
    let candidates: Vec<Candidate> = found.iter().map(candidate).collect::<anyhow::Result<_>>()?;
    for (at, features, _) in rated(&action, &candidates) {
        let binds = found.get(at).is_some_and(|note| labelled.gold.contains(&note.id));
        call.candidates.push((features, binds));
    }
    Ok(call)
}

fn trained<'c>(calls: impl Iterator<Item = &'c Call>) -> Vec<u8> {
    let candidates = calls.flat_map(|call| &call.candidates);
    let example =
        |(features, label): &(Vec<i16>, bool)| Example { features: features.clone(), label: *label, weight: 1.0 };
    grow(&candidates.map(example).collect::<Vec<_>>(), GROWING)
}

/// The best candidates with their probabilities, and whether they bind.
fn rate(forest: &[u8], call: &Call) -> Vec<(f64, bool)> {
    let probability = |(features, binds): &(Vec<i16>, bool)| (Forest(forest).probability(features), *binds);
    let mut rated: Vec<(f64, bool)> = call.candidates.iter().map(probability).collect();
    rated.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    rated.truncate(MOST);
    rated
}

/// Prints precision and recall for several limits. Reminders to actions that comply are counted apart.
fn report(calls: Vec<(&Call, Vec<(f64, bool)>)>) {
    let bound = calls.iter().filter(|(call, _)| call.binds).count();
    for hundredths in (45..80).step_by(5) {
        let limit = f64::from(hundredths) / 100.0;
        let (mut right, mut wrong, mut noise, mut complies) = (0_u32, 0_u32, 0_u32, 0_u32);
        for (call, rated) in &calls {
            let given: Vec<bool> = rated.iter().filter(|(rate, _)| *rate >= limit).map(|(_, binds)| *binds).collect();
            let count = match (given.is_empty(), call.binds, call.complies) {
                (true, ..) => continue,
                (_, true, _) if given.contains(&true) => &mut right,
                (_, true, _) => &mut wrong,
                (_, _, true) => &mut complies,
                _ => &mut noise,
            };
            *count += 1;
        }
        let given = right + wrong + noise;
        println!(
            "limit {limit:.2}: precision {:.3}, recall {:.3}; right {right}, wrong {wrong}, noise {noise}, complies {complies}",
            f64::from(right) / f64::from(given.max(1)),
            f64::from(right) / f64::from(u32::try_from(bound).unwrap_or(u32::MAX)),
        );
    }
}
