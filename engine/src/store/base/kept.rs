//! Secrets as rows, which are written in the same transaction as their text.

use rusqlite::params;
use tessera_seal::{KeyId, Value, key_of};

use super::config::Actor;
use super::secrets::Secrets;
use super::transaction::Change;
use crate::domain::{Memory, MemoryUuid, Trust};
use crate::screen::probable::PROBABLE;
use crate::screen::{KnownValues, MARKED, Place, Secret, places};
use crate::store::file::error::StoreError;
use crate::store::rows::codec::{Ask as _, Run as _};

/// The key in `meta` for the ID of the current encryption key.
const SEALING: &str = "secret_key";

/// Writes the secrets of a memory. Existing ones stay.
pub(crate) fn write_all(change: &Change<'_>, memory: MemoryUuid, secrets: &[Secret]) -> Result<(), StoreError> {
    let sql = "INSERT INTO secrets (memory, name, kind, mark, sealed, made) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
               ON CONFLICT (memory, name) DO NOTHING";
    for secret in secrets {
        let (sealed, mark) = sealed_now(change, memory, secret)?;
        let values = params![memory, secret.name.as_str(), secret.kind, mark, sealed, change.now];
        change.tx.run(sql, values)?;
    }
    Ok(())
}

/// The values of earlier secrets of a memory, if they can be decrypted. Values of earlier secrets are recognised even
/// if no word such as "password" precedes them. Values that another machine allowed are not secrets any more.
pub(crate) fn values_of(change: &Change<'_>, memory: &Memory) -> Result<KnownValues, StoreError> {
    let mut known = KnownValues::default();
    let named: Vec<String> =
        places(&memory.content).into_iter().filter_map(|(_, place)| Some(place.name?.to_string())).collect();
    each_value(change, memory.id, &mut |name, kind, value| match kind {
        _ if kind == MARKED.as_str() => known.mark(kind, value),
        _ if kind != PROBABLE.as_str() || named.iter().any(|has| has == name) => known.note(kind, value),
        _ => {}
    })?;
    Ok(known)
}

/// The texts of a memory that a person marked as secret, if they can be decrypted.
pub(crate) fn marks_of(change: &Change<'_>, memory: MemoryUuid) -> Result<KnownValues, StoreError> {
    let mut marks = KnownValues::default();
    let sql = "SELECT 1 FROM secrets WHERE memory = ?1 AND kind = ?2";
    if change.tx.prepare_cached(sql)?.exists(params![memory, MARKED.as_str()])? {
        each_value(change, memory, &mut |_, kind, value| {
            if kind == MARKED.as_str() {
                marks.mark(kind, value);
            }
        })?;
    }
    Ok(marks)
}

/// The value of one secret; `None` if it is not here, or cannot be decrypted.
pub(crate) fn value(change: &Change<'_>, memory: MemoryUuid, name: &str) -> Result<Option<Value>, StoreError> {
    let sql = "SELECT sealed FROM secrets WHERE memory = ?1 AND name = ?2 AND sealed IS NOT NULL";
    let sealed: Option<Vec<u8>> = change.tx.maybe(sql, params![memory, name], |row| row.get(0))?;
    match sealed.map(|sealed| change.secrets.opened(change.tx, memory, name, &sealed)).transpose() {
        Err(error @ StoreError::KeysWanted { .. }) => Err(error),
        found => Ok(found.ok().flatten()),
    }
}

