//! Syncs secrets with a team server that stores them.

use rusqlite::params;

use crate::domain::MemoryUuid;
use crate::store::base::config::Actor;
use crate::store::base::kept::note;
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;
use crate::store::rows::codec::{Ask as _, Run as _};
use crate::sync::{Became, KeptSecrets, MOST_SECRET_BYTES, MOST_SECRETS, SentSecret};

/// Maximum bytes of values in one request. A single value may be longer.
const MOST_BYTES: usize = 1 << 20;

/// The server rejected the secret, so it is not sent again.
const REFUSED: u8 = 2;

impl Store {
    /// Returns secrets of the user's own synced memories if the server lacks their values. The secrets are in the order
    /// of memories, begin after the given one, and are limited in number. Values that cannot be decrypted are skipped.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn untold_secrets(&self, after: Option<(MemoryUuid, &str)>) -> Result<Vec<SentSecret>, StoreError> {
        let sql = "SELECT memory, name, kind, sealed FROM secrets JOIN memories ON memories.id = secrets.memory
                       WHERE told = 0 AND sealed IS NOT NULL AND purged = 0 AND shared_by IS NULL
                       AND memory IN (SELECT memory FROM sync_states) AND memory NOT IN (SELECT memory FROM private)
                       AND (?1 IS NULL OR (memory, name) > (?1, ?2)) ORDER BY memory, name LIMIT ?3";
        let (memory, name) = after.unzip();
        let rows = self.all(sql, params![memory, name, MOST_SECRETS], |row| {
            Ok((
                row.get::<_, MemoryUuid>(0)?,
                row.get::<_, String>(1)?,
                row.get::<_, String>(2)?,
                row.get::<_, Vec<u8>>(3)?,
            ))
        })?;
        let (mut untold, mut bytes) = (Vec::new(), 0);
        for (memory, name, kind, sealed) in rows {
            let Ok(value) = self.secrets.opened(&self.connection, memory, &name, &sealed) else { continue };
            bytes += value.len();
            if !untold.is_empty() && bytes > MOST_BYTES {
                break;
            }
            if value.len() <= MOST_SECRET_BYTES {
                untold.push(SentSecret { memory, name, kind, value: value.as_str().to_owned() });
            }
        }
        Ok(untold)
    }

    /// Records the server's answers about secrets. Returns the number of newly stored secrets.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub fn secrets_told(&mut self, answers: &KeptSecrets) -> Result<u64, StoreError> {
        self.write(|change| {
            let mut kept = 0;
            for answer in &answers.kept {
                let told = match answer.became {
                    Became::Kept => 1,
                    Became::Differs | Became::Invalid => REFUSED,
                    // It is sent again after its memory was.
                    Became::Unknown => continue,
                };
                let sql = "UPDATE secrets SET told = ?3 WHERE memory = ?1 AND name = ?2";
                change.tx.run(sql, params![answer.memory, answer.name, told])?;
                if answer.became == Became::Kept {
                    kept += 1;
                    note(change, answer.memory, &answer.name, "sent", &Actor::by_sync())?;
                }
            }
            Ok(kept)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::domain::Memory;
    use crate::screen::places;
    use crate::store::open::in_memory::{InMemory, base_version};
    use crate::store::sync::anew::Whole;
    use crate::store::sync::server::Upload;
    use crate::sync::{BaseVersion, Document, KeptSecret, State};

    fn name_in(memory: &Memory) -> String {
        places(&memory.content)[0].1.name.as_ref().unwrap().to_string()
    }

    fn answered(secrets: &[SentSecret], became: Became) -> KeptSecrets {
        let kept = secrets.iter();
        KeptSecrets {
            kept: kept.map(|one| KeptSecret { memory: one.memory, name: one.name.clone(), became }).collect(),
        }
    }

    /// A store with two memories that joined a server. The server has one of them.
    fn joined() -> (InMemory, Memory) {
        let mut store = InMemory::new();
        let known = store.said("the staging password is hunter2!X9");
        let own = BaseVersion {
            row: crate::sync::Row { memory: known.id, ..base_version("x", 1, None).row },
            ..base_version("x", 1, None)
        };
        let document = Document::of(&known).unwrap();
        let own = BaseVersion { row: crate::sync::Row { state: State::Live(document), ..own.row }, ..own };
        store.join("https://t.example", "ada", Upload::All).unwrap();
        let whole = Whole {
            epoch: 1,
            restored_seq: 0,
            checkpoint: None,
            head: 1,
            rows: vec![own],
            embeddings: BTreeMap::new(),
        };
        store.begin_anew(&whole).unwrap();
        store.said("the vpn password is Tr0ub4dor&3xy");
        (store, known)
    }

    #[test]
    fn only_what_the_server_knows_and_has_not_is_sent_and_noted() {
        let (mut store, known) = joined();
        let untold = store.untold_secrets(None).unwrap();
        let [secret] = untold.as_slice() else { panic!("{untold:?}") };
        assert_eq!(
            (secret.memory, secret.name.clone(), secret.value.as_str()),
            (known.id, name_in(&known), "hunter2!X9")
        );
        assert!(store.untold_secrets(Some((secret.memory, &secret.name))).unwrap().is_empty());
        assert_eq!(store.secrets_told(&answered(&untold, Became::Unknown)).unwrap(), 0);
        assert_eq!(store.untold_secrets(None).unwrap(), untold, "it is sent once its memory was");
        assert_eq!(store.secrets_told(&answered(&untold, Became::Kept)).unwrap(), 1);
        assert!(store.untold_secrets(None).unwrap().is_empty());
        let uses = store.secret_uses(None).unwrap();
        assert_eq!((uses.len(), uses[0].what.as_str(), uses[0].client.as_deref()), (1, "sent", Some("sync")));
        assert!(store.secrets(Some(known.id)).unwrap()[0].is_told);
        store.leave().unwrap();
        assert!(
            !store.secrets(Some(known.id)).unwrap()[0].is_told,
            "a server that the user joins later does not have the secrets"
        );
    }

    #[test]
    fn what_the_server_will_not_have_is_not_sent_for_ever() {
        let (mut store, known) = joined();
        let untold = store.untold_secrets(None).unwrap();
        assert_eq!(store.secrets_told(&answered(&untold, Became::Invalid)).unwrap(), 0);
        assert!(store.untold_secrets(None).unwrap().is_empty());
        assert!(!store.secrets(Some(known.id)).unwrap()[0].is_told);
        store.run("UPDATE secrets SET told = 0; INSERT INTO private (memory) SELECT id FROM memories");
        assert!(store.untold_secrets(None).unwrap().is_empty(), "what is to stay here stays");
    }
}
