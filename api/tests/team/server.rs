//! A team server with its own PostgreSQL, and machines that know its address.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use crate::cluster::Cluster;
use crate::support::{Ran, Running, World};

/// The server's program.
pub(crate) fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_tessera-server"))
}

/// A server that can be stopped and started again at the same address.
pub(crate) struct TeamServer {
    pub(crate) cluster: Cluster,
    world: World,
    address: String,
    running: Option<Running>,
    variables: Vec<(String, String)>,
    /// As whom it connects.
    pub(crate) role: String,
    /// What it said on stderr.
    pub(crate) log: Arc<Mutex<String>>,
}

impl TeamServer {
    /// `None` where PostgreSQL is not installed.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with(&[])
    }

    /// The same with variables of its environment.
    pub(crate) fn start_with(variables: &[(&str, &str)]) -> Option<Self> {
        let mut server = Self::on(Cluster::start()?, variables);
        server.up();
        Some(server)
    }

    /// One that is not started yet, on a cluster.
    pub(crate) fn on(cluster: Cluster, variables: &[(&str, &str)]) -> Self {
        // A port that is free, and none that the system gives to connections: the server comes back to it.
        let mut ports = std::iter::repeat_with(|| format!("127.0.0.1:{}", fastrand::u16(10_000..32_000)));
        let address = ports.find(|address| TcpListener::bind(address).is_ok()).unwrap();
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let role = "server".into();
        Self { cluster, world: World::new(), address, running: None, variables, role, log: Arc::default() }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// A program on the server's host.
    pub(crate) fn on_host(&self, program: &Path) -> Command {
        let mut command = self.world.command(program);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.env("DATABASE_URL", self.cluster.url(&self.role));
        command
    }

    /// Runs a command on the server's host.
    pub(crate) fn host(&self, args: &[&str]) -> Ran {
        let ran: Ran = self.on_host(program()).args(args).output().unwrap().into();
        assert_eq!(ran.code, Some(0), "{args:?}: {ran:?}");
        ran
    }

    pub(crate) fn up(&mut self) {
        let mut command = self.on_host(program());
        command.args(["--listen", &self.address]);
        command.args(["--key-rate", "100000", "--address-rate", "100000"]);
        let mut server = Running(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
        let mut lines = BufReader::new(server.0.stderr.take().unwrap()).lines();
        let log = Arc::clone(&self.log);
        // What it says before it serves is part of the log.
        loop {
            let line = lines.next().unwrap_or_else(|| panic!("it ended: {}", log.lock().unwrap())).unwrap();
            *log.lock().unwrap() += &format!("{line}\n");
            if line.contains(&self.address) {
                break;
            }
        }
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(|line| *log.lock().unwrap() += &(line + "\n")));
        self.running = Some(server);
    }

    /// As kill -9 does.
    pub(crate) fn down(&mut self) {
        self.running = None;
    }

    /// Adds a user and gives a key.
    pub(crate) fn user(&self, name: &str) -> String {
        self.host(&["user", "add", name]);
        self.host(&["key", "new", name]).stdout.trim().to_owned()
    }

    /// A machine of a user, joined.
    pub(crate) fn machine(&self, key: &str) -> World {
        let world = World::new();
        self.join(&world, key, &[]);
        world
    }

    pub(crate) fn join(&self, world: &World, key: &str, more: &[&str]) {
        let ran = world.run_with_stdin(&[&["sync", "join", &self.url()], more].concat(), key.as_bytes());
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
}

/// Exchanges with the server, which must be up.
pub(crate) fn exchange(world: &World) {
    let ran = world.run(&["sync", "now"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}
