//! A tool call: what it changes and runs.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::note::is_common_word;
use crate::runs;
use crate::stance::is_empty_word;
use crate::words::texts;
use crate::{comments, imports, path};

/// Maximum bytes of a text before and after a change that are compared.
const MOST_BYTES: usize = 96 * 1024;
/// Maximum words of a change that are compared.
const MOST_WORDS: usize = 20_000;

/// A tool call that may change something.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Action {
    /// The files that it writes, relative to the repository.
    pub(crate) writes: Vec<String>,
    /// The words of these paths.
    pub(crate) path_words: BTreeSet<String>,
    /// Further files that its commands name.
    pub(crate) names: Vec<String>,
    /// The directories in which its commands run, relative to the repository.
    pub(crate) directories: Vec<String>,
    /// The programs that it runs.
    pub(crate) runs: Vec<Called>,
    /// The words that it adds to code, in their order.
    pub(crate) code: Fresh,
    /// The words of its commands, with program, subcommands, options and variables.
    pub(crate) commands: Fresh,
    /// The words that it only mentions: in comments, documents and search patterns.
    pub(crate) mentions: Fresh,
    /// The words that it removes from code.
    pub(crate) removed: Fresh,
    /// The words of edited code, before and after.
    pub(crate) touched: Fresh,
    /// The words that name packages or modules which it adds.
    pub(crate) imports: Fresh,
    /// True if it edits a file.
    pub(crate) is_edit: bool,
    /// True if it writes a complete file.
    pub(crate) is_new_file: bool,
}

/// A program that runs, split into words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Called {
    /// The first word of the program's name.
    pub(crate) program: String,
    /// The first arguments that are not options, in lowercase.
    pub(crate) plain: Vec<String>,
    /// All words, with the short and long forms of options.
    pub(crate) words: BTreeSet<String>,
}

/// Words and short sequences of words.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Fresh {
    /// The hashes with their counts; sorted by [`Fresh::seal`].
    counts: Vec<(u64, i32)>,
    /// The hashes of words, and of pairs with a common word, in their order.
    keys: Vec<u64>,
}

/// The longest sequence of words that is compared in code and commands.
pub(crate) const LONGEST: usize = 4;
/// The longest sequence elsewhere.
const SHORT: usize = 2;
/// Maximum arguments of a run that are compared one by one.
const MOST_PLAIN: usize = 3;

impl Fresh {
    /// Adds the words of a text, and their sequences up to a length. A negative weight removes them.
    fn add(&mut self, words: &[String], longest: usize, weight: i32) {
        for start in 0..words.len().min(MOST_WORDS) {
            if let (1.., Some(word)) = (weight, words.get(start)) {
                if !is_empty_word(word) {
                    self.keys.push(hash(std::iter::once(word.as_str())));
                }
                let is_pair = |next: &&String| is_common_word(word) || is_common_word(next);
                if let Some(next) = words.get(start + 1).filter(is_pair) {
                    self.keys.push(hash([word.as_str(), next].into_iter()));
                }
            }
            for length in 1..=longest {
                if let Some(sequence) = words.get(start..start + length) {
                    self.counts.push((hash(sequence.iter().map(String::as_str)), weight));
                }
            }
        }
    }

    /// Adds up the counts, and keeps only what is new.
    fn seal(&mut self) {
        self.counts.sort_unstable();
        self.counts.dedup_by(|one, sum| {
            let is_same = one.0 == sum.0;
            if is_same {
                sum.1 += one.1;
            }
            is_same
        });
        self.counts.retain(|(_, count)| *count > 0);
        let counts = &self.counts;
        self.keys.retain(|key| counts.binary_search_by_key(key, |(hash, _)| *hash).is_ok());
    }

    /// True if this sequence of words is new.
    pub(crate) fn has<'w>(&self, sequence: impl Iterator<Item = &'w str>) -> bool {
        self.counts.binary_search_by_key(&hash(sequence), |(hash, _)| *hash).is_ok()
    }

    /// The hashes of new words, and of new pairs with a common word.
    pub(crate) fn hashes(&self) -> impl Iterator<Item = u64> {
        self.keys.iter().copied()
    }

    /// True if there is nothing new.
    pub(crate) fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }
}

