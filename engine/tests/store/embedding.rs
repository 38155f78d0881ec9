//! Vectors of memories: made after the commit, by whoever has time, once, and never of what is gone.

use rusqlite::Connection;
use tessera_engine::Store;
use tessera_engine::domain::{Draft, Patch, RecallRequest, Scope};
use tessera_engine::embedding::{ENCODER_VERSION, Embedding, Encoder, Vector, passages_of};
use tessera_engine::store::{Actor, EmbeddingCounts, Erase, ImportAs, SimilarityKind, StoreConfig, Verdict};

use crate::support::{Home, named, store};

const NOW: &str = "2026-11-20T11:00:00Z";

fn database(home: &Home) -> Connection {
    Connection::open(home.dir.path().join("t/tessera.db")).unwrap()
}

fn kept(home: &Home, short_id: u32) -> Vec<u8> {
    database(home)
        .query_row("SELECT embedding FROM memories WHERE short_id = ?1", [short_id], |row| row.get(0))
        .unwrap()
}

fn vectors_of(text: &str) -> Vec<u8> {
    Embedding::of(&Encoder::shared().passages(&passages_of(text))).into_bytes()
}

fn counts(store: &Store) -> (u64, u64, u64) {
    let EmbeddingCounts { made, waiting, later } = store.embeddings().unwrap();
    (made, waiting, later)
}

fn filled(texts: &[&str]) -> (Home, Store) {
    let home = Home::new();
    let mut opened = home.open(NOW);
    for text in texts {
        store(&mut opened, text);
    }
    (home, opened)
}

fn bodies(store: &mut Store, questions: &[&str]) -> Vec<String> {
    questions.iter().map(|question| store.recall(&RecallRequest::new(*question)).unwrap().body).collect()
}

const TEXTS: [&str; 4] =
    ["The cache lives on birch", "The proxy is nginx", "Indent with tabs", "Standup is at nine on weekdays"];

#[test]
fn the_newest_come_first_and_what_is_interrupted_goes_on() {
    let (home, mut opened) = filled(&TEXTS);
    assert_eq!(counts(&opened), (0, 4, 0));
    assert_eq!(opened.embed_newest(|| true).unwrap(), 1);
    assert_eq!(kept(&home, 4), vectors_of(TEXTS[3]));
    assert!(kept(&home, 3).is_empty());
    let long = "Batteries are taken ashore and charged once a month by whoever has the duty that week. ".repeat(200);
    store(&mut opened, &long);
    assert_eq!(opened.embed_while(1, || false).unwrap(), 0, "a long one is not finished at once");
    assert_eq!(counts(&opened), (1, 4, 0));
    drop(opened);
    // Whoever comes next goes on.
    let mut opened = home.open(NOW);
    while opened.embed_some().unwrap() {}
    assert_eq!(counts(&opened), (5, 0, 0));
    assert_eq!(kept(&home, 1), vectors_of(TEXTS[0]));
    assert!(!opened.embed_some().unwrap(), "nothing is done twice");
}

#[test]
fn one_process_works_off_at_a_time_and_what_was_changed_meanwhile_waits() {
    let (home, mut opened) = filled(&TEXTS);
    let mut other = home.open(NOW);
    let turn = opened.embedding_turn().unwrap();
    assert!(turn.is_some() && other.embedding_turn().unwrap().is_none());
    drop(turn);
    assert!(other.embedding_turn().unwrap().is_some());
    // While a step is encoded, somebody else changes one of its texts.
    let text = "The proxy is caddy since October. ".repeat(60);
    let patch = Patch { content: Some(text.clone()), ..Patch::default() };
    store(&mut opened, &"The harbour office opens at seven, but not on Sundays. ".repeat(130));
    let mut changed = 0;
    opened
        .embed_while(1, || {
            if changed == 0 {
                other.update(named(2), &patch, &Actor::default()).unwrap();
                changed += 1;
            }
            true
        })
        .unwrap();
    assert_eq!((changed, counts(&opened)), (1, (4, 1, 0)));
    assert!(kept(&home, 2).is_empty());
    while opened.embed_some().unwrap() {}
    assert_eq!(kept(&home, 2), vectors_of(text.trim()));
}

