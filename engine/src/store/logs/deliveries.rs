//! The record of automatic recall: which memories a model received, why, and at what cost. An event without memories is
//! recorded too. The words of a prompt are never stored.

use std::collections::BTreeSet;

use rusqlite::params;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tessera_tables::names;

use super::spool::Spool;
use crate::domain::{Scope, ShortId, Timestamp};
use crate::pack::Recall;
use crate::score::ScoreParts;
use crate::screen::{dropped, is_clean};
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::file::home::Home;

/// Deliveries that are not in the database yet, one JSON object per line.
pub(crate) const SPOOL: Spool = Spool { file: Home::deliveries, fold_at: 64 * 1024 };
/// Maximum number of stored deliveries.
const MOST_KEPT: u32 = 20_000;
/// Days for which a delivery is stored.
const DAYS_KEPT: i64 = 90;

/// The memories that one event of a session gave to the model.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema, Deserialize)]
pub struct Delivery {
    /// The client's session.
    pub session: String,
    /// The time.
    pub at: Timestamp,
    /// The event, as the client names it.
    pub event: String,
    /// The project of the session.
    pub scope: Scope,
    /// The number of tokens of the returned text, counted as the client's profile specifies; 0 without a text.
    #[serde(default)]
    pub tokens: u32,
    /// Characters of the returned text.
    #[serde(default)]
    pub characters: u32,
    /// The number of searched memories.
    #[serde(default)]
    pub searched: u32,
    /// Matches below the threshold.
    #[serde(default)]
    pub below_floor: u32,
    /// The best score of the matches below the threshold, 0 to 1.
    #[serde(default)]
    pub best_below_floor: f64,
    /// Duration in microseconds.
    #[serde(default)]
    pub took_micros: u64,
    /// Why recall did not search; absent if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
    /// True if the context of the session begins again with this event. Earlier memories are then no longer in it.
    #[serde(default)]
    pub resets: bool,
    /// True if a subagent received the memories. They are then not in the context of the session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub to_subagent: bool,
    /// The memories.
    #[serde(default)]
    pub given: Vec<Given>,
}

/// A returned memory.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema, Deserialize)]
pub struct Given {
    /// Its ID.
    #[serde(rename = "id")]
    pub short_id: ShortId,
    /// Its form.
    pub form: GivenAs,
    /// Its tokens in o200k_base.
    #[serde(default)]
    pub tokens: u32,
    /// Its score, 0 to 1.
    #[serde(default)]
    pub score: f64,
    /// The parts of the score.
    #[serde(default)]
    pub parts: ScoreParts,
    /// For an action, the kinds of words that the memory and the action have in common: command, code, option, module,
    /// path. The words themselves are not stored, because a permanent deletion could not remove them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<String>,
}

/// The parts of a delivery that each prompt of a session reads. The other parts are not parsed, which takes less time.
#[derive(Deserialize)]
struct Received {
    session: String,
    #[serde(default)]
    event: String,
    #[serde(default)]
    tokens: u32,
    #[serde(default)]
    resets: bool,
    #[serde(default)]
    to_subagent: bool,
    #[serde(default)]
    given: Vec<ReceivedMemory>,
}

#[derive(Deserialize)]
struct ReceivedMemory {
    #[serde(rename = "id")]
    short_id: ShortId,
    form: GivenAs,
}

names! {
/// The form in which a memory was returned.
#[derive(Serialize, schemars::JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GivenAs {
    /// In full.
    Detail = "detail",
    /// As its best passage.
    Excerpt = "excerpt",
    /// As one line.
    Index = "index",
    /// The memory was not delivered yet. The memory is saved until the client compacts the session.
    Saved = "saved",
}
}

fn in_context(received: &[Received]) -> BTreeSet<ShortId> {
    let given = received.iter().flat_map(|event| &event.given);
    given.filter(|given| given.form != GivenAs::Saved).map(|given| given.short_id).collect()
}

