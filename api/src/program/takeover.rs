//! What is told of an older installation that is taken over.

use tessera_api::{Db, Secrets, TakenOver};

use crate::{output, settings};

/// Remarks that are told one by one.
const MOST_REMARKS: usize = 20;

/// Takes over what an older system has in the database, and tells what came of it.
pub(crate) async fn take_over(db: &Db, secrets: &Secrets) -> anyhow::Result<()> {
    let progress = |done: u64, all: u64| output::progress(&format!("taken over: {done} of {all} rows"));
    let taken = db.take_over(secrets, progress).await?;
    output::progress_ends();
    if let Some(mut taken) = taken {
        // Whoever has a key is somebody.
        let given = settings::older_keys()?;
        taken.unknown.retain(|name| !given.iter().any(|(user, _)| user == name));
        lines(&taken).iter().for_each(|line| output::note(line));
    }
    Ok(())
}

fn lines(taken: &TakenOver) -> Vec<String> {
    let mut lines = Vec::new();
    if taken.memories + taken.tag_shares > 0 {
        let TakenOver { memories, deleted, with_secrets, shares, tag_shares, links, .. } = taken;
        lines.push(format!(
            "taken over: {memories} memories ({deleted} of them deleted), {shares} shares of one, {tag_shares} shared tags, {links} \
             links; credentials were set aside of {with_secrets}"
        ));
        lines.push(
            "the older tables stand in the schema `older` as they were, credentials in clear included: DROP SCHEMA older CASCADE \
             once they are needed no more"
                .into(),
        );
    }
    lines.extend(taken.renamed.iter().map(|(older, name)| format!("the user {older:?} is called {name} here")));
    if !taken.unknown.is_empty() {
        lines.push(format!("something is shared with users that are not there: {}", taken.unknown.join(", ")));
    }
    lines.extend(taken.remarks.iter().take(MOST_REMARKS).cloned());
    if let Some(more) = taken.remarks.len().checked_sub(MOST_REMARKS).filter(|more| *more > 0) {
        lines.push(format!("and {more} remarks more of this kind"));
    }
    if taken.left > 0 && taken.memories == 0 && taken.tag_shares == 0 {
        let n = taken.left;
        lines.push(format!(
            "{n} rows of the older system are not taken over: SELECT id, problem FROM older.taken WHERE memory IS NULL"
        ));
    } else if taken.left > 0 {
        lines.push(format!(
            "not taken over: {} rows. They stay in `older`, and are tried again at each start:",
            taken.left
        ));
        lines.extend(taken.left_rows.iter().map(|(id, why)| format!("  #{id}: {why}")));
        if taken.left > taken.left_rows.len() as u64 {
            lines.push("  and more: SELECT id, problem FROM older.taken WHERE memory IS NULL".into());
        }
    }
    lines
}
