//! One line for each fault of ours, in a file that does not grow without bound.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tessera_engine::domain::Timestamp;

/// The log in the store's directory.
pub const FILE: &str = "hooks.log";
const MOST_BYTES: u64 = 256 * 1024;

/// The last line, if there is one.
pub fn last(home: &Path) -> Option<String> {
    let bytes = fs::read(home.join(FILE)).ok()?;
    String::from_utf8_lossy(&bytes).lines().last().map(str::to_owned)
}

/// Writes a line. There is nobody to tell when that fails.
pub fn line(home: &Path, at: Timestamp, text: &str) {
    if !home.is_dir() {
        return;
    }
    let path = home.join(FILE);
    if path.metadata().is_ok_and(|metadata| metadata.len() > MOST_BYTES) {
        let _ = fs::rename(&path, home.join("hooks.log.old"));
    }
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let flat: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(500).collect();
    if let Ok(mut file) = options.open(path) {
        let _ = writeln!(file, "{at} {flat}");
    }
}

/// How long the end of a hook waits for its line.
const LAST_MOMENT: Duration = Duration::from_millis(100);

/// Writes a line, and waits for it only a moment: the disk may be what hangs.
pub fn line_in_passing(home: &Path, at: Timestamp, text: &str) {
    let (done, written) = mpsc::channel();
    let (home, text) = (home.to_path_buf(), text.to_owned());
    let write = move || {
        line(&home, at, &text);
        // Nobody may wait any more.
        let _ = done.send(());
    };
    if thread::Builder::new().spawn(write).is_ok() {
        let _ = written.recv_timeout(LAST_MOMENT);
    }
}
