//! Paths of secrets in a vault. A user name or an ID always stays within its own part of the path.

use std::fmt;

use crate::error::VaultError;

/// Maximum length of a path and of a part, as in Vault's storage backends.
const MOST_BYTES: usize = 512;
const MOST_OF_A_PART: usize = 250;

const USER: &str = "{user}";
const ID: &str = "{id}";

/// A path within a mount: parts of plain characters separated by `/`, without `.` and `..`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SecretPath(String);

impl SecretPath {
    /// Parses a path.
    ///
    /// # Errors
    /// Returns an error if a part is empty, consists only of dots, or contains a character that must be escaped.
    pub fn parse(text: &str) -> Result<Self, VaultError> {
        checked("a path", text).map(|()| Self(text.to_owned()))
    }

    /// Returns the path of a name that [`Vault::list`](crate::Vault::list) returned.
    ///
    /// # Errors
    /// Returns an error if the name is not a valid part.
    pub fn child(&self, name: &str) -> Result<Self, VaultError> {
        Self::parse(&format!("{}/{}", self.0, name.trim_end_matches('/')))
    }

    /// The path in the form that policies use.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SecretPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A template for paths with a user and an ID, such as `claude-memory/{user}/mem-{id}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathTemplate(String);

impl PathTemplate {
    /// Parses a template.
    ///
    /// # Errors
    /// Returns an error if it does not contain the user and then the ID, once each and in separate parts. Otherwise,
    /// two users or two IDs could have the same path.
    pub fn parse(text: &str) -> Result<Self, VaultError> {
        let wrong = |problem| VaultError::Path { name: "the template", problem };
        let (Some(user), Some(id)) = (text.find(USER), text.find(ID)) else {
            return Err(wrong("it must contain {user} and {id}"));
        };
        if text.matches(USER).count() > 1 || text.matches(ID).count() > 1 || user > id {
            return Err(wrong("it must contain {user} once and, after that, {id} once"));
        }
        if text.split('/').any(|part| part.contains(USER) && part.contains(ID)) {
            return Err(wrong("{user} and {id} must be separated by a `/`"));
        }
        checked("the template", &text.replace(USER, "u").replace(ID, "i"))?;
        Ok(Self(text.to_owned()))
    }

    /// The usual form below a folder: `{folder}/{user}/mem-{id}`.
    ///
    /// # Errors
    /// Returns an error if the folder is not valid in a path.
    pub fn below(folder: &str) -> Result<Self, VaultError> {
        checked("the prefix", folder)?;
        Self::parse(&format!("{folder}/{USER}/mem-{ID}"))
    }

    /// The path of a memory's secrets. Different users or IDs never have the same path, whatever characters they
    /// contain.
    ///
    /// # Errors
    /// Returns an error if one of them is empty or too long.
    pub fn path(&self, user: &str, id: &str) -> Result<SecretPath, VaultError> {
        SecretPath::parse(&self.0.replace(USER, &plain("the user", user)?).replace(ID, &plain("the id", id)?))
    }

    /// The folder with all paths of a user.
    ///
    /// # Errors
    /// Returns an error if the user is empty or too long.
    pub fn folder(&self, user: &str) -> Result<SecretPath, VaultError> {
        let parts: Vec<&str> = self.0.split('/').take_while(|part| !part.contains(ID)).collect();
        SecretPath::parse(&parts.join("/").replace(USER, &plain("the user", user)?))
    }
}

impl Default for PathTemplate {
    /// The path of the older system.
    fn default() -> Self {
        Self(format!("claude-memory/{USER}/mem-{ID}"))
    }
}

/// True for a character without a special meaning in a URL, a policy or a vault.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'@')
}

/// Encodes a user or an ID as one part of a path. It uses its own escapes, because `%2e%2e` means `..` in a URL.
fn plain(name: &'static str, text: &str) -> Result<String, VaultError> {
    if text.is_empty() {
        return Err(VaultError::Path { name, problem: "it is empty" });
    }
    let is_dots = text.bytes().all(|byte| byte == b'.');
    let mut made = String::with_capacity(text.len());
    for byte in text.bytes() {
        if is_plain(byte) && !is_dots {
            made.push(char::from(byte));
        } else {
            made.push_str(&format!("~{byte:02x}"));
        }
    }
    if made.len() > MOST_OF_A_PART {
        return Err(VaultError::Path { name, problem: "it is too long" });
    }
    Ok(made)
}

