//! Links the programs for Linux at a fixed address.
//!
//! Otherwise, the system's loader adjusts 69,000 addresses in 270 pages at each start, which takes longer than the rest
//! of a short command. Libraries, stack and heap still have random addresses.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |key: &str, value: &str| std::env::var(key).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
