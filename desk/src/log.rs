//! One line per internal error, in a file of limited size.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tessera_engine::domain::Timestamp;
use tessera_engine::screen::dropped;
use tessera_engine::store::{Home, private_file};

const MOST_BYTES: u64 = 256 * 1024;

/// The last line, if there is one.
pub fn last(home: &Home) -> Option<String> {
    let bytes = fs::read(home.hooks_log()).ok()?;
    String::from_utf8_lossy(&bytes).lines().last().map(str::to_owned)
}

/// Writes a line. A failure cannot be reported.
pub fn line(home: &Home, at: Timestamp, text: &str) {
    if !home.dir().is_dir() {
        return;
    }
    append(&home.hooks_log(), &home.hooks_log_old(), at, text);
}

/// Appends a line to a log. A log that is too long is first renamed to `old`.
pub(crate) fn append(path: &Path, old: &Path, at: Timestamp, text: &str) {
    if path.metadata().is_ok_and(|metadata| metadata.len() > MOST_BYTES) {
        let _ = fs::rename(path, old);
    }
    let flat: String = dropped(text).chars().map(|c| if c.is_control() { ' ' } else { c }).take(500).collect();
    if let Ok(mut file) = private_file().create(true).append(true).open(path) {
        // One write, because other processes append too.
        let _ = file.write_all(format!("{at} {flat}\n").as_bytes());
    }
}

/// The maximum time for which a hook waits until its log line is written.
const LAST_MOMENT: Duration = Duration::from_millis(100);

/// Writes a line, and waits only a moment, because the disk may hang.
pub fn line_in_passing(home: &Home, at: Timestamp, text: &str) {
    let (done, written) = mpsc::channel();
    let (home, text) = (home.clone(), text.to_owned());
    let write = move || {
        line(&home, at, &text);
        // The caller may no longer wait.
        let _ = done.send(());
    };
    if thread::Builder::new().spawn(write).is_ok() {
        let _ = written.recv_timeout(LAST_MOMENT);
    }
}
