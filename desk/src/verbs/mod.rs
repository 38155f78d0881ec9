//! The verbs: what every face can ask of a store, each a typed request with its rule and a typed outcome.

mod change;
mod coming_over;
mod find;
mod gaps;
mod link;
mod named;
mod notes;
mod project;
mod remember;
mod secret;
#[cfg(test)]
mod tests;
mod transfer;
mod unasked;
mod view;

pub use change::{Forget, Gone, Restore, TakenOut, Update, Updated, Which};
pub use coming_over::{HasImported, Imports, Preview, PreviewImport, TakeOver, TakenOver, UndoImport};
pub use find::{Alike, Answer, Fetch, Form, Get, History, List, Recall, told_near};
pub use gaps::{ForgetQuestions, Gap, Gaps, GapsFound};
pub use link::{Conflicts, Resolve, SetLink};
pub use named::{Meant, Named, Standing, WhereInFiles};
pub use notes::{BuildContext, FindMemory, FindNote, NotesReply, Part, ReadNote, RecentActivity, SearchNotes, Within};
pub use project::{BelieveProject, DoubtProject, IsBelieved, Places, Purged, ScanSecrets};
pub use remember::{Remember, described};
pub use secret::{ForgetSecret, ListSecrets, Reveal, RotateKey, SecretUses, SecretsListed};
pub use transfer::{Export, Import, ImportNotes, NoteFile, NotesImported};
pub use unasked::{Brief, Context, Event, Notice, Prompted, Question, SetAside, StandingNotice};
pub use view::{Count, Counts, Day, Ledger, Log, Logged, Reason, Why};
