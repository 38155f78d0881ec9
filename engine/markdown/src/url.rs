//! `memory://` addresses of notes: a permalink or a path, or a pattern for several.
//!
//! `*` matches any characters within one segment, `**` any number of segments. The address may begin with the folder's
//! name.

use crate::key::folded;
use crate::permalink::without_ending;

const SCHEME: &str = "memory://";
/// Maximum characters of an address.
const MOST: usize = 2_028;
const FORBIDDEN: [char; 6] = ['<', '>', '"', '|', '?', '\0'];

/// An invalid address. Each message names the invalid field and the fix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UrlError {
    /// Nothing after the scheme.
    #[error("url: is empty; use the URL of a note, such as memory://user/preferences")]
    Empty,
    /// Another scheme.
    #[error("url: has the wrong scheme; it must begin with memory://")]
    Scheme,
    /// Two slashes in a row.
    #[error("url: contains two adjacent slashes; remove one")]
    Slashes,
    /// An invalid character.
    #[error("url: contains the character {0:?}; remove it")]
    Character(char),
    /// It is too long.
    #[error("url: is longer than {MOST} characters; use fewer segments, or *")]
    Long,
    /// It leaves its folder.
    #[error("url: contains the segment {0:?}, which is not allowed; write the complete path of the note")]
    Dots(&'static str),
}

/// An address of one or more notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteUrl {
    path: String,
    segments: Vec<String>,
}

impl NoteUrl {
    /// Parses `memory://user/preferences`, or only `user/preferences`.
    ///
    /// # Errors
    /// Returns an error if a character, a segment, the scheme or the length is not valid.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let text = text.trim();
        let has_scheme = text.get(..SCHEME.len()).is_some_and(|scheme| scheme.eq_ignore_ascii_case(SCHEME));
        let rest = if has_scheme { text.get(SCHEME.len()..).unwrap_or_default() } else { text };
        if rest.chars().count() > MOST {
            return Err(UrlError::Long);
        }
        if rest.contains("://") {
            return Err(UrlError::Scheme);
        }
        if rest.contains("//") {
            return Err(UrlError::Slashes);
        }
        if let Some(bad) = rest.chars().find(|letter| FORBIDDEN.contains(letter) || letter.is_control()) {
            return Err(UrlError::Character(bad));
        }
        let path = rest.trim_matches('/');
        if path.is_empty() {
            return Err(UrlError::Empty);
        }
        for segment in path.split('/') {
            match segment {
                "." => return Err(UrlError::Dots(".")),
                ".." => return Err(UrlError::Dots("..")),
                _ => {}
            }
        }
        Ok(Self { path: path.to_owned(), segments: segments(without_ending(path)) })
    }

    /// The part after the scheme, as written: a name, unless it is a pattern.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// True if the address is a pattern, which may match several notes.
    pub fn is_pattern(&self) -> bool {
        self.path.contains('*')
    }

    /// True if it matches a note by permalink or path, with or without the folder's name, in normalised spelling.
    pub fn matches(&self, permalink: Option<&str>, path: &str) -> bool {
        let path = segments(without_ending(path.trim_matches('/')));
        let permalink = permalink.map(|permalink| segments(permalink.trim_matches('/')));
        let folder = path.first().cloned();
        let is_meant = |name: &[String]| {
            let inside = name.split_first().filter(|(first, rest)| Some(*first) == folder.as_ref() && !rest.is_empty());
            let outside = || folder.iter().chain(name).cloned().collect::<Vec<_>>();
            reaches(&self.segments, name)
                || inside.is_some_and(|(_, rest)| reaches(&self.segments, rest))
                || inside.is_none() && reaches(&self.segments, &outside())
        };
        is_meant(&path) || permalink.is_some_and(|permalink| is_meant(&permalink))
    }
}

impl std::fmt::Display for NoteUrl {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{SCHEME}{}", self.path)
    }
}

fn segments(path: &str) -> Vec<String> {
    path.split('/').map(folded).collect()
}

/// True if a pattern matches a name, segment by segment.
fn reaches(pattern: &[String], name: &[String]) -> bool {
    wild(
        pattern,
        name,
        |wanted| wanted == "**",
        |wanted, given| {
            let wanted: Vec<char> = wanted.chars().collect();
            let given: Vec<char> = given.chars().collect();
            wild(&wanted, &given, |letter| *letter == '*', |one, other| one == other)
        },
    )
}

/// Matches a pattern with wildcards. Each wildcard stands for any number of elements. If a part does not match, the
/// search goes back only to the last wildcard.
fn wild<T>(pattern: &[T], given: &[T], is_any: impl Fn(&T) -> bool, fits: impl Fn(&T, &T) -> bool) -> bool {
    let (mut at, mut here) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while let Some(thing) = given.get(here) {
        match pattern.get(at) {
            Some(wanted) if is_any(wanted) => {
                at += 1;
                back = Some((at, here));
            }
            Some(wanted) if fits(wanted, thing) => {
                at += 1;
                here += 1;
            }
            _ => match &mut back {
                Some((after, from)) => {
                    *from += 1;
                    (at, here) = (*after, *from);
                }
                None => return false,
            },
        }
    }
    pattern.get(at..).is_some_and(|rest| rest.iter().all(is_any))
}
