//! Splits a shell command into simple commands. Unlike a shell, it accepts every text: an open quote ends with the text.
//!
//! A parser of a shell's complete grammar rejects many commands that agents write, for example those for another shell.

/// A simple command: `program argument … > file <<END`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Simple {
    /// The words, without quotes.
    pub(crate) words: Vec<String>,
    /// The files that output redirections write.
    pub(crate) writes: Vec<String>,
    /// The text of a here-document or here-string.
    pub(crate) input: String,
}

impl Simple {
    fn is_empty(&self) -> bool {
        self.words.is_empty() && self.writes.is_empty()
    }
}

/// Maximum bytes of a command that are read.
const LONGEST: usize = 64 * 1024;

/// How deep `$(…)` may be nested. Deeper commands are skipped.
const DEEPEST: usize = 8;

/// Splits a command. Commands in `$(…)` and backticks come before the command that contains them.
pub(crate) fn split(command: &str) -> Vec<Simple> {
    let end = command.floor_char_boundary(LONGEST);
    split_nested(command.get(..end).unwrap_or_default(), 0)
}

fn split_nested(command: &str, depth: usize) -> Vec<Simple> {
    let mut splitter = Splitter { rest: command, depth, ..Splitter::default() };
    splitter.run();
    splitter.done
}

#[derive(Default)]
struct Splitter<'a> {
    rest: &'a str,
    /// How many `$(…)` and backticks surround the text.
    depth: usize,
    done: Vec<Simple>,
    current: Simple,
    word: String,
    /// True if a word has begun, although it may be empty, as `''` is.
    in_word: bool,
    /// The role of the next word.
    next: Next,
    /// The delimiters of the here-documents that begin after this line, each with the place of its command.
    awaited: Vec<(String, usize)>,
}

#[derive(Default, Clone, Copy, PartialEq)]
enum Next {
    #[default]
    Word,
    Output,
    Ignored,
    Delimiter,
    Text,
}

impl<'a> Splitter<'a> {
    fn run(&mut self) {
        while let Some(c) = self.take() {
            match c {
                '\'' => self.quoted('\''),
                '"' => self.quoted('"'),
                '\\' => match self.take() {
                    Some('\n') => {}
                    Some(c) => self.push(c),
                    None => {}
                },
                '$' if self.rest.starts_with('(') => self.substitution(),
                '`' => self.backticks(),
                '#' if !self.in_word => self.comment(),
                '\n' => self.line_end(),
                ';' | '|' | '&' | '(' | ')' => self.operator(c),
                '<' | '>' => self.redirection(c),
                '{' | '}' if !self.in_word && self.rest.starts_with([' ', '\n', ';']) => self.end_command(),
                c if c.is_whitespace() => self.end_word(),
                c => self.push(c),
            }
        }
        self.end_command();
    }

    fn take(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = self.rest.get(c.len_utf8()..).unwrap_or_default();
        Some(c)
    }

    fn skip(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn push(&mut self, c: char) {
        self.word.push(c);
        self.in_word = true;
    }

    fn quoted(&mut self, quote: char) {
        self.in_word = true;
        while let Some(c) = self.take() {
            match c {
                c if c == quote => return,
                '\\' if quote == '"' && self.rest.starts_with(['"', '\\', '$', '`', '\n']) => {
                    if let Some(c) = self.take().filter(|c| *c != '\n') {
                        self.word.push(c);
                    }
                }
                '$' if quote == '"' && self.rest.starts_with('(') => self.substitution(),
                c => self.word.push(c),
            }
        }
    }

    /// Keeps `$(…)` in the word, and adds the commands inside it to the result.
    fn substitution(&mut self) {
        let (mut depth, mut end) = (0_u32, self.rest.len());
        for (at, c) in self.rest.char_indices() {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                end = at;
                break;
            }
        }
        let inner = self.rest.get(1..end).unwrap_or_default();
        self.rest = self.rest.get(end + 1..).unwrap_or_default();
        self.nested(inner);
    }

    fn nested(&mut self, inner: &str) {
        if self.depth < DEEPEST {
            self.done.extend(split_nested(inner, self.depth + 1));
        }
        self.word.push_str("$()");
        self.in_word = true;
    }

