//! Errors of the system and of the store in plain words, without error numbers and temporary file names.

use std::io::{Error, ErrorKind};
use std::path::Path;

use tessera_engine::MemoryRef;
use tessera_engine::store::StoreError;

/// The message of an error of the operating system, and the fix.
pub(crate) fn of_system(error: &Error) -> String {
    let whole = error.to_string();
    if let Some((_, path)) = whole.split_once(" at path \"") {
        // The name of a temporary file says nothing to the user, but its directory does.
        let path = Path::new(path.trim_end_matches('"'));
        return format!("{}: {}", path.parent().unwrap_or(path).display(), of_kind(error));
    }
    // An error with its own text names its file.
    if error.get_ref().is_some() { without_number(&whole) } else { of_kind(error) }
}

fn of_kind(error: &Error) -> String {
    let text = match error.kind() {
        ErrorKind::NotFound => "it does not exist; check the path",
        ErrorKind::PermissionDenied => "you have no permission; check the owner and the permissions",
        ErrorKind::AlreadyExists => "it exists already; use another name",
        ErrorKind::NotADirectory => "a part of the path is a file, or the path ends with a slash; check the path",
        ErrorKind::IsADirectory => "it is a directory; use the name of a file",
        ErrorKind::StorageFull => "no space is left; free some space on this disk",
        ErrorKind::ReadOnlyFilesystem => "the disk is read-only; use another directory",
        ErrorKind::AddrInUse => "the address is in use; use another port",
        ErrorKind::ConnectionRefused => "the connection was refused",
        ErrorKind::InvalidFilename => "the name is not valid or too long; use a shorter name",
        _ => return without_number(&error.to_string()),
    };
    text.to_owned()
}

/// The message of the system without its error number, and without the name of a temporary file.
pub(super) fn without_number(message: &str) -> String {
    let message = message.split(" at path \"").next().unwrap_or(message);
    match message.split_once(" (os error ") {
        Some((text, rest)) => format!("{text}{}", rest.split_once(')').map_or("", |(_, rest)| rest)),
        None => message.to_owned(),
    }
}

/// The message of an error of the store, if its own message is for developers.
pub(super) fn of_store(error: &StoreError) -> Option<String> {
    match error {
        StoreError::File { path, source } => Some(of_file(path, source)),
        // The problem names commands for any memory.
        StoreError::Conflict { memory: MemoryRef::ShortId(id), .. } => Some(
            error.to_string().replace(" ID`", &format!(" {}`", id.get())).replace(" ID ", &format!(" {} ", id.get())),
        ),
        StoreError::Disk { path, .. } | StoreError::Sqlite { path, .. } | StoreError::ReadOnly { path }
            if path.is_dir() =>
        {
            Some(format!("{} is a directory, but should be the database; move it away", path.display()))
        }
        StoreError::ReadOnly { path } if std::fs::File::open(path).is_err() => {
            let path = path.display();
            Some(format!("you have no permission to read {path}; check the owner and the permissions of the file"))
        }
        StoreError::Corrupt { .. } | StoreError::Disk { .. } | StoreError::NoKey { .. } => Some(error.to_string()),
        StoreError::Sqlite { path, source } => {
            let source = source.to_string();
            // SQLite repeats the path, and adds its own error code.
            let text = source.split(": Error code").next().unwrap_or(&source);
            let text = text.split(": /").next().unwrap_or(text);
            Some(format!("{}: {text}; run `tessera doctor`", path.display()))
        }
        _ => None,
    }
}

fn of_file(path: &Path, source: &Error) -> String {
    // A file of the store cannot be used, because its directory cannot be used.
    let dir = path.ancestors().find(|dir| dir.exists()).unwrap_or(path);
    let shown = dir.display();
    if let Some(link) = path.ancestors().find(|place| place.is_symlink() && !place.exists()) {
        return format!("{} is a link to a directory that does not exist; create it, or use --home", link.display());
    }
    match source.kind() {
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory if dir.is_file() => {
            format!("{shown} is a file, but the store needs a directory; use another directory with --home")
        }
        ErrorKind::PermissionDenied => format!(
            "you have no permission for {shown}; check the owner and the permissions, or use another directory with \
            --home"
        ),
        _ => format!("cannot use {}: {}", path.display(), of_system(source)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_temporary_names_are_left_out() {
        let error = Error::from_raw_os_error(2);
        assert_eq!(of_system(&error), "it does not exist; check the path");
        assert_eq!(without_number("Some problem (os error 99) here"), "Some problem here");
        assert_eq!(without_number("No such file (os error 2) at path \"/x/.tmpAb\""), "No such file");
    }
}
