//! The `tessera-server` command: parse, dispatch, exit code.

mod cli;
mod output;
#[cfg(test)]
mod reference;
mod settings;
mod takeover;
mod work;

use clap::Parser;

/// A request allocates and frees thousands of small blocks on several threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return output::usage(&error),
    };
    settings::init_logging(cli.verbose, cli.task.is_none());
    match work::run(cli) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => output::report(&error),
    }
}
