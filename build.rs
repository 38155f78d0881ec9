//! Options of the linker for the programs on Linux.
#![expect(clippy::disallowed_methods, reason = "Cargo passes its settings in the environment")]

/// At a fixed address. Otherwise, the system's loader adjusts 69,000 addresses in 270 pages at each start, which takes
/// longer than the rest of a short command. Libraries, stack and heap still have random addresses.
const FIXED: &str = "-no-pie";
/// Without symbols. The setting `strip` of the profile does not reach this package, because its own profile sets another
/// option.
const STRIPPED: &str = "-Wl,--strip-all";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |key: &str, value: &str| std::env::var(key).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bins={FIXED}");
        if is("PROFILE", "release") {
            println!("cargo::rustc-link-arg-bins={STRIPPED}");
        }
    }
}
