//! The columns of `memories`, each defined once: given fields, the analysis, and the token counts. A new stored field
//! needs a line here, a column in the schema, and a field in the domain.

use super::codec::{Reader, columns, sql};
use crate::compose::{Composed, Known};
use crate::domain::{Memory, ShortId};
use crate::pack::LineCosts;

columns! {
    /// The fields of a memory. The ID stands before them.
    Fields of Memory {
        "id" => id,
        "content" => content,
        "summary" => summary,
        "category" => category,
        "type" => kind,
        "importance" & "importance_millionths" => importance,
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
        "owner_trust" => owner_trust,
        "file" & "heading" & "is_file" => file,
        "metadata" => metadata,
    } beside {
        short_id: ShortId::FIRST,
        links: Vec::new(),
    }
}

/// The analysis in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Analysed {
    pub(crate) is_instruction: bool,
    pub(crate) length: u16,
    /// The bits of the signature as a signed integer. SQLite has no unsigned integers of 64 bits.
    pub(crate) signature: i64,
    pub(crate) forward: Vec<u8>,
    pub(crate) embedding: Vec<u8>,
    /// The keys under which actions find the memory, as a JSON array.
    pub(crate) anchors: String,
}

impl Analysed {
    pub(crate) fn of(composed: &Composed) -> Self {
        Self {
            is_instruction: composed.is_instruction(),
            length: composed.length(),
            signature: composed.signature().cast_signed(),
            forward: composed.forward().to_vec(),
            embedding: composed.embedding().to_vec(),
            anchors: serde_json::to_string(&composed.anchors()).unwrap_or_default(),
        }
    }
}

columns! {
    /// The columns of the analysis. The index needs these columns. They also help to recognise repeated texts.
    AnalysisColumns of Analysed {
        "is_instruction" => is_instruction,
        "length" => length,
        "signature" => signature,
        "forward" => forward,
        "embedding" => embedding,
        "anchors" => anchors,
    }
}

columns! {
    /// The token counts of the lines.
    CostColumns of LineCosts {
        "detail_tokens" => detail,
        "index_tokens" => index,
        "json_detail_tokens" => json_detail,
        "json_index_tokens" => json_index,
        "passages" => passages,
        "attribution_tokens" => attribution,
    }
}

/// The columns of a memory for reading: the ID, and [`Fields`].
pub(crate) const MEMORY: &str = sql!("short_id, ", Fields::LIST);

/// Reads a memory from the next columns, without its links.
pub(crate) fn read_memory(from: &mut Reader<'_, '_>) -> rusqlite::Result<Memory> {
    let short_id = from.take()?;
    Ok(Memory { short_id, ..Fields::read(from)? })
}

/// The columns of a memory with its derived data.
pub(crate) const KNOWN: &str = sql!(MEMORY, ", ", AnalysisColumns::LIST, ", ", CostColumns::LIST);

/// Reads the columns [`KNOWN`], without links.
pub(crate) fn read_known(from: &mut Reader<'_, '_>) -> rusqlite::Result<Known> {
    let memory = read_memory(from)?;
    let Analysed { is_instruction, length, signature, forward, embedding, anchors: _ } = AnalysisColumns::read(from)?;
    let (signature, costs) = (signature.cast_unsigned(), Some(CostColumns::read(from)?));
    Ok(Known { memory, is_instruction, length, signature, forward, embedding, costs })
}

#[cfg(test)]
mod tests;
