//! The model behind the table: measured costs, assumptions, and the needs that follow from them.

/// The bytes and milliseconds that we measured with ten million memories of 5,500 users, on two Citus machines with a
/// coordinator: docs/SCALING.md, "Ten million memories". All programs and 16 clients ran on one shared computer with
/// two cores, so the times are processor times.
mod measured {
    /// The size in bytes of a memory with its indexes, without its embedding.
    pub(super) const MEMORY: f64 = 798.0;
    /// Its feed row with its indexes.
    pub(super) const FEED: f64 = 269.0;
    /// The size in bytes of the embedding of a one-passage text: see docs/SCALING.md, "Storage growth".
    pub(super) const VECTORS: f64 = 773.0;
    /// The bytes of RAM that a memory takes in an index with embeddings: `tessera_index_bytes`, 10,000 notes of 16
    /// words (docs/SCALING.md, "Semantic search").
    pub(super) const INDEXED: f64 = 854.0;
    /// The size in bytes of a user (92) with two keys (349 each), which every database machine stores.
    pub(super) const KEYS: f64 = 790.0;

    /// The processor time of one request in milliseconds, on the server, the data machine and the coordinator.
    pub(super) struct Cost {
        pub(super) server: f64,
        pub(super) machine: f64,
        pub(super) coordinator: f64,
    }
    /// A poll: a machine asks for changes, and there are none.
    pub(super) const POLL: Cost = Cost { server: 0.62, machine: 2.57, coordinator: 3.15 };
    /// The processor time of a question that the server answers from an index in RAM.
    pub(super) const RECALL: Cost = Cost { server: 1.18, machine: 2.91, coordinator: 2.25 };
    /// A memory that is stored.
    pub(super) const WRITE: Cost = Cost { server: 0.98, machine: 5.20, coordinator: 5.72 };
}

/// Assumptions: change them and print the table again.
mod assumed {
    /// Memories of a user.
    pub(super) const EACH: f64 = 1_000.0;
    /// The share of users who work in the busiest hour, and the number of machines per user.
    pub(super) const AT_WORK: f64 = 0.4;
    pub(super) const MACHINES: f64 = 1.3;
    /// The interval in seconds at which a machine asks for changes.
    pub(super) const EVERY: f64 = 60.0;
    /// Questions to the server per hour of work. Machines that sync answer questions from their own store.
    pub(super) const RECALLS: f64 = 5.0;
    /// Memories written per hour of work.
    pub(super) const WRITES: f64 = 6.0;
    /// The maximum utilisation of any resource.
    pub(super) const FULL: f64 = 0.6;
    /// The size of a server: its processors, and its gigabytes for indexes.
    pub(super) const SERVER_CORES: f64 = 4.0;
    pub(super) const SERVER_INDEX_GB: f64 = 12.0;
    pub(super) const SERVER_GB: f64 = 16.0;
    /// A machine of the database.
    pub(super) const MACHINE_CORES: f64 = 8.0;
    pub(super) const MACHINE_GB: f64 = 64.0;
    pub(super) const MACHINE_DISK_TB: f64 = 4.0;
    /// The single coordinator.
    pub(super) const COORDINATOR_CORES: f64 = 32.0;
    /// Gigabytes per machine for the users and keys that every machine stores.
    pub(super) const EVERYWHERE_GB: f64 = 100.0;
    /// Prices in dollars per month, for a processor, a gigabyte of memory, and a terabyte of disk with its backup.
    pub(super) const CORE: f64 = 20.0;
    pub(super) const GB: f64 = 2.5;
    pub(super) const TB: f64 = 160.0;
}

use assumed as a;
use measured as m;

/// The resources that this number of users needs in the busiest hour.
struct Need {
    users: f64,
    rows: f64,
    terabytes: f64,
    polls: f64,
    recalls: f64,
    writes: f64,
    index_gb: f64,
    server_cores: f64,
    machine_cores: f64,
    coordinator_cores: f64,
    everywhere_gb: f64,
}

