//! The files that describe a release agree with each other.

use std::fs;
use std::path::Path;

use regex_lite::Regex;
use toml_edit::DocumentMut;

fn read(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn toml(file: &str) -> DocumentMut {
    read(file).parse().unwrap()
}

/// `cargo release` changes these files. Each expression must match, and each file except the changelog must contain the
/// current version.
#[test]
fn the_files_that_contain_the_version_agree() {
    let manifest = toml("Cargo.toml");
    let version = manifest["workspace"]["package"]["version"].as_str().unwrap();
    let replacements = manifest["package"]["metadata"]["release"]["pre-release-replacements"].as_array().unwrap();
    assert_eq!(replacements.len(), 6);
    for replacement in replacements.iter().map(|value| value.as_inline_table().unwrap()) {
        let field = |name: &str| replacement[name].as_str().unwrap();
        let (file, text) = (field("file"), read(field("file")));
        // `cargo release` matches line by line at `^` and `$` too.
        let search = Regex::new(&format!("(?m){}", field("search"))).unwrap();
        let found = search.find_iter(&text).count();
        assert_eq!(i64::try_from(found).unwrap(), replacement["exactly"].as_integer().unwrap(), "{file}: matches");
        if file != "CHANGELOG.md" {
            let current = field("replace").replace("{{version}}", version);
            assert_eq!(search.replace_all(&text, current), text, "{file}: another version than {version}");
        }
    }
}

#[test]
fn every_target_is_built_and_packaged() {
    let config = toml("dist-workspace.toml");
    let targets = config["dist"]["targets"].as_array().unwrap();
    let targets: Vec<&str> = targets.iter().map(|target| target.as_str().unwrap()).collect();
    assert_eq!(targets.len(), 7);
    let (workflow, packages) = (read(".github/workflows/release.yml"), read("packaging/steps/archives.py"));
    for target in targets {
        let is_archived = match target.strip_suffix("-unknown-linux-gnu") {
            Some(machine) => workflow.contains(&format!("- machine: {machine}\n")),
            None => workflow.contains(&format!("- {{ target: {target}, ")),
        };
        assert!(is_archived, "{target}: release.yml builds no archive");
        assert!(packages.contains(&format!("Platform(\"{target}\"")), "{target}: packaging/steps/archives.py lacks it");
    }
}

/// The versions of Rust in the workflows cannot be read from `rust-toolchain.toml`.
#[test]
fn workflows_use_the_toolchain_of_the_repository() {
    let channel = toml("rust-toolchain.toml")["toolchain"]["channel"].as_str().unwrap().to_owned();
    let named = Regex::new(r"toolchain: ([0-9.]+)").unwrap();
    for file in [".github/workflows/release.yml", ".github/actions/archive/action.yml"] {
        let text = read(file);
        let found: Vec<&str> = named.captures_iter(&text).map(|found| found.get(1).unwrap().as_str()).collect();
        assert!(!found.is_empty() && found.iter().all(|version| *version == channel), "{file}: {found:?}");
    }
}
