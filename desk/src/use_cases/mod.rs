//! The use cases: all operations of the entry points on a store, each with a typed request and a typed outcome.

mod action;
mod automatic;
mod change;
mod find;
mod import_source;
mod link;
mod log;
mod named;
mod notes;
mod project;
mod remember;
mod review;
mod secret;
#[cfg(test)]
mod tests;
mod transfer;
mod unanswered;
mod undo;
mod view;

pub use action::Acting;
pub use automatic::{Context, Event, Notice, Prompted, Question, Recipient, SessionNotice, SessionSummary, SetAside};
pub use change::{Forget, Gone, RemovedSection, Restore, Update, Updated, Which};
pub use find::{
    Alike, Answer, Fetch, Form, Get, Glimpse, History, LinkBy, List, NewerOf, Recall, ScopeFound, ScopeMeant, told_near,
};
pub use import_source::{HasImported, ImportSource, Imports, Preview, PreviewImport, TakenOver, UndoImport};
pub use link::{Conflicts, Resolve, SetLink};
pub use log::{Delivered, LearnedEvent, Learning, Log, Logged};
pub use named::{FilePosition, Meant, Named, WhereInFiles};
pub use notes::{BuildContext, FindMemory, FindNote, NotesReply, Part, ReadNote, RecentActivity, SearchNotes, Within};
pub use project::{IsBelieved, Places, Purged, ScanSecrets, TrustProject, UntrustProject};
pub use remember::{Remember, described};
pub use review::{CountWaiting, Decide, Proposal, Propose, ReviewId, ReviewItem, ReviewQueue, Reviewed, Verdict};
pub use secret::{AllowSecret, ForgetSecret, HideText, ListSecrets, Reveal, RotateKey, SecretUses, SecretsListed};
pub use transfer::{Export, Import, ImportNotes, NoteFile, NotesImported};
pub use unanswered::{ForgetQuestions, ListUnanswered, UnansweredTopic, UnansweredTopics};
pub use undo::{Changed, LastChange, Undo, Undoing};
pub use view::{Count, Counts, Day, Reason, SessionTotals, TokenUsage, Totals, Why};