/// Converts the memories of a reply for the record of a delivery.
pub fn given_by(recall: &Recall) -> Vec<Given> {
    let details = recall.details.iter().map(|detail| {
        let form = if detail.excerpt.is_some() { GivenAs::Excerpt } else { GivenAs::Detail };
        (form, &detail.ranked, detail.tokens)
    });
    let index = recall.index.iter().map(|entry| (GivenAs::Index, &entry.ranked, entry.tokens));
    let given = |(form, ranked, tokens): (GivenAs, &crate::pack::Ranked, u32)| Given {
        short_id: ranked.short_id,
        form,
        tokens,
        score: ranked.score,
        parts: ranked.parts,
        because: Vec::new(),
    };
    details.chain(index).map(given).collect()
}

/// A filter for deliveries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeliveryFilter {
    /// Only of this session.
    pub session: Option<String>,
    /// Only with this memory.
    pub short_id: Option<ShortId>,
    /// Only at or after this time.
    pub since: Option<Timestamp>,
}

impl DeliveryFilter {
    fn admits(&self, delivery: &Delivery) -> bool {
        self.session.as_ref().is_none_or(|session| delivery.session == *session)
            && self.since.is_none_or(|since| delivery.at >= since)
            && self.short_id.is_none_or(|short_id| delivery.given.iter().any(|given| given.short_id == short_id))
    }
}

impl Store {
    /// Stores a delivery. The record is appended to a file, so a prompt does not wait for a process that writes to the
    /// database.
    pub fn keep_delivery(&self, delivery: &Delivery) {
        let session = dropped(&delivery.session).into_owned();
        let scope = if is_clean(delivery.scope.as_str()) { delivery.scope.clone() } else { Scope::Global };
        let delivery = Delivery { session, scope, ..delivery.clone() };
        if let Ok(mut line) = serde_json::to_vec(&delivery) {
            line.push(b'\n');
            SPOOL.append(&self.home, &line);
        }
    }

