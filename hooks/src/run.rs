//! Handles one event within a time limit, from stdin to stdout.

use std::io::Read;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{panic, process, thread};

use tessera_desk::log;

use crate::reply::{HookError, Reply};
use crate::surroundings::Surroundings;
use crate::wire::{MOST_BYTES, Payload};
use crate::{action, approve, failure, recall, session, stop};

/// Handles one event. `named` is the event from the command line, for a client that does not send it.
///
/// Returns the text to print. In case of an internal error, the hook returns no text, and writes one line to the log.
/// When the time limit is exceeded, the process ends immediately, without output and with exit code 0.
pub fn run(input: impl Read, named: Option<String>, surroundings: &Surroundings) -> Option<String> {
    let word = Arc::new(FirstToFinish::default());
    watch(Arc::clone(&word), surroundings);
    let fault = match panic::catch_unwind(AssertUnwindSafe(|| handle(input, named, surroundings))) {
        Ok(Ok(reply)) => return reply.map(|reply| reply.to_string()).filter(|_| word.take()),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "stopped unexpectedly".to_owned(),
    };
    // The watchdog still runs here, so that a disk that hangs does not block the client.
    log::line(&surroundings.home, surroundings.clock.now(), &fault);
    None
}

/// Decides whether the answer or the watchdog ends the hook. The first one that is ready wins. The one that is later
/// does nothing, so an answer is never cut off.
#[derive(Debug, Default)]
struct FirstToFinish(AtomicBool);

impl FirstToFinish {
    /// True for the first call.
    fn take(&self) -> bool {
        !self.0.swap(true, Ordering::SeqCst)
    }
}

/// Handles one event whose input is already read, without a time limit.
///
/// # Errors
/// An internal error.
pub fn answer(input: &[u8], surroundings: &Surroundings) -> Result<Option<String>, HookError> {
    Ok(handle(input, None, surroundings)?.map(|reply| reply.to_string()))
}

/// Ends the process when the time limit is exceeded. The main thread handles the event, because its stack costs less
/// memory than that of a second thread.
fn watch(word: Arc<FirstToFinish>, surroundings: &Surroundings) {
    let Surroundings { home, clock, settings, .. } = surroundings.clone();
    let deadline = settings.deadline;
    let watchdog = move || {
        thread::sleep(deadline);
        if !word.take() {
            return;
        }
        log::line_in_passing(&home, clock.now(), &format!("gave up after {} ms", deadline.as_millis()));
        process::exit(0);
    };
    // Without this thread there is no time limit of ours, but the client's own still applies.
    let _ = thread::Builder::new().name("watchdog".into()).stack_size(64 * 1024).spawn(watchdog);
}

fn handle(input: impl Read, named: Option<String>, surroundings: &Surroundings) -> Result<Option<Reply>, HookError> {
    let mut bytes = Vec::new();
    input.take(MOST_BYTES).read_to_end(&mut bytes)?;
    let payload = Payload::read(&bytes)?;
    let Some(event) = payload.event().or(named) else { return Ok(None) };
    let event = squeezed(&event);
    match HANDLERS.iter().find(|(name, _)| squeezed(name) == event) {
        Some((_, handler)) => handler(&payload, surroundings),
        None => Ok(None),
    }
}

type Handler = fn(&Payload, &Surroundings) -> Result<Option<Reply>, HookError>;

/// The supported events, as Claude Code names them. Any other event is ignored.
const HANDLERS: [(&str, Handler); 10] = [
    ("SessionStart", session::on_start),
    ("UserPromptSubmit", recall::on_prompt),
    ("PreToolUse", action::before_use),
    ("PostToolUseFailure", failure::on_failure),
    ("PermissionRequest", |payload, surroundings| Ok(approve::on_request(payload, surroundings))),
    ("PreCompact", session::before),
    ("PostCompact", stop::on_stop),
    ("Stop", stop::on_stop),
    ("SubagentStop", stop::on_subagent_stop),
    ("SessionEnd", session::on_end),
];

/// A notice about invalid settings at the start of a session; nothing for other events.
pub fn told_of_settings(input: impl Read, named: Option<String>, problem: &str) -> Option<String> {
    let mut bytes = Vec::new();
    input.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    let event = Payload::read(&bytes).ok()?.event().or(named)?;
    (squeezed(&event) == squeezed("SessionStart")).then(|| session::settings_are_wrong(problem).to_string())
}

/// The names of the supported events.
pub fn events() -> impl Iterator<Item = &'static str> {
    HANDLERS.iter().map(|(name, _)| *name)
}

/// Treats `UserPromptSubmit`, `user-prompt-submit` and `user_prompt_submit` as the same name.
fn squeezed(event: &str) -> String {
    event.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_alone_has_the_last_word() {
        let word = FirstToFinish::default();
        assert_eq!([word.take(), word.take(), word.take()], [true, false, false]);
    }
}
