//! What a reader tells of a row.

use jiff::Timestamp;
use serde_json::{Map, Value};

/// A row of an older system, as it is to be stored.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Draft {
    /// What names it in its system for good. The same key is the same row, whatever it says by then.
    pub key: String,
    /// Other keys that it had, or may yet get, there.
    pub also: Vec<String>,
    /// By what a deletion there names it, of which nothing else is left. No row is known again by it.
    pub gone_as: Option<String>,
    /// What a person calls it there: a number, an id, a path.
    pub name: String,
    /// The text.
    pub content: String,
    /// Category, in that system's words; derived where it has none.
    pub category: Option<String>,
    /// Type: fact, entity, relationship or self; derived where it has none.
    pub kind: Option<String>,
    /// Importance, 0 to 1.
    pub importance: Option<f64>,
    /// Tags, as they stand there.
    pub tags: Vec<String>,
    /// Further words under which it was to be found.
    pub keywords: Vec<String>,
    /// Named things in it.
    pub entities: Vec<String>,
    /// What it is to other rows.
    pub links: Vec<Link>,
    /// When it was made.
    pub created: Option<Timestamp>,
    /// When it was last changed.
    pub updated: Option<Timestamp>,
    /// When it was last read.
    pub last_accessed: Option<Timestamp>,
    /// How often it was read.
    pub access_count: u32,
    /// When it is over, because somebody asked for that.
    pub expires: Option<Timestamp>,
    /// When it was deleted, where the system keeps such rows.
    pub deleted: Option<Timestamp>,
    /// True where its whole text is a secret.
    pub is_secret: bool,
    /// Whose it is, where another user shared it.
    pub shared_by: Option<String>,
    /// The session it was stored in.
    pub session: Option<String>,
    /// What a client kept beside it, and what has no other place here.
    pub metadata: Option<Map<String, Value>>,
    /// What could not be kept as it was there.
    pub remarks: Vec<String>,
}

/// What a row is to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The type of the link, in that system's words.
    pub kind: String,
    /// The key of the other row.
    pub to: String,
}

/// A row that cannot be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Which: `row 17`, `line 3`, a path.
    pub at: String,
    /// Why. Nothing of what it says is repeated.
    pub problem: String,
}

/// What a reader tells, one at a time, in the order of that system.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    /// A row.
    Row(Box<Draft>),
    /// A row that cannot be told.
    Skipped(Skipped),
    /// A row that was deleted there, of which nothing is left but its key.
    Gone(String),
}
