//! All memories as notes, and back: what an export wrote makes another store say the same, and nothing in a note makes more
//! of it than its folder allows.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;
use tessera_desk::folders::{AddFolder, ExportNotes, NotesExported, refresh};
use tessera_desk::{Caller, Desk};
use tessera_engine::Store;
use tessera_engine::domain::{FixedClock, Memory, MemoryRef, Origin, Scope, Timestamp, Trust};
use tessera_engine::score::Weights;
use tessera_engine::store::{ImportAs, SecretRules, StoreConfig, StoreError, Usage};

const NOW: &str = "2026-11-20T12:00:00Z";
const FIRST: &str = "0192f3c4-0000-7000-8000-000000000001";
const SECOND: &str = "0192f3c4-0000-7000-8000-000000000002";

/// A store, and a directory beside it.
struct Place {
    dir: TempDir,
    store: Store,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let config = StoreConfig {
            home: dir.path().join("home").into(),
            clock: Arc::new(FixedClock(NOW.parse().unwrap())),
            weights: Weights::default(),
            usage: Usage::Serve,
            embedding: false,
            secrets: SecretRules::default(),
        };
        Self { store: Store::open(config).unwrap(), dir }
    }

    fn of(lines: &[Value]) -> Self {
        let mut place = Self::new();
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let done = place.store.import(&mut text.as_bytes(), ImportAs::Own, |_| ()).unwrap();
        assert_eq!(done.rejected, []);
        place
    }

    fn notes(&self) -> std::path::PathBuf {
        self.dir.path().join("notes")
    }

    fn try_export(&mut self, to: &Path, with_parts: bool, force: bool) -> Result<NotesExported, StoreError> {
        let asks = ExportNotes { dir: to.to_owned(), with_parts, force };
        Desk::new(&mut self.store, &Caller::new(Origin::User)).perform(asks)
    }

    fn export(&mut self, with_parts: bool) -> NotesExported {
        let to = self.notes();
        self.try_export(&to, with_parts, false).unwrap()
    }

    fn add(&mut self, dir: &Path, trust: Trust, scope: Scope) {
        let name = Some("back".to_owned());
        let asks = AddFolder { dir: dir.to_owned(), name, scope, trust, is_writable: false, is_told: false };
        Desk::new(&mut self.store, &Caller::new(Origin::User)).perform(asks).unwrap();
    }

    /// What is known of each memory and travels with a note of it.
    fn said(&self) -> BTreeMap<String, Value> {
        let mut said = BTreeMap::new();
        let see = &mut |memory: Memory| {
            let mut value = serde_json::to_value(&memory).unwrap();
            let fields = value.as_object_mut().unwrap();
            for here in ["id", "rev", "file", "owner_trust", "last_accessed", "access_count", "session", "summary"] {
                fields.remove(here);
            }
            said.insert(memory.id.to_string(), value);
            Ok(())
        };
        self.store.each_live(true, see).unwrap();
        said
    }

    fn get(&self, id: &str) -> Option<Memory> {
        self.store.get(MemoryRef::Id(id.parse().unwrap())).unwrap()
    }

    fn memories(&self) -> Vec<Memory> {
        let mut memories = Vec::new();
        let see = &mut |memory| {
            memories.push(memory);
            Ok(())
        };
        self.store.each_live(true, see).unwrap();
        memories
    }
}

