//! The list of proposals as a text for the editor, and the decisions in the edited text.

use tessera_desk::use_cases::{Decide, Proposal, ReviewId, ReviewItem, Verdict};

use super::one_line;
use crate::output;

const HELP: &str = "\
# Change the first word of each row, then save the text and close the editor.
#   accept  does what is proposed. You can also change the text that is to be stored.
#   drop    drops the proposal, so that it is not made again.
#   wait    decides later. A row that you remove also waits.
";

/// The text for the editor: one row per proposal.
pub(super) fn written(items: &[ReviewItem]) -> String {
    let line = |item: &ReviewItem| format!("wait {} {}\n", item.id, text_of(item));
    format!("{HELP}\n{}", items.iter().map(line).collect::<String>())
}

/// The decisions in an edited text.
///
/// # Errors
/// Returns an error that names the first row that cannot be understood. Then no decision is carried out.
pub(super) fn decisions(text: &str, items: &[ReviewItem]) -> Result<Vec<Decide>, String> {
    let lines = (1..).zip(text.lines().map(str::trim));
    let said = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let mut decisions: Vec<Decide> = Vec::new();
    for (number, line) in said {
        let Some(decide) = decision(line, items).map_err(|problem| format!("row {number}: {problem}"))? else {
            continue;
        };
        if decisions.iter().any(|known| known.id == decide.id) {
            return Err(format!("row {number}: {} occurs twice; keep one of the rows", decide.id));
        }
        decisions.push(decide);
    }
    Ok(decisions)
}

fn decision(line: &str, items: &[ReviewItem]) -> Result<Option<Decide>, String> {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let (id, text) = rest.trim_start().split_once(char::is_whitespace).unwrap_or((rest, ""));
    let verdict = match word {
        "accept" | "a" => Some(Verdict::Accept),
        "drop" | "d" => Some(Verdict::Drop),
        "wait" | "w" => None,
        other => return Err(format!("`{other}` is unknown; begin the row with accept, drop or wait")),
    };
    let named = id.parse::<ReviewId>().ok();
    let Some(item) = items.iter().find(|item| Some(&item.id) == named.as_ref()) else {
        return Err(format!("`{id}` is not the ID of a proposal; restore the second word of the row"));
    };
    let text = text.trim();
    let is_changed = text != text_of(item);
    let Some(verdict) = verdict else {
        let problem = "the text was changed, but the row begins with wait; use accept, or restore the text";
        return if is_changed { Err(problem.to_owned()) } else { Ok(None) };
    };
    let verdict = match (verdict, &item.proposal) {
        (Verdict::Accept, Proposal::Line { .. }) if text.is_empty() => {
            return Err("the text is empty; use drop, or restore the text".to_owned());
        }
        (Verdict::Accept, Proposal::Line { .. }) if is_changed => Verdict::Edit(text.to_owned()),
        (verdict, _) => verdict,
    };
    Ok(Some(Decide { id: item.id.clone(), verdict }))
}

fn text_of(item: &ReviewItem) -> String {
    let text = match &item.proposal {
        Proposal::Line { line, .. } => return one_line(&line.content),
        Proposal::Contradiction { newer, older } => {
            let (new, old) = (newer.short_id, older.short_id);
            format!("mark {old} as outdated: {} ({new} may contradict it: {})", older.summary, newer.summary)
        }
        Proposal::Duplicate { deletes, keeps } => {
            format!("delete {}: {} ({} says the same)", deletes.short_id, deletes.summary, keeps.short_id)
        }
        Proposal::Unused { memory } => format!("delete {}, never used: {}", memory.short_id, memory.summary),
    };
    one_line(&output::shown(&text))
}

#[cfg(test)]
mod tests {
    use tessera_engine::domain::{Candidate, Scope};

    use super::*;

    fn item(id: &str, content: &str) -> ReviewItem {
        let candidate = Candidate::new(content, Scope::Global, "2026-11-20".parse().unwrap());
        ReviewItem { id: id.parse().unwrap(), proposal: Proposal::Line { line: Box::new(candidate), replaces: None } }
    }

    #[test]
    fn only_changed_words_are_decisions_and_a_changed_text_is_stored() {
        let items = [item("bbbbbb", "We deploy\non Fridays"), item("cccccc", "Uses just"), item("dddddd", "# 1 rule")];
        let sheet = written(&items);
        assert_eq!(decisions(&sheet, &items), Ok(Vec::new()));
        let edited = sheet
            .replace("wait bbbbbb", "accept bbbbbb")
            .replace("wait cccccc Uses just", "a cccccc Uses just for all tasks")
            .replace("wait dddddd", "  drop   dddddd");
        let found: Vec<(String, Verdict)> =
            decisions(&edited, &items).unwrap().into_iter().map(|one| (one.id.to_string(), one.verdict)).collect();
        let edit = Verdict::Edit("Uses just for all tasks".into());
        let expected = [("bbbbbb", Verdict::Accept), ("cccccc", edit), ("dddddd", Verdict::Drop)];
        assert_eq!(found, expected.map(|(id, verdict)| (id.to_owned(), verdict)));
    }

    #[test]
    fn a_line_that_is_not_understood_is_named_and_nothing_is_decided() {
        let items = [item("bbbbbb", "We deploy on Fridays")];
        for (text, problem) in [
            ("yes bbbbbb x", "row 1: `yes` is unknown; begin the row with accept, drop or wait"),
            ("\ndrop kkkkkk x", "row 2: `kkkkkk` is not the ID of a proposal; restore the second word of the row"),
            ("accept bbbbbb", "row 1: the text is empty; use drop, or restore the text"),
            (
                "wait bbbbbb We deploy on Mondays",
                "row 1: the text was changed, but the row begins with wait; use accept, or restore the text",
            ),
            ("drop bbbbbb\ndrop bbbbbb", "row 2: bbbbbb occurs twice; keep one of the rows"),
        ] {
            assert_eq!(decisions(text, &items), Err(problem.to_owned()), "{text:?}");
        }
    }
}
