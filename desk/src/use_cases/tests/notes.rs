//! Notes: found by what they say and how they are called, read, listed, and shown with what stands around them.

use std::fs::{File, FileTimes};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use tessera_engine::domain::{DomainError, LinkKind, TokenBudget, Trust};
use tessera_engine::pack::JsonRows;
use tessera_engine::store::StoreError;

use super::{World, person, scope};
use crate::folders::{AddFolder, refresh};
use crate::use_cases::{
    BuildContext, FindMemory, FindNote, Form, NotesReply, Part, ReadNote, RecentActivity, SearchNotes, SetLink, Within,
};

/// The clock of these tests, in seconds since 1970.
const NOW: u64 = 1_795_176_000;
const DAY: u64 = 86_400;

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::write(&to, std::fs::read(entry.path()).unwrap()).unwrap();
            changed(&to, 30 * DAY);
        }
    }
}

/// Makes a file one that was changed so many seconds ago.
fn changed(path: &Path, ago: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(NOW - ago);
    File::options().write(true).open(path).unwrap().set_times(FileTimes::new().set_modified(time)).unwrap();
}

/// The folder of notes that all these tests ask.
fn vault() -> (World, PathBuf) {
    let mut world = World::new();
    let dir = world.path("vault");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/vault"), &dir);
    add(&mut world, &dir, "vault", "acme/harbour");
    (world, dir)
}

fn add(world: &mut World, dir: &Path, name: &str, of: &str) {
    let (dir, name) = (dir.to_path_buf(), Some(name.to_owned()));
    let folder = AddFolder { dir, name, scope: scope(of), trust: Trust::User, is_writable: true, is_told: false };
    world.perform(&person(), folder).unwrap();
}

fn write(world: &mut World, dir: &Path, path: &str, text: &str, ago: u64) {
    let path = dir.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    changed(&path, ago);
    refresh(&mut world.store).unwrap();
}

fn within(form: Form, tokens: u32) -> Within {
    Within { budget: TokenBudget::try_from(tokens).unwrap(), form, remark: None }
}

fn search(query: &str) -> SearchNotes {
    SearchNotes {
        query: query.into(),
        project: None,
        types: Vec::new(),
        tags: Vec::new(),
        after_date: None,
        part: Part::first(50),
        within: within(Form::Json(JsonRows::default()), 20_000),
    }
}

fn around(url: &str) -> BuildContext {
    BuildContext {
        url: url.into(),
        project: None,
        depth: 1,
        timeframe: None,
        max_related: 10,
        part: Part::first(50),
        within: within(Form::Json(JsonRows::default()), 20_000),
    }
}

fn read(identifier: &str) -> ReadNote {
    let within = within(Form::Text, 4_000);
    ReadNote { identifier: identifier.into(), project: None, line: 1, within }
}

fn rows(reply: &NotesReply) -> Vec<Value> {
    let body: Value = serde_json::from_str(&reply.body).unwrap_or_else(|error| panic!("{error}: {}", reply.body));
    assert_eq!(body["tokens_used"], reply.tokens_used);
    body["results"].as_array().unwrap().clone()
}

fn paths(reply: &NotesReply) -> Vec<String> {
    let path = |row: &Value| row["file_path"].as_str().unwrap().trim_start_matches("/vault/").to_owned();
    rows(reply).iter().map(path).collect()
}

/// What is related, as `-> type title`.
fn related(reply: &NotesReply) -> Vec<String> {
    let rows = rows(reply);
    let related = rows.iter().filter(|row| row["kind"] == "related");
    related
        .map(|row| {
            let sign = if row["direction"] == "outgoing" { "->" } else { "<-" };
            let what = row["title"].as_str().or(row["content"].as_str()).unwrap();
            format!("{sign} {} {what}", row["relation"].as_str().unwrap())
        })
        .collect()
}

fn refused(error: StoreError) -> String {
    let is_refused = matches!(error, StoreError::Domain(DomainError::Invalid { .. }) | StoreError::Unknown { .. });
    assert!(is_refused, "{error:?}");
    error.to_string()
}