    /// Returns the deliveries that pass the filter, oldest first.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn deliveries(&self, filter: &DeliveryFilter) -> Result<Vec<Delivery>, StoreError> {
        let mut deliveries: Vec<Delivery> = self.recorded(filter)?;
        deliveries.retain(|delivery| filter.admits(delivery));
        Ok(deliveries)
    }

    /// The deliveries, or parts of them, oldest first. Some of them do not pass the filter.
    fn recorded<D: DeserializeOwned>(&self, filter: &DeliveryFilter) -> Result<Vec<D>, StoreError> {
        let unfolded = SPOOL.unfolded(&self.home);
        let mut deliveries = self.folded_deliveries(filter).map_err(|error| self.failed(error))?;
        // Most lines belong to other sessions, and are not parsed.
        let session = filter.session.as_ref().and_then(|session| serde_json::to_string(session).ok());
        deliveries.extend(lines(&unfolded, &session.unwrap_or_default()));
        Ok(deliveries)
    }

    fn folded_deliveries<D: DeserializeOwned>(&self, filter: &DeliveryFilter) -> rusqlite::Result<Vec<D>> {
        let sql = match (&filter.session, filter.short_id) {
            (Some(_), _) => "SELECT delivery FROM deliveries WHERE session = ?1 AND at >= ?2 ORDER BY n",
            (None, Some(_)) => {
                "SELECT delivery FROM deliveries WHERE ?1 IS NULL AND at >= ?2 AND EXISTS
                 (SELECT 1 FROM json_each(delivery, '$.given') WHERE json_extract(value, '$.id') = ?3) ORDER BY n"
            }
            (None, None) => "SELECT delivery FROM deliveries WHERE ?1 IS NULL AND at >= ?2 ORDER BY n",
        };
        let since = filter.since.unwrap_or(Timestamp::from_micros(i64::MIN));
        let mut statement = self.connection.prepare_cached(sql)?;
        let parse = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
        let texts: Vec<String> = if filter.session.is_none() && filter.short_id.is_some() {
            statement.query_map(params![filter.session, since, filter.short_id], parse)?.collect::<Result<_, _>>()?
        } else {
            statement.query_map(params![filter.session, since], parse)?.collect::<Result<_, _>>()?
        };
        Ok(texts.iter().filter_map(|text| serde_json::from_str(text).ok()).collect())
    }

    /// Returns the memories in a session's context. These are all memories that the session received since its context
    /// began.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn given_in(&self, session: &str) -> Result<BTreeSet<ShortId>, StoreError> {
        let received = self.received_in(session)?;
        Ok(in_context(&received))
    }

    /// The memories and the tokens that events of one name delivered to a session since its context began.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn given_by_event(&self, session: &str, event: &str) -> Result<(BTreeSet<ShortId>, u32), StoreError> {
        let mut received = self.received_in(session)?;
        received.retain(|received| received.event == event);
        let tokens = received.iter().map(|received| received.tokens).sum();
        Ok((in_context(&received), tokens))
    }

    /// The memories that were in a session's context before a compaction, and those that were saved for it, newest
    /// first.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn lost_to_compaction(&self, session: &str) -> Result<Vec<ShortId>, StoreError> {
        let received = self.received_in(session)?;
        let mut lost = Vec::new();
        for given in received.iter().rev().flat_map(|event| &event.given) {
            if !lost.contains(&given.short_id) {
                lost.push(given.short_id);
            }
        }
        Ok(lost)
    }

    /// What a session received since its context began, oldest first.
    fn received_in(&self, session: &str) -> Result<Vec<Received>, StoreError> {
        let filter = DeliveryFilter { session: Some(session.to_owned()), ..DeliveryFilter::default() };
        let mut received: Vec<Received> = self.recorded(&filter)?;
        received.retain(|event| event.session == session && !event.to_subagent);
        let from = received.iter().rposition(|event| event.resets).unwrap_or(0);
        Ok(received.split_off(from))
    }

    /// Adds the spooled deliveries to the database, and deletes old ones.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written. Then the spool stays.
    pub fn fold_deliveries(&mut self) -> Result<(), StoreError> {
        self.fold(&SPOOL, fold)
    }

    pub(crate) fn fold_deliveries_if_due(&mut self) -> Result<(), StoreError> {
        self.fold_if_due(&SPOOL, fold)
    }
}

fn fold(change: &Change<'_>, records: &[u8]) -> Result<(), StoreError> {
    let mut insert = change.tx.prepare_cached("INSERT INTO deliveries (session, at, delivery) VALUES (?1, ?2, ?3)")?;
    for delivery in lines::<Delivery>(records, "") {
        let text = serde_json::to_string(&delivery).unwrap_or_default();
        insert.execute(params![delivery.session, delivery.at, text])?;
    }
    let oldest = Timestamp::from_micros(change.now.as_micros() - DAYS_KEPT * 86_400_000_000);
    change.tx.execute("DELETE FROM deliveries WHERE at < ?1", [oldest])?;
    let sql = "DELETE FROM deliveries WHERE n <= (SELECT max(n) FROM deliveries) - ?1";
    change.tx.execute(sql, [MOST_KEPT])?;
    Ok(())
}

/// The deliveries, or parts of them, of complete lines that contain a text. An incomplete line of a killed process is
/// skipped.
fn lines<'r, D: DeserializeOwned>(records: &'r [u8], text: &'r str) -> impl Iterator<Item = D> + 'r {
    let lines = records.split(|byte| *byte == b'\n').filter_map(|line| str::from_utf8(line).ok());
    lines.filter(move |line| line.contains(text)).filter_map(|line| serde_json::from_str(line).ok())
}

#[cfg(test)]
mod tests {
    use std::slice;

    use super::*;
    use crate::store::open::in_memory::InMemory;

