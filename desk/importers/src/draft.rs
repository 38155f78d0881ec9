//! The output of a reader.

use jiff::Timestamp;
use serde_json::{Map, Value};

/// A row of another system, ready to store.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Draft {
    /// The permanent key of the row in the other system. Two rows with the same key are the same row, whatever their
    /// text.
    pub key: String,
    /// Other keys under which the same row may have been imported, or may be imported later.
    pub also: Vec<String>,
    /// The key by which a queued deletion refers to the row, because the deletion contains no other data. It does not
    /// identify rows.
    pub gone_as: Option<String>,
    /// Its human-readable name: an ID or a path.
    pub name: String,
    /// The text.
    pub content: String,
    /// The category in the words of the other system. If it is missing, Tessera derives it.
    pub category: Option<String>,
    /// fact, entity, relationship or self; derived if missing.
    pub kind: Option<String>,
    /// Importance, 0 to 1.
    pub importance: Option<f64>,
    /// Tags, unchanged.
    pub tags: Vec<String>,
    /// Further search words.
    pub keywords: Vec<String>,
    /// Named things in it.
    pub entities: Vec<String>,
    /// Its links to other rows.
    pub links: Vec<Link>,
    /// When it was made.
    pub created: Option<Timestamp>,
    /// When it was last changed.
    pub updated: Option<Timestamp>,
    /// When it was last read.
    pub last_accessed: Option<Timestamp>,
    /// How often it was read.
    pub access_count: u32,
    /// The expiry that somebody set.
    pub expires: Option<Timestamp>,
    /// When it was deleted, if the system keeps deleted rows.
    pub deleted: Option<Timestamp>,
    /// True if the whole text is secret.
    pub is_secret: bool,
    /// The owner, if another user shared it.
    pub shared_by: Option<String>,
    /// The session in which it was stored.
    pub session: Option<String>,
    /// The row's metadata, and fields for which there is no other place.
    pub metadata: Option<Map<String, Value>>,
    /// The values that were changed or omitted during the import.
    pub remarks: Vec<String>,
}

/// A link of a row to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The type of the link, in the words of the other system.
    pub kind: String,
    /// The key of the other row.
    pub to: String,
}

/// A row that cannot be imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Its position: `row 17`, `line 3`, or a path.
    pub at: String,
    /// The reason, without any text of the row.
    pub problem: String,
}

/// An item that a reader reports, in the order of the source.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    /// A row.
    Row(Box<Draft>),
    /// A row that cannot be imported.
    Skipped(Skipped),
    /// A deleted row of which only the key is left.
    Gone(String),
}