/// Visits the name, the kind and the value of each secret of a memory that can be decrypted.
fn each_value(
    change: &Change<'_>,
    memory: MemoryUuid,
    see: &mut dyn FnMut(&str, &str, &str),
) -> Result<(), StoreError> {
    let sql = "SELECT name, kind, sealed FROM secrets WHERE memory = ?1 AND sealed IS NOT NULL";
    let mut statement = change.tx.prepare_cached(sql)?;
    let rows = statement.query_map([memory], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    for row in rows {
        let (name, kind, sealed): (String, String, Vec<u8>) = row?;
        match change.secrets.opened(change.tx, memory, &name, &sealed) {
            Ok(value) => see(&name, &kind, &value),
            Err(error @ StoreError::KeysWanted { .. }) => return Err(error),
            Err(_) => {}
        }
    }
    Ok(())
}

/// Encrypts a value under a given name, because the memory's text already contains this name.
pub(crate) fn write_named(
    change: &Change<'_>,
    memory: MemoryUuid,
    place: &Place,
    value: &str,
) -> Result<(), StoreError> {
    let Some(name) = &place.name else { return Ok(()) };
    let keys = change.secrets.keys(change.tx)?.keys;
    let (sealed, mark) = Secrets::sealed_anew(change.tx, &keys, (memory, name.as_str()), value)?;
    write_all(change, memory, &[Secret { name: name.clone(), kind: place.kind.clone(), mark, sealed }])
}

/// Encrypts another memory's secret again for this memory.
pub(crate) fn write_again(
    change: &Change<'_>,
    (from, to): (MemoryUuid, MemoryUuid),
    secret: &Secret,
) -> Result<(), StoreError> {
    let name = secret.name.as_str();
    let value = change.secrets.opened(change.tx, from, name, &secret.sealed)?;
    let keys = change.secrets.keys(change.tx)?.keys;
    let (sealed, mark) = Secrets::sealed_anew(change.tx, &keys, (to, name), &value)?;
    write_all(change, to, &[Secret { mark, sealed, ..secret.clone() }])
}

/// If a memory's text names a secret that only another memory of the user has, the secret is copied. From then on, the
/// two copies of the secret are independent.
pub(crate) fn adopt(change: &Change<'_>, memory: &Memory) -> Result<(), StoreError> {
    if memory.share.is_some() || memory.edited_by.is_some() || memory.trust == Trust::Foreign {
        return Ok(());
    }
    for (_, place) in places(&memory.content) {
        let Some(name) = place.name else { continue };
        let sql = "SELECT secrets.memory, kind, mark, sealed FROM secrets JOIN memories ON memories.id = secrets.memory
                   WHERE name = ?1 AND sealed IS NOT NULL AND shared_by IS NULL AND secrets.memory <> ?2
                   AND NOT EXISTS (SELECT 1 FROM secrets WHERE memory = ?2 AND name = ?1) LIMIT 1";
        let read = |row: &rusqlite::Row<'_>| {
            let secret = Secret { name: name.clone(), kind: row.get(1)?, mark: row.get(2)?, sealed: row.get(3)? };
            Ok((row.get::<_, MemoryUuid>(0)?, secret))
        };
        let found = change.tx.maybe(sql, params![name.as_str(), memory.id], read)?;
        if let Some((holder, secret)) = found {
            write_again(change, (holder, memory.id), &secret)?;
        }
    }
    Ok(())
}

/// Returns a secret that is encrypted with the current key. If another key encrypted it before this transaction, it is
/// encrypted again. Otherwise, during a key rotation, another process with only the old key could write a value that no
/// key decrypts later.
fn sealed_now(change: &Change<'_>, memory: MemoryUuid, secret: &Secret) -> Result<(Vec<u8>, Vec<u8>), StoreError> {
    let name = secret.name.as_str();
    let failed = |source| StoreError::Sealed { name: name.to_owned(), source };
    let made_with = key_of(&secret.sealed).map_err(failed)?;
    if sealing(change)?.is_some_and(|key| key == made_with.to_string()) {
        return Ok((secret.sealed.clone(), secret.mark.clone()));
    }
    let value = change.secrets.opened(change.tx, memory, name, &secret.sealed)?;
    let keys = change.secrets.keys_anew(change.tx)?.keys;
    note_sealing(change, keys.current.id())?;
    if keys.current.id() == made_with {
        return Ok((secret.sealed.clone(), secret.mark.clone()));
    }
    Secrets::sealed_anew(change.tx, &keys, (memory, name), &value)
}

/// The number of the current encryption key, if it was recorded.
fn sealing(change: &Change<'_>) -> Result<Option<String>, StoreError> {
    let sql = "SELECT value FROM meta WHERE key = ?1";
    Ok(change.tx.maybe(sql, [SEALING], |row| row.get(0))?)
}

/// Records the present encryption key.
pub(crate) fn note_sealing(change: &Change<'_>, key: KeyId) -> Result<(), StoreError> {
    let sql = "INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)";
    change.tx.run(sql, (SEALING, key.to_string()))?;
    Ok(())
}

/// Records each use of a secret.
pub(crate) fn note(
    change: &Change<'_>,
    memory: MemoryUuid,
    name: &str,
    what: &str,
    actor: &Actor,
) -> Result<(), StoreError> {
    let sql =
        "INSERT INTO secret_uses (at, memory, name, use, origin, session, client) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let origin = actor.origin.to_string();
    let values = params![change.now, memory, name, what, origin, actor.session, actor.client];
    change.tx.run(sql, values)?;
    Ok(())
}

/// The value in the column `place` of a secret that was deleted here, but that a vault may still contain.
pub(crate) const LEAVING: &str = "leaving";

/// Deletes one or all secrets of a memory. If a vault may contain the secrets, their names stay until the vault has
/// deleted them.
pub(crate) fn let_go(change: &Change<'_>, memory: MemoryUuid, name: Option<&str>) -> Result<(), StoreError> {
    for sql in [
        "UPDATE secrets SET place = 'leaving', sealed = NULL, kind = '', mark = x'' WHERE memory = ?1
         AND (?2 IS NULL OR name = ?2) AND place = 'vault'",
        "DELETE FROM secrets WHERE memory = ?1 AND (?2 IS NULL OR name = ?2) AND place <> 'leaving'",
    ] {
        change.tx.run(sql, params![memory, name])?;
    }
    Ok(())
}
