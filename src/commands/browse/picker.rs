//! The state of the picker: the question, the memories found, and the chosen one.

use std::collections::{BTreeMap, BTreeSet};

use tessera_desk::Desk;
use tessera_desk::use_cases::{List, NewerOf};
use tessera_engine::Timestamp;
use tessera_engine::domain::{MAX_LIMIT, Memory, RecallRequest, ShortId};
use tessera_engine::store::Newer;

use crate::commands::matches::matches;

/// The number of pages of the newest memories that are searched for parts of words.
const PAGES: u32 = 10;

/// What the picker shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// The question and the list.
    List,
    /// One memory.
    Shown,
    /// The question whether to delete a memory.
    Delete,
}

/// The state.
pub(super) struct Picker {
    pub(super) question: String,
    pub(super) found: Vec<Memory>,
    pub(super) newer: BTreeMap<ShortId, Newer>,
    pub(super) at: usize,
    pub(super) mode: Mode,
    /// The mode to which the user returns from the question whether to delete.
    before: Mode,
    /// True if the chosen text is printed.
    pub(super) prints: bool,
    /// The result of the last action.
    pub(super) told: String,
    pub(super) now: Timestamp,
    /// The memories that this picker changed, each with the number of the change.
    pub(super) changes: Vec<(ShortId, u64)>,
    /// True if the question changed, so that the best match is chosen.
    is_new: bool,
    /// The newest memories.
    newest: Vec<Memory>,
}

impl Picker {
    pub(super) fn new(desk: &mut Desk<'_>, question: String, prints: bool, now: Timestamp) -> anyhow::Result<Self> {
        let (found, newest, newer) = (Vec::new(), Vec::new(), BTreeMap::new());
        let mut picker = Self {
            question,
            found,
            newer,
            at: 0,
            mode: Mode::List,
            before: Mode::List,
            prints,
            told: String::new(),
            now,
            newest,
            changes: Vec::new(),
            is_new: true,
        };
        picker.search(desk)?;
        Ok(picker)
    }

    /// Reads the store again, and answers the question.
    pub(super) fn search(&mut self, desk: &mut Desk<'_>) -> anyhow::Result<()> {
        self.newest = newest(desk)?;
        self.find(desk)
    }

    /// Memories that recall finds come first. A word may be unfinished, so memories that contain all typed parts of
    /// words follow.
    fn find(&mut self, desk: &mut Desk<'_>) -> anyhow::Result<()> {
        let parts: Vec<String> = self.question.split_whitespace().map(str::to_lowercase).collect();
        let mut found = if parts.is_empty() { Vec::new() } else { matches(desk, RecallRequest::new(&self.question))? };
        let known: BTreeSet<ShortId> = found.iter().map(|memory| memory.short_id).collect();
        let contains = |memory: &&Memory| {
            let text = memory.content.to_lowercase();
            !known.contains(&memory.short_id) && parts.iter().all(|part| text.contains(part))
        };
        found.extend(self.newest.iter().filter(contains).cloned());
        let chosen = self.chosen().map(|memory| memory.short_id);
        self.newer = desk.perform(NewerOf { ids: found.iter().map(|memory| memory.short_id).collect() })?;
        self.found = found;
        // Another program may have stored a memory above the chosen one.
        let place = self.found.iter().position(|memory| Some(memory.short_id) == chosen);
        self.at = place.filter(|_| !self.is_new).unwrap_or(self.at).min(self.found.len().saturating_sub(1));
        self.is_new = false;
        Ok(())
    }

    pub(super) fn type_char(&mut self, desk: &mut Desk<'_>, c: char) -> anyhow::Result<()> {
        self.question.push(c);
        self.begin_again(desk)
    }

    /// Adds a pasted text to the question, as one line.
    pub(super) fn paste(&mut self, desk: &mut Desk<'_>, text: &str) -> anyhow::Result<()> {
        if self.mode != Mode::List {
            return Ok(());
        }
        self.question.extend(text.chars().map(|c| if c.is_control() { ' ' } else { c }));
        self.begin_again(desk)
    }

    pub(super) fn erase(&mut self, desk: &mut Desk<'_>) -> anyhow::Result<()> {
        self.question.pop();
        self.begin_again(desk)
    }

    pub(super) fn clear(&mut self, desk: &mut Desk<'_>) -> anyhow::Result<()> {
        self.question.clear();
        self.begin_again(desk)
    }

    fn begin_again(&mut self, desk: &mut Desk<'_>) -> anyhow::Result<()> {
        (self.at, self.is_new) = (0, true);
        self.told.clear();
        self.find(desk)
    }

    pub(super) fn step(&mut self, rows: isize) {
        self.at = self.at.saturating_add_signed(rows).min(self.found.len().saturating_sub(1));
    }

    /// Changes what is shown, if there is a chosen memory.
    pub(super) fn enter(&mut self, mode: Mode) {
        if self.chosen().is_some() || mode == Mode::List {
            self.before = self.mode;
            self.mode = mode;
        }
    }

    /// Returns from a memory to the list, or from a question to what was shown before.
    pub(super) fn back(&mut self) {
        self.mode = if self.mode == Mode::Delete { self.before } else { Mode::List };
    }

    pub(super) fn chosen(&self) -> Option<&Memory> {
        self.found.get(self.at)
    }

    /// Shows the result of an action.
    pub(super) fn tell(&mut self, told: anyhow::Result<String>) {
        self.told = told.unwrap_or_else(|error| error.to_string());
    }
}

fn newest(desk: &mut Desk<'_>) -> anyhow::Result<Vec<Memory>> {
    let (mut all, mut after) = (Vec::new(), None);
    for _ in 0..PAGES {
        let listing = desk.perform(List { limit: MAX_LIMIT, after, ..List::default() })?;
        all.extend(listing.memories);
        match listing.next {
            Some(next) => after = Some(next.into()),
            None => break,
        }
    }
    Ok(all)
}
