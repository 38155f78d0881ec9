//! A reply that can be cut where a budget ends, and then says how to go on.

/// What a command answers: a header, and rows that may be more than a budget holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The first line.
    pub header: String,
    /// The lines after it, whole.
    pub rows: Vec<String>,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Sentence,
    /// Lines of a file: the number of the first row's, and of the last line that was asked for.
    Lines(usize, usize),
    /// What is in a directory: so many entries have no row.
    Entries(usize),
}

impl Reply {
    /// One line.
    pub(crate) fn sentence(header: String) -> Self {
        Self { header, rows: Vec::new(), kind: Kind::Sentence }
    }

    /// Lines of a file, of which the first has this number.
    pub(crate) fn lines(header: String, rows: Vec<String>, first: usize) -> Self {
        let last = first + rows.len().saturating_sub(1);
        Self { header, rows, kind: Kind::Lines(first, last) }
    }

    /// What is in a directory.
    pub(crate) fn entries(header: String, rows: Vec<String>, unlisted: usize) -> Self {
        Self { header, rows, kind: Kind::Entries(unlisted) }
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
        if matches!(self.kind, Kind::Entries(unlisted) if unlisted > 0) {
            text.push('\n');
            text.push_str(&self.rest(self.rows.len()));
        }
        text
    }

    /// The first rows, so many bytes of the one after them, and a line that says how to see the rest.
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
            // What is left of a line that is cut is seen with more tokens alone.
            (false, true) => text.push_str(&self.rest(rows + 1)),
            (false, false) => text.push_str("[the line goes on: give more max_tokens]"),
            (true, _) => text.push_str(&self.rest(rows)),
        }
        text
    }

    /// The line that stands where the rows after the first so many would.
    pub fn rest(&self, rows: usize) -> String {
        let left = self.rows.len().saturating_sub(rows);
        match self.kind {
            Kind::Lines(first, last) => {
                let next = first + rows;
                format!("[{left} more lines, {next} to {last}: go on with view_range [{next}, {last}]]")
            }
            Kind::Entries(unlisted) => format!("[{} more entries: view a directory in it]", left + unlisted),
            Kind::Sentence => format!("[{left} more lines]"),
        }
    }
}

/// A line of a file as it is shown: its number in six columns, a tab, its text.
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
        let cut = "Lines:\n     4\ta\n[2 more lines, 5 to 6: go on with view_range [5, 6]]";
        assert_eq!(reply.first(1, 0), cut);
        // A line longer than the budget is cut between letters.
        let within = "Lines:\n     4\ta\n     5\tbcd…\n[1 more lines, 6 to 6: go on with view_range [6, 6]]";
        assert_eq!(reply.first(1, 11), within);
        let last = "Lines:\n     4\ta\n     5\tbcdé\n     6…\n[the line goes on: give more max_tokens]";
        assert_eq!(reply.first(2, 6), last);
        assert_eq!(reply.first(2, 99), reply.text());
    }
}