fn tree(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(inner) = dirs.pop() {
        for entry in fs::read_dir(inner).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else {
                found.insert(path.strip_prefix(dir).unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// The one note of a memory, by its id.
fn note_of(dir: &Path, id: &str) -> (std::path::PathBuf, String) {
    let (path, text) = tree(dir)
        .into_iter()
        .map(|(path, bytes)| (path, String::from_utf8(bytes).unwrap()))
        .find(|(_, text)| text.contains(&format!("\nid: \"{id}\"")) || text.contains(&format!("\nid: {id}")))
        .unwrap();
    (dir.join(path), text)
}

const PIECES: [&str; 44] = [
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "\t",
    "    ",
    "- ",
    "- [a] ",
    "- [ ] ",
    "1. ",
    "> ",
    "# ",
    "#tag ",
    "---\n",
    "---",
    "===\n",
    "```\n",
    "~~~\n",
    "~~~memory\n",
    "~~~~~",
    "[[X]]",
    "[[",
    "]]",
    "![[X]]",
    "(a)",
    "%%",
    "<!-- part -->",
    "<div>\n",
    "`",
    "\\",
    "[a]: b\n",
    "|a|b|\n|-|-|\n",
    "\"",
    ": ",
    "key:: value",
    "用户喜欢深色。",
    "مرحبا ",
    "\u{202e}",
    "e\u{301}",
    "\u{7f}",
    "\u{1b}[2J",
    "🙂",
    "The proxy listens on 7433. ",
    "Deploys go out on Mondays. ",
];

fn content() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(PIECES.to_vec()).prop_map(str::to_owned),
        "[a-z ]{0,12}",
        "\\PC{0,4}",
        "[A-Z][a-z]{2,8} (owns|is|runs) [a-z]{2,8}\\. "
    ];
    let text = prop::collection::vec(piece, 1..14).prop_map(|pieces| pieces.concat());
    // The longest that a memory may be, and a little less.
    let long = (0_usize..3).prop_map(|less| {
        let line = "A line of a long text, with `code` and words.\n";
        line.repeat(800).chars().take(32 * 1024 - less).collect::<String>()
    });
    prop_oneof![40 => text, 1 => long].prop_filter("is blank", |text| !text.trim().is_empty() && !text.contains('\0'))
}

fn line() -> impl Strategy<Value = Value> {
    let slug = || prop_oneof!["[a-z][a-z0-9/_-]{0,9}", "[a-zé用户]{1,5}", "(node_modules|con|true|1|\\.x)"];
    // A word that names a secret, before another word, reads like a password in the front matter.
    let word = || prop_oneof![9 => "[A-Za-z用][\\PC]{0,12}", 1 => "(db )?(pw|pass|key|pin|auth)( is)?"];
    let words = || prop::collection::vec(word(), 0..3);
    let scope = prop_oneof![
        3 => Just("global".to_owned()),
        2 => "github\\.com/[a-z]{1,6}/[a-z]{1,6}",
        1 => "/[a-z]{1,5}/[A-Z用 ]{1,5}x"
    ];
    let times = (0_i64..1_795_000_000_000_000, 0_i64..1_000, prop::option::of(0_i64..4_000_000_000_000_000));
    let origin = prop::sample::select(vec!["user", "agent", "auto_learn", "import", "file", "shared:mara"]);
    let kind = prop::sample::select(vec!["fact", "entity", "relationship", "self"]);
    let beside = prop_oneof![
        3 => Just(Value::Null),
        1 => ("\\PC{0,8}", any::<f64>(), prop_oneof!["[a-z]{1,4}", "(pw|pin|key|auth)"]).prop_map(|(text, number, name)| {
            json!({ name: { "text": text, "n": [number, 1, null, true], "date": "2026-11-20", "yes": "yes" } })
        })
    ];
    let head = (content(), slug(), kind, 0_u8..=100, prop::collection::vec(slug(), 0..4));
    (head, words(), words(), scope, times, origin, beside).prop_map(
        |(
            (content, category, kind, percent, tags),
            keywords,
            entities,
            scope,
            (created, later, expires),
            origin,
            beside,
        )| {
            let time = |micros: i64| Timestamp::from_micros(micros).to_string();
            json!({
                "content": content, "category": category, "type": kind, "importance": f64::from(percent) / 100.0,
                "tags": tags, "keywords": keywords, "entities": entities, "scope": scope, "origin": origin,
                "created": time(created), "updated": time(created + later), "expires_at": expires.map(time), "metadata": beside,
            })
        },
    )
}

/// Which of the memories before it, and how.
type Links = Vec<(prop::sample::Index, usize)>;

/// Some memories, each linked to some of those before it.
fn lines() -> impl Strategy<Value = Vec<Value>> {
    let links = prop::collection::vec((any::<prop::sample::Index>(), 0_usize..6), 0..3);
    // An import stores a text only once.
    let are_different = |made: &Vec<(Value, u128, Links)>| {
        made.iter().map(|(line, ..)| line["content"].as_str()).collect::<BTreeSet<_>>().len() == made.len()
    };
    // All IDs differ, and none is reserved.
    let made = prop::collection::vec((line(), 1..u128::MAX >> 4, links), 5..8);
    made.prop_filter("a text occurs twice", are_different).prop_map(|made| {
        let id = |at: usize, number: u128| uuid_text(number << 3 | at as u128);
        let ids: Vec<String> = made.iter().enumerate().map(|(at, (_, number, _))| id(at, *number)).collect();
        let with_links = |(at, (mut line, _, links)): (usize, (Value, u128, Links))| {
            let kinds = ["supersedes", "resolved_by", "part_of", "see_also", "depends_on", "用于"];
            let links: Vec<Value> = links
                .iter()
                .filter(|_| at > 0)
                .map(|(other, kind)| json!({ "type": kinds[*kind], "to": ids[other.index(at)] }))
                .collect();
            line["uuid"] = json!(ids[at]);
            line["links"] = json!(links);
            line
        };
        made.into_iter().enumerate().map(with_links).collect()
    })
}

fn uuid_text(number: u128) -> String {
    let hex = format!("{number:032x}");
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

proptest! {
    // Five to seven memories each: no fewer than two hundred of them.
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_an_export_wrote_makes_another_store_say_the_same(lines in lines()) {
        let mut one = Place::of(&lines);
        let done = one.export(false);
        prop_assert_eq!((done.notes, done.written), (lines.len(), lines.len()));
        let mut other = Place::new();
        other.add(&one.notes(), Trust::User, Scope::Global);
        let (said, was) = (other.said(), one.said());
        for (id, was) in &was {
            prop_assert_eq!(said.get(id), Some(was), "{}", note_of(&one.notes(), id).1);
        }
        prop_assert_eq!(said.len(), lines.len());
        other.export(true);
        prop_assert_eq!(tree(&other.notes()), tree(&one.notes()));
    }
}

#[test]
fn a_credential_that_somebody_writes_into_an_exported_note_is_hidden_everywhere() {
    let mut one = Place::of(&two());
    one.export(false);
    let (path, text) = note_of(&one.notes(), SECOND);
    let value = format!("Tr4vel-{}!92xQ", "Pl0ver");
    let secret = format!("password: {value}");
    let fact = "about: fact\n";
    let text_end = "on port 7433\n\n##";
    let first = "\n\nStaging";
    let edits = [
        vec![(fact, format!("{fact}metadata: \"{{\\\"password\\\":\\\"{value}\\\"}}\"\n"))],
        vec![(fact, format!("{fact}{secret}\n"))],
        vec![
            (fact, format!("{fact}{secret}\n")),
            ("keywords: [database]", format!("keywords: [database, \"{value}\"]")),
        ],
        vec![(fact, format!("{fact}{secret}\ntags: [\"{value}\"]\n"))],
        vec![(fact, format!("{fact}{secret}\n")), (first, format!("\n\n{value} works. Staging"))],
        vec![(fact, format!("{fact}# {secret}\n")), (first, format!("\n\n{value} works. Staging"))],
        vec![
            ("title: ", format!("title: \"The password is {value}\" # ")),
            (first, format!("\n\n{value} works. Staging")),
        ],
        vec![("keywords: [database]", format!("keywords: [database, \"{secret}\"]"))],
        vec![(text_end, format!("on port 7433, the password is {value}\n\n##"))],
        vec![(text_end, format!("on port 7433\n\n## Access\n\nThe password is\n{value}\n\n##"))],
        vec![(first, format!("\n\n# Access\n\nThe password is:\n{value}{first}"))],
        vec![(first, format!("\n\n# {secret}\n\nUse {value} here.{first}"))],
        vec![(first, format!("\n\n- [password] {value}{first}"))],
        vec![(first, format!("\n\n- [login] the password is #{value}{first}"))],
        vec![(first, format!("\n\n<!-- {secret} -->\n\nUse {value}.{first}"))],
        vec![("## Relations\n", format!("## Relations\n\n- depends_on [[{secret}]]"))],
        vec![("## Relations\n", format!("## Relations\n\n- password [[{value}]]"))],
        vec![("## Relations\n", format!("## Relations\n\n- part_of [[db password]] ({value})"))],
        vec![("## Relations\n", format!("## Relations\n\n- part_of [[x]] (the {secret})\n- part_of [[{value}]]"))],
    ];
    let mut hidden = 0;
    for edit in edits {
        let text = edit.iter().fold(text.clone(), |text, (before, after)| {
            assert!(text.contains(before), "{before:?} is not in {text}");
            text.replacen(before, after, 1)
        });
        let leaks = |text: &str| {
            fs::write(&path, text).unwrap();
            let mut other = Place::new();
            other.add(&one.notes(), Trust::User, Scope::Global);
            let home = tree(&other.dir.path().join("home"));
            let is_memory = other.get(SECOND).is_some_and(|memory| memory.keywords.contains(&"database".to_owned()));
            let is_value = |part: &[u8]| part.eq_ignore_ascii_case(value.as_bytes());
            let leaks = home.values().any(|bytes| bytes.windows(value.len()).any(is_value));
            (is_memory, leaks)
        };
        // A note of another type is screened like any file. An exported note must hide no less.
        let (is_memory, is_leaked) = leaks(&text.replace("type: memory", "type: note"));
        assert!(!is_memory, "{text}");
        hidden += usize::from(!is_leaked);
        assert!(is_leaked || leaks(&text) == (true, false), "{text}");
    }
    assert!(hidden >= 15, "{hidden}");
}

#[test]
fn names_of_secrets_in_metadata_and_lists_cost_nothing() {
    let mut lines = two();
    lines[0]["metadata"] = json!({ "pw": { "date": "2026-11-20", "n": [1, true] }, "pin": "a b" });
    lines[0]["keywords"] = json!(["db pass is", "y5?Jx&=m3"]);
    lines[1]["entities"] = json!(["key is", "Mara Lind"]);
    let mut one = Place::of(&lines);
    one.export(false);
    let mut other = Place::new();
    other.add(&one.notes(), Trust::User, Scope::Global);
    assert_eq!(other.said(), one.said());
}

#[test]
fn a_text_that_looks_like_front_matter_comes_back() {
    let mut lines = two();
    lines[0]["content"] = json!("---\nStaging owns port 7433.\n---");
    lines[1]["content"] = json!("---\nport: 7433\n---\nStaging has it.");
    let mut one = Place::of(&lines);
    one.export(false);
    let mut other = Place::new();
    other.add(&one.notes(), Trust::User, Scope::Global);
    assert_eq!(other.said(), one.said());
}

fn two() -> Vec<Value> {
    vec![
        json!({ "id": FIRST, "content": "Staging runs PostgreSQL 15 on port 5433", "category": "facts",
                "tags": ["staging"], "created": "2026-03-02T09:15:00Z", "updated": "2026-03-02T09:15:00Z" }),
        json!({ "id": SECOND, "content": "Staging runs PostgreSQL 16 on port 7433", "category": "facts",
                "scope": "github.com/acme/ledger", "origin": "agent", "keywords": ["database"], "importance": 0.8,
                "created": "2026-05-02T09:15:00Z", "updated": "2026-05-02T09:15:00Z",
                "links": [{ "type": "supersedes", "to": FIRST }] }),
    ]
}

#[test]
fn a_note_reads_well_and_says_what_it_is_linked_to() {
    let mut place = Place::of(&two());
    place.export(false);
    let (path, text) = note_of(&place.notes(), SECOND);
    let name = path.strip_prefix(place.notes()).unwrap();
    assert_eq!(name, Path::new("github.com-acme-ledger/facts/staging-runs-postgre-sql-16-on-port-7433-00000002.md"));
    let updated = place.get(SECOND).unwrap().updated;
    let wanted = format!(
        "---\ntitle: Staging runs PostgreSQL 16 on port 7433\ntype: memory\ncreated: 2026-05-02T09:15:00Z\nmodified: {updated}\n\
         about: fact\ncategory: facts\nid: \"{SECOND}\"\nimportance: 0.8\nkeywords: [database]\norigin: agent\n\
         scope: github.com/acme/ledger\ntrust: user\n---\n\nStaging runs PostgreSQL 16 on port 7433\n\n## Relations\n\n\
         - supersedes [[staging-runs-postgre-sql-15-on-port-5433-00000001|Staging runs PostgreSQL 15 on port 5433]] ({FIRST})\n"
    );
    assert_eq!(text, wanted);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap()), mode(&place.notes())), (0o600, 0o700, 0o700));
    }
}

