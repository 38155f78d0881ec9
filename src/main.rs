//! The `tessera` command: parse, dispatch, exit code.
//!
//! `config`, `config_file`, `exit` and `output` depend on each other. An invalid setting causes an error with an exit
//! code, and printing an error needs the setting for colours.

mod cli;
mod commands;
mod config;
mod config_file;
mod exit;
#[cfg(any(feature = "keyring", target_os = "macos", windows))]
mod keyring;
mod logging;
mod output;
#[cfg(test)]
mod reference;
mod shapes;

use clap::FromArgMatches;

fn main() -> std::process::ExitCode {
    // Hooks come first, because a prompt waits for them.
    if let Some(arguments) = commands::hook::Arguments::of(std::env::args_os()) {
        return commands::hook::run(arguments);
    }
    commands::candidates::complete();
    output::begin(cli::manner(std::env::args_os()));
    let arguments = cli::arguments(std::env::args_os());
    let parsed = cli::command_for(&arguments)
        .try_get_matches_from(arguments)
        .and_then(|matches| cli::Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return exit::usage(&error),
    };
    output::begin(cli.manner());
    logging::init(cli.verbose);
    match commands::run(cli) {
        Ok(code) => code,
        Err(error) => exit::report(&error),
    }
}
