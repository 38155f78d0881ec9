//! Draws the map of crates in docs/ARCHITECTURE.md from their manifests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use expect_test::expect_file;
use toml_edit::DocumentMut;

const BEGIN: &str = "<!-- map -->\n";
const END: &str = "<!-- /map -->\n";

/// The manifest of a directory of the repository.
fn manifest(dir: &str) -> DocumentMut {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(dir).join("Cargo.toml");
    fs::read_to_string(path).unwrap().parse().unwrap()
}

/// The workspace crates on which each directory depends, without development dependencies.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let root = manifest(".");
    let members = root["workspace"]["members"].as_array().unwrap().iter().map(|dir| dir.as_str().unwrap().to_owned());
    let manifests: BTreeMap<String, DocumentMut> = members
        .chain([".".to_owned()])
        .map(|dir| (dir.clone(), manifest(&dir)))
        .map(|(dir, manifest)| (if dir == "." { "src".to_owned() } else { dir }, manifest))
        .collect();
    let dir_of: BTreeMap<&str, &String> =
        manifests.iter().map(|(dir, manifest)| (manifest["package"]["name"].as_str().unwrap(), dir)).collect();
    manifests
        .iter()
        .map(|(dir, manifest)| {
            let tables =
                ["dependencies", "build-dependencies"].map(|name| manifest.get(name).and_then(|it| it.as_table()));
            let names = tables.into_iter().flatten().flat_map(|table| table.iter().map(|(name, _)| name));
            (dir.clone(), names.filter_map(|name| dir_of.get(name)).map(|dir| (*dir).clone()).collect())
        })
        .collect()
}

/// The number of layers below a crate.
fn height(dir: &str, all: &BTreeMap<String, BTreeSet<String>>) -> usize {
    all[dir].iter().map(|below| height(below, all) + 1).max().unwrap_or(0)
}

/// Dependencies that no other dependency already includes.
fn direct(dir: &str, all: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    fn reaches(from: &str, to: &str, all: &BTreeMap<String, BTreeSet<String>>) -> bool {
        all[from].iter().any(|below| below == to || reaches(below, to, all))
    }
    let own = &all[dir];
    own.iter().filter(|to| !own.iter().any(|other| reaches(other, to, all))).cloned().collect()
}

/// The map: one line per crate, the highest layer first.
fn drawn() -> String {
    let all = dependencies();
    let mut dirs: Vec<&String> = all.keys().collect();
    dirs.sort_by_key(|dir| (std::cmp::Reverse(height(dir, &all)), *dir));
    let width = dirs.iter().map(|dir| dir.len()).max().unwrap();
    let lines = dirs.iter().map(|dir| match direct(dir, &all).join(", ") {
        below if below.is_empty() => format!("{dir}\n"),
        below => format!("{dir:width$}  ->  {below}\n"),
    });
    format!("```text\n{}```\n", lines.collect::<String>())
}

#[test]
fn the_map_in_the_architecture_page_agrees_with_the_manifests() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/ARCHITECTURE.md")).unwrap();
    let (head, rest) = page.split_once(BEGIN).unwrap();
    let (_, tail) = rest.split_once(END).unwrap();
    expect_file!["../../docs/ARCHITECTURE.md"].assert_eq(&format!("{head}{BEGIN}{}{END}{tail}", drawn()));
}
