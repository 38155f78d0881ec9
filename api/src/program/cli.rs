//! The command line of the server: types only.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use tessera_api::Proxy;
use tessera_engine::Timestamp;

use crate::{output, settings};

/// The end of the help: explains permanent deletion.
const AFTER: &str = "A permanently deleted memory disappears from every answer at once. PostgreSQL keeps its text \
    in files, the write-ahead log and backups until they are rewritten; docs/SCALING.md explains how long, and how \
    to speed it up.";

/// Serve a team on PostgreSQL, or manage its users and keys. `tessera serve` is the same
#[derive(Debug, Parser)]
#[command(name = "tessera-server", version, about, propagate_version = true, max_term_width = 100)]
#[command(args_conflicts_with_subcommands = true, after_help = after_help())]
pub(crate) struct Cli {
    /// A task to perform instead of serving
    #[command(subcommand)]
    pub(crate) task: Option<Task>,
    /// Options of the server.
    #[command(flatten)]
    pub(crate) serve: Serve,
    /// Print one JSON object instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Seconds to wait for the database [default: 60 if serving, else 0]
    #[arg(long, global = true, value_name = "SECONDS")]
    pub(crate) database_wait: Option<u64>,
    /// Database connections for requests
    #[arg(long, global = true, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) database_connections: u32,
    /// Time limit of one SQL statement of a request, in seconds
    #[arg(long, global = true, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) database_statement: u64,
    /// Maximum time to wait for a lock, in seconds
    #[arg(long, global = true, value_name = "SECONDS", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) database_lock: u64,
    /// Say more on stderr (-v, -vv).
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

/// The text below the options: settings, exit codes, and permanent deletion.
fn after_help() -> String {
    let settings =
        settings::SETTINGS.iter().map(|setting| format!("  {}: {}\n", setting.names.join(", "), setting.help));
    format!("Environment:\n{}\n{}\n\n{AFTER}", settings.collect::<String>(), output::CODES)
}

/// Options of the server.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Where to listen.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8765")]
    pub(crate) listen: SocketAddr,
    /// Accept plain HTTP on all addresses, because a proxy terminates TLS
    #[arg(long)]
    pub(crate) behind_proxy: bool,
    /// Trusted proxies or networks for X-Forwarded-For, comma-separated
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',')]
    pub(crate) trusted_proxy: Vec<Proxy>,
    /// TLS certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Its key, as PEM.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Address for metrics, /health and /ready [default: none]. Plain HTTP without a key; addresses other than loopback
    /// need --behind-proxy
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) metrics: Option<SocketAddr>,
    /// Also serve /metrics on the API's address, to all API clients
    #[arg(long)]
    pub(crate) metrics_on_api: bool,
    /// Memory for the indexes of all users, in megabytes
    #[arg(long, value_name = "MB", default_value_t = 256)]
    pub(crate) index_mb: usize,
    /// Maximum sustained requests per second per API key
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) key_rate: u64,
    /// Maximum sustained requests per second per address
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) address_rate: u64,
    /// Maximum simultaneous connections; fewer if the system's limit is lower
    #[arg(long, value_name = "N", default_value_t = 4096)]
    pub(crate) connections: usize,
    /// Maximum simultaneous connections per address, except for proxies
    #[arg(long, value_name = "N", default_value_t = 256)]
    pub(crate) address_connections: usize,
    /// Seconds to keep serving after SIGTERM, while /ready answers 503
    #[arg(long, value_name = "SECONDS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=3600))]
    pub(crate) drain_delay: u64,
    /// Maximum memories per user [0: no limit]
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) user_memories: u64,
    /// Maximum megabytes of text per user [0: no limit]
    #[arg(long, value_name = "MB", default_value_t = 0)]
    pub(crate) user_mb: u64,
}

/// Commands that run on the server's host.
#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    /// Update the schema, migrate an older system, and check the database
    Migrate,
    /// Print the OpenAPI contract
    Openapi,
    /// Announce a database restore, so that clients upload missing changes
    Restored,
    /// Redact secrets in old rows, and encrypt all with the current key
    MigrateSecrets {
        /// Only the memories of this user
        #[arg(long)]
        user: Option<String>,
        /// Count, and change nothing.
        #[arg(long)]
        dry_run: bool,
    },
    /// Print the audit log: shares, keys, permanent deletions and secrets
    Audit {
        /// Only the account of this user
        #[arg(long)]
        user: Option<String>,
        /// Only since a time such as 2026-11-01 or 2026-11-01T12:00:00Z
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
        /// The shell that will use the script.
        shell: Shell,
    },
    /// Print the manual page.
    Man,
}

/// A time in PostgreSQL's format: a date, or RFC 3339.
fn time(text: &str) -> Result<String, String> {
    let of_day = format!("{text}T00:00:00Z");
    let is_time = [text, &of_day].iter().any(|text| text.parse::<Timestamp>().is_ok());
    is_time.then(|| text.to_owned()).ok_or_else(|| "use a time such as 2026-11-01 or 2026-11-01T12:00:00Z".to_owned())
}

/// Manage users.
#[derive(Debug, Subcommand)]
pub(crate) enum UserTask {
    /// Add a user.
    Add {
        /// Letters, digits and . _ @ -
        user: String,
    },
    /// List all users.
    List,
    /// Delete a user permanently with all rows; the audit log stays
    Remove {
        /// Whom.
        user: String,
        /// Export the memories to a new file first, one JSON object per line
        #[arg(long, value_name = "FILE")]
        export: Option<PathBuf>,
        /// Do not ask.
        #[arg(long)]
        yes: bool,
        /// Delete nothing; count the user's rows, and fail if there are any
        #[arg(long, conflicts_with_all = ["export", "yes"])]
        prove: bool,
    },
}

/// Manage API keys.
#[derive(Debug, Subcommand)]
pub(crate) enum KeyTask {
    /// Create a key for a user; it is shown once
    New {
        /// The user.
        user: String,
        /// Its purpose.
        #[arg(long, default_value = "")]
        label: String,
        /// Scopes of the key, comma-separated
        #[arg(long, value_delimiter = ',', default_value = "read,write,share")]
        scopes: Vec<String>,
        /// Days until the key expires [default: never]
        #[arg(long)]
        days: Option<u32>,
    },
    /// List the IDs, labels and scopes of a user's keys, not the keys
    List {
        /// The user.
        user: String,
    },
    /// Replace a key: the new one is shown once, the old one expires soon
    Rotate {
        /// The user.
        user: String,
        /// The key's ID: the part between its first two underscores
        id: String,
        /// Hours until the old key expires
        #[arg(long, default_value_t = 24)]
        hours: u32,
    },
    /// Import the keys in API_KEYS (JSON: user to key) and API_KEY
    Import,
    /// Revoke a key immediately.
    Revoke {
        /// The user.
        user: String,
        /// The key's ID: the part between its first two underscores
        id: String,
    },
}
