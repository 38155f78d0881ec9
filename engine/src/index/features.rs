//! The data of a row that ranking needs in addition to its terms.

use crate::domain::Timestamp;

/// Boolean properties of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(pub u8);

impl Flags {
    /// The memory states a lasting preference or rule.
    pub const INSTRUCTION: Self = Self(1);
    /// It has trust `foreign`.
    pub const FOREIGN: Self = Self(2);
    /// Another memory replaces it.
    pub const SUPERSEDED: Self = Self(4);
    /// Another memory updates it, but both are returned.
    pub const UPDATED: Self = Self(8);
    /// It is a turn of a conversation.
    pub const CAPTURED: Self = Self(16);

    /// True if all flags of `other` are set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Adds `other` if `holds` is true.
    pub const fn with(self, other: Self, holds: bool) -> Self {
        if holds { Self(self.0 | other.0) } else { self }
    }
}

/// The numbers of a row for ranking, 24 bytes in a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Features {
    /// The ID of the row.
    pub short_id: u32,
    /// Time of creation, in minutes since 1970.
    pub created: u32,
    /// The time in minutes since 1970 at which the memory was last returned in full, or its creation time. For a turn
    /// of a conversation that was never returned, 0.
    pub used: u32,
    /// Expiry, in minutes since 1970; 0 for never.
    pub expires: u32,
    /// How often the memory was returned in full, at most 255.
    pub access_count: u8,
    /// Importance in hundredths.
    pub importance: u8,
    /// Words of the text.
    pub length: u16,
    /// Boolean properties.
    pub flags: Flags,
}

/// The data of a row from any store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// The ID of the row.
    pub short_id: u32,
    /// Time of creation.
    pub created: Timestamp,
    /// Last time returned in full.
    pub last_accessed: Option<Timestamp>,
    /// Expiry.
    pub expires: Option<Timestamp>,
    /// How often it was returned in full.
    pub access_count: u32,
    /// Importance in hundredths.
    pub importance: u8,
    /// Words of the text.
    pub length: u16,
    /// True for a turn of a conversation.
    pub is_captured: bool,
    /// Boolean properties.
    pub flags: Flags,
}

impl Features {
    /// The data of a row for ranking.
    pub fn of(facts: &Facts) -> Self {
        // A turn of a conversation is not current just because it was said, only if it was used.
        let made = if facts.is_captured { Timestamp::from_micros(0) } else { facts.created };
        Self {
            short_id: facts.short_id,
            created: facts.created.minutes(),
            used: facts.last_accessed.map_or(made, |used| used.max(made)).minutes(),
            expires: facts.expires.map_or(0, |time| time.minutes().max(1)),
            access_count: u8::try_from(facts.access_count).unwrap_or(u8::MAX),
            importance: facts.importance,
            length: facts.length,
            flags: facts.flags.with(Flags::CAPTURED, facts.is_captured),
        }
    }
}
