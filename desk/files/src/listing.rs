//! The directory view: two levels, with sizes.

use std::io;

use crate::error::FileError;
use crate::path::{MOST_DEPTH, RelativePath};
use crate::place::{Kind, Place, Target, target};
use crate::reply::{Entries, Inner, Reply};
use crate::tree::{Tree, system};

/// The maximum number of names to read after the first requested entry; further entries are only counted. The same
/// maximum applies to the names that are read for the sizes of deeper directories. After this number of names, the
/// listing does not measure further directories: it shows `4K` for them and for their parents.
const MOST_LOOKS: usize = 20_000;
/// The maximum number of entries to skip before the first one shown.
const MOST_PASSED: usize = 1_000_000;
/// The displayed size of a directory itself.
const OWN_SIZE: &str = "4K";
/// The number of directory levels in a listing: the entries, and the entries of subdirectories.
const LEVELS: usize = 2;

/// Lists a directory, or a range of its entries, so that clients can page through it. Omits entries that disappear or
/// become unreadable during the listing.
pub(crate) fn listed(
    tree: &Tree,
    place: &Place,
    path: &RelativePath,
    range: Option<(i64, i64)>,
) -> Result<Reply, FileError> {
    let names = names(place).map_err(|error| system(path, &error))?;
    let (first, last) = range.unwrap_or((1, -1));
    let passed = usize::try_from(first.saturating_sub(1)).unwrap_or_default().min(MOST_PASSED);
    let mut listing = Listing {
        tree,
        prefix: path.prefix(),
        rows: Vec::new(),
        directories: Vec::new(),
        looks: MOST_LOOKS + passed,
        measures: MOST_LOOKS,
        unlisted: 0,
    };
    let size = listing.directory(place, names, path.relative(), "", 1);
    let Listing { prefix, rows: mut entries, directories, unlisted, .. } = listing;
    let count = entries.len();
    let last = usize::try_from(last).map_or(count, |last| last.clamp(passed.min(count), count));
    entries.truncate(last);
    entries.drain(..passed.min(last));
    let mut rows = vec![format!("{}\t{prefix}", said(size))];
    rows.append(&mut entries);
    let entries = Entries { first: passed + 1, after: count - last, unlisted, directories };
    let header = format!(
        "Here're the files and directories up to 2 levels deep in {}, excluding hidden items and node_modules:",
        path.spelled()
    );
    Ok(Reply::entries(header, rows, entries))
}

struct Listing<'a> {
    tree: &'a Tree,
    prefix: String,
    rows: Vec<String>,
    directories: Vec<Inner>,
    looks: usize,
    measures: usize,
    unlisted: usize,
}

impl Listing<'_> {
    /// Adds the rows of a directory; returns the bytes of all files, unless there are too many.
    fn directory(&mut self, place: &Place, names: Vec<String>, real: &str, shown: &str, level: usize) -> Option<u64> {
        let mut total = Some(0_u64);
        for name in names {
            let Some(looks) = self.looks.checked_sub(1) else {
                self.unlisted += 1;
                total = None;
                continue;
            };
            self.looks = looks;
            let Ok(facts) = place.facts(&name) else { continue };
            let shown = joined(shown, &name);
            let real = joined(real, &name);
            let added = match facts.kind {
                Kind::File => {
                    self.row(&readable(facts.stamp.size), &shown, "");
                    Some(facts.stamp.size)
                }
                Kind::Directory => {
                    let Ok(inner) = place.sub(&name) else { continue };
                    self.sub(&inner, &real, &shown, level)
                }
                Kind::Link => {
                    self.link(&real, &shown);
                    Some(0)
                }
                Kind::Other => Some(0),
            };
            total = total.zip(added).map(|(sum, added)| sum.saturating_add(added));
        }
        total
    }

    /// The row of a directory precedes the rows of its entries, and contains their total size.
    fn sub(&mut self, inner: &Place, real: &str, shown: &str, level: usize) -> Option<u64> {
        let at = self.rows.len();
        self.rows.push(String::new());
        let size = if level < LEVELS {
            let names = names(inner).unwrap_or_default();
            let entries = names.len();
            let size = self.directory(inner, names, real, shown, level + 1);
            let path = format!("{}/{shown}/", self.prefix);
            self.directories.push(Inner { path, entries, last: self.rows.len() });
            size
        } else {
            measured(inner, &mut self.measures, MOST_DEPTH)
        };
        if let Some(row) = self.rows.get_mut(at) {
            *row = format!("{}\t{}/{shown}/", said(size), self.prefix);
        }
        size
    }

    /// A link whose target is in the folder is shown, but not followed.
    fn link(&mut self, real: &str, shown: &str) {
        match target(self.tree.root(), real) {
            Target::File => self.row("0B", shown, ""),
            Target::Directory => self.row("0B", shown, "/"),
            Target::Nothing | Target::Outside => {}
        }
    }

    fn row(&mut self, size: &str, shown: &str, end: &str) {
        self.rows.push(format!("{size}\t{}/{shown}{end}", self.prefix));
    }
}

/// The size of a directory, if it is known.
fn said(size: Option<u64>) -> String {
    size.map_or_else(|| OWN_SIZE.to_owned(), readable)
}

/// The bytes of all files in a directory, unless there are too many.
fn measured(place: &Place, looks: &mut usize, depth: usize) -> Option<u64> {
    let depth = depth.checked_sub(1)?;
    let mut total = 0_u64;
    for name in names(place).unwrap_or_default() {
        *looks = looks.checked_sub(1)?;
        let Ok(facts) = place.facts(&name) else { continue };
        let added = match facts.kind {
            Kind::File => facts.stamp.size,
            Kind::Directory => match place.sub(&name) {
                Ok(inner) => measured(&inner, looks, depth)?,
                Err(_) => 0,
            },
            Kind::Link | Kind::Other => 0,
        };
        total = total.saturating_add(added);
    }
    Some(total)
}

/// The visible names, sorted.
fn names(place: &Place) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    place.each_name(&mut |name, _| {
        let is_hidden = name.starts_with('.') || name == "node_modules";
        if !is_hidden && !name.chars().any(|letter| letter.is_control() || letter == '\\') {
            names.push(name.to_owned());
        }
    })?;
    names.sort_unstable();
    Ok(names)
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}

/// A readable size: `0B`, `14B`, `4K`, `5.5K`, `1.2M`.
fn readable(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["B", "K", "M", "G"];
    let mut unit = 1_u64;
    let mut names = UNITS.iter();
    let mut name = names.next().copied().unwrap_or_default();
    for larger in names {
        if bytes / unit < 1024 {
            break;
        }
        unit *= 1024;
        name = larger;
    }
    if bytes.is_multiple_of(unit) {
        return format!("{}{name}", bytes / unit);
    }
    format!("{:.1}{name}", bytes as f64 / unit as f64)
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn spec_2_06_sizes_are_readable() {
        let said: Vec<String> =
            [0, 14, 1023, 1024, 4096, 5632, 1_258_291, 1 << 20, 3 << 30, 5 << 40].map(readable).into_iter().collect();
        assert_eq!(said, ["0B", "14B", "1023B", "1K", "4K", "5.5K", "1.2M", "1M", "3G", "5120G"]);
    }
}
