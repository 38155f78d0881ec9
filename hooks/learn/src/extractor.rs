//! The extractors, which read turns and return memories. The extractors are tried in order. The last one costs nothing.

use tessera_hooks::ExtractorChoice;
use tessera_tables::names;

use crate::extracted_memory::{ExtractorError, Means, Verdict, Window};
use crate::{claude, heuristic, ollama};

names! {
/// One extractor of the chain.
pub(crate) enum Extractor {
    Heuristic = "heuristic",
    Ollama = "ollama",
    Claude = "claude",
}
}

impl Extractor {
    /// The extractors in the order in which they are asked until one answers.
    pub(crate) fn chain(choice: ExtractorChoice) -> &'static [Extractor] {
        match choice {
            ExtractorChoice::Off => &[],
            ExtractorChoice::Heuristic => &[Self::Heuristic],
            ExtractorChoice::Ollama => &[Self::Ollama, Self::Heuristic],
            ExtractorChoice::Claude => &[Self::Claude, Self::Heuristic],
            ExtractorChoice::Auto => &[Self::Claude, Self::Ollama, Self::Heuristic],
        }
    }

    /// True if the extractor uses a model, whose tokens are counted and limited.
    pub(crate) fn is_model(self) -> bool {
        self != Self::Heuristic
    }

    /// Extracts memories from one turn or from several turns.
    pub(crate) fn ask(self, window: &Window<'_>, means: &Means) -> Result<Verdict, ExtractorError> {
        match self {
            Self::Heuristic => {
                Ok(Verdict { extracted_memories: heuristic::extracted_memories(window), ..Verdict::default() })
            }
            Self::Ollama => ollama::ask(window, means),
            Self::Claude => claude::ask(window, means),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_ends_with_the_free_judge_and_is_named_in_any_case() {
        assert!("none".parse::<ExtractorChoice>().is_err());
        let chain = Extractor::chain("AUTO".parse().unwrap());
        assert_eq!(chain, [Extractor::Claude, Extractor::Ollama, Extractor::Heuristic]);
        assert_eq!(Extractor::chain(ExtractorChoice::Off), []);
    }
}
