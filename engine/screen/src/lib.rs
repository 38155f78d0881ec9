//! Finds credentials in texts, with their positions and kinds.
//!
//! There are three families of rules. `formats` knows the formats of providers' tokens. `context` recognises what
//! people and programs write around a password. The module `stated` in it recognises sentences in twenty-five languages
//! that contain a secret. If no rule can distinguish a text from an ordinary word, a hash or an identifier, the text is
//! not redacted. The detector is pure: it uses no clock, no storage and no network. The time is linear in the length of
//! the text.

mod context;
mod formats;
mod place;
mod view;

/// Word lists.
const LISTS: &str = include_str!("lists.txt");

pub use place::{Finding, Kind, Name, Place, merged, places, without_places};

/// Returns the credentials of a text, in order. Ranges begin and end at characters, never overlap, and are never empty.
/// Placeholders of redacted secrets are not credentials.
pub fn findings(text: &str) -> Vec<Finding> {
    let mut found = found_once(text);
    // Removing a credential changes the surroundings of others, so the text is checked again until nothing more is
    // found.
    for _ in 0..MOST_LOOKS {
        if found.is_empty() {
            break;
        }
        let more = found_beside(text, &found);
        if more.is_empty() {
            break;
        }
        found.extend(more);
        found = merged(found);
    }
    found
}

const MOST_LOOKS: usize = 4;

/// Returns further credentials, which the detector finds only after the given findings are replaced.
fn found_beside(text: &str, found: &[Finding]) -> Vec<Finding> {
    let mut screened = String::with_capacity(text.len());
    // For each remaining part, its start in both texts.
    let mut stretches = vec![(0, 0)];
    let mut from = 0;
    for Finding { span, kind } in found {
        screened.push_str(text.get(from..span.start).unwrap_or_default());
        screened.push_str(&Place { name: None, kind: kind.to_string() }.to_string());
        from = span.end;
        stretches.push((screened.len(), from));
    }
    screened.push_str(text.get(from..).unwrap_or_default());
    let origin = |at: usize| {
        let stretch = stretches.partition_point(|(start, _)| *start <= at).checked_sub(1);
        let (start, origin) = stretch.and_then(|stretch| stretches.get(stretch)).copied().unwrap_or_default();
        origin + (at - start)
    };
    let more = found_once(&screened).into_iter();
    more.map(|Finding { span, kind }| {
        let start = origin(span.start);
        Finding { span: start..start + span.len(), kind }
    })
    .collect()
}

/// The findings of all rules, applied to the readable form of a text.
fn found_once(text: &str) -> Vec<Finding> {
    let found = match view::View::of(text) {
        None => found_in(text),
        Some(view) => {
            let found = found_in(view.text()).into_iter();
            found.map(|finding| Finding { span: view.origin(&finding.span), kind: finding.kind }).collect()
        }
    };
    let taken = places(text);
    merged(found.into_iter().filter(|finding| taken.iter().all(|(span, _)| !finding.overlaps(span))).collect())
}

/// The findings of all rules.
fn found_in(text: &str) -> Vec<Finding> {
    let mut found = formats::findings(text);
    found.extend(context::findings(text));
    found.extend(context::stated(text));
    found
}

/// True if a text contains no credential.
pub fn is_clean(text: &str) -> bool {
    findings(text).is_empty()
}
