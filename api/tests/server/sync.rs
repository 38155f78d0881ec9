//! Machines in sync over HTTP: retries, conflicts, and a reader that misses nothing.

use std::collections::BTreeMap;

use reqwest::StatusCode;
use serde_json::Value;
use tessera_engine::domain::{Category, Content, Importance, MemoryType, MemoryUuid, Origin, Scope, Timestamp};
use tessera_engine::sync::{
    Action, Answer, BaseVersion, Details, Document, Edit, Local, News, Op, Page, Push, Pushed, Refusal, Settled,
    Snapshot, State,
};

use crate::site::{Site, with_site};

pub(crate) fn document(text: &str) -> Document {
    let details = Details {
        category: Category::try_from("facts".to_owned()).unwrap(),
        kind: MemoryType::Fact,
        importance: Importance::from_percent(50),
        keywords: Vec::new(),
        scope: Scope::Global,
        created: Timestamp::from_micros(1_795_000_000_000_000),
        expires: None,
        owner_trust: None,
        entities: Vec::new(),
        origin: Origin::Agent,
        session: None,
        conflict_of: None,
        file: None,
        metadata: None,
    };
    Document { content: Content::try_from(text.to_owned()).unwrap(), tags: [].into(), links: [].into(), details }
}

/// An id that nothing else has.
pub(crate) fn id() -> MemoryUuid {
    MemoryUuid::from_key(&fastrand::u128(..).to_string())
}

pub(crate) fn op(memory: MemoryUuid, base_rev: u64, action: Action) -> Op {
    Op { op_id: id(), memory, base_rev, at: Timestamp::from_micros(1_795_000_000_000_000), action, told_again: false }
}

/// The op that makes a memory, as JSON.
pub(crate) fn create(text: &str) -> Value {
    serde_json::to_value(op(id(), 0, Action::Create(document(text)))).unwrap()
}

fn edit(text: &str) -> Action {
    Action::Edit(Edit { content: Some(document(text).content), ..Edit::default() })
}

pub(crate) async fn pushed(site: &Site, key: &str, op: &Op) -> Answer {
    let push = serde_json::to_value(Push { epoch: 1, ops: vec![op.clone().into()] }).unwrap();
    let answers: Pushed = serde_json::from_value(Site::ok(site.post(key, "/v1/sync/push", &push).await).await).unwrap();
    answers.answers.into_iter().next().unwrap()
}

fn text(base_version: &BaseVersion) -> &str {
    base_version.row.state.live().map_or("", |document| document.content.as_str())
}

#[test]
fn a_retry_is_a_replay_and_a_conflict_keeps_both_texts() {
    with_site(|site| async move {
        let key = site.user("ada").await;
        let memory = id();
        let made = op(memory, 0, Action::Create(document("first")));
        for _ in 0..10 {
            let answer = pushed(&site, &key, &made).await;
            assert_eq!((answer.refused, answer.row.unwrap().row.rev), (None, 1));
        }
        let mut other = made.clone();
        other.action = Action::Create(document("not the same"));
        assert_eq!(pushed(&site, &key, &other).await.refused, Some(Refusal::OpReused));

        let one = pushed(&site, &key, &op(memory, 1, edit("from one machine"))).await;
        assert_eq!(one.row.unwrap().row.rev, 2);
        let late = op(memory, 1, edit("from the other machine"));
        for _ in 0..2 {
            let two = pushed(&site, &key, &late).await;
            assert_eq!(text(&two.row.unwrap()), "from one machine");
            let copy = two.copy.unwrap();
            assert_eq!(text(&copy), "from the other machine");
            assert_eq!(copy.row.state.live().unwrap().details.conflict_of, Some(memory));
        }
        let page: Page =
            serde_json::from_value(Site::ok(site.get(&key, "/v1/sync/changes?epoch=1").await).await).unwrap();
        assert_eq!(page.news.len(), 2, "{page:?}");

        // What was removed for good stays removed, and its text is nowhere.
        pushed(&site, &key, &op(memory, 2, Action::Purge)).await;
        let again = pushed(&site, &key, &op(memory, 0, Action::Create(document("first")))).await;
        assert!(again.refused.is_some());
        let snapshot: Snapshot =
            serde_json::from_value(Site::ok(site.get(&key, "/v1/sync/snapshot").await).await).unwrap();
        assert!(snapshot.rows.iter().any(|row| row.row.memory == memory && row.row.state == State::Purged));
        for (path, status) in [
            ("/v1/sync/changes?epoch=7", StatusCode::CONFLICT),
            ("/v1/sync/changes?epoch=1&after=999", StatusCode::CONFLICT),
            ("/v1/sync/changes?epoch=one", StatusCode::UNPROCESSABLE_ENTITY),
            ("/v1/sync/changes?epoch=1&added_later=2026", StatusCode::OK),
        ] {
            assert_eq!(site.get(&key, path).await.status(), status, "{path}");
        }
    });
}

