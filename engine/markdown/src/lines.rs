//! Which line a byte is in. Lines end with `\n` and nothing else, as in every view of a file.

/// Where the lines of a text begin.
pub(crate) struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    /// Finds the lines of a text.
    pub(crate) fn of(text: &str) -> Self {
        let after = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { starts: std::iter::once(0).chain(after).collect() }
    }

    /// The number of the line that holds the byte, from 1.
    pub(crate) fn number(&self, at: usize) -> u32 {
        u32::try_from(self.starts.partition_point(|start| *start <= at)).unwrap_or(u32::MAX).max(1)
    }

    /// The first and the last line of a span.
    pub(crate) fn span(&self, span: &std::ops::Range<usize>) -> (u32, u32) {
        (self.number(span.start), self.number(span.end.saturating_sub(1).max(span.start)))
    }
}