#[test]
fn notes_are_found_by_body_observation_tag_title_permalink_and_in_any_words() {
    let (mut world, _) = vault();
    for (query, best) in [
        ("what stalls in the cold?", "projects/tide-clock.md"),
        ("fuse of the pump", "logs/2026-11-18.md"),
        ("Tide clock", "projects/tide-clock.md"),
        ("\"Why UTC?\"", "decisions/why-utc.md"),
        ("summer AND NOT winter NEAR/3 (", "decisions/why-utc.md"),
        ("user/preferences", "user/preferences.md"),
        ("memory://user/preferences", "user/preferences.md"),
        ("the big map", "harbour-map.md"),
        ("大潮在什么时候？", "日记/潮汐笔记.md"),
        ("潮汐笔记", "日记/潮汐笔记.md"),
        ("tag:units", "user/preferences.md"),
        ("tag:潮汐", "日记/潮汐笔记.md"),
        ("ropes", "a/agenda.md"),
    ] {
        let reply = world.perform(&person(), search(query)).unwrap();
        assert_eq!(paths(&reply).first().map(String::as_str), Some(best), "{query}: {}", reply.body);
    }
    let first = rows(&world.perform(&person(), search("which units?")).unwrap())[0].clone();
    assert_eq!((first["type"].as_str(), first["permalink"].as_str()), (Some("memory"), Some("user/preferences")));
    assert!(first["best"].as_str().unwrap().starts_with("Metres and knots"), "{first}");
    assert!(first["score"].as_f64().unwrap() > 0.0 && first["title"] == "Reading preferences");
    let nothing = world.perform(&person(), search("zeppelin")).unwrap();
    assert_eq!((nothing.total, nothing.shown), (0, 0));
}

#[test]
fn a_search_is_narrowed_by_project_type_tag_and_time_and_goes_on_where_it_ended() {
    let (mut world, dir) = vault();
    let all = world.perform(&person(), search("*")).unwrap();
    assert_eq!(all.total, 14);
    let projects = SearchNotes { types: vec!["Project".into()], ..search("tide") };
    let mut found = paths(&world.perform(&person(), projects).unwrap());
    found.sort();
    assert_eq!(found, ["projects/tide-clock.md", "projects/tide-tables.md"]);
    assert_eq!(paths(&world.perform(&person(), search("type:decision")).unwrap()), ["decisions/why-utc.md"]);
    let tagged = SearchNotes { tags: vec!["style".parse().unwrap()], ..search("") };
    assert_eq!(paths(&world.perform(&person(), tagged).unwrap()), ["user/preferences.md"]);
    changed(&dir.join("stores.txt"), 3_600);
    refresh(&mut world.store).unwrap();
    let new = SearchNotes { after_date: Some("2 days ago".into()), ..search("*") };
    assert_eq!(paths(&world.perform(&person(), new).unwrap()), ["stores.txt"]);
    for (project, total) in [("vault", 14), ("Vault", 14), ("acme/harbour", 14), ("memories", 0)] {
        let asked = SearchNotes { project: Some(project.into()), ..search("*") };
        assert_eq!(world.perform(&person(), asked).unwrap().total, total, "{project}");
    }
    let unknown = SearchNotes { project: Some("attic".into()), ..search("*") };
    let said = refused(world.perform(&person(), unknown).unwrap_err());
    assert!(said.starts_with("project: ") && said.contains("vault"), "{said}");
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let part = Part { after, ..Part::first(5) };
        let page = SearchNotes { part, within: within(Form::Json(JsonRows::default()), 400), ..search("*") };
        let page = world.perform(&person(), page).unwrap();
        assert!(page.tokens_used <= 400);
        seen.extend(paths(&page));
        let body: Value = serde_json::from_str(&page.body).unwrap();
        after = body["after"].as_u64().map(|after| u32::try_from(after).unwrap());
        if after.is_none() {
            break;
        }
    }
    assert_eq!(seen, paths(&all_after(&mut world)), "each once, in order, however few fit");
}

fn all_after(world: &mut World) -> NotesReply {
    world.perform(&person(), search("*")).unwrap()
}

#[test]
fn a_note_is_shown_with_what_it_says_and_what_is_related_in_both_directions() {
    let (mut world, _) = vault();
    let reply = world.perform(&person(), around("memory://user/preferences")).unwrap();
    let said: Vec<String> = rows(&reply)
        .iter()
        .filter(|row| row["kind"] == "observation")
        .map(|row| format!("{}: {}", row["category"].as_str().unwrap(), row["content"].as_str().unwrap()))
        .collect();
    assert_eq!(said.len(), 3, "{}", reply.body);
    assert!(said[1].starts_with("units: Metres and knots, never feet"), "{said:?}");
    assert_eq!(related(&reply), ["-> relates_to Tide clock", "-> informs Why UTC?"]);
    // An alias, a path, running text, and a name that is not there yet.
    let clock = world.perform(&person(), around("Tide clock")).unwrap();
    let mut around_clock = related(&clock);
    around_clock.sort();
    assert_eq!(
        around_clock,
        [
            "-> depends_on Tide tables",
            "-> part_of Harbour map",
            "<- links_to 2026-11-18",
            "<- relates_to Reading preferences",
            "<- serves Sea office"
        ]
    );
    let plan = world.perform(&person(), around("drafts/plan")).unwrap();
    assert_eq!(related(&plan), ["-> precedes Winter refit"]);
    assert!(plan.body.contains("\"exists\":false"), "{}", plan.body);
}

