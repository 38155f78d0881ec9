//! The arguments of `tessera sync`, of the sharing commands and of `tessera secret`.

use clap::{Args, Subcommand, ValueEnum};
use tessera_engine::domain::{MemoryRef, Permission, Tag};
use tessera_engine::store::SecretRef;

/// The actions of `tessera sync`.
#[derive(Debug, Subcommand)]
pub(crate) enum SyncTask {
    /// Join a server; the key comes from TESSERA_API_KEY or stdin
    Join {
        /// The server's address, an https URL [default: the setting]
        url: Option<String>,
        /// Which existing memories to upload: all or nothing
        ///
        /// Without this option, Tessera asks. If you join the same server again, `all` also uploads the memories that
        /// stayed on this machine.
        #[arg(long)]
        upload: Option<UploadChoice>,
    },
    /// Leave the server; keep your memories, delete shared ones here
    Leave,
    /// Show the state of sync
    Status,
    /// Sync now
    Now,
    /// List changes that the server rejected
    Dead {
        /// Send them again
        #[arg(long)]
        retry: bool,
    },
}

/// The existing memories to upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UploadChoice {
    /// All memories.
    All,
    /// Uploads no memories; all of them stay on this machine.
    Nothing,
}

/// The arguments of `tessera share` and `tessera unshare`.
#[derive(Debug, Args)]
pub(crate) struct Share {
    /// The memory
    #[arg(required_unless_present = "tag", conflicts_with = "tag")]
    pub(crate) id: Option<MemoryRef>,
    /// All memories with this tag, now and in future
    #[arg(long)]
    pub(crate) tag: Option<Tag>,
    /// The teammate's name on the server
    #[arg(long, value_name = "USER")]
    pub(crate) with: String,
    /// read or write
    #[arg(long, default_value = "read")]
    pub(crate) permission: Permission,
}

/// The text to keep in a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Keep {
    /// The text of the memory.
    Memory,
    /// The text of the conflict copy.
    Copy,
    /// Both texts, as two memories.
    Both,
}

/// The arguments of `tessera accept` and `tessera decline`.
#[derive(Debug, Args)]
pub(crate) struct Offered {
    /// The teammate who shares it
    pub(crate) owner: String,
    /// The tag
    pub(crate) tag: Tag,
}

/// The actions of `tessera secret`.
#[derive(Debug, Subcommand)]
pub(crate) enum SecretTask {
    /// List secrets without their values
    List {
        /// Only secrets of this memory
        memory: Option<MemoryRef>,
        /// List the texts that you declared not to be secrets
        #[arg(long, conflicts_with = "memory")]
        allowed: bool,
    },
    /// Hide a text of a memory that Tessera did not recognise as a secret
    ///
    /// The command asks for the text, or reads it from stdin. A value on the command line would stay in the history of
    /// the shell. Tessera encrypts the text and removes it from the memory, its history, logs, backups and other
    /// machines.
    Hide {
        /// The ID of the memory
        memory: MemoryRef,
    },
    /// Restore a text that is not a secret, and never redact it again
    ///
    /// This works for probable secrets and for texts that you hid.
    Allow {
        /// The name of the secret or its beginning, such as s7k4q2
        name: String,
    },
    /// Print the value of a secret; the request is recorded
    Show {
        /// The name of a secret or its beginning, or the ID of a memory
        #[arg(value_name = "NAME|ID")]
        which: SecretRef,
    },
    /// Delete the value of a secret permanently; keep the memory
    Forget {
        /// A secret's name or its beginning, or a memory
        #[arg(value_name = "NAME|ID")]
        which: SecretRef,
    },
    /// Show who requested which secret, and when
    Uses {
        /// Only secrets whose names begin with this text
        name: Option<String>,
    },
    /// Find credentials that were stored in clear text
    ///
    /// The command searches memories, their history, logs, indexed files and backups.
    Scan {
        /// Redact credentials; in your own memories, encrypt them as secrets
        #[arg(long)]
        fix: bool,
        /// Skip the confirmation prompt
        #[arg(long, short, requires = "fix")]
        yes: bool,
    },
    /// Show where the encryption key is stored, and what it protects against
    Key,
    /// Encrypt all secrets with a new key
    ///
    /// An interrupted run continues the next time. Earlier backups need the old key.
    RotateKey,
}
