//! What memories must be that a command asks for.

use clap::Args;
use tessera_engine::domain::{Category, MemoryType, Scope, Tag, Timestamp};

/// What a memory must be.
#[derive(Debug, Args)]
pub(crate) struct Filter {
    /// Only these categories, comma-separated.
    #[arg(long, value_delimiter = ',')]
    pub(crate) category: Vec<Category>,
    /// Only these types, comma-separated.
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',')]
    pub(crate) kind: Vec<MemoryType>,
    /// Only with one of these tags, comma-separated.
    #[arg(long, alias = "tag", value_delimiter = ',')]
    pub(crate) tags: Vec<Tag>,
    /// Only with one of these named things, comma-separated.
    #[arg(long, value_delimiter = ',')]
    pub(crate) entities: Vec<String>,
    /// Only of these projects (`global` for what belongs to none), comma-separated.
    #[arg(long, value_delimiter = ',')]
    pub(crate) scope: Vec<Scope>,
    /// Only created at or after.
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<Timestamp>,
    /// Only created before.
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<Timestamp>,
}
