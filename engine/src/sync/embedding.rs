//! Embeddings in sync. Embeddings are sent with the data but do not belong to it: they cause no change and no conflict,
//! and invalid embeddings are ignored.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::domain::MemoryUuid;
use crate::embedding::{Embedding, passages_of};

/// Stored embeddings, as base64 in JSON. They must be checked before use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentEmbedding(Vec<u8>);

impl SentEmbedding {
    /// Stored embeddings for sending; `None` if they are missing or from another encoder.
    pub fn of(stored: &[u8]) -> Option<Self> {
        Embedding::is_current(stored).then(|| Self(stored.to_vec()))
    }

    /// The embeddings, if this program's encoder could have made them: right version, complete, valid, and one per
    /// passage. Only a second computation shows whether the encoder really computed an embedding.
    pub fn embedding_of(&self, text: &str) -> Option<Embedding> {
        Embedding::read(&self.0, passages_of(text).len())
    }

    fn read(value: &Value) -> Option<Self> {
        STANDARD.decode(value.as_str()?).ok().map(Self)
    }
}

impl Serialize for SentEmbedding {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&STANDARD.encode(&self.0))
    }
}

/// Parses embeddings; invalid ones count as absent.
pub(super) fn one<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SentEmbedding>, D::Error> {
    Ok(SentEmbedding::read(&Value::deserialize(from)?))
}

/// Parses the embeddings of several memories; invalid ones count as absent.
pub(super) fn many<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<MemoryUuid, SentEmbedding>, D::Error> {
    let all = Value::deserialize(from)?;
    let entries = all.as_object().into_iter().flatten();
    Ok(entries.filter_map(|(id, value)| Some((id.parse().ok()?, SentEmbedding::read(value)?))).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::embedding::Encoder;
    use crate::sync::{Op, Page, Push, SentOp, Snapshot};

    /// A change from a machine with an older program.
    const OLDER: &str = r#"{"epoch":1,"ops":[{"op_id":"019a0000-0000-7000-8000-000000000001",
        "memory":"019a0000-0000-7000-8000-000000000002","base_rev":0,"at":"2026-11-20T12:00:00Z","action":{"create":{
        "content":"The cache lives on birch","tags":["ci"],"links":[],"details":{"category":"facts","type":"fact",
        "importance":0.4,"keywords":[],"entities":[],"scope":"global","created":"2026-11-20T12:00:00Z",
        "origin":"user","session":null,"conflict_of":null}}}}]}"#;

    fn embedding() -> Vec<u8> {
        Embedding::of(&Encoder::shared().passages(&["birch"])).into_bytes()
    }

    #[test]
    fn what_an_older_machine_sends_is_read_and_an_older_server_reads_what_is_sent() {
        let mut push: Push = serde_json::from_str(OLDER).unwrap();
        let plain = serde_json::to_value(&push).unwrap();
        let sent = SentEmbedding::of(&embedding()).unwrap();
        push.ops[0].embedding = Some(sent.clone());
        let text = serde_json::to_string(&push).unwrap();
        assert_eq!(serde_json::from_str::<Push>(&text).unwrap(), push);
        // A change for an older server has no such field, and the server ignores it.
        let op: Op = serde_json::from_value(serde_json::to_value(&push).unwrap()["ops"][0].clone()).unwrap();
        assert_eq!(op, push.ops[0].op);
        assert_eq!(serde_json::to_value(SentOp::from(op)).unwrap(), plain["ops"][0], "the op is the same without it");
        for older in [
            r#"{"news":[],"next":7,"more":false}"#,
            r#"{"news":[],"next":7,"more":false,"embeddings":null}"#,
            r#"{"news":[],"next":7,"more":false,"embeddings":{"no id":"AQ==","019a0000-0000-7000-8000-000000000002":3}}"#,
        ] {
            let page: Page = serde_json::from_str(older).unwrap();
            assert!(page.embeddings.is_empty() && page.next == 7, "{older}");
        }
        let mut page: Page = serde_json::from_str(r#"{"news":[],"next":7,"more":false}"#).unwrap();
        page.embeddings.insert(push.ops[0].op.memory, sent);
        assert_eq!(serde_json::from_value::<Page>(serde_json::to_value(&page).unwrap()).unwrap(), page);
        let snapshot = r#"{"epoch":1,"restored_seq":0,"head":0,"rows":[],"next":null}"#;
        assert!(serde_json::from_str::<Snapshot>(snapshot).unwrap().embeddings.is_empty());
    }

    #[test]
    fn whatever_is_wrong_with_it_it_is_left_away_and_the_op_stands() {
        let push: Push = serde_json::from_str(OLDER).unwrap();
        let whole = embedding();
        let mut of_another_encoder = whole.clone();
        of_another_encoder[0] = 200;
        let mut too_near = whole.clone();
        too_near[1..5].copy_from_slice(&[1, 0, 0, 0]);
        let two = [&*whole, &whole[1..]].concat();
        let wrong = [of_another_encoder, too_near, two, whole[..whole.len() - 1].to_vec(), vec![whole[0]], Vec::new()];
        let mut values: Vec<Value> = wrong.map(|bytes| json!(STANDARD.encode(bytes))).to_vec();
        values.extend([json!("!"), json!(7), json!(null), json!({ "a": [] }), json!([1])]);
        for value in values {
            let mut sent = serde_json::to_value(&push.ops[0]).unwrap();
            sent["embedding"] = value;
            let sent: SentOp = serde_json::from_value(sent).unwrap();
            assert_eq!(sent.op, push.ops[0].op);
            assert_eq!(sent.embedding.and_then(|sent| sent.embedding_of("The cache lives on birch")), None);
        }
        let sound = SentEmbedding::of(&whole).unwrap();
        assert_eq!(sound.embedding_of("The cache lives on birch").map(Embedding::into_bytes), Some(whole));
        assert_eq!(SentEmbedding::of(&[]), None, "what waits has none");
    }
}