impl Need {
    fn of(users: f64) -> Self {
        let at_work = users * a::AT_WORK;
        let polls = at_work * a::MACHINES / a::EVERY;
        let (recalls, writes) = (at_work * a::RECALLS / 3600.0, at_work * a::WRITES / 3600.0);
        let cores = |of: fn(&m::Cost) -> f64| {
            (polls * of(&m::POLL) + recalls * of(&m::RECALL) + writes * of(&m::WRITE)) / 1000.0
        };
        let rows = users * a::EACH;
        Self {
            users,
            rows,
            terabytes: rows * (m::MEMORY + m::FEED + m::VECTORS) / 1e12,
            polls,
            recalls,
            writes,
            index_gb: at_work * a::EACH * m::INDEXED / 1e9,
            server_cores: cores(|cost| cost.server),
            machine_cores: cores(|cost| cost.machine),
            coordinator_cores: cores(|cost| cost.coordinator),
            everywhere_gb: users * m::KEYS / 1e9,
        }
    }

    /// The number of servers for the work and the indexes. There are at least two, so one of them may fail.
    fn servers(&self) -> f64 {
        let by_cores = self.server_cores / (a::SERVER_CORES * a::FULL);
        by_cores.max(self.index_gb / a::SERVER_INDEX_GB).ceil().max(2.0)
    }

    /// Database machines. One machine is enough until a resource runs out.
    fn machines(&self) -> f64 {
        let by_cores = self.machine_cores / (a::MACHINE_CORES * a::FULL);
        by_cores.max(self.terabytes / (a::MACHINE_DISK_TB * a::FULL)).ceil().max(1.0)
    }

    fn is_spread(&self) -> bool {
        self.machines() > 1.0
    }

    /// Coordinators that this load would need.
    fn coordinators(&self) -> f64 {
        if self.is_spread() { (self.coordinator_cores / (a::COORDINATOR_CORES * a::FULL)).ceil().max(1.0) } else { 0.0 }
    }

    /// Dollars of a user and month.
    fn cost(&self) -> f64 {
        let server = a::SERVER_CORES * a::CORE + a::SERVER_GB * a::GB;
        let machine = a::MACHINE_CORES * a::CORE + a::MACHINE_GB * a::GB + a::MACHINE_DISK_TB * a::TB;
        let coordinator = a::COORDINATOR_CORES * a::CORE + a::MACHINE_GB * a::GB;
        (self.servers() * server + self.machines() * machine + self.coordinators() * coordinator) / self.users
    }

    /// The first bottleneck with one server, one machine and one coordinator. If several resources are exhausted,
    /// returns one to which more machines add nothing.
    fn bottleneck(&self) -> &'static str {
        if self.everywhere_gb > a::EVERYWHERE_GB * a::FULL {
            return "the table of users and keys, which every machine stores: distribute it by key ID";
        }
        if self.coordinators() > 1.0 {
            return "the coordinator handles every query: let the API servers query the database machines directly";
        }
        let of = [
            (self.server_cores / a::SERVER_CORES, "processors of the server"),
            (self.index_gb / a::SERVER_INDEX_GB, "memory for indexes"),
            (self.machine_cores / a::MACHINE_CORES, "processors of the database"),
            (self.terabytes / a::MACHINE_DISK_TB, "disk of the database"),
        ];
        let most = of.into_iter().max_by(|one, other| one.0.total_cmp(&other.0));
        most.filter(|(share, _)| *share > a::FULL).map_or("none", |(_, name)| name)
    }
}

/// A number with at most three digits and a unit: `4.7 k`.
fn short(number: f64) -> String {
    let units = [(1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")];
    let (unit, name) = units.into_iter().find(|(unit, _)| number >= *unit).unwrap_or((1.0, ""));
    let number = number / unit;
    let digits = usize::from(number < 10.0 && number.fract() > 0.05);
    format!("{number:.digits$}{name}")
}

/// Returns the table in the form of docs/SCALING.md.
pub(crate) fn table() -> String {
    let mut table = String::from(
        "| users | memories | disk | feed reads/s | recalls/s | writes/s | indexes at work | servers | machines | coordinators | $ a user, month | first bottleneck |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for power in 3..=8 {
        let need = Need::of(10_f64.powi(power));
        let row = [
            short(need.users),
            short(need.rows),
            format!("{}B", short(need.terabytes * 1e12)),
            short(need.polls),
            short(need.recalls),
            short(need.writes),
            format!("{}B", short(need.index_gb * 1e9)),
            short(need.servers()),
            short(need.machines()),
            short(need.coordinators()),
            format!("{:.3}", need.cost()),
            need.bottleneck().to_owned(),
        ];
        table.push_str("| ");
        table.push_str(&row.join(" | "));
        table.push_str(" |\n");
    }
    table
}
