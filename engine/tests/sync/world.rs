//! Users, machines, a server and a network that loses, repeats and reorders; and what must hold at the end.

use std::collections::{BTreeMap, BTreeSet};

use tessera_engine::domain::{
    Category, Content, FilePath, Importance, Link, LinkKind, MemoryType, MemoryUuid, Metadata, Origin, Scope, Tag,
    Timestamp,
};
use tessera_engine::sync::{Action, BaseVersion, Checkpoint, Details, Document, Edit, Local, Op, Rights, State};

use crate::flaw::Flaw;
use crate::judge::texts;
use crate::machine::Machine;
use crate::server::{Key, PullReply, PushReply, Server, User};

pub(crate) const USERS: usize = 3;
const MACHINES: [User; 5] = [0, 0, 1, 1, 2];
const STEPS: u64 = 120;
const ROUNDS: usize = 200;

#[derive(Clone)]
enum Message {
    Push { machine: usize, epoch: u64, known: Option<Checkpoint>, op: Box<Op> },
    Pushed { machine: usize, epoch: u64, reply: PushReply },
    Pull { machine: usize, epoch: u64, known: Option<Checkpoint>, after: u64 },
    Pulled { machine: usize, epoch: u64, reply: PullReply },
}

/// Where a text was written.
pub(crate) struct Written {
    pub(crate) memory: MemoryUuid,
    pub(crate) by: User,
    pub(crate) is_superseded: bool,
}

pub(crate) struct World {
    random: fastrand::Rng,
    /// For what stands beside texts: the orders of events are those without it.
    beside_random: fastrand::Rng,
    step: u64,
    pub(crate) server: Server,
    backup: Server,
    pub(crate) machines: Vec<Machine>,
    network: Vec<Message>,
    pub(crate) written: BTreeMap<String, Written>,
    pub(crate) purged: BTreeSet<MemoryUuid>,
    /// Memories that were made as files.
    pub(crate) files: BTreeMap<MemoryUuid, FilePath>,
    /// Memories that were given metadata; none is taken away.
    pub(crate) beside: BTreeSet<MemoryUuid>,
    /// Expiries that owners set.
    pub(crate) expiries: BTreeSet<Timestamp>,
    /// Whether the server is taken back to backups.
    pub(crate) is_restored: bool,
    /// Memories whose changes the server fails to process.
    failing: BTreeSet<MemoryUuid>,
    /// Whether a proxy answers some requests in the server's place.
    has_proxy: bool,
    /// Whether others attack often: ids are taken rarely otherwise.
    is_hostile: bool,
}

impl World {
    /// Runs one schedule.
    ///
    /// # Errors
    /// The promise that was broken.
    pub(crate) fn run(seed: u64, flaw: Option<Flaw>) -> Result<(), String> {
        let mut random = fastrand::Rng::with_seed(seed);
        let is_restored = random.u8(..4) == 0;
        let machines = if is_restored && random.bool() { &[0, 0, 0][..] } else { &MACHINES[..] };
        let machines: Vec<Machine> = machines.iter().map(|user| Machine::new(*user, flaw, random.u64(..))).collect();
        let mut machines = machines;
        if random.u8(..3) == 0 {
            machines[0].is_older = true;
        }
        let server = Server::new(flaw);
        let mut world = Self {
            random,
            beside_random: fastrand::Rng::with_seed(!seed),
            step: 0,
            backup: server.clone(),
            server,
            machines,
            network: Vec::new(),
            written: BTreeMap::new(),
            purged: BTreeSet::new(),
            files: BTreeMap::new(),
            beside: BTreeSet::new(),
            expiries: BTreeSet::new(),
            is_restored,
            failing: BTreeSet::new(),
            has_proxy: true,
            is_hostile: flaw == Some(Flaw::WhoeverComesLastTakesThePlace),
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
        if self.beside_random.u8(..60) == 0 {
            let rows = self.machines[machine].rows.iter();
            let waiting: Vec<MemoryUuid> = rows.filter(|(_, local)| !local.is_clean()).map(|(id, _)| *id).collect();
            self.failing.extend(self.beside_random.choice(waiting));
        }
        match self.random.u32(..100) {
            0..14 => self.store(machine),
            14..28 => self.edit(machine),
            28..31 => self.delete(machine, false),
            31..32 => self.delete(machine, true),
            32..36 => self.tag(machine),
            36..39 if !self.is_hostile => self.details(machine),
            39..40 if !self.is_hostile => self.link(machine),
            40..45 => self.share(),
            36..48 => self.attack(),
            48..50 => self.machines[machine].show(self.step),
            50..64 => self.send_push(machine),
            64..78 => self.send_pull(machine),
            78..96 => self.deliver(),
            96..98 => self.server.commit_late(),
            98 if self.is_restored => self.backup = self.server.clone(),
            99 if self.is_restored && self.random.bool() => {
                let (backup, is_announced) = (self.backup.clone(), self.random.bool());
                self.server.restore(&backup, is_announced, self.random.i64(..));
                if self.random.u8(..4) == 0 {
                    // Said late, or once more.
                    self.server.epoch += 1;
                }
            }
            _ => self.network.clear(),
        }
    }

    fn text(&mut self, memory: MemoryUuid, by: User) -> String {
        let text = format!("text {}", self.written.len());
        self.written.insert(text.clone(), Written { memory, by, is_superseded: false });
        text
    }

    fn supersede(&mut self, said: &str) {
        for text in texts(said) {
            if let Some(written) = self.written.get_mut(text) {
                written.is_superseded = true;
            }
        }
    }

    fn any_shown(&mut self, machine: usize) -> Option<(MemoryUuid, Document)> {
        let shown: Vec<_> = self.machines[machine].shown().into_iter().collect();
        self.random.choice(shown)
    }

    fn store(&mut self, machine: usize) {
        let memory = self.machines[machine].id();
        let user = self.machines[machine].user;
        let expires = (self.random.u8(..3) == 0)
            .then(|| Timestamp::from_micros(1_795_000_000_000_000 + self.random.i64(..1_000)));
        self.expiries.extend(expires);
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
            expires,
            owner_trust: None,
            conflict_of: None,
            metadata: self.new_metadata(machine, memory),
            file: self.new_file(machine, memory),
        };
        let mut text = self.text(memory, user);
        if details.file.is_some() {
            text = format!("- {text}\n- {}\n", self.text(memory, user));
        }
        let content = Content::try_from(text).unwrap();
        let document = Document { content, tags: BTreeSet::new(), links: BTreeSet::new(), details };
        self.machines[machine].write(memory, State::Live(document));
    }

