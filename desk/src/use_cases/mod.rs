//! The verbs: what every face can ask of a store, each a typed request with its rule and a typed outcome.

mod change;
mod import_source;
mod find;
mod unanswered;
mod link;
mod named;
mod notes;
mod project;
mod remember;
mod secret;
#[cfg(test)]
mod tests;
mod transfer;
mod automatic;
mod view;

pub use change::{Forget, Gone, Restore, RemovedSection, Update, Updated, Which};
pub use import_source::{HasImported, Imports, Preview, PreviewImport, ImportSource, TakenOver, UndoImport};
pub use find::{Alike, Answer, Fetch, Form, Get, History, List, Recall, told_near};
pub use unanswered::{ForgetQuestions, UnansweredTopic, ListUnanswered, UnansweredTopics};
pub use link::{Conflicts, Resolve, SetLink};
pub use named::{Meant, Named, Standing, WhereInFiles};
pub use notes::{BuildContext, FindMemory, FindNote, NotesReply, Part, ReadNote, RecentActivity, SearchNotes, Within};
pub use project::{TrustProject, UntrustProject, IsBelieved, Places, Purged, ScanSecrets};
pub use remember::{Remember, described};
pub use secret::{ForgetSecret, ListSecrets, Reveal, RotateKey, SecretUses, SecretsListed};
pub use transfer::{Export, Import, ImportNotes, NoteFile, NotesImported};
pub use automatic::{SessionSummary, Context, Event, Notice, Prompted, Question, SetAside, SessionNotice};
pub use view::{Count, Counts, Day, TokenUsage, Log, Logged, Reason, Why};
