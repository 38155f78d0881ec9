//! The meaning of a list item: an observation, a relation, or prose.

use std::ops::Range;

use crate::front::Distinct;
use crate::inline::{self, Link};
use crate::note::Target;

/// The default category of an item with tags.
const CATEGORY: &str = "note";

/// The default type of a link.
pub(crate) const LINKS_TO: &str = "links_to";
/// The type of an embedded note.
pub(crate) const EMBEDS: &str = "embeds";

/// A parsed item.
#[derive(Debug)]
pub(crate) enum Item {
    Observation(Observation),
    Relation { kind: String, target: Target, context: Option<String> },
    Prose,
}

/// An observation with its position.
#[derive(Debug)]
pub(crate) struct Observation {
    pub(crate) category: String,
    pub(crate) tags: Vec<String>,
    pub(crate) context: Option<String>,
    pub(crate) text: Range<usize>,
    pub(crate) bare: Range<usize>,
}

/// An item's own text with its inline elements.
#[derive(Clone, Copy)]
pub(crate) struct Found<'a> {
    /// Code in it.
    pub(crate) hidden: &'a [Range<usize>],
    /// The links in double brackets in the text of the item.
    pub(crate) links: &'a [Link],
    /// True if the brackets at the beginning of the item are a reference link, and not a category.
    pub(crate) is_reference: bool,
}

/// Parses an item with this text.
pub(crate) fn read(text: &str, span: Range<usize>, found: Found<'_>) -> Item {
    let Found { hidden, links, is_reference } = found;
    let own = text.get(span.clone()).unwrap_or_default();
    if let Some(relation) = relation(text, &span, links) {
        return relation;
    }
    if is_link(own) {
        return Item::Prose;
    }
    match head(own) {
        Head::Barred => Item::Prose,
        Head::Category(category, after) if !is_reference => {
            Item::Observation(observation(text, span.start + after..span.end, category, hidden, links))
        }
        Head::Category(..) | Head::None => {
            let found = observation(text, span, CATEGORY, hidden, links);
            if found.tags.is_empty() { Item::Prose } else { Item::Observation(found) }
        }
    }
}

/// The brackets at an item's beginning.
enum Head<'a> {
    /// A category, and the position at which the text starts.
    Category(&'a str, usize),
    /// A task box or a time: never an observation.
    Barred,
    None,
}

fn head(own: &str) -> Head<'_> {
    let Some(rest) = own.strip_prefix('[') else { return Head::None };
    let Some(end) = rest.find(['[', ']', '(', ')']).filter(|at| rest.as_bytes().get(*at) == Some(&b']')) else {
        return Head::None;
    };
    let (inside, after) = (rest.get(..end).unwrap_or_default(), rest.get(end + 1..).unwrap_or_default());
    let category = inside.trim();
    if is_box(inside) || is_clock(category) {
        return Head::Barred;
    }
    let text = after.trim_start();
    if text.is_empty() || text.len() == after.len() || category.starts_with(['^', '!']) {
        return Head::None;
    }
    Head::Category(if category.is_empty() { CATEGORY } else { category }, own.len() - text.len())
}

/// True if the brackets contain a task mark: spaces only, an `x`, or another single character that is no letter and no
/// digit.
fn is_box(inside: &str) -> bool {
    let mut letters = inside.trim().chars();
    match (letters.next(), letters.next()) {
        (Some(only), None) => matches!(only, 'x' | 'X') || !only.is_alphanumeric(),
        (Some(_), Some(_)) => false,
        (None, _) => !inside.is_empty(),
    }
}

/// True for only a time or a time span: `00:11`, `1:02:03.5 - 1:02:09`.
fn is_clock(category: &str) -> bool {
    category.split(['-', '–', '—']).map(str::trim).all(is_time)
}

fn is_time(text: &str) -> bool {
    let (whole, fraction) = text.split_once(['.', ',']).unwrap_or((text, "0"));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = whole.split(':');
    let begins = parts.next().is_some_and(|hours| is_number(hours) && hours.len() <= 3);
    let rest: Vec<&str> = parts.collect();
    begins
        && (1..=2).contains(&rest.len())
        && rest.iter().all(|part| is_number(part) && part.len() == 2)
        && is_number(fraction)
}

/// True if the whole item is one Markdown link, `[text](address)`.
fn is_link(own: &str) -> bool {
    let Some(middle) = own.find("](").filter(|_| own.starts_with('[') && own.ends_with(')')) else { return false };
    context_start(own) == Some(middle + 1)
}

