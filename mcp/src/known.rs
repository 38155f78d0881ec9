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
    (&["recent_activity"], "depth", "rows are notes, without what is related"),
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
    tool: &'static str,
}

impl Known {
    /// Of a tool: what its schema shows, and what else it understands.
    pub(crate) fn of(tool: &'static str, properties: &Value, aliases: &[&[&str]]) -> Self {
        let mut names: Vec<String> = properties.as_object().into_iter().flat_map(|all| all.keys().cloned()).collect();
        let shown = names.len();
        names.extend(aliases.iter().flat_map(|names| names.iter().map(|name| (*name).to_owned())));
        Self { names, shown, tool }
    }

    /// True for a name that the tool reads.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }

    /// Looks at the names that a call gives: what is to be said of those that change nothing, in one line.
    ///
    /// # Errors
    /// Naming the first that the tool does not know, and what it may have been meant for.
    pub(crate) fn check<'a>(&self, given: impl Iterator<Item = &'a String>) -> Result<Option<String>, UnknownArgument> {
        let mut idle = Vec::new();
        for name in given.filter(|name| !self.has(name)) {
            match self.why_without_effect(name) {
                Some(why) => idle.push(format!("{name} has no effect here: {why}")),
                None => return Err(self.unknown(name)),
            }
        }
        Ok((!idle.is_empty()).then(|| idle.join("; ")))
    }

    fn why_without_effect(&self, name: &str) -> Option<&'static str> {
        let of_tool = WITHOUT_EFFECT.iter().filter(|(tools, ..)| tools.contains(&self.tool));
        of_tool.into_iter().find(|(_, idle, _)| *idle == name).map(|(.., why)| *why)
    }

    fn unknown(&self, name: &str) -> UnknownArgument {
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
        UnknownArgument { name: dropped(&shown).into_owned(), fix }
    }
}

/// An argument that a tool does not know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name}: is no argument of this tool, and nothing was done; {fix}")]
pub(crate) struct UnknownArgument {
    name: String,
    fix: String,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn known() -> Known {
        let properties = json!({ "query": {}, "max_tokens": {} });
        Known::of("read_note", &properties, &[&["query", "q"], &["max_tokens", "token_budget"]])
    }

    fn check(names: &[&str]) -> Result<Option<String>, String> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        known().check(names.iter()).map_err(|unknown| unknown.to_string())
    }

    #[test]
    fn names_of_the_schema_and_their_aliases_are_known_and_no_other() {
        assert_eq!(check(&["query", "q", "token_budget"]), Ok(None));
        let error = check(&["q", "maxTokens"]).unwrap_err();
        assert_eq!(error, "maxTokens: is no argument of this tool, and nothing was done; did you mean max_tokens?");
        let error = check(&["\u{5bff}"]).unwrap_err();
        assert!(error.ends_with("read_note knows max_tokens, query"), "{error}");
        assert!(check(&[&"x".repeat(10_000)]).unwrap_err().len() < 200);
        assert!(Known::of("memory_count", &json!({}), &[]).check([&"x".to_owned()].into_iter()).is_err());
    }

    #[test]
    fn what_changes_nothing_is_told_with_its_reason() {
        let told = check(&["workspace", "q", "include_frontmatter"]).unwrap().unwrap();
        assert!(told.contains("workspace has no effect here: ") && told.contains("; include_frontmatter"), "{told}");
        assert!(Known::of("memory_recall", &json!({}), &[]).check([&"workspace".to_owned()].into_iter()).is_err());
    }
}
