//! Encodes a text on other threads, while the caller opens the store.

use std::thread::{self, JoinHandle};

use crate::domain::{RecallRequest, Timestamp};
use crate::embedding::{Encoder, Side, Vector, as_read, passages_of};

/// The embedding of a text that will probably be needed.
#[derive(Debug)]
pub struct Ahead {
    text: String,
    side: Side,
    made: JoinHandle<Vector>,
}

impl Ahead {
    /// Begins to encode the subject of a question that is asked at `now`; `None` if no thread can be started.
    pub fn question(request: &RecallRequest, now: Timestamp) -> Option<Self> {
        Self::begin(request.subject(now).into_owned(), Side::Question, |text| {
            Encoder::shared().question_in_parallel(text)
        })
    }

    /// Begins to encode the first passage of a memory; `None` if there is none, or no thread can be started.
    pub fn memory(content: &str) -> Option<Self> {
        let first = (*passages_of(content).first()?).to_owned();
        Self::begin(first, Side::Passage, |text| Encoder::shared().passage_in_parallel(&as_read(text)))
    }

    fn begin(text: String, side: Side, make: fn(&str) -> Vector) -> Option<Self> {
        let copy = text.clone();
        let made = thread::Builder::new().name("encoder".into()).spawn(move || make(&copy)).ok()?;
        Some(Self { text, side, made })
    }

    /// Waits for the embedding of a question; `None` if another text was encoded.
    pub(crate) fn of_question(self, subject: &str) -> Option<Vector> {
        self.of(subject, Side::Question)
    }

    /// Waits for the embedding of a passage; `None` if another text was encoded.
    pub(crate) fn of_passage(self, passage: &str) -> Option<Vector> {
        self.of(passage, Side::Passage)
    }

    fn of(self, text: &str, side: Side) -> Option<Vector> {
        (self.text == text && self.side == side).then(|| self.made.join().ok())?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_was_encoded_ahead_has_the_same_embedding_and_another_text_has_none() {
        let text = "which port does the gateway use?";
        let ahead = || Ahead::question(&RecallRequest::new(text), Timestamp::from_micros(0)).unwrap();
        assert_eq!(ahead().of_question(text).unwrap(), Encoder::shared().question(text));
        assert_eq!(ahead().of_question("which port?"), None);
        assert_eq!(ahead().of_passage(text), None);
        let passage = Ahead::memory(text).unwrap();
        assert_eq!(passage.of_passage(text), Encoder::shared().passages(&[text]).pop());
    }
}
