//! The formats tokens of providers have, as their documents and their tokens show them: a pattern (see
//! [`super::pattern`]) and the kind it is.

use tessera_tables::pairs;

/// All of them, in the order in which they are tried.
pub(super) const ROWS: &[(&str, &str)] = pairs!(include_str!("rows.txt"));
