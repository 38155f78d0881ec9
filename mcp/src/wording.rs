//! Names tools instead of commands in messages for a model. The messages of the engine name commands, because people read
//! them too.

const BEGINNING: &str = "`tessera ";

/// Replaces each command that has a tool by this tool. Other commands stay, because only the user can run them.
pub(crate) fn for_model(text: &str) -> String {
    let mut said = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(BEGINNING) {
        said.push_str(before);
        let Some((command, tail)) = after.split_once('`') else {
            said.push_str(BEGINNING);
            said.push_str(after);
            return said;
        };
        match tool(command) {
            Some(tool) => said.push_str(tool),
            None => said.push_str(&format!("{BEGINNING}{command}`")),
        }
        rest = tail;
    }
    said + rest
}

/// The tool that does the same as a command.
fn tool(command: &str) -> Option<&'static str> {
    let (name, options) = command.split_once(' ').unwrap_or((command, ""));
    Some(match (name, options) {
        ("list", _) if options.contains("--expired") => "memory_recall with expired",
        ("list", _) => "memory_recall without a query",
        ("get", _) => "memory_get",
        ("history", _) => "memory_get with history",
        ("restore", _) if options.contains("--before") => "memory_restore with before",
        ("restore", _) => "memory_restore",
        ("update", _) => "memory_store with id",
        ("forget", _) => "memory_forget",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_with_a_tool_become_the_tool_and_others_stay() {
        for (text, expected) in [
            (
                "there is no memory #9; `tessera list` lists memories",
                "there is no memory #9; memory_recall without a query lists memories",
            ),
            (
                "`tessera restore ID --before REV` or `tessera undo ID`",
                "memory_restore with before or `tessera undo ID`",
            ),
            ("see `tessera history /memories/a b.md`.", "see memory_get with history."),
            ("run `tessera doctor --repair`", "run `tessera doctor --repair`"),
            ("an open `tessera quote", "an open `tessera quote"),
            ("", ""),
        ] {
            assert_eq!(for_model(text), expected);
        }
    }
}