#[test]
fn a_reader_misses_nothing_of_six_writers() {
    with_site(six_writers);
}

/// Reads while six write.
pub(crate) async fn six_writers(site: Site) {
    const WRITES: usize = 40;
    let key = site.user("ada").await;
    let site = std::sync::Arc::new(site);
    let writers: Vec<_> = (0..6)
        .map(|writer| {
            let (site, key) = (site.clone(), key.clone());
            tokio::spawn(async move {
                for number in 0..WRITES {
                    let made = op(id(), 0, Action::Create(document(&format!("{writer} {number}"))));
                    assert_eq!(pushed(&site, &key, &made).await.refused, None);
                }
            })
        })
        .collect();
    let (mut cursor, mut seen) = (0, BTreeMap::new());
    loop {
        let is_over = writers.iter().all(tokio::task::JoinHandle::is_finished);
        let path = format!("/v1/sync/changes?epoch=1&after={cursor}&limit=7");
        let page: Page = serde_json::from_value(Site::ok(site.get(&key, &path).await).await).unwrap();
        for News { memory, arrival } in &page.news {
            assert!(arrival.seq() > cursor, "in order");
            cursor = arrival.seq();
            seen.insert(*memory, arrival.seq());
        }
        if is_over && !page.more {
            break;
        }
    }
    for writer in writers {
        writer.await.unwrap();
    }
    assert_eq!((seen.len(), cursor), (6 * WRITES, 6 * WRITES as u64));
}

/// A machine as the simulator has it, with the real server behind it.
struct Machine {
    rows: BTreeMap<MemoryUuid, Local>,
    cursor: u64,
}

impl Machine {
    fn carry_out(&mut self, memory: MemoryUuid, settled: Settled) {
        if !settled.stays {
            self.rows.remove(&memory);
        }
        for (memory, document) in settled.kept {
            self.rows.entry(memory).or_insert_with(|| Local::new(memory, document));
        }
    }

    async fn push(&mut self, site: &Site, key: &str) -> bool {
        let dirty: Vec<MemoryUuid> =
            self.rows.iter().filter(|(_, local)| !local.is_clean()).map(|(id, _)| *id).collect();
        let Some(memory) = fastrand::choice(dirty) else { return false };
        let at = Timestamp::from_micros(1_795_000_000_000_000);
        let op = self.rows.get_mut(&memory).and_then(|local| local.op(id(), at)).unwrap();
        // An answer that is lost, and a request that arrives twice.
        if fastrand::u8(..3) == 0 {
            pushed(site, key, &op).await;
            return true;
        }
        let answer = pushed(site, key, &op).await;
        let settled = self.rows.get_mut(&memory).unwrap().answer(op.op_id, answer.refused, answer.row, &mut id);
        self.carry_out(memory, settled);
        if let Some(copy) = answer.copy {
            self.take(News { memory: copy.row.memory, arrival: tessera_engine::sync::Arrival::Row(Box::new(copy)) });
        }
        true
    }

    async fn pull(&mut self, site: &Site, key: &str) -> bool {
        let path = format!("/v1/sync/changes?epoch=1&after={}&limit=3", self.cursor);
        let page: Page = serde_json::from_value(Site::ok(site.get(key, &path).await).await).unwrap();
        let is_news = !page.news.is_empty();
        page.news.into_iter().for_each(|news| self.take(news));
        self.cursor = page.next;
        is_news
    }

    fn take(&mut self, News { memory, arrival }: News) {
        match (self.rows.get_mut(&memory), arrival) {
            (Some(local), arrival) => {
                let settled = local.arrive(arrival, &mut id);
                self.carry_out(memory, settled);
            }
            (None, tessera_engine::sync::Arrival::Row(base_version)) => {
                self.rows.insert(memory, Local::received(*base_version));
            }
            (None, tessera_engine::sync::Arrival::Gone { .. }) => {}
        }
    }

