//! What can be typed: types only.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use tessera_api::Proxy;
use tessera_engine::Timestamp;

use crate::{output, settings};

/// What stays where when a memory is removed for good, said under the options.
const AFTER: &str = "A memory that is removed for good is gone from every answer at once. PostgreSQL keeps its text in \
    files, write-ahead log and backups until they are written anew: docs/SCALING.md says how long, and how to hurry it.";

/// Serves a team on PostgreSQL, or manages its users and keys. `tessera serve` is the same.
#[derive(Debug, Parser)]
#[command(name = "tessera-server", version, about, propagate_version = true, max_term_width = 100)]
#[command(args_conflicts_with_subcommands = true, after_help = after_help())]
pub(crate) struct Cli {
    /// What to do instead of serving.
    #[command(subcommand)]
    pub(crate) task: Option<Task>,
    /// How to serve.
    #[command(flatten)]
    pub(crate) serve: Serve,
    /// Print one JSON object instead of text.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Seconds to wait for a database that is not up yet; 60 to serve and to migrate, else none.
    #[arg(long, global = true, value_name = "SECONDS")]
    pub(crate) database_wait: Option<u64>,
    /// Connections to the database for requests.
    #[arg(long, global = true, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) database_connections: u32,
    /// Seconds that one statement of a request may take.
    #[arg(long, global = true, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) database_statement: u64,
    /// Seconds that a statement waits for a lock.
    #[arg(long, global = true, value_name = "SECONDS", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) database_lock: u64,
    /// Say more on stderr (-v, -vv).
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

/// What stands under the options: where things are set beside them, how it ends, and what is kept how long.
fn after_help() -> String {
    let settings =
        settings::SETTINGS.iter().map(|setting| format!("  {}: {}\n", setting.names.join(", "), setting.help));
    format!("Environment:\n{}\n{}\n\n{AFTER}", settings.collect::<String>(), output::CODES)
}

/// How to serve.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Where to listen.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8765")]
    pub(crate) listen: SocketAddr,
    /// Listen beyond this machine, in plain HTTP, because a proxy in front speaks TLS.
    #[arg(long)]
    pub(crate) behind_proxy: bool,
    /// A proxy, or a network of proxies, whose X-Forwarded-For says where a request comes from; may be repeated, or
    /// separated by commas. Nobody else's word on that is taken.
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',')]
    pub(crate) trusted_proxy: Vec<Proxy>,
    /// A certificate, as PEM: speak TLS.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Its key, as PEM.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Where to serve metrics for Prometheus, with /health and /ready beside them; nowhere if left out. Beyond this
    /// machine only with --behind-proxy: it is plain HTTP, without a key.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) metrics: Option<SocketAddr>,
    /// Serve /metrics on the API's address too, as claude-memory-mcp does. Anyone who can reach the API can read them.
    #[arg(long)]
    pub(crate) metrics_on_api: bool,
    /// Megabytes that the indexes of all users may hold in memory.
    #[arg(long, value_name = "MB", default_value_t = 256)]
    pub(crate) index_mb: usize,
    /// Requests of one key in a second, over time.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) key_rate: u64,
    /// Requests of one address in a second, over time.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) address_rate: u64,
    /// Connections at one time; fewer where the system allows fewer open files.
    #[arg(long, value_name = "N", default_value_t = 4096)]
    pub(crate) connections: usize,
    /// Connections of one address at one time, proxies aside.
    #[arg(long, value_name = "N", default_value_t = 256)]
    pub(crate) address_connections: usize,
    /// Seconds for which requests are still accepted after the server was told to stop: /ready answers 503 meanwhile, so that
    /// load balancers send no more of them.
    #[arg(long, value_name = "SECONDS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=3600))]
    pub(crate) drain_delay: u64,
    /// Memories that one user may store; 0 for no limit.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) user_memories: u64,
    /// Megabytes of text that one user may store; 0 for no limit.
    #[arg(long, value_name = "MB", default_value_t = 0)]
    pub(crate) user_mb: u64,
}

