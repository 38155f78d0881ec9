//! Errors about files, in the words of the original memory tool, which models know from their training. No message
//! contains a path of this machine; paths appear as the caller spelled them.

use std::io;

/// Why a command was rejected or failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// A required argument is missing.
    #[error("{name}: is missing")]
    Missing {
        /// The argument.
        name: &'static str,
    },
    /// An argument has the wrong type.
    #[error("{name}: {why}")]
    Argument {
        /// The argument.
        name: &'static str,
        /// The expected value.
        why: &'static str,
    },
    /// No command has this name.
    #[error("Unknown command: {command}. The commands are view, create, str_replace, insert, delete and rename")]
    UnknownCommand {
        /// The requested value.
        command: String,
    },
    /// The path does not belong to this folder.
    #[error("Path must start with /{folder}, got: {path}")]
    Outside {
        /// The folder's name.
        folder: String,
        /// As spelled.
        path: String,
    },
    /// The path leads out of the folder, or contains a disguised `..` that other programs could read as `..`.
    #[error("Path {path} would escape /{folder} directory")]
    Escape {
        /// The folder's name.
        folder: String,
        /// As spelled.
        path: String,
    },
    /// A symbolic link in the path leaves the folder.
    #[error("Path {path} would escape /{folder} directory: {component} is a symlink")]
    Link {
        /// The folder's name.
        folder: String,
        /// As spelled.
        path: String,
        /// The name of the link.
        component: String,
    },
    /// A name in the path is not allowed.
    #[error("Path {path} is not valid: {why}")]
    Name {
        /// As spelled.
        path: String,
        /// The problem.
        why: &'static str,
    },
    /// The directory contains a name that is not UTF-8, so Tessera could not restore it after a deletion.
    #[error("Error: {path} contains {name}, whose name is not UTF-8; rename it first")]
    OddName {
        /// The directory, as spelled.
        path: String,
        /// The name, with replacement characters for invalid bytes.
        name: String,
    },
    /// `view`: there is nothing.
    #[error("The path {path} does not exist. Please provide a valid path.")]
    NotFound {
        /// As spelled.
        path: String,
    },
    /// `str_replace` and `insert`: the file does not exist.
    #[error("Error: The path {path} does not exist. Please provide a valid path.")]
    NoFile {
        /// As spelled.
        path: String,
    },
    /// `delete` and `rename`: the path does not exist.
    #[error("Error: The path {path} does not exist")]
    Nothing {
        /// As spelled.
        path: String,
    },
    /// The file disappeared between lookup and reading.
    #[error("The file {path} no longer exists (may have been deleted or renamed concurrently).")]
    Gone {
        /// As spelled.
        path: String,
    },
    /// The path is neither a directory nor a file with exactly one hard link.
    #[error("Unsupported file type for {path}")]
    Unsupported {
        /// As spelled.
        path: String,
    },
    /// Too many lines to number.
    #[error("File {path} exceeds maximum line limit of 999,999 lines.")]
    TooManyLines {
        /// As spelled.
        path: String,
    },
    /// Not UTF-8.
    #[error("The file {path} is not UTF-8 text")]
    NotText {
        /// As spelled.
        path: String,
    },
    /// More than is read or written.
    #[error("File {path} is too large: {bytes} bytes, at most {most} are allowed")]
    TooLarge {
        /// As spelled.
        path: String,
        /// How many there are.
        bytes: u64,
        /// How many there may be.
        most: u64,
    },
    /// `create`: the path exists.
    #[error("Error: File {path} already exists")]
    Exists {
        /// As spelled.
        path: String,
    },
    /// `create` and `rename`: another name differs only in its case or in how its accents are encoded.
    #[error("Error: File {path} already exists as {existing}")]
    Twin {
        /// As spelled.
        path: String,
        /// The name that is there.
        existing: String,
    },
    /// `create` and `rename`: the parent is a file.
    #[error("Error: Cannot create {path}: {parent} is not a directory")]
    ParentIsFile {
        /// As spelled.
        path: String,
        /// The name of the file.
        parent: String,
    },
    /// `str_replace`: the text does not occur.
    #[error("No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")]
    NoMatch {
        /// The searched text.
        old: String,
        /// As spelled.
        path: String,
    },
    /// `str_replace`: the text occurs more than once.
    #[error(
        "No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. Please ensure it is \
        unique"
    )]
    Several {
        /// The searched text.
        old: String,
        /// The line numbers, at most a hundred.
        lines: String,
    },
    /// `str_replace`: the search text is empty.
    #[error("No replacement was performed. old_str is empty. Please give the text to be replaced")]
    EmptyOld,
    /// `insert`: the line does not exist.
    #[error("Error: Invalid `insert_line` parameter: {line}. It should be within the range [0, {lines}].")]
    InsertLine {
        /// The requested value.
        line: i64,
        /// How many there are.
        lines: usize,
    },
    /// `delete`: the folder itself.
    #[error("Cannot delete the /{folder} directory itself")]
    DeleteRoot {
        /// The folder's name.
        folder: String,
    },
    /// `rename`: the folder itself.
    #[error("Cannot rename the /{folder} directory itself")]
    RenameRoot {
        /// The folder's name.
        folder: String,
    },
    /// `rename`: the destination exists.
    #[error("Error: The destination {path} already exists")]
    DestinationExists {
        /// As spelled.
        path: String,
    },
    /// `rename`: the new path is inside the directory that is to be renamed.
    #[error("Error: Cannot rename {from} to {to}: a directory cannot be moved into itself")]
    IntoItself {
        /// As spelled.
        from: String,
        /// As spelled.
        to: String,
    },
    /// The file changed after the command was checked.
    #[error("Error: {path} was changed by another writer in the meantime; nothing was done. View it and try again")]
    Changed {
        /// As spelled.
        path: String,
    },
    /// Another process kept the folder locked for too long.
    #[error("Error: The folder /{folder} is locked by another process; nothing was done. Try again")]
    Busy {
        /// The folder's name.
        folder: String,
    },
    /// The folder does not exist, or is not a directory.
    #[error("The folder /{folder} cannot be opened: {}", words(*reason))]
    Folder {
        /// The folder's name.
        folder: String,
        /// The system's error, without a path.
        reason: io::ErrorKind,
    },
    /// The system refused.
    #[error("Error: {path}: {}", words(*reason))]
    System {
        /// As spelled.
        path: String,
        /// The system's error, without a path.
        reason: io::ErrorKind,
    },
}

impl FileError {
    /// Whether the same command may succeed later.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Changed { .. } | Self::Busy { .. } | Self::Gone { .. })
    }
}

/// Returns the system's error message if it is useful.
fn words(reason: io::ErrorKind) -> String {
    let words = reason.to_string();
    if matches!(words.as_str(), "uncategorized error" | "other error") {
        "input or output failed".to_owned()
    } else {
        words
    }
}
