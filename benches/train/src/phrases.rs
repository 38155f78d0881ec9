//! Trains the classifiers of probable secrets on `fixtures/phrases`, and measures them on authors of their own.
//!
//! The notes of `fixtures/worlds` are further examples without secrets. Everything is computed in a fixed order, so the
//! same sentences give the same table.

mod letters;
mod linear;
mod net;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Context as _;
use serde::Deserialize;
use tessera_engine::embedding::{Encoder, WIDTH};
use tessera_engine::screen::probable::{DEVIATION, Reading, Scale, Table, probable_by};
use tessera_eval::World;
use unicode_normalization::UnicodeNormalization as _;

/// Every how many notes contribute to the means and standard deviations of the encoder's rows.
const SAMPLE: usize = 4;

/// A note of a set.
#[derive(Deserialize)]
struct Phrase {
    text: String,
    lang: String,
    secrets: Vec<String>,
    #[serde(skip)]
    author: String,
}

/// A note with its labels.
struct Example {
    reading: Reading,
    /// For each piece, whether it is a part of a secret.
    labels: Vec<bool>,
    has_secret: bool,
}

impl Phrase {
    fn example(&self, scales: &[Scale]) -> Example {
        let reading = Reading::of(&self.text, scales);
        let mut labels = vec![false; reading.pieces.len()];
        for secret in &self.secrets {
            for (start, said) in self.text.match_indices(secret.as_str()) {
                let span = start..start + said.len();
                for (label, piece) in labels.iter_mut().zip(&reading.pieces) {
                    *label |= piece.place.start < span.end && span.start < piece.place.end;
                }
            }
        }
        Example { reading, labels, has_secret: !self.secrets.is_empty() }
    }
}

fn read(dir: &Path) -> anyhow::Result<Vec<Phrase>> {
    let mut files: Vec<_> = fs::read_dir(dir)?.map(|file| file.map(|file| file.path())).collect::<Result<_, _>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    let mut all = Vec::new();
    for file in files {
        let author = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        for (at, line) in text.lines().enumerate() {
            let phrase: Phrase =
                serde_json::from_str(line).with_context(|| format!("line {} of {}", at + 1, file.display()))?;
            let secrets = phrase.secrets.iter().map(|secret| secret.nfc().collect()).collect();
            all.push(Phrase { text: phrase.text.nfc().collect(), secrets, author: author.clone(), ..phrase });
        }
    }
    Ok(all)
}

/// The notes of the worlds, none of which contains a secret.
fn ordinary(worlds: &Path) -> anyhow::Result<Vec<Phrase>> {
    let mut found = Vec::new();
    for world in World::read_all(worlds)?.iter().filter(|world| world.name.starts_with(['a', 't'])) {
        found.extend(world.notes.iter().map(|note| Phrase {
            text: note.text.nfc().collect(),
            lang: "world".to_owned(),
            secrets: Vec::new(),
            author: world.name.chars().take(2).collect(),
        }));
    }
    Ok(found)
}

/// Trains on all authors but the test authors, whose names begin with `t`.
pub(crate) fn write(dir: &str, worlds: &str, out: &Path) -> anyhow::Result<()> {
    let mut all = read(Path::new(dir))?;
    all.extend(ordinary(Path::new(worlds))?);
    let (test, mut training): (Vec<_>, Vec<_>) = all.into_iter().partition(|phrase| phrase.author.starts_with('t'));
    training.retain(|phrase| phrase.text.len() <= 600);
    let table = trained(&training);
    super::save(out, &table.to_bytes())?;
    report(&table, &test);
    Ok(())
}

fn trained(phrases: &[Phrase]) -> Table<'static> {
    let mut table = Table { scales: scales(phrases).into(), ..Table::default() };
    let examples: Vec<Example> = phrases.iter().map(|phrase| phrase.example(&table.scales)).collect();
    letters::train(&mut table, phrases);
    linear::train_text(&mut table, &examples);
    net::train(&mut table, &examples);
    table
}

/// The mean and the inverse standard deviation of each number of a row.
#[expect(clippy::cast_possible_truncation, reason = "statistics")]
fn scales(phrases: &[Phrase]) -> Vec<Scale> {
    let (mut sums, mut squares, mut count) = (vec![0.0_f64; WIDTH], vec![0.0_f64; WIDTH], 0_u32);
    for phrase in phrases.iter().step_by(SAMPLE) {
        for (_, row) in Encoder::shared().pieces(&phrase.text) {
            for ((sum, square), number) in sums.iter_mut().zip(&mut squares).zip(row) {
                *sum += f64::from(number);
                *square += f64::from(number) * f64::from(number);
            }
            count += 1;
        }
    }
    let of = |(sum, square): (&f64, &f64)| {
        let mean = sum / f64::from(count);
        let deviation = (square / f64::from(count) - mean * mean).max(1e-12).sqrt();
        [mean as f32, (1.0 / deviation) as f32].map(f32::to_le_bytes)
    };
    sums.iter().zip(&squares).map(of).collect()
}

/// An input as a number: standard deviations for rows, 0 to 1 for features.
fn plain(at: usize, value: i8) -> f32 {
    if at < WIDTH { f32::from(value) / DEVIATION } else { f32::from(value) / 64.0 }
}

/// The worth of 1 in a row, and of 1 in a feature.
const UNIT: [f32; 2] = [1.0 / DEVIATION, 1.0 / 64.0];

fn share(part: usize, all: usize) -> String {
    #[expect(clippy::cast_precision_loss, reason = "a percentage")]
    let share = 100.0 * part as f64 / all.max(1) as f64;
    format!("{share:.1}")
}

/// Prints, for each test author and language, how many secrets are found, and how many other notes are changed.
#[expect(clippy::print_stdout, reason = "the report")]
fn report(table: &Table<'_>, test: &[Phrase]) {
    #[derive(Default)]
    struct Count {
        with: usize,
        found: usize,
        complete: usize,
        without: usize,
        flagged: usize,
    }
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    for phrase in test {
        let found = probable_by(table, &phrase.text);
        let holds = |secret: &String| {
            phrase.text.match_indices(secret.as_str()).all(|(start, said)| {
                found.iter().any(|one| one.span.start <= start && start + said.len() <= one.span.end)
            })
        };
        let is_english = if phrase.lang == "en" { "English" } else { "other" };
        for name in
            [phrase.author.clone(), format!("{} {is_english}", phrase.author), format!("language {}", phrase.lang)]
        {
            let count = counts.entry(name).or_default();
            if phrase.secrets.is_empty() {
                count.without += 1;
                count.flagged += usize::from(!found.is_empty());
            } else {
                count.with += 1;
                count.found += usize::from(!found.is_empty());
                count.complete += usize::from(phrase.secrets.iter().all(holds));
            }
        }
    }
    println!("| notes | with a secret | found | complete | without | flagged |\n|---|---|---|---|---|---|");
    for (name, count) in counts {
        let Count { with, found, complete, without, flagged } = count;
        println!(
            "| {name} | {with} | {} | {} | {without} | {} |",
            share(found, with),
            share(complete, with),
            share(flagged, without)
        );
    }
}