/// Work on the server's host.
#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    /// Bring the schema up to date, take over what an older system has in the database, and check that it is safe to serve.
    Migrate,
    /// Print the contract of the API, as OpenAPI.
    Openapi,
    /// Tell machines that the database was restored from a backup: they send what it does not hold.
    Restored,
    /// Take out of all rows the credentials that stand there in clear since before texts were looked through, and seal anew
    /// what a key of before sealed. Whatever ends it, what was done is done: run it again.
    MigrateSecrets {
        /// Of one user alone.
        #[arg(long)]
        user: Option<String>,
        /// Count, and change nothing.
        #[arg(long)]
        dry_run: bool,
    },
    /// Print who did what: shares, keys, removals for good, and what was done with secrets. With --json, one object a line.
    Audit {
        /// In the account of one user alone.
        #[arg(long)]
        user: Option<String>,
        /// From a time on, such as 2026-11-01 or 2026-11-01T12:00:00Z.
        #[arg(long, value_name = "TIME", value_parser = time)]
        since: Option<String>,
    },
    /// Manage users.
    #[command(subcommand)]
    User(UserTask),
    /// Manage keys.
    #[command(subcommand)]
    Key(KeyTask),
    /// Print a completion script.
    Completions {
        /// For which shell.
        shell: Shell,
    },
    /// Print the manual page.
    Man,
}

/// A time as PostgreSQL reads it: a date, or RFC 3339.
fn time(text: &str) -> Result<String, String> {
    let of_day = format!("{text}T00:00:00Z");
    let is_time = [text, &of_day].iter().any(|text| text.parse::<Timestamp>().is_ok());
    is_time.then(|| text.to_owned()).ok_or_else(|| "use a time such as 2026-11-01 or 2026-11-01T12:00:00Z".to_owned())
}

/// Work on users.
#[derive(Debug, Subcommand)]
pub(crate) enum UserTask {
    /// Add a user.
    Add {
        /// Letters, digits and . _ @ -
        user: String,
    },
    /// List all users.
    List,
    /// Remove a user for good, with every row of theirs, and tell the machines of others that what they shared is gone. The
    /// audit stays. What is removed is printed by table; whatever ends it, run it again.
    Remove {
        /// Whom.
        user: String,
        /// Write their memories into a new file first, one JSON object a line.
        #[arg(long, value_name = "FILE")]
        export: Option<PathBuf>,
        /// Do not ask.
        #[arg(long)]
        yes: bool,
        /// Remove nothing: count the rows that name the user. Fails where there are any.
        #[arg(long, conflicts_with_all = ["export", "yes"])]
        prove: bool,
    },
}

/// Work on keys.
#[derive(Debug, Subcommand)]
pub(crate) enum KeyTask {
    /// Make a key of a user; it is shown once.
    New {
        /// Whose.
        user: String,
        /// What it is for.
        #[arg(long, default_value = "")]
        label: String,
        /// What it may be used for, comma-separated.
        #[arg(long, value_delimiter = ',', default_value = "read,write,share")]
        scopes: Vec<String>,
        /// Days until it ends; never if left out.
        #[arg(long)]
        days: Option<u32>,
    },
    /// List the keys of a user: never the keys themselves.
    List {
        /// Whose.
        user: String,
    },
    /// Replace a key: the new one is shown once, the old one ends after a while.
    Rotate {
        /// Whose.
        user: String,
        /// The part between the first two underscores.
        id: String,
        /// Hours until the old one ends.
        #[arg(long, default_value_t = 24)]
        hours: u32,
    },
    /// Take over the keys of API_KEYS (JSON: user to key) and API_KEY (of the user default).
    Import,
    /// Revoke a key, at once.
    Revoke {
        /// Whose.
        user: String,
        /// The part between the first two underscores.
        id: String,
    },
}
