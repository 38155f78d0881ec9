//! A vault of notes as people keep them works as it is: nothing is converted, nothing is written into it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::Value;

use crate::support::World;

const PROJECTS: usize = 60;
const DAYS: usize = 129;
const PEOPLE: usize = 40;
const NAMES: [&str; 10] =
    ["Amber", "Birch", "Cobalt", "Dune", "Ember", "Fjord", "Garnet", "Harbour", "Indigo", "Juniper"];

/// What is in a vault: its texts, and which of them are notes.
struct Vault {
    root: PathBuf,
    notes: usize,
}

impl Vault {
    /// Writes some three hundred notes, and beside them what is none.
    fn write(root: &Path) -> Self {
        let mut vault = Self { root: root.to_owned(), notes: 0 };
        for number in 0..PROJECTS {
            vault.note(&format!("Projects/{}.md", project(number)), &project_note(number));
        }
        for number in 0..DAYS {
            let (month, day) = (1 + number / 28, 1 + number % 28);
            vault.note(&format!("Daily/2026-{month:02}-{day:02}.md"), &daily(number));
        }
        for number in 0..PEOPLE {
            let text = format!(
                "---\naliases: [\"{}\", P{number}]\ntags:\n  - people\n  - team/{}\n---\n# Person {number}\n\nphone:: 555-01{number:02}\nlikes:: tea number {number}\n\nWorks on [[{}]] and [[{}|the other one]]. ^intro\n",
                alias(number),
                number % 4,
                project(number),
                project(number + 1)
            );
            vault.note(&format!("People/Person {number}.md"), &text);
        }
        for number in 0..30 {
            vault.note(&format!("Areas/Area {number}/Index.md"), &format!("# Index\n\nArea {number} is looked after by [[Person {number}]].\n\n![[attachments/plan-{number}.png]]\n\n```dataview\nTABLE status FROM #project\n```\n"));
        }
        for number in 0..20 {
            vault.note(&format!("日本語/メモ{number}.md"), &format!("# メモ{number}\n\nサーバー{number}号機のポートは{}番です。 #サーバー/本番\n\n> [!warning] 注意\n> 再起動は月曜日だけ 🚨\n", 9000 + number));
        }
        for number in 0..10 {
            vault.note(&format!("Inbox/empty {number}.md"), ["", "\n\n", "---\n---\n"][number % 3]);
        }
        for number in 4..5 {
            let mut text = format!("# Log {number}\n\n");
            for line in 0..600 {
                let _ = writeln!(text, "Entry {line}: the crane number {} was greased at berth {line}.\n", number * 7);
            }
            let _ = writeln!(text, "## Verdict\n\nThe log {number} ends with the winch of type W{number}00.");
            vault.note(&format!("Logs/Log {number}.md"), &text);
        }
        for number in 0..10 {
            vault.note(&format!("Templates/Template {number}.md"), "---\ntitle: \"{{title}}\"\ndate: {{date}}\ntags: [\n---\n# {{title}}\n\n- [ ] \n\n<% tp.file.cursor() %>\n");
        }
        for (name, bytes) in [
            (".obsidian/app.json", b"{\"secret\": 1}".as_slice()),
            (".obsidian/plugins/x/main.js", b"module.exports = 1"),
            (".trash/Old.md", b"the old port is 1234"),
            ("attachments/plan-1.png", b"\x89PNG\r\n\x1a\n\0\0"),
            ("attachments/paper.pdf", b"%PDF-1.7 \xff"),
            ("attachments/notes.bin.md", b"\xff\xfe\0not a text"),
        ] {
            vault.put(name, bytes);
        }
        vault
    }

    fn note(&mut self, path: &str, text: &str) {
        self.notes += 1;
        self.put(path, text.as_bytes());
    }

    fn put(&self, path: &str, bytes: &[u8]) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Every file and directory: its bytes, mode, size and times.
    fn state(&self) -> BTreeMap<PathBuf, (Vec<u8>, u32, i64, i64, u64)> {
        let mut found = BTreeMap::new();
        let mut dirs = vec![self.root.clone()];
        while let Some(dir) = dirs.pop() {
            let facts = |path: &Path, bytes: Vec<u8>| {
                let facts = fs::symlink_metadata(path).unwrap();
                (bytes, facts.mode(), facts.mtime(), facts.mtime_nsec(), facts.ino())
            };
            for entry in fs::read_dir(&dir).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    dirs.push(path);
                } else {
                    let bytes = fs::read(&path).unwrap();
                    found.insert(path.clone(), facts(&path, bytes));
                }
            }
            found.insert(dir.clone(), facts(&dir, Vec::new()));
        }
        found
    }

    /// Takes from everybody the permission to write, or gives it back.
    fn seal(&self, is_sealed: bool) {
        use std::os::unix::fs::PermissionsExt;
        for path in self.state().into_keys() {
            let mode = match (path.is_dir(), is_sealed) {
                (true, true) => 0o555,
                (true, false) => 0o755,
                (false, true) => 0o444,
                (false, false) => 0o644,
            };
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
    }
}

fn project(number: usize) -> String {
    let number = number % PROJECTS;
    format!("{} {}", NAMES[number % NAMES.len()], number / NAMES.len())
}

fn alias(number: usize) -> String {
    format!("Aliased {}", NAMES[number % NAMES.len()])
}