#[test]
fn a_memory_that_changes_while_it_is_compared_is_compared_again() {
    let home = Home::new();
    let mut opened = home.open(NOW);
    let port = |port: u32| Draft::new(format!("The checkout service listens on port {port}"));
    opened.remember_all(&[port(7070), port(7171)]).unwrap();
    while opened.embed_some().unwrap() {}
    let related = || -> Vec<(bool, bool)> {
        let sql = "SELECT related, newer IS NOT NULL FROM memories ORDER BY short_id";
        let (database, row) = (database(&home), |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?)));
        database.prepare(sql).unwrap().query_map([], row).unwrap().map(Result::unwrap).collect()
    };
    let mut other = home.open(NOW);
    let patch = Patch { content: Some("Lunch is at noon".to_owned()), ..Patch::default() };
    let mut changed = 0;
    let compared = opened.relate_while(|| {
        if changed == 0 {
            other.update(named(2), &patch, &Actor::default()).unwrap();
            changed += 1;
        }
        true
    });
    assert_eq!((compared.unwrap(), changed, related()), (2, 1, vec![(true, false), (false, false)]));
    while opened.embed_some().unwrap() {}
    assert_eq!((opened.relate_while(|| true).unwrap(), related()), (1, vec![(true, false), (true, false)]));
}

#[test]
fn a_stored_memory_is_compared_by_its_stored_embedding() {
    let home = Home::new();
    let mut opened = home.open(NOW);
    let texts = ["The checkout service listens on port 7070", "We moved the checkout service to port 7171 today"];
    opened.remember_all(&texts.map(Draft::new)).unwrap();
    while opened.embed_some().unwrap() {}
    // As if the encoder had found no similarity at all.
    let nothing = Embedding::of(&[Vector::default()]).into_bytes();
    database(&home).execute("UPDATE memories SET embedding = ?1", [nothing]).unwrap();
    let newer = |home: &Home| -> u32 {
        database(home).query_row("SELECT count(newer) FROM memories", [], |row| row.get(0)).unwrap()
    };
    assert_eq!((opened.relate_while(|| true).unwrap(), newer(&home)), (2, 0));
    database(&home).execute("UPDATE memories SET related = 0, embedding = x'', rev = rev + 100", []).unwrap();
    let mut opened = home.open(NOW);
    while opened.embed_some().unwrap() {}
    assert_eq!((opened.relate_while(|| true).unwrap(), newer(&home)), (2, 1));
}

#[test]
fn an_older_encoders_vectors_are_made_anew_and_a_newer_ones_are_left() {
    let (home, mut opened) = filled(&TEXTS);
    while opened.embed_some().unwrap() {}
    let before: Vec<Vec<u8>> = (1..=4).map(|short_id| kept(&home, short_id)).collect();
    let as_of = |version: u8, short_ids: &str| {
        let sql = format!(
            "UPDATE memories SET embedding = CAST(x'{version:02X}' || substr(embedding, 2) AS BLOB) WHERE short_id IN ({short_ids});
             DELETE FROM meta WHERE key LIKE 'embedding%'"
        );
        database(&home).execute_batch(&sql).unwrap();
    };
    as_of(ENCODER_VERSION - 1, "1, 2");
    as_of(ENCODER_VERSION + 1, "3");
    let newer = kept(&home, 3);
    let mut opened = home.open(NOW);
    assert_eq!(counts(&opened), (1, 2, 1));
    while opened.embed_some().unwrap() {}
    assert_eq!(counts(&opened), (3, 0, 1));
    assert_eq!((kept(&home, 1), kept(&home, 2), kept(&home, 3)), (before[0].clone(), before[1].clone(), newer));
    // An older program that still runs writes one: it is noticed when it is read.
    as_of(ENCODER_VERSION - 1, "4");
    database(&home)
        .execute_batch(&format!(
            "INSERT INTO meta VALUES ('embedding', {ENCODER_VERSION}), ('embedding_left', 0);
             UPDATE meta SET value = value + 1 WHERE key = 'rev';
             UPDATE memories SET rev = (SELECT value FROM meta WHERE key = 'rev') WHERE short_id = 4"
        ))
        .unwrap();
    assert!(!opened.embed_some().unwrap());
    opened.recall(&RecallRequest::new("when is standup?")).unwrap();
    while opened.embed_some().unwrap() {}
    assert_eq!(kept(&home, 4), before[3]);
}

