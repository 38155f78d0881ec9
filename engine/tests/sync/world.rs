//! Users, machines, a server and a network that loses, repeats and reorders; and what must hold at the end.

use std::collections::{BTreeMap, BTreeSet};

use tessera_engine::domain::{Category, Content, Importance, Link, LinkKind, MemoryId, MemoryType, Origin, Scope, Tag};
use tessera_engine::sync::{Details, Document, Op, Rights, State};

use crate::flaw::Flaw;
use crate::machine::Machine;
use crate::server::{PullReply, PushReply, Server, User};

pub(crate) const USERS: usize = 3;
const MACHINES: [User; 5] = [0, 0, 1, 1, 2];
const STEPS: u64 = 120;
const ROUNDS: usize = 200;

#[derive(Clone)]
enum Message {
    Push { machine: usize, epoch: u64, op: Box<Op> },
    Pushed { machine: usize, epoch: u64, reply: PushReply },
    Pull { machine: usize, epoch: u64, after: u64 },
    Pulled { machine: usize, epoch: u64, reply: PullReply },
}

/// Where a text was written.
struct Written {
    memory: MemoryId,
    is_superseded: bool,
}

pub(crate) struct World {
    random: fastrand::Rng,
    step: u64,
    server: Server,
    backup: Server,
    machines: Vec<Machine>,
    network: Vec<Message>,
    written: BTreeMap<String, Written>,
    purged: BTreeSet<MemoryId>,
    /// A server that loses what it acknowledged may lose what its author may no longer see: a schedule
    /// has restores, or several users.
    is_restored: bool,
}

impl World {
    /// Runs one schedule.
    ///
    /// # Errors
    /// The promise that was broken.
    pub(crate) fn run(seed: u64, flaw: Option<Flaw>) -> Result<(), String> {
        let mut random = fastrand::Rng::with_seed(seed);
        let is_restored = random.u8(..4) == 0;
        let machines = if is_restored { &[0, 0, 0][..] } else { &MACHINES[..] };
        let machines = machines.iter().map(|user| Machine::new(*user, flaw, random.u64(..))).collect();
        let server = Server::new(flaw);
        let mut world = Self {
            random,
            step: 0,
            backup: server.clone(),
            server,
            machines,
            network: Vec::new(),
            written: BTreeMap::new(),
            purged: BTreeSet::new(),
            is_restored,
        };
        for _ in 0..STEPS {
            world.step += 1;
            world.act();
        }
        world.quiesce()?;
        world.judge()
    }

    fn any_machine(&mut self) -> usize {
        self.random.usize(..self.machines.len())
    }

    fn act(&mut self) {
        let machine = self.any_machine();
        match self.random.u32(..100) {
            0..14 => self.store(machine),
            14..28 => self.edit(machine),
            28..31 => self.delete(machine, false),
            31..32 => self.delete(machine, true),
            32..36 => self.tag(machine),
            36..39 => self.details(machine),
            39..40 => self.link(machine),
            40..46 => self.share(),
            46..64 => self.send_push(machine),
            64..78 => self.send_pull(machine),
            78..96 => self.deliver(),
            96..98 => self.server.commit_late(),
            98 if self.is_restored => self.backup = self.server.clone(),
            99 if self.is_restored && self.random.bool() => {
                let backup = self.backup.clone();
                self.server.restore(&backup);
            }
            _ => self.network.clear(),
        }
    }

    fn text(&mut self, memory: MemoryId) -> Content {
        let text = format!("text {}", self.written.len());
        self.written.insert(text.clone(), Written { memory, is_superseded: false });
        Content::try_from(text).unwrap()
    }

    fn supersede(&mut self, text: &Content) {
        if let Some(written) = self.written.get_mut(text.as_str()) {
            written.is_superseded = true;
        }
    }

    fn any_shown(&mut self, machine: usize) -> Option<(MemoryId, Document)> {
        let shown: Vec<_> = self.machines[machine].shown().into_iter().collect();
        self.random.choice(shown)
    }