    /// Some memories are given something that a client keeps beside them.
    fn new_metadata(&mut self, machine: usize, memory: MemoryUuid) -> Option<Metadata> {
        let is_given = self.beside_random.u8(..3) == 0 && !self.machines[machine].is_older;
        let metadata = is_given.then(|| format!("{{\"n\":{}}}", self.step).parse().unwrap());
        // Beside another user's memory nothing is kept.
        let local = self.machines[machine].rows.get(&memory);
        let is_own = local.and_then(Local::base_version).is_none_or(BaseVersion::is_own);
        self.beside.extend((is_given && is_own).then_some(memory));
        metadata
    }

    /// Some memories are files.
    fn new_file(&mut self, machine: usize, memory: MemoryUuid) -> Option<FilePath> {
        let is_file = self.random.u8(..5) < 2 && !self.machines[machine].is_older;
        let path = is_file.then(|| FilePath::new("memories", &format!("{memory}.md")).unwrap());
        self.files.extend(path.clone().map(|path| (memory, path)));
        path
    }

    fn edit(&mut self, machine: usize) {
        let Some((memory, mut document)) = self.any_shown(machine) else { return };
        let text = self.text(memory, self.machines[machine].user);
        let said = document.content.as_str().to_owned();
        let text = if said.starts_with("- ") {
            self.edited_lines(&said, &text)
        } else {
            self.supersede(&said);
            text
        };
        document.content = Content::try_from(text).unwrap();
        self.machines[machine].write(memory, State::Live(document));
    }

    /// The lines of a file with one that is new, and at times without one that was there.
    fn edited_lines(&mut self, said: &str, text: &str) -> String {
        let mut lines: Vec<String> = said.lines().map(str::to_owned).collect();
        let at = self.random.usize(..lines.len());
        if self.random.bool() {
            lines.insert(at, format!("- {text}"));
        } else {
            let before = std::mem::replace(&mut lines[at], format!("- {text}"));
            self.supersede(&before);
        }
        if lines.len() > 2 && self.random.u8(..4) == 0 {
            let at = self.random.usize(..lines.len());
            let before = lines.remove(at);
            self.supersede(&before);
        }
        lines.join("\n") + "\n"
    }

    fn delete(&mut self, machine: usize, for_good: bool) {
        let Some((memory, document)) = self.any_shown(machine) else { return };
        let is_own = self.machines[machine].rows[&memory].base_version().is_none_or(BaseVersion::is_own);
        if !is_own {
            // Somebody else's: a machine does not offer it.
            return;
        }
        self.supersede(document.content.as_str());
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
        if let Some(metadata) = self.new_metadata(machine, memory) {
            document.details.metadata = Some(metadata);
        }
        self.machines[machine].write(memory, State::Live(document));
    }

    fn share(&mut self) {
        let rights = [Some(Rights::Read), Some(Rights::Write), None][self.random.usize(..3)];
        let (owner, with) = (self.random.usize(..USERS), self.random.usize(..USERS));
        if self.random.bool() {
            let tag = self.any_tag();
            if owner != with {
                self.server.share_tag(owner, &tag, with, rights);
            }
            return;
        }
        let owned: Vec<Key> = self.server.rows.keys().filter(|(by, _)| *by == owner).copied().collect();
        if let Some(key) = self.random.choice(owned) {
            self.server.share(key, with, rights);
        }
    }

