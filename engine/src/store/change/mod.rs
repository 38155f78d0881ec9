//! Changes of memories. Each change is one transaction, which writes the memory's row, its history and its outbox row.

pub(crate) mod allowed;
pub(crate) mod clean;
pub(crate) mod conflict;
pub(crate) mod copies;
pub(crate) mod erase;
pub(crate) mod file_secrets;
pub(crate) mod hidden_files;
pub(crate) mod hide;
pub(crate) mod import;
pub(crate) mod import_line;
pub(crate) mod import_source;
pub(crate) mod imports;
pub(crate) mod links;
pub(crate) mod older_row;
pub(crate) mod places;
pub(crate) mod relate;
pub(crate) mod remember;
pub(crate) mod restore;
pub(crate) mod reveal;
pub(crate) mod rights;
pub(crate) mod secrets;
pub(crate) mod undo_import;
pub(crate) mod update;
pub(crate) mod vault;
pub(crate) mod write;
