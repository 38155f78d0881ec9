//! What ranking needs to know of a row beside its terms.

use crate::domain::Timestamp;

/// Properties of a row that are true or false.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(pub u8);

impl Flags {
    /// It states a lasting wish or rule.
    pub const STANDING: Self = Self(1);
    /// It came from elsewhere.
    pub const FOREIGN: Self = Self(2);
    /// Another memory replaces it.
    pub const SUPERSEDED: Self = Self(4);

    /// True when all of `other` are set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// These and `other`, if `holds`.
    pub const fn with(self, other: Self, holds: bool) -> Self {
        if holds { Self(self.0 | other.0) } else { self }
    }
}

/// The numbers of a row that ranking reads. 24 bytes in a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Features {
    /// ID of the row.
    pub short_id: u32,
    /// When it was created, in minutes since 1970.
    pub created: u32,
    /// When it was last delivered in full, or created, in minutes since 1970; 0 for a turn of a
    /// conversation that never was delivered.
    pub used: u32,
    /// When it expires, in minutes since 1970; 0 for never.
    pub expires: u32,
    /// Deliveries in full, at most 255.
    pub access_count: u8,
    /// Importance in hundredths.
    pub importance: u8,
    /// Words of the text.
    pub length: u16,
    /// Properties.
    pub flags: Flags,
}

/// What a store knows of a row, wherever it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// ID of the row.
    pub short_id: u32,
    /// When it was created.
    pub created: Timestamp,
    /// When it was last delivered in full.
    pub last_accessed: Option<Timestamp>,
    /// When it expires.
    pub expires: Option<Timestamp>,
    /// Deliveries in full.
    pub access_count: u32,
    /// Importance in hundredths.
    pub importance: u8,
    /// Words of the text.
    pub length: u16,
    /// True for a turn of a conversation.
    pub is_captured: bool,
    /// What it is.
    pub flags: Flags,
}

impl Features {
    /// What ranking reads of a row.
    pub fn of(facts: &Facts) -> Self {
        // A turn of a conversation says nothing of being current by having been said; using it does.
        let made = if facts.is_captured { Timestamp::from_micros(0) } else { facts.created };
        Self {
            short_id: facts.short_id,
            created: facts.created.minutes(),
            used: facts.last_accessed.map_or(made, |used| used.max(made)).minutes(),
            expires: facts.expires.map_or(0, |time| time.minutes().max(1)),
            access_count: u8::try_from(facts.access_count).unwrap_or(u8::MAX),
            importance: facts.importance,
            length: facts.length,
            flags: facts.flags,
        }
    }
}
