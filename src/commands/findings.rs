//! What is wrong with the settings of this machine, for `doctor` and for whoever stores something.

use tessera_setup::{Row, RowVerdict};

use super::Context;
use crate::config_file::ConfigFile;
use crate::{config, output};

/// What `doctor` says of the team server and of protection that is not there.
pub(super) fn rows(context: &Context) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut add = |name, verdict, detail: String| rows.push(Row { name, verdict, detail });
    let file = config::home(context.home.clone()).and_then(|home| ConfigFile::read(&home));
    if let Ok(file) = file {
        let unknown = file.unknown();
        match config::check(&file) {
            Err(problem) => add("settings", RowVerdict::Bad, problem.to_string()),
            Ok(()) if !unknown.is_empty() => {
                let detail = format!("config.toml: no setting of these names: {}", unknown.join(", "));
                add("settings", RowVerdict::Ok, detail);
            }
            Ok(()) => {}
        }
    }
    match config::team(context.home.clone()) {
        Ok(None) => {}
        Ok(Some((remote, _))) => add("team server", RowVerdict::Ok, remote.address().to_owned()),
        Err(problem) => add("team server", RowVerdict::Bad, format!("is not in use: {problem}")),
    }
    if !config::set_variables(&[&config::ENCRYPTION_KEY]).is_empty() {
        add("encryption", RowVerdict::Bad, unencrypted());
    }
    let vault = config::set_variables(&[&config::VAULT]);
    if !vault.is_empty() {
        let detail = format!("{} without effect: no memory is kept in a vault yet", vault.join(", "));
        add("vault", RowVerdict::Ok, detail);
    }
    rows
}

/// Warns whoever stores something and may believe that it is encrypted.
pub(super) fn warn() {
    if !config::set_variables(&[&config::ENCRYPTION_KEY]).is_empty() {
        output::note(&format!("warning: {}", unencrypted()));
    }
}

fn unencrypted() -> String {
    "MEMORY_ENCRYPTION_KEY is without effect: memories are not encrypted yet; store no secrets".to_owned()
}
