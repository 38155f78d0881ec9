//! Shows the value of a secret, or deletes one. Showing and deleting a secret are recorded in the store.

use rusqlite::params;
use tessera_seal::Value;

use super::erase::Erase;
use crate::domain::{Memory, MemoryRef, MemoryUuid, Timestamp, Trust};
use crate::screen::places;
use crate::store::base::config::Actor;
use crate::store::base::kept::{let_go, note};
use crate::store::base::store::Store;
use crate::store::file::error::{StoreError, UnavailableBecause};
use crate::store::logs::traces;
use crate::store::read::secrets::{SECRET, SecretRef, SecretRow, secret};
use crate::store::rows::codec::{Ask as _, sql};
use crate::store::rows::memory as row;

/// A memory with the values of its secrets.
#[derive(Debug, Clone)]
pub struct Revealed {
    /// The stored memory, with the names of secrets.
    pub memory: Memory,
    /// The requested secrets.
    pub secrets: Vec<RevealedSecret>,
    /// The text of the memory with the values of these secrets.
    pub content: Value,
}

/// A secret with its value.
#[derive(Debug, Clone)]
pub struct RevealedSecret {
    /// Its name.
    pub name: String,
    /// Its kind, in words.
    pub kind: String,
    /// The place where it is stored.
    pub place: String,
    /// The value, or the reason why it is missing.
    pub value: Result<Value, UnavailableBecause>,
}

/// A requested secret. The store has not checked yet whether it has the value.
struct Wanted {
    name: String,
    kind: String,
    row: Option<SecretRow>,
}

impl Store {
    /// Shows the value of a secret, or of all secrets of a memory. The request is recorded first. If the request cannot
    /// be recorded, no value is shown.
    ///
    /// # Errors
    /// Returns an error if there is no such secret, its key is not available, or the store cannot be written. If the
    /// secret belongs to another user, the message is the same as if it did not exist.
    pub fn reveal(&mut self, which: &SecretRef, actor: &Actor) -> Result<Revealed, StoreError> {
        let (memory, wanted) = match which {
            SecretRef::Name(name) => self.named(name)?,
            SecretRef::Memory(reference) => self.of_memory(*reference)?,
        };
        let opened = wanted.into_iter().map(|wanted| self.opened(memory.id, wanted));
        let secrets = opened.collect::<Result<Vec<_>, StoreError>>()?;
        if secrets.iter().all(|secret| secret.value.is_err())
            && let Some(RevealedSecret { name, value: Err(why), .. }) = secrets.first()
        {
            return Err(StoreError::ValueElsewhere { name: name.clone(), memory: memory.id, why: *why });
        }
        let used: Vec<&RevealedSecret> = secrets.iter().filter(|secret| secret.value.is_ok()).collect();
        self.write(|change| used.iter().try_for_each(|secret| note(change, memory.id, &secret.name, "shown", actor)))?;
        let content = filled(&memory.content, &secrets);
        Ok(Revealed { memory, secrets, content })
    }

    /// Records that a value from a vault or a server is about to be shown.
    ///
    /// # Errors
    /// Returns an error if it cannot be recorded. If recording fails, the value must not be shown.
    pub fn note_secret_use(
        &mut self,
        memory: MemoryUuid,
        name: &str,
        what: &str,
        actor: &Actor,
    ) -> Result<(), StoreError> {
        self.write(|change| note(change, memory, name, what, actor))
    }

    /// Deletes the value of a secret, or of all secrets of a memory, permanently. The texts keep the names.
    ///
    /// # Errors
    /// Returns the same errors as [`Store::reveal`].
    pub fn forget_secrets(&mut self, which: &SecretRef, actor: &Actor) -> Result<Vec<SecretRow>, StoreError> {
        let gone = match which {
            SecretRef::Name(name) => {
                let rows = self.kept(name)?;
                only_one(name, &rows)?;
                rows
            }
            SecretRef::Memory(reference) => {
                let memory = row::find(&self.connection, *reference).map_err(|error| self.failed(error))?;
                let own = memory.filter(|memory| memory.share.is_none());
                own.map(|memory| self.secrets(Some(memory.id))).transpose()?.unwrap_or_default()
            }
        };
        if gone.is_empty() {
            return Err(StoreError::NoSecret { asked: which.to_string() });
        }
        self.finish_hiding();
        self.write(|change| {
            for secret in &gone {
                let_go(change, secret.memory, Some(&secret.name))?;
                note(change, secret.memory, &secret.name, "forgotten", actor)?;
            }
            traces::note(change).map_err(StoreError::from)
        })?;
        self.scrubbed(Erase::Hard);
        Ok(gone)
    }

    /// Returns the secrets of the user's own memories whose secret names begin with this text. If a secret has exactly
    /// this name, returns only this secret.
    pub(super) fn kept(&self, beginning: &str) -> Result<Vec<SecretRow>, StoreError> {
        let sql = sql!(
            "SELECT ",
            SECRET,
            " FROM secrets JOIN memories ON memories.id = secrets.memory
                 WHERE name >= ?1 AND name < ?1 || '~' AND purged = 0 AND shared_by IS NULL
                 AND place <> 'leaving' ORDER BY deleted IS NOT NULL, made DESC, short_id DESC"
        );
        let mut found = self.all(sql, [beginning], secret)?;
        if found.iter().any(|row| row.name == beginning) {
            found.retain(|row| row.name == beginning);
        }
        Ok(found)
    }

