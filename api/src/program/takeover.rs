//! Reports of a migration.
//!
//! Removal of a user: the export, the request to confirm, and the proof of removal.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, IsTerminal, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::json;
use tessera_api::{Counts, Db, ExportTo, SecretRules, Secrets, TakenOver, UserId};

use crate::output::UserError;
use crate::{output, settings};

/// The maximum number of remarks that are printed one by one.
const MOST_REMARKS: usize = 20;

/// Migrates an older system in the database, and reports the result.
pub(crate) async fn take_over(db: &Db, secrets: &Secrets) -> anyhow::Result<()> {
    let progress = |done: u64, all: u64| output::progress(&format!("migrated {done} of {all} rows"));
    let taken = db.take_over(secrets, progress).await?;
    output::progress_ends();
    if let Some(mut taken) = taken {
        // A user with a key exists.
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
            "migrated {memories} memories ({deleted} of them deleted), {shares} shared memories, {tag_shares} \
            shared tags, {links} links; redacted secrets in {with_secrets}"
        ));
        lines.push(
            "the old tables are unchanged in the schema `older`, with secrets in clear text; delete them when you \
            no longer need them: DROP SCHEMA older CASCADE"
                .into(),
        );
    }
    lines.extend(taken.renamed.iter().map(|(older, name)| format!("the user {older:?} is now called {name}")));
    if !taken.unknown.is_empty() {
        lines.push(format!("some memories are shared with users who do not exist: {}", taken.unknown.join(", ")));
    }
    lines.extend(taken.remarks.iter().take(MOST_REMARKS).cloned());
    if let Some(more) = taken.remarks.len().checked_sub(MOST_REMARKS).filter(|more| *more > 0) {
        lines.push(format!("and {more} more like this"));
    }
    if taken.left > 0 && taken.memories == 0 && taken.tag_shares == 0 {
        let n = taken.left;
        lines.push(format!(
            "{n} rows of the older system are not taken over: SELECT id, problem FROM older.taken WHERE memory IS NULL"
        ));
    } else if taken.left > 0 {
        lines.push(format!("{} rows were not migrated. They stay in the schema `older`, and each start of the server tries them again:", taken.left));
        lines.extend(taken.left_rows.iter().map(|(id, why)| format!("  #{id}: {why}")));
        if taken.left > taken.left_rows.len() as u64 {
            lines.push("  and more: SELECT id, problem FROM older.taken WHERE memory IS NULL".into());
        }
    }
    lines
}

/// Removes a user for good.
pub(crate) async fn remove(
    json: bool,
    db: &Db,
    rules: SecretRules,
    user: &UserId,
    export: Option<&Path>,
    yes: bool,
) -> anyhow::Result<()> {
    let name = user.as_str();
    let before = db.rows_naming(user).await?;
    if before.is_empty() {
        return Err(UserError(format!("unknown user {name}")).into());
    }
    let secrets = Secrets::open(db, rules).await?;
    if !yes {
        ask(name, before.get("memories").copied().unwrap_or(0))?;
    }
    let export = export.map(ExportFile::create).transpose()?;
    let progress = |done: usize, all: usize| output::progress(&format!("{done} of {all} accounts"));
    let removed = db.remove_user(user, &secrets, export.as_ref().map(|file| file as &dyn ExportTo), progress).await?;
    output::progress_ends();
    if let Some(file) = export {
        output::note(&file.told());
    }
    let left = db.rows_naming(user).await?;
    if json {
        output::json(&json!({ "user": name, "removed": removed, "left": left }))?;
    } else {
        for (table, rows) in &removed {
            output::line(&format!("{table}: {rows}"))?;
        }
    }
    nothing_left(name, &left)?;
    // The user is already removed; unreadable variables are reported elsewhere.
    if settings::older_keys().is_ok_and(|keys| keys.iter().any(|(user, _)| user == name)) {
        output::note(&format!(
            "API_KEY or API_KEYS still contains a key of {name}; the server ignores the key, so remove it there too"
        ));
    }
    output::note(&format!(
        "{name} was removed; only the audit log still contains the name. For backups, see docs/SCALING.md"
    ));
    Ok(())
}

/// Proves that no row names a user, or lists those that do.
pub(crate) async fn prove(json: bool, db: &Db, user: &UserId) -> anyhow::Result<()> {
    let left = db.rows_naming(user).await?;
    if json {
        output::json(&json!({ "user": user.as_str(), "left": left }))?;
    } else {
        for (table, rows) in &left {
            output::line(&format!("{table}: {rows}"))?;
        }
        output::line(&format!(
            "rows that contain the name {}, excluding the audit log: {}",
            user.as_str(),
            left.values().sum::<u64>()
        ))?;
    }
    nothing_left(user.as_str(), &left)
}

fn nothing_left(name: &str, left: &Counts) -> anyhow::Result<()> {
    if left.is_empty() {
        return Ok(());
    }
    Err(UserError(format!("{} rows contain the name {name}", left.values().sum::<u64>())).into())
}

/// Asks for the name, because the removal cannot be undone.
fn ask(name: &str, memories: u64) -> anyhow::Result<()> {
    if !std::io::stdin().is_terminal() {
        return Err(
            UserError(format!("this permanently removes {name}; pass --yes to confirm without a prompt")).into()
        );
    }
    output::note(&format!("This permanently removes {name} and {memories} memories. Type the name to continue:"));
    let mut typed = String::new();
    std::io::stdin().read_line(&mut typed)?;
    if typed.trim() == name { Ok(()) } else { Err(UserError("nothing was removed".into()).into()) }
}

/// A new file for a user's memories.
struct ExportFile {
    path: PathBuf,
    written: Mutex<(BufWriter<File>, u64)>,
}

impl ExportFile {
    fn create(path: &Path) -> anyhow::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(|error| UserError(format!("{}: {error}", path.display())))?;
        Ok(Self { path: path.to_owned(), written: Mutex::new((BufWriter::new(file), 0)) })
    }

    fn told(self) -> String {
        let (_, lines) = *self.held();
        format!("wrote {lines} memories to {}", self.path.display())
    }

    fn held(&self) -> MutexGuard<'_, (BufWriter<File>, u64)> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ExportTo for ExportFile {
    fn begin(&self) -> std::io::Result<()> {
        let (out, lines) = &mut *self.held();
        out.rewind()?;
        *lines = 0;
        out.get_ref().set_len(0)
    }

    fn line(&self, line: &str) -> std::io::Result<()> {
        let (out, lines) = &mut *self.held();
        *lines += 1;
        writeln!(out, "{line}")
    }

    fn end(&self) -> std::io::Result<()> {
        let (out, _) = &mut *self.held();
        out.flush()?;
        out.get_ref().sync_all()
    }
}
