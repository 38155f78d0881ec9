//! The judges: from what was said to the lessons in it. A chain of them, the free one last.

use tessera_hooks::JudgeChoice;
use tessera_tables::names;

use crate::lesson::{JudgeError, Means, Verdict, Window};
use crate::{claude, heuristic, ollama};

names! {
/// One link of the chain.
pub(crate) enum Judge {
    Heuristic = "heuristic",
    Ollama = "ollama",
    Claude = "claude",
}
}

impl Judge {
    /// Who is asked, in this order, until one answers.
    pub(crate) fn chain(choice: JudgeChoice) -> &'static [Judge] {
        match choice {
            JudgeChoice::Off => &[],
            JudgeChoice::Heuristic => &[Self::Heuristic],
            JudgeChoice::Ollama => &[Self::Ollama, Self::Heuristic],
            JudgeChoice::Claude => &[Self::Claude, Self::Heuristic],
            JudgeChoice::Auto => &[Self::Claude, Self::Ollama, Self::Heuristic],
        }
    }

    /// True when its tokens are counted and bounded.
    pub(crate) fn is_model(self) -> bool {
        self != Self::Heuristic
    }

    /// Asks for the lessons of a window.
    pub(crate) fn ask(self, window: &Window<'_>, means: &Means) -> Result<Verdict, JudgeError> {
        match self {
            Self::Heuristic => Ok(Verdict { lessons: heuristic::lessons(window), ..Verdict::default() }),
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
        assert!("none".parse::<JudgeChoice>().is_err());
        let chain = Judge::chain("AUTO".parse().unwrap());
        assert_eq!(chain, [Judge::Claude, Judge::Ollama, Judge::Heuristic]);
        assert_eq!(Judge::chain(JudgeChoice::Off), []);
    }
}