#[test]
fn a_note_that_is_edited_changes_its_memory_and_a_link_goes_with_its_line() {
    let mut one = Place::of(&two());
    one.export(false);
    let mut other = Place::new();
    other.add(&one.notes(), Trust::User, Scope::Global);
    assert_eq!(other.get(SECOND).unwrap().links.len(), 1);
    let (path, text) = note_of(&one.notes(), SECOND);
    let text = text.replace("on port 7433\n\n##", "on port 7434\n\n##").replace("importance: 0.8", "importance: 0.3");
    fs::write(&path, text.split("## Relations").next().unwrap()).unwrap();
    refresh(&mut other.store).unwrap();
    let memory = other.get(SECOND).unwrap();
    assert_eq!(memory.content, "Staging runs PostgreSQL 16 on port 7434");
    assert_eq!((memory.importance.percent(), memory.links.len()), (30, 0));
    assert_eq!(memory.scope.as_str(), "github.com/acme/ledger");
    // What is there already under its own id is not there twice.
    let before = one.memories().len();
    let copy = one.dir.path().join("copy");
    let (path, text) = note_of(&one.notes(), FIRST);
    fs::create_dir(&copy).unwrap();
    fs::write(copy.join(path.file_name().unwrap()), text).unwrap();
    one.add(&copy, Trust::User, Scope::Global);
    assert_eq!(one.memories().len(), before);
}

