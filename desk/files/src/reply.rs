//! A reply that can be cut to a budget, and then says how to continue.

/// The reply of a command: a header, and rows that a caller can shorten to a budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The first line.
    pub header: String,
    /// The lines after it, whole.
    pub rows: Vec<String>,
    kind: Kind,
    /// The maximum number of directories that the last line of a listing suggests.
    most_named: usize,
}

/// A subdirectory of a listed directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Inner {
    /// Its path, with a slash at the end.
    pub(crate) path: String,
    /// Its content.
    pub(crate) entries: usize,
    /// The number of its last entry.
    pub(crate) last: usize,
}

/// The entries with a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entries {
    /// The number of the first entry, from 1. The row before the first entry is the row of the directory itself.
    pub(crate) first: usize,
    /// Entries after the requested range.
    pub(crate) after: usize,
    /// Names that were not read.
    pub(crate) unlisted: usize,
    /// The directories in it.
    pub(crate) directories: Vec<Inner>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Sentence,
    /// Lines of a file. The values are the line number of the first row, and the number of the last requested line.
    Lines(usize, usize),
    /// The content of a directory.
    Entries(Entries),
}

impl Reply {
    /// One line.
    pub(crate) fn sentence(header: String) -> Self {
        Self { header, rows: Vec::new(), kind: Kind::Sentence, most_named: 0 }
    }

    /// Creates a reply with lines of a file. `first` is the number of the first line.
    pub(crate) fn lines(header: String, rows: Vec<String>, first: usize) -> Self {
        let last = first + rows.len().saturating_sub(1);
        Self { header, rows, kind: Kind::Lines(first, last), most_named: 0 }
    }

    /// The content of a directory.
    pub(crate) fn entries(header: String, rows: Vec<String>, entries: Entries) -> Self {
        Self { header, rows, kind: Kind::Entries(entries), most_named: Self::USUALLY_NAMED }
    }

    /// The default number of directories that the last line of a listing suggests.
    const USUALLY_NAMED: usize = 8;

    /// Returns this reply with at most this number of suggested directories.
    #[must_use]
    pub fn naming(self, most_named: usize) -> Self {
        Self { most_named, ..self }
    }

    /// All of it.
    pub fn text(&self) -> String {
        let mut text =
            String::with_capacity(self.header.len() + self.rows.iter().map(|row| row.len() + 1).sum::<usize>());
        text.push_str(&self.header);
        if matches!(self.kind, Kind::Lines(..)) && self.rows.is_empty() {
            text.push('\n');
        }
        for row in &self.rows {
            text.push('\n');
            text.push_str(row);
        }
        if matches!(&self.kind, Kind::Entries(entries) if entries.unlisted + entries.after > 0) {
            text.push('\n');
            text.push_str(&self.rest(self.rows.len()));
        }
        text
    }

    /// The first rows, a part of the next one, and a line that says how to see the rest.
    pub fn first(&self, rows: usize, bytes_of_next: usize) -> String {
        let Some(next) = self.rows.get(rows) else { return self.text() };
        let mut text = self.header.clone();
        for row in self.rows.iter().take(rows) {
            text.push('\n');
            text.push_str(row);
        }
        let piece = next.get(..next.floor_char_boundary(bytes_of_next)).unwrap_or_default();
        if piece.len() == next.len() {
            return self.first(rows + 1, 0);
        }
        if !piece.is_empty() {
            text.push('\n');
            text.push_str(piece);
            text.push('…');
        }
        text.push('\n');
        match (piece.is_empty(), self.rows.len() > rows + 1) {
            // The rest of a cut line needs more tokens.
            (false, true) => text.push_str(&self.rest(rows + 1)),
            (false, false) => text.push_str("[the line continues: use a larger max_tokens]"),
            (true, _) => text.push_str(&self.rest(rows)),
        }
        text
    }

    /// The line that replaces the rows after the first ones.
    pub fn rest(&self, rows: usize) -> String {
        let left = self.rows.len().saturating_sub(rows);
        match &self.kind {
            Kind::Lines(first, last) => {
                let next = first + rows;
                format!("[{left} more lines, {next} to {last}: continue with view_range [{next}, {last}]]")
            }
            Kind::Entries(entries) => self.rest_of_directory(entries, rows, left),
            Kind::Sentence => format!("[{left} more lines]"),
        }
    }
}

impl Reply {
    /// Returns a line that explains how to list the omitted entries.
    fn rest_of_directory(&self, entries: &Entries, rows: usize, left: usize) -> String {
        let next = entries.first + rows.saturating_sub(1);
        let last = next - 1 + left + entries.after;
        // Unread names may not be visible entries.
        let (range, end) = match entries.unlisted {
            0 => (format!("{next} to {last}"), last.to_string()),
            _ => (format!("from {next} on"), "-1".to_owned()),
        };
        let shown = self.rows.len().saturating_sub(left + 1);
        let is_too_long = left > 0 && shown == 0;
        let left = left + entries.after + entries.unlisted;
        if is_too_long {
            return format!("[{left} more entries: use a larger max_tokens]");
        }
        let hidden: Vec<&Inner> = entries.directories.iter().filter(|inner| inner.last >= next).collect();
        let named: Vec<String> = hidden
            .iter()
            .take(self.most_named)
            .map(|inner| format!("{} ({} entries)", inner.path, inner.entries))
            .collect();
        let more = hidden.len() - named.len();
        let also = match (named.is_empty(), more) {
            (true, _) => String::new(),
            (false, 0) => format!("; or view {}", named.join(", ")),
            (false, more) => format!("; or view {}, or one of {more} more directories", named.join(", ")),
        };
        format!("[{left} more entries, {range}: continue with view_range [{next}, {end}]{also}]")
    }
}

/// A line of a file for display: its number in six columns, a tab, its text.
pub(crate) fn numbered(number: usize, line: &str) -> String {
    format!("{number:>6}\t{line}")
}

#[cfg(test)]
mod tests {
    use super::{Reply, numbered};

    #[test]
    fn a_cut_reply_says_where_to_go_on() {
        let rows = ["a", "bcdé", "e"].iter().enumerate().map(|(at, line)| numbered(at + 4, line)).collect();
        let reply = Reply::lines("Lines:".to_owned(), rows, 4);
        assert_eq!(reply.text(), "Lines:\n     4\ta\n     5\tbcdé\n     6\te");
        assert_eq!(reply.first(3, 0), reply.text());
        let cut = "Lines:\n     4\ta\n[2 more lines, 5 to 6: continue with view_range [5, 6]]";
        assert_eq!(reply.first(1, 0), cut);
        // A line longer than the budget is cut between characters.
        let within = "Lines:\n     4\ta\n     5\tbcd…\n[1 more lines, 6 to 6: continue with view_range [6, 6]]";
        assert_eq!(reply.first(1, 11), within);
        let last = "Lines:\n     4\ta\n     5\tbcdé\n     6…\n[the line continues: use a larger max_tokens]";
        assert_eq!(reply.first(2, 6), last);
        assert_eq!(reply.first(2, 99), reply.text());
    }
}
