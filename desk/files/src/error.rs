//! What can go wrong with a file, each with the words that models were trained on. No message holds a path of this
//! machine: paths are as the caller spelled them.

use std::io;

/// Why a command was refused or failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// An argument that the command needs was not given.
    #[error("{name}: is missing")]
    Missing {
        /// The argument.
        name: &'static str,
    },
    /// An argument is of another kind than it must be.
    #[error("{name}: {why}")]
    Argument {
        /// The argument.
        name: &'static str,
        /// What it must be.
        why: &'static str,
    },
    /// No command has this name.
    #[error("Unknown command: {command}. The commands are view, create, str_replace, insert, delete and rename")]
    UnknownCommand {
        /// What was asked for.
        command: String,
    },
    /// The path is of no file of this folder.
    #[error("Path must start with /{folder}, got: {path}")]
    Outside {
        /// The folder's name.
        folder: String,
        /// As spelled.
        path: String,
    },
    /// The path leads out of the folder, or is spelled to.
    #[error("Path {path} would escape /{folder} directory")]
    Escape {
        /// The folder's name.
        folder: String,
        /// As spelled.
        path: String,
    },
    /// A link in the path leads out of the folder.
    #[error("Path {path} would escape /{folder} directory: {component} is a symlink")]
    Link {
        /// The folder's name.
        folder: String,
        /// As spelled.
        path: String,
        /// The name of the link.
        component: String,
    },
    /// The path has a name that no file here may have.
    #[error("Path {path} is not valid: {why}")]
    Name {
        /// As spelled.
        path: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// In the directory that is to be deleted is a name that no path can say, so it could not be brought back.
    #[error("Error: {path} holds {name}, a name that is not UTF-8; rename it first")]
    OddName {
        /// The directory, as spelled.
        path: String,
        /// The name, as far as it can be shown.
        name: String,
    },
    /// `view`: there is nothing.
    #[error("The path {path} does not exist. Please provide a valid path.")]
    NotFound {
        /// As spelled.
        path: String,
    },
    /// `str_replace` and `insert`: there is no file.
    #[error("Error: The path {path} does not exist. Please provide a valid path.")]
    NoFile {
        /// As spelled.
        path: String,
    },
    /// `delete` and `rename`: there is nothing.
    #[error("Error: The path {path} does not exist")]
    Nothing {
        /// As spelled.
        path: String,
    },
    /// It went away between looking and reading.
    #[error("The file {path} no longer exists (may have been deleted or renamed concurrently).")]
    Gone {
        /// As spelled.
        path: String,
    },
    /// Neither a file with one name nor a directory.
    #[error("Unsupported file type for {path}")]
    Unsupported {
        /// As spelled.
        path: String,
    },
    /// Too many lines to be numbered.
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
    /// `create`: there is something of this name.
    #[error("Error: File {path} already exists")]
    Exists {
        /// As spelled.
        path: String,
    },
    /// `create` and `rename`: there is something whose name differs in case or in the form of its accents alone.
    #[error("Error: File {path} already exists, spelled {existing}")]
    Twin {
        /// As spelled.
        path: String,
        /// The name that is there.
        existing: String,
    },
    /// `create` and `rename`: what should be the directory is a file.
    #[error("Error: Cannot create {path}: {parent} is not a directory")]
    ParentIsFile {
        /// As spelled.
        path: String,
        /// The name of the file.
        parent: String,
    },
    /// `str_replace`: nothing to replace.
    #[error("No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")]
    NoMatch {
        /// What was looked for.
        old: String,
        /// As spelled.
        path: String,
    },
    /// `str_replace`: more than one place.
    #[error(
        "No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. Please ensure it is unique"
    )]
    Several {
        /// What was looked for.
        old: String,
        /// The numbers of the lines, the first hundred of them.
        lines: String,
    },
    /// `str_replace`: the empty text is everywhere.
    #[error("No replacement was performed. old_str is empty. Please give the text to be replaced")]
    EmptyOld,
    /// `insert`: there is no such line.
    #[error("Error: Invalid `insert_line` parameter: {line}. It should be within the range [0, {lines}].")]
    InsertLine {
        /// What was asked for.
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
    /// `rename`: there is something of this name.
    #[error("Error: The destination {path} already exists")]
    DestinationExists {
        /// As spelled.
        path: String,
    },
    /// `rename`: a directory into itself.
    #[error("Error: Cannot rename {from} to {to}: a directory cannot be moved into itself")]
    IntoItself {
        /// As spelled.
        from: String,
        /// As spelled.
        to: String,
    },
    /// It is not what it was when the command was looked through.
    #[error("Error: {path} was changed by another writer meanwhile, nothing was done. View it and try again")]
    Changed {
        /// As spelled.
        path: String,
    },
    /// Another process holds the folder for longer than is waited.
    #[error("Error: The folder /{folder} is held by another process, nothing was done. Try again")]
    Busy {
        /// The folder's name.
        folder: String,
    },
    /// The folder is not there, or is no directory.
    #[error("The folder /{folder} cannot be opened: {}", words(*reason))]
    Folder {
        /// The folder's name.
        folder: String,
        /// What the system says, without a path.
        reason: io::ErrorKind,
    },
    /// The system refused.
    #[error("Error: {path}: {}", words(*reason))]
    System {
        /// As spelled.
        path: String,
        /// What the system says, without a path.
        reason: io::ErrorKind,
    },
}

impl FileError {
    /// Whether the same command may succeed when it is tried once more.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Changed { .. } | Self::Busy { .. } | Self::Gone { .. })
    }
}

/// What the system says, where it has words that say something.
fn words(reason: io::ErrorKind) -> String {
    let words = reason.to_string();
    if matches!(words.as_str(), "uncategorized error" | "other error") {
        "input or output failed".to_owned()
    } else {
        words
    }
}
