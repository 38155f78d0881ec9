//! Separates code from comments and documents, roughly: no language is parsed.

use crate::path;

/// Files that contain text for people.
const DOCUMENTS: [&str; 7] = ["md", "mdx", "rst", "txt", "adoc", "org", "log"];

/// The beginnings and ends of comments with several lines.
const BLOCKS: [(&str, &str); 4] = [("/*", "*/"), ("<!--", "-->"), ("{{!--", "--}}"), ("<%#", "%>")];

/// Returns the code and the comments of a text in a file.
pub(crate) fn split(file: &str, text: &str) -> (String, String) {
    let name = path::name(file);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    if DOCUMENTS.contains(&extension) || name.starts_with("CHANGELOG") || name.starts_with("README") {
        return (String::new(), text.to_owned());
    }
    let marks = marks(extension, name);
    let blocks: &[(&str, &str)] = if marks == ["#"] { &[] } else { &BLOCKS };
    let (mut code, mut comments) = (String::new(), String::new());
    let mut end_of_block = None;
    let has_docstrings = ["py", "pyi", "ex", "exs", ""].contains(&extension);
    let mut in_docstring = false;
    for line in text.split_inclusive('\n') {
        let quotes = line.matches("\"\"\"").count() + line.matches("'''").count();
        if has_docstrings && (in_docstring || quotes > 0 && !line.contains('=')) {
            in_docstring ^= quotes % 2 == 1;
            comments.push_str(line);
            continue;
        }
        let block = blocks.iter().find(|(start, _)| line.trim_start().starts_with(start));
        if let Some(end) = end_of_block.or(block.map(|(_, end)| *end)) {
            end_of_block = (!line.contains(end)).then_some(end);
            comments.push_str(line);
            continue;
        }
        let at = marks.iter().filter_map(|mark| comment_start(line, mark)).min().unwrap_or(line.len());
        let (before, after) = line.split_at(at);
        code.push_str(before);
        code.push('\n');
        comments.push_str(after);
    }
    (code, comments)
}

/// A comment begins at the start of a line or after white space, and not inside quotes.
fn comment_start(line: &str, mark: &str) -> Option<usize> {
    let (mut read, mut is_quoted) = (0, false);
    line.match_indices(mark).map(|(at, _)| at).find(|at| {
        let since = line.get(read..*at).unwrap_or_default();
        is_quoted ^= since.matches('"').count() % 2 == 1;
        read = *at;
        let before = line.get(..*at).unwrap_or_default();
        before.ends_with([' ', '\t']) && !is_quoted || before.is_empty()
    })
}

fn marks(extension: &str, name: &str) -> &'static [&'static str] {
    match extension {
        "py" | "pyi" | "rb" | "ex" | "exs" | "sh" | "bash" | "zsh" | "toml" | "yaml" | "yml" | "tf" | "hcl" | "r"
        | "jl" | "nix" | "conf" | "ini" | "env" | "cmake" | "mk" | "ps1" | "po" | "properties" | "graphql" => &["#"],
        "sql" | "lua" | "hs" | "ada" => &["--"],
        "php" => &["//", "# "],
        "json" | "csv" | "html" | "xml" | "svg" | "lock" | "erb" | "heex" => &[],
        _ if name.is_empty() || name.ends_with("file") || name.starts_with('.') => &["#"],
        "clj" | "el" | "lisp" => &[";"],
        "tex" | "erl" => &["%"],
        _ => &["//"],
    }
}
