//! The log: off unless somebody asks for it, and on stderr.

use std::io::IsTerminal;

use crate::{config, output};

/// Sends the log to stderr, without the credentials in it: nothing by default, more with `-v` or
/// `DEBUG_MODE`, or what `TESSERA_LOG` says.
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
    // Nobody reads the log any more: that is no reason to fail.
    let builder = builder.with_env_filter(tracing_subscriber::EnvFilter::new(filter)).log_internal_errors(false);
    // A second initialisation can only come from a test; the first one stands.
    let _ = builder.try_init();
}