/// Checks a path of any kind: a mount, a folder, the path of a secret.
pub(crate) fn checked(name: &'static str, text: &str) -> Result<(), VaultError> {
    let wrong = |problem| VaultError::Path { name, problem };
    if text.len() > MOST_BYTES {
        return Err(wrong("it is too long"));
    }
    for part in text.split('/') {
        if part.is_empty() {
            return Err(wrong("a component is empty"));
        }
        if part.bytes().all(|byte| byte == b'.') {
            return Err(wrong("a component of the path consists only of dots"));
        }
        if part.bytes().any(|byte| !is_plain(byte) && byte != b'~') {
            return Err(wrong("it may contain only letters, digits and - _ . @ ~"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn nobody_reaches_anothers_folder() {
        let template = PathTemplate::default();
        let path = |user: &str, id: &str| template.path(user, id).map(|path| path.to_string());
        assert_eq!(path("bob", "7").unwrap(), "claude-memory/bob/mem-7");
        assert_eq!(path("bob@example.org", "7").unwrap(), "claude-memory/bob@example.org/mem-7");
        assert_eq!(path("../bob", "7").unwrap(), "claude-memory/..~2fbob/mem-7");
        assert_eq!(path("..", "7").unwrap(), "claude-memory/~2e~2e/mem-7");
        assert_eq!(path("%2e%2e/bob", "7").unwrap(), "claude-memory/~252e~252e~2fbob/mem-7");
        assert_eq!(path("Ül", "7?x#y").unwrap(), "claude-memory/~c3~9cl/mem-7~3fx~23y");
        assert_eq!(path("bob", "7/../../eve/mem-7").unwrap(), "claude-memory/bob/mem-7~2f..~2f..~2feve~2fmem-7");
        for (user, id) in [("", "7"), ("bob", ""), (&"x".repeat(251), "7"), ("bob", &"é".repeat(60))] {
            assert!(path(user, id).is_err(), "{user} {id}");
        }
    }

    #[test]
    fn no_two_have_one_path() {
        let users =
            ["a", "a/b", "a~2fb", "a~", "A", "~2e", ".", "..", "...", "a.b", "a b", "a+b", "{id}", "{user}", "ä"];
        let mut seen = HashSet::new();
        for user in users {
            for id in users {
                let path = PathTemplate::default().path(user, id).unwrap();
                assert!(seen.insert(path.clone()), "{path}");
            }
        }
    }

    #[test]
    fn a_template_names_both_apart() {
        for wrong in [
            "",
            "x",
            "x/{id}",
            "{user}/x",
            "{id}/{user}",
            "{user}-{id}",
            "{user}/{id}/{id}",
            "/{user}/{id}",
            "{user}/{id}/",
            "../{user}/{id}",
            "a b/{user}/{id}",
        ] {
            assert!(PathTemplate::parse(wrong).is_err(), "{wrong}");
        }
        let template = PathTemplate::parse("team/u-{user}/notes/{id}/values").unwrap();
        assert_eq!(template.path("bob", "7").unwrap().as_str(), "team/u-bob/notes/7/values");
        assert_eq!(template.folder("bob").unwrap().as_str(), "team/u-bob/notes");
        assert_eq!(PathTemplate::below("a/b").unwrap().folder("bob").unwrap().as_str(), "a/b/bob");
        assert_eq!(PathTemplate::below("claude-memory").unwrap(), PathTemplate::default());
    }

    #[test]
    fn a_name_of_a_list_leads_on() {
        let folder = PathTemplate::default().folder("bob").unwrap();
        assert_eq!(folder.child("mem-7").unwrap(), PathTemplate::default().path("bob", "7").unwrap());
        assert_eq!(folder.child("more/").unwrap().as_str(), "claude-memory/bob/more");
        assert!(folder.child("..").is_err());
    }
}
