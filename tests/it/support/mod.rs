//! A sealed world for the binary: its own home, a fixed clock, no colours.

mod client;
mod world;

pub(crate) use client::Client;
pub(crate) use world::{World, has};
