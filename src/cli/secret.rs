//! The arguments of `tessera secret`.

use clap::Subcommand;
use tessera_engine::domain::MemoryRef;
use tessera_engine::store::SecretRef;

/// What to do with secrets.
#[derive(Debug, Subcommand)]
pub(crate) enum SecretTask {
    /// List the secrets that are kept, without their values.
    List {
        /// Only of this memory.
        memory: Option<MemoryRef>,
    },
    /// Give back the value of a secret, or of all secrets of a memory. It is noted that you asked.
    Show {
        /// A name or the beginning of one, such as s7k4q, or a memory, such as 42.
        #[arg(value_name = "NAME|ID")]
        which: SecretRef,
    },
    /// Let go of the value of a secret for good; the text keeps its place.
    Forget {
        /// A name or the beginning of one, or a memory.
        #[arg(value_name = "NAME|ID")]
        which: SecretRef,
    },
    /// Show who asked for which secret, when, and what else was done with it.
    Uses {
        /// Only of secrets whose names begin so.
        name: Option<String>,
    },
    /// Look for credentials that stand in clear from before they were taken out: in memories, their history, logs, files and
    /// backups of the home.
    Scan {
        /// Take them out: values of your own memories are set aside, all others go for good.
        #[arg(long)]
        fix: bool,
    },
    /// Say where the key is, and what it protects from.
    Key,
    /// Seal every secret with a new key. Run again, it goes on where it was stopped. Copies made before need the old key.
    RotateKey,
}
