//! Groups questions into topics.

use std::collections::BTreeSet;

use tessera_engine::domain::{Scope, Timestamp};
use tessera_engine::embedding::{Encoder, Vector};
use tessera_engine::store::UnansweredQuestion;
use tessera_engine::text::{TokenKind, fold, tokenize};

/// The maximum number of forms that are compared, most recent first.
const MOST_WAYS: usize = 500;
/// Minimum similarity of two questions about one topic. Of 16,289 pairs of questions with different answers in our
/// development sets, 53 reach it. With the first network of the encoder alone, 63 reached the former limit of 0.55, which
/// recognised 26 of 30 pairs with the same meaning.
const SAME_TOPIC: f64 = 0.46;
/// If two questions share at least this part of their words, they have the same topic.
const SAME_WORDS: f64 = 0.5;

/// One form of a question.
#[derive(Debug, Clone)]
pub(super) struct Way {
    /// The question, or the words of it that memories contain.
    pub(super) asked: String,
    /// True for a full question, false for words.
    pub(super) is_whole: bool,
    /// The project of the last time.
    pub(super) scope: Scope,
    /// The last time.
    pub(super) last: Timestamp,
    times: u32,
    terms: BTreeSet<String>,
    vector: Option<Vector>,
}

/// The forms of one topic, most frequent first; never empty.
#[derive(Debug, Clone)]
pub(super) struct Topic {
    pub(super) ways: Vec<Way>,
    pub(super) times: u32,
    pub(super) first: Timestamp,
    pub(super) last: Timestamp,
    pub(super) scopes: Vec<Scope>,
}

/// The topics of questions (oldest first), most frequent first. If `by_embedding` is true, full questions are compared
/// by embeddings. All others are compared by their words. A question without stored words belongs to no topic.
pub(super) fn topics_of(asked: &[UnansweredQuestion], by_embedding: bool) -> Vec<Topic> {
    let mut ways: Vec<(Way, Vec<&UnansweredQuestion>)> = Vec::new();
    for one in asked {
        let Some(way) = way_of(one) else { continue };
        match ways
            .iter_mut()
            .find(|(known, _)| known.is_whole == way.is_whole && fold(&known.asked) == fold(&way.asked))
        {
            Some((known, all)) => {
                *known = Way { times: known.times + 1, ..way };
                all.push(one);
            }
            None => ways.push((way, vec![one])),
        }
    }
    ways.sort_by_key(|(way, _)| std::cmp::Reverse(way.last));
    ways.truncate(MOST_WAYS);
    ways.sort_by_key(|(way, _)| std::cmp::Reverse(way.times));
    let mut topics: Vec<Topic> = Vec::new();
    for (mut way, all) in ways {
        way.vector = (by_embedding && way.is_whole).then(|| Encoder::shared().question(&way.asked));
        let alike = |topic: &Topic| topic.ways.first().and_then(|first| likeness(first, &way)).unwrap_or(0.0);
        let best = topics.iter().enumerate().map(|(at, topic)| (at, alike(topic)));
        let best =
            best.max_by(|(at, a), (other, b)| a.total_cmp(b).then(other.cmp(at))).filter(|(_, near)| *near > 0.0);
        match best.and_then(|(at, _)| topics.get_mut(at)) {
            Some(topic) => topic.add(way, &all),
            None => topics.extend(Topic::of(way, &all)),
        }
    }
    topics.sort_by_key(|topic| std::cmp::Reverse((topic.times, topic.last)));
    topics
}

fn way_of(asked: &UnansweredQuestion) -> Option<Way> {
    let is_whole = asked.text.is_some();
    let text = asked.text.clone().unwrap_or_else(|| asked.words.join(" "));
    if text.trim().is_empty() {
        return None;
    }
    let terms = tokenize(&text).into_iter().filter(|token| token.kind != TokenKind::Stop).map(|token| token.term);
    let (scope, last) = (asked.scope.clone(), asked.at);
    Some(Way { is_whole, scope, last, times: 1, terms: terms.collect(), vector: None, asked: text })
}

/// The similarity of two forms of one topic, 0 to 1; `None` if they belong to different topics.
fn likeness(a: &Way, b: &Way) -> Option<f64> {
    let (near, least) = if let (Some(a), Some(b)) = (&a.vector, &b.vector) {
        (a.similarities(b), SAME_TOPIC)
    } else {
        let all = a.terms.union(&b.terms).count().max(1);
        (a.terms.intersection(&b.terms).count() as f64 / all as f64, SAME_WORDS)
    };
    (near >= least).then_some(near)
}

impl Topic {
    fn of(way: Way, all: &[&UnansweredQuestion]) -> Option<Self> {
        let (first, last) = (all.first()?.at, all.last()?.at);
        let mut topic = Self { ways: Vec::new(), times: 0, first, last, scopes: Vec::new() };
        topic.add(way, all);
        Some(topic)
    }

    fn add(&mut self, way: Way, all: &[&UnansweredQuestion]) {
        self.times += way.times;
        self.ways.push(way);
        for asked in all {
            (self.first, self.last) = (self.first.min(asked.at), self.last.max(asked.at));
            if !self.scopes.contains(&asked.scope) {
                self.scopes.push(asked.scope.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(at: i64, words: &str, text: Option<&str>) -> UnansweredQuestion {
        let words = words.split_whitespace().map(str::to_owned).collect();
        let scope = if at % 2 == 0 { Scope::Global } else { "a/b".parse().unwrap() };
        UnansweredQuestion { at: Timestamp::from_micros(at), scope, words, text: text.map(str::to_owned) }
    }

    fn shape(topics: &[Topic]) -> Vec<(u32, Vec<&str>)> {
        topics.iter().map(|topic| (topic.times, topic.ways.iter().map(|way| way.asked.as_str()).collect())).collect()
    }

    #[test]
    fn the_same_words_are_the_same_topic_and_nothing_known_is_none() {
        let all = [
            asked(1, "staging port", None),
            asked(2, "", None),
            asked(3, "ports staging", None),
            asked(4, "staging port birch", None),
            asked(5, "lunch", None),
            asked(6, "staging port", None),
        ];
        let topics = topics_of(&all, false);
        let expected = [(4, vec!["staging port", "staging port birch", "ports staging"]), (1, vec!["lunch"])];
        assert_eq!(shape(&topics), expected);
        assert_eq!((topics[0].first.as_micros(), topics[0].last.as_micros(), topics[0].scopes.len()), (1, 6, 2));
        assert_eq!((topics[0].ways[0].last.as_micros(), topics[0].ways[0].is_whole), (6, false));
    }

    #[test]
    fn questions_are_the_same_topic_by_what_they_mean() {
        let texts = ["When do we eat lunch?", "At what time is the midday meal?", "Which port does the cache use?"];
        let mut all: Vec<UnansweredQuestion> = (1..).zip(texts).map(|(at, text)| asked(at, "", Some(text))).collect();
        all.push(asked(9, "", Some("when do we eat LUNCH?")));
        let by_embedding = topics_of(&all, true);
        assert_eq!(shape(&by_embedding), [(3, vec!["when do we eat LUNCH?", texts[1]]), (1, vec![texts[2]])]);
        assert_eq!(topics_of(&all, false).len(), 3, "no two questions share half of their words");
    }
}
