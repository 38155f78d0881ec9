//! The plugins of a home directory: which were added, their failures, and their log.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use tessera_engine::domain::Timestamp;
use tessera_engine::store::{Home, lock, make_private_dir, private_file, replace, try_lock};
use tessera_plugins::{Body, Event, Failure, Name, Plugin, Registry, When};

use super::plugin::PluginLink;
use crate::files::read_small;
use crate::log;

/// The number of failures in a row that disables a plugin.
pub const MOST_FAILURES: u32 = 5;
/// If the counter file reaches this size, it is compacted.
const MOST_COUNTED: u64 = 64 * 1024;

/// The results of a plugin's calls since it was added.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counted {
    /// Calls that failed.
    pub failures: u32,
    /// Failures since the last successful call.
    pub in_a_row: u32,
}

impl Counted {
    /// True if it is disabled.
    pub fn is_off(self) -> bool {
        self.in_a_row >= MOST_FAILURES
    }
}

/// The plugins of a home.
#[derive(Debug, Clone)]
pub struct Installed {
    home: Home,
    registry: Registry,
    counts: BTreeMap<String, Counted>,
    at: Timestamp,
}

impl Installed {
    /// The plugins of a home directory; `None` if there are none, or they cannot be read.
    pub fn read(home: &Home, at: Timestamp) -> Option<Self> {
        let registry = Registry::read(read_small(&home.plugin_registry()).ok()?.as_bytes())?;
        if registry.plugins.is_empty() {
            return None;
        }
        let counts = counts(&read_small(&home.plugin_counts()).unwrap_or_default());
        Some(Self { home: home.clone(), registry, counts, at })
    }

    /// Each plugin, with its results.
    pub fn plugins(&self) -> impl Iterator<Item = (&Plugin, Counted)> {
        self.registry.plugins.iter().map(|plugin| (plugin, self.counted(&plugin.manifest.name)))
    }

    fn counted(&self, name: &Name) -> Counted {
        self.counts.get(name.as_str()).copied().unwrap_or_default()
    }

    /// The plugins for an event.
    pub(super) fn links(&self, event: Event, when: When) -> impl Iterator<Item = PluginLink<'_>> {
        let is_on = |plugin: &&Plugin| !self.counted(&plugin.manifest.name).is_off();
        self.registry.wanting(event, when).filter(is_on).map(|plugin| PluginLink { plugin, installed: self })
    }

    /// The working directory of a plugin's program, created if missing.
    pub(super) fn data_dir(&self, plugin: &Plugin) -> PathBuf {
        let dir = self.home.plugin_data(plugin.manifest.name.as_str());
        if matches!(plugin.body, Body::Command { .. }) && !dir.is_dir() {
            // Without a directory the program cannot start, which is logged.
            let _ = make_private_dir(&dir);
        }
        dir
    }

    pub(super) fn failed(&self, name: &Name, failure: &Failure) {
        self.note(name, &format!("failed: {failure}"));
        // Among simultaneous failures, exactly one is the last allowed one.
        if self.count(name, '-').is_some_and(|counted| counted.in_a_row == MOST_FAILURES) {
            self.note(name, &switched_off(name));
        }
    }

    pub(super) fn went_well(&self, name: &Name) {
        if self.counted(name).in_a_row > 0 {
            self.count(name, '+');
        }
    }

    /// Adds a line to the plugin log.
    pub(super) fn note(&self, name: &Name, text: &str) {
        log::append(&self.home.plugin_log(), &self.home.plugin_log_old(), self.at, &format!("{name} {text}"));
    }

    /// Counts a call by appending a short line in one write. Returns the results including this call.
    fn count(&self, name: &Name, how: char) -> Option<Counted> {
        let path = self.home.plugin_counts();
        let line = format!("{how}{name}\n");
        let appended = private_file().create(true).append(true).open(&path).and_then(|mut file| {
            file.write_all(line.as_bytes())?;
            file.stream_position()
        });
        let end = appended.inspect_err(|error| tracing::debug!(%error, "a plugin call was not counted")).ok()?;
        let text = read_small(&path).ok()?;
        let until = usize::try_from(end).ok().and_then(|end| text.get(..end)).unwrap_or(&text);
        let counted = counts(until).get(name.as_str()).copied();
        if end >= MOST_COUNTED {
            self.fold_counts();
        }
        counted
    }

    /// Compacts a long counter file to one line per plugin. A result that another process counts at the same moment may
    /// be lost.
    fn fold_counts(&self) {
        let path = self.home.plugin_counts();
        if let Ok(Some(_turn)) = try_lock(&self.home.plugin_lock()) {
            let counts = counts(&read_small(&path).unwrap_or_default());
            // If this fails, the next call tries again.
            let _ = replace(&path, folded(&counts).as_bytes());
        }
    }
}

/// The message for a disabled plugin.
pub fn switched_off(name: &Name) -> String {
    format!(
        "is disabled, because it failed {MOST_FAILURES} times in a row; see `tessera plugin log {name}`, and add it \
        again to enable it"
    )
}

/// Parses the counters. `-NAME` is a failed call, `+NAME` is the first success after failed calls, and `=NAME FAILURES
/// IN_A_ROW` contains the counters of all earlier lines.
fn counts(text: &str) -> BTreeMap<String, Counted> {
    let mut counts: BTreeMap<String, Counted> = BTreeMap::new();
    for line in text.lines() {
        let (how, rest) = line.split_at_checked(1).unwrap_or_default();
        let mut words = rest.split(' ');
        let counted = counts.entry(words.next().unwrap_or_default().to_owned()).or_default();
        let mut number = || words.next().and_then(|word| word.parse().ok()).unwrap_or_default();
        match how {
            "-" => {
                *counted = Counted {
                    failures: counted.failures.saturating_add(1),
                    in_a_row: counted.in_a_row.saturating_add(1),
                }
            }
            "+" => counted.in_a_row = 0,
            "=" => *counted = Counted { failures: number(), in_a_row: number() },
            _ => {}
        }
    }
    counts
}

