//! The house rules that a test can keep: arrows between rooms, module docs, file sizes, determinism.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const MOST_LINES: usize = 500;
const ROOMS: [&str; 17] = [
    "threads",
    "domain",
    "classifier",
    "action",
    "text",
    "enrich",
    "embedding",
    "learning",
    "index",
    "relation",
    "score",
    "pack",
    "recall",
    "sync",
    "screen",
    "compose",
    "store",
];

/// Places, the more exact first, and what their code may not name. The arrows are root → {mcp, hooks, learn, setup,
/// eval} → desk → engine; beside them learn and eval use hooks, whose settings they share.
const MAY_NOT: [(&str, &[&str]); 30] = [
    ("engine/src/domain/", &["tessera_seal", "tessera_encoder", "tokio::", "println!", "eprintln!"]),
    ("engine/src/embedding/", &["tokio::", "println!", "eprintln!"]),
    ("engine/src/learning.rs", &["tessera_s", "tessera_encoder", "tokio::", "println!", "eprintln!"]),
    ("engine/src/screen/", &["tokio::", "println!", "eprintln!"]),
    ("engine/src/store/files/", &["tessera_screen", "tessera_encoder", "tokio::", "std::fs", "println!", "eprintln!"]),
    ("engine/src/compose/", &["tessera_s", "tessera_encoder", "tokio::", "println!", "eprintln!"]),
    ("engine/src/action.rs", &["tessera_s", "tessera_encoder", "tokio::", "println!", "eprintln!"]),
    ("engine/actions/src", &["tessera_engine", "tokio::", "std::fs", "println!", "eprintln!"]),
    ("engine/calendar/src", &["tessera_engine", "tokio::", "std::fs", "println!", "eprintln!"]),
    ("engine/markdown/src", &["tessera_engine", "tokio::", "std::fs", "eprintln!"]),
    ("engine/src/store/", &["tessera_screen", "tessera_encoder", "tokio::", "println!", "eprintln!"]),
    ("engine/screen/src", &["tessera_engine", "tessera_seal", "tokio::", "std::fs", "eprintln!"]),
    ("engine/src", &["tessera_", "tokio::", "println!", "eprintln!"]),
    ("engine/encoder", &["tessera_engine", "tokio::", "eprintln!"]),
    ("desk/src/sync", &["tessera_mcp", "tessera_hooks", "tessera_learn", "tessera_setup", "tessera_api", "println!"]),
    ("desk/src/shared.rs", &["tessera_mcp", "tessera_hooks", "tessera_api", "println!", "rusqlite"]),
    ("desk/src/team.rs", &["tessera_mcp", "tessera_hooks", "tessera_api", "println!", "rusqlite", "reqwest"]),
    ("desk/src/vault.rs", &["tessera_mcp", "tessera_hooks", "tessera_api", "println!", "rusqlite", "reqwest"]),
    (
        "desk/src",
        &["tessera_mcp", "tessera_hooks", "tessera_learn", "tessera_api", "println!", "rusqlite", "tokio", "reqwest"],
    ),
    ("desk/importers/src", &["tessera_engine", "tessera_desk", "tokio", "println!", "eprintln!"]),
    ("desk/files/src", &["tessera_engine", "tessera_desk", "tokio", "println!", "eprintln!"]),
    ("desk/plugins/src", &["tessera_engine", "tessera_desk", "tokio", "rusqlite", "println!", "eprintln!"]),
    ("desk/plugins", &["tessera_engine", "tessera_desk", "std::fs", "println!", "eprintln!"]),
    (
        "desk/setup",
        &["tessera_mcp", "tessera_hooks", "tessera_learn", "tessera_api", "println!", "rusqlite", "tokio", "reqwest"],
    ),
    (
        "mcp/src",
        &["tessera_memory", "tessera_hooks", "tessera_learn", "tessera_setup", "tessera_api", "println!", "rusqlite"],
    ),
    ("hooks/learn", &["tessera_memory", "tessera_mcp", "tessera_setup", "tessera_api", "println!", "rusqlite"]),
    (
        "hooks/src",
        &["tessera_mcp", "tessera_learn", "tessera_setup", "tessera_api", "println!", "rusqlite", "tokio", "reqwest"],
    ),
    // SQLite's full-text search is a peer there.
    ("benches/eval", &["tessera_mcp", "tessera_learn", "tessera_setup", "tessera_api", "println!", "tokio"]),
    ("api/src", &["tessera_mcp", "tessera_hooks", "tessera_desk", "println!", "rusqlite"]),
    ("src", &["tessera_api", "rusqlite", "rmcp::"]),
];

