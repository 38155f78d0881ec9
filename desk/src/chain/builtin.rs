//! The links of ours.

use tessera_engine::store::{Likeness, Near, StoreError};

use super::seen::{Asked, Seen};
use super::{Done, Link};

/// Takes credentials out of what the links after it are shown, the first of all. That none is stored is not its doing: a
/// store takes nothing but what was screened, whatever links there are.
pub(super) struct Screen;

impl Link for Screen {
    fn before(&self, seen: &mut Seen, asked: &mut Asked<'_>) -> Result<(), StoreError> {
        seen.show(asked);
        Ok(())
    }
}

/// Names memories that say nearly what a new one says.
pub(super) struct SaysTheSame;

impl Link for SaysTheSame {
    fn after(&self, done: &Done<'_>) -> Vec<Near> {
        like(done, Likeness::Same)
    }
}

/// Names memories that are close to a new one and may contradict it.
pub(super) struct SaysOtherwise;

impl Link for SaysOtherwise {
    fn after(&self, done: &Done<'_>) -> Vec<Near> {
        like(done, Likeness::Other)
    }
}

fn like(done: &Done<'_>, likeness: Likeness) -> Vec<Near> {
    done.near.iter().filter(|near| near.likeness == likeness).cloned().collect()
}
