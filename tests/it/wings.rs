//! The wings of the store: what stands in one uses those before it, and no file is on a way back to itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The wings in the order of `engine/src/store/mod.rs`: each may use those before it.
const WINGS: [&str; 10] = ["file", "rows", "base", "logs", "read", "change", "files", "sync", "open", "care"];

/// The files of a tree by name (`change/links`), without their tests. A `mod.rs` declares and re-exports, nothing else.
type Files = BTreeMap<String, String>;
/// Who uses whom.
type Arrows = BTreeSet<(String, String)>;

fn files(root: &Path) -> Files {
    let mut files = Files::new();
    let mut dirs: Vec<PathBuf> = vec![root.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().with_extension("");
            let name = name.to_str().unwrap().to_owned();
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") && !name.ends_with("tests") {
                let text = fs::read_to_string(path).unwrap();
                files.insert(name, text.split("#[cfg(test)]").next().unwrap().to_owned());
            }
        }
    }
    files
}

/// The paths of a use declaration, each in full: `a::{b, c as d}` is `a::b` and `a::c`.
fn spelled_out(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((prefix, inner)) = tree.split_once('{') else {
        return vec![tree.split(" as ").next().unwrap().to_owned()];
    };
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for c in inner.strip_suffix('}').unwrap().chars() {
        match c {
            ',' if depth == 0 => parts.push(String::new()),
            c => {
                depth += i32::from(c == '{') - i32::from(c == '}');
                parts.last_mut().unwrap().push(c);
            }
        }
    }
    let parts = parts.iter().filter(|part| !part.trim().is_empty());
    parts.flat_map(|part| spelled_out(part)).map(|path| format!("{}{path}", prefix.trim())).collect()
}

/// The files that a file names: in its `use` declarations, and in paths within its code.
fn named(name: &str, text: &str, files: &Files) -> BTreeSet<String> {
    let wing = name.split('/').next().unwrap();
    let declared = text.split("\nuse ").skip(1).flat_map(|rest| spelled_out(rest.split(';').next().unwrap()));
    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let within = text.split(|c| !is_path(c)).filter(|path| !path.ends_with("::")).map(str::to_owned);
    let mut named = BTreeSet::new();
    for path in declared.chain(within) {
        let inside = path.strip_prefix("crate::store::").map(str::to_owned);
        let beside = path.strip_prefix("super::").map(|rest| format!("{wing}::{rest}"));
        let Some(inside) = inside.or(beside) else { continue };
        let mut parts = inside.split("::");
        let (first, second) = (parts.next().unwrap(), parts.next().unwrap_or_default());
        let target = format!("{first}/{second}");
        // What is named by a shorter way than its file is an arrow that nobody sees.
        assert!(files.contains_key(&target), "{name}: {path} names no file of a wing");
        if target != name {
            named.insert(target);
        }
    }
    named
}

/// The methods that files give the store, by name. What calls one uses its file, though it names nothing.
fn doors(files: &Files) -> BTreeMap<String, String> {
    let mut doors = BTreeMap::new();
    for (name, text) in files {
        for block in text.split("\nimpl Store {").skip(1) {
            let block = block.split("\n}").next().unwrap();
            for line in block.lines().filter(|line| line.starts_with("    ") && !line.starts_with("     ")) {
                let Some((before, rest)) = line.split_once("fn ") else { continue };
                if before.trim().is_empty() || before.trim().starts_with("pub") {
                    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap();
                    doors.insert(rest[..end].to_owned(), name.clone());
                }
            }
        }
    }
    doors
}

/// The files whose methods of the store a file calls.
fn called(name: &str, text: &str, doors: &BTreeMap<String, String>) -> BTreeSet<String> {
    let blocks: Vec<&str> =
        text.split("\nimpl Store {").skip(1).map(|block| block.split("\n}").next().unwrap()).collect();
    let on_self = blocks.iter().flat_map(|block| block.split("self.").skip(1).chain(block.split("Self::").skip(1)));
    let on_store = text.split("store.").skip(1).chain(text.split("Store::").skip(1));
    let mut called = BTreeSet::new();
    for rest in on_self.chain(on_store) {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let is_call = rest[end..].starts_with(['(', ':']);
        if let Some(target) = doors.get(&rest[..end]).filter(|target| is_call && *target != name) {
            called.insert(target.clone());
        }
    }
    called
}

