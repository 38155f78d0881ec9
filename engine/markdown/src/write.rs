//! Writes notes in the syntax that [`crate::parse`] reads, so that they are read back unchanged.
//!
//! The writer writes a text as an item or a paragraph only if the parser would read the same text. Otherwise it becomes
//! a fenced block, `~~~memory [category] #tag (context)`, which contains it verbatim. A link cannot be written as a
//! block, so invalid characters (brackets, bars, line ends) are removed from its name.

mod yaml;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use crate::blocks::MEMORY;
use crate::front::{self, Distinct};
use crate::item::LINKS_TO;
use crate::note::{Bound, Note, Part, PartKind, Target};
use crate::parse;

/// The invisible separator between two paragraphs that are separate parts.
const PARTED: &str = "<!-- part -->";
/// A paragraph that follows the tested text, to check that the text does not absorb it.
const AFTER: &str = "after";
const NAMED: [&str; 6] = ["title", "type", "permalink", "tags", "aliases", "alias"];

/// A note to write.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Written {
    /// Its title; none if empty or `None`.
    pub title: String,
    /// Its type, in snake case; none if empty.
    pub kind: String,
    /// Its permalink.
    pub permalink: Option<String>,
    /// Its tags, without `#`.
    pub tags: Vec<String>,
    /// Its aliases.
    pub aliases: Vec<String>,
    /// Its time of creation.
    pub created: Option<Timestamp>,
    /// Its time of change.
    pub modified: Option<Timestamp>,
    /// Other keys of its front matter. Keys that another field of this struct provides, such as `type` for `kind`, are
    /// ignored.
    pub fields: BTreeMap<String, Value>,
    /// Texts that become one part each. Empty ones are skipped.
    pub paragraphs: Vec<String>,
    /// Its observations.
    pub observations: Vec<Observation>,
    /// Its relations.
    pub relations: Vec<Link>,
}

/// An observation to write. One without a text is skipped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Observation {
    /// Its category, without brackets; `note` if empty.
    pub category: String,
    /// The text of the observation without tags and context, which the parser returns as [`Part::bare`].
    pub text: String,
    /// Its tags: words without `#`.
    pub tags: Vec<String>,
    /// Its context.
    pub context: Option<String>,
}

/// A relation to write. One without a name is skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Its type.
    pub kind: String,
    /// The target.
    pub target: Target,
    /// Its context.
    pub context: Option<String>,
}

/// Writes a note.
///
/// ```
/// use tessera_markdown::write::{self, Observation, Written};
/// let said = Observation { category: "fact".into(), text: "port 7433".into(), tags: vec!["ports".into()], context:
/// None };
/// let note = Written { title: "Staging".into(), observations: vec![said], ..Written::default() };
/// assert!(write::note(&note).ends_with("# Staging\n\n## Observations\n\n- [fact] port 7433 #ports\n"));
/// ```
pub fn note(note: &Written) -> String {
    let mut blocks = Vec::new();
    // If the text contains the title anyway, the front matter is enough.
    let is_said = note.paragraphs.first().is_some_and(|text| text.starts_with(&note.title));
    if is_plain_heading(&note.title) && !is_said {
        blocks.push(format!("# {}", note.title));
    }
    let mut was_paragraph = false;
    for text in note.paragraphs.iter().filter(|text| !text.is_empty()) {
        let is_paragraph = can_be_paragraph(text, note);
        if is_paragraph && was_paragraph {
            blocks.push(PARTED.to_owned());
        }
        blocks.push(if is_paragraph { text.clone() } else { fenced("", text) });
        was_paragraph = is_paragraph;
    }
    section(&mut blocks, "## Observations", note.observations.iter().filter_map(|said| observation(said, note)));
    section(&mut blocks, "## Relations", note.relations.iter().filter_map(|link| Some((relation(link)?, true))));
    let front = front_matter(note);
    let body = blocks.join("\n\n");
    match (front.is_empty(), body.is_empty()) {
        (true, true) => String::new(),
        (true, false) => format!("{body}\n"),
        (false, true) => format!("---\n{front}---\n"),
        (false, false) => format!("---\n{front}---\n\n{body}\n"),
    }
}

