//! The same with real stores: what the simulated machines keep in maps, these keep in SQLite.

use std::collections::BTreeMap;
use std::sync::Arc;

use tempfile::TempDir;
use tessera_engine::domain::{
    Draft, FixedClock, Importance, Link, LinkKind, Memory, MemoryRef, MemoryUuid, Patch, RecallRequest, Tag, Timestamp,
    Trust,
};
use tessera_engine::score::Weights;
use tessera_engine::store::{Actor, Erase, ListRequest, SecretRules, StoreConfig, StoreError, Upload, Usage, Whole};
use tessera_engine::sync::{Answer, News, Page, Pushed, Rights};
use tessera_engine::{Store, sync::BaseVersion};

use crate::server::{Key, PullReply, PushReply, Server, Snapshot, User, name};

struct Machine {
    user: User,
    store: Store,
    config: StoreConfig,
    _home: TempDir,
}

impl Machine {
    fn new(user: User) -> Self {
        let home = tempfile::tempdir().unwrap();
        let clock = Arc::new(FixedClock(Timestamp::from_micros(1_795_000_000_000_000)));
        let config = StoreConfig {
            home: home.path().join("t").into(),
            clock,
            weights: Weights::default(),
            usage: Usage::Serve,
            embedding: true,
            secrets: SecretRules::default(),
        };
        Self { user, store: Store::open(config.clone()).unwrap(), config, _home: home }
    }

    fn live(&self) -> Vec<Memory> {
        self.store.list(&ListRequest { limit: 200, ..ListRequest::default() }).unwrap().memories
    }

    /// Sends everything. Every third answer is lost on its way.
    fn push(&mut self, server: &mut Server, random: &mut fastrand::Rng) {
        let Some(state) = self.store.server().unwrap().filter(|state| state.is_whole) else { return };
        let ops = self.store.ops(3).unwrap();
        assert_eq!(ops, self.store.ops(3).unwrap(), "what was sent is frozen");
        for op in ops {
            let known = self.store.checkpoints().unwrap().first().copied();
            let PushReply::Answer(answer, checkpoint) = server.push(self.user, state.epoch, known, op) else {
                return self.store.must_begin_anew().unwrap();
            };
            let crate::server::Answer { memory, op_id, refused, row, copy } = *answer;
            let pushed = Pushed { answers: vec![Answer { memory, op_id, refused, row, copy }], checkpoint };
            if random.u8(..3) > 0 {
                self.store.answered(state.epoch, &pushed).unwrap();
            }
        }
    }

    fn pull(&mut self, server: &Server) {
        let state = self.store.server().unwrap().unwrap();
        if !state.is_whole {
            let Snapshot { epoch, restored_seq, head, checkpoint, rows } =
                server.snapshot(self.user, &self.store.checkpoints().unwrap());
            return self
                .store
                .begin_anew(&Whole { epoch, restored_seq, head, checkpoint, rows, embeddings: BTreeMap::new() })
                .unwrap();
        }
        let known = self.store.checkpoints().unwrap().first().copied();
        match server.pull(self.user, state.epoch, known, state.cursor) {
            PullReply::MustRefetch => self.store.must_begin_anew().unwrap(),
            PullReply::Page { after, rows, next, checkpoint } => {
                let news = rows.into_iter().map(|(memory, arrival)| News { memory, arrival }).collect();
                let page = Page {
                    news,
                    next,
                    more: false,
                    checkpoint,
                    invitations: None,
                    embeddings: BTreeMap::new(),
                    keeps_secrets: false,
                };
                self.store.arrived(state.epoch, after, &page).unwrap();
                // A page that comes twice is old.
                self.store.arrived(state.epoch, after, &page).unwrap();
            }
        }
    }
}

