//! Compares the category and the scope that Tessera derives for a note with those that a careful person would choose.

use serde::Serialize;
use tessera_desk::{Caller, Project};
use tessera_engine::compose::categories::class_of;
use tessera_engine::domain::{Memory, Origin, Scope};

use crate::EvalError;
use crate::worlds::WorldNote;

/// How many notes get the right category and scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, schemars::JsonSchema)]
pub struct Filing {
    /// The notes.
    pub notes: u32,
    /// Those with the right one of three categories: people, preferences, or the rest.
    pub categories: u32,
    /// Those with the right scope: their project, or global.
    pub scopes: u32,
}

impl Filing {
    /// Counts a note that was stored as this memory. Its scope is that of a person who types the note in its project.
    ///
    /// # Errors
    /// Returns an error if the note's project is not a valid name.
    pub(crate) fn add(&mut self, note: &WorldNote, memory: &Memory) -> Result<(), EvalError> {
        let scope = Some(note.scope()?).filter(|scope| *scope != Scope::Global);
        let project = scope.map(|scope| Project { scope, dir: note.id.clone().into() });
        let caller = Caller { project, ..Caller::new(Origin::User) };
        let is_global = caller.default_scope(&note.text, None) == Scope::Global;
        self.notes += 1;
        self.categories +=
            u32::from(class_of(&note.category.parse().unwrap_or_default()) == class_of(&memory.category));
        self.scopes += u32::from(is_global == (note.scope == "global"));
        Ok(())
    }

    /// Adds the figures of another set.
    pub fn with(&mut self, other: Self) {
        self.notes += other.notes;
        self.categories += other.categories;
        self.scopes += other.scopes;
    }
}
