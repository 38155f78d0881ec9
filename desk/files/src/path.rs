//! A path as a caller spelled it, and its components below the folder. Invalid paths are rejected before any lookup.
//!
//! Also detects names that some file systems consider equal: macOS and Windows ignore case, and some ignore the form of
//! accents. A folder that contains both names could not be copied to a file system that treats them as equal.

use tessera_markdown::names::why_refused;
use unicode_normalization::UnicodeNormalization;

use crate::error::FileError;

/// The maximum length of a requested path, in bytes.
const MOST_BYTES: usize = 1024;
/// The longest name that every file system accepts.
const MOST_NAME_BYTES: usize = 255;
/// The maximum number of nested directories.
pub(crate) const MOST_DEPTH: usize = 64;
/// The maximum number of times that a path is decoded before it counts as an attack.
const MOST_ENCODINGS: usize = 8;
/// The maximum number of characters of a rejected path in an error.
const ECHO_CHARS: usize = 200;
/// The prefix of our temporary files.
pub(crate) const OWN_PREFIX: &str = ".tessera-";
/// Files that Tessera keeps beside exported notes.
const OWN_FILES: [&str; 1] = [".tessera.export"];
/// A path below a folder: `/memories/user/preferences.md`, or the folder itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RelativePath {
    spelled: String,
    folder: String,
    relative: String,
}

impl RelativePath {
    /// Parses a requested path: `/memories/a.md` or `memories/a.md` for the folder `memories`.
    ///
    /// # Errors
    ///
    /// Returns an error if the path is not below the folder, leaves the folder in any spelling, or contains a name that
    /// some system rejects.
    pub fn parse(spelled: &str, folder: &str) -> Result<Self, FileError> {
        Self::read(spelled, folder, check_portable)
    }

    /// Parses the path of an existing file, whose name this system accepted.
    pub(crate) fn parse_local(spelled: &str, folder: &str) -> Result<Self, FileError> {
        Self::read(spelled, folder, check_name)
    }

    fn read(spelled: &str, folder: &str, check: fn(&str) -> Result<(), &'static str>) -> Result<Self, FileError> {
        if spelled.len() > MOST_BYTES {
            return Err(FileError::Name { path: echo(spelled), why: "it is too long" });
        }
        let beneath = beneath(spelled, folder)
            .ok_or_else(|| FileError::Outside { folder: folder.to_owned(), path: echo(spelled) })?;
        refuse_disguises(beneath, spelled, folder)?;
        let (names, climbs) =
            normal(beneath).ok_or_else(|| FileError::Escape { folder: folder.to_owned(), path: echo(spelled) })?;
        let refused = |why| FileError::Name { path: echo(spelled), why };
        // `link/..` is not what the letters say. Only the folder itself may be named with `..`, for a clear error.
        if climbs && !names.is_empty() {
            return Err(refused("it contains `..`"));
        }
        if names.len() > MOST_DEPTH {
            return Err(refused("it has too many components"));
        }
        for name in &names {
            check(name).map_err(refused)?;
        }
        let relative = names.join("/");
        if let Some(why) = why_refused(&relative) {
            return Err(refused(why));
        }
        Ok(Self { spelled: spelled.to_owned(), folder: folder.to_owned(), relative })
    }

    /// The path of a file that was found in the folder, with any name that the system accepted.
    ///
    /// # Errors
    ///
    /// Returns an error if the path could leave the folder.
    pub fn found(relative: &str, folder: &str) -> Result<Self, FileError> {
        let spelled = if relative.is_empty() { format!("/{folder}") } else { format!("/{folder}/{relative}") };
        let stays = relative.is_empty()
            || relative.split('/').all(|name| !matches!(name, "" | "." | "..") && !name.contains(['\0', '\\']));
        if !stays {
            return Err(FileError::Escape { folder: folder.to_owned(), path: echo(&spelled) });
        }
        Ok(Self { spelled, folder: folder.to_owned(), relative: relative.to_owned() })
    }

    /// The path as the caller spelled it, for replies and errors.
    pub fn spelled(&self) -> &str {
        &self.spelled
    }

    /// The folder's name.
    pub fn folder(&self) -> &str {
        &self.folder
    }

