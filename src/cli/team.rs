//! The arguments of `tessera sync` and of sharing.
//!
//! The arguments of `tessera secret`.

use clap::{Args, Subcommand, ValueEnum};
use tessera_engine::domain::{MemoryRef, Permission, Tag};
use tessera_engine::store::SecretRef;

/// Keep this machine in sync with a team server.
#[derive(Debug, Subcommand)]
pub(crate) enum SyncTask {
    /// Join a server. Its key is taken from TESSERA_API_KEY, or from stdin.
    Join {
        /// Its address, beginning with https (default: the one that is set).
        url: Option<String>,
        /// What of the memories that are here already is sent: all or nothing. Asked for if left out. Where the store belongs
        /// to the server already, `all` sends what was kept here then.
        #[arg(long)]
        upload: Option<UploadChoice>,
    },
    /// Leave the server: your memories stay here, what others share goes.
    Leave,
    /// Show how things stand.
    Status,
    /// Exchange with the server now.
    Now,
    /// Show changes that the server will not take.
    Dead {
        /// Send them once more.
        #[arg(long)]
        retry: bool,
    },
}

/// What is sent of what is here already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UploadChoice {
    /// Everything.
    All,
    /// Nothing: it stays on this machine.
    Nothing,
}

/// Share with a teammate, or no longer.
#[derive(Debug, Args)]
pub(crate) struct Share {
    /// The memory.
    #[arg(required_unless_present = "tag", conflicts_with = "tag")]
    pub(crate) id: Option<MemoryRef>,
    /// Everything with this tag, now and later.
    #[arg(long)]
    pub(crate) tag: Option<Tag>,
    /// The teammate's name on the server.
    #[arg(long, value_name = "USER")]
    pub(crate) with: String,
    /// read or write.
    #[arg(long, default_value = "read")]
    pub(crate) permission: Permission,
}

/// Which text a conflict shall have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Keep {
    /// The one that the memory has.
    Memory,
    /// The other one.
    Copy,
    /// Both, as two memories.
    Both,
}

/// What a teammate offers.
#[derive(Debug, Args)]
pub(crate) struct Offered {
    /// Who offers it.
    pub(crate) owner: String,
    /// The tag.
    pub(crate) tag: Tag,
}

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
