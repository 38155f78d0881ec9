//! Reads JSON lines with a field `text`. For each, writes the ranges of the credentials, in characters: `[[start, end,
//! kind], …]`.

use std::io::{self, BufRead as _, Write as _};

use serde_json::{Value, json};

fn main() -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let row: Value = serde_json::from_str(&line?)?;
        let text = row.get("text").and_then(Value::as_str).unwrap_or_default();
        let chars = |at: usize| text.get(..at).map_or(0, |head| head.chars().count());
        let found = tessera_screen::findings(text);
        let found = found.iter().map(|f| json!([chars(f.span.start), chars(f.span.end), f.kind.as_str()]));
        writeln!(out, "{}", found.collect::<Value>())?;
    }
    Ok(())
}