/// The same in a line each.
fn folded(counts: &BTreeMap<String, Counted>) -> String {
    let line = |(name, counted): (&String, &Counted)| format!("={name} {} {}\n", counted.failures, counted.in_a_row);
    counts.iter().map(line).collect()
}

/// Adds a plugin, replaces one with the same name, and resets its counters.
///
/// # Errors
/// Returns an error if it cannot be written.
pub fn add(home: &Home, plugin: Plugin) -> io::Result<()> {
    let (name, is_module) = (plugin.manifest.name.clone(), matches!(plugin.body, Body::Wasm(_)));
    changed(home, |registry| {
        registry.add(plugin);
        Some(name.clone())
    })?;
    if !is_module {
        remove_module(home, &name);
    }
    Ok(())
}

/// Removes a plugin, with the copy of its module. `false` if it does not exist.
///
/// # Errors
/// Returns an error if it cannot be written.
pub fn remove(home: &Home, name: &Name) -> io::Result<bool> {
    if !home.plugins().is_dir() {
        return Ok(false);
    }
    let is_removed = changed(home, |registry| registry.remove(name).map(|plugin| plugin.manifest.name))?;
    if is_removed {
        remove_module(home, name);
    }
    Ok(is_removed)
}

/// Deletes the copy of a module, if there is one. If the copy cannot be deleted, it is harmless, because the registry
/// no longer lists it.
fn remove_module(home: &Home, name: &Name) {
    let _ = fs::remove_file(module_path(home, name));
}

/// The path of a plugin's module copy.
pub(super) fn module_path(home: &Home, name: &Name) -> PathBuf {
    home.plugins().join(format!("{name}.wasm"))
}

/// Adds the file name to a system error.
pub(super) fn at(path: &Path) -> impl FnOnce(io::Error) -> io::Error {
    move |error| io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Changes the registry, and resets the plugin's counters.
fn changed(home: &Home, change: impl FnOnce(&mut Registry) -> Option<Name>) -> io::Result<bool> {
    let (path, counted, turn) = (home.plugin_registry(), home.plugin_counts(), home.plugin_lock());
    let _lock = lock(&turn).map_err(at(&turn))?;
    let unreadable = || {
        io::Error::other(
            "cannot be read; perhaps a newer version of Tessera wrote it; move the file away, and add the plugins \
            again",
        )
    };
    let mut registry = match read_small(&path) {
        Ok(text) => Registry::read(text.as_bytes()).ok_or_else(unreadable).map_err(at(&path))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Registry::default(),
        Err(error) => return Err(at(&path)(error)),
    };
    let Some(name) = change(&mut registry) else { return Ok(false) };
    let mut counts = counts(&read_small(&counted).unwrap_or_default());
    if counts.remove(name.as_str()).is_some() {
        replace(&counted, folded(&counts).as_bytes()).map_err(at(&counted))?;
    }
    replace(&path, &registry.to_bytes()).map_err(at(&path))?;
    Ok(true)
}

/// True if there is a registry that cannot be read.
pub fn is_unreadable(home: &Home) -> bool {
    match read_small(&home.plugin_registry()) {
        Ok(text) => Registry::read(text.as_bytes()).is_none(),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// Modules in the plugin directory that were never added.
pub fn never_added(home: &Home, names: &[String]) -> Vec<String> {
    let files = fs::read_dir(home.plugins()).into_iter().flatten().flatten();
    let files = files.filter_map(|entry| entry.file_name().into_string().ok());
    let is_other =
        |file: &String| file.strip_suffix(".wasm").is_some_and(|name| !names.iter().any(|known| known == name));
    let mut found: Vec<String> = files.filter(is_other).collect();
    found.sort();
    found
}

/// A disabled plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Off {
    /// Its name.
    pub name: Name,
    /// Failed calls since it was added.
    pub failures: u32,
}

/// The disabled plugins.
pub fn off(home: &Home) -> Vec<Off> {
    let Some(installed) = Installed::read(home, Timestamp::from_micros(0)) else { return Vec::new() };
    let off = installed.plugins().filter(|(_, counted)| counted.is_off());
    off.map(|(plugin, counted)| Off { name: plugin.manifest.name.clone(), failures: counted.failures }).collect()
}

/// The lines of the log, oldest first; if `of` is given, only those of one plugin.
pub fn log_lines(home: &Home, of: Option<&Name>) -> Vec<String> {
    let files = [home.plugin_log_old(), home.plugin_log()];
    let lines = files.iter().filter_map(|path| fs::read(path).ok()).flat_map(|bytes| {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    });
    let is_of = |line: &String| {
        let name = line.split(' ').nth(1);
        of.is_none_or(|of| name == Some(of.as_str()))
    };
    lines.filter(is_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_in_a_row_are_counted_anew_after_a_call_that_went_well() {
        let text = "-a\n-a\n-b\n+a\n-a\n\nx\n-b\n-b\n-b\n-b\n";
        let counted = counts(text);
        assert_eq!(counted["a"], Counted { failures: 3, in_a_row: 1 });
        assert!(counted["b"].is_off() && !counted["a"].is_off());
        assert_eq!(counts(&format!("{}+b\n", folded(&counted)))["b"], Counted { failures: 5, in_a_row: 0 });
        assert_eq!(counts(&folded(&counted)), counted);
    }
}
