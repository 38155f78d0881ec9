//! The guard against recursion: a judge's child never runs hooks of ours.

/// Set for every program that a judge starts. A hook that sees it does nothing.
pub const CHILD: &str = "TESSERA_CHILD";
