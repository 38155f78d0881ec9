//! The programs that a shell command runs, including those that `sudo`, `npx`, `bash -c` or `docker exec` start.

use tessera_tables::{pairs, section, words as list};

use crate::action::LONGEST;
use crate::path;
use crate::shell::{self, Simple};
use crate::words::texts;

const COMMANDS: &str = include_str!("commands.txt");
const WRAPPERS: &[&str] = list!(section(COMMANDS, "wrappers"));
const NAMED_WRAPPERS: &[&str] = list!(section(COMMANDS, "wrappers with rules"));
const WRAPPER_OPTIONS: &[&str] = list!(section(COMMANDS, "wrapper options"));
const RUNNERS: &[&str] = list!(section(COMMANDS, "runners"));
const RUNNER_OPTIONS: &[&str] = list!(section(COMMANDS, "runner options"));
const SHELLS: &[&str] = list!(section(COMMANDS, "shells"));
const INTERPRETERS: &[&str] = list!(section(COMMANDS, "interpreters"));
const READERS: &[&str] = list!(section(COMMANDS, "readers"));
const SUBCOMMAND_READERS: &[&str] = list!(section(COMMANDS, "readers of programs"));
const WRITERS: &[&str] = list!(section(COMMANDS, "writers"));
const COPIERS: &[&str] = list!(section(COMMANDS, "copiers"));
const OPTIONS: &[(&str, &str)] = pairs!(section(COMMANDS, "options"));
/// Maximum arguments of a run that are compared.
const MOST_ARGUMENTS: usize = 400;
/// The maximum nesting depth of commands, for example in `bash -c`.
const DEPTH: usize = 4;

/// A program with its arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Run {
    /// The file name of the program.
    pub(crate) program: String,
    /// The arguments, without quotes.
    pub(crate) arguments: Vec<String>,
}

impl Run {
    /// The words of the run in several orders, so that options between two words do not separate them.
    pub(crate) fn lines(&self) -> Vec<Vec<String>> {
        let program = texts(&self.program);
        let arguments = self.arguments.get(..self.arguments.len().min(MOST_ARGUMENTS)).unwrap_or_default();
        let (options, plain): (Vec<&String>, Vec<&String>) = arguments.iter().partition(|word| word.starts_with('-'));
        let together = |words: &[&String]| words.iter().flat_map(|word| texts(word)).collect::<Vec<_>>();
        let mut lines = vec![[program.clone(), arguments.iter().flat_map(|word| texts(word)).collect()].concat()];
        if !options.is_empty() {
            lines.push([program.clone(), together(&plain)].concat());
        }
        // Only the last words form a sequence with an option.
        let mut subcommand = plain.first().map(|word| texts(word)).unwrap_or_default();
        subcommand.drain(..subcommand.len().saturating_sub(LONGEST));
        for option in options.iter().flat_map(|option| self.forms(option)) {
            lines.push([program.clone(), vec![option.clone()]].concat());
            lines.push([subcommand.clone(), vec![option]].concat());
        }
        lines
    }

    /// The short and the long form of an option, without its value.
    fn forms(&self, option: &str) -> Vec<String> {
        let name = option.split_once('=').map_or(option, |(name, _)| name);
        let mut forms = vec![name.to_owned()];
        for (short, long) in OPTIONS
            .iter()
            .filter(|(program, _)| *program == self.program)
            .filter_map(|(_, forms)| forms.split_once(" | "))
        {
            if name == long {
                forms.push(short.to_owned());
            } else if option == short {
                forms.push(long.to_owned());
            } else if !name.starts_with("--")
                && option.len() <= 4
                && short.strip_prefix('-').is_some_and(|letter| letter.len() == 1 && option.contains(letter))
            {
                forms.extend([short.to_owned(), long.to_owned()]);
            }
        }
        forms
    }
}

/// The effects of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Command {
    /// The programs that may change something.
    pub(crate) runs: Vec<Run>,
    /// The environment variables that it sets: `NAME=value`.
    pub(crate) variables: Vec<String>,
    /// The directories in which they run, relative to the repository.
    pub(crate) directories: Vec<String>,
    /// The files that it writes, relative to the repository where possible.
    pub(crate) writes: Vec<String>,
    /// Further files in the arguments.
    pub(crate) names: Vec<String>,
    /// Program texts and texts of written files.
    pub(crate) texts: Vec<String>,
    /// Words that are only searched for or printed.
    pub(crate) mentions: Vec<String>,
}