    fn shown(&self) -> BTreeMap<MemoryUuid, String> {
        let shown = self.rows.iter().filter_map(|(memory, local)| Some((*memory, local.state.live()?)));
        shown.map(|(memory, document)| (memory, document.content.as_str().to_owned())).collect()
    }
}

#[test]
fn two_machines_converge_through_the_real_server() {
    with_site(converge);
}

/// Two machines change what they like, until nobody has anything to say.
pub(crate) async fn converge(site: Site) {
    let key = site.user("ada").await;
    let mut machines = [Machine { rows: BTreeMap::new(), cursor: 0 }, Machine { rows: BTreeMap::new(), cursor: 0 }];
    for step in 0..200 {
        let machine = &mut machines[fastrand::usize(..2)];
        let live: Vec<MemoryUuid> = machine.shown().into_keys().collect();
        match (fastrand::u8(..10), fastrand::choice(live)) {
            (0..3, _) => {
                let memory = id();
                machine.rows.insert(memory, Local::new(memory, document(&format!("made in step {step}"))));
            }
            (3..6, Some(memory)) => {
                machine.rows.get_mut(&memory).unwrap().state = State::Live(document(&format!("edited in step {step}")));
            }
            (6, Some(memory)) => {
                let local = machine.rows.get_mut(&memory).unwrap();
                local.state = State::Deleted(local.state.document().unwrap().clone());
            }
            (7 | 8, _) => drop(machine.push(&site, &key).await),
            _ => drop(machine.pull(&site, &key).await),
        }
    }
    let mut is_quiet = false;
    for _ in 0..2_000 {
        if is_quiet {
            break;
        }
        is_quiet = true;
        for machine in &mut machines {
            let (sent, got) = (machine.push(&site, &key).await, machine.pull(&site, &key).await);
            is_quiet &= !sent && !got;
        }
    }
    assert!(is_quiet, "does not come to rest");
    assert_eq!(machines[0].shown(), machines[1].shown());
    let snapshot: Snapshot = serde_json::from_value(Site::ok(site.get(&key, "/v1/sync/snapshot").await).await).unwrap();
    let there: BTreeMap<MemoryUuid, String> = snapshot
        .rows
        .iter()
        .filter(|row| row.row.state.live().is_some())
        .map(|row| (row.row.memory, text(row).to_owned()))
        .collect();
    assert!(there.len() > 10 && there == machines[0].shown());
}

#[test]
fn a_file_is_one_memory_with_its_path_and_what_is_put_there_reaches_machines() {
    with_site(|site| async move {
        let key = site.user("ada").await;
        let (memory, note) = (id(), "# Staging\n\n- [port] staging listens on 5433\n- [host] it runs on birch\n");
        let mut file = document(note);
        file.details.file = Some("/memories/staging.md".parse().unwrap());
        pushed(&site, &key, &op(memory, 0, Action::Create(file.clone()))).await;
        let path = format!("/api/memories/{memory}");
        let shown = Site::ok(site.get(&key, &path).await).await;
        assert_eq!((&shown["file"], &shown["content"]), (&"/memories/staging.md".into(), &note.into()), "{shown}");
        let question = serde_json::json!({ "context": "which port does staging listen on?", "max_tokens": 500 });
        let answer = Site::ok(site.post(&key, "/api/memories/recall", &question).await).await;
        assert!(answer.to_string().contains("5433"), "{answer}");
        let change = serde_json::json!({ "content": note.replace("5433", "6000") });
        Site::ok(site.put(&key, &path, "\"1\"", &change).await).await;
        // A machine that changed another observation meanwhile: both changes stand.
        let mut ours = file.clone();
        ours.content = Content::try_from(note.replace("birch", "oak")).unwrap();
        let answer = pushed(&site, &key, &op(memory, 1, Action::Edit(Edit::between(&file, &ours)))).await;
        let row = answer.row.unwrap();
        assert_eq!(text(&row), note.replace("5433", "6000").replace("birch", "oak"));
        assert_eq!((answer.copy, row.row.state.live().unwrap().details.file.clone()), (None, file.details.file));
    });
}