/// Adds a heading and its content: list items, or blocks separated by empty lines.
fn section(blocks: &mut Vec<String>, heading: &str, said: impl Iterator<Item = (String, bool)>) {
    let mut list: Option<String> = None;
    let mut has_heading = false;
    for (text, is_item) in said {
        if !has_heading {
            blocks.push(heading.to_owned());
            has_heading = true;
        }
        match (&mut list, is_item) {
            (Some(items), true) => {
                items.push('\n');
                items.push_str(&text);
            }
            (None, true) => list = Some(text),
            (_, false) => blocks.extend(list.take().into_iter().chain([text])),
        }
    }
    blocks.extend(list);
}

fn front_matter(note: &Written) -> String {
    let mut out = String::new();
    let mut text = |key: &str, value: &str| {
        if !value.trim().is_empty() {
            yaml::entry(&mut out, key, &Value::String(value.trim().to_owned()));
        }
    };
    text("title", if note.title.trim() == "None" { "" } else { &note.title });
    text("type", &note.kind);
    text("permalink", note.permalink.as_deref().unwrap_or_default());
    for (key, list) in [("tags", &note.tags), ("aliases", &note.aliases)] {
        if !list.is_empty() {
            yaml::entry(&mut out, key, &Value::from(list.clone()));
        }
    }
    for (key, time) in [("created", note.created), ("modified", note.modified)] {
        if let Some(time) = time {
            out.push_str(&format!("{key}: {time}\n"));
        }
    }
    for (key, value) in &note.fields {
        let is_time = |keys: &[&str]| keys.contains(&key.as_str()) && value.as_str().and_then(front::time).is_some();
        if !NAMED.contains(&key.as_str()) && !is_time(&front::CREATED) && !is_time(&front::MODIFIED) {
            yaml::entry(&mut out, key, value);
        }
    }
    out
}

/// True if a title can be a heading without changes, because it contains no link, tag or other Markdown.
fn is_plain_heading(title: &str) -> bool {
    let is_plain =
        |letter: char| letter.is_alphanumeric() || matches!(letter, ' ' | ',' | '.' | ':' | '-' | '(' | ')' | '\'');
    title.trim() == title && title.chars().all(is_plain) && title.starts_with(char::is_alphanumeric)
}

/// Parses a text that is followed by another text. Returns the result if the first text is exactly one part.
fn tried(text: &str) -> Option<(Note, Part, String)> {
    let whole = format!("{text}\n\n{PARTED}\n\n{AFTER}\n");
    let mut note = parse(&whole, "", Bound { most_bytes: Bound::default().most_bytes.max(whole.len()) });
    let [_, after] = note.parts.as_slice() else { return None };
    if whole.get(after.text.clone()) != Some(AFTER) || note.body != 0 {
        return None;
    }
    let part = note.parts.swap_remove(0);
    Some((note, part, whole))
}

/// True if the text begins with `---`. At the beginning of a file, where `tried` parses it, this line opens front matter. In
/// the written file, the text follows other front matter.
fn begins_like_front_matter(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').lines().next().is_some_and(|line| line.trim_end() == front::FENCE)
}

/// True if all tags and relations in the written text also belong to the note.
fn is_said(found: &Note, by: &Written) -> bool {
    let is_known = |kind: &str, target: &Target| {
        by.relations
            .iter()
            .any(|link| link.kind == kind && link.target.name == target.name && link.target.project == target.project)
    };
    found.tags.iter().all(|tag| by.tags.contains(tag))
        && found.relations.iter().all(|relation| is_known(&relation.kind, &relation.target))
}

fn can_be_paragraph(text: &str, note: &Written) -> bool {
    // Such a line may end, or be repeated, in another text of the note.
    let reaches_out = |line: &str| {
        let line = line.trim_start();
        line.starts_with('<') || line.starts_with('[') && line.contains("]:")
    };
    if text.len() > Bound::default().most_bytes || text.contains(['\r', '\0']) || text.contains("%%") {
        return false;
    }
    if text.trim() != text || text.lines().any(reaches_out) || begins_like_front_matter(text) {
        return false;
    }
    tried(text).is_some_and(|(found, part, whole)| {
        let is_whole = part.kind == PartKind::Text && whole.get(part.text) == Some(text);
        is_whole && part.headings.is_empty() && is_said(&found, note)
    })
}

