//! Prints what a team server needs for a thousand to a hundred million users: the table in docs/SCALING.md.
//!
//! `cargo run --example scale -p tessera-api`
#![expect(clippy::print_stdout, reason = "the table is what it is for")]

mod model;

fn main() {
    print!("{}", model::table());
}
