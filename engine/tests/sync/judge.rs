//! What must hold when all have come to rest.

use std::collections::{BTreeMap, BTreeSet};

use tessera_engine::domain::{MemoryUuid, Trust};
use tessera_engine::sync::{BaseVersion, Document, Rights, State};

use crate::server::{Key, name};
use crate::world::{USERS, World};

/// The texts of a memory: its lines, if it is a file.
pub(crate) fn texts(said: &str) -> impl Iterator<Item = &str> {
    said.lines().map(|line| line.strip_prefix("- ").unwrap_or(line))
}

impl World {
    pub(crate) fn judge(&self) -> Result<(), String> {
        for (number, machine) in self.machines.iter().enumerate() {
            let rows = self.server.snapshot(machine.user, &[]).rows;
            let rows = rows.into_iter().map(|row| machine.as_read(row));
            let seen: BTreeMap<MemoryUuid, Document> =
                rows.filter_map(|row| Some((row.row.memory, row.row.state.live()?.clone()))).collect();
            let shown = machine.shown();
            if seen != shown {
                let only = |a: &BTreeMap<MemoryUuid, Document>, b: &BTreeMap<MemoryUuid, Document>| {
                    a.iter().filter(|(id, d)| b.get(id) != Some(d)).map(|(_, d)| format!("{d:?}")).collect::<Vec<_>>()
                };
                return Err(format!(
                    "machine {number} differs: server alone {:?}, machine alone {:?}",
                    only(&seen, &shown),
                    only(&shown, &seen)
                ));
            }
        }
        let mut there: BTreeMap<&str, usize> = BTreeMap::new();
        for ((_, memory), row) in &self.server.rows {
            let Some(document) = row.state.live() else { continue };
            let mut once = BTreeSet::new();
            for text in texts(document.content.as_str()) {
                if !once.insert(text) {
                    return Err(format!("{text} is twice in {memory}"));
                }
                // What nobody changed stands in both texts of a conflict.
                let count = there.entry(text).or_default();
                *count = if document.content.as_str().starts_with("- ") { 1 } else { *count + 1 };
            }
        }
        self.judge_paths()?;
        self.judge_metadata()?;
        for (text, written) in &self.written {
            let count = there.get(text.as_str()).copied().unwrap_or(0);
            if count > 1 {
                return Err(format!("{text} is there {count} times"));
            }
            if count == 0 && !written.is_superseded && !self.purged.contains(&written.memory) {
                return Err(format!("{text} of {} is lost", written.memory));
            }
        }
        self.judge_rights()
    }

    /// A file stays one, whoever changes it.
    fn judge_paths(&self) -> Result<(), String> {
        for ((owner, memory), row) in &self.server.rows {
            let (Some(path), Some(document)) = (self.files.get(memory), row.state.live()) else { continue };
            // Taken by an attacker, or told again by a machine that never knew.
            let is_old = self.machines.iter().any(|machine| machine.user == *owner && machine.is_older);
            let is_lost = self.is_restored && is_old || document.content.as_str().starts_with("taken");
            if document.details.file.as_ref() != Some(path) && !is_lost {
                return Err(format!("{memory} is the file {path} no more: {document:?}"));
            }
        }
        Ok(())
    }

    /// What a client keeps beside a memory stays, whoever knows nothing of it.
    fn judge_metadata(&self) -> Result<(), String> {
        for ((owner, memory), row) in &self.server.rows {
            let (true, Some(document)) = (self.beside.contains(memory), row.state.live()) else { continue };
            // Taken by an attacker, or told again by a machine that never knew.
            let is_old = self.machines.iter().any(|machine| machine.user == *owner && machine.is_older);
            let is_lost = self.is_restored && is_old || document.content.as_str().starts_with("taken");
            if document.details.metadata.is_none() && !is_lost {
                return Err(format!("what was beside {memory} is lost: {document:?}"));
            }
        }
        Ok(())
    }

    /// What is whose, and who may do what with it.
    fn judge_rights(&self) -> Result<(), String> {
        for ((owner, memory), row) in &self.server.rows {
            let Some(document) = row.state.document() else { continue };
            let (text, details) = (document.content.as_str(), &document.details);
            let by_another =
                |what: &str| (0..USERS).any(|by| by != *owner && text.starts_with(&format!("{what} by {by}")));
            let is_attacked =
                (0..USERS).any(|by| by != *owner && details.category.as_str().ends_with(&format!("by-{by}")));
            if is_attacked || by_another("revived") {
                return Err(format!("{memory} was changed by somebody who may not: {document:?}"));
            }
            if details.expires.is_some_and(|expires| !self.expiries.contains(&expires)) {
                return Err(format!("nobody set the expiry of {memory}"));
            }
            if row.state.live().is_some() && self.purged.contains(memory) && !text.starts_with("taken") {
                return Err(format!("{memory} was removed for good, and is there"));
            }
            let Some(author) = self.written.get(text).map(|written| written.by) else { continue };
            let is_named = row.edited_by == (author != *owner).then(|| name(author));
            // A server that lost it was told by the owner, who says only that it is not theirs to believe.
            let is_told_again =
                author != *owner && row.edited_by.is_none() && details.owner_trust == Some(Trust::Foreign);
            if !is_named && !is_told_again {
                return Err(format!("{text} of {owner} is by {author}, not by {:?}", row.edited_by));
            }
        }
        for machine in &self.machines {
            for (memory, local) in &machine.rows {
                let is_own = local.base_version().is_none_or(BaseVersion::is_own);
                if !is_own && matches!(local.state, State::Deleted(_)) {
                    return Err(format!("{memory} was deleted by its owner, and user {} can read it", machine.user));
                }
                let mut others = (0..USERS).filter(|owner| *owner != machine.user).map(|owner| (owner, *memory));
                let is_meant = |key: Key| {
                    let text = self.server.rows.get(&key).and_then(|row| row.state.live());
                    text.is_some_and(|document| !document.content.as_str().starts_with("taken"))
                        && self.server.rights(machine.user, key) >= Rights::Read
                };
                let is_taken = local.state.live().is_some_and(|now| now.content.as_str().starts_with("taken"));
                if is_taken && others.any(is_meant) {
                    return Err(format!("the place of {memory} was taken at user {}", machine.user));
                }
            }
        }
        Ok(())
    }
}
