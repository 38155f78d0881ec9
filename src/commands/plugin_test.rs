//! `plugin test` and `plugin new`: test and create plugins.
//!
//! This module and `plugin` use each other: `plugin` dispatches its subcommands, and `test` accepts an added plugin.

use std::path::Path;

use anyhow::Context as _;
use serde_json::{Value, json};
use tessera_plugins::template::{self, File};
use tessera_plugins::wasm::Limits;
use tessera_plugins::{Event, Name, Plugin, Ran, When};

use super::{Context, plugin};
use crate::cli::Language;
use crate::exit::UserError;
use crate::shapes::{PluginAnswer, PluginCall, PluginCreated};
use crate::{config, output};

/// Maximum bytes of a message.
const MOST_BYTES: u64 = 1024 * 1024;

/// The text of the sample memory.
const SAMPLE: &str = "We deploy the ledger on Fridays, see LDG-4019";

/// Calls a plugin, and shows its answer, its run time and the number of executed instructions.
pub(super) fn run(context: &Context, which: &str, message: Option<&Path>) -> anyhow::Result<()> {
    let found = plugin::named(context, which)?;
    let messages = match message {
        Some(path) => vec![read(path)?],
        None => samples(&found),
    };
    let home = config::home(context.home.clone())?;
    let dir = home.plugin_data(found.manifest.name.as_str());
    let now = config::clock()?.now().as_micros();
    let scratch = tempfile::tempdir()?;
    let dir = if dir.is_dir() { dir } else { scratch.path().to_path_buf() };
    let mut rows = Vec::new();
    let mut is_good = true;
    for message in messages {
        let ran = tessera_plugins::run(&found, message.to_string().as_bytes(), now, &dir, Limits::UNWAITED);
        let said = ran.reply.as_ref().map(|reply| reply.granted(&found.manifest).map(drop));
        is_good &= matches!(said, Ok(Ok(())));
        let failure = match said {
            Ok(Ok(())) => None,
            Ok(Err(failure)) => Some(failure.to_string()),
            Err(failure) => Some(failure.to_string()),
        };
        rows.push(row(&message, &ran, failure));
    }
    if context.json {
        output::json(&rows)?;
    } else {
        for row in &rows {
            output::text(&format!("{}\n", output::shown(&serde_json::to_string(row)?)))?;
        }
    }
    if is_good {
        Ok(())
    } else {
        Err(UserError(format!("calls of the plugin {which} failed; the field `failure` above gives the reason")).into())
    }
}

fn row(message: &Value, ran: &Ran, failure: Option<String>) -> PluginCall {
    let answer = ran.reply.as_ref().ok().map(|reply| PluginAnswer {
        change: json!(reply.change),
        refuse: reply.refuse.clone(),
        note: reply.note.clone(),
    });
    let what = format!("{}.{}", message["event"].as_str().unwrap_or("?"), message["when"].as_str().unwrap_or("?"));
    let took_micros = u64::try_from(ran.took.as_micros()).unwrap_or(u64::MAX);
    PluginCall { event: what, answer, failure, took_micros, fuel: ran.fuel }
}

fn read(path: &Path) -> anyhow::Result<Value> {
    use std::io::Read;
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        std::io::stdin().lock().take(MOST_BYTES).read_to_end(&mut bytes)?;
    } else {
        std::fs::File::open(path)
            .with_context(|| path.display().to_string())?
            .take(MOST_BYTES)
            .read_to_end(&mut bytes)?;
    }
    let wrong = |error| {
        UserError(format!("the message in {} is not valid JSON ({error}); write one JSON object", path.display()))
    };
    Ok(serde_json::from_slice(&bytes).map_err(wrong)?)
}

/// A message for each event of the plugin.
fn samples(plugin: &Plugin) -> Vec<Value> {
    let memory = json!({
        "id": 1, "uuid": "019a9e6a-0000-7000-8000-000000000001", "content": SAMPLE,
        "summary": SAMPLE, "category": "facts", "type": "fact", "importance": 0.5,
        "tags": ["ledger"], "keywords": [], "entities": [], "scope": "acme/ledger", "created": "2026-11-20T12:00:00Z",
        "updated": "2026-11-20T12:00:00Z", "expires_at": null, "origin": "user", "deleted": null
    });
    let sample = |event: Event, when: When| {
        let fields = match event {
            Event::Store => json!({
                "content": SAMPLE, "tags": ["ledger"], "keywords": [], "entities": []
            }),
            Event::Update => json!({ "content": "We deploy the ledger on Mondays" }),
            Event::Recall => json!({ "query": "when do we deploy the ledger?" }),
            Event::Forget => json!({}),
        };
        let is_there = when == When::After || matches!(event, Event::Update | Event::Forget);
        json!({
            "abi": tessera_plugins::ABI, "event": event, "when": when, "origin": "user", "client": "tessera",
            "project": "acme/ledger", "unasked": false, "fields": fields,
            "memories": if is_there { vec![memory.clone()] } else { Vec::new() }
        })
    };
    plugin.manifest.events.iter().map(|wants| sample(wants.event, wants.when)).collect()
}

/// Writes the files of a new plugin into a new directory with its name.
pub(super) fn new(context: &Context, name: &Name, language: Language) -> anyhow::Result<()> {
    let dir = std::env::current_dir()?.join(name.as_str());
    if dir.exists() {
        return Err(
            UserError(format!("{} already exists; use another name, or delete the directory", dir.display())).into()
        );
    }
    let files = match language {
        Language::Rust => template::rust(name),
        Language::Python => template::python(name),
        Language::Sh => template::sh(name),
    };
    for File { path, text, is_program } in &files {
        let path = dir.join(path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).with_context(|| parent.display().to_string())?;
        }
        std::fs::write(&path, text).with_context(|| path.display().to_string())?;
        #[cfg(unix)]
        if *is_program {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
        }
        #[cfg(not(unix))]
        let _ = is_program;
    }
    if context.json {
        let paths: Vec<&'static str> = files.iter().map(|file| file.path).collect();
        return output::json(&PluginCreated { dir, files: paths });
    }
    output::say(&format!(
        "Wrote {} into {}. Continue with the README.md there.",
        output::files(files.len()),
        dir.display()
    ))
}
