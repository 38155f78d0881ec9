//! Trains the classifier of categories on the notes of `fixtures/worlds`, and measures it on authors of their own.
//!
//! For each class, the classifier is a logistic regression over the embedding of a note and over the patterns. Everything
//! is computed in a fixed order, so the same notes give the same table.

use std::collections::BTreeSet;
use std::path::Path;

use tessera_engine::classifier::Linear;
use tessera_engine::compose::categories::{CLASSES, INPUTS, ONE, class, class_of, inputs};
use tessera_engine::embedding::{Encoder, as_read, passages_of};
use tessera_engine::enrich;
use tessera_eval::World;

use crate::pairs::author_of;

/// How often the weights are corrected.
const STEPS: usize = 400;
/// How far a step goes, and how much of the last step it repeats.
const RATE: f64 = 0.5;
const MOMENTUM: f64 = 0.9;
/// The cost of large weights.
const DECAY: f64 = 2e-3;
/// The stored weights are multiples of one divided by this number.
const UNIT: f64 = 1024.0;

/// A note with its class; `None` for the rest.
struct Example {
    author: String,
    stored: Vec<i8>,
    inputs: Vec<f64>,
    class: Option<&'static str>,
    /// The class that the patterns alone give.
    by_words: Option<&'static str>,
}

fn examples(worlds: &[World]) -> Vec<Example> {
    let mut examples = Vec::new();
    for world in worlds {
        let author = author_of(&world.name);
        for note in &world.notes {
            let passages = passages_of(&note.text);
            let first = as_read(passages.first().copied().unwrap_or_default());
            let meant = Encoder::shared().passages(&[&first]).pop().unwrap_or_default();
            let by_words = enrich::category(&note.text);
            let stored = inputs(&note.text, &by_words, &meant);
            examples.push(Example {
                author: author.clone(),
                inputs: stored.iter().map(|value| f64::from(*value) / f64::from(ONE)).collect(),
                stored,
                class: class_of(&note.category.parse().unwrap_or_default()),
                by_words: class_of(&by_words),
            });
        }
    }
    examples
}

/// The weights of a class, and its bias.
struct Weights {
    of_inputs: Vec<f64>,
    bias: f64,
}

impl Weights {
    fn zero() -> Self {
        Self { of_inputs: vec![0.0; INPUTS], bias: 0.0 }
    }

    fn trained(examples: &[&Example], class: &str) -> Self {
        let (mut weights, mut speed) = (Self::zero(), Self::zero());
        let count = examples.len() as f64;
        for _ in 0..STEPS {
            let mut slope = Self::zero();
            for example in examples {
                let wrong = chance(weights.logit(&example.inputs)) - f64::from(u8::from(example.class == Some(class)));
                slope.of_inputs.iter_mut().zip(&example.inputs).for_each(|(slope, input)| *slope += wrong * input);
                slope.bias += wrong;
            }
            let each = weights.of_inputs.iter_mut().zip(&mut speed.of_inputs).zip(&slope.of_inputs);
            for ((weight, speed), slope) in each {
                *speed = MOMENTUM * *speed - RATE * (slope / count + DECAY * *weight);
                *weight += *speed;
            }
            speed.bias = MOMENTUM * speed.bias - RATE * slope.bias / count;
            weights.bias += speed.bias;
        }
        weights
    }

    fn logit(&self, inputs: &[f64]) -> f64 {
        self.of_inputs.iter().zip(inputs).map(|(weight, input)| weight * input).sum::<f64>() + self.bias
    }

    #[expect(clippy::cast_possible_truncation, reason = "limited")]
    fn to_bytes(&self) -> Vec<u8> {
        let limit = f64::from(i16::MAX);
        let weights: Vec<i16> =
            self.of_inputs.iter().map(|weight| (weight * UNIT).round().clamp(-limit, limit) as i16).collect();
        Linear::table(&weights, (self.bias * UNIT * f64::from(ONE)).round() as i32)
    }
}

/// The probability that belongs to a logarithm of odds.
pub(crate) fn chance(logit: f64) -> f64 {
    1.0 / (1.0 + (-logit).exp())
}

/// The table of all classes.
fn table(examples: &[&Example]) -> Vec<u8> {
    CLASSES.iter().flat_map(|class| Weights::trained(examples, class).to_bytes()).collect()
}

/// Trains on all authors but the test authors, whose names begin with `t`.
pub(crate) fn write(dir: &str, out: &Path) -> anyhow::Result<()> {
    let all = examples(&World::read_all(Path::new(dir))?);
    let training: Vec<&Example> = all.iter().filter(|example| !example.author.starts_with('t')).collect();
    super::save(out, &table(&training))
}

/// Leaves each author out once, and prints how many of this author's notes get the right class. The test authors are
/// never used for training.
#[expect(clippy::print_stdout, reason = "the report")]
pub(crate) fn check(dir: &str) -> anyhow::Result<()> {
    let all = examples(&World::read_all(Path::new(dir))?);
    let authors: BTreeSet<&str> = all.iter().map(|example| example.author.as_str()).collect();
    for author in authors {
        let (own, others): (Vec<&Example>, Vec<&Example>) = all.iter().partition(|example| example.author == author);
        let training: Vec<&Example> = others.into_iter().filter(|example| !example.author.starts_with('t')).collect();
        let table = table(&training);
        let right = own.iter().filter(|example| class(&table, &example.stored) == example.class).count();
        let by_words = own.iter().filter(|example| example.by_words == example.class).count();
        let share = |right: usize| 100.0 * right as f64 / own.len() as f64;
        println!("{author}: {} notes, {:.1} % right, patterns alone {:.1} %", own.len(), share(right), share(by_words));
    }
    Ok(())
}
