//! What is wrong with the settings of this machine, for `doctor`.

use std::path::PathBuf;

use tessera_desk::chain::installed::{self, Installed};
use tessera_desk::chain::spool::{self, Lying};
use tessera_desk::sync::{Remote, SyncError};
use tessera_engine::Store;
use tessera_engine::domain::Timestamp;
use tessera_engine::store::{Home, StoreConfig};
use tessera_setup::{Row, RowVerdict};

use super::{Context, coming_over};
use crate::config;
use crate::config_file::ConfigFile;

/// What `doctor` says of the team server and of settings without effect, beside a store.
pub(super) fn rows(context: &Context, store: &StoreConfig) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut add = |name, verdict, detail: String| rows.push(Row { name, verdict, detail });
    let file = config::home(context.home.clone()).and_then(|home| ConfigFile::read(&home));
    let checked = file.and_then(|file| {
        config::check(&file)?;
        // What a variable stands above is looked at too.
        let file = file.alone();
        config::check(&file).map(|()| config::unknown(&file))
    });
    match checked {
        Err(problem) => add("settings", RowVerdict::Bad, problem.to_string()),
        Ok(unknown) if !unknown.is_empty() => {
            add("settings", RowVerdict::Bad, format!("no such setting: {}", unknown.join(", ")));
        }
        Ok(_) => {}
    }
    match config::team(context.home.clone()) {
        Ok(None) => {}
        Ok(Some((remote, _))) => match unagreed(store, &remote) {
            Some(problem) => add("team server", RowVerdict::Bad, format!("is not in use: {problem}")),
            None => add("team server", RowVerdict::Ok, remote.address().to_owned()),
        },
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
    if let Ok(home) = config::home(context.home.clone()) {
        let earlier = config::earlier_store(&home);
        rows.extend(earlier.map(|detail| Row { name: "earlier store", verdict: RowVerdict::Ok, detail }));
        rows.extend(plugins(&home));
    }
    rows
}

/// Why a server that is set is not in use: the store has memories, and nobody agreed to send them there.
fn unagreed(store: &StoreConfig, remote: &Remote) -> Option<SyncError> {
    if remote.is_chosen() {
        return None;
    }
    let mut store = Store::open(store.clone()).ok()?;
    let is_joined = store.sync_status().is_ok_and(|status| status.server.is_some());
    let held = store.stats().map_or(0, |stats| stats.memories + stats.deleted);
    (!is_joined && held > 0).then(|| SyncError::NotAgreed { address: remote.address().to_owned(), held })
}

/// What is to be said of plugins; nothing where there are none.
fn plugins(home: &Home) -> Vec<Row> {
    let row = |verdict, detail: String| Row { name: "plugins", verdict, detail };
    if installed::is_unreadable(home) {
        let detail = format!("{} cannot be read: no plugin is called", home.plugin_registry().display());
        return vec![row(RowVerdict::Bad, detail)];
    }
    let known = Installed::read(home, Timestamp::from_micros(0));
    let (mut names, mut rows) = (Vec::new(), Vec::new());
    for (plugin, counted) in known.iter().flat_map(Installed::plugins) {
        let name = &plugin.manifest.name;
        names.push(name.to_string());
        let changed = plugin.body.files().iter().find(|file| file.read().is_err());
        rows.extend(changed.map(|file| {
            let what = "is not as it was when it was added, so that it is not called; look at it, and add it again";
            row(RowVerdict::Bad, format!("{name}: {} {what}", file.path.display()))
        }));
        rows.extend(
            counted.is_off().then(|| row(RowVerdict::Bad, format!("{name} {}", installed::switched_off(name)))),
        );
    }
    if rows.is_empty() && !names.is_empty() {
        rows.push(row(RowVerdict::Ok, names.join(", ")));
    }
    rows.extend(spooled(home));
    let lies = installed::never_added(home, &names);
    rows.extend((!lies.is_empty()).then(|| {
        row(RowVerdict::Ok, format!("{} never added, and not called; `tessera plugin add` adds it", lies.join(", ")))
    }));
    rows
}

/// What is to be said of what plugins are still to be told.
fn spooled(home: &Home) -> Vec<Row> {
    let row = |verdict, detail: String| Row { name: "plugins", verdict, detail };
    let Lying { waiting, strange } = spool::lying(home);
    let mut rows = Vec::new();
    if waiting >= spool::MOST_WAITING {
        let detail = format!(
            "{waiting} events wait for plugins in {}, and what is done now is told to none; is another program at it, or can \
             nothing be changed there?",
            home.plugin_spool().display()
        );
        rows.push(row(RowVerdict::Bad, detail));
    } else if waiting > 0 {
        rows.push(row(RowVerdict::Ok, format!("{waiting} events wait to be told to plugins")));
    }
    let foreign = |path: &PathBuf| row(RowVerdict::Ok, format!("{} is no event, and is left alone", path.display()));
    rows.extend(strange.first().map(foreign));
    rows
}