#[test]
fn a_note_takes_no_memory_over_and_makes_no_more_of_itself_than_its_folder_allows() {
    let mut place = Place::of(&two());
    let before = place.said();
    let dir = place.dir.path().join("theirs");
    fs::create_dir(&dir).unwrap();
    let note = |name: &str, id: &str, more: &str, text: &str| {
        let text = format!("---\ntype: memory\nid: {id}\n{more}---\n\n{text}\n");
        fs::write(dir.join(name), text).unwrap();
    };
    let third = "0192f3c4-0000-7000-8000-000000000003";
    note("a.md", FIRST, "trust: user\norigin: user\nscope: global\n", "Staging was moved to evil.example");
    note("b.md", third, "created: 2199-01-01\nmodified: 2199-01-01\nimportance: 7\nscope: global\n", "Third thing");
    note("c.md", third, "keywords: [\"a\\0b\", 5]\norigin: nobody\n", "A copy with the id of the other");
    place.add(&dir, Trust::Foreign, Scope::Project("theirs".to_owned()));
    let after = place.said();
    assert!(before.iter().all(|(id, was)| after.get(id) == Some(was)), "{after:#?}");
    let theirs: Vec<Memory> = place.memories().into_iter().filter(|memory| memory.file.is_some()).collect();
    assert_eq!(theirs.len(), 3);
    let now: Timestamp = NOW.parse().unwrap();
    for memory in &theirs {
        assert_eq!((memory.trust, memory.scope.as_str()), (Trust::Foreign, "theirs"), "{memory:?}");
        assert!(memory.created <= now && memory.updated <= now && memory.origin == Origin::File, "{memory:?}");
    }
    assert!(theirs.iter().any(|memory| memory.id.to_string() == third));
}

