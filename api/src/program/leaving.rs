//! A user who leaves: what is written down first, what is asked, and what is shown for it.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, IsTerminal, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::json;
use tessera_api::{Counts, Db, ExportTo, SecretRules, Secrets, UserId};

use crate::exit::UserError;
use crate::{output, settings};

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
        return Err(UserError(format!("there is no user {name}")).into());
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
    // The user is removed already: variables that cannot be read are reported by whoever needs them.
    if settings::older_keys().is_ok_and(|keys| keys.iter().any(|(user, _)| user == name)) {
        output::note(&format!(
            "API_KEY or API_KEYS still names {name}: the server ignores that key; delete it there too"
        ));
    }
    output::note(&format!("{name} is gone: no row names them but those of the audit. Backups do: docs/SCALING.md"));
    Ok(())
}

/// Shows that nothing names a user any more, or what does.
pub(crate) async fn prove(json: bool, db: &Db, user: &UserId) -> anyhow::Result<()> {
    let left = db.rows_naming(user).await?;
    if json {
        output::json(&json!({ "user": user.as_str(), "left": left }))?;
    } else {
        for (table, rows) in &left {
            output::line(&format!("{table}: {rows}"))?;
        }
        output::line(&format!("rows that name {}, beside the audit: {}", user.as_str(), left.values().sum::<u64>()))?;
    }
    nothing_left(user.as_str(), &left)
}

fn nothing_left(name: &str, left: &Counts) -> anyhow::Result<()> {
    if left.is_empty() {
        return Ok(());
    }
    Err(UserError(format!("{} rows name {name}", left.values().sum::<u64>())).into())
}

/// Asks for the name: what is done cannot be taken back.
fn ask(name: &str, memories: u64) -> anyhow::Result<()> {
    if !std::io::stdin().is_terminal() {
        return Err(UserError(format!("{name} would be removed for good; give --yes where nobody can be asked")).into());
    }
    output::note(&format!("{name} and {memories} memories are removed for good. Type the name to go on:"));
    let mut typed = String::new();
    std::io::stdin().read_line(&mut typed)?;
    if typed.trim() == name { Ok(()) } else { Err(UserError("nothing was removed".into()).into()) }
}

/// A file for a user's memories that was not there before.
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
        format!("{lines} memories are in {}", self.path.display())
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
