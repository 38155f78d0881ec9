//! The `tessera-server` command: parse, dispatch, exit code.

mod cli;
mod exit;
mod leaving;
mod output;
mod settings;
mod takeover;
mod work;

use clap::Parser;

fn main() -> std::process::ExitCode {
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return exit::usage(&error),
    };
    settings::init_logging(cli.verbose, cli.task.is_none());
    match work::run(cli) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => exit::report(&error),
    }
}
