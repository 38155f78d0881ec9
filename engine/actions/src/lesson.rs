//! Lessons: memories with the fields `avoid` and `instead`, such as "avoid: `npm test`; instead: `pnpm test`".

use serde_json::json;

use crate::action::{Action, Called};

/// What to avoid, and what to do instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lesson {
    /// The command or conduct to avoid, without backticks.
    pub avoid: String,
    /// The better one.
    pub instead: String,
    /// True if `avoid` is in backticks, so that it is a command and not a sentence.
    pub is_command: bool,
}

/// The names of the fields, in their order. The last one is optional.
const FIELDS: [&str; 3] = ["avoid:", "instead:", "because:"];

impl Lesson {
    /// Reads the text of a memory. The fields are in one line, separated by semicolons, or in a line each. `None` if the text
    /// is not a lesson.
    pub fn read(text: &str) -> Option<Self> {
        let [avoid, instead, because] = FIELDS;
        let text = text.trim();
        let begins =
            |text: &str, name: &str| text.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name));
        let rest = text.get(avoid.len()..).filter(|_| begins(text, avoid))?;
        let (avoided, rest) = split_at_field(rest, instead)?;
        let better = split_at_field(rest, because).map_or(rest, |(better, _)| better);
        let (avoided, better) = (avoided.trim(), better.trim());
        let is_command = avoided.starts_with('`') && avoided.ends_with('`');
        let plain = |field: &str| field.trim_matches(['`', ' ']).to_owned();
        let lesson = Self { avoid: plain(avoided), instead: plain(better), is_command };
        (!lesson.avoid.is_empty() && !lesson.instead.is_empty()).then_some(lesson)
    }

    /// A lesson about two commands.
    pub fn of_commands(avoid: &str, instead: &str) -> Self {
        Self { avoid: avoid.to_owned(), instead: instead.to_owned(), is_command: true }
    }

    /// The text of a lesson about commands, with the reason.
    pub fn text(&self, because: &str) -> String {
        format!("avoid: `{}`; instead: `{}`; because: {because}", self.avoid, self.instead)
    }

    /// True if the action runs the command to avoid: the action has all words of this command. An action that also has all
    /// words of the better command complies with the lesson.
    pub fn binds(&self, action: &Action) -> bool {
        let (avoided, better) = (runs(&self.avoid), runs(&self.instead));
        let runs_all = |calls: &[Called]| calls.iter().all(|call| action.runs.iter().any(|run| contains(run, call)));
        let adds_something = better.iter().any(|call| !avoided.iter().any(|run| contains(run, call)));
        !avoided.is_empty() && runs_all(&avoided) && !(adds_something && runs_all(&better))
    }
}

/// The text before a field and after its name. The field begins a line, or follows a semicolon.
fn split_at_field<'t>(text: &'t str, name: &str) -> Option<(&'t str, &'t str)> {
    let lower = text.to_ascii_lowercase();
    let (at, _) = lower.match_indices(name).find(|(at, _)| {
        let before = lower.get(..*at).unwrap_or_default();
        before.trim_end_matches([' ', '\t', '\r']).ends_with([';', '\n'])
    })?;
    let before = text.get(..at)?.trim_end().trim_end_matches(';');
    Some((before, text.get(at + name.len()..)?))
}

fn runs(command: &str) -> Vec<Called> {
    Action::read("Bash", &json!({ "command": command }), "/", "/").map(|action| action.runs).unwrap_or_default()
}

fn contains(run: &Called, call: &Called) -> bool {
    run.program == call.program && call.words.is_subset(&run.words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(String, String, bool)> {
        Lesson::read(text).map(|lesson| (lesson.avoid, lesson.instead, lesson.is_command))
    }

    fn binds(text: &str, command: &str) -> bool {
        let action = Action::read("Bash", &json!({ "command": command }), "/repo", "/repo").unwrap();
        Lesson::read(text).unwrap().binds(&action)
    }

    #[test]
    fn the_fields_are_in_one_line_or_in_several() {
        let commands = |avoid: &str, instead: &str| Some((avoid.to_owned(), instead.to_owned(), true));
        let tests = commands("npm test", "pnpm test");
        assert_eq!(read("avoid: `npm test`; instead: `pnpm test`"), tests);
        assert_eq!(read(" Avoid: `npm test`;\r\nINSTEAD: `pnpm test`\nbecause: instead: is a word\n"), tests);
        assert_eq!(read("avoid: `npm test`; instead: `pnpm test`; because: npm error"), tests);
        assert_eq!(read("avoid: `a; b`; instead: `a && b`"), commands("a; b", "a && b"));
        let sentence = ("editing the lock file".to_owned(), "run the generator".to_owned(), false);
        assert_eq!(read("avoid: editing the lock file\ninstead: run the generator"), Some(sentence));
        for text in [
            "",
            "avoid:",
            "avoid: x",
            "avoid: ; instead: y",
            "avoid: x; instead:",
            "Please avoid: x; instead: y",
            "avoid: x instead: y",
            "ävoid: x; instead: y",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
        let lesson = Lesson::of_commands("npm test", "pnpm test");
        assert_eq!(Lesson::read(&lesson.text("npm error")), Some(lesson));
    }

    #[test]
    fn a_command_binds_unless_it_is_the_better_one() {
        let tests = "avoid: `npm test`; instead: `pnpm test`";
        for (command, expected) in [
            ("npm test", true),
            ("cd web && npm test -- --watch", true),
            ("pnpm test", false),
            ("npm run build", false),
            ("echo npm test", false),
        ] {
            assert_eq!(binds(tests, command), expected, "{command}");
        }
        let locked = "avoid: `cargo test`; instead: `cargo test --locked`";
        assert_eq!(
            ["cargo test", "cargo test --locked -p api", "cargo build"].map(|command| binds(locked, command)),
            [true, false, false]
        );
        let shorter = "avoid: `cargo test --all`; instead: `cargo test`";
        assert_eq!(["cargo test --all", "cargo test"].map(|command| binds(shorter, command)), [true, false]);
    }
}