/// Computes the FNV-1a hash of words. If two hashes collide, only a feature or a candidate is wrong.
pub(crate) fn hash<'w>(words: impl Iterator<Item = &'w str>) -> u64 {
    let mut value = 0xcbf2_9ce4_8422_2325_u64;
    for word in words {
        for byte in word.bytes().chain([b' ']) {
            value = (value ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    value
}

impl Action {
    /// Reads a tool call. `root` is the directory of the repository, and `directory` the working directory. Returns
    /// `None` if the tool changes nothing or is not known.
    pub fn read(tool: &str, input: &Value, root: &str, directory: &str) -> Option<Self> {
        let text = |name: &str| input.get(name).and_then(Value::as_str);
        let directory = path::relative(root, "", directory);
        let place = |file: &str| path::relative(root, &directory, file);
        let mut action = Self::default();
        match tool {
            "Bash" | "PowerShell" | "Shell" => action.command(text("command")?, root, &directory),
            "Edit" | "Write" | "MultiEdit" | "NotebookEdit" | "Update" => {
                let file = place(text("file_path").or_else(|| text("notebook_path"))?);
                let edits = input.get("edits").and_then(Value::as_array).into_iter().flatten();
                for edit in std::iter::once(input).chain(edits) {
                    let part = |name: &str| edit.get(name).and_then(Value::as_str).unwrap_or_default();
                    let added = [part("content"), part("new_string"), part("new_source")].concat();
                    action.edit(&file, part("old_string"), &added);
                }
                action.is_edit = true;
                action.is_new_file = text("content").is_some();
                action.writes.push(file);
            }
            _ => return None,
        }
        for part in [
            &mut action.code,
            &mut action.commands,
            &mut action.mentions,
            &mut action.removed,
            &mut action.touched,
            &mut action.imports,
        ] {
            part.seal();
        }
        action.path_words = action.writes.iter().flat_map(|file| texts(file)).collect();
        Some(action)
    }

    /// True if the call changes nothing and runs nothing.
    pub fn is_idle(&self) -> bool {
        self.writes.is_empty() && self.runs.is_empty() && self.code.is_empty()
    }

    fn edit(&mut self, file: &str, old: &str, new: &str) {
        let head = |text: &'_ str| text.floor_char_boundary(MOST_BYTES);
        let (old, new) = (old.get(..head(old)).unwrap_or_default(), new.get(..head(new)).unwrap_or_default());
        for (text, weight) in [(new, 1), (old, -1)] {
            let code = self.text(file, text, weight);
            self.removed.add(&code, SHORT, -weight);
        }
    }

    /// Adds a text in a file, or removes it if the weight is negative. Returns the words of its code.
    fn text(&mut self, file: &str, text: &str, weight: i32) -> Vec<String> {
        let (code, comments) = comments::split(file, text);
        self.imports.add(&texts(&imports::of_code(file, &code)), SHORT, weight);
        self.mentions.add(&texts(&comments), SHORT, weight);
        let code = texts(&code);
        self.code.add(&code, LONGEST, weight);
        self.touched.add(&code, SHORT, 1);
        code
    }

    fn command(&mut self, command: &str, root: &str, directory: &str) {
        let found = runs::read(command, root, directory);
        for run in &found.runs {
            let lines = run.lines();
            for line in &lines {
                self.commands.add(line, LONGEST, 1);
            }
            let plain = run.arguments.iter().filter(|word| !word.starts_with('-')).take(MOST_PLAIN);
            self.runs.push(Called {
                program: texts(&run.program).into_iter().next().unwrap_or_default(),
                plain: plain.map(|word| word.to_lowercase()).collect(),
                words: lines.into_iter().flatten().collect(),
            });
            if imports::adds_packages(run) {
                self.imports.add(&texts(&run.arguments.join(" ")), SHORT, 1);
            }
        }
        for variable in &found.variables {
            self.commands.add(&texts(variable), LONGEST, 1);
        }
        let file = found.writes.first().map_or("", String::as_str);
        for text in &found.texts {
            self.text(file, text, 1);
        }
        for text in &found.mentions {
            self.mentions.add(&texts(text), SHORT, 1);
        }
        self.directories = found.directories;
        (self.writes, self.names) = (found.writes, found.names);
    }
}
