//! The log: off by default, and written to stderr.

use std::io::IsTerminal;

use crate::{config, output};

/// Writes the log to stderr, with credentials redacted. `-v`, `DEBUG_MODE` or `TESSERA_LOG` enable it.
pub(crate) fn init(verbose: u8) {
    let filter = config::LOG.text().unwrap_or_else(|| {
        match verbose.max(if config::DEBUG_MODE.is_on() { 2 } else { 0 }) {
            0 => "off",
            1 => "info",
            _ => "debug",
        }
        .to_owned()
    });
    if filter == "off" {
        return;
    }
    let builder = tracing_subscriber::fmt().with_writer(|| output::Log).with_ansi(std::io::stderr().is_terminal());
    // A closed stderr is not an error.
    let builder = builder.with_env_filter(tracing_subscriber::EnvFilter::new(filter)).log_internal_errors(false);
    // A second initialisation happens only in tests; the first one stays.
    let _ = builder.try_init();
}
