//! Computes the centres of the second network: the mean of its results for questions, and for passages.

use std::path::Path;

use tessera_engine::embedding::{Encoder, Side};
use tessera_eval::World;

/// The authors whose texts are used. The sets of other authors measure recall.
fn is_used(world: &World) -> bool {
    world.name.starts_with('a')
}

/// Writes both centres (f32, little endian).
pub(crate) fn write(dir: &str, out: &Path) -> anyhow::Result<()> {
    let worlds: Vec<World> = World::read_all(Path::new(dir))?.into_iter().filter(is_used).collect();
    let questions = worlds.iter().flat_map(|world| world.questions.iter().map(|question| question.q.as_str()));
    let passages = worlds.iter().flat_map(|world| world.notes.iter().map(|note| note.text.as_str()));
    let sides = [(Side::Question, questions.collect::<Vec<_>>()), (Side::Passage, passages.collect())];
    let bytes: Vec<u8> = sides.iter().flat_map(|(side, texts)| centre(*side, texts)).collect();
    crate::save(out, &bytes)
}

/// The mean of the results, each with length 1.
fn centre(side: Side, texts: &[&str]) -> Vec<u8> {
    let mut sums = Vec::new();
    for vector in Encoder::shared().second_alone(side, texts) {
        let numbers = vector.map(f64::from);
        let size = numbers.iter().fold(0.0, |sum, number| sum + number * number).sqrt();
        sums.resize(numbers.len(), 0.0);
        sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number / size);
    }
    #[expect(clippy::cast_precision_loss, reason = "there are a few thousand texts")]
    let count = texts.len().max(1) as f64;
    #[expect(clippy::cast_possible_truncation, reason = "the file contains numbers of 32 bits")]
    let bytes = sums.into_iter().flat_map(|sum: f64| ((sum / count) as f32).to_le_bytes()).collect();
    bytes
}