fn act(machine: &mut Machine, server: &mut Server, random: &mut fastrand::Rng, step: usize) {
    let live = machine.live();
    let store = &mut machine.store;
    let actor = Actor::default();
    // Other users' memories may be refused; their own never.
    let refused = |result: Result<(), StoreError>, memory: &Memory| {
        if let Err(error) = result {
            assert!(matches!(error, StoreError::Conflict { .. }) && memory.share.is_some(), "{error}");
        }
    };
    let Some(memory) = random.choice(&live).filter(|_| random.u8(..3) > 0) else {
        store.remember(Draft::new(format!("memory {step} 国 \u{1f600}"))).unwrap();
        return;
    };
    let reference = MemoryRef::ShortId(memory.short_id);
    match random.u8(..12) {
        0..4 => {
            let patch = Patch { content: Some(format!("text {step}")), ..Patch::default() };
            refused(store.update(reference, &patch, &actor).map(drop), memory);
        }
        4 => refused(store.forget(&[reference], Erase::Soft, &actor).map(drop), memory),
        5 => refused(store.forget(&[reference], Erase::Hard, &actor).map(drop), memory),
        6..8 => {
            let tags = vec![Tag::try_from(format!("tag{}", random.u8(..3))).unwrap()];
            refused(store.update(reference, &Patch { tags: Some(tags), ..Patch::default() }, &actor).map(drop), memory);
        }
        8 => {
            let importance = Some(Importance::from_percent(random.u8(..=100)));
            refused(store.update(reference, &Patch { importance, ..Patch::default() }, &actor).map(drop), memory);
        }
        9 => {
            let to = MemoryRef::ShortId(random.choice(&live).unwrap().short_id);
            let linked = store.link(reference, &LinkKind::Supersedes, to, &actor).map(drop);
            // In a circle, or to itself.
            let _ = linked.map_err(|error| assert!(matches!(error, StoreError::Conflict { .. }), "{error}"));
        }
        10 => {
            let rights = [Some(Rights::Read), Some(Rights::Write), None][random.usize(..3)];
            let tag = Tag::try_from(format!("tag{}", random.u8(..3))).unwrap();
            server.share_tag(machine.user, &tag, 1 - machine.user, rights);
        }
        _ => {
            let rights = [Some(Rights::Read), Some(Rights::Write), None][random.usize(..3)];
            if memory.share.is_none() {
                server.share((machine.user, memory.id), 1 - machine.user, rights);
            }
        }
    }
}

/// What a memory says, wherever it is: text, tags, importance and number of links.
type Said = (String, Vec<Tag>, u8, usize);

fn said(memory: &Memory) -> Said {
    let mut tags = memory.tags.clone();
    tags.sort();
    (memory.content.clone(), tags, memory.importance.percent(), memory.links.len())
}

fn shown(machine: &Machine) -> BTreeMap<MemoryUuid, Said> {
    let whole = |memory: &Memory| machine.store.get(MemoryRef::ShortId(memory.short_id)).unwrap().unwrap();
    machine.live().iter().map(|memory| (memory.id, said(&whole(memory)))).collect()
}

fn held(base_version: BaseVersion) -> Option<(MemoryUuid, Said)> {
    let document = base_version.row.state.live()?;
    let said = (
        document.content.as_str().to_owned(),
        document.tags.iter().cloned().collect(),
        document.details.importance.percent(),
        document.links.len(),
    );
    Some((base_version.row.memory, said))
}

#[test]
fn stores_converge_with_lost_answers_shares_and_conflicts() {
    (0..6).for_each(|seed| converges(seed, false));
}

#[test]
fn stores_converge_with_a_server_that_goes_back_and_says_nothing() {
    (6..12).for_each(|seed| converges(seed, true));
}

fn converges(seed: u64, goes_back: bool) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut server = Server::new(None);
    let mut machines = [0, 0, 1].map(Machine::new);
    for machine in &mut machines {
        machine.store.join("http://server", &name(machine.user), Upload::All).unwrap();
    }
    let mut backup = server.clone();
    for step in 0..60 {
        match random.u8(..20) {
            0 => backup = server.clone(),
            1 if goes_back => server.restore(&backup, false, random.i64(..)),
            _ => {}
        }
        let machine = &mut machines[random.usize(..3)];
        match random.u8(..4) {
            0 => machine.push(&mut server, &mut random),
            1 => machine.pull(&server),
            _ => act(machine, &mut server, &mut random, step),
        }
    }
    for _ in 0..200 {
        machines.iter_mut().for_each(|machine| machine.push(&mut server, &mut random));
        machines.iter_mut().for_each(|machine| machine.pull(&server));
    }
    for machine in &mut machines {
        let rows = server.snapshot(machine.user, &[]).rows;
        let expected: BTreeMap<_, _> = rows.into_iter().filter_map(held).collect();
        assert_eq!(shown(machine), expected, "seed {seed}, a machine of {}", machine.user);
        let status = machine.store.sync_status().unwrap();
        assert_eq!((status.waiting, status.refused), (0, 0), "seed {seed}");
        for memory in machine.live() {
            assert_eq!(memory.share.is_some(), memory.trust == Trust::Foreign);
        }
        let health = Store::examine(machine.config.clone(), false).unwrap();
        assert!(health.is_good(), "seed {seed}: {health:?}");
    }
}

