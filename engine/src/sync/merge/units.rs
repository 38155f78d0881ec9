//! The units in which a text is merged. In a note, a unit is a part that a person usually changes at once.

/// The lines of a text.
pub(super) fn lines(body: &str) -> Vec<&str> {
    if body.is_empty() { Vec::new() } else { body.split('\n').collect() }
}

/// The units of a note: a list item with its continuation lines, a paragraph, a code fence, a heading, an empty line, a
/// line of the front matter. Newlines separate the units.
pub(super) fn units(body: &str) -> Vec<&str> {
    let mut cutter = Cutter { body, units: Vec::new(), begin: 0, last: None };
    let (mut at, mut state) = (0, if body.starts_with("---\n") { State::Front } else { State::Text });
    for (number, line) in lines(body).into_iter().enumerate() {
        let kind;
        (kind, state) = state.read(line, number);
        if !kind.goes_on(cutter.last) {
            cutter.end(at);
        }
        cutter.last = Some(kind);
        at += line.len() + 1;
    }
    cutter.end(at);
    cutter.units
}

struct Cutter<'a> {
    body: &'a str,
    units: Vec<&'a str>,
    begin: usize,
    last: Option<Kind>,
}

impl Cutter<'_> {
    /// Ends a unit before the line at `at`.
    fn end(&mut self, at: usize) {
        if self.last.is_some() {
            self.units.extend(self.body.get(self.begin..at - 1));
        }
        self.begin = at;
    }
}

/// The state of a line.
#[derive(Clone, Copy)]
enum State {
    Front,
    Text,
    /// The scanner is in a code block, which ends with at least this number of fence characters.
    Fence(char, usize),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A line that is a unit of its own: an empty line, a heading, a table row, or a line of the front matter.
    Alone,
    /// The first line of an item.
    Item,
    /// An indented line.
    Indented,
    Paragraph,
    FenceBegins,
    FenceGoesOn,
}

impl Kind {
    /// True for a line that continues the previous one.
    fn goes_on(self, last: Option<Self>) -> bool {
        match self {
            Self::Alone | Self::Item | Self::FenceBegins => false,
            Self::Indented | Self::Paragraph => {
                matches!(last, Some(Self::Item | Self::Indented | Self::Paragraph))
            }
            Self::FenceGoesOn => true,
        }
    }
}

impl State {
    fn read(self, line: &str, number: usize) -> (Kind, Self) {
        let text = line.trim();
        match self {
            Self::Front => (Kind::Alone, if number > 0 && text == "---" { Self::Text } else { Self::Front }),
            Self::Fence(marker, least) => {
                let is_end = text.len() >= least && text.chars().all(|character| character == marker);
                (Kind::FenceGoesOn, if is_end { Self::Text } else { self })
            }
            Self::Text => match fence(text) {
                Some((marker, length)) => (Kind::FenceBegins, Self::Fence(marker, length)),
                None => (kind(line, text), Self::Text),
            },
        }
    }
}

fn fence(text: &str) -> Option<(char, usize)> {
    let marker = text.chars().next().filter(|marker| matches!(marker, '`' | '~'))?;
    let length = text.chars().take_while(|character| *character == marker).count();
    (length >= 3).then_some((marker, length))
}

fn kind(line: &str, text: &str) -> Kind {
    if text.is_empty() || text.starts_with(['#', '|']) {
        return Kind::Alone;
    }
    if is_item(text) {
        return Kind::Item;
    }
    if line.starts_with([' ', '\t']) { Kind::Indented } else { Kind::Paragraph }
}

fn is_item(text: &str) -> bool {
    let after = text.strip_prefix(['-', '*', '+']).or_else(|| {
        let digits = text.trim_start_matches(|character: char| character.is_ascii_digit());
        (digits.len() < text.len()).then(|| digits.strip_prefix(['.', ')'])).flatten()
    });
    after.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}
