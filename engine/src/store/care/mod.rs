//! Maintenance of a store: checks, salvage of a damaged database, and backups.

pub(crate) mod backup;
pub(crate) mod doctor;
pub(crate) mod restore_backup;
pub(crate) mod rotate;
pub(crate) mod salvage;
pub(crate) mod scan;
pub(crate) mod secrets;
