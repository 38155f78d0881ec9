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
    let set = |key: &str| std::env::var(key).unwrap_or_default();
    let is_static = set("CARGO_CFG_TARGET_FEATURE").split(',').any(|feature| feature == "crt-static");
    if set("CARGO_CFG_TARGET_OS") == "linux" && set("CARGO_CFG_TARGET_ENV") == "gnu" && !is_static {
        println!("cargo::rustc-link-arg-bins={FIXED}");
        if set("PROFILE") == "release" && set("DEBUG") == "false" {
            println!("cargo::rustc-link-arg-bins={STRIPPED}");
        }
    }
}
