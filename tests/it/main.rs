//! Tests of the real binary, and of the house rules.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may")]

mod actions;
mod architecture;
mod beside;
mod cli;
mod coming_back;
mod concurrency;
mod counted;
mod covered;
mod crash;
mod deleted_files;
mod embedding;
mod exits;
mod faults;
mod files;
mod gone;
mod handoff;
mod handoff_offer;
mod hidden;
mod hooks;
mod http;
mod import_source;
mod json_shapes;
mod keeping;
mod killed;
mod learning;
mod left_out;
mod listings;
mod map;
mod mcp;
mod memory_races;
mod memory_tool;
mod memory_view;
mod metamorphic;
mod notes;
mod observations;
mod odd_input;
mod older_calls;
mod older_sources;
#[cfg(unix)]
mod person;
mod planted;
#[cfg(unix)]
mod plugin_examples;
#[cfg(unix)]
mod plugin_kit;
#[cfg(unix)]
mod plugins;
#[cfg(unix)]
mod plugins_bounds;
mod plugins_hostile;
mod projects;
mod promises;
mod putting_back;
mod quality;
mod releasing;
mod restoring;
mod reviewing;
mod round_trip;
mod screen;
mod secrets;
mod serve;
mod setup;
#[path = "../../fixtures/shapes.rs"]
mod shapes;
#[path = "../../fixtures/skip.rs"]
mod skip;
mod subagents;
mod support;
mod terminal;
mod times;
mod unanswered;
mod unread;
mod updates;
mod vault;
#[cfg(unix)]
mod vaults;
mod wings;
