//! Our own entry in a client's settings: its name, how we are run, how we know it again.

use serde_json::Value;

/// The server's name in every client.
pub(crate) const SERVER: &str = "tessera";

/// How a client runs us.
pub(crate) struct Run {
    /// The program.
    pub(crate) program: String,
    /// The store that it is told to use.
    pub(crate) home: Option<String>,
}

impl Run {
    /// The arguments of a command.
    pub(crate) fn arguments(&self, command: &str) -> Vec<String> {
        let home = self.home.iter().flat_map(|home| ["--home".to_owned(), home.clone()]);
        std::iter::once(command.to_owned()).chain(home).collect()
    }
}

/// True for a hook entry of ours, wherever our program stood then.
pub(crate) fn is_our_hook(hook: &Value) -> bool {
    let program = hook.get("command").and_then(Value::as_str).and_then(|path| path.rsplit(['/', '\\']).next());
    let argument = hook.get("args").and_then(|args| args.get(0)?.as_str());
    matches!(program, Some("tessera" | "tessera.exe")) && argument == Some("hook")
}

/// Our arguments, and those that a user added to them. Another store was named by us.
pub(crate) fn with_added(ours: Vec<String>, known: &[String]) -> Vec<String> {
    let mut words = known.iter().skip(1);
    let mut added = Vec::new();
    while let Some(word) = words.next() {
        if word == "--home" {
            words.next();
        } else if !ours.contains(word) {
            added.push(word.clone());
        }
    }
    ours.into_iter().chain(added).collect()
}
