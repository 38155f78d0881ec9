//! One file a command: parse, call the library, print.

mod demo;
mod eval;
mod explain;
mod link;
mod list;
mod maintenance;
mod mcp;
mod recall;
mod remember;
mod show;
mod transfer;
mod views;

use std::io::Read;
use std::process::ExitCode;

use clap::CommandFactory;
use tessera_engine::Store;
use tessera_engine::domain::Origin;
use tessera_engine::store::{Actor, Usage};

use crate::cli::{Cli, Command};
use crate::{config, output};

/// What every command gets.
struct Context {
    json: bool,
    home: Option<std::path::PathBuf>,
}

impl Context {
    fn open(&self, usage: Usage) -> anyhow::Result<Store> {
        Ok(Store::open(config::store(self.home.clone(), usage)?)?)
    }
}

/// Runs a command; its exit code is 0 unless it found something wrong.
pub(crate) fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    let context = Context { json: cli.json, home: cli.home };
    match cli.command {
        Command::Remember(args) => remember::run(&context, args)?,
        Command::Recall(args) => recall::run(&context, *args)?,
        Command::Get { ids } => show::get(&context, &ids)?,
        Command::List(args) => list::run(&context, args)?,
        Command::Update(args) => remember::update(&context, args)?,
        Command::Forget { ids, hard, reason } => remember::forget(&context, &ids, hard, reason)?,
        Command::Restore { id, before } => remember::restore(&context, id, before)?,
        Command::History { id } => show::history(&context, id)?,
        Command::Link { id, kind, to, remove } => link::run(&context, id, kind, to, remove)?,
        Command::Import { file } => return transfer::import(&context, &file),
        Command::Export { file } => transfer::export(&context, file.as_deref())?,
        Command::Stats => maintenance::stats(&context)?,
        Command::Doctor { repair } => return maintenance::doctor(&context, repair),
        Command::Backup { file } => maintenance::backup(&context, file.as_deref())?,
        Command::Eval { what } => eval::run(&context, what)?,
        Command::Mcp { http } => mcp::run(&context, http)?,
        Command::Demo => demo::run(&context)?,
        Command::Settings => settings(&context)?,
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "tessera", &mut std::io::stdout());
        }
        Command::Man => clap_mangen::Man::new(Cli::command()).render(&mut std::io::stdout())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn settings(context: &Context) -> anyhow::Result<()> {
    if context.json {
        let rows: Vec<_> = config::SETTINGS
            .iter()
            .map(|setting| serde_json::json!({ "names": setting.names, "help": setting.help }))
            .collect();
        return output::json(&rows);
    }
    let rows = config::SETTINGS.iter().map(|setting| vec![setting.names.join(", "), setting.help.to_owned()]);
    output::text(&output::table(&["setting", "what it does"], rows.collect()))
}

/// The text of an argument; `-` reads stdin.
fn text_or_stdin(argument: String) -> anyhow::Result<String> {
    if argument != "-" {
        return Ok(argument);
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(16 * 1024 * 1024).read_to_end(&mut bytes)?;
    let text = String::from_utf8(bytes).map_err(|error| {
        crate::exit::UserError(format!("stdin: is not UTF-8 at byte {}", error.utf8_error().valid_up_to()))
    })?;
    Ok(text.strip_suffix('\n').map_or(text.clone(), str::to_owned))
}

fn user(reason: Option<String>) -> Actor {
    Actor { origin: Origin::User, client: Some("tessera".into()), reason, session: None }
}
