//! Handles the credentials in files that are kept outside the database. They are encrypted for the file's memory, and
//! inserted again when the file is restored.

use std::collections::BTreeSet;

use tessera_seal::Value;

use super::reveal::put_back;
use crate::domain::MemoryUuid;
use crate::screen::{Part, Words, places, screened};
use crate::store::base::kept::write_all;
use crate::store::base::store::Store;
use crate::store::file::error::{StoreError, UnavailableBecause};

/// A text without its credentials, and their names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithoutValues {
    /// The text, in which names replace the secrets.
    pub text: String,
    /// The names of the removed secrets.
    pub names: BTreeSet<String>,
}

impl Store {
    /// Encrypts the credentials of a text for a memory. Returns `None` if a credential must not be stored, or if the
    /// text already contains the new secret's name.
    ///
    /// # Errors
    /// Returns an error if the key is not available, or the store cannot be written.
    pub fn take_values_out(&mut self, memory: MemoryUuid, text: &str) -> Result<Option<WithoutValues>, StoreError> {
        let named = |text: &str| -> BTreeSet<String> {
            places(text).into_iter().filter_map(|(_, place)| place.name).map(|name| name.to_string()).collect()
        };
        let nameless = |text: &str| places(text).iter().filter(|(_, place)| place.name.is_none()).count();
        let (before, dropped) = (named(text), nameless(text));
        self.write(|change| {
            let keeper = &mut change.secrets.keeper_of_old(change.tx, true);
            let words = Words(vec![(Part::Text, text.to_owned())]);
            let (words, found) = screened(words, memory, keeper)?.into_parts();
            let names: BTreeSet<String> = found.iter().map(|secret| secret.name.to_string()).collect();
            let text = words.0.into_iter().map(|(_, text)| text).collect::<String>();
            let is_all_kept = !names.is_empty() && nameless(&text) == dropped;
            if !is_all_kept || !names.is_disjoint(&before) {
                return Ok(None);
            }
            write_all(change, memory, &found)?;
            Ok(Some(WithoutValues { text, names }))
        })
    }

    /// The text with its values.
    ///
    /// # Errors
    /// Returns an error if this machine does not have the value.
    pub fn put_values_back(&self, memory: MemoryUuid, without: &WithoutValues) -> Result<Value, StoreError> {
        let values = without.names.iter().map(|name| {
            if let Some(value) = self.secret_value(memory, name)? {
                return Ok((name.as_str(), value));
            }
            let forgotten = self.forgotten(memory, name).map_err(|error| self.failed(error))?;
            let why = forgotten.map_or(UnavailableBecause::InVault, UnavailableBecause::Forgotten);
            Err(StoreError::ValueElsewhere { name: name.clone(), memory, why })
        });
        let values = values.collect::<Result<Vec<_>, StoreError>>()?;
        let value_of = |name: &str| values.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str());
        Ok(put_back(&without.text, value_of))
    }
}
