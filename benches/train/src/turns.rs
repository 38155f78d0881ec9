//! Trains the classifier of messages that teach something on `fixtures/turns`, and measures it on authors of their own.
//!
//! For each output, the classifier is a logistic regression, trained by gradient descent over small batches. The order is
//! seeded, so the same messages give the same table.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;
use serde::Deserialize;
use tessera_engine::classifier::Linear;
use tessera_engine::embedding::{Encoder, Vector, as_read};
use tessera_engine::learning::{CERTAIN, DENSE, Inputs, Kind, ONE, Output, UNIT, WORDS, end_of, inputs, taught_by};

use crate::categories::chance;

/// How often each message is used.
const ROUNDS: usize = 40;
const BATCH: usize = 32;
/// How far the first step goes. The last step goes nowhere.
const RATE: f64 = 0.08;
/// The cost of large weights.
const DECAY: f64 = 7e-4;
/// Words are rare, so their inputs are larger during the training.
const WORD_SCALE: f64 = 4.0;
/// How many messages are encoded together.
const ENCODED: usize = 16;
/// The percentage of the other messages that the report keeps.
const KEPT: usize = 4;

/// A line of `fixtures/turns`.
#[derive(Deserialize)]
struct Message {
    before: String,
    said: String,
    lang: String,
    kind: String,
    scope: String,
}

struct Example {
    /// The letter of the author: the end of the file's name.
    author: char,
    language: String,
    inputs: Inputs,
    kind: Option<Kind>,
    is_everywhere: bool,
}

impl Example {
    /// The wanted answer of an output; `None` if the message says nothing about it.
    fn label(&self, output: Output) -> Option<bool> {
        match output {
            Output::Teaches => Some(self.kind.is_some()),
            Output::Kind(kind) => self.kind.map(|own| own == kind),
            Output::Everywhere => self.kind.map(|_| self.is_everywhere),
        }
    }
}

fn examples(dir: &str) -> anyhow::Result<Vec<Example>> {
    let mut files: Vec<_> = std::fs::read_dir(dir)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    files.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
    files.sort();
    let mut examples = Vec::new();
    for path in files {
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let messages: Vec<Message> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        let said = encoded(messages.iter().map(|message| message.said.as_str()));
        let before = encoded(messages.iter().map(|message| end_of(&message.before)));
        for ((message, said), before) in messages.iter().zip(&said).zip(&before) {
            let before = Some(before).filter(|_| !message.before.is_empty());
            examples.push(Example {
                author: name.chars().last().unwrap_or_default(),
                language: message.lang.clone(),
                inputs: inputs(&message.said, &message.before, said, before),
                kind: match message.kind.as_str() {
                    "nothing" => None,
                    kind => Some(Kind::named(kind).with_context(|| format!("unknown kind `{kind}`"))?),
                },
                is_everywhere: message.scope == "everywhere",
            });
        }
    }
    Ok(examples)
}