    fn delivery(store: &InMemory, session: &str, given: &[(u32, GivenAs)]) -> Delivery {
        let given = given.iter().map(|(short_id, form)| Given {
            short_id: ShortId::try_from(*short_id).unwrap(),
            form: *form,
            tokens: 9,
            score: 0.5,
            parts: ScoreParts::default(),
            because: Vec::new(),
        });
        Delivery {
            session: session.into(),
            at: store.now(),
            event: "UserPromptSubmit".into(),
            scope: Scope::Global,
            tokens: 9,
            characters: 30,
            searched: 2,
            below_floor: 1,
            best_below_floor: 0.25,
            took_micros: 100,
            skipped: None,
            resets: false,
            to_subagent: false,
            given: given.collect(),
        }
    }

    fn numbers(short_ids: impl IntoIterator<Item = ShortId>) -> Vec<u32> {
        short_ids.into_iter().map(ShortId::get).collect()
    }

    #[test]
    fn deliveries_read_the_same_from_the_spool_and_from_the_database() {
        // A name that JSON escapes.
        const TWO: &str = "s\"2\\ü\u{1}";
        let mut store = InMemory::new();
        let one = delivery(&store, "s1", &[(1, GivenAs::Detail)]);
        store.pass_days(1);
        let two = delivery(&store, TWO, &[(2, GivenAs::Index), (1, GivenAs::Excerpt)]);
        for delivery in [&one, &two] {
            store.keep_delivery(delivery);
        }
        let of = |session: &str| DeliveryFilter { session: Some(session.into()), ..DeliveryFilter::default() };
        let with =
            |short_id| DeliveryFilter { short_id: ShortId::try_from(short_id).ok(), ..DeliveryFilter::default() };
        let since = DeliveryFilter { since: Some(two.at), ..DeliveryFilter::default() };
        for _ in 0..2 {
            assert_eq!(store.deliveries(&DeliveryFilter::default()).unwrap(), [one.clone(), two.clone()]);
            assert_eq!(store.deliveries(&of("s1")).unwrap(), slice::from_ref(&one));
            assert_eq!(store.deliveries(&with(2)).unwrap(), slice::from_ref(&two));
            assert_eq!(store.deliveries(&since).unwrap(), slice::from_ref(&two));
            assert_eq!(store.deliveries(&DeliveryFilter { short_id: with(2).short_id, ..of("s1") }).unwrap(), []);
            store.fold_deliveries().unwrap();
        }
        assert_eq!(store.one::<u32>("SELECT count(*) FROM deliveries"), 2);
    }

    #[test]
    fn a_context_that_begins_anew_holds_nothing_of_before_and_is_told_what_it_lost() {
        let store = InMemory::new();
        store.keep_delivery(&delivery(&store, "s", &[(1, GivenAs::Detail)]));
        store.keep_delivery(&Delivery { resets: true, ..delivery(&store, "s", &[(2, GivenAs::Detail)]) });
        store.keep_delivery(&delivery(&store, "s", &[(3, GivenAs::Saved), (4, GivenAs::Index)]));
        store.keep_delivery(&delivery(&store, "other", &[(5, GivenAs::Detail)]));
        assert_eq!(numbers(store.given_in("s").unwrap()), [2, 4]);
        assert_eq!(numbers(store.lost_to_compaction("s").unwrap()), [3, 4, 2]);
    }

    #[test]
    fn half_a_line_is_none_and_old_deliveries_go() {
        let mut store = InMemory::new();
        store.keep_delivery(&delivery(&store, "s", &[]));
        SPOOL.append(store.home(), b"{\"session\":\"s\",\"at\"");
        store.fold_deliveries().unwrap();
        assert_eq!(store.deliveries(&DeliveryFilter::default()).unwrap().len(), 1);
        store.pass_days(DAYS_KEPT + 1);
        store.keep_delivery(&delivery(&store, "later", &[]));
        store.fold_deliveries().unwrap();
        let kept = store.deliveries(&DeliveryFilter::default()).unwrap();
        assert!(kept.len() == 1 && kept[0].session == "later");
    }
}
