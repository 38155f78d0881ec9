//! Finds credentials in texts: where they stand, and of what kind they are.
//!
//! Two families look: [`formats`] knows what tokens of providers look like, [`context`] what people and programs write
//! around a password. What neither can tell from an ordinary word, a hash or an identifier stays in the text. Pure: no
//! clock, no storage, no network; time grows with the length of the text and nothing else.

mod context;
mod finding;
mod formats;
mod place;
mod view;

pub use finding::{Finding, Kind};
pub use place::{Name, Place, places};

/// The credentials of a text, in order: no two overlap, each begins and ends between characters and is not empty. Places
/// where one was taken out before are none.
pub fn findings(text: &str) -> Vec<Finding> {
    let found = match view::View::of(text) {
        None => found_in(text),
        Some(view) => {
            let found = found_in(view.text()).into_iter();
            found.map(|finding| Finding { span: view.origin(&finding.span), kind: finding.kind }).collect()
        }
    };
    let taken = places(text);
    finding::merged(found.into_iter().filter(|finding| taken.iter().all(|(span, _)| !finding.overlaps(span))).collect())
}

/// What both families find in a text as it is read.
fn found_in(text: &str) -> Vec<Finding> {
    let mut found = formats::findings(text);
    found.extend(context::findings(text));
    found
}

/// True when a text holds no credential.
pub fn is_clean(text: &str) -> bool {
    findings(text).is_empty()
}