    /// One secret, and its memory.
    fn named(&self, name: &str) -> Result<(Memory, Vec<Wanted>), StoreError> {
        let rows = self.kept(name)?;
        let unknown = || StoreError::NoSecret { asked: name.to_owned() };
        only_one(name, &rows)?;
        let found = match rows.into_iter().next() {
            Some(row) => Some((row.memory, Wanted { name: row.name.clone(), kind: row.kind.clone(), row: Some(row) })),
            None => self.named_in_a_text(name).map_err(|error| self.failed(error))?,
        };
        let (memory, wanted) = found.ok_or_else(unknown)?;
        let memory = row::find(&self.connection, MemoryRef::Id(memory)).map_err(|error| self.failed(error))?;
        Ok((memory.ok_or_else(unknown)?, vec![wanted]))
    }

    /// A secret without a value on this machine. Its name is in one of the user's own memories.
    fn named_in_a_text(&self, name: &str) -> rusqlite::Result<Option<(MemoryUuid, Wanted)>> {
        let sql = "SELECT id, content FROM memories WHERE purged = 0 AND shared_by IS NULL
                   AND instr(content, '[secret ' || ?1) > 0 ORDER BY deleted IS NOT NULL, short_id DESC LIMIT 1";
        let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, MemoryUuid>(0)?, row.get::<_, String>(1)?));
        let found = self.connection.maybe(sql, [name], read)?;
        let Some((memory, content)) = found else { return Ok(None) };
        let place = places(&content).into_iter().find_map(|(_, place)| {
            let named = place.name.filter(|named| named.as_str().starts_with(name))?;
            Some(Wanted { name: named.to_string(), kind: place.kind, row: None })
        });
        Ok(place.map(|wanted| (memory, wanted)))
    }

    /// All secrets of one of the user's own memories: those that belong to the memory, and those whose names are in its
    /// text.
    fn of_memory(&self, reference: MemoryRef) -> Result<(Memory, Vec<Wanted>), StoreError> {
        let unknown = || StoreError::NoSecret { asked: SecretRef::Memory(reference).to_string() };
        let memory = row::find(&self.connection, reference).map_err(|error| self.failed(error))?;
        let memory = memory.filter(|memory| memory.share.is_none()).ok_or_else(unknown)?;
        let mut rows = self.secrets(Some(memory.id))?;
        let mut wanted: Vec<Wanted> = Vec::new();
        for (_, place) in places(&memory.content) {
            let Some(name) = place.name.map(|name| name.to_string()) else { continue };
            if wanted.iter().any(|known| known.name == name) {
                continue;
            }
            let here = rows.iter().position(|row| row.name == name).map(|at| rows.remove(at));
            // The text may repeat another memory's text, as in a conflict or an import. Then the value belongs to that
            // memory.
            let row = match here {
                Some(row) => Some(row),
                None if memory.trust == Trust::Foreign || memory.edited_by.is_some() => None,
                None => self.kept(&name)?.into_iter().find(|row| row.name == name),
            };
            wanted.push(Wanted { name, kind: place.kind, row });
        }
        // Secrets that only a tag or an earlier text names come last.
        wanted.extend(rows.into_iter().rev().map(|row| Wanted {
            name: row.name.clone(),
            kind: row.kind.clone(),
            row: Some(row),
        }));
        if wanted.is_empty() { Err(unknown()) } else { Ok((memory, wanted)) }
    }

    fn opened(&self, memory: MemoryUuid, wanted: Wanted) -> Result<RevealedSecret, StoreError> {
        let Wanted { name, kind, row } = wanted;
        let (place, value) = if let Some(row) = row {
            (row.place, self.secret_value(row.memory, &name)?.ok_or(UnavailableBecause::InVault))
        } else {
            let forgotten = self.forgotten(memory, &name).map_err(|error| self.failed(error))?;
            (String::new(), Err(forgotten.map_or(UnavailableBecause::NeverHere, UnavailableBecause::Forgotten)))
        };
        Ok(RevealedSecret { name, kind, place, value })
    }

    /// When the value of a secret was deleted.
    pub(super) fn forgotten(&self, memory: MemoryUuid, name: &str) -> rusqlite::Result<Option<Timestamp>> {
        let sql =
            "SELECT at FROM secret_uses WHERE memory = ?1 AND name = ?2 AND use = 'forgotten' ORDER BY n DESC LIMIT 1";
        self.connection.maybe(sql, params![memory, name], |row| row.get(0))
    }
}

/// Rejects an ambiguous name. Several names may begin with this text, or the name may have different values in several
/// memories.
pub(super) fn only_one(asked: &str, rows: &[SecretRow]) -> Result<(), StoreError> {
    let is_one =
        rows.windows(2).all(|pair| matches!(pair, [one, other] if one.name == other.name && one.mark == other.mark));
    if is_one {
        return Ok(());
    }
    let found = rows.iter().map(|row| format!("{} of {}", row.name, row.short_id)).collect();
    Err(StoreError::ManySecrets { asked: asked.to_owned(), found })
}

/// Returns a text in which the values replace the names of its secrets.
fn filled(content: &str, secrets: &[RevealedSecret]) -> Value {
    put_back(content, |name| {
        let named = secrets.iter().find(|secret| secret.name == name)?;
        named.value.as_ref().ok().map(|value| value.as_str())
    })
}

/// Returns a text in which the known values replace the names of its secrets.
pub fn put_back<'v>(content: &str, value_of: impl Fn(&str) -> Option<&'v str>) -> Value {
    let mut text = Value::new(String::with_capacity(content.len()));
    let mut at = 0;
    for (span, place) in places(content) {
        let Some(value) = place.name.as_ref().and_then(|name| value_of(name.as_str())) else { continue };
        text.push_str(content.get(at..span.start).unwrap_or_default());
        text.push_str(value);
        at = span.end;
    }
    text.push_str(content.get(at..).unwrap_or_default());
    text
}

#[cfg(test)]
mod tests;
