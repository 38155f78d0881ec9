//! A path as a caller spelled it, and the names beneath the folder that it stands for. One that cannot be is refused
//! here, before anything is looked up.
//!
//! When two names are one to some file system: those of macOS and Windows take no notice of case, some take none of
//! how an accent is written. A folder that holds both names cannot be copied there.

use tessera_markdown::names::why_refused;
use unicode_normalization::UnicodeNormalization;

use crate::error::FileError;

/// Longer than any path that some system would refuse.
const MOST_BYTES: usize = 1024;
/// A name that every file system takes.
const MOST_NAME_BYTES: usize = 255;
/// More directories within one another than anybody reads.
pub(crate) const MOST_DEPTH: usize = 64;
/// How often a spelling is decoded before it is taken for an attempt.
const MOST_ENCODINGS: usize = 8;
/// How much of a spelling is said back where it is refused for its length.
const ECHO_CHARS: usize = 200;
/// What names of files begin with that are ours and last for one write.
pub(crate) const OWN_PREFIX: &str = ".tessera-";
/// Files that Tessera keeps beside exported notes.
const OWN_FILES: [&str; 1] = [".tessera.export"];
/// A path beneath a folder: `/memories/user/preferences.md`, or the folder itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RelativePath {
    spelled: String,
    folder: String,
    relative: String,
}

impl RelativePath {
    /// Reads a path that somebody asks for: `/memories/a.md` or `memories/a.md` where the folder is `memories`.
    ///
    /// # Errors
    ///
    /// When it is not beneath the folder, leads out of it in any spelling, or has a name that is not one on every system.
    pub fn parse(spelled: &str, folder: &str) -> Result<Self, FileError> {
        Self::read(spelled, folder, check_portable)
    }

    /// The same for something that may be there already: a person's system may have taken a name that others refuse.
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
        // What a system makes of `link/..` is not what the letters say. Only the folder itself may be named so, to be
        // told that it stays.
        if climbs && !names.is_empty() {
            return Err(refused("it has `..` in it"));
        }
        if names.len() > MOST_DEPTH {
            return Err(refused("it is too deep"));
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

    /// The path of something that was found in the folder: a person's file may have any name that the system took.
    ///
    /// # Errors
    ///
    /// When it does not stay beneath the folder.
    pub fn found(relative: &str, folder: &str) -> Result<Self, FileError> {
        let spelled = if relative.is_empty() { format!("/{folder}") } else { format!("/{folder}/{relative}") };
        let stays = relative.is_empty()
            || relative.split('/').all(|name| !matches!(name, "" | "." | "..") && !name.contains(['\0', '\\']));
        if !stays {
            return Err(FileError::Escape { folder: folder.to_owned(), path: echo(&spelled) });
        }
        Ok(Self { spelled, folder: folder.to_owned(), relative: relative.to_owned() })
    }

    /// As the caller spelled it: what replies and errors say.
    pub fn spelled(&self) -> &str {
        &self.spelled
    }

    /// The folder's name.
    pub fn folder(&self) -> &str {
        &self.folder
    }

    /// Beneath the folder: `user/preferences.md`; empty for the folder itself.
    pub fn relative(&self) -> &str {
        &self.relative
    }

    /// One spelling for all: `/memories/user/preferences.md`.
    pub fn full(&self) -> String {
        if self.is_root() { format!("/{}", self.folder) } else { format!("/{}/{}", self.folder, self.relative) }
    }

    /// Whether it is the folder itself.
    pub fn is_root(&self) -> bool {
        self.relative.is_empty()
    }

    /// Refuses a path at which other programs would run or obey what is written. Files of Tessera itself may be written.
    pub(crate) fn check_writable(&self) -> Result<(), FileError> {
        let is_own = self.names().next_back().is_some_and(|name| OWN_FILES.contains(&name));
        match why_refused(&self.relative) {
            Some(why) if !is_own => Err(FileError::Name { path: echo(&self.spelled), why }),
            _ => Ok(()),
        }
    }

    /// Whether it is hidden, or in a directory that is: listed nowhere and in no index, though it can be named.
    pub fn is_hidden(&self) -> bool {
        self.names().any(|name| name.starts_with('.'))
    }

    /// The names, outermost first.
    pub fn names(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.relative.split('/').filter(|name| !name.is_empty())
    }

    /// The directories that it is in, and its own name; none for the folder itself.
    pub(crate) fn split(&self) -> Option<(Vec<&str>, &str)> {
        let mut names: Vec<&str> = self.names().collect();
        let last = names.pop()?;
        Some((names, last))
    }

    /// Something in this directory, spelled as this is.
    pub(crate) fn child(&self, below: &str) -> Self {
        let relative = if self.is_root() { below.to_owned() } else { format!("{}/{below}", self.relative) };
        Self { spelled: format!("{}/{below}", self.prefix()), folder: self.folder.clone(), relative }
    }

    /// What the rows of this directory begin with.
    pub(crate) fn prefix(&self) -> String {
        if self.spelled.contains("/..") { self.full() } else { self.spelled.trim_end_matches('/').to_owned() }
    }

    /// Whether the other is another spelling of it, that some file system takes for the same.
    pub(crate) fn is_twin_of(&self, other: &Self) -> bool {
        let is_same = |(one, other): (&str, &str)| one == other || are_twins(one, other);
        self.relative() != other.relative()
            && self.names().count() == other.names().count()
            && self.names().zip(other.names()).all(is_same)
    }

    /// Whether the other is in this directory, at any depth.
    pub(crate) fn holds(&self, other: &Self) -> bool {
        self.is_root() || other.relative.strip_prefix(&self.relative).is_some_and(|rest| rest.starts_with('/'))
    }
}

/// What stands after the folder's name, which must be a whole name.
fn beneath<'a>(spelled: &'a str, folder: &str) -> Option<&'a str> {
    let rest = spelled.strip_prefix('/').unwrap_or(spelled).strip_prefix(folder)?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}

