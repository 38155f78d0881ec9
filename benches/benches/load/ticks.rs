//! What processes use.

use tessera_benches::Server;

/// Processor time in ticks: server, PostgreSQL with all processes, clients.
pub(crate) struct Ticks([u64; 3]);

impl Ticks {
    pub(crate) fn now(server: &Server, postmaster: u32) -> Self {
        // Fields after the name: the second is the parent, times begin at the twelfth, and times of ended children come
        // last.
        let stat = |pid: u32| -> Option<Vec<u64>> {
            let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let fields = text.rsplit_once(')')?.1.split_whitespace();
            Some(fields.map(|field| field.parse().unwrap_or(0)).collect())
        };
        let own = |pid: u32| stat(pid).map_or(0, |fields| fields[11] + fields[12]);
        let pids = std::fs::read_dir("/proc").unwrap().flatten();
        let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let database = pids.filter_map(stat).filter(|fields| fields[1] == u64::from(postmaster));
        let living: u64 = database.map(|fields| fields[11] + fields[12]).sum();
        let ended = stat(postmaster).map_or(0, |fields| fields[11..15].iter().sum());
        Self([server.id().map_or(0, own), living + ended, own(std::process::id())])
    }

    pub(crate) fn row(&self, name: &str, before: &Self, requests: usize) {
        // A tick is a hundredth of a second on every Linux.
        let each = |n: usize| (self.0[n] - before.0[n]) as f64 * 10_000.0 / requests.max(1) as f64;
        let used = format!("{:.0} µs server, {:.0} PostgreSQL, {:.0} clients", each(0), each(1), each(2));
        println!("{:<44} {used} a request", format!("{name}: processor"));
    }
}
