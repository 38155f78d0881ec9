//! What is wrong with the settings of this machine, for `doctor`.

use tessera_setup::{Row, RowVerdict};

use super::{Context, coming_over};
use crate::config;
use crate::config_file::ConfigFile;

/// What `doctor` says of the team server and of settings without effect.
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
    match config::vault(context.home.clone()) {
        Ok(None) => {}
        Ok(Some(_)) => add("vault", RowVerdict::Ok, "secrets go to the vault that is set".into()),
        Err(problem) => add("vault", RowVerdict::Bad, problem.to_string()),
    }
    for offer in coming_over::offers(context) {
        rows.push(Row { name: "not taken over", verdict: RowVerdict::Ok, detail: coming_over::told_offer(&offer) });
    }
    rows
}
