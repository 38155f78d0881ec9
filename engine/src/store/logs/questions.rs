//! Questions without a clear answer. Tessera stores the time, the project, and the words that memories contain. It
//! stores the question only if the user wants that.
//!
//! The reason is privacy: an unanswered question often contains something that nobody wanted to store. The store
//! already contains these words, so recording them reveals nothing. An embedding would reveal almost as much as the
//! text, so none is stored.

use std::collections::BTreeSet;

use rusqlite::{Connection, Row, params};
use serde::{Deserialize, Serialize};

use super::history;
use super::spool::Spool;
use crate::domain::{Memory, RecallRequest, Scope, Timestamp};
use crate::recall::known_words;
use crate::screen::is_clean;
use crate::screen::probable::probable;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::file::home::Home;
use crate::store::rows::codec::Ask as _;
use crate::text::{TokenKind, tokenize};

/// Questions that are not in the database yet, one JSON object per line.
pub(crate) const SPOOL: Spool = Spool { file: Home::questions, fold_at: 16 * 1024 };
/// Maximum number of stored questions.
const MOST_KEPT: u32 = 5_000;
/// Days for which a question is stored.
const DAYS_KEPT: i64 = 180;
/// Maximum bytes of a stored question. Anything longer is a pasted text.
const LONGEST: usize = 500;

/// A question without a clear answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema, Deserialize)]
pub struct UnansweredQuestion {
    /// The time.
    pub at: Timestamp,
    /// The project in which the question was asked.
    pub scope: Scope,
    /// At most twelve words of the question, in order. Memories contain each of these words.
    pub words: Vec<String>,
    /// The question, if stored; at most 500 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// How much of a question is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Noted {
    /// Records only that a question was asked, when, and in which project.
    Count,
    /// Also records the words of the question that memories contain.
    #[default]
    Words,
    /// Also the question itself, unless it contains a probable secret.
    Text,
}

impl Store {
    /// Records a question without a clear answer. It is appended to a spool, so that no question waits for a writer.
    /// Errors are ignored.
    pub fn note_in_vain(&mut self, request: &RecallRequest, noted: Noted) {
        // Of a question with a credential, only the fact that it was asked is recorded.
        let noted = if is_clean(&request.query) { noted } else { Noted::Count };
        // Only users who want the text wait for the classifiers, and only for a question without a clear answer.
        let is_secret = noted == Noted::Text && !probable(&request.query).is_empty();
        let noted = if is_secret { Noted::Words } else { noted };
        let words = match noted {
            Noted::Count => Vec::new(),
            Noted::Words | Noted::Text => known_words(&self.index.view(), &request.query),
        };
        let text = request.query.trim();
        let text = text.get(..text.floor_char_boundary(LONGEST)).filter(|_| noted == Noted::Text).map(str::to_owned);
        let scope = request.scope.clone().filter(|scope| is_clean(scope.as_str())).unwrap_or_default();
        let asked = UnansweredQuestion { at: self.now(), scope, words, text };
        if let Ok(mut line) = serde_json::to_vec(&asked) {
            line.push(b'\n');
            SPOOL.append(&self.home, &line);
        }
    }

    /// Questions without a clear answer, oldest first.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn unanswered_questions(&self, since: Option<Timestamp>) -> Result<Vec<UnansweredQuestion>, StoreError> {
        let unfolded = SPOOL.unfolded(&self.home);
        let mut asked = self.folded_questions().map_err(|error| self.failed(error))?;
        asked.extend(lines(&unfolded));
        asked.retain(|asked| since.is_none_or(|since| asked.at >= since));
        Ok(asked)
    }

    fn folded_questions(&self) -> rusqlite::Result<Vec<UnansweredQuestion>> {
        self.connection.all("SELECT at, scope, words, text FROM unanswered_questions ORDER BY n", [], read)
    }

    /// Deletes all recorded questions, and returns their number.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub fn forget_questions(&mut self) -> Result<usize, StoreError> {
        self.fold_questions()?;
        self.write(|change| Ok(change.tx.execute("DELETE FROM unanswered_questions", [])?))
    }

    /// Adds the spooled questions to the database, and deletes old ones.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written. Then the spool stays.
    pub fn fold_questions(&mut self) -> Result<(), StoreError> {
        self.fold(&SPOOL, fold)
    }

    pub(crate) fn fold_questions_if_due(&mut self) -> Result<(), StoreError> {
        self.fold_if_due(&SPOOL, fold)
    }
}

