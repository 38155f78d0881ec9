//! `plugin`: manages the user's own code that is called before and after memory operations.

use std::path::Path;

use anyhow::Context as _;
use serde_json::json;
use tessera_desk::chain::adding::Proposal;
use tessera_desk::chain::installed::{self, Counted, Installed};
use tessera_engine::store::Home;
use tessera_plugins::{Manifest, Name, Plugin};

use super::Context;
use crate::cli::{AddPlugin, PluginTask};
use crate::exit::UserError;
use crate::shapes::{PluginAdded, PluginRemoved, PluginRow};
use crate::{config, output};

/// Adds, lists, tests and removes plugins.
pub(super) fn run(context: &Context, task: PluginTask) -> anyhow::Result<()> {
    match task {
        PluginTask::List => list(context),
        PluginTask::Add(args) => add(context, *args),
        PluginTask::Remove { name } => remove(context, &name),
        PluginTask::Test { which, message } => super::plugin_test::run(context, &which, message.as_deref()),
        PluginTask::Log { name, limit } => log(context, name.as_ref(), limit),
        PluginTask::New { name, language } => super::plugin_test::new(context, &name, language),
    }
}

fn home(context: &Context) -> anyhow::Result<Home> {
    Ok(config::home(context.home.clone())?)
}

/// The plugins of a home directory with their counters.
fn known(home: &Home) -> anyhow::Result<Vec<(Plugin, Counted)>> {
    if installed::is_unreadable(home) {
        let path = home.plugin_registry();
        let problem = "cannot be read, so plugins are off; move it away, and add the plugins again";
        return Err(UserError(format!("{}: {problem}", path.display())).into());
    }
    let installed = Installed::read(home, config::clock()?.now());
    let all = |installed: Installed| installed.plugins().map(|(plugin, counted)| (plugin.clone(), counted)).collect();
    Ok(installed.map(all).unwrap_or_default())
}

/// The state of a plugin in one or two words.
fn state(plugin: &Plugin, counted: Counted) -> &'static str {
    if plugin.body.files().iter().any(|file| file.read().is_err()) {
        "changed"
    } else if counted.is_off() {
        "off"
    } else {
        "on"
    }
}

fn list(context: &Context) -> anyhow::Result<()> {
    let known = known(&home(context)?)?;
    if context.json {
        let rows: Vec<PluginRow> = known.iter().map(|(plugin, counted)| shown(plugin, *counted)).collect();
        return output::json(&rows);
    }
    if known.is_empty() {
        output::note("no plugins; `tessera plugin add FILE` adds one, `tessera plugin new NAME` creates one");
        return Ok(());
    }
    let row = |(plugin, counted): &(Plugin, Counted)| {
        let manifest = &plugin.manifest;
        let failures = match counted.failures {
            0 => String::new(),
            failures => format!("{failures} ({} in a row)", counted.in_a_row),
        };
        vec![
            format!("{} {}", manifest.name, manifest.version).trim().to_owned(),
            plugin.body.kind().to_owned(),
            state(plugin, *counted).to_owned(),
            failures,
            manifest.permissions().join("; "),
        ]
    };
    let header = ["plugin", "kind", "state", "failures", "may"];
    output::text(&output::table(&header, known.iter().map(row).collect()))
}

fn shown(plugin: &Plugin, counted: Counted) -> PluginRow {
    let manifest = &plugin.manifest;
    PluginRow {
        name: manifest.name.to_string(),
        version: manifest.version.clone(),
        description: manifest.description.clone(),
        kind: plugin.body.kind(),
        state: state(plugin, counted),
        failures: counted.failures,
        failures_in_a_row: counted.in_a_row,
        events: json!(manifest.events),
        change: json!(manifest.change),
        refuse: manifest.refuse,
        fast: manifest.fast,
        clock: manifest.clock,
        files: json!(plugin.body.files()),
    }
}