#[test]
fn vectors_stay_with_the_text_they_are_of() {
    let (home, mut opened) = filled(&TEXTS);
    while opened.embed_some().unwrap() {}
    let before = kept(&home, 1);
    let tagged = Patch { tags: Some(vec!["ci".to_owned().try_into().unwrap()]), ..Patch::default() };
    opened.update(named(1), &tagged, &Actor::default()).unwrap();
    assert_eq!(kept(&home, 1), before);
    let text = Patch { content: Some("The cache lives on oak".into()), ..Patch::default() };
    opened.update(named(1), &text, &Actor::default()).unwrap();
    assert_eq!((kept(&home, 1), counts(&opened)), (Vec::new(), (3, 1, 0)));
    assert_eq!(opened.embed_newest(|| true).unwrap(), 1);
    let earlier = opened.history(named(1)).unwrap()[0].rev;
    opened.restore(named(1), Some(earlier), &Actor::default()).unwrap();
    assert!(kept(&home, 1).is_empty(), "an earlier text is another text");
    while opened.embed_some().unwrap() {}
    assert_eq!(kept(&home, 1), before);
    opened.forget(&[named(1)], Erase::Soft, &Actor::default()).unwrap();
    assert_eq!((kept(&home, 1), counts(&opened)), (Vec::new(), (3, 0, 0)), "what is deleted waits for nothing");
    opened.restore(named(1), None, &Actor::default()).unwrap();
    assert_eq!(counts(&opened), (3, 1, 0));
}

#[test]
fn of_what_is_removed_for_good_no_vector_is_left() {
    let (home, mut opened) = filled(&TEXTS);
    while opened.embed_some().unwrap() {}
    opened.rebuild_snapshot().unwrap();
    let vector = kept(&home, 2)[5..].to_vec();
    let files = || {
        let dir = std::fs::read_dir(home.dir.path().join("t")).unwrap();
        let files = dir.map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
        files.filter(|path| std::fs::read(path).unwrap().windows(64).any(|window| window == &vector[..64])).count()
    };
    assert!(files() > 0);
    opened.forget(&[named(2)], Erase::Hard, &Actor::default()).unwrap();
    assert_eq!(files(), 0);
    assert_eq!(counts(&opened), (3, 0, 0));
}

#[test]
fn switched_off_it_answers_by_words_alone_whatever_vectors_are_there() {
    let questions = ["where does the cache live?", "proxy", "when do we meet in the morning?", "tabs or spaces?"];
    let (home, mut opened) = filled(&TEXTS);
    let off = || Store::open(StoreConfig { embedding: false, ..home.config(NOW) }).unwrap();
    let before = bodies(&mut off(), &questions);
    while opened.embed_some().unwrap() {}
    assert_eq!(bodies(&mut off(), &questions), before);
    opened.rebuild_snapshot().unwrap();
    assert_eq!(bodies(&mut off(), &questions), before);
    let mut off = off();
    store(&mut off, "The lighthouse is white");
    off.rebuild_snapshot().unwrap();
    assert_eq!((off.stats().unwrap().encoder, counts(&off)), (0, (4, 1, 0)));
    // On again, what was there is used as before, and the rest waits.
    let mut on = home.open(NOW);
    assert_eq!(on.stats().unwrap().encoder, ENCODER_VERSION);
    assert_eq!(on.embed_newest(|| true).unwrap(), 1);
    assert_eq!(counts(&on), (5, 0, 0));
}

fn embedding_check(home: &Home, repair: bool) -> (Verdict, String) {
    let health = Store::examine(home.config(NOW), repair).unwrap();
    let check = health.checks.into_iter().find(|check| check.name == "embedding").unwrap();
    (check.verdict, check.detail)
}

