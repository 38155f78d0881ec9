//! Typed links between memories.

use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};
use tessera_screen::is_clean;
use tessera_tables::{displays, text_types};

use super::{DomainError, MemoryUuid};

/// Maximum length of a link type in characters.
const MAX_KIND_CHARS: usize = 64;

/// The type of a link: one of five known types, or any other single word (`depends_on`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, schemars::JsonSchema, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum LinkKind {
    /// The source replaces the target, so recall returns the source. No other type has this effect.
    Supersedes,
    /// The source replaces or amends the target. Recall returns the source first and marks the target.
    Updates,
    /// The target resolves the source, which is a question or an incident.
    ResolvedBy,
    /// The source is a part of the target.
    PartOf,
    /// The two are related.
    SeeAlso,
    /// Any other type.
    Other(OtherKind),
}

/// A custom link type: lowercase letters and digits, words joined by `_`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OtherKind(Box<str>);

impl LinkKind {
    /// The known types, in the order of the documentation.
    pub const KNOWN: [Self; 5] = [Self::Supersedes, Self::Updates, Self::ResolvedBy, Self::PartOf, Self::SeeAlso];

    /// The name as stored and typed.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Supersedes => "supersedes",
            Self::Updates => "updates",
            Self::ResolvedBy => "resolved_by",
            Self::PartOf => "part_of",
            Self::SeeAlso => "see_also",
            Self::Other(kind) => &kind.0,
        }
    }

    /// True for a type that every version of Tessera knows.
    pub fn is_known(&self) -> bool {
        !matches!(self, Self::Other(_))
    }

    /// Parses a stored type, whose text was already checked for credentials.
    ///
    /// # Errors
    /// Returns an error if the type is not valid.
    pub fn kept(text: &str) -> Result<Self, DomainError> {
        let words: Vec<String> = text
            .split(|letter: char| letter.is_whitespace() || matches!(letter, '_' | '-'))
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect();
        let name = words.join("_");
        if let Some(known) = Self::KNOWN.into_iter().find(|kind| kind.as_str() == name) {
            return Ok(known);
        }
        let refused = |problem: &'static str| {
            let fix = "use supersedes, updates, resolved_by, part_of, see_also, or a short name such as depends_on";
            Err(DomainError::invalid("type", problem, fix))
        };
        if !name.chars().any(char::is_alphanumeric) {
            return refused("contains no letter or digit");
        }
        if name.chars().count() > MAX_KIND_CHARS {
            return refused("is longer than 64 characters");
        }
        // A combining mark belongs to the letter before it.
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_' || !letter.is_ascii() && !is_odd(letter);
        if !name.chars().all(is_word) {
            return refused("contains a character that is not allowed in link types");
        }
        Ok(Self::Other(OtherKind(name.into())))
    }
}

/// A character that belongs to no word in any script: separators, symbols and invisible characters.
fn is_odd(letter: char) -> bool {
    letter.is_control()
        || letter.is_whitespace()
        || matches!(letter,
            '\u{80}'..='\u{bf}' | '\u{2000}'..='\u{2bff}' | '\u{2e00}'..='\u{303f}' | '\u{e000}'..='\u{f8ff}'
            | '\u{fe00}'..='\u{fe6f}' | '\u{feff}'..='\u{ff0f}' | '\u{fff0}'..='\u{ffff}' | '\u{e0000}'..='\u{10ffff}')
}

impl FromStr for LinkKind {
    type Err = DomainError;

    fn from_str(text: &str) -> Result<Self, DomainError> {
        let kind = Self::kept(text)?;
        // A credential could no longer be recognised after case folding, so the original text is checked too.
        let is_clean = kind.is_known() || is_clean(text) && is_clean(kind.as_str());
        if !is_clean {
            let fix = "describe the relation with a short name, such as depends_on";
            return Err(DomainError::invalid("type", "looks like a credential", fix));
        }
        Ok(kind)
    }
}

text_types! { LinkKind: DomainError }
displays! { LinkKind }

/// A link that a memory stores, to another memory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, schemars::JsonSchema, Deserialize)]
pub struct Link {
    /// The type.
    #[serde(rename = "type")]
    pub kind: LinkKind,
    /// The other memory.
    pub to: MemoryUuid,
}

/// Parses links from other sources. A link with an invalid type, or with a credential in it, is skipped; the others are
/// kept.
///
/// # Errors
/// Returns an error if the value is not a list of links.
pub fn readable_links<'de, D: Deserializer<'de>, C: FromIterator<Link>>(from: D) -> Result<C, D::Error> {
    #[derive(Deserialize)]
    struct Said {
        #[serde(rename = "type")]
        kind: String,
        to: MemoryUuid,
    }
    let said = Vec::<Said>::deserialize(from)?;
    Ok(said.into_iter().filter_map(|said| Some(Link { kind: said.kind.parse().ok()?, to: said.to })).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_a_known_one_or_any_word() {
        for (given, kept, is_known) in [
            ("supersedes", "supersedes", true),
            ("See-Also", "see_also", true),
            (" part of ", "part_of", true),
            ("Depends On", "depends_on", false),
            ("__depends--on__", "depends_on", false),
            ("依存", "依存", false),
            ("hängt_ab", "hängt_ab", false),
            ("निर्भर", "निर्भर", false),
        ] {
            let kind: LinkKind = given.parse().unwrap();
            assert_eq!((kind.as_str(), kind.is_known()), (kept, is_known), "{given}");
            assert_eq!(kind.as_str().parse(), Ok(kind.clone()), "what is kept reads as itself");
            assert_eq!(serde_json::to_value(&kind).unwrap(), kept);
        }
        for bad in ["", " - ", "a,b", "a\u{0}b", "<system>", "a\u{200b}b", "a:b", "a/b", &"x".repeat(65)] {
            let refused = bad.parse::<LinkKind>().unwrap_err().to_string();
            assert!(refused.starts_with("type: "), "{bad:?}: {refused}");
        }
    }

    #[test]
    fn a_credential_is_no_type_and_a_list_from_elsewhere_goes_on_without_it() {
        let key = format!("AKIA{}", "Q3EGRZL7TNPXWVU2");
        let refused = key.parse::<LinkKind>().unwrap_err().to_string();
        assert!(refused.contains("looks like a credential") && !refused.contains(&key), "{refused}");
        #[derive(Deserialize)]
        struct Holder {
            #[serde(deserialize_with = "readable_links")]
            links: std::collections::BTreeSet<Link>,
        }
        let to = MemoryUuid::from_key("other");
        let listed = serde_json::json!({ "links": [
            { "type": key, "to": to }, { "type": "", "to": to }, { "type": "eats", "to": to }, { "type": "part_of", "to": to },
        ] });
        let read: Holder = serde_json::from_value(listed).unwrap();
        assert_eq!(read.links.iter().map(|link| link.kind.as_str()).collect::<Vec<_>>(), ["part_of", "eats"]);
    }
}
