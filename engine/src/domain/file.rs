//! The position of a memory in a file. Files are texts in indexed folders, and their parts are memories.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use tessera_markdown::names::why_refused;
use tessera_tables::{displays, text_types};
use xxhash_rust::xxh3::xxh3_64;

use super::DomainError;

/// Maximum length of a path in bytes.
const MAX_PATH_BYTES: usize = 1_024;
/// Maximum length of a file name in bytes, as in common file systems.
const MAX_NAME_BYTES: usize = 255;

/// The visible path of a file, which begins with the name of its folder: `/memories/user/preferences.md`. The path does
/// not reveal where the folder is on a machine.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, schemars::JsonSchema, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FilePath(String);

impl FilePath {
    /// Creates the path of a file from the folder's name and the path in the folder. Neither begins or ends with a
    /// slash.
    ///
    /// # Errors
    /// Returns an error if a name is not valid in a path.
    pub fn new(folder: &str, inside: &str) -> Result<Self, DomainError> {
        format!("/{folder}/{inside}").parse()
    }

    /// The path.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of the folder.
    pub fn folder(&self) -> &str {
        self.parts().0
    }

    /// The path in the folder: `user/preferences.md`.
    pub fn inside(&self) -> &str {
        self.parts().1
    }

    /// The name of the file: `preferences.md`.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    /// The name without its extension: `preferences`.
    pub fn stem(&self) -> &str {
        let name = self.name();
        name.rsplit_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem })
    }

    /// True for a Markdown file.
    pub fn is_markdown(&self) -> bool {
        let ending = self.name().rsplit_once('.').map(|(_, ending)| ending.to_lowercase());
        ending.is_some_and(|ending| matches!(ending.as_str(), "md" | "markdown" | "mdx" | "mkd"))
    }

    /// The path of a conflict copy of the file: `/memories/notes.conflict-3fa9c1.md`. It depends on `key`.
    #[must_use]
    pub fn conflicting(&self, key: &str) -> Self {
        let (name, stem) = (self.name(), self.stem());
        let ending = name.strip_prefix(stem).unwrap_or_default();
        let mark = format!(".conflict-{:06x}", xxh3_64(key.as_bytes()) & 0xff_ffff);
        let before = self.0.strip_suffix(name).unwrap_or_default();
        let longest = MAX_NAME_BYTES.min(MAX_PATH_BYTES.saturating_sub(before.len()));
        let mut end = stem.len().min(longest.saturating_sub(mark.len() + ending.len()));
        while !stem.is_char_boundary(end) {
            end -= 1;
        }
        Self(format!("{before}{}{mark}{ending}", stem.get(..end).unwrap_or_default()))
    }

    /// True if other programs run this file or follow its instructions. Such files are never written by sync and never
    /// sent to a server.
    pub fn is_obeyed(&self) -> bool {
        why_refused(self.inside()).is_some()
    }

    fn parts(&self) -> (&str, &str) {
        self.0.strip_prefix('/').and_then(|path| path.split_once('/')).unwrap_or_default()
    }
}

impl FromStr for FilePath {
    type Err = DomainError;

    fn from_str(text: &str) -> Result<Self, DomainError> {
        let refused = |problem: &str| {
            let fix = "use the folder's name and a path in it, for example /memories/user/preferences.md";
            Err(DomainError::invalid("file", problem.to_owned(), fix))
        };
        if text.len() > MAX_PATH_BYTES {
            return refused("is too long for a path");
        }
        let Some(inside) = text.strip_prefix('/') else { return refused("does not begin with a slash") };
        let names: Vec<&str> = inside.split('/').collect();
        if names.len() < 2 || names.iter().any(|name| matches!(*name, "" | "." | "..")) {
            return refused("is not a path of the form /FOLDER/PATH");
        }
        if inside.chars().any(|character| character.is_control() || character == '\\') {
            return refused("contains a character that is not allowed in paths");
        }
        Ok(Self(text.to_owned()))
    }
}

text_types! { FilePath: DomainError }
displays! { FilePath }

/// The position of a memory in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema, Deserialize)]
pub struct InFile {
    /// The file.
    pub path: FilePath,
    /// The heading above it, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heading: Option<String>,
    /// True for the memory of the whole file. This memory is synced, and recall returns the memories of its sections
    /// instead.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_whole: bool,
}

impl InFile {
    /// A whole file.
    pub fn whole(path: FilePath) -> Self {
        Self { path, heading: None, is_whole: true }
    }
}

/// An invisible character. It precedes the text of a file without words in its memory, because the text of a memory
/// must not be empty.
const BLANK: char = '\u{2060}';

/// Converts the text of a file to the content of a memory.
pub fn content_of_file(text: &str) -> String {
    if text.trim().is_empty() { format!("{BLANK}{text}") } else { text.to_owned() }
}

/// Converts the content of a memory to the text of its file.
pub fn file_of_content(content: &str) -> &str {
    content.strip_prefix(BLANK).filter(|rest| rest.trim().is_empty()).unwrap_or(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_its_folder_and_a_file_in_it() {
        let path = FilePath::new("memories", "user/work prefs.v2.md").unwrap();
        assert_eq!((path.as_str(), path.folder()), ("/memories/user/work prefs.v2.md", "memories"));
        assert_eq!(
            (path.inside(), path.name(), path.stem()),
            ("user/work prefs.v2.md", "work prefs.v2.md", "work prefs.v2")
        );
        assert!(path.is_markdown() && !FilePath::new("memories", "a.txt").unwrap().is_markdown());
        assert_eq!(FilePath::new("memories", ".md").unwrap().stem(), ".md");
        for bad in ["", "memories/a", "/memories", "/memories/", "/memories/../a", "/memories//a", "/m/a\n", "/m/a\\b"]
        {
            assert!(bad.parse::<FilePath>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn the_other_text_of_a_file_has_a_name_of_its_own_beside_it() {
        let path: FilePath = "/memories/user/notes.md".parse().unwrap();
        let other = path.conflicting("a");
        assert!(other.as_str().starts_with("/memories/user/notes.conflict-") && other.is_markdown());
        assert_eq!((other.as_str().len(), &other), (path.as_str().len() + 16, &path.conflicting("a")));
        assert_ne!(other, path.conflicting("b"));
        for name in ["名".repeat(84) + ".md", "x".repeat(255), "plain".to_owned()] {
            let other = FilePath::new("memories", &name).unwrap().conflicting("a");
            assert!(other.name().len() <= MAX_NAME_BYTES && other.as_str().parse::<FilePath>().is_ok(), "{other}");
        }
    }

    #[test]
    fn a_text_without_words_is_a_content_and_comes_back() {
        for text in ["", "\n", " \n\n", "a", "\u{2060}a", "a\n"] {
            let content = content_of_file(text);
            assert!(!content.trim().is_empty());
            assert_eq!(file_of_content(&content), text);
        }
    }
}
