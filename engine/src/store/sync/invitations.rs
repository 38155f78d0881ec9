//! Invitations from other users to share a tag. The memories arrive after the user accepts the invitation.

use rusqlite::params;

use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::rows::codec::{Ask as _, Reader};
use crate::sync::Invitation;

impl Store {
    /// The invitations that the user has not answered.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn invitations(&self) -> Result<Vec<Invitation>, StoreError> {
        let sql = "SELECT owner, tag, permission FROM invitations ORDER BY owner, tag";
        self.all(sql, [], |row| {
            let mut from = Reader::new(row);
            Ok(Invitation { owner: from.take()?, tag: from.take()?, permission: from.take()? })
        })
    }
}

/// Stores exactly the invitations that the server reports as open.
pub(crate) fn keep(change: &Change<'_>, invitations: &[Invitation]) -> Result<(), StoreError> {
    let known: i64 = change.tx.query_row("SELECT count(*) FROM invitations", [], |row| row.get(0))?;
    if invitations.is_empty() && known == 0 {
        return Ok(());
    }
    let mut statement = change.tx.prepare_cached(
        "INSERT INTO invitations (owner, tag, permission) VALUES (?1, ?2, ?3)
         ON CONFLICT (owner, tag) DO UPDATE SET permission = excluded.permission",
    )?;
    for invitation in invitations {
        statement.execute(params![invitation.owner, invitation.tag.as_str(), invitation.permission.as_str()])?;
    }
    let open: Vec<String> =
        invitations.iter().map(|invitation| format!("{} {}", invitation.owner, invitation.tag)).collect();
    let open = serde_json::to_string(&open).unwrap_or_default();
    let sql = "DELETE FROM invitations WHERE owner || ' ' || tag NOT IN (SELECT value FROM json_each(?1))";
    change.tx.execute(sql, [open])?;
    Ok(())
}