#[test]
fn the_doctor_finds_damaged_vectors_and_has_them_made_anew() {
    let (home, mut opened) = filled(&TEXTS);
    assert_eq!(embedding_check(&home, false).0, Verdict::Ok, "to wait is no illness");
    while opened.embed_some().unwrap() {}
    let before = kept(&home, 1);
    let damage = "UPDATE memories SET embedding = CASE short_id
        WHEN 1 THEN CAST(substr(embedding, 1, 100) || x'7F' || substr(embedding, 102) AS BLOB)
        WHEN 2 THEN CAST(substr(embedding, 1, 200) AS BLOB) ELSE embedding END";
    database(&home).execute_batch(damage).unwrap();
    let (verdict, detail) = embedding_check(&home, false);
    assert!(verdict == Verdict::Bad && detail.starts_with("2 memories"), "{detail}");
    assert_eq!(embedding_check(&home, true).0, Verdict::Mended);
    let mut opened = home.open(NOW);
    assert_eq!(counts(&opened), (2, 2, 0));
    while opened.embed_some().unwrap() {}
    assert_eq!((kept(&home, 1), embedding_check(&home, false).0), (before, Verdict::Ok));
}

#[test]
fn what_came_out_of_an_export_or_a_wreck_waits() {
    let (home, mut opened) = filled(&TEXTS);
    while opened.embed_some().unwrap() {}
    let mut lines = Vec::new();
    opened.export(&mut lines).unwrap();
    let (other, mut imported) = filled(&[]);
    imported.import(&mut lines.as_slice(), ImportAs::Own, |_| ()).unwrap();
    assert_eq!(counts(&imported), (0, 4, 0));
    while imported.embed_some().unwrap() {}
    assert_eq!(kept(&other, 3), kept(&home, 3), "the same text has the same vectors everywhere");
    let copy = opened.backup(None).unwrap();
    let copied: Vec<u8> = Connection::open(copy)
        .unwrap()
        .query_row("SELECT embedding FROM memories WHERE short_id = 1", [], |row| row.get(0))
        .unwrap();
    assert_eq!(copied, kept(&home, 1), "a copy is whole");
}

#[test]
fn a_new_note_is_told_what_says_nearly_the_same_in_its_scope() {
    let (_home, mut opened) = filled(&["The staging gateway listens on port 8490", "The proxy is nginx"]);
    let elsewhere: Scope = "acme/ledger".parse().unwrap();
    let text = "The staging gateway listens on port 9000";
    opened.remember(Draft { scope: elsewhere, ..Draft::new(text) }).unwrap();
    while opened.embed_some().unwrap() {}
    let new = store(&mut opened, text);
    let near = opened.near(&new).unwrap();
    let told: Vec<(u32, SimilarityKind)> = near.iter().map(|near| (near.short_id.get(), near.likeness)).collect();
    assert_eq!(told, [(1, SimilarityKind::Updates)], "{near:?}");
    assert_eq!(opened.embed_newest(|| false).unwrap(), 1, "what was encoded for that is kept");
    let lunch = store(&mut opened, "Lunch is at noon");
    assert!(opened.near(&lunch).unwrap().is_empty());
}

#[test]
fn an_older_program_that_still_runs_leaves_no_vector_behind_on_another_text() {
    let (home, mut opened) = filled(&TEXTS);
    while opened.embed_some().unwrap() {}
    // As it writes them: it knows nothing of the column.
    let old = "UPDATE memories SET content = 'Vegetarian food is ordered' WHERE short_id = 1;
               UPDATE memories SET deleted = 1, forward = x'' WHERE short_id = 2;
               UPDATE memories SET importance = 9 WHERE short_id = 3;";
    database(&home).execute_batch(old).unwrap();
    assert!(kept(&home, 1).is_empty() && kept(&home, 2).is_empty());
    assert_eq!((kept(&home, 3), counts(&opened)), (vectors_of(TEXTS[2]), (2, 1, 0)));
}

#[test]
fn nothing_of_what_grew_and_is_removed_for_good_stands_where_it_was() {
    let home = Home::new();
    let mut opened = home.open(NOW);
    let texts: Vec<String> =
        (0..600).map(|n| format!("The index cache {n} is tested with tool{n}x so that rollbacks stay cheap")).collect();
    let drafts: Vec<Draft> = texts.iter().map(Draft::new).collect();
    opened.remember_all(&drafts).unwrap();
    while opened.embed_some().unwrap() {}
    let memories: Vec<_> = (1..=600).map(named).collect();
    opened.forget(&memories, Erase::Hard, &Actor::default()).unwrap();
    drop(opened);
    let bytes = std::fs::read(home.dir.path().join("t/tessera.db")).unwrap();
    let left = texts.iter().filter(|text| holds(&bytes, text)).count();
    assert_eq!(left, 0);
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}
