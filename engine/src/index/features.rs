//! What ranking needs to know of a row beside its terms.

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
    /// Handle of the row.
    pub handle: u32,
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
