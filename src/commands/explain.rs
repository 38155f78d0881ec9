//! Why each memory came back, and what it cost: the table of `recall --explain`.

use tessera_engine::pack::{Ranked, Recall};
use tessera_engine::score::ScoreParts;

use crate::output;

/// A table of all rows of a recall, shown and left out.
pub(super) fn table(recall: &Recall, searched: u32) -> String {
    let mut header = vec!["memory", "shown as", "tokens", "score"];
    // A part that is nothing in every row takes no column.
    let all = recall.details.iter().map(|detail| &detail.ranked).chain(recall.index.iter().map(|entry| &entry.ranked));
    let all: Vec<Vec<f64>> = all.chain(&recall.left_out).map(|ranked| ranked.parts.values().to_vec()).collect();
    let parts: Vec<usize> =
        (0..ScoreParts::NAMES.len()).filter(|part| all.iter().any(|row| row.get(*part) != Some(&0.0))).collect();
    header.extend(parts.iter().filter_map(|part| ScoreParts::NAMES.get(*part)));
    let row = |ranked: &Ranked, form: &str, tokens| row(ranked, form, tokens, &parts);
    let mut rows = Vec::new();
    for detail in &recall.details {
        let form = if detail.excerpt.is_some() { "excerpt" } else { "detail" };
        rows.push(row(&detail.ranked, form, Some(detail.tokens)));
    }
    for entry in &recall.index {
        rows.push(row(&entry.ranked, if entry.is_bare { "handle" } else { "index" }, Some(entry.tokens)));
    }
    rows.extend(recall.left_out.iter().map(|ranked| row(ranked, "left out", None)));
    let head = format!(
        "\nsearched {searched}, matched {}, spent {} {} tokens\n",
        recall.total_count, recall.tokens_used, recall.profile
    );
    head + &output::table(&header, rows)
}

fn row(ranked: &Ranked, form: &str, tokens: Option<u32>, parts: &[usize]) -> Vec<String> {
    let name = match ranked.redirected_from {
        Some(old) => format!("{} for {old}", ranked.handle),
        None => ranked.handle.to_string(),
    };
    let tokens = tokens.map_or_else(|| "-".to_owned(), |tokens| tokens.to_string());
    let mut cells = vec![name, form.to_owned(), tokens, format!("{:.3}", ranked.score)];
    let values = ranked.parts.values();
    let values = parts.iter().filter_map(|part| values.get(*part));
    cells.extend(values.map(|part| if *part == 0.0 { "-".to_owned() } else { format!("{part:.3}") }));
    cells
}
