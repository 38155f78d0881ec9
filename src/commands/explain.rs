//! Explains why each memory was returned and what it cost: the table of `recall --explain`.

use tessera_desk::Desk;
use tessera_desk::use_cases::{FilePosition, WhereInFiles};
use tessera_engine::domain::Memory;
use tessera_engine::pack::{Ranked, Recall};
use tessera_engine::score::ScoreParts;

use crate::output;

/// Explains the column `holds`.
const FLOOR: &str = "holds: the share of the question's information in a row; rows below the threshold are \
    low-confidence or omitted\n";

/// Explains the reply to a question about many memories.
const BREADTH: &str = "breadth: the question asks for many memories, so rows are short and in chronological order; --breadth off returns full texts\n";

/// A table of all rows of a recall: shown, omitted, and the best ones below the threshold.
pub(super) fn table(recall: &Recall, searched: u32, position: &[String]) -> String {
    let mut header = vec!["id", "as", "tokens", "holds", "score"];
    // A score part that is zero in every row has no column.
    let all = recall.details.iter().map(|detail| &detail.ranked).chain(recall.index.iter().map(|entry| &entry.ranked));
    let all: Vec<Vec<f64>> =
        all.chain(&recall.left_out).chain(&recall.below_floor).map(|ranked| ranked.parts.values().to_vec()).collect();
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
        let form = match entry {
            entry if entry.ranked.is_weak => "weak",
            entry if entry.is_bare => "ID",
            entry if entry.excerpt.is_some() => "excerpt",
            _ => "index",
        };
        rows.push(row(&entry.ranked, form, Some(entry.tokens)));
    }
    rows.extend(recall.left_out.iter().map(|ranked| row(ranked, "left out", None)));
    let is_listed = |ranked: &&Ranked| recall.index.iter().any(|entry| entry.ranked.short_id == ranked.short_id);
    let below = recall.below_floor.iter().filter(|ranked| !is_listed(ranked));
    rows.extend(below.map(|ranked| row(ranked, "below", None)));
    let head = format!(
        "\nscanned {searched}, matched {}; the reply above costs {} {} tokens; this table is not part of it\n",
        recall.total_count, recall.tokens_used, recall.profile
    );
    let breadth = if recall.is_broad { BREADTH } else { "" };
    let places: String = position.iter().map(|line| format!("{line}\n")).collect();
    let wrap = |text: &str| output::columns().map_or(text.to_owned(), |columns| output::wrapped(text, "", columns));
    wrap(&(head + breadth + FLOOR)) + &output::table(&header, rows) + &wrap(&places)
}

/// Returns one line for each memory in the reply that comes from a file, with the memory's position.
pub(super) fn position(desk: &mut Desk<'_>, recall: &Recall) -> anyhow::Result<Vec<String>> {
    let details = recall.details.iter().map(|detail| &detail.memory);
    let memories: Vec<&Memory> = details.chain(recall.index.iter().map(|entry| &entry.memory)).collect();
    let found = desk.perform(WhereInFiles { ids: memories.iter().map(|memory| memory.id).collect() })?;
    let line = |(memory, position): (&&Memory, Option<FilePosition>)| {
        position.map(|position| output::shown(&format!("{} in {position}", memory.short_id)))
    };
    Ok(memories.iter().zip(found).filter_map(line).collect())
}

/// Formats a number with three decimal places and no leading zero, so that all columns fit on a terminal.
fn decimals(number: f64) -> String {
    let number = format!("{number:.3}");
    number.strip_prefix('0').map(str::to_owned).unwrap_or(number)
}

fn row(ranked: &Ranked, form: &str, tokens: Option<u32>, parts: &[usize]) -> Vec<String> {
    let name = match ranked.redirected_from {
        Some(old) => format!("{} for {old}", ranked.short_id),
        None => ranked.short_id.to_string(),
    };
    let tokens = tokens.map_or_else(|| "-".to_owned(), |tokens| tokens.to_string());
    let holds = format!("{:.0} %", ranked.share * 100.0);
    let mut cells = vec![name, form.to_owned(), tokens, holds, decimals(ranked.score)];
    let values = ranked.parts.values();
    let values = parts.iter().filter_map(|part| values.get(*part));
    cells.extend(values.map(|part| if *part == 0.0 { "-".to_owned() } else { decimals(*part) }));
    cells
}