    /// The path below the folder: `user/preferences.md`; empty for the folder itself.
    pub fn relative(&self) -> &str {
        &self.relative
    }

    /// The canonical spelling: `/memories/user/preferences.md`.
    pub fn full(&self) -> String {
        if self.is_root() { format!("/{}", self.folder) } else { format!("/{}/{}", self.folder, self.relative) }
    }

    /// Whether the path is the folder itself.
    pub fn is_root(&self) -> bool {
        self.relative.is_empty()
    }

    /// Rejects a path if other programs would execute a file with this name, or read it as settings. The file that an
    /// export writes next to its notes is allowed.
    pub(crate) fn check_writable(&self) -> Result<(), FileError> {
        let is_own = self.names().next_back().is_some_and(|name| OWN_FILES.contains(&name));
        match why_refused(&self.relative) {
            Some(why) if !is_own => Err(FileError::Name { path: echo(&self.spelled), why }),
            _ => Ok(()),
        }
    }

    /// Whether the path contains a name that starts with a dot. Such a file is not listed or indexed, but a command can
    /// use its path.
    pub fn is_hidden(&self) -> bool {
        self.names().any(|name| name.starts_with('.'))
    }

    /// The names, outermost first.
    pub fn names(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.relative.split('/').filter(|name| !name.is_empty())
    }

    /// The names of the parent directories, and the last name; `None` for the folder itself.
    pub(crate) fn split(&self) -> Option<(Vec<&str>, &str)> {
        let mut names: Vec<&str> = self.names().collect();
        let last = names.pop()?;
        Some((names, last))
    }

    /// The path of a name in this directory, spelled like the directory.
    pub(crate) fn child(&self, below: &str) -> Self {
        let relative = if self.is_root() { below.to_owned() } else { format!("{}/{below}", self.relative) };
        Self { spelled: format!("{}/{below}", self.prefix()), folder: self.folder.clone(), relative }
    }

    /// In a listing of this directory, the path in each row begins with this text.
    pub(crate) fn prefix(&self) -> String {
        if self.spelled.contains("/..") { self.full() } else { self.spelled.trim_end_matches('/').to_owned() }
    }

    /// Whether some file system treats the other path as equal to this one.
    pub(crate) fn is_twin_of(&self, other: &Self) -> bool {
        let is_same = |(one, other): (&str, &str)| one == other || are_twins(one, other);
        self.relative() != other.relative()
            && self.names().count() == other.names().count()
            && self.names().zip(other.names()).all(is_same)
    }

    /// Whether the other path is in this directory, at any depth.
    pub(crate) fn holds(&self, other: &Self) -> bool {
        self.is_root() || other.relative.strip_prefix(&self.relative).is_some_and(|rest| rest.starts_with('/'))
    }
}

/// The part after the folder's name.
fn beneath<'a>(spelled: &'a str, folder: &str) -> Option<&'a str> {
    let rest = spelled.strip_prefix('/').unwrap_or(spelled).strip_prefix(folder)?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}

/// Rejects spellings that other programs read as another path: percent-encoded dots and slashes, backslashes, and
/// lookalike characters.
fn refuse_disguises(beneath: &str, spelled: &str, folder: &str) -> Result<(), FileError> {
    let refused = |why| FileError::Name { path: echo(spelled), why };
    let plain = decoded(beneath.as_bytes()).ok_or_else(|| refused("it is encoded more than once"))?;
    let text = String::from_utf8_lossy(&plain).nfkc().collect::<String>().replace('\\', "/");
    // A plain `..` is judged by its target.
    let is_disguised = plain != beneath.as_bytes() || text != beneath;
    if is_disguised && text.split('/').any(|name| name.trim_end_matches(' ') == "..") {
        return Err(FileError::Escape { folder: folder.to_owned(), path: echo(spelled) });
    }
    if plain != beneath.as_bytes() {
        // The bytes C0 and C1 only begin overlong forms of dots and slashes.
        let count = |bytes: &[u8]| {
            let parts = bytes.iter().filter(|byte| matches!(byte, b'/' | b'\\' | 0..=31 | 127 | 0xc0 | 0xc1));
            parts.count()
        };
        if count(&plain) > count(beneath.as_bytes()) {
            return Err(refused("it contains an encoded separator or control character"));
        }
    }
    if beneath.contains('\\') {
        return Err(refused("it contains a backslash"));
    }
    Ok(())
}

