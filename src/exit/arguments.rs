//! The command that the user typed, and the names of its arguments.

use std::ffi::OsString;
use std::path::Path;

use tessera_setup::Client;

use super::hints;
use super::usage::listed;

/// Commands that need another name in examples than the beginning of their help.
const EXAMPLE: &str = "for example `";
/// The smallest similarity, 0 to 1, of a name that is suggested.
const ALIKE: f64 = 0.86;

/// The command of a command line.
pub(super) struct Used {
    root: clap::Command,
    /// The names of the command and of its action.
    path: Vec<String>,
}

impl Used {
    /// Finds the command in the arguments of this process.
    pub(super) fn now() -> Self {
        Self::of(std::env::args_os().skip(1))
    }

    fn of(arguments: impl Iterator<Item = OsString>) -> Self {
        let mut root = crate::cli::command();
        root.build();
        let mut path = Vec::new();
        let (mut at, mut is_value) = (&root, false);
        for argument in arguments {
            let text = argument.to_string_lossy();
            if std::mem::take(&mut is_value) {
                continue;
            }
            if text.starts_with('-') {
                is_value = ["--home", "--color"].contains(&text.as_ref());
                continue;
            }
            match at.find_subcommand(text.as_ref()) {
                Some(found) if found.get_name() != "help" => {
                    path.push(found.get_name().to_owned());
                    at = found;
                }
                Some(_) => {}
                None => break,
            }
        }
        Self { root, path }
    }

    fn command(&self) -> &clap::Command {
        self.path.iter().fold(&self.root, |at, name| at.find_subcommand(name).unwrap_or(at))
    }

    /// True if no command was typed.
    pub(super) fn is_top(&self) -> bool {
        self.path.is_empty()
    }

    /// `tessera`, the command and its action.
    pub(super) fn line(&self) -> String {
        std::iter::once("tessera").chain(self.path.iter().map(String::as_str)).collect::<Vec<_>>().join(" ")
    }

    /// True if the arguments of the command are the words of a text.
    pub(super) fn accepts_text(&self) -> bool {
        ["tessera remember", "tessera recall", "tessera note search"].contains(&self.line().as_str())
    }

    /// The actions of the command: `a, b or c`.
    pub(super) fn actions(&self) -> String {
        let names = self.command().get_subcommands().filter(|one| !one.is_hide_set() && one.get_name() != "help");
        listed(&names.map(clap::Command::get_name).collect::<Vec<_>>())
    }

    /// An example of the command.
    pub(super) fn example(&self) -> String {
        let line = self.line();
        let help = self.command().get_after_help().map(ToString::to_string).unwrap_or_default();
        let example = help.lines().filter_map(|line| line.strip_prefix("  ")).find(|one| one.starts_with(&line));
        match example {
            Some(example) => format!("{EXAMPLE}{}`", example.split("    (").next().unwrap_or(example)),
            None => format!("`{line} --help` shows its arguments"),
        }
    }

    /// The command whose name or alias is most like the typed word.
    pub(super) fn nearest_command(&self, typed: &str) -> Option<&str> {
        let commands = self.root.get_subcommands().filter(|one| !one.is_hide_set() && one.get_name() != "help");
        let names = commands.flat_map(|one| {
            let aliases = one.get_all_aliases();
            std::iter::once(one.get_name()).chain(aliases).map(move |name| (name, one.get_name()))
        });
        nearest(typed, names)
    }

    /// The name of the command, or of its action.
    pub(super) fn name(&self) -> &str {
        self.path.last().map_or("tessera", String::as_str)
    }

    /// True if the command has an option, by its long or its short name.
    pub(super) fn has_option(&self, typed: &str) -> bool {
        has(self.command(), typed)
    }

    /// For an option before the command: the command that has it.
    pub(super) fn command_with(&self, typed: &str) -> Option<String> {
        let words = std::env::args_os().skip(1);
        let mut found = words.filter_map(|word| self.root.find_subcommand(word));
        let command = found.find(|command| has(command, typed))?;
        self.is_top().then(|| format!("tessera {}", command.get_name()))
    }

    /// True if an option is on the command line before a word, or the word is not there.
    pub(super) fn is_before(option: &str, word: &str) -> bool {
        let place = |sought: &str| std::env::args_os().position(|argument| argument == sought);
        place(word).is_none_or(|at| place(option).is_some_and(|option| option < at))
    }

    /// The option whose value is the word before `word`, with this value.
    pub(super) fn option_before(&self, word: &str) -> Option<(String, String)> {
        let words: Vec<OsString> = std::env::args_os().collect();
        let at = words.iter().position(|argument| argument == word)?;
        let said = |back: usize| Some(words.get(at.checked_sub(back)?)?.to_str()?.to_owned());
        let (value, option) = (said(1)?, said(2)?);
        let name = option.strip_prefix("--").filter(|_| !value.starts_with('-'))?;
        let takes_value =
            |argument: &&clap::Arg| argument.get_long() == Some(name) && argument.get_action().takes_values();
        self.command().get_arguments().find(takes_value)?;
        Some((option, value))
    }

    /// True if a word of the command line is a client.
    pub(super) fn names_a_client() -> bool {
        std::env::args_os().any(|word| word.to_str().and_then(Client::named).is_some())
    }

    /// The option of the command that does the same as the typed one, or has a similar name.
    pub(super) fn nearest_option(&self, typed: &str) -> Option<String> {
        if let Some(ours) = hints::of_option(typed, |option| self.has_option(option)) {
            return Some(ours.to_owned());
        }
        let long = typed.strip_prefix("--")?;
        let options = || self.command().get_arguments().filter_map(clap::Arg::get_long);
        nearest(long, options().map(|name| (name, name))).map(|name| format!("--{name}"))
    }

