//! A PostgreSQL of the test's own: in a temporary directory, on a socket in it, gone with the test.

use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// The user that owns nothing: PostgreSQL refuses to run as root.
const NOBODY: u32 = 65_534;

/// A running cluster with an empty database `tessera`, owned by a role that is no superuser.
pub(crate) struct Cluster {
    dir: TempDir,
    programs: PathBuf,
    /// What was committed is on the disk: dear, and nothing that a test of answers needs.
    is_durable: bool,
}

impl Cluster {
    /// `None`, and a line that says so, where PostgreSQL is not installed.
    pub(crate) fn start() -> Option<Self> {
        Self::started(false)
    }

    /// The same, of which what was committed survives a loss of power.
    pub(crate) fn durable() -> Option<Self> {
        Self::started(true)
    }

    fn started(is_durable: bool) -> Option<Self> {
        let Some(programs) = programs() else {
            eprintln!("left out: PostgreSQL is not installed");
            return None;
        };
        // Short, for the socket, and open to whomever PostgreSQL runs as.
        let dir = tempfile::tempdir_in("/tmp").unwrap();
        if is_root() {
            chown(dir.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let cluster = Self { dir, programs, is_durable };
        let data = cluster.data();
        cluster.run("initdb", &["-D", &data, "-U", "admin", "--auth=trust", "--no-sync", "-E", "UTF8", "--no-locale"]);
        cluster.begin();
        cluster.sql("CREATE ROLE server LOGIN CREATEROLE; ");
        cluster.sql("CREATE DATABASE tessera OWNER server");
        Some(cluster)
    }

    fn data(&self) -> String {
        self.dir.path().join("data").to_str().unwrap().to_owned()
    }

    fn socket(&self) -> String {
        self.dir.path().to_str().unwrap().to_owned()
    }

    /// Ends at once, as a crash of its host would, and comes back.
    pub(crate) fn crash(&self) {
        let data = self.data();
        self.run("pg_ctl", &["-D", &data, "-m", "immediate", "stop"]);
        self.begin();
    }

    pub(crate) fn begin(&self) {
        let (data, socket) = (self.data(), self.socket());
        let fsync = if self.is_durable { "on" } else { "off" };
        let options = format!("-c listen_addresses='' -c unix_socket_directories='{socket}' -c fsync={fsync}");
        let log = self.dir.path().join("log");
        self.run("pg_ctl", &["-D", &data, "-w", "-l", log.to_str().unwrap(), "-o", &options, "start"]);
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

    /// Puts a dump of our database in its place.
    pub(crate) fn load(&self, dump: &Path) {
        // PostgreSQL's own user reads it.
        let copy = self.dir.path().join("dump.sql");
        fs::copy(dump, &copy).unwrap();
        if is_root() {
            chown(&copy, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        self.sql("CREATE ROLE tessera_app NOLOGIN");
        self.sql("GRANT tessera_app TO server WITH ADMIN OPTION");
        let arguments = ["-d", "tessera", "-v", "ON_ERROR_STOP=1", "-q", "-f", copy.to_str().unwrap()];
        self.run("psql", &[&["-h", &self.socket(), "-U", "admin"][..], &arguments].concat());
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

    /// Stops it, until [`Cluster::begin`].
    pub(crate) fn end(&self) {
        let data = self.data();
        self.run("pg_ctl", &["-D", &data, "-m", "fast", "stop"]);
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

    /// Our database as a dump has it, in words.
    pub(crate) fn dump(&self) -> String {
        let mut command = Command::new(self.programs.join("pg_dump"));
        command.args(["-h", &self.socket(), "-U", "admin", "-d", "tessera"]).current_dir(self.dir.path());
        let out = command.output().unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8_lossy(&out.stdout).into_owned()
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
        self.run("psql", &["-h", &self.socket(), "-U", "admin", "-d", database, "-v", "ON_ERROR_STOP=1", "-qc", sql]);
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
        let data = self.data();
        self.run("pg_ctl", &["-D", &data, "-m", "immediate", "stop"]);
    }
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