/// Reads a command that starts in a directory of the repository.
pub(crate) fn read(command: &str, root: &str, directory: &str) -> Command {
    let mut reader = Reader { root, directory: directory.to_owned(), ..Reader::default() };
    reader.read(command, 0);
    reader.found
}

#[derive(Default)]
struct Reader<'a> {
    root: &'a str,
    directory: String,
    /// The files in the arguments of the last command that changed nothing. `xargs` may pass them on.
    read: Vec<String>,
    found: Command,
}

impl Reader<'_> {
    fn read(&mut self, command: &str, depth: usize) {
        for simple in shell::split(command) {
            self.simple(&simple, depth);
        }
    }

    fn simple(&mut self, simple: &Simple, depth: usize) {
        for file in &simple.writes {
            self.write(file);
        }
        let words: Vec<&str> = simple.words.iter().map(String::as_str).collect();
        let before = self.found.runs.len();
        let is_reader = self.words(&words, depth);
        let writes = simple.writes.iter().any(|file| self.is_inside(file));
        let last = self.found.runs.get(before..).unwrap_or_default();
        let interprets = last.iter().any(|run| INTERPRETERS.contains(&run.program.as_str()));
        let is_shell = last.iter().any(|run| SHELLS.contains(&run.program.as_str()));
        if is_shell && !simple.input.is_empty() {
            if depth < DEPTH {
                self.read(&simple.input, depth + 1);
            }
        } else if interprets || writes || words.first() == Some(&"tee") {
            if interprets {
                self.files_of_program(&simple.input);
            }
            self.found.texts.push(simple.input.clone());
        } else if !simple.input.is_empty() {
            self.found.mentions.push(simple.input.clone());
        }
        if is_reader && writes {
            // `echo text > file`
            self.found.texts.push(words.get(1..).unwrap_or_default().join(" "));
        }
    }

    /// Reads the words of a command. Returns true if it changes nothing.
    fn words(&mut self, words: &[&str], depth: usize) -> bool {
        let words = self.unwrapped(words);
        let Some((program, arguments)) = words.split_first() else { return false };
        let program = path::name(program);
        if depth < DEPTH && self.nested(program, arguments, depth) {
            return false;
        }
        match program {
            "cd" | "pushd" => {
                if let Some(to) = arguments.iter().find(|word| !word.starts_with('-')) {
                    self.directory = self.place(to);
                }
                return false;
            }
            "export" => {
                self.found
                    .variables
                    .extend(arguments.iter().filter(|word| word.contains('=')).map(ToString::to_string));
                return false;
            }
            _ => {}
        }
        let in_place = arguments.iter().any(|word| word.starts_with("-i") || *word == "--in-place" || *word == "-pi");
        let changes = match program {
            "find" | "fd" => arguments.iter().any(|word| ["-delete", "-exec", "-x", "--exec"].contains(word)),
            "sed" | "perl" | "yq" => in_place,
            _ => !READERS.contains(&program) && !reads_only(program, arguments),
        };
        if !changes {
            self.found.mentions.extend(arguments.iter().map(ToString::to_string));
            let files =
                arguments.iter().filter(|word| path::is_path(word) || program == "git" && !word.starts_with('-'));
            self.read = files.map(ToString::to_string).collect();
            return true;
        }
        self.changing(program, arguments);
        false
    }

    fn changing(&mut self, program: &str, arguments: &[&str]) {
        let arguments = without_message(program, after_directory(arguments));
        let subcommand = [program, arguments.first().copied().unwrap_or_default()].join(" ");
        let is_writer = WRITERS.contains(&program) || WRITERS.contains(&subcommand.as_str());
        let files: Vec<&&str> =
            arguments.iter().filter(|word| path::is_path(word) && !word.starts_with("s/")).collect();
        for (at, word) in files.iter().enumerate() {
            let is_source = COPIERS.contains(&program) && at + 1 < files.len();
            if is_writer && !is_source { self.write(word) } else { self.name(word) }
        }
        if ["sed", "perl"].contains(&program) {
            self.found.texts.push(arguments.join(" "));
        }
        let variables = arguments.iter().filter(|word| is_variable(word)).map(ToString::to_string);
        self.found.variables.extend(variables);
        for text in
            arguments.iter().filter(|_| INTERPRETERS.contains(&program)).filter(|word| word.contains([' ', '\n', '(']))
        {
            self.files_of_program(text);
            self.found.texts.push((*text).to_owned());
        }
        let arguments = arguments.iter().map(ToString::to_string).collect();
        if !self.found.directories.contains(&self.directory) {
            self.found.directories.push(self.directory.clone());
        }
        self.found.runs.push(Run { program: program.to_owned(), arguments });
    }

    /// Removes variables and wrappers, such as `X=1 sudo timeout 60 …`.
    fn unwrapped<'w>(&mut self, mut words: &'w [&'w str]) -> &'w [&'w str] {
        while let Some((first, rest)) = words.split_first() {
            if is_variable(first) {
                self.found.variables.push((*first).to_owned());
                words = rest;
            } else if WRAPPERS.contains(&path::name(first)) {
                if *first == "xargs" && rest.iter().any(|word| WRITERS.contains(&path::name(word))) {
                    for file in std::mem::take(&mut self.read) {
                        self.write(&file);
                    }
                }
                if NAMED_WRAPPERS.contains(&path::name(first)) {
                    let arguments = rest.iter().map(ToString::to_string).collect();
                    self.found.runs.push(Run { program: path::name(first).to_owned(), arguments });
                }
                words = after_options(rest, WRAPPER_OPTIONS);
                if *first == "timeout" {
                    words = words.get(1..).unwrap_or_default();
                }
            } else {
                break;
            }
        }
        words
    }

    /// Reads the command inside `bash -c`, `docker exec`, `npm exec` and similar ones. Returns true if the outer command
    /// does nothing else.
    fn nested(&mut self, program: &str, arguments: &[&str], depth: usize) -> bool {
        if SHELLS.contains(&program) {
            let options = arguments.iter().take_while(|word| word.starts_with('-') && !word.starts_with("--"));
            let is_command = |word: &&str| word.contains('c');
            let text = match options.clone().position(is_command) {
                _ if program == "eval" => Some(arguments.join(" ")),
                Some(_) => arguments.get(options.count()).map(ToString::to_string),
                None => None,
            };
            if let Some(text) = text {
                let directory = self.directory.clone();
                self.read(&text, depth + 1);
                self.directory = directory;
                return true;
            }
            return false;
        }
        let Some(inner) = runner_command(program, arguments) else { return false };
        let inner = if ["docker", "podman", "docker-compose", "kubectl", "oc", "ssh"].contains(&program) {
            // The first word is the container or the host.
            let inner = inner.get(1..).unwrap_or_default();
            after_options(inner, RUNNER_OPTIONS)
        } else {
            inner
        };
        let inner: Vec<&str> = inner.iter().copied().skip_while(|word| *word == "--").collect();
        let directory = self.directory.clone();
        match inner.as_slice() {
            [text] if text.contains(' ') => self.read(text, depth + 1),
            [] => {}
            words => {
                for part in words.split(|word| word.ends_with(',')) {
                    self.words(part, depth + 1);
                }
            }
        }
        self.directory = directory;
        false
    }

    /// The files in the strings of a program text that writes files.
    fn files_of_program(&mut self, text: &str) {
        if !["write", "'w'", "\"w\"", "'a'", "\"a\"", "w+", "File.open"].iter().any(|mark| text.contains(mark)) {
            return;
        }
        for quote in ['"', '\''] {
            for word in text.split(quote).skip(1).step_by(2).filter(|word| path::is_path(word) && word.len() < 200) {
                self.write(word);
            }
        }
    }

    fn is_inside(&self, file: &str) -> bool {
        let place = self.place(file);
        !place.is_empty() && !["/tmp/", "/dev/"].iter().any(|elsewhere| place.starts_with(elsewhere))
    }

    fn place(&self, file: &str) -> String {
        path::relative(self.root, &self.directory, file)
    }

    fn write(&mut self, file: &str) {
        if self.is_inside(file) {
            self.found.writes.push(self.place(file));
        }
    }

    fn name(&mut self, file: &str) {
        let place = self.place(file);
        self.found.names.push(place);
    }
}

