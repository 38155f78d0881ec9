//! The screening of all texts before they are stored. Each text of a draft, a change or a document is checked. A
//! [`Keeper`] stores, discards or rejects each credential. A placeholder replaces it in the text. The result is
//! [`Screened`]; only this module creates one, and [`crate::compose`] accepts nothing else.
//!
//! `screened`, `looked` and `known` use each other: `screened` visits the texts, `looked` stores the findings, and
//! `known` visits the texts again for known values.

mod dropped;
mod found;
mod json;
mod known;
mod looked;
pub mod probable;
mod screened;
mod texts;

#[cfg(test)]
mod tests;

pub use dropped::{dropped, dropped_in_lines};
pub use found::{findings, is_clean};
pub use known::KnownValues;
pub use looked::{Found, Looked};
pub use screened::{
    Keeper, MARKED, ProbableSecrets, Screened, Secret, put_back, screened, screened_beside, screened_closely,
    screened_for, stands_in,
};
pub use tessera_screen::{Finding, Kind, Name, Place, places};
pub use texts::{Part, Texts, Version, Words};
