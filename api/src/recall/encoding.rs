//! Encodes questions. Questions that wait for the encoder are encoded together, and recent ones are remembered.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lru::LruCache;
use tessera_engine::embedding::{Encoder, Vector};
use tokio::sync::oneshot;

use crate::db::DbError;

/// The maximum number of questions that are encoded together.
const BATCH: usize = 16;
/// The number of remembered questions. An embedding has about a kilobyte.
const REMEMBERED: NonZeroUsize = NonZeroUsize::new(4096).unwrap();

/// The embeddings of questions.
#[derive(Clone)]
pub(super) struct Encoding(Arc<Mutex<State>>);

struct State {
    remembered: LruCache<Box<str>, Arc<Vector>>,
    /// Questions that no thread has taken yet, the oldest first.
    waiting: Vec<Waiting>,
    /// The threads that encode.
    threads: usize,
    /// The maximum number of such threads.
    most_threads: usize,
}

struct Waiting {
    question: Box<str>,
    tell: oneshot::Sender<Arc<Vector>>,
}

impl Encoding {
    /// Uses at most this number of threads.
    pub(super) fn new(most_threads: usize) -> Self {
        let remembered = LruCache::new(REMEMBERED);
        Self(Arc::new(Mutex::new(State { remembered, waiting: Vec::new(), threads: 0, most_threads })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The embedding of a question. While all threads are busy, the question waits, and is then encoded together with
    /// the others that wait.
    pub(super) async fn of(&self, question: &str) -> Result<Arc<Vector>, DbError> {
        let told = {
            let mut state = self.state();
            if let Some(known) = state.remembered.get(question) {
                metrics::counter!("tessera_questions_remembered_total").increment(1);
                return Ok(Arc::clone(known));
            }
            let (tell, told) = oneshot::channel();
            state.waiting.push(Waiting { question: question.into(), tell });
            if state.threads < state.most_threads {
                state.threads += 1;
                let encoding = self.clone();
                tokio::task::spawn_blocking(move || encoding.work());
            }
            told
        };
        told.await.map_err(|_| DbError::Row("the encoder could not read a question".to_owned()))
    }

    /// Encodes until no question waits.
    fn work(&self) {
        while let Some(batch) = self.next() {
            let questions: Vec<&str> = batch.questions.iter().map(|waiting| &*waiting.question).collect();
            let encode = || match questions.as_slice() {
                [question] if batch.is_alone => vec![Encoder::shared().question_in_parallel(question)],
                questions => Encoder::shared().questions(questions),
            };
            // After a panic, only the askers of this batch get an error.
            let Ok(made) = catch_unwind(AssertUnwindSafe(encode)) else { continue };
            metrics::histogram!("tessera_questions_encoded_together").record(made.len() as f64);
            for (waiting, vector) in batch.questions.into_iter().zip(made) {
                let vector = Arc::new(vector);
                self.state().remembered.put(waiting.question, Arc::clone(&vector));
                // The asker may have left.
                let _ = waiting.tell.send(vector);
            }
        }
    }

    /// The next questions; `None` ends the thread. Each thread takes its share of the waiting questions.
    fn next(&self) -> Option<Batch> {
        let mut state = self.state();
        let count = state.waiting.len().div_ceil(state.most_threads).min(BATCH);
        if count == 0 {
            state.threads -= 1;
            return None;
        }
        let questions = state.waiting.drain(..count).collect();
        Some(Batch { questions, is_alone: state.threads == 1 && state.most_threads > 1 })
    }
}

/// Questions that are encoded together.
struct Batch {
    questions: Vec<Waiting>,
    /// No other thread encodes, so a second processor may be idle.
    is_alone: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn questions_get_their_own_embeddings_together_and_again() {
        let encoding = Encoding::new(2);
        let questions: Vec<String> = (0..40).map(|n| format!("which port does service {} use?", n % 30)).collect();
        let asked = questions.iter().map(|question| {
            let (encoding, question) = (encoding.clone(), question.clone());
            tokio::spawn(async move { encoding.of(&question).await.unwrap() })
        });
        let asked: Vec<_> = asked.collect();
        for (question, vector) in questions.iter().zip(asked) {
            assert_eq!(*vector.await.unwrap(), Encoder::shared().question(question), "{question}");
        }
        assert_eq!(encoding.state().remembered.len(), 30);
        let again = encoding.of(&questions[3]).await.unwrap();
        assert!(Arc::ptr_eq(&again, encoding.state().remembered.get(questions[3].as_str()).unwrap()));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_asker_who_leaves_delays_nobody() {
        let encoding = Encoding::new(1);
        for round in 0..50 {
            let gone = tokio::spawn({
                let encoding = encoding.clone();
                async move { encoding.of(&format!("gone {round}")).await.map(drop) }
            });
            gone.abort();
            let vector = encoding.of(&format!("here {round}")).await.unwrap();
            assert_eq!(*vector, Encoder::shared().question(&format!("here {round}")));
        }
        while encoding.state().threads > 0 {
            tokio::task::yield_now().await;
        }
        assert!(encoding.state().waiting.is_empty(), "a thread ends only when nobody waits");
    }
}
