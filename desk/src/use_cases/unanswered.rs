//! What was asked often and never answered.

mod topics;

use serde::Serialize;
use tessera_engine::Store;
use tessera_engine::domain::{MemoryRef, RecallRequest, Scope, ShortId, Timestamp};
use tessera_engine::store::StoreError;

use crate::caller::Caller;
use crate::desk::{Effect, UseCase};
use topics::{Topic, topics_of};

/// Topics that were asked about and that nothing answers strongly, the one asked most often first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListUnanswered {
    /// Questions asked at or after.
    pub since: Option<Timestamp>,
    /// Topics, at most.
    pub limit: usize,
    /// Those too that something answers by now.
    pub answered: bool,
}

/// A topic that was asked about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnansweredTopic {
    /// Its question asked most often, where questions are kept; else the words of it that memories hold.
    pub topic: String,
    /// Times that it was asked.
    pub times: u32,
    /// First.
    pub first: Timestamp,
    /// Last.
    pub last: Timestamp,
    /// The projects it was asked in.
    pub scopes: Vec<Scope>,
    /// The other ways in which it was asked, the most frequent first.
    pub also: Vec<String>,
    /// What answers it by now.
    pub answered_by: Option<ShortId>,
}

/// What [`ListUnanswered`] finds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct UnansweredTopics {
    /// The topics.
    pub topics: Vec<UnansweredTopic>,
    /// Questions that nothing answered strongly when they were asked.
    pub asked: usize,
    /// Of these, those of which nothing is known but that they were asked: no word of them was known here.
    pub unnamed: usize,
    /// Topics that something answers by now.
    pub answered: usize,
}

impl UseCase for ListUnanswered {
    type Outcome = UnansweredTopics;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<UnansweredTopics, StoreError> {
        let asked = store.asked_in_vain(self.since)?;
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

/// What answers every way in which a topic was asked: for the one asked most often. A question that is kept is asked
/// again; known words alone are answered by what was written or changed since they were asked about.
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

/// The first of some memories that was written or changed after a time.
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

/// Forgets every question that was noted for [`ListUnanswered`]. The memories stay as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForgetQuestions;

impl UseCase for ForgetQuestions {
    type Outcome = usize;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<usize, StoreError> {
        store.forget_questions()
    }
}