/// Packages, and what they may not ask for: what they link is what their manifests say.
const MAY_NOT_LINK: [(&str, &[&str]); 6] = [
    ("engine", &["tokio", "reqwest", "toml", "tessera-desk", "tessera-memory", "tessera-mcp", "tessera-hooks"]),
    ("hooks", &["tokio", "reqwest", "team", "tessera-learn", "tessera-setup", "tessera-mcp"]),
    ("desk/plugins", &["tokio", "reqwest", "tessera-engine", "tessera-desk"]),
    ("desk/setup", &["tokio", "reqwest", "team", "tessera-hooks", "tessera-mcp"]),
    ("benches/eval", &["tokio", "reqwest", "team", "tessera-mcp"]),
    ("mcp", &["reqwest", "tessera-hooks", "tessera-learn", "tessera-setup"]),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut dirs: Vec<PathBuf> = [
        "src",
        "engine/src",
        "engine/encoder",
        "engine/weights",
        "engine/tables",
        "engine/screen",
        "engine/seal",
        "engine/vault",
        "engine/markdown",
        "engine/calendar",
        "engine/tests",
        "desk",
        "mcp/src",
        "hooks",
        "api/src",
        "api/tests",
        "benches",
        "tests",
    ]
    .map(|dir| root().join(dir))
    .to_vec();
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
                found.push((name, fs::read_to_string(path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// The code without its tests.
fn product(text: &str) -> &str {
    text.split("#[cfg(test)]").next().unwrap_or(text)
}

#[test]
fn every_file_says_what_it_is_for_and_is_short() {
    for (name, text) in sources() {
        assert!(text.starts_with("//!"), "{name}: begins without module docs");
        let lines = text.lines().count();
        assert!(lines <= MOST_LINES, "{name}: {lines} lines");
    }
}

#[test]
fn arrows_between_rooms_point_one_way() {
    for (name, text) in sources() {
        let Some(inside) = name.strip_prefix("engine/src/") else { continue };
        let room = inside.split(['/', '.']).next().unwrap();
        let Some(rank) = ROOMS.iter().position(|known| *known == room) else { continue };
        for (other, used) in ROOMS.iter().enumerate() {
            let points_back = other > rank && product(&text).contains(&format!("crate::{used}::"));
            assert!(!points_back, "{name}: {room} uses {used}");
        }
    }
}

#[test]
fn crates_use_only_what_they_may() {
    for (name, text) in sources() {
        let text = product(&text);
        let may_not = MAY_NOT.iter().find(|(place, _)| name.starts_with(place)).map_or(&[][..], |(_, words)| words);
        // Everything may read tables and times: these crates do no I/O.
        let text = text.replace("tessera_tables", "").replace("tessera_calendar", "");
        for word in may_not {
            assert!(!text.contains(word), "{name}: {word}");
        }
        if name.starts_with("engine/src/") && !name.starts_with("engine/src/store") {
            assert!(!text.contains("std::fs") && !text.contains("rusqlite"), "{name}: the pure part does no I/O");
        }
        if name.starts_with("engine/src/score") || name.starts_with("engine/src/pack") {
            assert!(!text.contains("HashMap"), "{name}: no output may depend on hash order");
        }
    }
}

/// Every crate that is linked into the programs of a package.
fn linked(package: &str) -> Vec<String> {
    let tree = ["tree", "--locked", "--offline", "-e", "normal", "--prefix", "none", "--format", "{p}", "-p", package];
    let ran = Command::new(env!("CARGO")).args(tree).current_dir(root()).output().unwrap();
    assert!(ran.status.success(), "{package}: {}", String::from_utf8_lossy(&ran.stderr));
    let lines = String::from_utf8(ran.stdout).unwrap();
    let mut names: Vec<String> =
        lines.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn what_only_the_server_needs_is_linked_into_the_server_alone() {
    let only_servers = ["sqlx-core", "sqlx-postgres", "utoipa", "utoipa-axum", "governor", "metrics", "tessera-api"];
    let server = linked("tessera-api");
    for name in only_servers {
        assert!(server.iter().any(|linked| linked == name), "{name}: this test knows the server no more");
    }
    for name in ["tessera-desk", "tessera-mcp", "tessera-hooks", "rmcp", "rusqlite"] {
        assert!(!server.iter().any(|linked| linked == name), "the server links {name}");
    }
    for package in ["tessera-memory", "tessera-mcp", "tessera-hooks", "tessera-desk", "tessera-engine"] {
        let links = linked(package);
        assert!(links.iter().any(|linked| linked == "serde"), "{package}: {links:?}");
        for name in only_servers {
            assert!(!links.iter().any(|linked| linked == name), "{package} links {name}");
        }
    }
    let workspace = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let automatic = workspace.lines().find(|line| line.starts_with("default-members")).unwrap();
    assert!(
        !automatic.contains("\"api\"") && !automatic.contains("\"benches\""),
        "`cargo build` is for what a person runs: {automatic}"
    );
}

/// What changes memories, or leaves a trace of having told them: the store's own methods, which the desk alone calls.
const OF_THE_DESK: [&str; 29] = [
    ".remember(",
    ".update(",
    ".update_all(",
    ".forget(",
    ".restore(",
    ".link(",
    ".unlink(",
    ".resolve(",
    ".import(",
    ".import_from(",
    ".take_over(",
    ".take_deletion(",
    ".link_over(",
    ".undo_import(",
    ".export(",
    ".trust_place(",
    ".forget_place(",
    ".recall(",
    ".recall_json(",
    ".answer(",
    ".answer_json(",
    ".near_scopes(",
    ".fetch(",
    ".fetch_json(",
    ".session_summary(",
    ".given_in(",
    ".keep_delivery(",
    ".note_delivery(",
    ".history(",
];

fn past_the_desk(text: &str) -> Vec<&'static str> {
    OF_THE_DESK.into_iter().filter(|method| product(text).contains(method)).collect()
}

#[test]
fn faces_ask_at_the_desk() {
    let sources = sources();
    for (name, text) in &sources {
        if ["src/", "mcp/src/", "hooks/"].iter().any(|face| name.starts_with(face)) {
            assert_eq!(past_the_desk(text), Vec::<&str>::new(), "{name}");
        }
    }
    // A method that has another name by now would be looked for in vain.
    let of = |place: &str| -> String {
        sources.iter().filter(|(name, _)| name.starts_with(place)).map(|(_, text)| &**text).collect()
    };
    let (desk, store) = (of("desk/src/use_cases/"), of("engine/src/store/"));
    for method in OF_THE_DESK {
        // What the desk does in two steps is there in one, for programs without files.
        let is_there = store.contains(&format!("pub fn {}", method.trim_start_matches('.')));
        assert!(desk.contains(method) || is_there, "the desk does not know {method}");
    }
    assert_eq!(past_the_desk("let stored = store.remember(draft)?;"), [".remember("]);
    assert_eq!(past_the_desk("#[cfg(test)]\nmod tests { store.remember(draft) }"), Vec::<&str>::new());
}

#[test]
fn packages_link_only_what_they_may() {
    for (package, may_not) in MAY_NOT_LINK {
        let manifest = fs::read_to_string(root().join(package).join("Cargo.toml")).unwrap();
        let (_, asked) = manifest.split_once("\n[dependencies]\n").unwrap();
        let asked = asked.split("\n[").next().unwrap();
        for word in may_not {
            assert!(!asked.contains(word), "{package}: {word}");
        }
    }
}

/// In the profile `dist`, code is optimised across crates with the level of the program's own crate.
#[test]
fn programs_that_are_handed_out_are_fully_optimised() {
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap();
    let manifest: toml_edit::DocumentMut = manifest.parse().unwrap();
    let level = |profile: &str, package: &str| {
        let packages = manifest["profile"][profile].get("package")?;
        packages.get(package)?.get("opt-level")?.as_integer()
    };
    assert_eq!(manifest["profile"]["dist"]["lto"].as_str(), Some("fat"));
    for package in ["tessera-memory", "tessera-api"] {
        let level = level("dist", package).or_else(|| level("release", package)).unwrap_or(3);
        assert_eq!(level, 3, "{package}");
    }
}

#[test]
fn no_lint_is_allowed_without_a_reason_and_no_test_is_ignored() {
    for (name, text) in sources() {
        assert!(!text.contains(concat!("#[al", "low(")), "{name}");
        assert!(!text.contains(concat!("#[ig", "nore")), "{name}");
        assert!(!text.contains(concat!("should", "_panic")), "{name}");
    }
}

/// Clients read the name and the description of skills and commands from the front matter.
#[test]
fn skills_and_commands_have_front_matter() {
    let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin");
    let mut checked = 0;
    for kind in ["skills", "commands"] {
        for entry in fs::read_dir(plugin.join(kind)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.is_dir().then(|| path.file_name().unwrap().to_str().unwrap().to_owned());
            let path = if path.is_dir() { path.join("SKILL.md") } else { path };
            let text = fs::read_to_string(&path).unwrap();
            let front = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
            let (front, _) = front.unwrap_or_else(|| panic!("{} has no front matter", path.display()));
            let fields: serde_json::Value = serde_saphyr::from_str(front).unwrap();
            assert!(
                fields["description"].as_str().is_some_and(|text| !text.is_empty()),
                "{}: {fields}",
                path.display()
            );
            assert_eq!(fields["name"].as_str(), name.as_deref(), "{}", path.display());
            checked += 1;
        }
    }
    assert!(checked >= 3, "{checked}");
}
