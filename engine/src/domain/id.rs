//! The UUID of a memory, which is the same on all machines, and its ID in one store.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::{NoContext, Uuid};

use super::{DomainError, Timestamp};

/// The identity of a memory on all machines: a UUID, version 7 if created here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, schemars::JsonSchema, Deserialize)]
#[serde(transparent)]
pub struct MemoryUuid(Uuid);

/// The namespace of UUIDs that are derived from another system's key (see [`MemoryUuid::from_key`]).
const KEY_NAMESPACE: Uuid = Uuid::from_u128(0x7e55_e7a0_6b65_7973_8000_6d65_6d6f_7279);

impl MemoryUuid {
    /// Creates a time-ordered UUID for a memory created at `now`.
    pub fn generate(now: Timestamp) -> Self {
        let micros = now.as_micros().max(0).unsigned_abs();
        let nanos = u32::try_from(micros % 1_000_000 * 1_000).unwrap_or(0);
        Self(Uuid::new_v7(uuid::Timestamp::from_unix(NoContext, micros / 1_000_000, nanos)))
    }

    /// Derives a UUID from the key in another system, so that a second import does not store a duplicate.
    pub fn from_key(key: &str) -> Self {
        Self(Uuid::new_v5(&KEY_NAMESPACE, key.as_bytes()))
    }

    /// Wraps a UUID from a store or another machine.
    pub const fn from_uuid(uuid: Uuid) -> Self {
        Self(uuid)
    }

    /// True for the nil and the max UUID, which identify nothing.
    pub const fn is_reserved(&self) -> bool {
        self.0.is_nil() || self.0.is_max()
    }

    /// The sixteen bytes, as stored.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }
}

impl fmt::Display for MemoryUuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl FromStr for MemoryUuid {
    type Err = DomainError;

    fn from_str(text: &str) -> Result<Self, DomainError> {
        let fix = "use an ID such as 42 or #42, or a full UUID";
        let uuid = Uuid::try_parse(text.trim()).map_err(|_| DomainError::invalid("id", "is not a valid ID", fix))?;
        if uuid.is_nil() || uuid.is_max() {
            return Err(DomainError::invalid("id", "is a reserved UUID", fix));
        }
        Ok(Self(uuid))
    }
}

impl MemoryUuid {
    /// The UUID of a memory that was imported from memory-mcp under an ID such as `mem_abc123`; `None` for any other
    /// text.
    pub fn of_older(name: &str) -> Option<Self> {
        let name = name.trim();
        let rest = name.strip_prefix("mem_")?;
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
        let is_short = (1..=100).contains(&rest.len());
        (is_short && rest.chars().all(is_name)).then(|| Self::from_key(&format!("memory-mcp:{name}")))
    }
}

/// The number of a memory in one store, displayed as `#42`. IDs begin at 1 and are never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, schemars::JsonSchema, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct ShortId(u32);

impl ShortId {
    /// The first ID of a store.
    pub const FIRST: Self = Self(1);

    /// The number.
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl TryFrom<u32> for ShortId {
    type Error = DomainError;

    fn try_from(number: u32) -> Result<Self, DomainError> {
        if number == 0 {
            return Err(DomainError::invalid("id", "0 is not a valid ID", "IDs start at 1"));
        }
        Ok(Self(number))
    }
}

impl From<ShortId> for u32 {
    fn from(short_id: ShortId) -> Self {
        short_id.0
    }
}

impl fmt::Display for ShortId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// A reference to a memory, as people and models write it: `42`, `#42` or a UUID.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MemoryRef {
    /// Its ID in this store.
    ShortId(ShortId),
    /// Its UUID.
    Id(MemoryUuid),
}

impl From<ShortId> for MemoryRef {
    fn from(short_id: ShortId) -> Self {
        Self::ShortId(short_id)
    }
}

impl FromStr for MemoryRef {
    type Err = DomainError;

    fn from_str(text: &str) -> Result<Self, DomainError> {
        let bare = text.trim();
        let digits = bare.strip_prefix('#').unwrap_or(bare);
        if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
            let number = digits
                .parse::<u32>()
                .map_err(|_| DomainError::invalid("id", "is too large for an ID", "use a number such as 42"))?;
            return ShortId::try_from(number).map(Self::ShortId);
        }
        if let Some(id) = MemoryUuid::of_older(bare) {
            return Ok(Self::Id(id));
        }
        bare.parse().map(Self::Id)
    }
}

impl fmt::Display for MemoryRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ShortId(short_id) => short_id.fmt(f),
            Self::Id(id) => id.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refs_parse_short_ids_and_uuids_and_refuse_the_rest() {
        assert_eq!("#42".parse(), Ok(MemoryRef::ShortId(ShortId(42))));
        assert_eq!(" 7 ".parse(), Ok(MemoryRef::ShortId(ShortId(7))));
        let id = MemoryUuid::from_key("k");
        assert_eq!(id.to_string().to_uppercase().parse(), Ok(MemoryRef::Id(id)));
        let older: MemoryRef = " mem_abc123".parse().unwrap();
        assert_eq!(older, MemoryRef::Id(MemoryUuid::from_key("memory-mcp:mem_abc123")));
        for bad in
            ["mem_", "mem_a b", "mem_a/b", "", "#", "0", "-1", "99999999999", "abc", "1.5", &Uuid::nil().to_string()]
        {
            assert!(bad.parse::<MemoryRef>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn generated_ids_order_by_time() {
        let early = MemoryUuid::generate(Timestamp::from_micros(1_000_000));
        let late = MemoryUuid::generate(Timestamp::from_micros(9_000_000));
        assert!(early < late);
    }
}
