//! What a text means, on its way between a machine and the server. It travels beside what is said and is never part of
//! it: it makes no change, decides no conflict, and whatever is wrong with it, it is only left away.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::domain::MemoryId;
use crate::meaning::{Meaning, passages_of};

/// Vectors as a store keeps them, as base64 in JSON. What came with them has to be looked at before they are believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentMeaning(Vec<u8>);

impl SentMeaning {
    /// Of what a store keeps beside a text: `None` where that waits, or another encoder made it.
    pub fn of(stored: &[u8]) -> Option<Self> {
        Meaning::is_current(stored).then(|| Self(stored.to_vec()))
    }

    /// The vectors, if this program's encoder can have made them of a text: its version, whole and sound, and one for each
    /// passage. Whether it did, only making them again can tell.
    pub fn meaning_of(&self, text: &str) -> Option<Meaning> {
        Meaning::read(&self.0, passages_of(text).len())
    }

    fn read(value: &Value) -> Option<Self> {
        STANDARD.decode(value.as_str()?).ok().map(Self)
    }
}

impl Serialize for SentMeaning {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&STANDARD.encode(&self.0))
    }
}

/// Reads vectors; what is none counts as left away.
pub(super) fn one<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SentMeaning>, D::Error> {
    Ok(SentMeaning::read(&Value::deserialize(from)?))
}

/// Reads the vectors of some memories; what is none counts as left away.
pub(super) fn many<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<MemoryId, SentMeaning>, D::Error> {
    let all = Value::deserialize(from)?;
    let entries = all.as_object().into_iter().flatten();
    Ok(entries.filter_map(|(id, value)| Some((id.parse().ok()?, SentMeaning::read(value)?))).collect())
}
