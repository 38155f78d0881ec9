//! One call of a plugin: a line of JSON in, an answer out, within limits.

use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::failure::Failure;
use crate::registry::{Body, Plugin};
use crate::reply::Reply;
use crate::wasm::Limits;
use crate::{command, wasm};

/// The result of a call.
#[derive(Debug)]
pub struct Ran {
    /// The answer, or why there is none.
    pub reply: Result<Reply, Failure>,
    /// How long it took.
    pub took: Duration,
    /// Steps that a WASM plugin used.
    pub fuel: u64,
}

/// Calls a plugin with a message. `time` is what the plugin's clock shows, in microseconds since 1970, if a clock is
/// granted. A program works in `dir`. The caller waits no longer than the time in `limits`, including the time for
/// files and preparation.
pub fn run(plugin: &Plugin, message: &[u8], time: i64, dir: &Path, limits: Limits) -> Ran {
    let started = Instant::now();
    let (plugin, message, dir) = (plugin.clone(), message.to_vec(), dir.to_path_buf());
    let called = within(limits.time, move || call(&plugin, &message, time, &dir, limits));
    let (output, fuel) = called.unwrap_or_else(|failure| (Err(failure), 0));
    Ran { reply: output.and_then(|bytes| Reply::read(&bytes)), took: started.elapsed(), fuel }
}

/// Runs a closure on its own thread, and waits for it for at most `time`. Work that exceeds the time limit continues on
/// its own thread until it is finished or reaches another limit, and its result is dropped.
fn within<T: Send + 'static>(time: Duration, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Failure> {
    let (done, heard) = mpsc::channel();
    // The caller may no longer listen.
    let work = move || drop(done.send(work()));
    thread::Builder::new().name("plugin".into()).spawn(work).map_err(|error| Failure::Start(error.to_string()))?;
    heard.recv_timeout(time).map_err(|error| match error {
        RecvTimeoutError::Timeout => Failure::Late(time),
        RecvTimeoutError::Disconnected => Failure::Stopped("it could not be called".to_owned()),
    })
}

fn call(plugin: &Plugin, message: &[u8], time: i64, dir: &Path, limits: Limits) -> (Result<Vec<u8>, Failure>, u64) {
    let started = Instant::now();
    match &plugin.body {
        Body::Wasm(file) => {
            let clock = plugin.manifest.clock.then_some(time);
            match file.read() {
                Ok(bytes) => wasm::call(&bytes, message, clock, limits),
                Err(failure) => (Err(failure), 0),
            }
        }
        Body::Command { program, arguments, files } => {
            let unchanged = files.iter().try_for_each(|file| file.read().map(drop));
            let said = unchanged.and_then(|()| {
                let left = limits.time.saturating_sub(started.elapsed());
                command::call(program, arguments, message, dir, left)
            });
            (said, 0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_for_what_is_late_though_it_cannot_be_interrupted() {
        let (open, gate) = mpsc::channel::<()>();
        let late = within(Duration::from_millis(5), move || gate.recv().is_ok());
        assert!(matches!(late, Err(Failure::Late(_))), "{late:?}");
        drop(open);
        assert!(matches!(within(Duration::from_mins(1), || 7), Ok(7)));
    }
}