fn is_variable(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// The words after the options at their beginning.
fn after_options<'w>(mut words: &'w [&'w str], with_value: &[&str]) -> &'w [&'w str] {
    while let Some((first, rest)) = words.split_first() {
        if *first == "--" {
            return rest;
        }
        if !first.starts_with('-') || first.len() < 2 {
            break;
        }
        words = if with_value.contains(first) { rest.get(1..).unwrap_or_default() } else { rest };
    }
    words
}

/// The command after a runner such as `poetry run`.
fn runner_command<'w>(program: &str, arguments: &'w [&'w str]) -> Option<&'w [&'w str]> {
    if RUNNERS.contains(&program) {
        return Some(after_options(arguments, RUNNER_OPTIONS));
    }
    let arguments = after_options_but_module(arguments);
    let (first, rest) = arguments.split_first()?;
    if !RUNNERS.contains(&[program, first].join(" ").as_str()) {
        return None;
    }
    if *first == "compose" {
        let rest = after_options(rest, RUNNER_OPTIONS);
        let (subcommand, rest) = rest.split_first()?;
        return ["exec", "run"].contains(subcommand).then(|| after_options(rest, RUNNER_OPTIONS));
    }
    Some(after_options(rest, RUNNER_OPTIONS))
}

/// Skips options, but not `-m` and `-S`, which are parts of the runners `python -m` and `ruby -S`.
fn after_options_but_module<'w>(arguments: &'w [&'w str]) -> &'w [&'w str] {
    match arguments.first() {
        Some(first) if ["-m", "-S"].contains(first) => arguments,
        _ => after_options(arguments, RUNNER_OPTIONS),
    }
}

fn reads_only(program: &str, arguments: &[&str]) -> bool {
    let mut words = vec![program];
    words.extend(after_options(arguments, RUNNER_OPTIONS).iter().filter(|word| !word.starts_with('-')).take(2));
    if program == "git" && words.get(1).is_some_and(|word| ["branch", "tag", "config", "remote"].contains(word)) {
        return words.len() == 2;
    }
    (2..=words.len())
        .any(|count| SUBCOMMAND_READERS.contains(&words.get(..count).unwrap_or_default().join(" ").as_str()))
}

/// Skips an option for the directory, such as `git -C DIR`.
fn after_directory<'w>(arguments: &'w [&'w str]) -> &'w [&'w str] {
    match arguments {
        ["-C" | "--prefix" | "--dir" | "--cwd" | "--directory", _, rest @ ..] => rest,
        _ => arguments,
    }
}

/// Removes the messages of commits.
fn without_message<'w>(program: &str, arguments: &'w [&'w str]) -> Vec<&'w str> {
    let mut kept = Vec::new();
    let mut words = arguments.iter().copied();
    while let Some(word) = words.next() {
        if ["git", "gh", "hg", "jj", "gt"].contains(&program)
            && ["-m", "--message", "-am", "--title", "--body", "-b"].contains(&word)
            && !arguments.starts_with(&["switch"])
            && !arguments.starts_with(&["checkout"])
        {
            words.next();
        } else {
            kept.push(word);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(command: &str) -> Vec<String> {
        let found = read(command, "/r", "");
        found.runs.iter().map(|run| [&run.program, " ", &run.arguments.join(" ")].concat()).collect()
    }

    #[test]
    fn wrappers_are_removed() {
        assert_eq!(runs("sudo timeout 60 X=1 make -j4"), ["sudo timeout 60 X=1 make -j4", "make -j4"]);
        assert_eq!(
            runs("docker compose exec -T web bash -lc 'cd /srv && mix ecto.reset'"),
            ["mix ecto.reset", "docker compose exec -T web bash -lc cd /srv && mix ecto.reset"]
        );
        assert_eq!(runs("npx --yes prisma migrate dev | tail").last().unwrap(), "prisma migrate dev");
        assert_eq!(runs("uv run pytest -n auto"), ["pytest -n auto", "uv run pytest -n auto"]);
        assert_eq!(runs("rg -n 'git push --force' . | head"), Vec::<String>::new());
        assert_eq!(runs("git commit -m 'cargo update' -q"), ["git commit -q"]);
    }

    #[test]
    fn written_files_are_relative_to_the_repository() {
        let found = read("cd /r/a && sed -i 's/x/y/' b.txt && cd .. && echo hi > c/d.md && cat x > /tmp/o", "/r", "");
        assert_eq!(found.writes, ["a/b.txt", "c/d.md"]);
        let found = read("cd a && python3 - <<'P'\nopen('b.exs', 'w').write('check_origin: false')\nP", "/r", "");
        assert_eq!(found.writes, ["a/b.exs"]);
        assert!(found.texts.concat().contains("check_origin: false"));
    }
}