fn encoded<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<Vector> {
    let texts: Vec<String> = texts.map(|text| as_read(text).into_owned()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    texts.chunks(ENCODED).flat_map(|texts| Encoder::shared().passages(texts)).collect()
}

/// The weights of an output, and its bias.
struct Weights {
    dense: Vec<f64>,
    words: Vec<f64>,
    bias: f64,
}

impl Weights {
    fn trained(examples: &[&Example], output: Output) -> Self {
        let mut weights = Self { dense: vec![0.0; DENSE], words: vec![0.0; WORDS], bias: 0.0 };
        let mut labelled: Vec<(&Inputs, bool)> =
            examples.iter().filter_map(|example| Some((&example.inputs, example.label(output)?))).collect();
        let mut random = fastrand::Rng::with_seed(7);
        let steps = ROUNDS * labelled.len().div_ceil(BATCH);
        let mut step = 0_usize;
        for _ in 0..ROUNDS {
            random.shuffle(&mut labelled);
            for batch in labelled.chunks(BATCH) {
                let rate = RATE * (1.0 - step as f64 / steps as f64);
                weights.step(batch, rate);
                step += 1;
            }
        }
        weights
    }

    fn step(&mut self, batch: &[(&Inputs, bool)], rate: f64) {
        let wrongs: Vec<f64> =
            batch.iter().map(|(inputs, label)| chance(self.logit(inputs)) - f64::from(u8::from(*label))).collect();
        let kept = 1.0 - rate * DECAY;
        self.dense.iter_mut().chain(&mut self.words).for_each(|weight| *weight *= kept);
        for ((inputs, _), wrong) in batch.iter().zip(wrongs) {
            let by = rate * wrong / batch.len() as f64;
            self.dense.iter_mut().zip(&inputs.dense).for_each(|(weight, input)| *weight -= by * value(*input));
            for (place, input) in &inputs.words {
                if let Some(weight) = self.words.get_mut(usize::from(*place)) {
                    *weight -= by * value(*input) * WORD_SCALE;
                }
            }
            self.bias -= by;
        }
    }

    fn logit(&self, inputs: &Inputs) -> f64 {
        let dense: f64 = self.dense.iter().zip(&inputs.dense).map(|(weight, input)| weight * value(*input)).sum();
        let weight = |place: u16| self.words.get(usize::from(place)).copied().unwrap_or_default();
        let word = |(place, input): &(u16, i8)| weight(*place) * value(*input) * WORD_SCALE;
        dense + inputs.words.iter().map(word).sum::<f64>() + self.bias
    }

    #[expect(clippy::cast_possible_truncation, reason = "limited")]
    fn to_bytes(&self) -> Vec<u8> {
        let limit = f64::from(i16::MAX);
        let all = self.dense.iter().copied().chain(self.words.iter().map(|weight| weight * WORD_SCALE));
        let weights: Vec<i16> = all.map(|weight| (weight * UNIT).round().clamp(-limit, limit) as i16).collect();
        Linear::table(&weights, (self.bias * UNIT * f64::from(ONE)).round() as i32)
    }
}

fn value(input: i8) -> f64 {
    f64::from(input) / f64::from(ONE)
}

fn table(examples: &[&Example]) -> Vec<u8> {
    Output::ALL.iter().flat_map(|output| Weights::trained(examples, *output).to_bytes()).collect()
}

/// Trains on all authors.
pub(crate) fn write(dir: &str, out: &Path) -> anyhow::Result<()> {
    super::save(out, &table(&examples(dir)?.iter().collect::<Vec<_>>()))
}

/// Leaves each author out once. Prints the share of teaching messages that the classifier finds if it keeps 4 % of the
/// others, the shares of teaching messages with the right kind and scope, the shares of both that reach [`CERTAIN`], and
/// the share found for each language.
#[expect(clippy::print_stdout, reason = "the report")]
pub(crate) fn check(dir: &str) -> anyhow::Result<()> {
    let all = examples(dir)?;
    let mut authors: Vec<char> = all.iter().map(|example| example.author).collect();
    authors.sort_unstable();
    authors.dedup();
    for author in authors {
        let (own, others): (Vec<&Example>, Vec<&Example>) = all.iter().partition(|example| example.author == author);
        let table = table(&others);
        let results: Vec<_> = own.iter().map(|example| (*example, taught_by(&table, &example.inputs))).collect();
        let mut quiet: Vec<f64> = results
            .iter()
            .filter(|(example, _)| example.kind.is_none())
            .map(|(_, taught)| taught.probability)
            .collect();
        quiet.sort_by(|a, b| b.total_cmp(a));
        let threshold = quiet.get(quiet.len() * KEPT / 100).copied().unwrap_or_default();
        let mut found: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
        let (mut kinds, mut scopes, mut teaching) = (0, 0, 0);
        for (example, taught) in results.iter().filter(|(example, _)| example.kind.is_some()) {
            let [hits, count] = found.entry(&example.language).or_default();
            *hits += usize::from(taught.probability > threshold);
            *count += 1;
            teaching += 1;
            kinds += usize::from(example.kind == Some(taught.kind));
            scopes += usize::from(example.is_everywhere == taught.is_everywhere);
        }
        let share = |part: usize, all: usize| 100.0 * part as f64 / all.max(1) as f64;
        let hits: usize = found.values().map(|[hits, _]| hits).sum();
        print!(
            "author {author}: threshold {threshold:.2}, found {:.1} %, kind right {:.1} %, scope right {:.1} %;",
            share(hits, teaching),
            share(kinds, teaching),
            share(scopes, teaching)
        );
        found.iter().for_each(|(language, [hits, count])| print!(" {language} {:.0}", share(*hits, *count)));
        let certain = |teaches: bool| {
            let of_sort = results.iter().filter(|(example, _)| example.kind.is_some() == teaches);
            let (certain, count) = of_sort.fold((0, 0), |(certain, count), (_, taught)| {
                (certain + usize::from(taught.probability >= CERTAIN), count + 1)
            });
            share(certain, count)
        };
        println!("; at {CERTAIN}: found {:.1} %, kept {:.1} %", certain(true), certain(false));
    }
    Ok(())
}