    fn store(&mut self, machine: usize) {
        let memory = self.machines[machine].id();
        let details = Details {
            category: Category::try_from("facts".to_owned()).unwrap(),
            kind: MemoryType::Fact,
            importance: Importance::from_percent(50),
            keywords: Vec::new(),
            entities: Vec::new(),
            origin: Origin::Agent,
            session: None,
            scope: Scope::Global,
            created: self.machines[machine].now(self.step),
            expires: None,
            vouched: None,
            conflict_of: None,
        };
        let document = Document { content: self.text(memory), tags: BTreeSet::new(), links: BTreeSet::new(), details };
        self.machines[machine].write(memory, State::Live(document));
    }

    fn edit(&mut self, machine: usize) {
        let Some((memory, mut document)) = self.any_shown(machine) else { return };
        self.supersede(&document.content.clone());
        document.content = self.text(memory);
        self.machines[machine].write(memory, State::Live(document));
    }

    fn delete(&mut self, machine: usize, for_good: bool) {
        let Some((memory, document)) = self.any_shown(machine) else { return };
        let is_own = self.machines[machine].rows[&memory].shadow().is_none_or(tessera_engine::sync::Shadow::is_own);
        if !is_own {
            // Somebody else's: a machine does not offer it.
            return;
        }
        self.supersede(&document.content.clone());
        if for_good {
            self.purged.insert(memory);
            self.machines[machine].write(memory, State::Purged);
        } else {
            self.machines[machine].write(memory, State::Deleted(document));
        }
    }

    fn any_tag(&mut self) -> Tag {
        Tag::try_from(format!("tag{}", self.random.u8(..3))).unwrap()
    }

    fn tag(&mut self, machine: usize) {
        let Some((memory, mut document)) = self.any_shown(machine) else { return };
        let tag = self.any_tag();
        if !document.tags.remove(&tag) {
            document.tags.insert(tag);
        }
        self.machines[machine].write(memory, State::Live(document));
    }

    fn link(&mut self, machine: usize) {
        let Some((memory, mut document)) = self.any_shown(machine) else { return };
        let Some((to, _)) = self.any_shown(machine) else { return };
        let link = Link { kind: LinkKind::SeeAlso, to };
        if !document.links.remove(&link) {
            document.links.insert(link);
        }
        self.machines[machine].write(memory, State::Live(document));
    }

    fn details(&mut self, machine: usize) {
        let Some((memory, mut document)) = self.any_shown(machine) else { return };
        document.details.importance = Importance::from_percent(self.random.u8(..=100));
        self.machines[machine].write(memory, State::Live(document));
    }

    fn share(&mut self) {
        if self.is_restored {
            return;
        }
        let rights = [Some(Rights::Read), Some(Rights::Write), None][self.random.usize(..3)];
        let (owner, with) = (self.random.usize(..USERS), self.random.usize(..USERS));
        if self.random.bool() {
            let tag = self.any_tag();
            if owner != with {
                self.server.share_tag(owner, &tag, with, rights);
            }
            return;
        }
        let owned = self.server.rows.iter().filter(|(_, (by, _))| *by == owner).map(|(memory, _)| *memory);
        let owned: Vec<MemoryId> = owned.collect();
        if let Some(memory) = self.random.choice(owned) {
            self.server.share(memory, with, rights);
        }
    }

    fn send_push(&mut self, machine: usize) {
        let sender = &mut self.machines[machine];
        if sender.must_refetch {
            return self.refetch(machine);
        }
        let epoch = sender.epoch;
        if let Some(op) = sender.next_op(self.step) {
            self.network.push(Message::Push { machine, epoch, op: Box::new(op) });
        }
    }

    fn send_pull(&mut self, machine: usize) {
        let sender = &self.machines[machine];
        if sender.must_refetch {
            return self.refetch(machine);
        }
        let (epoch, after) = (sender.epoch, sender.cursor);
        self.network.push(Message::Pull { machine, epoch, after });
    }