/// Refuses what other programs would read as another path: percent signs that stand for dots and slashes, backslashes,
/// and letters that are dots and slashes in another form.
fn refuse_disguises(beneath: &str, spelled: &str, folder: &str) -> Result<(), FileError> {
    let refused = |why| FileError::Name { path: echo(spelled), why };
    let plain = decoded(beneath.as_bytes()).ok_or_else(|| refused("it is encoded again and again"))?;
    let text = String::from_utf8_lossy(&plain).nfkc().collect::<String>().replace('\\', "/");
    // A climb that is spelled plainly is judged by where it leads.
    let is_disguised = plain != beneath.as_bytes() || text != beneath;
    if is_disguised && text.split('/').any(|name| name.trim_end_matches(' ') == "..") {
        return Err(FileError::Escape { folder: folder.to_owned(), path: echo(spelled) });
    }
    if plain != beneath.as_bytes() {
        // C0 and C1 begin nothing but dots and slashes written longer than they are.
        let count = |bytes: &[u8]| {
            let parts = bytes.iter().filter(|byte| matches!(byte, b'/' | b'\\' | 0..=31 | 127 | 0xc0 | 0xc1));
            parts.count()
        };
        if count(&plain) > count(beneath.as_bytes()) {
            return Err(refused("it has an encoded separator or control character in it"));
        }
    }
    if beneath.contains('\\') {
        return Err(refused("it has a backslash in it"));
    }
    Ok(())
}

/// The bytes that percent signs stand for, until none stands for any; nothing when that takes too long.
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

/// The names without `.`, empty ones and climbs, and whether there were climbs; nothing when they lead out.
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

/// Refuses a name that is none on some system, or stands for something else there.
fn check_portable(name: &str) -> Result<(), &'static str> {
    check_name(name)?;
    if name.contains(':') {
        return Err("it has a colon in it");
    }
    if name.ends_with(['.', ' ']) {
        return Err("a name in it ends in a dot or a space");
    }
    if is_device(name) {
        return Err("a name in it is that of a device");
    }
    Ok(())
}

/// Refuses a name that nothing may have, wherever it is.
fn check_name(name: &str) -> Result<(), &'static str> {
    if name.len() > MOST_NAME_BYTES {
        return Err("a name in it is too long");
    }
    if name.chars().any(is_unseen) {
        return Err("it has a control character in it");
    }
    let lower = name.to_ascii_lowercase();
    if lower.starts_with(OWN_PREFIX) {
        return Err("a name in it is kept for other programs");
    }
    Ok(())
}

/// Whether it changes how a line is read instead of being read.
fn is_unseen(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}' | '\u{feff}')
}

/// Whether Windows opens a device by it, whatever stands behind its first dot.
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

/// A refused spelling, fit to be said back: no control characters, and not all of a long one.
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

/// The same for all names that some file system takes for one.
pub(crate) fn folded(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    // Upper case first, so that `ß` meets `ss`.
    name.nfd().collect::<String>().to_uppercase().to_lowercase().nfc().collect()
}

/// Whether both are names of one file somewhere, though they differ.
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
