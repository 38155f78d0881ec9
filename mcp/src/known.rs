//! The arguments that each tool knows. A call with any other argument is rejected before it does anything, so that no
//! request is silently ignored.

use serde_json::Value;
use tessera_engine::screen::dropped;

/// Arguments of older clients that have no effect. Each entry contains the tools, the name, and the reason.
const WITHOUT_EFFECT: &[(&[&str], &str, &str)] = &[
    (NOTE_TOOLS, "workspace", "there are no workspaces"),
    (NOTE_TOOLS, "project_id", "folders are identified by name"),
    (&["search_notes"], "search_type", "keyword search and semantic search are always combined"),
    (&["search_notes"], "search_all_projects", "all folders are searched unless project is set"),
    (&["read_note"], "include_frontmatter", "a note is always returned as written"),
    (&["read_note"], "page", "use the argument `line` to continue in a long note"),
    (&["read_note"], "page_size", "max_tokens limits the length of the reply"),
    (&["recent_activity"], "depth", "each row is one note; related notes are not listed"),
    (&["search_notes", "recent_activity"], "entity_types", "each row is one note, with its matching section"),
];

const NOTE_TOOLS: &[&str] = &["search_notes", "build_context", "recent_activity", "read_note"];

/// Minimum similarity (0 to 1) of two names for a "did you mean" suggestion.
const ALIKE: f64 = 0.75;

/// The arguments that a tool knows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known {
    /// The arguments of its schema, followed by their aliases.
    names: Vec<String>,
    /// The number of arguments in the schema.
    shown: usize,
    /// Lists of names that mean the same argument.
    alike: &'static [&'static [&'static str]],
    tool: &'static str,
}

impl Known {
    /// The arguments of a tool: those in its schema, and aliases.
    pub(crate) fn of(tool: &'static str, properties: &Value, aliases: &'static [&'static [&'static str]]) -> Self {
        let mut names: Vec<String> = properties.as_object().into_iter().flat_map(|all| all.keys().cloned()).collect();
        let shown = names.len();
        names.extend(aliases.iter().flat_map(|names| names.iter().map(|name| (*name).to_owned())));
        Self { names, shown, alike: aliases, tool }
    }

    /// True if the tool reads this argument.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }

    /// Checks the arguments of a call. Returns a one-line remark about arguments that have no effect.
    ///
    /// # Errors
    /// Returns an error if the tool does not know an argument; the error suggests a known one. Also returns an error if
    /// two names of one argument have different values.
    pub(crate) fn check<'a>(
        &self,
        given: impl Iterator<Item = (&'a String, &'a Value)>,
    ) -> Result<Option<String>, ArgumentError> {
        let given: Vec<_> = given.filter(|(_, value)| is_given(value)).collect();
        let mut idle = Vec::new();
        for (name, _) in given.iter().filter(|(name, _)| !self.has(name)) {
            match self.why_without_effect(name) {
                Some(why) => idle.push(format!("{name} has no effect here: {why}")),
                None => return Err(self.unknown(name)),
            }
        }
        for names in self.alike {
            agree(names, &given)?;
        }
        Ok((!idle.is_empty()).then(|| idle.join("; ")))
    }

    fn why_without_effect(&self, name: &str) -> Option<&'static str> {
        let of_tool = WITHOUT_EFFECT.iter().filter(|(tools, ..)| tools.contains(&self.tool));
        of_tool.into_iter().find(|(_, idle, _)| *idle == name).map(|(.., why)| *why)
    }

    fn unknown(&self, name: &str) -> ArgumentError {
        let shown: String = name.chars().take(40).collect();
        let alike = |known: &String| strsim::jaro_winkler(&shown.to_lowercase(), known);
        let nearest = self.names.iter().max_by(|one, other| alike(one).total_cmp(&alike(other)));
        let fix = match nearest {
            Some(nearest) if alike(nearest) >= ALIKE => format!("did you mean {nearest}?"),
            Some(_) => {
                let shown: Vec<&str> = self.names.iter().take(self.shown).map(String::as_str).collect();
                format!("{} knows {}", self.tool, shown.join(", "))
            }
            None => format!("{} takes no arguments", self.tool),
        };
        ArgumentError::Unknown { name: dropped(&shown).into_owned(), fix }
    }
}

