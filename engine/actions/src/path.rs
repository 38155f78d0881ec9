//! Paths in texts and commands.

use tessera_tables::{section, words};

const TABLE: &str = include_str!("paths.txt");
const EXTENSIONS: &[&str] = words!(section(TABLE, "extensions"));
const NAMES: &[&str] = words!(section(TABLE, "names"));

/// The part of a path after the last slash.
pub(crate) fn name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

/// True if a word looks like a path: it contains a slash, or is the name of a file.
pub(crate) fn is_path(word: &str) -> bool {
    if is_address(word) {
        return true;
    }
    if word.starts_with('-') || word.contains(['\n', '(', '|', ';', '=', '<', '"', '\'', '\\']) {
        return false;
    }
    word.contains('/') && word.len() > 1 && !word.contains(' ') || is_file_name(word)
}

/// True for an address such as `s3://bucket/path`.
pub(crate) fn is_address(word: &str) -> bool {
    word.split_once("://").is_some_and(|(scheme, rest)| {
        !rest.is_empty()
            && !scheme.is_empty()
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+')
    })
}

/// True for the name of a file without a directory: `main.rs`, `Makefile`.
pub(crate) fn is_file_name(word: &str) -> bool {
    NAMES.iter().any(|name| word == *name || word.strip_prefix(name).is_some_and(|rest| rest.starts_with('.')))
        || word.rsplit_once('.').is_some_and(|(stem, extension)| {
            EXTENSIONS.contains(&extension)
                && stem.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-*@+[]{},".contains(&byte))
        })
}

/// Joins a path with a directory of the repository, and removes the directory of the repository. A path elsewhere stays
/// absolute.
pub(crate) fn relative(root: &str, directory: &str, path: &str) -> String {
    if is_address(path) {
        return path.to_owned();
    }
    let path = path.strip_prefix("$PWD/").unwrap_or(path);
    if !path.starts_with(['/', '~', '$']) {
        let joined = without_dots(&[directory, "/", path].concat());
        return if directory.starts_with('/') { ["/", &joined].concat() } else { joined };
    }
    match path.strip_prefix(root).filter(|rest| !root.is_empty() && (rest.is_empty() || rest.starts_with('/'))) {
        Some(rest) => without_dots(rest),
        None if path.starts_with('/') => ["/", &without_dots(path)].concat(),
        None => without_dots(path),
    }
}

/// Resolves `.` and `..`, and removes slashes at both ends.
fn without_dots(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// How precisely a path in a memory names a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Precision {
    /// Not at all.
    #[default]
    None,
    /// Only the extension: `*.proto`.
    Extension,
    /// A file whose path ends like this one, in another directory.
    FileElsewhere,
    /// The name of a file in another directory.
    NameElsewhere,
    /// A pattern with a directory, in another directory.
    PatternElsewhere,
    /// A directory with one part: `proto/`.
    Directory,
    /// A directory with several parts.
    LongDirectory,
    /// A pattern with a directory.
    Pattern,
    /// The file.
    File,
}

/// Maximum groups of alternatives in a pattern, because the work doubles with each.
const MOST_GROUPS: usize = 3;

/// Compares a path or a pattern with the path of a file.
pub(crate) fn precision(pattern: &str, file: &str) -> Precision {
    if is_address(pattern) || is_address(file) {
        let core = pattern.trim_end_matches(['/', '*']);
        let is_inside = file.strip_prefix(core).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        return if is_inside && is_address(pattern) { Precision::File } else { Precision::None };
    }
    let pattern = pattern.trim_start_matches("./").trim_start_matches('/').trim_end_matches("/...");
    let file = file.trim_start_matches('/');
    if pattern.matches('{').count() > MOST_GROUPS {
        return Precision::None;
    }
    let core = pattern.trim_end_matches('/').trim_end_matches("/**").trim_end_matches("/*");
    if core.is_empty() {
        return Precision::None;
    }
    if file == pattern {
        return Precision::File;
    }
    let is_pattern = core.contains(['*', '{']);
    let of_directory = || if core.contains('/') { Precision::LongDirectory } else { Precision::Directory };
    for suffix in suffixes(file) {
        if is_pattern {
            if fast_glob::glob_match(core, suffix) {
                let extension_only = core.starts_with('*') && !core.contains('/');
                return match (extension_only, suffix == file) {
                    (true, _) => Precision::Extension,
                    (false, true) => Precision::Pattern,
                    (false, false) => Precision::PatternElsewhere,
                };
            }
            if !is_file_name(name(core)) && parents(suffix).any(|parent| fast_glob::glob_match(core, parent)) {
                return of_directory();
            }
        } else if suffix == core {
            return if core.contains('/') { Precision::FileElsewhere } else { Precision::NameElsewhere };
        } else if suffix.strip_prefix(core).is_some_and(|rest| rest.starts_with('/')) {
            return of_directory();
        }
    }
    Precision::None
}

/// The path, and the path without its first directories.
fn suffixes(file: &str) -> impl Iterator<Item = &str> {
    std::iter::once(file).chain(file.match_indices('/').filter_map(|(at, _)| file.get(at + 1..)))
}

/// The directories that contain a file.
fn parents(file: &str) -> impl Iterator<Item = &str> {
    file.match_indices('/').filter_map(|(at, _)| file.get(..at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_repository() {
        assert_eq!(relative("/r", "a", "../b/./c.rs"), "b/c.rs");
        assert_eq!(relative("/r", "a", "/r/x/y"), "x/y");
        assert_eq!(relative("/r", "", "/etc/x"), "/etc/x");
        assert_eq!(relative("", "", "./a"), "a");
        assert_eq!(relative("/r", "/tmp", "x"), "/tmp/x");
    }

    #[test]
    fn patterns_name_files_with_a_precision() {
        for (pattern, file, wanted) in [
            ("migrations/*.sql", "db/migrations/1.sql", Precision::PatternElsewhere),
            ("prisma/migrations/**/migration.sql", "prisma/migrations/1/migration.sql", Precision::Pattern),
            ("*.proto", "a/b.proto", Precision::Extension),
            ("src/gen/", "src/gen/a/b.rs", Precision::LongDirectory),
            ("proto/", "x/proto/a.proto", Precision::Directory),
            ("mix.lock", "mix.lock", Precision::File),
            ("conftest.py", "tests/conftest.py", Precision::NameElsewhere),
            ("a/b.rs", "c/a/b.rs", Precision::FileElsewhere),
            ("src/gen", "src/generic/a.rs", Precision::None),
            ("migrations/2025*.exs", "migrations/2026_a.exs", Precision::None),
        ] {
            assert_eq!(precision(pattern, file), wanted, "{pattern} {file}");
        }
    }
}
