//! Memories as a person names them: by ID, by UUID, or by the path of a file.

use std::str::FromStr;

use tessera_engine::Store;
use tessera_engine::domain::{DomainError, FilePath, InFile, MemoryRef, MemoryUuid};
use tessera_engine::store::StoreError;

use crate::caller::Caller;
use crate::desk::{Effect, UseCase};

/// A memory, or a file by its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Named {
    /// By its ID or UUID.
    Memory(MemoryRef),
    /// The memory of the file at a path.
    File(FilePath),
    /// A memory imported from another system, by its ID there.
    Older(String),
}

impl FromStr for Named {
    type Err = DomainError;

    fn from_str(text: &str) -> Result<Self, DomainError> {
        let text = text.trim();
        // IDs and UUIDs contain no slash, and paths do not begin with a dot.
        if !text.contains('/') || text.starts_with('.') {
            let older = MemoryUuid::of_older(text).map(|_| Ok(Self::Older(text.to_owned())));
            return older.unwrap_or_else(|| text.parse().map(Self::Memory));
        }
        let path = if text.starts_with('/') { text.parse() } else { format!("/{text}").parse() };
        path.map(Self::File)
    }
}

impl From<MemoryRef> for Named {
    fn from(reference: MemoryRef) -> Self {
        Self::Memory(reference)
    }
}

/// Resolves names to memories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meant {
    /// The names.
    pub named: Vec<Named>,
}

impl UseCase for Meant {
    type Outcome = Vec<MemoryRef>;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Vec<MemoryRef>, StoreError> {
        let meant = |named: Named| match named {
            Named::Memory(reference) => Ok(reference),
            Named::Older(name) => imported_memory(store, name),
            Named::File(path) => match store.file_memory(&path)? {
                Some(id) => Ok(MemoryRef::Id(id)),
                None => Err(StoreError::InFile { path, problem: "is not a known file".to_owned() }),
            },
        };
        self.named.into_iter().map(meant).collect()
    }
}

fn imported_memory(store: &Store, name: String) -> Result<MemoryRef, StoreError> {
    let reference = MemoryUuid::of_older(&name).map(MemoryRef::Id);
    match reference {
        Some(reference) if store.get(reference)?.is_some() => Ok(reference),
        _ => Err(StoreError::NotCameOver(name)),
    }
}

/// Finds the positions of memories in files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WhereInFiles {
    /// The memories.
    pub ids: Vec<MemoryUuid>,
}

/// The position of a memory in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePosition {
    /// The file, and the heading above it.
    pub file: InFile,
    /// Its lines, from 1; `None` for a whole file, and for a part that is no longer there.
    pub lines: Option<(u32, u32)>,
    /// True for a whole file that its memory does not contain completely, because it is too long or contains a
    /// credential.
    pub lacks_some: bool,
}

impl std::fmt::Display for FilePosition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.file.path)?;
        match self.lines {
            Some((first, last)) if first == last => write!(f, ", line {first}")?,
            Some((first, last)) => write!(f, ", lines {first} to {last}")?,
            None if self.file.is_whole => {}
            None => f.write_str(", deleted")?,
        }
        match &self.file.heading {
            Some(heading) => write!(f, ", under {heading}"),
            None => Ok(()),
        }
    }
}

impl UseCase for WhereInFiles {
    type Outcome = Vec<Option<FilePosition>>;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Vec<Option<FilePosition>>, StoreError> {
        let position = |id: MemoryUuid| {
            let file = store.get(MemoryRef::Id(id))?.and_then(|memory| memory.file);
            let Some(file) = file else { return Ok(None) };
            let lines = store.part(id)?.map(|part| part.lines);
            let lacks_some = file.is_whole && store.note_of(id)?.is_some_and(|note| !note.file.is_kept);
            Ok(Some(FilePosition { file, lines, lacks_some }))
        };
        self.ids.into_iter().map(position).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_is_named_by_number_id_or_path() {
        let path = Named::File("/memories/user/x.md".parse().unwrap());
        assert_eq!("/memories/user/x.md".parse(), Ok(path.clone()));
        assert_eq!(" memories/user/x.md".parse(), Ok(path));
        assert_eq!("#42".parse(), Ok(Named::Memory("42".parse().unwrap())));
        assert_eq!("mem_abc123".parse(), Ok(Named::Older("mem_abc123".into())));
        for bad in ["", "x.md", "../../x", "/", "/memories", "memories/../x", "/memories//x"] {
            assert!(bad.parse::<Named>().is_err(), "{bad:?}");
        }
    }
}
