//! Where older systems keep their data, as their own variables say it.

use std::path::PathBuf;

use tessera_desk::older::Places;

use super::{user_home, variable};

/// V's directory, which is an older name of ours too.
const DIRECTORY: &str = "MEMORY_HOME";
/// Databases of V's and of W's.
const DATABASES: [&str; 2] = ["MEMORY_DB", "MEMORY_DB_PATH"];
/// The user's data directory.
const DATA: &str = if cfg!(windows) { "APPDATA" } else { "XDG_DATA_HOME" };

/// Where their data may lie.
pub(crate) fn older_places() -> Places {
    let home = user_home().unwrap_or_default();
    let path = |name: &str| {
        let path = PathBuf::from(variable(name)?);
        // They read it so.
        Some(path.strip_prefix("~").map(|rest| home.join(rest)).unwrap_or(path))
    };
    Places {
        data: path(DATA),
        memory_home: path(DIRECTORY),
        databases: DATABASES.iter().filter_map(|name| path(name)).collect(),
        home,
    }
}
