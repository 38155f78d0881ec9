//! The arguments of `tessera serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Serves a team on PostgreSQL, or manages its users and keys.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Serve {
    /// What to do instead of serving.
    #[command(subcommand)]
    pub(crate) task: Option<ServeTask>,
    /// Where to listen.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8765")]
    pub(crate) listen: SocketAddr,
    /// Listen beyond this machine, in plain HTTP, because a proxy in front speaks TLS.
    #[arg(long)]
    pub(crate) behind_proxy: bool,
    /// A certificate, as PEM: speak TLS.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Its key, as PEM.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Where to serve metrics for Prometheus; nowhere if left out.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) metrics: Option<SocketAddr>,
    /// Megabytes that the indexes of all users may hold in memory.
    #[arg(long, value_name = "MB", default_value_t = 256)]
    pub(crate) index_mb: usize,
    /// Requests of one key in a second, over time.
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) key_rate: u64,
    /// Requests of one address in a second, over time.
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) address_rate: u64,
}

/// Work on the server's host.
#[derive(Debug, Subcommand)]
pub(crate) enum ServeTask {
    /// Bring the schema up to date and check that the database is safe to serve.
    Migrate,
    /// Print the contract of the API, as OpenAPI.
    Openapi,
    /// Tell machines that the database was restored from a backup: they send what it does not hold.
    Restored,
    /// Manage users.
    #[command(subcommand)]
    User(UserTask),
    /// Manage keys.
    #[command(subcommand)]
    Key(KeyTask),
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