/// Writes an observation as an item, or as a block if an item is impossible. The result is true if it was written as an
/// item.
fn observation(said: &Observation, note: &Written) -> Option<(String, bool)> {
    if said.text.is_empty() {
        return None;
    }
    let category = one_line(&said.category).replace(['[', ']'], "");
    let category = if category.trim().is_empty() { "note" } else { category.trim() };
    let mut tags = Distinct::default();
    for tag in &said.tags {
        let word = tag.trim_start_matches('#').split_whitespace().collect::<Vec<_>>().join("-");
        tags.add(&word);
    }
    let tags = tags.into_list();
    let context = said.context.as_deref().map(one_line).filter(|context| !context.is_empty());
    let ending = |head: String| {
        let tags = tags.iter().map(|tag| format!(" #{tag}")).collect::<String>();
        let context = context.as_ref().map(|context| format!(" ({context})")).unwrap_or_default();
        format!("{head}{tags}{context}")
    };
    let line = ending(format!("- [{category}] {}", said.text));
    let is_item = !said.text.contains(['\n', '\r', '\0'])
        && tried(&line).is_some_and(|(found, part, whole)| {
            part.kind == PartKind::Observation
                && part.category.as_deref() == Some(category)
                && part.tags == tags
                && part.context == context
                && whole.get(part.bare) == Some(said.text.as_str())
                && is_said(&found, note)
        });
    Some(if is_item { (line, true) } else { (fenced(&ending(format!("[{category}]")), &said.text), false) })
}

/// A block with a verbatim text.
fn fenced(about: &str, text: &str) -> String {
    let longest = text.split(|letter| letter != '~').map(str::len).max().unwrap_or(0);
    let fence = "~".repeat(longest.max(2) + 1);
    let space = if about.is_empty() { "" } else { " " };
    format!("{fence}{MEMORY}{space}{about}\n{text}\n{fence}")
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A relation as an item: unchanged if it can be read back, otherwise without invalid characters.
fn relation(link: &Link) -> Option<String> {
    let loosened = || {
        let held = |text: &str| {
            one_line(&text.replace(['[', ']', '|', '#', '\\', '`', '"', '<', '>', '%'], " ").replace("::", " "))
        };
        let context = link.context.as_deref().map(|said| one_line(&held(said).replace(['(', ')'], " ")));
        let kind = one_line(&held(&link.kind).replace(['\'', ':'], " "));
        let target = Target {
            name: held(&link.target.name),
            project: link.target.project.as_deref().map(held).filter(|project| !project.is_empty()),
            alias: link.target.alias.as_deref().map(held).filter(|alias| !alias.is_empty()),
            heading: link.target.heading.as_deref().map(held).filter(|heading| !heading.is_empty()),
        };
        let kind = if kind.is_empty() { LINKS_TO.to_owned() } else { kind };
        Link { kind, target, context: context.filter(|said| !said.is_empty()) }
    };
    item(link)
        .or_else(|| item(&loosened()))
        .or_else(|| item(&Link { context: None, ..loosened() }))
        .or_else(|| item(&Link { kind: LINKS_TO.to_owned(), context: None, ..loosened() }))
}

/// A relation as a list item, if the parser reads it back unchanged.
fn item(link: &Link) -> Option<String> {
    let Target { name, project, alias, heading } = &link.target;
    let project = project.as_ref().map(|project| format!("{project}::")).unwrap_or_default();
    let heading = heading.as_ref().map(|heading| format!("#{heading}")).unwrap_or_default();
    let alias = alias.as_ref().map(|alias| format!("|{alias}")).unwrap_or_default();
    let context = link.context.as_ref().map(|context| format!(" ({context})")).unwrap_or_default();
    let kinds = [link.kind.clone(), format!("\"{}\"", link.kind), format!("'{}'", link.kind)];
    kinds.into_iter().map(|kind| format!("- {kind} [[{project}{name}{heading}{alias}]]{context}")).find(|line| {
        let whole = format!("{line}\n\n{PARTED}\n\n{AFTER}\n");
        let read = parse(&whole, "", Bound::default());
        let [relation] = read.relations.as_slice() else { return false };
        let is_alone = read.parts.len() == 1 && relation.part.is_none() && read.tags.is_empty();
        is_alone && relation.kind == link.kind && relation.target == link.target && relation.context == link.context
    })
}
