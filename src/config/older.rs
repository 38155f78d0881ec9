//! The data directories of other memory systems, from the environment variables of those systems.

use std::path::PathBuf;

use tessera_desk::older::Places;

use super::{user_home, variable};

/// The variable with the data directory of claude-memory-mcp, which Tessera also reads.
const DIRECTORY: &str = "MEMORY_HOME";
/// The database variables of claude-memory-mcp and memory-mcp.
const DATABASES: [&str; 2] = ["MEMORY_DB", "MEMORY_DB_PATH"];
/// The user's data directory.
const DATA: &str = if cfg!(windows) { "APPDATA" } else { "XDG_DATA_HOME" };

/// Where other memory systems may keep their data.
pub(crate) fn older_places() -> Places {
    let home = user_home().unwrap_or_default();
    let path = |name: &str| {
        let path = PathBuf::from(variable(name)?);
        // Both systems expand `~` like this.
        Some(path.strip_prefix("~").map(|rest| home.join(rest)).unwrap_or(path))
    };
    Places {
        data: path(DATA),
        memory_home: path(DIRECTORY),
        databases: DATABASES.iter().filter_map(|name| path(name)).collect(),
        home,
    }
}
