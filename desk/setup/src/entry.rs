//! Our entry in a client's settings: its name, its command, and how to recognise it.

use serde_json::Value;

/// The server's name in every client.
pub(crate) const SERVER: &str = "tessera";

/// How a client runs us.
pub(crate) struct Run {
    /// The program.
    pub(crate) program: String,
    /// The store that it must use.
    pub(crate) home: Option<String>,
}

impl Run {
    /// The arguments of a command.
    pub(crate) fn arguments(&self, command: &str) -> Vec<String> {
        let home = self.home.iter().flat_map(|home| ["--home".to_owned(), home.clone()]);
        std::iter::once(command.to_owned()).chain(home).collect()
    }
}

/// True for our hook entry, at any program path.
pub(crate) fn is_our_hook(hook: &Value) -> bool {
    let program = hook.get("command").and_then(Value::as_str).and_then(|path| path.rsplit(['/', '\\']).next());
    let argument = hook.get("args").and_then(|args| args.get(0)?.as_str());
    matches!(program, Some("tessera" | "tessera.exe")) && argument == Some("hook")
}

/// The arguments with the user's additions. If Tessera's arguments name a store, this name replaces the store in the
/// user's arguments.
pub(crate) fn with_added(ours: Vec<String>, known: &[String]) -> Vec<String> {
    let Some(command) = ours.first().filter(|command| known.contains(command)) else { return ours };
    let Some(home) = ours.get(2) else { return known.to_vec() };
    let (mut words, mut named) = (Vec::new(), false);
    let mut rest = known.iter();
    while let Some(word) = rest.next() {
        if word == "--home" || word.starts_with("--home=") {
            if word == "--home" {
                rest.next();
            }
            if !named {
                words.extend(["--home".to_owned(), home.clone()]);
            }
            named = true;
        } else {
            words.push(word.clone());
        }
    }
    if !named {
        let after = words.iter().position(|word| word == command).map_or(0, |at| at + 1);
        words.splice(after..after, ["--home".to_owned(), home.clone()]);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::with_added;

    #[test]
    fn what_a_user_made_of_our_arguments_stays() {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        for (ours, known, made) in [
            ("mcp", "mcp -v", "mcp -v"),
            ("mcp", "-v mcp --home /x", "-v mcp --home /x"),
            ("mcp --home /y", "mcp", "mcp --home /y"),
            ("mcp --home /y", "--home /x mcp -v", "--home /y mcp -v"),
            ("mcp --home /y", "-v mcp --home=/x", "-v mcp --home /y"),
            ("mcp --home /y", "serve", "mcp --home /y"),
            ("mcp", "", "mcp"),
        ] {
            assert_eq!(with_added(words(ours), &words(known)), words(made), "{known}");
        }
    }
}
