//! One event, from stdin to stdout, inside a deadline.

use std::io::Read;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{process, thread};

use tessera_engine::store::StoreError;

use crate::reply::Reply;
use crate::surroundings::Surroundings;
use crate::wire::{MOST_BYTES, Payload, PayloadError};
use crate::{approve, compaction, log, recall, session, stop};

/// A fault of ours: logged, never shown to the client.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HookError {
    /// stdin cannot be read.
    #[error("stdin cannot be read: {0}")]
    Stdin(#[from] std::io::Error),
    /// stdin is not a hook's input.
    #[error(transparent)]
    Payload(#[from] PayloadError),
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A job for the worker cannot be written.
    #[error("the job queue {path} cannot be written: {source}")]
    Queue {
        /// Its directory.
        path: std::path::PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The worker cannot be started.
    #[error("the worker cannot be started: {0}")]
    Worker(std::io::Error),
}

/// Handles one event. `named` is the event from the command line, for a client that does not send it.
///
/// Gives what is to be printed. A fault gives nothing and one line in the log; when the deadline is over,
/// the process ends there and then, without a word on stdout and with exit code 0.
pub fn run(input: impl Read, named: Option<String>, surroundings: &Surroundings) -> Option<String> {
    let is_answered = Arc::new(AtomicBool::new(false));
    watch(Arc::clone(&is_answered), surroundings);
    let handled = panic::catch_unwind(AssertUnwindSafe(|| handle(input, named, surroundings)));
    // From here on the watchdog lets the answer out.
    is_answered.store(true, Ordering::SeqCst);
    let fault = match handled {
        Ok(Ok(reply)) => return reply.map(|reply| reply.to_string()),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "stopped unexpectedly".to_owned(),
    };
    log::line(&surroundings.home, surroundings.clock.now(), &fault);
    None
}

/// Handles one event of which the input is at hand, without a deadline.
///
/// # Errors
/// A fault of ours.
pub(crate) fn answer(input: &[u8], surroundings: &Surroundings) -> Result<Option<String>, HookError> {
    Ok(handle(input, None, surroundings)?.map(|reply| reply.to_string()))
}

/// Ends the process when it takes too long. The work is done on the main thread, whose memory is cheaper.
fn watch(is_answered: Arc<AtomicBool>, surroundings: &Surroundings) {
    let Surroundings { home, clock, settings, .. } = surroundings.clone();
    let deadline = settings.deadline;
    let watchdog = move || {
        thread::sleep(deadline);
        if !is_answered.swap(true, Ordering::SeqCst) {
            log::line(&home, clock.now(), &format!("gave up after {} ms", deadline.as_millis()));
            process::exit(0);
        }
    };
    // Without a thread there is no deadline, and the client's own still holds.
    let _ = thread::Builder::new().name("watchdog".into()).stack_size(64 * 1024).spawn(watchdog);
}

fn handle(input: impl Read, named: Option<String>, surroundings: &Surroundings) -> Result<Option<Reply>, HookError> {
    let mut bytes = Vec::new();
    input.take(MOST_BYTES).read_to_end(&mut bytes)?;
    let payload = Payload::read(&bytes)?;
    let Some(event) = payload.event().or(named) else { return Ok(None) };
    match squeezed(&event).as_str() {
        "userpromptsubmit" => recall::on_prompt(&payload, surroundings),
        "sessionstart" => session::on_start(&payload, surroundings),
        "precompact" => compaction::before(&payload, surroundings),
        "postcompact" | "stop" => stop::on_stop(&payload, surroundings),
        "sessionend" => session::on_end(&payload, surroundings),
        "pretooluse" => Ok(approve::before_use(&payload, surroundings)),
        "permissionrequest" => Ok(approve::on_request(&payload, surroundings)),
        _ => Ok(None),
    }
}

/// `UserPromptSubmit`, `user-prompt-submit` and `user_prompt_submit` are one event.
fn squeezed(event: &str) -> String {
    event.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}