fn add(context: &Context, args: AddPlugin) -> anyhow::Result<()> {
    let home = home(context)?;
    let proposal = proposed(&args)?;
    let before = known(&home)?.into_iter().find(|(plugin, _)| plugin.manifest.name == proposal.manifest.name);
    let Manifest { name, version, description, .. } = &proposal.manifest;
    let mut lines = vec![format!("{name} {version}").trim().to_owned(), format!("is {}", proposal.what())];
    lines.extend((!description.is_empty()).then(|| format!("says: {description}")));
    lines.extend(proposal.manifest.permissions().into_iter().map(|permission| format!("may {permission}")));
    lines.extend(before.map(|(plugin, _)| format!("replaces {name} {}", plugin.manifest.version)));
    for line in &lines {
        output::note(&output::shown(line));
    }
    if !args.yes && args.command.iter().skip(1).any(|argument| argument == "--yes" || argument == "-y") {
        let problem =
            "everything after --command is passed to the program, including --yes; put --yes before --command";
        return Err(UserError(problem.into()).into());
    }
    let added = super::agreed(args.yes, "Add this plugin?")?;
    let name = name.clone();
    if added {
        home.make()?;
        proposal.accept(&home)?;
    }
    if context.json {
        return output::json(&PluginAdded { name: name.to_string(), added });
    }
    output::say(&if added {
        format!("Added {name}. `tessera plugin test {name}` calls it with sample messages.")
    } else {
        format!("{name} was not added.")
    })
}

/// The plugin that the arguments of `plugin add` describe.
fn proposed(args: &AddPlugin) -> anyhow::Result<Proposal> {
    let manifest = match (&args.file, &args.name) {
        (Some(file), _) if args.command.is_empty() => {
            if file.extension().is_some_and(|extension| extension == "toml") {
                return Err(UserError(format!(
                    "{0} describes a program, so name the program: `tessera plugin add {0} --command PROGRAM`",
                    file.display()
                ))
                .into());
            }
            return Ok(Proposal::of_wasm(file)?);
        }
        (Some(file), _) => {
            let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
            Manifest::read(&text).with_context(|| file.display().to_string())?
        }
        (None, Some(name)) => Manifest {
            name: name.clone(),
            version: String::new(),
            description: String::new(),
            events: args.events.iter().copied().collect(),
            change: args.change.iter().copied().collect(),
            refuse: args.refuse,
            fast: args.fast,
            clock: false,
        }
        .checked()?,
        (None, None) => {
            return Err(
                UserError("name a WASM file or a manifest, or give --name and --command PROGRAM".to_owned()).into()
            );
        }
    };
    let Some((program, arguments)) = args.command.split_first() else {
        return Err(UserError("`--command` needs the name of a program".to_owned()).into());
    };
    let dir = std::env::current_dir()?;
    Ok(Proposal::of_command(manifest, program, arguments, &dir, &config::search_path())?)
}

fn remove(context: &Context, name: &Name) -> anyhow::Result<()> {
    let home = home(context)?;
    if !installed::remove(&home, name)? {
        return Err(UserError(format!("there is no plugin `{name}`; `tessera plugin list` lists all")).into());
    }
    if context.json {
        return output::json(&PluginRemoved { name: name.to_string(), removed: true });
    }
    let data = home.plugin_data(name.as_str());
    let kept = if data.is_dir() { format!("; its data stays in {}", data.display()) } else { String::new() };
    output::say(&format!("Removed {name}{kept}."))
}

fn log(context: &Context, name: Option<&Name>, limit: usize) -> anyhow::Result<()> {
    let lines = installed::log_lines(&home(context)?, name);
    let last = lines.get(lines.len().saturating_sub(limit)..).unwrap_or_default();
    if context.json {
        return output::json(&last);
    }
    if last.is_empty() {
        let is_known =
            |name: &&Name| known(&home(context)?).map(|all| all.iter().any(|(one, _)| one.manifest.name == **name));
        match name {
            Some(name) if !is_known(&name)? => {
                return Err(UserError(format!("there is no plugin `{name}`; `tessera plugin list` lists all")).into());
            }
            _ => output::note("no plugin has logged anything yet"),
        }
    }
    last.iter().try_for_each(|line| output::line(&output::shown(line)))
}

/// The plugin with this name, or a WASM file.
pub(super) fn named(context: &Context, which: &str) -> anyhow::Result<Plugin> {
    let path = Path::new(which);
    if path.is_file() {
        return Ok(Proposal::of_wasm(path)?.as_it_is(path));
    }
    let found = known(&home(context)?)?.into_iter().find(|(plugin, _)| plugin.manifest.name.as_str() == which);
    found.map(|(plugin, _)| plugin).ok_or_else(|| {
        UserError(format!("`{which}` is neither a plugin nor a file; `tessera plugin list` lists the plugins")).into()
    })
}
