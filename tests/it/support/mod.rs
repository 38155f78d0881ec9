//! A sealed world for the binary: its own home, a fixed clock, no colours.

mod client;
pub(crate) mod hooks;
pub(crate) mod proxy;
pub(crate) mod team;
mod world;

pub(crate) use client::Client;
pub(crate) use world::{Ran, World, ended, has};
