//! Derives the category of a text from its words and its embedding: people, preferences, or the rest.
//!
//! For each of the two classes, a logistic regression adds up weights of the embedding's numbers and of the patterns
//! (`enrich::category`). `tessera-train categories` trains the weights. Without an embedding, only the patterns decide.

use crate::classifier::Linear;
use crate::domain::Category;
use crate::embedding::{DIMENSIONS, Vector};
use crate::enrich;

/// The classes that the embedding decides. The patterns separate decisions from facts.
pub const CLASSES: [&str; 2] = ["people", Category::PREFERENCES];
/// Yes-or-no inputs: what the patterns say.
const PATTERNS: usize = 5;
/// The inputs of a class.
pub const INPUTS: usize = DIMENSIONS + PATTERNS;
/// The value of an input that stands for 1.
pub const ONE: i8 = 127;
/// The value of a number of the embedding that stands for the length of the embedding. Larger values are cut off at 127.
const LENGTH: f32 = 640.0;
/// The bytes of a class: the weights, then the bias.
const CLASS_BYTES: usize = Linear::bytes(INPUTS);
/// The trained table.
const TABLE: &[u8; CLASSES.len() * CLASS_BYTES] = include_bytes!("categories.bin");

/// The category of a text, if its author did not set one. `meant` is the embedding of its first passage.
pub fn category(text: &str, meant: Option<&Vector>) -> Category {
    let by_words = enrich::category(text);
    let Some(meant) = meant else { return by_words };
    match class(TABLE, &inputs(text, &by_words, meant)) {
        Some(class) => class.parse().unwrap_or_default(),
        // The embedding says that the text is of neither class.
        None if class_of(&by_words).is_some() => Category::default(),
        None => by_words,
    }
}

/// The class of a category; `None` for the rest.
pub fn class_of(category: &Category) -> Option<&'static str> {
    CLASSES.into_iter().find(|class| *class == category.as_str())
}

/// The class of these inputs according to a table; `None` for the rest.
pub fn class(table: &[u8], inputs: &[i8]) -> Option<&'static str> {
    let (classes, _) = table.as_chunks::<CLASS_BYTES>();
    let sum = |table| Linear(table).sum(inputs.iter().copied().enumerate());
    let logits = CLASSES.iter().zip(classes).map(|(class, table)| (*class, sum(table)));
    let best = logits.filter(|(_, logit)| *logit > 0).max_by_key(|(_, logit)| *logit);
    best.map(|(class, _)| class)
}

/// The inputs of a text, from -127 to 127. `by_words` is the category according to the patterns.
pub fn inputs(text: &str, by_words: &Category, meant: &Vector) -> Vec<i8> {
    let patterns: [bool; PATTERNS] = [
        enrich::is_personal(text),
        enrich::is_about_people(text),
        enrich::is_instruction(text),
        by_words.as_str() == "people",
        enrich::is_about_here(text),
    ];
    meant.scaled(LENGTH).into_iter().chain(patterns.map(|is_so| if is_so { ONE } else { 0 })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedding::Encoder;

    fn of(text: &str) -> String {
        let meant = Encoder::shared().passages(&[text]).pop();
        category(text, meant.as_ref()).as_str().to_owned()
    }

    #[test]
    fn the_embedding_finds_people_and_preferences_that_no_pattern_knows() {
        for (text, class) in [
            ("Mathilde est en congé jusqu'en mars", "people"),
            ("Für Rechnungen ist Gesine zuständig", "people"),
            ("I prefer Svelte over React", "preferences"),
            ("Give me short answers with the code first", "preferences"),
            ("The exporter listens on 8080", "facts"),
            ("Terraform is only ever applied from the pipeline, never from a laptop.", "facts"),
            ("We decided to use SQLite because it is one file", "decisions"),
        ] {
            assert_eq!(of(text), class, "{text}");
        }
    }

    #[test]
    fn without_an_embedding_the_patterns_decide() {
        assert_eq!(category("Never force-push to main", None).as_str(), "preferences");
    }
}
