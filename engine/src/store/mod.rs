//! The embedded store: one SQLite file, its snapshot, and a few logs, in one directory.
//!
//! Reads never wait for a write lock. Every write is one `BEGIN IMMEDIATE` transaction, which contains the row with its
//! stored terms, its history and its outbox row. It returns after the commit is on disk (WAL, `synchronous=FULL`).
//!
//! Modules in the order of their dependencies (none points backwards): `file` (the home directory), `rows` (columns and
//! their meaning), `base` (the open store, its index, its transactions), `logs` (records beside memories), `read`,
//! `change` (changes of memories), `files` (indexed files), `sync` (changes from a team server), `open` (opening and
//! migration), `care` (the doctor, salvage, backups).

mod file;

mod rows;

mod base;

mod logs;

mod read;

mod change;

mod files;

mod sync;

mod open;

mod care;

pub use base::ahead::Ahead;
pub use base::config::{Actor, Keyring, KeyringError, SecretMode, SecretRules, StoreConfig, Usage};
pub use base::embedding::{EmbeddingCounts, EmbeddingTurn};
pub use base::secrets::KeyPlace;
pub use base::store::Store;
pub use care::doctor::{Check, Health, Verdict};
pub use care::restore_backup::{Replacing, Restored, key_file};
pub use care::rotate::Rotated;
pub use care::salvage::Salvage;
pub use care::scan::{ClearCredential, Scan, ScanProgress, Scanning};
pub use change::allowed::Allowed;
pub use change::conflict::{Conflict, Resolution};
pub use change::erase::{Erase, Forgotten};
pub use change::file_secrets::WithoutValues;
pub use change::hidden_files::Tried;
pub use change::hide::{CleanedFile, Hidden};
pub use change::import::{ImportProgress, Imported};
pub use change::import_line::ImportAs;
pub use change::imports::{Import, ImportRun, ImportTurn};
pub use change::older_row::{OlderRow, Over, RowStatus};
pub use change::places::Place;
pub use change::reveal::{Revealed, RevealedSecret, put_back};
pub use change::undo_import::Undone;
pub use change::vault::ForVault;
pub use change::write::Stored;
pub use file::error::{StoreError, UnavailableBecause};
pub use file::home::Home;
pub use file::private::{dir_of, lock, make_private_dir, private_file, replace, sync_dir, try_lock};
pub use files::asked::{FileRow, NoteRow, PartRow, Pending, RelationRow};
pub use files::folders::{FileStamp, Folder, Intent, MEMORIES, SeenFile, TakenFile, is_settled};
pub use files::graph::{Edge, Meant, Strictness};
pub use files::said::says_all_of_file;
pub use files::told::{FileUse, UnsyncedFiles};
pub use logs::candidates::{Declined, WaitingLine};
pub use logs::deliveries::{Delivery, DeliveryFilter, Given, GivenAs, given_by};
pub use logs::history::{HistoryEntry, Operation};
pub use logs::learning::{ExtractorUsage, Progress};
pub use logs::purges::{Purged, ServerDeletion, Step};
pub use logs::questions::{Noted, UnansweredQuestion};
pub use logs::traces::Traces;
pub use read::list::{ListRequest, Listing};
pub use read::near::{Near, SimilarityKind};
pub use read::newer::Newer;
pub use read::review::{DoubtfulPair, PairKind};
pub use read::secrets::{SecretRef, SecretRow, SecretUse};
pub use read::stats::Stats;
pub use sync::anew::{Anew, Whole};
pub use sync::server::{RefusedChange, ServerState, SyncStatus, Upload};
pub use tessera_seal::Value as SecretValue;
