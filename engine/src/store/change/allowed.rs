//! Texts that a person declared not to be secrets. They are restored, and the classifiers leave them alone from then on.

use rusqlite::params;
use serde::Serialize;

use super::clean;
use super::reveal::only_one;
use super::write::tell;
use crate::domain::{MemoryRef, MemoryUuid, ShortId};
use crate::screen::probable::PROBABLE;
use crate::screen::{MARKED, Texts as _, put_back};
use crate::store::base::allowed_texts::allow;
use crate::store::base::config::Actor;
use crate::store::base::kept::{let_go, note};
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::{StoreError, UnavailableBecause};
use crate::store::logs::history::earlier;
use crate::store::rows::codec::{Ask as _, Run as _};

/// The kinds of secrets that can be allowed. What a rule finds is redacted again by other machines and by the server.
const KINDS: [&str; 2] = [PROBABLE.as_str(), MARKED.as_str()];

/// A text that is no secret any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Allowed {
    /// The name that replaced the text.
    pub name: String,
    /// The text.
    pub value: String,
    /// The memories that contain the text again.
    #[serde(rename = "ids")]
    pub memories: Vec<ShortId>,
}

impl Store {
    /// Declares a probable or marked secret to be none: restores the text in all memories of the user, and in their
    /// history.
    ///
    /// # Errors
    /// Returns an error if there is no such secret, if a rule found it, if its value is not here, or if the store cannot
    /// be written.
    pub fn allow_secret(&mut self, beginning: &str, actor: &Actor) -> Result<Allowed, StoreError> {
        let mut rows = self.kept(beginning)?;
        only_one(beginning, &rows)?;
        let first = rows.first().cloned();
        rows.retain(|row| KINDS.contains(&row.kind.as_str()));
        let asked = || StoreError::NoSecret { asked: beginning.to_owned() };
        let Some(secret) = rows.into_iter().next() else {
            let secret = first.ok_or_else(asked)?;
            let problem = "has a secret of a known form, which every machine and the server would remove again; \
                           `tessera secret show` prints its value";
            return Err(StoreError::Conflict { memory: MemoryRef::ShortId(secret.short_id), problem });
        };
        let (name, holder) = (secret.name, secret.memory);
        let value = self.secret_value(holder, &name)?.ok_or_else(|| StoreError::ValueElsewhere {
            name: name.clone(),
            memory: holder,
            why: UnavailableBecause::InVault,
        })?;
        let memories = self.write(|change| {
            allow(change, &value)?;
            // The texts of an import may have given several names to one value.
            let sql = "SELECT memory, name FROM secrets JOIN memories ON memories.id = secrets.memory
                       WHERE mark = ?1 AND kind IN (?2, ?3) AND purged = 0 AND shared_by IS NULL ORDER BY short_id";
            let values = params![secret.mark, PROBABLE.as_str(), MARKED.as_str()];
            let holders: Vec<(MemoryUuid, String)> =
                change.tx.all(sql, values, |row| Ok((row.get(0)?, row.get(1)?)))?;
            let restore = |(holder, name): &(MemoryUuid, String)| restore_in(change, *holder, name, &value, actor);
            let mut restored = holders.iter().map(restore).collect::<Result<Vec<_>, StoreError>>()?;
            restored.dedup();
            Ok(restored)
        })?;
        self.maintain();
        Ok(Allowed { name, value: value.to_string(), memories })
    }

    /// The texts that a person declared not to be secrets.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn allowed_texts(&self) -> Result<Vec<String>, StoreError> {
        self.all("SELECT value FROM allowed_texts ORDER BY value", [], |row| row.get(0))
    }
}

/// Restores an allowed text in one memory and its history.
fn restore_in(
    change: &Change<'_>,
    id: MemoryUuid,
    name: &str,
    value: &str,
    actor: &Actor,
) -> Result<ShortId, StoreError> {
    let known = change.known(MemoryRef::Id(id))?;
    let mut memory = known.memory.clone();
    memory.change_texts(&mut |part, text| put_back(part, text, name, value));
    if memory != known.memory {
        let reason = Some("a text was declared not to be a secret".to_owned());
        clean::write(change, &known, memory, &Actor { reason, ..actor.clone() })?;
        tell(change, id)?;
    }
    for (rev, before) in earlier(change, id)? {
        let mut restored = before.clone();
        restored.change_texts(&mut |part, text| put_back(part, text, name, value));
        if restored != before {
            let text = serde_json::to_string(&restored).unwrap_or_default();
            change.tx.run("UPDATE history SET before = ?2 WHERE rev = ?1", params![rev, text])?;
        }
    }
    let_go(change, id, Some(name))?;
    change.tx.run("DELETE FROM hidden_secrets WHERE memory = ?1 AND name = ?2", params![id, name])?;
    note(change, id, name, "allowed", actor)?;
    Ok(known.memory.short_id)
}