fn arrows(files: &Files) -> Arrows {
    let doors = doors(files);
    let rooms = files.iter().filter(|(name, _)| !name.ends_with("mod"));
    let of = |(name, text): (&String, &String)| {
        let used: Vec<String> = named(name, text, files).into_iter().chain(called(name, text, &doors)).collect();
        used.into_iter().map(|used| (name.clone(), used)).collect::<Vec<_>>()
    };
    rooms.flat_map(of).collect()
}

fn floor(name: &str) -> usize {
    let wing = name.split('/').next().unwrap();
    WINGS.iter().position(|known| *known == wing).unwrap_or_else(|| panic!("{name}: is in no wing"))
}

/// Arrows that run from a wing to one above it.
fn back(arrows: &Arrows) -> Vec<&(String, String)> {
    arrows.iter().filter(|(from, to)| floor(to) > floor(from)).collect()
}

/// Files from which a way leads back to themselves.
fn circles(arrows: &Arrows) -> Vec<&String> {
    let mut left = arrows.clone();
    loop {
        // What uses nothing that is left, or is used by nothing that is left, is on no circle.
        let users: BTreeSet<String> = left.iter().map(|(from, _)| from.clone()).collect();
        let used: BTreeSet<String> = left.iter().map(|(_, to)| to.clone()).collect();
        let before = left.len();
        left.retain(|(from, to)| users.contains(to) && used.contains(from));
        if left.len() == before {
            let on_circle: BTreeSet<&String> = arrows.iter().map(|(from, _)| from).collect();
            return on_circle.into_iter().filter(|file| users.contains(*file)).collect();
        }
    }
}

fn store() -> Files {
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("engine/src/store"))
}

#[test]
fn the_wings_of_the_store_use_only_those_before_them() {
    let files = store();
    for (name, text) in &files {
        assert!(!text.contains("::*"), "{name}: an import of everything shows no arrow");
        let is_list = |line: &str| line.is_empty() || ["//!", "mod ", "pub"].iter().any(|word| line.starts_with(word));
        assert!(!name.ends_with("mod") || text.lines().all(is_list), "{name}: more than declarations");
        assert!(!(name.ends_with("/mod") && text.contains("pub use")), "{name}: re-exports hide arrows");
    }
    let arrows = arrows(&files);
    assert!(arrows.len() > 100, "the arrows are found");
    assert_eq!(back(&arrows), Vec::<&(String, String)>::new());
    assert_eq!(circles(&arrows), Vec::<&String>::new());
}

#[test]
fn an_arrow_back_and_a_circle_are_noticed_however_they_are_written() {
    let with = |name: &str, text: &str| {
        let mut files = store();
        files.get_mut(name).unwrap().push_str(text);
        arrows(&files)
    };
    for (name, text) in [
        ("rows/memory", "\nuse crate::store::{change::links, file::home::Home};\n"),
        ("file/home", "\nfn f() -> crate::store::logs::spool::Spool { todo() }\n"),
        ("base/index", "\nimpl Store {\n    fn f(&self) { self.maintain() }\n}\n"),
        ("logs/history", "\nfn f(store: &mut Store) { store.remember(draft) }\n"),
    ] {
        assert_eq!(back(&with(name, text)).len(), 1, "{name}: {text}");
    }
    for (name, text) in [
        ("change/write", "\nuse super::{links, remember::insert};\n"),
        ("logs/spool", "\nimpl Store {\n    fn f(&self) { self.fold_deliveries_if_due() }\n}\n"),
    ] {
        assert!(circles(&with(name, text)).contains(&&name.to_owned()), "{name}: {text}");
    }
}