/// Deletes questions with a word of a permanently deleted memory, or of its earlier versions. Its history must still
/// exist.
pub(crate) fn forget_those_about(change: &Change<'_>, memory: &Memory) -> Result<(), StoreError> {
    let words: BTreeSet<String> = history::all_before(change.tx, memory.id)?
        .iter()
        .chain([memory])
        .flat_map(|memory| terms(&said_by(memory)))
        .collect();
    Ok(forget_those_with(change.tx, &words)?)
}

/// Deletes recorded questions with a word of a hidden text, from a store or a copy.
pub(crate) fn forget_those_saying(connection: &Connection, text: &str) -> rusqlite::Result<()> {
    forget_those_with(connection, &terms(text))
}

fn forget_those_with(connection: &Connection, words: &BTreeSet<String>) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached("SELECT at, scope, words, text, n FROM unanswered_questions")?;
    let asked: Vec<(UnansweredQuestion, i64)> =
        statement.query_map([], |row| Ok((read(row)?, row.get(4)?)))?.collect::<Result<_, _>>()?;
    let mut delete = connection.prepare_cached("DELETE FROM unanswered_questions WHERE n = ?1")?;
    for (asked, n) in asked {
        let told = format!("{} {}", asked.words.join(" "), asked.text.unwrap_or_default());
        if !terms(&told).is_disjoint(words) {
            delete.execute([n])?;
        }
    }
    Ok(())
}

/// All texts of a memory.
fn said_by(memory: &Memory) -> String {
    let tags = memory.tags.iter().map(ToString::to_string);
    let said = tags.chain(memory.keywords.iter().cloned()).chain(memory.entities.iter().cloned());
    said.chain([memory.content.clone(), memory.summary.clone()]).collect::<Vec<_>>().join("\n")
}

