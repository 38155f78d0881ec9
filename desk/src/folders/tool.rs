//! The memory tool: six commands on the files of a folder, with the wording that models were trained on. Written texts
//! are screened first, and recorded with the caller as author.

use std::borrow::Cow;

use serde_json::Value;
use tessera_engine::Store;
use tessera_engine::domain::{FilePath, MemoryUuid, TokenBudget};
use tessera_engine::screen::{Secret, dropped_in_lines, findings};
use tessera_engine::store::{Intent, MEMORIES, StoreError};
use tessera_engine::text::{O200k, TokenCounter};
use tessera_files::{Change, Command, FileError, Limits, Prepared, RelativePath, Reply, Tree, prepare};
use xxhash_rust::xxh3::xxh3_64;

use super::aside;
use super::read::{held_to_write, note_memories, seen};
use super::refresh::refresh_held;
use crate::caller::Caller;
use crate::desk::{Effect, UseCase};

/// The maximum number of directories that the end of a listing names. The limits are tried in this order, and the first
/// one that leaves enough room for the entries is used.
const NAMED: [usize; 4] = [8, 3, 1, 0];
/// The length in bytes of the longest token of o200k_base.
const LONGEST_TOKEN: usize = 128;
/// The last line of a listing may use only a part of the tokens: the total divided by this number.
const ENDS_IN: u32 = 3;

/// The settings of the memory tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileRules {
    /// True if `create` may overwrite a file; the history keeps the old text.
    pub overwrite: bool,
    /// The maximum size of a written file.
    pub most_bytes: u64,
    /// Tokens of a reply.
    pub max_tokens: u32,
}

impl Default for FileRules {
    fn default() -> Self {
        Self { overwrite: false, most_bytes: Limits::USUAL.most_bytes, max_tokens: 8_000 }
    }
}

/// Runs one command of the memory tool.
#[derive(Debug, Clone, PartialEq)]
pub struct FileCommand {
    /// The command as a client sends it.
    pub command: Value,
    /// The rules for it.
    pub rules: FileRules,
}

/// The reply of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolReply {
    /// The text.
    pub text: String,
    /// True where it was not done.
    pub is_error: bool,
}

impl UseCase for FileCommand {
    type Outcome = ToolReply;
    const EFFECT: Effect = Effect::Destroys;

    fn run(mut self, store: &mut Store, caller: &Caller) -> Result<ToolReply, StoreError> {
        // The budget uses the reader's tokens; from here on, o200k_base tokens are counted.
        self.rules.max_tokens = match TokenBudget::try_from(self.rules.max_tokens) {
            Ok(budget) => caller.profile.to_o200k(budget).0,
            Err(_) => self.rules.max_tokens,
        };
        match run(store, caller, &self) {
            Ok(text) => Ok(ToolReply { text, is_error: false }),
            Err(Failed::File(error)) => Ok(self.refused(&error.to_string())),
            Err(Failed::Path(kind)) => {
                Ok(self
                    .refused(&format!("path: contains a {kind}, and Tessera does not encrypt paths; use another path")))
            }
            Err(Failed::Store(error)) => Err(error),
        }
    }
}

impl FileCommand {
    /// The error, within the budget.
    fn refused(&self, why: &str) -> ToolReply {
        ToolReply { text: clipped(why, self.rules.max_tokens), is_error: true }
    }
}

enum Failed {
    File(FileError),
    /// A path contains a credential of this kind.
    Path(String),
    Store(StoreError),
}

