//! Frequent questions without an answer.

mod topics;

use serde::Serialize;
use tessera_engine::Store;
use tessera_engine::domain::{MemoryRef, RecallRequest, Scope, ShortId, Timestamp};
use tessera_engine::store::StoreError;

use crate::caller::Caller;
use crate::desk::{Effect, UseCase};
use topics::{Topic, topics_of};

/// Topics of questions without a clear answer, most frequent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListUnanswered {
    /// Questions asked at or after this time.
    pub since: Option<Timestamp>,
    /// Maximum topics.
    pub limit: usize,
    /// Also return topics that a memory answers now.
    pub answered: bool,
}

/// A topic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct UnansweredTopic {
    /// The most frequent question of the topic, or the known words if questions are not stored.
    pub topic: String,
    /// How often it was asked.
    pub times: u32,
    /// First time.
    pub first: Timestamp,
    /// Last time.
    pub last: Timestamp,
    /// The projects in which the question was asked.
    pub scopes: Vec<Scope>,
    /// Other forms of the question, most frequent first.
    pub also: Vec<String>,
    /// The memory that now answers the question.
    pub answered_by: Option<ShortId>,
}

/// The result of [`ListUnanswered`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct UnansweredTopics {
    /// The topics.
    pub topics: Vec<UnansweredTopic>,
    /// All questions without a clear answer.
    pub asked: usize,
    /// The number of questions of which no word was recorded, because no memory contains their words, or because they
    /// contain a credential.
    pub unnamed: usize,
    /// The number of topics that a memory now answers.
    pub answered: usize,
}

impl UseCase for ListUnanswered {
    type Outcome = UnansweredTopics;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<UnansweredTopics, StoreError> {
        let asked = store.unanswered_questions(self.since)?;
        let mut found = UnansweredTopics { asked: asked.len(), ..UnansweredTopics::default() };
        found.unnamed = asked.iter().filter(|asked| asked.text.is_none() && asked.words.is_empty()).count();
        for topic in topics_of(&asked, store.has_embedding()) {
            let answered_by = answer_of(store, &topic)?;
            found.answered += usize::from(answered_by.is_some());
            if answered_by.is_none() || self.answered {
                found.topics.push(gap(topic, answered_by));
            }
        }
        found.topics.truncate(self.limit);
        Ok(found)
    }
}

fn gap(topic: Topic, answered_by: Option<ShortId>) -> UnansweredTopic {
    let Topic { mut ways, times, first, last, scopes } = topic;
    let topic = ways.remove(0).asked;
    UnansweredTopic {
        topic,
        times,
        first,
        last,
        scopes,
        also: ways.into_iter().map(|way| way.asked).collect(),
        answered_by,
    }
}

/// The memory that answers all forms of a topic. If the full question was stored, recall tries to answer it again. If
/// only words were stored, a memory with these words that was written or changed after the question counts as its
/// answer.
fn answer_of(store: &mut Store, topic: &Topic) -> Result<Option<ShortId>, StoreError> {
    let mut answers = Vec::new();
    for way in &topic.ways {
        let scope = Some(way.scope.clone()).filter(|scope| *scope != Scope::Global);
        let request = RecallRequest { scope, ..RecallRequest::new(&way.asked) };
        let page = store.rank(&request)?.page(&request)?;
        let mut strong = page.into_iter().filter(|ranked| !ranked.is_weak).map(|ranked| ranked.short_id);
        let answer = if way.is_whole { strong.next() } else { first_since(store, strong, way.last)? };
        let Some(answer) = answer else { return Ok(None) };
        answers.push(answer);
    }
    Ok(answers.first().copied())
}

/// Returns the first of the memories that was written or changed after a time.
fn first_since(
    store: &Store,
    short_ids: impl Iterator<Item = ShortId>,
    time: Timestamp,
) -> Result<Option<ShortId>, StoreError> {
    for short_id in short_ids {
        if store.get(MemoryRef::ShortId(short_id))?.is_some_and(|memory| memory.created.max(memory.updated) > time) {
            return Ok(Some(short_id));
        }
    }
    Ok(None)
}

/// Deletes all questions recorded for [`ListUnanswered`]. Memories stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForgetQuestions;

impl UseCase for ForgetQuestions {
    type Outcome = usize;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<usize, StoreError> {
        store.forget_questions()
    }
}
