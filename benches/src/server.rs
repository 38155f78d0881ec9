//! A process of the team server, or of a peer that prints the same first line.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// A server. Its process is killed when the value is dropped.
#[derive(Debug)]
pub struct Server {
    /// `None` if somebody else started the server.
    child: Option<Child>,
    /// Its host and port.
    pub address: String,
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
    /// Tessera's program.
    pub const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/release/tessera-server");

    /// Tessera's server on a database, with more settings and options.
    ///
    /// # Panics
    /// Panics if the server does not start. It must be built first.
    pub fn start(database: &str, settings: &[(&str, &str)], options: &[&str]) -> Self {
        let mut command = Command::new(Self::PROGRAM);
        // Some of the generated texts look like secrets. Without a key, the server would reject them.
        command.env("DATABASE_URL", database).env("TESSERA_SECRET_KEY", "5e".repeat(32)).envs(settings.iter().copied());
        command.args(["--listen", "127.0.0.1:0", "--key-rate", "1000000", "--address-rate", "1000000"]).args(options);
        Self::run(command)
    }

    /// Starts a program that prints `listening on http://ADDRESS` first.
    ///
    /// # Panics
    /// Panics if it does not.
    #[expect(clippy::print_stderr, reason = "the errors of a server belong to the output of a benchmark")]
    pub fn run(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("a process");
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let line = lines.next().expect("a first line").expect("a text");
        assert!(line.starts_with("listening"), "{line}");
        // Reads its output, so it never blocks; passes errors on.
        std::thread::spawn(move || {
            lines.map_while(Result::ok).filter(|line| !line.contains("\"INFO\"")).for_each(|line| eprintln!("{line}"));
        });
        let address = line.rsplit("http://").next().unwrap_or_default().to_owned();
        Self { child: Some(child), address }
    }

    /// A server that runs already.
    pub fn at(address: String) -> Self {
        Self { child: None, address }
    }

    /// Its URL.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Its process, if this value started it.
    pub fn id(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Resident megabytes; 0 without a process.
    ///
    /// # Panics
    /// Panics if the process has ended.
    pub fn resident(&self) -> u64 {
        let Some(id) = self.id() else { return 0 };
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).expect("a running process");
        let line = status.lines().find(|line| line.starts_with("VmRSS")).expect("a size");
        line.split_whitespace().nth(1).and_then(|size| size.parse::<u64>().ok()).expect("a number") / 1024
    }
}