impl From<FileError> for Failed {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

fn run(store: &mut Store, caller: &Caller, asked: &FileCommand) -> Result<String, Failed> {
    let mut command = Command::from_json(&asked.command)?;
    let tree = Tree::create(&store.home().memories(), MEMORIES)?;
    note_memories(store)?;
    let limits = Limits { most_bytes: asked.rules.most_bytes, overwrite: asked.rules.overwrite, ..Limits::USUAL };
    if !command.writes() {
        let mut shown = prepare(&tree, &command, &limits)?;
        mask(&mut shown);
        let shown = within(&shown.reply, asked.rules.max_tokens);
        note_shown(store, &tree, &command)?;
        return Ok(shown);
    }
    refuse_credentials(&tree, &command)?;
    let _held = held_to_write(store)?;
    // Manual edits belong to the user.
    refresh_held(store)?;
    let mut secrets = screened(store, &tree, &mut command)?;
    let lock = tree.lock()?;
    let mut prepared = prepare(&tree, &command, &limits)?;
    mask(&mut prepared);
    keep_what_is_not_kept(store, &command, &prepared)?;
    screen_what_comes_together(store, &mut prepared, &mut secrets)?;
    let aside = told(&secrets.found);
    let rest = asked.rules.max_tokens.saturating_sub(O200k.count(&aside));
    let reply = within(&prepared.reply, rest);
    carry_out(store, caller, &tree, &lock, prepared, secrets)?;
    Ok(reply + &aside)
}

/// Hides credentials in shown lines. The whole text is scanned, because a credential may span lines.
fn mask(prepared: &mut Prepared) {
    let written = prepared.changes.iter().find_map(|change| match change {
        Change::Write { text, .. } => Some(text),
        _ => None,
    });
    let Some(text) = prepared.text.as_ref().or(written) else { return };
    let Cow::Owned(clean) = dropped_in_lines(text) else { return };
    let lines: Vec<&str> = clean.split('\n').collect();
    for row in &mut prepared.reply.rows {
        let line = row.split_once('\t').and_then(|(number, _)| {
            let at = number.trim().parse::<usize>().ok()?.checked_sub(1)?;
            Some(format!("{number}\t{}", lines.get(at)?.trim_end_matches('\r')))
        });
        if let Some(line) = line {
            *row = line;
        }
    }
}

/// Records that a file was shown, for `tessera files unread`.
fn note_shown(store: &Store, tree: &Tree, command: &Command) -> Result<(), Failed> {
    for path in command.paths() {
        let path = tree.path(path)?;
        if !path.is_root() {
            store.note_file_shown(&FilePath::new(path.folder(), path.relative()).map_err(StoreError::from)?)?;
        }
    }
    Ok(())
}

/// The redacted secrets of a written text, encrypted for the memory of the file.
#[derive(Default)]
struct Sealed {
    memory: Option<MemoryUuid>,
    found: Vec<Secret>,
}

impl Sealed {
    /// The UUID of a file's memory. The UUID stays the same during one command, also for a new file.
    fn memory(&mut self, store: &Store, path: &RelativePath) -> Result<MemoryUuid, StoreError> {
        let id = match self.memory {
            Some(id) => id,
            None => store.file_memory(&file_path(path)?)?.unwrap_or_else(|| MemoryUuid::generate(store.now())),
        };
        self.memory = Some(id);
        Ok(id)
    }
}

/// Copies a file that is not stored completely before it is overwritten.
fn keep_what_is_not_kept(store: &Store, command: &Command, prepared: &Prepared) -> Result<(), Failed> {
    for change in &prepared.changes {
        if let (Command::Create { .. }, Change::Write { path, before: Some(_), .. }) = (command, change) {
            let known = store.file_at(&file_path(path)?)?;
            if !known.is_some_and(|file| file.is_kept) {
                return Err(FileError::Exists { path: path.spelled().to_owned() }.into());
            }
        }
    }
    Ok(())
}

/// A credential may be recognisable only with its context in the file. Hand-written credentials stay.
fn screen_what_comes_together(store: &Store, prepared: &mut Prepared, secrets: &mut Sealed) -> Result<(), Failed> {
    for change in &mut prepared.changes {
        let Change::Write { path, text, before_text, .. } = change else { continue };
        let before = before_text.as_deref().unwrap_or_default();
        let is_new = |span| text.get(span).is_some_and(|value: &str| !before.contains(value));
        let Some(new) = findings(text).into_iter().find(|finding| is_new(finding.span.clone())) else { continue };
        if !findings(before).is_empty() {
            return Err(StoreError::Credential { field: "file", kind: new.kind.as_str().to_owned() }.into());
        }
        let (clean, found) = store.screened_for_file(text, secrets.memory(store, path)?)?;
        *text = clean;
        secrets.found.extend(found);
    }
    Ok(())
}

/// Rejects paths with a credential, because paths are visible.
fn refuse_credentials(tree: &Tree, command: &Command) -> Result<(), Failed> {
    for path in command.paths() {
        tree.path(path)?;
        if let Some(finding) = findings(path).first() {
            let kind = finding.kind.as_str().to_owned();
            return Err(Failed::Path(kind));
        }
    }
    Ok(())
}

/// Redacts credentials in a written text.
fn screened(store: &Store, tree: &Tree, command: &mut Command) -> Result<Sealed, Failed> {
    let mut secrets = Sealed::default();
    let Some(path) = command.paths().first().map(|path| tree.path(path)).transpose()? else { return Ok(secrets) };
    if path.is_root() {
        return Ok(secrets);
    }
    for text in command.texts_mut() {
        let (clean, found) = store.screened_for_file(text, secrets.memory(store, &path)?)?;
        *text = clean;
        secrets.found.extend(found);
    }
    Ok(secrets)
}

/// The message about redacted secrets.
fn told(secrets: &[Secret]) -> String {
    let said = secrets.iter().map(|secret| {
        format!("\n[secret {}: {}] replaces a credential, which was encrypted.", secret.name, secret.kind)
    });
    said.collect()
}

fn carry_out(
    store: &mut Store,
    caller: &Caller,
    tree: &Tree,
    lock: &tessera_files::Lock,
    prepared: Prepared,
    mut secrets: Sealed,
) -> Result<(), Failed> {
    let (mut intents, mut moves, mut gone) = (Vec::new(), Vec::new(), Vec::new());
    for change in &prepared.changes {
        match change {
            Change::Write { path, text, .. } => {
                let (hash, memory) = (xxh3_64(text.as_bytes()), secrets.memory(store, path)?);
                intents.push(Intent { path: file_path(path)?, hash, memory, secrets: secrets.found.clone() });
            }
            Change::Move { from, to, .. } => moves.push((file_path(from)?, file_path(to)?)),
            Change::Remove { path: inside, .. } => {
                let path = file_path(inside)?;
                aside::keep(store, tree, &path, inside)?;
                gone.push(path);
            }
        }
    }
    let actor = caller.actor(None);
    if !intents.is_empty() {
        store.intend(&intents, &actor)?;
    }
    let mut files = Vec::new();
    for (path, file) in prepared.commit_under(tree, lock)?.written {
        files.extend(seen(file_path(&path)?, file));
    }
    store.move_files(&moves, &actor)?;
    if !gone.is_empty() {
        store.files_gone(&gone, &actor)?;
    }
    let taken = store.take_files(&files)?;
    aside::outdo(store, &taken)?;
    Ok(())
}

/// A path in the canonical form.
fn file_path(path: &RelativePath) -> Result<FilePath, StoreError> {
    Ok(FilePath::new(path.folder(), path.relative())?)
}

/// Returns the beginning of a text that fits into a number of tokens.
fn clipped(text: &str, most: u32) -> String {
    if text.len() <= most as usize * LONGEST_TOKEN && O200k.count(text) <= most {
        return text.to_owned();
    }
    let with_mark = |bytes: usize| format!("{}…", text.get(..text.floor_char_boundary(bytes)).unwrap_or_default());
    with_mark(most_that_fits(text.len(), |bytes| O200k.count(&with_mark(bytes)) <= most))
}

/// Returns the largest number below `too_much` for which the text fits, or 0. The search begins with small numbers, so
/// its cost depends on the result and not on the total.
fn most_that_fits(too_much: usize, is_fit: impl Fn(usize) -> bool) -> usize {
    let (mut fits, mut too_much) = (0, too_much);
    let mut next = 64;
    while next < too_much {
        if is_fit(next) {
            (fits, next) = (next, next * 2);
        } else {
            too_much = next;
        }
    }
    while fits + 1 < too_much {
        let middle = usize::midpoint(fits, too_much);
        if is_fit(middle) { fits = middle } else { too_much = middle }
    }
    fits
}

/// Shortens the reply to a number of tokens. A shortened reply says what is missing and how to see it.
fn within(reply: &Reply, most: u32) -> String {
    let text = reply.text();
    // A token has at least one byte, and at most this many.
    if text.len() <= most as usize || text.len() <= most as usize * LONGEST_TOKEN && O200k.count(&text) <= most {
        return text;
    }
    // Names fewer directories if they would displace entries.
    let mut cut = String::new();
    for named in NAMED {
        cut = cut_within(&reply.clone().naming(named), most);
        let end = cut.rfind('\n').and_then(|at| cut.get(at..)).unwrap_or_default();
        if named == 0 || O200k.count(&cut) <= most && O200k.count(end) <= most / ENDS_IN {
            break;
        }
    }
    // The budget holds even without room for the header.
    clipped(&cut, most)
}

/// The first rows of a long reply.
fn cut_within(reply: &Reply, most: u32) -> String {
    let is_within = |text: &str| O200k.count(text) <= most;
    let rows = most_that_fits(reply.rows.len(), |rows| is_within(&reply.first(rows, 0)));
    if rows > 0 || is_within(&reply.first(0, 0)) && reply.rows.first().is_none_or(|row| row.len() < 64) {
        return reply.first(rows, 0);
    }
    let longest = reply.rows.first().map_or(0, String::len);
    reply.first(0, most_that_fits(longest, |bytes| is_within(&reply.first(0, bytes))))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_cut_is_found_without_looking_at_much_more_than_fits() {
        for fits in [0, 1, 63, 64, 65, 5_000, 8_000_000] {
            let looked_at = Cell::new(0);
            let found = most_that_fits(8_388_608, |bytes| {
                looked_at.set(looked_at.get().max(bytes));
                bytes <= fits
            });
            assert_eq!(found, fits);
            assert!(looked_at.get() <= 2 * fits.max(64), "{} for {fits}", looked_at.get());
        }
    }
}
