//! A PostgreSQL of the test's own: in a temporary directory, on a socket in it, gone with the test.

use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use tempfile::TempDir;

/// The user that owns nothing: PostgreSQL refuses to run as root.
const NOBODY: u32 = 65_534;

/// A running cluster with an empty database `tessera`, owned by a role that is no superuser.
pub(crate) struct Cluster {
    dir: TempDir,
    programs: PathBuf,
    /// How many more there are that rows are spread over.
    others: u16,
    /// What was committed is on the disk: dear, and nothing that a test of answers needs.
    is_durable: bool,
}

/// The port of the first; that of each other one is one more. They are names of sockets.
const PORT: u16 = 5432;

/// What each needs for it.
const CITUS: &str = "-c shared_preload_libraries=citus -c citus.shard_count=4 -c citus.node_conninfo=sslmode=disable \
                     -c citus.enable_statistics_collection=off -c max_prepared_transactions=100 -c wal_level=logical";

impl Cluster {
    /// `None`, and a line that says so, where PostgreSQL is not installed.
    pub(crate) fn start() -> Option<Self> {
        #[expect(
            clippy::disallowed_methods,
            reason = "all tests on a spread database: for whoever asks for it by hand"
        )]
        let is_asked_for = std::env::var_os("TESSERA_TEST_SPREAD").is_some();
        if is_asked_for { Self::start_spread() } else { Self::start_with(0, false) }
    }

    /// The same, of which what was committed survives a loss of power.
    pub(crate) fn durable() -> Option<Self> {
        Self::start_with(0, true)
    }

    /// One whose rows are spread over two more by the extension Citus. `None`, and a line on the standard output that says so,
    /// where that is not installed.
    pub(crate) fn start_spread() -> Option<Self> {
        let cluster = Self::start_to_be_spread()?;
        cluster.join(0..=cluster.others);
        Some(cluster)
    }

    /// The same of which the first knows nothing of the others yet.
    pub(crate) fn start_to_be_spread() -> Option<Self> {
        let told = Command::new("pg_config").arg("--sharedir").output().ok();
        let shared = told.and_then(|out| String::from_utf8(out.stdout).ok()).unwrap_or_default();
        if !Path::new(shared.trim()).join("extension/citus.control").exists() {
            crate::skip::left_out("Citus", "the extension is not installed");
            return None;
        }
        Self::start_with(2, false)
    }

    fn start_with(others: u16, is_durable: bool) -> Option<Self> {
        let Some(programs) = programs() else {
            crate::skip::left_out("PostgreSQL", "it is not installed");
            return None;
        };
        let initial = initial_data(&programs);
        let cluster = Self { dir: directory(is_durable), programs, others, is_durable };
        for number in 0..=others {
            copy(initial, Path::new(&cluster.data_of(number)));
        }
        cluster.begin();
        Some(cluster)
    }

    /// Writes a data directory with an empty database, and stops the cluster.
    fn initialise(programs: PathBuf) -> Self {
        let cluster = Self { dir: directory(false), programs, others: 0, is_durable: false };
        let data = cluster.data_of(0);
        let arguments = ["-D", &data, "-U", "admin", "--auth=trust", "--no-sync", "-E", "UTF8", "--no-locale"];
        cluster.run("initdb", &arguments);
        cluster.begin();
        cluster.sql("CREATE ROLE server LOGIN CREATEROLE");
        cluster.sql("CREATE DATABASE tessera OWNER server");
        cluster.stop("fast");
        cluster
    }

    /// Makes some of the others known to the first, which is number 0 and comes before them.
    pub(crate) fn join(&self, numbers: impl IntoIterator<Item = u16>) {
        const ROLE: &str = "DO $$ BEGIN
            IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'tessera_app') THEN CREATE ROLE tessera_app NOINHERIT; END IF;
        END $$";
        let place = self.socket();
        for number in numbers {
            self.sql_of(number, "postgres", ROLE);
            self.sql_of(number, "postgres", "ALTER ROLE tessera_app LOGIN");
            self.sql_of(number, "postgres", "GRANT tessera_app TO server WITH ADMIN OPTION");
            self.sql_of(number, "tessera", "CREATE EXTENSION citus");
            let add = if number == 0 { "citus_set_coordinator_host" } else { "citus_add_node" };
            self.sql_on("tessera", &format!("SELECT {add}('{place}', {})", PORT + number));
        }
    }

    /// The address of one of the others for a role.
    pub(crate) fn url_of(&self, number: u16, role: &str) -> String {
        format!("postgres://{role}@localhost:{}/tessera?host={}", PORT + number, self.socket())
    }

    fn data_of(&self, number: u16) -> String {
        let name = if number == 0 { "data".to_owned() } else { format!("data{number}") };
        self.dir.path().join(name).to_str().unwrap().to_owned()
    }

    fn socket(&self) -> String {
        self.dir.path().to_str().unwrap().to_owned()
    }

    /// Ends at once, as a crash of its host would, and comes back.
    pub(crate) fn crash(&self) {
        self.end();
        self.begin();
    }

    /// Stops it at once, until [`Cluster::begin`].
    pub(crate) fn end(&self) {
        self.stop("immediate");
    }

    fn stop(&self, mode: &str) {
        for number in 0..=self.others {
            self.run("pg_ctl", &["-D", &self.data_of(number), "-m", mode, "stop"]);
        }
    }

    pub(crate) fn begin(&self) {
        let fsync = if self.is_durable { "on" } else { "off" };
        for number in 0..=self.others {
            let (data, socket, port) = (self.data_of(number), self.socket(), PORT + number);
            let mut options =
                format!("-c listen_addresses='' -c unix_socket_directories='{socket}' -c fsync={fsync} -c port={port}");
            if self.others > 0 {
                options = format!("{options} {CITUS} -c citus.local_hostname='{socket}'");
            }
            let log = self.dir.path().join(format!("log{number}"));
            self.run("pg_ctl", &["-D", &data, "-w", "-l", log.to_str().unwrap(), "-o", &options, "start"]);
        }
    }

    /// Copies our database aside, as a backup does. Nobody may be connected.
    pub(crate) fn back_up(&self) {
        self.disconnect();
        self.sql("DROP DATABASE IF EXISTS backup");
        self.sql("CREATE DATABASE backup TEMPLATE tessera OWNER server");
    }

    /// Puts the backup in the place of our database.
    pub(crate) fn restore(&self) {
        self.disconnect();
        self.sql("DROP DATABASE tessera");
        self.sql("CREATE DATABASE tessera TEMPLATE backup OWNER server");
    }

    /// Loads rows into our database.
    pub(crate) fn load(&self, dump: &Path) {
        // PostgreSQL's own user reads it.
        let copy = self.dir.path().join("dump.sql");
        fs::copy(dump, &copy).unwrap();
        if is_root() {
            chown(&copy, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let arguments = ["-d", "tessera", "-v", "ON_ERROR_STOP=1", "-q", "-f", copy.to_str().unwrap()];
        self.run("psql", &[&["-h", &self.socket(), "-U", "admin"][..], &arguments].concat());
    }

    /// Our database as a dump has it, in words.
    pub(crate) fn dump(&self) -> String {
        let mut command = Command::new(self.programs.join("pg_dump"));
        command.args(["-h", &self.socket(), "-U", "admin", "-d", "tessera"]).current_dir(self.dir.path());
        let out = command.output().unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8_lossy(&out.stdout).into_owned()
    }

    /// Runs a file of SQL in our database, as a role.
    pub(crate) fn run_file(&self, role: &str, file: &Path) {
        let copy = self.dir.path().join("file.sql");
        fs::copy(file, &copy).unwrap();
        if is_root() {
            chown(&copy, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let arguments = ["-d", "tessera", "-v", "ON_ERROR_STOP=1", "-q", "-f", copy.to_str().unwrap()];
        self.run("psql", &[&["-h", &self.socket(), "-U", role][..], &arguments].concat());
    }

    /// Runs lines of a shell where PostgreSQL's programs are, with variables; gives what they say on stdout.
    pub(crate) fn shell(&self, script: &str, variables: &[(&str, &str)]) -> String {
        let mut command = Command::new("sh");
        let script = format!("PATH='{}':\"$PATH\"\n{script}", self.programs.display());
        command.args(["-ec", &script]);
        command.envs(variables.iter().copied()).current_dir(self.dir.path());
        let out = command.output().unwrap();
        assert!(out.status.success(), "{script}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8_lossy(&out.stdout).into_owned()
    }

    /// One value of our database, as a superuser sees it.
    pub(crate) fn ask(&self, sql: &str) -> String {
        let mut command = Command::new(self.programs.join("psql"));
        command.args(["-h", &self.socket(), "-U", "admin", "-d", "tessera", "-v", "ON_ERROR_STOP=1", "-Atqc", sql]);
        let out = command.current_dir(self.dir.path()).output().unwrap();
        assert!(out.status.success(), "{sql}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8_lossy(&out.stdout).trim().to_owned()
    }

    /// Lets in nobody without a password but `admin`.
    pub(crate) fn ask_for_passwords(&self) {
        let file = self.dir.path().join("data/pg_hba.conf");
        fs::write(file, "local all admin trust\nlocal all all scram-sha-256\n").unwrap();
        self.sql("SELECT pg_reload_conf()");
    }

    /// The process that all others of it are children of.
    pub(crate) fn pid(&self) -> u32 {
        let file = fs::read_to_string(self.dir.path().join("data/postmaster.pid")).unwrap();
        file.lines().next().unwrap().parse().unwrap()
    }

    fn disconnect(&self) {
        self.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'tessera'");
    }

    /// The address for a role.
    pub(crate) fn url(&self, role: &str) -> String {
        format!("postgres://{role}@localhost/tessera?host={}", self.socket())
    }

    /// Runs SQL as a superuser, outside of our database.
    fn sql(&self, sql: &str) {
        self.sql_on("postgres", sql);
    }

    /// Runs SQL as a superuser.
    pub(crate) fn sql_on(&self, database: &str, sql: &str) {
        self.sql_of(0, database, sql);
    }

    /// The same on one of those that rows are spread over.
    pub(crate) fn sql_of(&self, number: u16, database: &str, sql: &str) {
        let (socket, port) = (self.socket(), (PORT + number).to_string());
        let place = ["-h", &socket, "-p", &port, "-U", "admin", "-d", database];
        self.run("psql", &[&place[..], &["-v", "ON_ERROR_STOP=1", "-qc", sql]].concat());
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let mut command = Command::new(self.programs.join(program));
        command.args(arguments).current_dir(self.dir.path()).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(fs::File::create(self.dir.path().join("err")).unwrap());
        if is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        let status = command.status().unwrap();
        let said = || fs::read_to_string(self.dir.path().join("err")).unwrap_or_default();
        assert!(status.success(), "{program} {arguments:?}: {}", said());
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if self.dir.path().join("data/postmaster.pid").exists() {
            self.end();
        }
    }
}

/// The data directory that each cluster starts as a copy of, because a copy takes a thirtieth of the time of `initdb`.
fn initial_data(programs: &Path) -> &'static Path {
    static INITIAL: OnceLock<PathBuf> = OnceLock::new();
    INITIAL.get_or_init(|| {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let name = programs.to_str().unwrap().replace('/', "-");
        let initial = target.join(format!("cluster{name}"));
        if !initial.exists() {
            let made = Cluster::initialise(programs.to_owned());
            let copied = tempfile::tempdir_in(target).unwrap();
            copy(Path::new(&made.data_of(0)), &copied.path().join("data"));
            // Another test program may have been faster.
            let _ = fs::rename(copied.path().join("data"), &initial);
        }
        initial
    })
}

/// Copies a directory with its owners.
fn copy(from: &Path, to: &Path) {
    let status = Command::new("cp").arg("-Rp").args([from, to]).status().unwrap();
    assert!(status.success(), "cp {}", from.display());
}

/// A directory with a short name, for the socket, and open to the user that PostgreSQL runs as. It is in memory if nothing has to
/// survive, because a test creates a thousand files.
fn directory(is_durable: bool) -> TempDir {
    let in_memory = Path::new("/dev/shm");
    let parent = if !is_durable && in_memory.is_dir() { in_memory } else { Path::new("/tmp") };
    let dir = tempfile::tempdir_in(parent).unwrap();
    if is_root() {
        chown(dir.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    dir
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|metadata| std::os::unix::fs::MetadataExt::uid(&metadata) == 0)
}

/// The newest PostgreSQL that is installed whole.
fn programs() -> Option<PathBuf> {
    let packaged =
        fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten().map(|entry| entry.path().join("bin"));
    let mut found: Vec<PathBuf> = packaged.chain([PathBuf::from("/usr/local/pgsql/bin")]).collect();
    let told =
        Command::new("pg_config").arg("--bindir").output().ok().and_then(|out| String::from_utf8(out.stdout).ok());
    found.extend(told.map(|dir| PathBuf::from(dir.trim())));
    found.sort();
    let is_whole = |dir: &PathBuf| ["initdb", "pg_ctl", "psql"].iter().all(|name| Path::new(dir).join(name).exists());
    found.into_iter().rfind(is_whole)
}
