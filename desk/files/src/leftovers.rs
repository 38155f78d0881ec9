//! Hidden files that killed processes left behind. Their names contain the process ID.
//!
//! `leftovers` and `remove` import each other: `leftovers` deletes abandoned directories, and `remove` gives a
//! directory a hidden name before deleting it.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::path::{OWN_PREFIX, are_twins, folded};
use crate::place::{Kind, Place, is_running};
use crate::remove::clear;

/// A temporary file that is older than an hour is no longer being written.
const HOUR: i64 = 3_600_000_000_000;
/// The suffix of a file that is being written.
pub(crate) const UNFINISHED: &str = ".tmp";
/// A directory that is removed.
pub(crate) const REMOVED: &str = ".gone";

static COUNTER: AtomicU64 = AtomicU64::new(0);

/// A name that nothing else has.
pub(crate) fn own_name(ending: &str) -> String {
    format!("{OWN_PREFIX}{}-{}{ending}", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed))
}

/// What a scan of a directory found before a write.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// A name that some file system considers equal to the new one.
    pub(crate) twin: Option<String>,
    leftovers: Vec<String>,
}

/// Looks in a directory for equal names, and for leftovers of killed writers.
pub(crate) fn survey(place: &Place, name: &str) -> std::io::Result<Survey> {
    let mut found = Survey::default();
    let is_ascii = name.is_ascii();
    let fold = folded(name);
    place.each_name(&mut |other, _| {
        if other.starts_with(OWN_PREFIX) {
            found.leftovers.push(other.to_owned());
            return;
        }
        let is_twin = if is_ascii && other.is_ascii() {
            other != name && other.eq_ignore_ascii_case(&fold)
        } else {
            are_twins(other, name)
        };
        if is_twin {
            found.twin = Some(other.to_owned());
        }
    })?;
    Ok(found)
}

impl Survey {
    /// Removes leftovers; their age is measured with the file system's clock. The folder is locked, so no cooperating
    /// writer is active. On a file system without locks, a hidden file is in use if its process runs and the file is
    /// less than an hour old.
    pub(crate) fn clear(&self, place: &Place, now: i64) {
        for name in &self.leftovers {
            let Ok(facts) = place.facts(name) else { continue };
            let is_old = now.saturating_sub(facts.stamp.modified) > HOUR;
            if !is_old && process(name).is_none_or(is_running) {
                continue;
            }
            // A leftover that cannot be removed is hidden, and the next writer tries again.
            let _ = match facts.kind {
                Kind::Directory if name.ends_with(REMOVED) => clear(place, name),
                // A symbolic link that replaced a directory during its removal is a single name.
                Kind::Link | Kind::File if name.ends_with(UNFINISHED) || name.ends_with(REMOVED) => {
                    place.remove_file(name)
                }
                _ => Ok(()),
            };
        }
    }
}

/// The process of a hidden file.
fn process(name: &str) -> Option<u32> {
    name.strip_prefix(OWN_PREFIX)?.split('-').next()?.parse().ok()
}