/// Percent-decodes the bytes until they no longer change; `None` if there are too many passes.
fn decoded(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut now = bytes.to_vec();
    for _ in 0..MOST_ENCODINGS {
        let next = decoded_once(&now);
        if next == now {
            return Some(now);
        }
        now = next;
    }
    None
}

fn decoded_once(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((&first, after)) = rest.split_first() {
        if first == b'%'
            && let Some((pair, behind)) = after.split_at_checked(2)
            && let Some(byte) =
                std::str::from_utf8(pair).ok().filter(|pair| pair.bytes().all(|b| b.is_ascii_hexdigit()))
            && let Ok(byte) = u8::from_str_radix(byte, 16)
        {
            out.push(byte);
            rest = behind;
        } else {
            out.push(first);
            rest = after;
        }
    }
    out
}

/// Resolves `.`, `..` and empty components, and returns whether there was a `..`. Returns `None` if the path leaves the
/// folder.
fn normal(beneath: &str) -> Option<(Vec<&str>, bool)> {
    let mut names = Vec::new();
    let mut climbs = false;
    for name in beneath.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop()?;
                climbs = true;
            }
            name => names.push(name),
        }
    }
    Some((names, climbs))
}

/// Rejects a file name that some operating system rejects or treats differently.
fn check_portable(name: &str) -> Result<(), &'static str> {
    check_name(name)?;
    if name.contains(':') {
        return Err("it contains a colon");
    }
    if name.ends_with(['.', ' ']) {
        return Err("a component ends in a dot or a space");
    }
    if is_device(name) {
        return Err("a component is a reserved device name");
    }
    Ok(())
}

/// Rejects a name that is never allowed.
fn check_name(name: &str) -> Result<(), &'static str> {
    if name.len() > MOST_NAME_BYTES {
        return Err("a component is too long");
    }
    if name.chars().any(is_unseen) {
        return Err("it contains a control character");
    }
    let lower = name.to_ascii_lowercase();
    if lower.starts_with(OWN_PREFIX) {
        return Err("names that start with `.tessera-` are reserved for Tessera's temporary files");
    }
    Ok(())
}

/// Whether the character changes how a line is displayed.
fn is_unseen(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}' | '\u{feff}')
}

/// Whether Windows treats the name as a device, even if a dot and other characters follow.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).trim_end_matches(' ').to_uppercase();
    if matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$") {
        return true;
    }
    let number = stem.strip_prefix("COM").or_else(|| stem.strip_prefix("LPT"));
    number.is_some_and(|rest| {
        let mut letters = rest.chars();
        matches!((letters.next(), letters.next()), (Some('0'..='9' | '¹' | '²' | '³'), None))
    })
}

/// Shortens a rejected path for an error message, and escapes control characters.
fn echo(spelled: &str) -> String {
    let mut out = String::new();
    for letter in spelled.chars().take(ECHO_CHARS) {
        if is_unseen(letter) { out.extend(letter.escape_unicode()) } else { out.push(letter) }
    }
    if spelled.chars().nth(ECHO_CHARS).is_some() {
        out.push('…');
    }
    out
}

/// Returns the same text for all names that some file system considers equal.
pub(crate) fn folded(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    // Upper case first, so that `ß` equals `ss`.
    name.nfd().collect::<String>().to_uppercase().to_lowercase().nfc().collect()
}

/// Whether two different names may belong to one file.
pub(crate) fn are_twins(one: &str, other: &str) -> bool {
    one != other && folded(one) == folded(other)
}

#[cfg(test)]
mod tests {
    use super::are_twins;

    #[test]
    fn names_that_differ_in_case_or_accents_alone_are_twins() {
        assert!(are_twins("Notes.md", "notes.MD"));
        assert!(are_twins("caf\u{e9}.md", "cafe\u{301}.md"));
        assert!(are_twins("STRASSE", "straße"));
        assert!(!are_twins("a.md", "a.md"));
        assert!(!are_twins("a.md", "b.md"));
        assert!(!are_twins("cafe.md", "caf\u{e9}.md"));
    }
}