    fn refetch(&mut self, machine: usize) {
        let asking = &mut self.machines[machine];
        let snapshot = self.server.snapshot(asking.user, asking.epoch);
        asking.refetch(snapshot);
    }

    /// Lets a message through, or loses it, or lets it through and keeps it for once more.
    fn deliver(&mut self) {
        if self.network.is_empty() {
            return;
        }
        let at = self.random.usize(..self.network.len());
        let message = self.network.swap_remove(at);
        match self.random.u8(..10) {
            0 => {}
            1 => {
                let again = message.clone();
                self.network.push(again);
                self.handle(message);
            }
            _ => self.handle(message),
        }
    }

    fn handle(&mut self, message: Message) {
        match message {
            Message::Push { machine, epoch, op } => {
                let reply = self.server.push(self.machines[machine].user, epoch, *op);
                self.network.push(Message::Pushed { machine, epoch, reply });
            }
            Message::Pull { machine, epoch, after } => {
                let reply = self.server.pull(self.machines[machine].user, epoch, after);
                self.network.push(Message::Pulled { machine, epoch, reply });
            }
            // A connection belongs to an epoch: an answer from before a refetch finds nobody waiting.
            Message::Pushed { machine, epoch, reply } if self.machines[machine].epoch == epoch => {
                self.machines[machine].pushed(reply);
            }
            Message::Pulled { machine, epoch, reply } if self.machines[machine].epoch == epoch => {
                self.machines[machine].pulled(reply);
            }
            Message::Pushed { .. } | Message::Pulled { .. } => {}
        }
    }

    /// The network is fair again: everything is sent until nothing is left to send.
    fn quiesce(&mut self) -> Result<(), String> {
        self.network.clear();
        for _ in 0..ROUNDS {
            self.server.commit_late();
            for machine in 0..self.machines.len() {
                self.step += 1;
                self.send_push(machine);
                self.send_pull(machine);
                while let Some(message) = self.network.pop() {
                    self.handle(message);
                }
            }
            let server = &self.server;
            let is_done = |machine: &Machine| {
                machine.rows.values().all(tessera_engine::sync::Local::is_clean)
                    && machine.epoch == server.epoch
                    && machine.cursor == server.head(machine.user)
            };
            if self.machines.iter().all(is_done) {
                return Ok(());
            }
        }
        Err("does not come to rest".into())
    }

    fn judge(&self) -> Result<(), String> {
        for (number, machine) in self.machines.iter().enumerate() {
            let rows = self.server.snapshot(machine.user, self.server.epoch).rows;
            let seen: BTreeMap<MemoryId, Document> =
                rows.into_iter().filter_map(|row| Some((row.row.memory, row.row.state.live()?.clone()))).collect();
            let shown = machine.shown();
            if seen != shown {
                let only = |a: &BTreeMap<MemoryId, Document>, b: &BTreeMap<MemoryId, Document>| {
                    a.iter().filter(|(id, d)| b.get(id) != Some(d)).map(|(_, d)| format!("{d:?}")).collect::<Vec<_>>()
                };
                return Err(format!(
                    "machine {number} differs: server alone {:?}, machine alone {:?}",
                    only(&seen, &shown),
                    only(&shown, &seen)
                ));
            }
        }
        let mut there: BTreeMap<&str, usize> = BTreeMap::new();
        for (_, row) in self.server.rows.values() {
            if let Some(document) = row.state.live() {
                *there.entry(document.content.as_str()).or_default() += 1;
            }
        }
        for (text, written) in &self.written {
            let count = there.get(text.as_str()).copied().unwrap_or(0);
            if count > 1 {
                return Err(format!("{text} is there {count} times"));
            }
            if count == 0 && !written.is_superseded && !self.purged.contains(&written.memory) {
                return Err(format!("{text} of {} is lost", written.memory));
            }
        }
        Ok(())
    }
}