/// Finds the opening parenthesis for the closing one at the end of a text.
fn context_start(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate().rev() {
        match byte {
            b')' => depth += 1,
            _ if depth == 0 => return None,
            b'(' if depth == 1 => return Some(at),
            b'(' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn relation(text: &str, span: &Range<usize>, links: &[Link]) -> Option<Item> {
    let link = links.first()?;
    let label = text.get(span.start..link.at.start)?;
    let tail = text.get(link.at.end..span.end)?.trim();
    let kind = match kind_of(label)? {
        "" if link.is_embed => EMBEDS,
        "" => LINKS_TO,
        _ if link.is_embed => return None,
        kind => kind,
    };
    let context = match tail {
        "" => None,
        _ if context_start(tail) == Some(0) => {
            tail.get(1..tail.len() - 1).map(str::trim).filter(|said| !said.is_empty())
        }
        _ => return None,
    };
    let target = inline::target(text.get(link.inner.clone())?)?;
    Some(Item::Relation { kind: kind.to_owned(), target, context: context.map(str::to_owned) })
}

/// The type of a relation before a link: nothing, one word, or several in quotes.
fn kind_of(label: &str) -> Option<&str> {
    let trimmed = label.trim();
    if trimmed.is_empty() {
        return Some("");
    }
    if !label.ends_with(char::is_whitespace) {
        return None;
    }
    for quote in ['"', '\''] {
        if let Some(inside) = trimmed.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return Some(inside.trim()).filter(|inside| !inside.is_empty() && !inside.contains(quote));
        }
    }
    let kind = trimmed.trim_end_matches(':');
    let is_word = !kind.is_empty() && !kind.contains(char::is_whitespace) && !kind.contains(['[', ']', '"']);
    (is_word && !kind.starts_with('#')).then_some(kind)
}

fn observation(text: &str, span: Range<usize>, category: &str, hidden: &[Range<usize>], links: &[Link]) -> Observation {
    let own = text.get(span.clone()).unwrap_or_default();
    let hidden = inline::code_and_links(within(hidden, &span), links);
    let mut tags = Distinct::default();
    inline::tags(text, span.clone(), &hidden, &mut tags);
    // The parenthesis of a call, `f(x)`, is not a context.
    let opens =
        context_start(own).filter(|at| own.get(..*at).is_some_and(|before| before.ends_with(char::is_whitespace)));
    let context = opens.and_then(|at| own.get(at + 1..own.len() - 1)).map(str::trim).filter(|said| !said.is_empty());
    let mut bare = own.get(..opens.filter(|_| context.is_some()).unwrap_or(own.len())).unwrap_or(own).trim_end();
    while let Some(word) = bare.split(char::is_whitespace).next_back() {
        if !word.starts_with('#') || !word.split('#').any(|piece| inline::tag(piece).is_some()) {
            break;
        }
        bare = bare.get(..bare.len() - word.len()).unwrap_or_default().trim_end();
    }
    let bare = if bare.is_empty() { span.clone() } else { span.start..span.start + bare.len() };
    Observation {
        category: category.to_owned(),
        tags: tags.into_list(),
        context: context.map(str::to_owned),
        text: span,
        bare,
    }
}

/// Returns the ranges of a sorted list that overlap a range.
pub(crate) fn within<'a>(ranges: &'a [Range<usize>], span: &Range<usize>) -> &'a [Range<usize>] {
    let from = ranges.partition_point(|range| range.end <= span.start);
    let to = ranges.partition_point(|range| range.start < span.end);
    ranges.get(from..to.max(from)).unwrap_or_default()
}

/// Parses the attributes of a memory block after its first word: `[category] #tag #tag (context)`.
pub(crate) fn memory_head(info: &str) -> (Option<String>, Vec<String>, Option<String>) {
    let mut rest = info.trim();
    let mut category = None;
    if let Some((inside, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        category = Some(inside.trim().to_owned()).filter(|inside| !inside.is_empty());
        rest = after.trim_start();
    }
    let mut tags = Distinct::default();
    while let Some(after) = rest.strip_prefix('#') {
        let end = after.find(char::is_whitespace).unwrap_or(after.len());
        tags.add(after.get(..end).unwrap_or_default());
        rest = after.get(end..).unwrap_or_default().trim_start();
    }
    let context = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).map(str::trim);
    let tags = tags.into_list();
    if category.is_none() && !tags.is_empty() {
        category = Some(CATEGORY.to_owned());
    }
    (category, tags, context.filter(|said| !said.is_empty()).map(str::to_owned))
}
