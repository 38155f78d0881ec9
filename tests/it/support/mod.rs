//! A sealed world for the binary: its own home, a fixed clock, no colours.

mod client;
pub(crate) mod hooks;
pub(crate) mod older;
pub(crate) mod sessions;
pub(crate) mod terminal;
mod world;

pub(crate) use client::Client;
pub(crate) use world::{Ran, Running, World, ended, has};