    /// A user who keeps to no rules sends a server what no client of ours would.
    fn attack(&mut self) {
        let attacker = self.random.usize(..USERS);
        let others: Vec<Key> = self.server.rows.keys().filter(|(owner, _)| *owner != attacker).copied().collect();
        let Some(key) = self.random.choice(others) else { return };
        let Some(document) = self.server.rows[&key].state.document().cloned() else { return };
        let details = Details {
            category: Category::try_from(format!("attacked by {attacker}")).unwrap(),
            expires: Some(Timestamp::from_micros(1)),
            conflict_of: Some(key.1),
            ..document.details.clone()
        };
        let is_deleted = matches!(self.server.rows[&key].state, State::Deleted(_));
        let text = |what: &str| Content::try_from(format!("{what} by {attacker} {}", self.step)).unwrap();
        let action = match self.random.u8(..if self.is_hostile { 8 } else { 3 }) {
            0 => Action::Edit(Edit { details: Some(details), tags_removed: document.tags.clone(), ..Edit::default() }),
            1 if is_deleted => Action::Edit(Edit { content: Some(text("revived")), ..Edit::default() }),
            1 => Action::Delete,
            _ => Action::Create(Document { content: text("taken"), ..document }),
        };
        let is_creation = matches!(action, Action::Create(_));
        if is_creation && (self.server.rights(attacker, key) >= Rights::Write || !self.server.told(attacker, key)) {
            // That would be a change of the text, as whoever may write it makes; and an id is learned from a share.
            return;
        }
        let op = Op {
            op_id: MemoryUuid::from_key(&format!("attack {}", self.step)),
            memory: key.1,
            base_rev: u64::MAX,
            at: Timestamp::from_micros(i64::MAX),
            action,
            told_again: false,
        };
        let epoch = self.server.epoch;
        self.server.push(attacker, epoch, None, op);
        if is_creation {
            for with in (0..USERS).filter(|user| *user != key.0) {
                self.server.share((attacker, key.1), with, Some(Rights::Write));
            }
        }
    }

    fn send_push(&mut self, machine: usize) {
        let sender = &mut self.machines[machine];
        if sender.must_refetch {
            return self.refetch(machine);
        }
        let (epoch, known) = (sender.epoch, sender.known());
        if let Some(op) = sender.next_op(self.step) {
            self.network.push(Message::Push { machine, epoch, known, op: Box::new(op) });
        }
    }

    fn send_pull(&mut self, machine: usize) {
        let sender = &self.machines[machine];
        if sender.must_refetch {
            return self.refetch(machine);
        }
        let (epoch, known, after) = (sender.epoch, sender.known(), sender.cursor);
        self.network.push(Message::Pull { machine, epoch, known, after });
    }

    fn refetch(&mut self, machine: usize) {
        let asking = &mut self.machines[machine];
        let snapshot = self.server.snapshot(asking.user, &asking.checkpoints);
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
                self.short_id(message);
            }
            _ => self.short_id(message),
        }
    }

    fn short_id(&mut self, message: Message) {
        match message {
            Message::Push { machine, epoch, op, .. } if self.is_not_now(op.memory) => {
                let reply = PushReply::NotNow(op.memory);
                self.network.push(Message::Pushed { machine, epoch, reply });
            }
            Message::Push { machine, epoch, known, op } => {
                let reply = self.server.push(self.machines[machine].user, epoch, known, *op);
                self.network.push(Message::Pushed { machine, epoch, reply });
            }
            Message::Pull { machine, epoch, known, after } => {
                let reply = self.server.pull(self.machines[machine].user, epoch, known, after);
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

    fn is_not_now(&mut self, memory: MemoryUuid) -> bool {
        self.failing.contains(&memory) || self.has_proxy && self.beside_random.u8(..20) == 0
    }

    /// The network is fair again: everything is sent until nothing is left to send. At first the server still fails on some
    /// changes, which must not keep the others.
    fn quiesce(&mut self) -> Result<(), String> {
        self.network.clear();
        self.has_proxy = false;
        self.send_all().map_err(|error| format!("{error} beside changes that fail"))?;
        self.failing.clear();
        self.send_all()
    }

    fn send_all(&mut self) -> Result<(), String> {
        for _ in 0..ROUNDS {
            self.server.commit_late();
            for machine in 0..self.machines.len() {
                self.step += 1;
                self.send_push(machine);
                self.send_pull(machine);
                while let Some(message) = self.network.pop() {
                    self.short_id(message);
                }
            }
            let (server, failing) = (&self.server, &self.failing);
            let is_done = |machine: &Machine| {
                machine.rows.iter().all(|(memory, local)| local.is_clean() || failing.contains(memory))
                    && machine.epoch == server.epoch
                    && machine.cursor == server.head(machine.user)
            };
            if self.machines.iter().all(is_done) {
                return Ok(());
            }
        }
        Err("does not come to rest".into())
    }
}
