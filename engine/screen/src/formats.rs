//! Tokens recognised by their format: prefix, alphabet, length, checksum. Also finds tokens without a format, by the
//! name of a provider or a word for a credential before them.

use crate::place::Finding;

mod alphabet;
mod look;
mod near;
mod nouns;
mod pattern;
mod prefixed;
mod providers;
#[cfg(test)]
mod tests;

/// True if a text contains the beginning of a provider's token.
pub(crate) fn may_begin(text: &str) -> bool {
    prefixed::may_begin(text)
}

pub(crate) fn findings(text: &str) -> Vec<Finding> {
    let mut found = prefixed::findings(text);
    found.sort_by_key(|finding| (finding.span.start, finding.span.end));
    let mut near = Vec::new();
    for mut finding in near::findings(text) {
        // The format is more precise than the word before.
        let after = found.partition_point(|known| known.span.start < finding.span.end);
        let known = after.checked_sub(1).and_then(|at| found.get(at)).filter(|known| known.overlaps(&finding.span));
        match known {
            Some(known) if known.span.start <= finding.span.start && finding.span.end <= known.span.end => continue,
            Some(known) => finding.kind = known.kind,
            None => {}
        }
        near.push(finding);
    }
    found.append(&mut near);
    found
}