fn project_note(number: usize) -> String {
    let (name, port) = (project(number), 7_000 + number);
    format!(
        "---\naliases:\n  - {name} service\ntags: [project, area/{area}]\nstatus: active\ncssclasses: wide\n---\n\
         # {name}\n\nowner:: [[Person {person}]]\nreviewed:: 2026-05-{day:02}\n\n> [!info]- About\n> {name} keeps the \
         books of berth {number}. #ledger/{number}\n\n## Ports\n\nThe {name} service listens on port {port}. ^port\n\n\
         ## Table\n\n| host | role |\n|---|---|\n| host-{number} | primary |\n\n## Tasks\n\n- [ ] renew the licence of \
         {name} 📅 2026-09-01\n- [x] done already\n- [decision] {name} is deployed with Nix #deploy (agreed in May)\n\n\
         ```sh\n# no #tag and no [[link]] here\nmake {number}\n```\n\n## Related\n\n- depends_on [[{next}]]\n- uses \
         [[Projects/{far}#Ports|ports of {far}]]\n- [[People/Person {person}]]\n\n%% nobody sees this: [[Nowhere]] %%\n",
        area = number % 5,
        person = number % PEOPLE,
        day = 1 + number % 28,
        next = project(number + 1),
        far = project(number + 7),
    )
}

fn daily(number: usize) -> String {
    format!(
        "# Day {number}\n\n- [ ] call [[Person {}]]\n- met about [[{} service]] at [09:30]\n\n> quoted #not/mine\n\nToday the \
         meter of shed {number} read {}. #daily 🙂\n",
        number % PEOPLE,
        project(number),
        4_000 + number * 3
    )
}

/// The detail that says something, by a piece of its text.
fn found(world: &World, question: &str, piece: &str) -> Value {
    let recall = world.json(&["recall", question]);
    let details = recall["details"].as_array().unwrap();
    let detail = details.iter().find(|detail| detail["content"].as_str().unwrap().contains(piece));
    detail.unwrap_or_else(|| panic!("{question}: {recall:#}")).clone()
}

/// The paths of the notes to which a note says that it stands so.
fn targets(world: &World, path: &str, kind: &str) -> Vec<String> {
    let store = Connection::open(world.home().join("tessera.db")).unwrap();
    let sql = "SELECT DISTINCT there.path FROM relations JOIN files AS here ON here.memory = source
               JOIN files AS there ON there.memory = target WHERE here.path = ?1 AND type = ?2 ORDER BY 1";
    let mut statement = store.prepare(sql).unwrap();
    let rows = statement.query_map([path, kind], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

#[test]
fn a_vault_works_as_it_is_and_stays_as_it_was() {
    let world = World::new();
    let vault = Vault::write(&world.path("vault"));
    assert_eq!(vault.notes, 300);
    vault.seal(true);
    let before = vault.state();
    let dir = vault.root.to_str().unwrap().to_owned();
    let added = world.json(&["files", "add", &dir]);
    assert_eq!(added["files"], vault.notes, "each note, and nothing else: {added}");

    let port = found(&world, "which port does the Dune 3 service listen on", "port 7033");
    assert_eq!(port["file"], "/vault/Projects/Dune 3.md", "{port}");
    assert_eq!(port["heading"], "Ports", "{port}");
    let decision = found(&world, "how is Harbour 1 deployed", "Harbour 1 is deployed with Nix");
    assert_eq!(
        (&decision["category"], &decision["file"]),
        (&"decisions".into(), &"/vault/Projects/Harbour 1.md".into())
    );
    assert!(decision["tags"].as_array().unwrap().iter().any(|tag| tag == "deploy"), "{decision}");
    found(&world, "what did the meter of shed 77 read", "4231");
    found(&world, "サーバー7号機のポートは", "9007");
    found(&world, "what does person 12 like", "tea number 12");
    let verdict = found(&world, "with which type of winch does log 4 end", "W400");
    assert_eq!((&verdict["file"], &verdict["heading"]), (&"/vault/Logs/Log 4.md".into(), &"Verdict".into()));
    found(&world, "when is the licence of Cobalt 2 renewed", "2026-09-01");
    let hidden = world.json(&["recall", "what is the old port 1234"]).to_string();
    assert!(!hidden.contains("the old port is"), "{hidden}");

    assert_eq!(targets(&world, "/vault/Projects/Dune 3.md", "depends_on"), ["/vault/Projects/Ember 3.md"]);
    assert_eq!(targets(&world, "/vault/Projects/Dune 3.md", "uses"), ["/vault/Projects/Amber 4.md"]);
    // By its name and by its path: two spellings of one.
    assert_eq!(targets(&world, "/vault/Projects/Dune 3.md", "links_to"), ["/vault/People/Person 33.md"]);
    let by_alias = targets(&world, "/vault/Daily/2026-02-06.md", "links_to");
    assert_eq!(by_alias, ["/vault/People/Person 33.md", "/vault/Projects/Dune 3.md"]);
    assert_eq!(targets(&world, "/vault/Areas/Area 5/Index.md", "links_to"), ["/vault/People/Person 5.md"]);

    let scanned = world.json(&["files", "scan"]);
    assert_eq!((&scanned["taken"], &scanned["gone"]), (&0.into(), &0.into()), "{scanned}");
    world.assert_healthy();
    assert!(vault.state() == before, "something in the vault is other than it was");
    vault.seal(false);
}