#[test]
fn what_is_kept_here_stays_here_and_leaving_takes_other_users_memories_away() {
    let mut server = Server::new(None);
    let mut random = fastrand::Rng::with_seed(1);
    let [mut mine, mut theirs] = [0, 1].map(Machine::new);
    mine.store.remember(Draft::new("kept on this machine")).unwrap();
    theirs.store.remember(Draft::new("told to the team")).unwrap();
    mine.store.join("http://server", &name(0), Upload::Nothing).unwrap();
    theirs.store.join("http://server", &name(1), Upload::All).unwrap();
    assert!(matches!(mine.store.join("http://other", "0", Upload::All), Err(StoreError::OtherServer { .. })));
    let rounds = |machines: [&mut Machine; 2], server: &mut Server, random: &mut fastrand::Rng| {
        for machine in machines {
            for _ in 0..20 {
                machine.pull(server);
                machine.push(server, random);
            }
        }
    };
    rounds([&mut theirs, &mut mine], &mut server, &mut random);
    let told: Vec<Key> = server.rows.keys().copied().collect();
    assert_eq!(told.len(), 1, "what was here before stays here");
    // A change of a private memory does not tell of it either.
    let patch = Patch { content: Some("still local only".into()), ..Patch::default() };
    mine.store.update(MemoryRef::ShortId(mine.live()[0].short_id), &patch, &Actor::default()).unwrap();
    mine.store.remember(Draft::new("new and told")).unwrap();
    server.share(told[0], 0, Some(Rights::Read));
    rounds([&mut theirs, &mut mine], &mut server, &mut random);
    assert_eq!(server.rows.len(), 2);
    let shared = mine.live().into_iter().find(|memory| memory.share.is_some()).unwrap();
    let refused = mine.store.forget(&[MemoryRef::ShortId(shared.short_id)], Erase::Hard, &Actor::default());
    assert!(matches!(refused, Err(StoreError::Conflict { .. })));
    mine.store.leave().unwrap();
    let left: Vec<String> = mine.live().into_iter().map(|memory| memory.content).collect();
    assert_eq!(left.len(), 2, "{left:?}");
    assert!(!left.iter().any(|text| text == "told to the team"));
    let bytes = std::fs::read(mine.store.path()).unwrap();
    let is_there = bytes.windows(16).any(|window| window == b"told to the team");
    assert!(!is_there, "the text is gone from the file");
}

#[test]
fn a_deletion_that_arrives_lets_an_older_replacement_hold_again() {
    let mut server = Server::new(None);
    let mut random = fastrand::Rng::with_seed(1);
    let mut machines = [0, 0].map(Machine::new);
    for machine in &mut machines {
        machine.store.join("http://server", &name(0), Upload::All).unwrap();
    }
    let rounds = |machines: &mut [Machine; 2], server: &mut Server, random: &mut fastrand::Rng| {
        for _ in 0..2 {
            for machine in &mut *machines {
                for _ in 0..20 {
                    machine.pull(server);
                    machine.push(server, random);
                }
            }
        }
    };
    let old = machines[0].store.remember(Draft::new("the first")).unwrap().memory.id;
    let newer = ["the second", "the third"].map(|text| {
        let links = vec![Link { kind: LinkKind::Supersedes, to: old }];
        let stored = machines[0].store.remember(Draft { links, ..Draft::new(text) }).unwrap();
        rounds(&mut machines, &mut server, &mut random);
        stored.memory.id
    });
    let best = |machine: &mut Machine| {
        let recall = machine.store.recall(&RecallRequest::new("the first")).unwrap();
        recall.details.into_iter().map(|detail| detail.memory.content).collect::<Vec<_>>()
    };
    let [mine, theirs] = &mut machines;
    assert_eq!([best(theirs), best(mine)], [["the third"], ["the third"]]);
    mine.store.forget(&[MemoryRef::Id(newer[1])], Erase::Soft, &Actor::default()).unwrap();
    rounds(&mut machines, &mut server, &mut random);
    for machine in &mut machines {
        assert_eq!(best(machine), ["the second"]);
    }
    machines[0].store.restore(MemoryRef::Id(newer[1]), None, &Actor::default()).unwrap();
    rounds(&mut machines, &mut server, &mut random);
    for machine in &mut machines {
        assert_eq!(best(machine), ["the third"]);
    }
}
