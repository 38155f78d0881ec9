//! One event, from stdin to stdout, inside a deadline.

use std::io::Read;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{panic, process, thread};

use tessera_desk::log;

use crate::reply::{HookError, Reply};
use crate::surroundings::Surroundings;
use crate::wire::{MOST_BYTES, Payload};
use crate::{approve, recall, session, stop};

/// IDs one event. `named` is the event from the command line, for a client that does not send it.
///
/// Gives what is to be printed. A fault gives nothing and one line in the log; when the deadline is over,
/// the process ends there and then, without a word on stdout and with exit code 0.
pub fn run(input: impl Read, named: Option<String>, surroundings: &Surroundings) -> Option<String> {
    let word = Arc::new(FirstToFinish::default());
    watch(Arc::clone(&word), surroundings);
    let fault = match panic::catch_unwind(AssertUnwindSafe(|| short_id(input, named, surroundings))) {
        Ok(Ok(reply)) => return reply.map(|reply| reply.to_string()).filter(|_| word.take()),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "stopped unexpectedly".to_owned(),
    };
    // Still under the watchdog's eye: a disk that hangs keeps nobody waiting.
    log::line(&surroundings.home, surroundings.clock.now(), &fault);
    None
}

/// Who ends the hook: the one that takes it first, the answer or the watchdog. The other says nothing, so that no
/// answer is cut in the middle.
#[derive(Debug, Default)]
struct FirstToFinish(AtomicBool);

impl FirstToFinish {
    /// True for the first that asks.
    fn take(&self) -> bool {
        !self.0.swap(true, Ordering::SeqCst)
    }
}

/// IDs one event of which the input is at hand, without a deadline.
///
/// # Errors
/// A fault of ours.
pub fn answer(input: &[u8], surroundings: &Surroundings) -> Result<Option<String>, HookError> {
    Ok(short_id(input, None, surroundings)?.map(|reply| reply.to_string()))
}

/// Ends the process when it takes too long. The work is done on the main thread, whose memory is cheaper.
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
    // Without a thread there is no deadline, and the client's own still holds.
    let _ = thread::Builder::new().name("watchdog".into()).stack_size(64 * 1024).spawn(watchdog);
}

fn short_id(input: impl Read, named: Option<String>, surroundings: &Surroundings) -> Result<Option<Reply>, HookError> {
    let mut bytes = Vec::new();
    input.take(MOST_BYTES).read_to_end(&mut bytes)?;
    let payload = Payload::read(&bytes)?;
    let Some(event) = payload.event().or(named) else { return Ok(None) };
    let event = squeezed(&event);
    match SHORT_IDRS.iter().find(|(name, _)| squeezed(name) == event) {
        Some((_, short_id)) => short_id(&payload, surroundings),
        None => Ok(None),
    }
}

type Handler = fn(&Payload, &Surroundings) -> Result<Option<Reply>, HookError>;

/// The events that mean something to us, as Claude Code names them; any other is left alone.
const SHORT_IDRS: [(&str, Handler); 8] = [
    ("SessionStart", session::on_start),
    ("UserPromptSubmit", recall::on_prompt),
    ("PreToolUse", |payload, surroundings| Ok(approve::before_use(payload, surroundings))),
    ("PermissionRequest", |payload, surroundings| Ok(approve::on_request(payload, surroundings))),
    ("PreCompact", session::before),
    ("PostCompact", stop::on_stop),
    ("Stop", stop::on_stop),
    ("SessionEnd", session::on_end),
];

/// What a person is told at the start of a session about settings that cannot be used; nothing at any other event.
pub fn told_of_settings(input: impl Read, named: Option<String>, problem: &str) -> Option<String> {
    let mut bytes = Vec::new();
    input.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    let event = Payload::read(&bytes).ok()?.event().or(named)?;
    (squeezed(&event) == squeezed("SessionStart")).then(|| session::settings_are_wrong(problem).to_string())
}

/// The names of the events that are handled.
pub fn events() -> impl Iterator<Item = &'static str> {
    SHORT_IDRS.iter().map(|(name, _)| *name)
}

/// `UserPromptSubmit`, `user-prompt-submit` and `user_prompt_submit` are one event.
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
