//! Care of a store: the doctor, salvage of a damaged one, backups.

pub(crate) mod backup;
pub(crate) mod doctor;
pub(crate) mod restore_backup;
pub(crate) mod rotate;
pub(crate) mod salvage;
pub(crate) mod scan;
pub(crate) mod scan_copies;
pub(crate) mod secrets;
