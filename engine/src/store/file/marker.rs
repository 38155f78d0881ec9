//! The marker beside the database: the number of memories, so that a lost database is noticed.

use serde::{Deserialize, Serialize};

use super::error::StoreError;
use super::home::Home;
use super::private;

#[derive(Debug, Serialize, Deserialize)]
struct Marker {
    memories: u64,
}

/// Writes the number of memories.
pub(crate) fn write(home: &Home, memories: u64) -> Result<(), StoreError> {
    let (path, text) = (home.marker(), serde_json::to_vec(&Marker { memories }).unwrap_or_default());
    private::replace(&path, &text).map_err(|source| StoreError::file(&path, source))
}

/// The last number of memories.
pub(crate) fn counted(home: &Home) -> Option<u64> {
    let bytes = std::fs::read(home.marker()).ok()?;
    serde_json::from_slice::<Marker>(&bytes).ok().map(|marker| marker.memories)
}

/// Refuses to create a new store where a store with memories was lost.
pub(crate) fn refuse_vanished(home: &Home) -> Result<(), StoreError> {
    let marker = home.marker();
    let held = std::fs::read(&marker).ok().and_then(|bytes| serde_json::from_slice::<Marker>(&bytes).ok());
    match held {
        Some(Marker { memories }) if memories > 0 => {
            Err(StoreError::Vanished { path: home.database(), memories, marker })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_that_held_memories_begins_no_new_store() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path());
        refuse_vanished(&home).unwrap();
        write(&home, 0).unwrap();
        refuse_vanished(&home).unwrap();
        write(&home, 3).unwrap();
        let Err(StoreError::Vanished { path, memories, .. }) = refuse_vanished(&home) else { panic!("it held three") };
        assert_eq!((path, memories), (home.database(), 3));
    }
}