    /// The name of a field as the user typed it, for a value that the command passed on.
    pub(super) fn typed(&self, field: &str) -> String {
        let command = self.command();
        let kebab = field.replace('_', "-");
        let kebab = match kebab.as_str() {
            "expires-at" => "expires",
            "created-at" => "created",
            "types" => "type",
            "categories" => "category",
            "scopes" => "scope",
            other => other,
        };
        if command.get_arguments().any(|argument| argument.get_long() == Some(kebab)) {
            return format!("`--{kebab}`");
        }
        match field {
            "content" | "text" => "the text".to_owned(),
            "query" => "the question".to_owned(),
            "id" | "ids" => "the ID".to_owned(),
            "url" | "identifier" => "this name".to_owned(),
            "dir" => "the directory".to_owned(),
            "path" => "the path".to_owned(),
            "name" => "the name".to_owned(),
            "timeframe" => "the period".to_owned(),
            "type" => "the type".to_owned(),
            _ => format!("`{field}`"),
        }
    }

    /// What to type instead of a value that is not valid, if the value shows what the user wants.
    pub(super) fn hint(&self, argument: &str, value: &str) -> Option<String> {
        let command = self.path.first().map(String::as_str)?;
        if argument != "ID" {
            return None;
        }
        if let ("update", Some((name, new))) = (command, value.split_once('='))
            && self.has_option(&format!("--{name}"))
        {
            return Some(format!("to change this field, use `--{name} {new}`"));
        }
        let shown = shlex::try_quote(value).unwrap_or_default();
        let is_backup = Path::new(value).extension().is_some_and(|ending| ending == "db");
        // A part of a UUID, a pattern or the name of a file is not a word to search for.
        let is_words = value.chars().all(|c| c.is_alphabetic() || matches!(c, ' ' | '\'' | '-')) && value.len() > 2;
        Some(match (command, value) {
            ("forget", "all") => hints::instead("forget", "--all")?.to_owned(),
            ("restore", "all" | "last" | "latest") => "`tessera list --deleted` lists deleted memories".to_owned(),
            (_, "all" | "last" | "latest" | "*") => "`tessera list` lists all memories".to_owned(),
            ("restore", _) if is_backup => format!("to restore a backup, use `tessera restore-backup {shown}`"),
            _ if !is_words => return None,
            ("forget", _) => format!("to delete by words, use `tessera forget --matching {shown}`"),
            ("update", _) => format!("to change the text, use `--content {shown}`"),
            ("share" | "unshare", _) => format!("to name a tag, use `--tag {shown}`"),
            _ => format!("use an ID such as 42; `tessera recall {shown}` searches for one"),
        })
    }
}

fn has(command: &clap::Command, typed: &str) -> bool {
    let (long, short) = (typed.strip_prefix("--"), typed.strip_prefix('-').and_then(|name| name.chars().next()));
    command.get_arguments().any(|argument| match long {
        Some(long) => argument.get_long() == Some(long),
        None => short.is_some() && argument.get_short() == short && typed.chars().count() == 2,
    })
}

fn nearest<'a>(typed: &str, names: impl Iterator<Item = (&'a str, &'a str)>) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    let likeness = |name: &str| match name.starts_with(&typed) && typed.len() > 2 {
        true => 1.0,
        false if name.chars().next() == typed.chars().next() => strsim::jaro_winkler(&typed, name),
        false => 0.0,
    };
    let rated = names.map(|(name, ours)| (likeness(name), ours)).filter(|(rate, _)| *rate >= ALIKE);
    rated.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, ours)| ours)
}

/// True if a problem continues a sentence whose subject is the value: `is not a number`.
pub(crate) fn starts_with_verb(problem: &str) -> bool {
    const VERBS: [&str; 15] = [
        "works", "names", "ends", "is", "are", "has", "have", "contains", "cannot", "must", "needs", "does", "was",
        "begins", "belongs",
    ];
    problem.split(' ').next().is_some_and(|word| VERBS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(line: &str) -> Used {
        Used::of(line.split(' ').map(OsString::from))
    }

    #[test]
    fn the_command_is_found_behind_options_and_aliases() {
        for (line, expected) in [
            ("--home /x list --json", "tessera list"),
            ("search words", "tessera recall"),
            ("config set key value", "tessera settings set"),
            ("--json nope", "tessera"),
            ("help recall", "tessera recall"),
        ] {
            assert_eq!(used(line).line(), expected, "{line}");
        }
    }

    #[test]
    fn fields_have_the_names_of_the_command() {
        assert_eq!(used("remember x").typed("expires_at"), "`--expires`");
        assert_eq!(used("remember x").typed("content"), "the text");
        assert_eq!(used("update 1").typed("content"), "`--content`");
        assert_eq!(used("recall x").typed("max_tokens"), "`--max-tokens`");
    }

    #[test]
    fn similar_names_are_suggested() {
        let top = used("");
        for (typed, expected) in
            [("recal", Some("recall")), ("setings", Some("settings")), ("seach", Some("recall")), ("nosuch", None)]
        {
            assert_eq!(top.nearest_command(typed), expected, "{typed}");
        }
        assert_eq!(used("recall").nearest_option("--budget"), Some("--max-tokens".to_owned()));
        assert_eq!(used("recall").nearest_option("--limt=3"), Some("--limit".to_owned()));
    }
}
