//! Notes in Markdown: what a text says, and where in it each part stands.
