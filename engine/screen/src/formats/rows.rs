//! The formats tokens of providers have, as their documents and their tokens show them: a pattern (see
//! [`super::pattern`]) and the kind it is.

mod hosting;
mod services;

/// A format: its pattern and the words for its kind.
pub(super) type Row = (&'static str, &'static str);

/// All of them.
pub(super) fn all() -> impl Iterator<Item = &'static Row> {
    hosting::ROWS.iter().chain(services::ROWS)
}

/// One of them, by its place.
pub(super) fn at(place: usize) -> Option<&'static Row> {
    let rest = place.checked_sub(hosting::ROWS.len());
    rest.map_or_else(|| hosting::ROWS.get(place), |place| services::ROWS.get(place))
}