    fn backticks(&mut self) {
        let (inner, rest) = self.rest.split_once('`').unwrap_or((self.rest, ""));
        self.rest = rest;
        self.nested(inner);
    }

    fn comment(&mut self) {
        self.rest = self.rest.find('\n').and_then(|at| self.rest.get(at..)).unwrap_or_default();
    }

    fn operator(&mut self, c: char) {
        // `>&1`, `2>&1` and `&>file` are redirections.
        if c == '&' && self.rest.starts_with('>') {
            self.take();
            self.redirection('>');
            return;
        }
        self.end_command();
    }

    fn redirection(&mut self, c: char) {
        if self.word.bytes().all(|byte| byte.is_ascii_digit()) {
            // The number of a file descriptor.
            self.word.clear();
            self.in_word = false;
        }
        self.end_word();
        if c == '>' {
            self.skip(">");
            self.skip("|");
            self.next = if self.skip("&") { Next::Ignored } else { Next::Output };
        } else if self.skip("<<") {
            self.next = Next::Text;
        } else if self.skip("<") {
            self.skip("-");
            self.next = Next::Delimiter;
        } else if self.rest.starts_with('(') {
            // The command of a process substitution is read as a separate command.
            self.next = Next::Word;
        } else {
            self.next = Next::Ignored;
        }
    }

    fn end_word(&mut self) {
        if !self.in_word {
            return;
        }
        let word = std::mem::take(&mut self.word);
        self.in_word = false;
        match std::mem::take(&mut self.next) {
            Next::Word => self.current.words.push(word),
            Next::Output => self.current.writes.push(word),
            Next::Ignored => {}
            Next::Delimiter => self.awaited.push((word, self.done.len())),
            Next::Text => self.current.input.push_str(&word),
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.next = Next::Word;
        let current = std::mem::take(&mut self.current);
        if !current.is_empty() {
            self.done.push(current);
        }
    }

    fn line_end(&mut self) {
        self.end_command();
        for (delimiter, place) in std::mem::take(&mut self.awaited) {
            let body = self.here_document(&delimiter);
            if let Some(command) = self.done.get_mut(place) {
                command.input.push_str(body);
            }
        }
    }

    fn here_document(&mut self, delimiter: &str) -> &'a str {
        let (text, mut at) = (self.rest, 0);
        for line in text.split_inclusive('\n') {
            if line.trim() == delimiter {
                self.rest = text.get(at + line.len()..).unwrap_or_default();
                return text.get(..at).unwrap_or_default();
            }
            at += line.len();
        }
        self.rest = "";
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &str) -> Vec<Vec<String>> {
        split(command).into_iter().map(|simple| simple.words).collect()
    }

    #[test]
    fn operators_and_quotes_split_commands() {
        assert_eq!(
            words("cd 'a b' && X=1 make -j4 2>&1 | tail -3; (ls)\n# no\nprintf \"a \\\"b\\\"\""),
            [vec!["cd", "a b"], vec!["X=1", "make", "-j4"], vec!["tail", "-3"], vec!["ls"], vec!["printf", "a \"b\""]]
        );
        assert_eq!(
            words("git log $(git merge-base a b) `x y`"),
            [vec!["git", "merge-base", "a", "b"], vec!["x", "y"], vec!["git", "log", "$()", "$()"]]
        );
    }

    #[test]
    fn redirections_and_here_documents_are_read() {
        let found = split("cat > a.txt <<'EOF' && echo ok >>log\none\ntwo\nEOF\ncargo test &> out");
        assert_eq!(found[0].writes, ["a.txt"]);
        assert_eq!(found[0].input, "one\ntwo\n");
        assert_eq!(found[1].writes, ["log"]);
        assert_eq!(found[2].writes, ["out"]);
        assert_eq!(found[2].words, ["cargo", "test"]);
    }

    #[test]
    fn any_text_is_read() {
        for text in ["$(".repeat(30_000), "`$(".repeat(20_000), "\"$( ( ".repeat(9_000)] {
            let _ = split(&text);
        }
        for text in ["", "'", "\"", "$(", "`", "<<", "<<E", ">", "\\", "a <<E\nb", "🙂 | 字", "((((", "$((1+2))"] {
            let _ = split(text);
        }
    }
}
