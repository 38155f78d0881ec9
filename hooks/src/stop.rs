//! Stop and SubagentStop: write a job for the worker, and start the worker.

use std::process::{Command, Stdio};

use tessera_desk::queue::{Job, WorkerTurn};
use tessera_desk::{queue, screen};

use crate::handoff::SessionState;
use crate::offer;
use crate::reply::{HookError, Reply, claim, dir_of};
use crate::surroundings::{ExtractorChoice, ReviewChoice, Surroundings};
use crate::wire::Payload;

/// The maximum size in bytes of the assistant's last message in a job.
const MOST_ANSWER_BYTES: usize = 8 * 1024;
/// Maximum bytes of the ID of a subagent.
const LONGEST_ID: usize = 128;

/// Leaves the turn to the worker.
pub(crate) fn on_stop(payload: &Payload, surroundings: &Surroundings) -> Result<Option<Reply>, HookError> {
    offer::keep(payload, SessionState::Running, surroundings);
    // In a subagent, the text is not from the person.
    if payload.text(&["agent_id"]).is_some() {
        return Ok(None);
    }
    submit(payload, surroundings, None)
}

/// Leaves the report of a subagent to the worker. The report may contain findings for the review queue.
pub(crate) fn on_subagent_stop(payload: &Payload, surroundings: &Surroundings) -> Result<Option<Reply>, HookError> {
    let subagent = payload.text(&["agent_id"]).filter(|id| id.len() <= LONGEST_ID);
    let is_off = surroundings.settings.review == ReviewChoice::Off || !surroundings.home.holds_store();
    if is_off || subagent.is_none() { Ok(None) } else { submit(payload, surroundings, subagent) }
}

fn submit(
    payload: &Payload,
    surroundings: &Surroundings,
    subagent: Option<String>,
) -> Result<Option<Reply>, HookError> {
    let (Some(session), Some(transcript)) = (payload.session(), payload.transcript()) else { return Ok(None) };
    if surroundings.settings.extractor == ExtractorChoice::Off {
        return Ok(None);
    }
    // The text is screened here, because a job may wait for days.
    let answer = payload.text(&["last_assistant_message"]).unwrap_or_default();
    let answer = screen::screened_head(&answer, MOST_ANSWER_BYTES);
    if subagent.is_some() && answer.trim().is_empty() {
        return Ok(None);
    }
    let job = Job {
        session,
        transcript,
        scope: claim(payload, surroundings).scope,
        cwd: dir_of(payload, surroundings),
        answer,
        subagent,
        claude: surroundings.claude.clone(),
        at: surroundings.clock.now(),
        attempts: 0,
        not_before: None,
    };
    queue::submit(&surroundings.home, &job)
        .map_err(|source| HookError::Queue { path: surroundings.home.queue(), source })?;
    wake_worker(surroundings)?;
    Ok(None)
}

/// Starts the worker unless one is running. The worker continues to run after the client has ended, and does not use
/// the client's input and output.
pub(crate) fn wake_worker(surroundings: &Surroundings) -> Result<(), HookError> {
    if WorkerTurn::is_taken(&surroundings.home) {
        return Ok(());
    }
    detach(surroundings, &["learn"])
}

/// Indexes changed files in a separate process, so that a session's first prompt does not wait for it.
pub(crate) fn scan_files(surroundings: &Surroundings) -> Result<(), HookError> {
    detach(surroundings, &["files", "scan"])
}

/// Starts a Tessera command in the background.
fn detach(surroundings: &Surroundings, arguments: &[&str]) -> Result<(), HookError> {
    let mut command = Command::new(&surroundings.program);
    command.args(arguments).arg("--home").arg(surroundings.home.dir());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).current_dir(surroundings.home.dir());
    #[cfg(windows)]
    {
        use std::os::windows::process::CommandExt;
        const DETACHED_PROCESS: u32 = 0x0000_0008;
        const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;
        command.creation_flags(DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP);
    }
    // There is no wait for it: this process ends at once, and the system adopts and reaps the child.
    command.spawn().map(drop).map_err(HookError::Worker)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;

    use tessera_engine::domain::{FixedClock, Timestamp};

    use super::*;
    use crate::surroundings::Settings;

    #[cfg(unix)]
    #[test]
    fn no_credential_of_an_answer_is_written_to_the_queue() {
        let home = tempfile::tempdir().unwrap();
        let surroundings = Surroundings {
            home: home.path().into(),
            clock: Arc::new(FixedClock(Timestamp::from_micros(1_000_000))),
            settings: Settings::default(),
            unknown_settings: Vec::new(),
            project_dir: None,
            older: tessera_desk::older::Places::default(),
            user_home: None,
            program: PathBuf::from("/bin/true"),
            claude: None,
            search_path: None,
            secrets: tessera_engine::store::SecretRules::default(),
            ollama: String::new(),
        };
        let said = "The key is in place.\\nexport API_KEY=qX7pL2vN9dRt\\nIt works now.";
        let input = format!(
            r#"{{"session_id": "s", "transcript_path": "/t.jsonl", "cwd": "/", "last_assistant_message": "{said}"}}"#
        );
        on_stop(&Payload::read(input.as_bytes()).unwrap(), &surroundings).unwrap();
        let [job] = queue::waiting(&home.path().into()).try_into().unwrap();
        let written = std::fs::read_to_string(job).unwrap();
        assert!(written.contains("It works now.") && !written.contains("qX7pL2"), "{written}");
    }
}
