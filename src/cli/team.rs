//! The arguments of `tessera sync` and of sharing.

use clap::{Args, Subcommand, ValueEnum};
use tessera_engine::domain::{MemoryRef, Permission, Tag};

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