/// The terms of a text without function words.
fn terms(text: &str) -> BTreeSet<String> {
    tokenize(text).into_iter().filter(|token| token.kind != TokenKind::Stop).map(|token| token.term).collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<UnansweredQuestion> {
    let (scope, words): (String, String) = (row.get(1)?, row.get(2)?);
    let words = serde_json::from_str(&words).unwrap_or_default();
    Ok(UnansweredQuestion { at: row.get(0)?, scope: scope.parse().unwrap_or_default(), words, text: row.get(3)? })
}

fn fold(change: &Change<'_>, records: &[u8]) -> Result<(), StoreError> {
    let sql = "INSERT INTO unanswered_questions (at, scope, words, text) VALUES (?1, ?2, ?3, ?4)";
    let mut insert = change.tx.prepare_cached(sql)?;
    for UnansweredQuestion { at, scope, words, text } in lines(records) {
        let words = serde_json::to_string(&words).unwrap_or_default();
        insert.execute(params![at, scope.to_string(), words, text])?;
    }
    let oldest = Timestamp::from_micros(change.now.as_micros() - DAYS_KEPT * 86_400_000_000);
    change.tx.execute("DELETE FROM unanswered_questions WHERE at < ?1", [oldest])?;
    let sql = "DELETE FROM unanswered_questions WHERE n <= (SELECT max(n) FROM unanswered_questions) - ?1";
    change.tx.execute(sql, [MOST_KEPT])?;
    Ok(())
}

/// The complete lines with questions. An incomplete line of a killed process is skipped.
fn lines(records: &[u8]) -> impl Iterator<Item = UnansweredQuestion> {
    records.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::base::config::Actor;
    use crate::store::change::erase::Erase;
    use crate::store::open::in_memory::{InMemory, named};

    fn asks(store: &mut InMemory, question: &str, noted: Noted) {
        let request = RecallRequest { scope: "a/b".parse().ok(), ..RecallRequest::new(question) };
        store.rank(&request).unwrap();
        store.note_in_vain(&request, noted);
    }

    fn words(store: &InMemory) -> Vec<String> {
        store.unanswered_questions(None).unwrap().into_iter().map(|asked| asked.words.join(" ")).collect()
    }

    #[test]
    fn only_words_that_memories_hold_are_noted_and_the_text_where_it_is_wanted() {
        let mut store = InMemory::joined();
        store.said("The staging database of svc/customs runs on birch");
        let question = "What is the Staging's database password, hunter2!X9, in svc/customs for databases?";
        for noted in [Noted::Count, Noted::Words, Noted::Text] {
            asks(&mut store, question, noted);
        }
        for _ in 0..2 {
            let asked = store.unanswered_questions(None).unwrap();
            assert_eq!(asked[0].words, Vec::<String>::new());
            assert_eq!(asked[1].words, ["staging", "database", "svc/customs", "svc", "custom"]);
            assert_eq!(
                asked.iter().map(|asked| asked.text.as_deref()).collect::<Vec<_>>(),
                [None, None, Some(question)]
            );
            assert!(asked.iter().all(|asked| asked.scope.to_string() == "a/b" && asked.at == store.now()));
            let told = String::from_utf8(SPOOL.unfolded(store.home())).unwrap();
            assert_eq!(told.matches("hunter").count(), usize::from(!told.is_empty()), "only where it is wanted");
            store.fold_questions().unwrap();
        }
        assert_eq!(store.one::<u32>("SELECT count(*) FROM unanswered_questions"), 3);
        assert_eq!(store.one::<u32>("SELECT count(*) FROM outbox"), 1, "no server receives a question");
        assert_eq!(store.forget_questions().unwrap(), 3);
        assert!(store.unanswered_questions(None).unwrap().is_empty());
    }

    #[test]
    fn a_long_question_is_cut_and_old_ones_go() {
        let mut store = InMemory::new();
        asks(&mut store, &"ü".repeat(400), Noted::Text);
        SPOOL.append(store.home(), b"{\"at\":12");
        let asked = store.unanswered_questions(None).unwrap();
        assert_eq!(asked[0].text.as_ref().map(String::len), Some(LONGEST));
        store.pass_days(DAYS_KEPT + 1);
        let since = store.now();
        SPOOL.append(store.home(), b"\n");
        asks(&mut store, "later", Noted::Text);
        assert_eq!(store.unanswered_questions(Some(since)).unwrap().len(), 1);
        store.fold_questions().unwrap();
        let left = store.unanswered_questions(None).unwrap();
        assert_eq!(left.iter().map(|asked| asked.text.as_deref()).collect::<Vec<_>>(), [Some("later")]);
    }

    #[test]
    fn the_text_of_a_question_with_a_probable_secret_is_not_recorded() {
        let mut store = InMemory::new();
        asks(&mut store, "is it true that the gate of the warehouse opens with pumpkin soup", Noted::Text);
        let asked = store.unanswered_questions(None).unwrap();
        assert_eq!(asked.iter().map(|asked| asked.text.clone()).collect::<Vec<_>>(), [None]);
    }

    #[test]
    fn what_is_removed_for_good_takes_the_questions_about_it_along() {
        let mut store = InMemory::new();
        let memory = store.said("The zebra lives on birch");
        store.said("Lunch is at noon, says Ana");
        asks(&mut store, "who feeds the zebra?", Noted::Words);
        asks(&mut store, "zebras, where?", Noted::Text);
        asks(&mut store, "when is lunch in May?", Noted::Words);
        store.forget(&[named(&memory)], Erase::Hard, &Actor::default()).unwrap();
        assert_eq!(words(&store), ["lunch"]);
        assert!(!SPOOL.holds_any(store.home()));
    }
}
