//! Which arguments a tool knows: a call with any other is refused before anything is done, so that nothing that somebody
//! asked for is passed over in silence.

use serde_json::Value;
use tessera_engine::screen::dropped;

/// Arguments that clients of older systems send and that change nothing here: the tools, the name, and why.
const WITHOUT_EFFECT: &[(&[&str], &str, &str)] = &[
    (NOTE_TOOLS, "workspace", "there are no workspaces"),
    (NOTE_TOOLS, "project_id", "folders go by their names"),
    (&["search_notes"], "search_type", "words and meaning are always asked together"),
    (&["search_notes"], "search_all_projects", "all folders are searched unless project names one"),
    (&["read_note"], "include_frontmatter", "a note is given as it is written"),
    (&["read_note"], "page", "line goes on in a long one"),
    (&["read_note"], "page_size", "max_tokens bounds it"),
    (&["recent_activity"], "depth", "rows are notes, without what is related"),
    (&["search_notes", "recent_activity"], "entity_types", "rows are notes, with the part that answers"),
];

const NOTE_TOOLS: &[&str] = &["search_notes", "build_context", "recent_activity", "read_note"];

/// How alike two names are at least, of 1, for one to be taken for a slip of the other.
const ALIKE: f64 = 0.75;

/// The arguments that a tool knows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known {
    /// Those that its schema shows, then their other names.
    names: Vec<String>,
    /// So many are in its schema.
    shown: usize,
    /// The names of one thing, each list.
    alike: &'static [&'static [&'static str]],
    tool: &'static str,
}

impl Known {
    /// Of a tool: what its schema shows, and what else it understands.
    pub(crate) fn of(tool: &'static str, properties: &Value, aliases: &'static [&'static [&'static str]]) -> Self {
        let mut names: Vec<String> = properties.as_object().into_iter().flat_map(|all| all.keys().cloned()).collect();
        let shown = names.len();
        names.extend(aliases.iter().flat_map(|names| names.iter().map(|name| (*name).to_owned())));
        Self { names, shown, alike: aliases, tool }
    }

    /// True for a name that the tool reads.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }

    /// Looks at what a call gives: what is to be said of the names that change nothing, in one line.
    ///
    /// # Errors
    /// Naming the first that the tool does not know, and what it may have been meant for, or two names of one thing that
    /// are given different values.
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

/// Two names of one thing say the same, else one of them would be passed over.
fn agree(names: &[&'static str], given: &[(&String, &Value)]) -> Result<(), ArgumentError> {
    let value = |name: &str| given.iter().find(|(given, _)| *given == name).map(|(_, value)| *value);
    let mut said = names.iter().filter_map(|name| Some((*name, value(name)?)));
    let Some((first, meant)) = said.next() else { return Ok(()) };
    match said.find(|(_, value)| *value != meant) {
        Some((second, _)) => Err(ArgumentError::Twice { first, second }),
        None => Ok(()),
    }
}

/// True for what says something: absent, `null` and `""` mean the same.
pub(crate) fn is_given(value: &Value) -> bool {
    !value.is_null() && value.as_str() != Some("")
}

/// Arguments that cannot all be heeded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ArgumentError {
    /// One that the tool does not know.
    #[error("{name}: is no argument of this tool, and nothing was done; {fix}")]
    Unknown {
        /// As the caller calls it, in short.
        name: String,
        /// What it may have been meant for.
        fix: String,
    },
    /// Two names of one thing with different values.
    #[error("{second}: means the same as {first}, with another value, and nothing was done; give one of them")]
    Twice {
        /// The name that would have been heeded.
        first: &'static str,
        /// The one that would have been passed over.
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
        assert_eq!(error, "maxTokens: is no argument of this tool, and nothing was done; did you mean max_tokens?");
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
        assert_eq!(error, "q: means the same as query, with another value, and nothing was done; give one of them");
    }

    #[test]
    fn what_changes_nothing_is_told_with_its_reason() {
        let told = check(&["workspace", "q", "include_frontmatter"]).unwrap().unwrap();
        assert!(told.starts_with("include_frontmatter has no") && told.contains("; workspace has no effect"), "{told}");
        let elsewhere = Known::of("memory_recall", &json!({}), &[]);
        assert!(elsewhere.check([(&"workspace".to_owned(), &json!("w"))].into_iter()).is_err());
    }
}
