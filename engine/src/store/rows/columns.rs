//! The columns of `memories`, each said once: what somebody gave, what the analysis of it gives, and what its lines cost.
//! A new stored field is a line here, beside its migration and its field in the domain.

use super::codec::{Reader, columns, sql, write_columns};
use crate::domain::{Handle, Memory};
use crate::index::Analysis;
use crate::pack::LineCosts;

columns! {
    /// What somebody gave, and what happened to it. The handle stands before them.
    Fields of Memory {
        "id" => id,
        "content" => content,
        "summary" => summary,
        "category" => category,
        "type" => kind,
        "importance" => importance,
        "tags" => tags,
        "keywords" => keywords,
        "entities" => entities,
        "scope" => scope,
        "created" => created,
        "updated" => updated,
        "last_accessed" => last_accessed,
        "access_count" => access_count,
        "expires" => expires,
        "origin" => origin,
        "trust" => trust,
        "session" => session,
        "cwd" => cwd,
        "client" => client,
        "sensitive" => sensitive,
        "rev" => rev,
        "deleted" => deleted,
        "shared_by" & "share_permission" => share,
        "conflict_of" => conflict_of,
        "edited_by" => edited_by,
        "vouched" => vouched,
    } beside {
        handle: Handle::FIRST,
        links: Vec::new(),
    }
}

/// What the analysis of a memory leaves in its row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Analysed {
    pub(crate) is_standing: bool,
    pub(crate) length: u16,
    /// The bits of the signature: SQLite has no unsigned numbers of this size.
    pub(crate) signature: i64,
    pub(crate) forward: Vec<u8>,
}

impl Analysed {
    /// Of a memory that is shown; one that is deleted has no terms.
    pub(crate) fn of(memory: &Memory, analysis: &Analysis) -> Self {
        Self {
            is_standing: analysis.is_standing,
            length: analysis.doc.length,
            signature: analysis.signature.cast_signed(),
            forward: if memory.deleted.is_some() { Vec::new() } else { analysis.doc.encode() },
        }
    }
}

/// What the analysis gives: for the index, and to know a text that is said again.
pub(crate) struct AnalysisColumns;

write_columns! {
    AnalysisColumns of Analysed {
        "standing" => is_standing,
        "length" => length,
        "signature" => signature,
        "forward" => forward,
    }
}

columns! {
    /// What the lines of a memory cost.
    CostColumns of LineCosts {
        "detail_tokens" => detail,
        "index_tokens" => index,
        "json_detail_tokens" => json_detail,
        "json_index_tokens" => json_index,
        "passages" => passages,
        "attribution_tokens" => attribution,
    }
}

/// The columns of a memory, for a statement that reads it: the handle, and [`Fields`].
pub(crate) const MEMORY: &str = sql!("handle, ", Fields::LIST);

/// Reads a memory from the columns that come next, without its links.
pub(crate) fn read_memory(from: &mut Reader<'_, '_>) -> rusqlite::Result<Memory> {
    let handle = from.take()?;
    Ok(Memory { handle, ..Fields::read(from)? })
}

#[cfg(test)]
mod tests;
