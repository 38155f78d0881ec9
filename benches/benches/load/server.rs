//! Server processes, and what they use.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use super::plain;

/// A server.
pub(crate) struct Server {
    /// A process that is killed when the benchmark ends; `None` if somebody else started it.
    child: Option<Child>,
    pub(crate) address: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Server {
    /// Tessera's server, with this room for its indexes.
    pub(crate) fn start(url: &str, index_mb: usize) -> Self {
        let mut command = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/release/tessera-server"));
        // Some of the generated texts look like secrets. Without a key, the server would reject them.
        command.env("DATABASE_URL", url).env("TESSERA_SECRET_KEY", "5e".repeat(32)).args(["--listen", "127.0.0.1:0"]);
        command.args(["--key-rate", "1000000", "--address-rate", "1000000", "--index-mb", &index_mb.to_string()]);
        Self::run(command)
    }

    /// The server to compare with.
    pub(crate) fn plain(url: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args([plain::ARGUMENT, url]);
        Self::run(command)
    }

    /// A server that runs already.
    pub(crate) fn at(address: String) -> Self {
        Self { child: None, address }
    }

    fn run(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let line = lines.next().unwrap().unwrap();
        assert!(line.starts_with("listening"), "{line}");
        // Reads its output, so it never blocks; passes errors on.
        std::thread::spawn(move || {
            lines.map_while(Result::ok).filter(|line| !line.contains("\"INFO\"")).for_each(|line| eprintln!("{line}"));
        });
        let address = line.rsplit("http://").next().unwrap().to_owned();
        Self { child: Some(child), address }
    }

    fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Resident megabytes.
    pub(crate) fn resident(&self) -> u64 {
        let Some(pid) = self.pid() else { return 0 };
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
    }
}

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
        Self([server.pid().map_or(0, own), living + ended, own(std::process::id())])
    }

    pub(crate) fn row(&self, name: &str, before: &Self, requests: usize) {
        // A tick is a hundredth of a second on every Linux.
        let each = |n: usize| (self.0[n] - before.0[n]) as f64 * 10_000.0 / requests.max(1) as f64;
        let used = format!("{:.0} µs server, {:.0} PostgreSQL, {:.0} clients", each(0), each(1), each(2));
        println!("{:<44} {used} a request", format!("{name}: processor"));
    }
}