#[test]
fn circles_end_and_far_steps_are_walked_once() {
    let (mut world, _) = vault();
    let titles = |reply: &NotesReply| {
        let mut titles: Vec<String> = rows(reply)
            .iter()
            .filter(|row| row["kind"] == "related")
            .map(|row| row["title"].as_str().unwrap().to_owned())
            .collect();
        titles.sort();
        titles
    };
    let near = world.perform(&person(), around("Tide tables")).unwrap();
    assert_eq!(titles(&near), ["Sea office", "Tide clock", "潮汐笔记"]);
    let far = world.perform(&person(), BuildContext { depth: 5, ..around("Tide tables") }).unwrap();
    let far = titles(&far);
    let mut once = far.clone();
    once.dedup();
    assert_eq!(far, once, "each once, and never where it began");
    assert!(far.iter().all(|title| title != "Tide tables") && far.contains(&"Why UTC?".to_owned()), "{far:?}");
    assert!(world.perform(&person(), BuildContext { depth: 6, ..around("Tide tables") }).is_err());
    assert!(related(&world.perform(&person(), BuildContext { depth: 0, ..around("Tide tables") }).unwrap()).is_empty());
}

#[test]
fn one_hub_leaves_the_others_their_related_notes_and_a_pattern_reaches_all_that_it_says() {
    let (mut world, dir) = vault();
    for number in 1..=50 {
        let text = format!("# Berth {number:02}\n\n- lies_in [[Harbour map]]\n");
        std::fs::create_dir_all(dir.join("berths")).unwrap();
        std::fs::write(dir.join(format!("berths/berth-{number:02}.md")), text).unwrap();
    }
    refresh(&mut world.store).unwrap();
    let hub = world.perform(&person(), around("chart")).unwrap();
    assert_eq!(related(&hub).len(), 10);
    assert!(hub.body.contains("\"left_out\":41"), "{}", hub.body);
    let all = world.perform(&person(), BuildContext { max_related: 100, ..around("chart") }).unwrap();
    assert_eq!(related(&all).len(), 51);
    let both = world.perform(&person(), BuildContext { max_related: 2, ..around("memory://projects/*") }).unwrap();
    let rows = rows(&both);
    let mut related_of = std::collections::BTreeMap::<String, usize>::new();
    for row in rows.iter().filter(|row| row["kind"] == "related") {
        *related_of.entry(row["from"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    assert_eq!(
        related_of.into_iter().collect::<Vec<_>>(),
        [("Tide clock".to_owned(), 2), ("Tide tables".to_owned(), 2)]
    );
    for (pattern, notes) in [("memory://berths/*", 50), ("memory://vault/berths/berth-1*", 10), ("memory://**", 64)] {
        let found = world.perform(&person(), BuildContext { depth: 0, part: Part::first(100), ..around(pattern) });
        let body: Value = serde_json::from_str(&found.unwrap().body).unwrap();
        assert_eq!(body["primary_count"], notes, "{pattern}");
    }
    let said = refused(world.perform(&person(), around("memory://attic/*")).unwrap_err());
    assert!(said.contains("there is no note `memory://attic/*`"), "{said}");
}

#[test]
fn a_timeframe_hides_what_was_not_changed_and_never_what_was_asked_for() {
    let (mut world, dir) = vault();
    changed(&dir.join("projects/tide-tables.md"), 3_600);
    refresh(&mut world.store).unwrap();
    let new = world.perform(&person(), BuildContext { timeframe: Some("7d".into()), ..around("Tide clock") }).unwrap();
    assert_eq!(related(&new), ["-> depends_on Tide tables"]);
    assert_eq!(rows(&new)[0]["title"], "Tide clock");
    let none = BuildContext { timeframe: Some("30 minutes".into()), ..around("Tide clock") };
    assert!(related(&world.perform(&person(), none).unwrap()).is_empty());
    let odd = BuildContext { timeframe: Some("soonish".into()), ..around("Tide clock") };
    assert!(refused(world.perform(&person(), odd).unwrap_err()).starts_with("timeframe: "));
}

#[test]
fn memories_and_notes_are_one_graph() {
    let (mut world, _) = vault();
    let note = world.says(&person(), "The servo costs forty euros");
    let to = world.perform(&person(), FindMemory { name: "/vault/projects/tide-clock.md".into() }).unwrap();
    let id = world.perform(&person(), FindMemory { name: note.memory.short_id.to_string() }).unwrap();
    let kind: LinkKind = "Priced in".parse().unwrap();
    world.perform(&person(), SetLink { id, kind, to, holds: true }).unwrap();
    let clock = world.perform(&person(), around("Tide clock")).unwrap();
    assert!(related(&clock).contains(&"<- priced_in The servo costs forty euros".to_owned()), "{}", clock.body);
    // From the memory on, by its number.
    let begun = world.perform(&person(), around(&note.memory.short_id.get().to_string())).unwrap();
    assert_eq!(related(&begun), ["-> priced_in Tide clock"]);
    // A part is its file there; the text of a file may change, its links stay.
    let part = rows(&world.perform(&person(), search("stepper stalls")).unwrap())[0]["id"].to_string();
    let part = world.perform(&person(), FindMemory { name: part }).unwrap();
    world.perform(&person(), SetLink { id: part, kind: LinkKind::SeeAlso, to: id, holds: true }).unwrap();
    let dir = world.path("vault");
    write(&mut world, &dir, "projects/tide-clock.md", "---\ntitle: Tide clock\n---\n- [state] It runs\n", 60);
    let begun = world.perform(&person(), around(&note.memory.short_id.get().to_string())).unwrap();
    assert!(related(&begun).contains(&"-> priced_in Tide clock".to_owned()), "{}", begun.body);
    let missing = world.perform(&person(), FindMemory { name: "no such thing".into() }).unwrap_err();
    assert!(refused(missing).starts_with("id: "));
}

#[test]
fn forward_references_find_their_note_renames_keep_it_and_the_nearest_of_several_is_meant() {
    let (mut world, dir) = vault();
    write(&mut world, &dir, "yard/refit.md", "---\ntitle: Winter refit\n---\nIn the dry dock.\n", 60);
    let refit = world.perform(&person(), around("yard/refit")).unwrap();
    let mut from = related(&refit);
    from.sort();
    assert_eq!(from, ["<- links_to 2026-11-18", "<- precedes plan"]);
    // Renamed on disk, and by its title: what named it still means it.
    std::fs::rename(dir.join("yard/refit.md"), dir.join("yard/overhaul.md")).unwrap();
    refresh(&mut world.store).unwrap();
    write(&mut world, &dir, "yard/overhaul.md", "---\ntitle: Overhaul\n---\nIn the dry dock.\n", 30);
    assert_eq!(related(&world.perform(&person(), around("Overhaul")).unwrap()).len(), 2);
    assert_eq!(related(&world.perform(&person(), around("drafts/plan")).unwrap()), ["-> precedes Overhaul"]);
    // Deleted, they wait again.
    std::fs::remove_file(dir.join("yard/overhaul.md")).unwrap();
    refresh(&mut world.store).unwrap();
    assert_eq!(related(&world.perform(&person(), around("drafts/plan")).unwrap()), ["-> precedes Winter refit"]);
    // Of two meetings the one beside the agenda.
    let agenda = world.perform(&person(), around("a/agenda")).unwrap();
    assert!(agenda.body.contains("/vault/a/meeting.md") && !agenda.body.contains("/vault/b/meeting.md"));
    // A nearer one that comes later is meant from then on, as if it had always been there.
    write(
        &mut world,
        &dir,
        "c/d/note.md",
        "# Note\n\n- sees [[Lamp]]\n- sees [[../lantern]]\n- sees [[sub/wick]]\n",
        60,
    );
    write(&mut world, &dir, "lamp.md", "# Lamp\n", 60);
    let path = |world: &mut World, at: usize| {
        let reply = world.perform(&person(), around("c/d/note")).unwrap();
        let rows = rows(&reply);
        rows.iter().filter(|row| row["kind"] == "related").nth(at).unwrap()["file_path"].clone()
    };
    assert_eq!(path(&mut world, 0), "/vault/lamp.md");
    write(&mut world, &dir, "c/d/lamp.md", "# Lamp\n", 60);
    write(&mut world, &dir, "c/lantern.md", "# Another title\n", 60);
    write(&mut world, &dir, "c/d/sub/wick.md", "# Yet another\n", 60);
    let found: Vec<Value> = (0..3).map(|at| path(&mut world, at)).collect();
    assert_eq!(found, ["/vault/c/d/lamp.md", "/vault/c/lantern.md", "/vault/c/d/sub/wick.md"]);
}

#[test]
fn a_note_is_read_by_any_of_its_names_and_several_are_named() {
    let (mut world, dir) = vault();
    for name in [
        "Tide clock",
        "tide clock",
        "[[Tide clock]]",
        "memory://projects/tide-clock",
        "projects/tide-clock",
        "vault/projects/tide-clock.md",
        "/vault/projects/tide-clock.md",
        "tide-clock.md",
        "vault::Tide clock",
        "stepper motor stalls",
    ] {
        let reply = world.perform(&person(), read(name)).unwrap();
        assert!(
            reply.body.starts_with("# Tide clock [project] memory://projects/tide-clock "),
            "{name}: {}",
            reply.body
        );
        assert!(reply.body.contains("\n| - depends_on [[Tide tables]]"), "{name}: {}", reply.body);
    }
    let short_id = rows(&world.perform(&person(), search("stepper stalls")).unwrap())[0]["id"].to_string();
    assert!(world.perform(&person(), read(&short_id)).unwrap().body.starts_with("# Tide clock "));
    let several = refused(world.perform(&person(), read("Meeting")).unwrap_err());
    assert!(several.contains("matches 2 notes: /vault/a/meeting.md, /vault/b/meeting.md"), "{several}");
    assert!(world.perform(&person(), read("b/meeting")).unwrap().body.contains("dredger"));
    assert!(
        refused(world.perform(&person(), read("no such words anywhere")).unwrap_err()).contains("there is no note")
    );
    assert!(refused(world.perform(&person(), read(" ")).unwrap_err()).contains("is empty"));
    let found = world.perform(&person(), FindNote { name: "潮汐笔记".into(), project: None }).unwrap().unwrap();
    assert_eq!(found.file.unwrap().path.as_str(), "/vault/日记/潮汐笔记.md");
    // What a stranger wrote passes for nothing else.
    let odd = world.perform(&person(), read("drafts/odd")).unwrap().body;
    assert!(!odd.contains("<system") && !odd.contains("</memories"), "{odd}");
    // A long one goes on where it ended, and says all of it.
    let lines: Vec<String> = (1..=300).map(|number| format!("line {number} of the log, 潮汐")).collect();
    write(&mut world, &dir, "long.md", &lines.join("\n"), 60);
    let (mut line, mut all) = (1, Vec::new());
    loop {
        let asked = ReadNote { line, within: within(Form::Json(JsonRows::default()), 500), ..read("long") };
        let reply = world.perform(&person(), asked).unwrap();
        assert!(reply.tokens_used <= 500);
        let body: Value = serde_json::from_str(&reply.body).unwrap();
        all.extend(body["lines"].as_array().unwrap().iter().map(|line| line.as_str().unwrap().to_owned()));
        match body["line"].as_u64() {
            Some(next) => line = u32::try_from(next).unwrap(),
            None => break,
        }
    }
    assert_eq!(all, lines);
}

#[test]
fn what_was_changed_comes_newest_first_and_an_hour_is_an_hour() {
    let (mut world, dir) = vault();
    changed(&dir.join("projects/tide-clock.md"), 1_800);
    changed(&dir.join("a/agenda.md"), 7_200);
    changed(&dir.join("b/meeting.md"), 3 * DAY);
    refresh(&mut world.store).unwrap();
    let mut recent = |timeframe: Option<&str>| {
        let asked = RecentActivity {
            project: None,
            timeframe: timeframe.map(str::to_owned),
            types: Vec::new(),
            part: Part::first(50),
            within: within(Form::Json(JsonRows::default()), 20_000),
        };
        world.perform(&person(), asked).map(|reply| paths(&reply))
    };
    assert_eq!(recent(Some("1h")).unwrap(), ["projects/tide-clock.md"]);
    assert_eq!(recent(Some("today")).unwrap(), ["projects/tide-clock.md", "a/agenda.md"]);
    assert_eq!(recent(Some("7d")).unwrap(), ["projects/tide-clock.md", "a/agenda.md", "b/meeting.md"]);
    assert_eq!(recent(Some("2 days ago")).unwrap().len(), 2);
    assert_eq!(recent(None).unwrap().len(), 14);
    assert!(refused(recent(Some("whenever")).unwrap_err()).starts_with("timeframe: is not a time"));
}
