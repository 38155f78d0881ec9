//! What passes into a store: no credential in clear. Each text of a draft, a change or a document is looked through, what
//! is found is given to a [`Keeper`], and its place in the text is named. What came through is [`Screened`]; only this
//! room makes one, and [`crate::compose`] takes nothing else.
//!
//! `screened`, `looked` and `known` use each other: the first walks the texts, the second holds what was found, and the third
//! repeats the walk for values that are known already.

mod dropped;
mod found;
mod json;
mod known;
mod looked;
mod screened;
mod texts;

#[cfg(test)]
mod tests;

pub use dropped::{dropped, dropped_in_lines};
pub use found::{findings, is_clean};
pub use known::KnownValues;
pub use looked::{Found, Looked};
pub use screened::{Keeper, Screened, Secret, screened, screened_beside, screened_for};
pub use tessera_screen::{Finding, Kind, Name, Place, places};
pub use texts::{Part, Texts, Words};