/// Checks that two names of one argument have the same value. Otherwise, the tool would ignore one of the two values.
fn agree(names: &[&'static str], given: &[(&String, &Value)]) -> Result<(), ArgumentError> {
    let value = |name: &str| given.iter().find(|(given, _)| *given == name).map(|(_, value)| *value);
    let mut said = names.iter().filter_map(|name| Some((*name, value(name)?)));
    let Some((first, meant)) = said.next() else { return Ok(()) };
    match said.find(|(_, value)| *value != meant) {
        Some((second, _)) => Err(ArgumentError::Twice { first, second }),
        None => Ok(()),
    }
}

/// True for a meaningful value. Absent, `null` and `""` mean the same.
pub(crate) fn is_given(value: &Value) -> bool {
    !value.is_null() && value.as_str() != Some("")
}

/// Arguments that cannot all be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ArgumentError {
    /// An argument that the tool does not know.
    #[error("{name}: unknown argument, so nothing was changed; {fix}")]
    Unknown {
        /// The unknown name as the caller wrote it, shortened.
        name: String,
        /// The suggestion.
        fix: String,
    },
    /// Two names of one argument with different values.
    #[error(
        "{second}: is another name for {first} but has a different value, so nothing was changed; pass only one of them"
    )]
    Twice {
        /// The name that would be used.
        first: &'static str,
        /// The name that would be ignored.
        second: &'static str,
    },
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn known() -> Known {
        let properties = json!({ "query": {}, "max_tokens": {} });
        Known::of("read_note", &properties, &[&["query", "q"], &["max_tokens", "token_budget"]])
    }

    fn check_all(given: &Value) -> Result<Option<String>, String> {
        known().check(given.as_object().unwrap().iter()).map_err(|error| error.to_string())
    }

    fn check(names: &[&str]) -> Result<Option<String>, String> {
        check_all(&names.iter().map(|name| ((*name).to_owned(), json!(1))).collect())
    }

    #[test]
    fn names_of_the_schema_and_their_aliases_are_known_and_no_other() {
        assert_eq!(check(&["query", "q", "token_budget"]), Ok(None));
        let error = check(&["q", "maxTokens"]).unwrap_err();
        assert_eq!(error, "maxTokens: unknown argument, so nothing was changed; did you mean max_tokens?");
        let error = check(&["\u{5bff}"]).unwrap_err();
        assert!(error.ends_with("read_note knows max_tokens, query"), "{error}");
        assert!(check(&[&"x".repeat(10_000)]).unwrap_err().len() < 200);
        assert!(Known::of("memory_count", &json!({}), &[]).check([(&"x".to_owned(), &json!(1))].into_iter()).is_err());
        assert_eq!(check_all(&json!({ "x": null, "y": "" })), Ok(None), "nothing is said by them");
    }

    #[test]
    fn two_names_of_one_thing_say_the_same() {
        assert_eq!(check_all(&json!({ "query": "a", "q": "a" })), Ok(None));
        assert_eq!(check_all(&json!({ "query": "a", "q": null })), Ok(None));
        let error = check_all(&json!({ "query": "a", "q": "b" })).unwrap_err();
        let same =
            "q: is another name for query but has a different value, so nothing was changed; pass only one of them";
        assert_eq!(error, same);
    }

    #[test]
    fn what_changes_nothing_is_told_with_its_reason() {
        let told = check(&["workspace", "q", "include_frontmatter"]).unwrap().unwrap();
        assert!(told.starts_with("include_frontmatter has no") && told.contains("; workspace has no effect"), "{told}");
        let elsewhere = Known::of("memory_recall", &json!({}), &[]);
        assert!(elsewhere.check([(&"workspace".to_owned(), &json!("w"))].into_iter()).is_err());
    }
}
