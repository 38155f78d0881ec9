//! Both programs together: machines of several people, and the server that they join, each a process of its own.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stderr, reason = "tests may")]

#[expect(dead_code, reason = "tests of the vault's client need more of it")]
#[path = "../../../engine/vault/tests/vault/bao.rs"]
mod bao;
mod chaos;
#[expect(dead_code, reason = "tests of the server load dumps as well")]
#[path = "../server/cluster.rs"]
mod cluster;
mod contract;
mod files;
mod front;
mod hidden;
mod joining;
mod json_shapes;
mod killed;
mod leaving;
mod let_go;
mod machines;
mod migration;
mod not_now;
mod obeyed;
mod older;
mod planted;
mod proxy;
mod replicas;
mod restore;
mod secrets;
mod serve;
mod server;
#[path = "../../../fixtures/shapes.rs"]
mod shapes;
#[path = "../../../fixtures/skip.rs"]
mod skip;
#[expect(dead_code, unused_imports, reason = "tests of one machine need more of it")]
#[path = "../../../tests/it/support/mod.rs"]
mod support;