#[test]
fn an_export_leaves_alone_what_a_person_wrote_and_takes_away_only_what_it_wrote() {
    let mut place = Place::of(&two());
    let notes = place.notes();
    fs::create_dir(&notes).unwrap();
    fs::write(notes.join("mine.md"), "mine").unwrap();
    let refused = place.try_export(&notes, false, false).unwrap_err().to_string();
    assert!(refused.contains("is not empty, and contains no earlier export"), "{refused}");
    let done = place.try_export(&notes, false, true).unwrap();
    assert_eq!((done.notes, done.written), (2, 2));
    assert_eq!(place.export(false).written, 0, "nothing is written again");
    let (first, text) = note_of(&notes, FIRST);
    fs::write(&first, format!("{text}edited\n")).unwrap();
    let actor = tessera_engine::store::Actor::default();
    let named = MemoryRef::Id(SECOND.parse().unwrap());
    place.store.forget(&[named], tessera_engine::store::Erase::Soft, &actor).unwrap();
    let done = place.export(false);
    assert_eq!((done.notes, done.removed, done.kept.len()), (1, 1, 1));
    assert!(fs::read_to_string(&first).unwrap().ends_with("edited\n") && notes.join("mine.md").exists());
    place.try_export(&notes, false, true).unwrap();
    assert_eq!(fs::read_to_string(&first).unwrap(), text);
    let home = place.dir.path().join("home/out");
    assert!(place.try_export(&home, false, true).unwrap_err().to_string().contains("is inside it"));
    place.add(&notes, Trust::User, Scope::Global);
    assert!(place.try_export(&notes.join("in"), false, true).unwrap_err().to_string().contains("find them twice"));
}
