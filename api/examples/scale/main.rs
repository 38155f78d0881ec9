//! Prints what a team server needs from a thousand users to a hundred million: the table in docs/SCALING.md.
//!
//! `cargo run --example scale -p tessera-api`
#![expect(clippy::print_stdout, reason = "the table is what it is for")]

mod model;

fn main() {
    print!("{}", model::table());
}
