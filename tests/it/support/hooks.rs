//! `tessera hook` as a client runs it.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Ran, World};

/// Runs `tessera hook` in the world's work directory.
pub(crate) fn hook(world: &World, input: &[u8], variables: &[(&str, &str)]) -> Ran {
    let work = world.path("work");
    fs::create_dir_all(&work).unwrap();
    let mut command = world.command(World::binary());
    command.arg("hook").current_dir(&work).envs(variables.iter().copied());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A hook that wants no input may have gone.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap().into()
}

pub(crate) fn event(world: &World, name: &str, session: &str, fields: Value) -> Value {
    let mut payload =
        json!({ "hook_event_name": name, "session_id": session, "cwd": world.path("work").to_str().unwrap() });
    payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    payload
}

/// What an event puts before the model.
pub(crate) fn given(world: &World, payload: &Value) -> Option<String> {
    context_of(&hook(world, payload.to_string().as_bytes(), &[]))
}

pub(crate) fn context_of(ran: &Ran) -> Option<String> {
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
    if ran.stdout.is_empty() {
        return None;
    }
    let reply: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    Some(reply["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned())
}

pub(crate) fn asked(world: &World, session: &str, prompt: &str) -> Option<String> {
    given(world, &event(world, "UserPromptSubmit", session, json!({ "prompt": prompt })))
}

pub(crate) fn faults(world: &World) -> Vec<String> {
    fs::read_to_string(world.home().join("hooks.log")).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// Processes that were started for this world.
fn processes(world: &World) -> Vec<String> {
    let mark = world.home().to_str().unwrap().to_owned();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if line.contains(&mark) {
            found.push(line);
        }
    }
    found
}

/// True when no process of this world is left. One that is just becoming another program has no arguments for a
/// moment: a second look finds it.
fn is_alone(world: &World) -> bool {
    let is_empty = || processes(world).is_empty();
    let again = || thread::sleep(Duration::from_millis(50));
    is_empty() && (again(), is_empty()).1
}

/// Waits until no process of this world is left.
pub(crate) fn no_process(world: &World) {
    until(|| is_alone(world), || format!("{:?}", processes(world)));
}

/// Waits until something is so; `what` says what is instead.
pub(crate) fn until(is_so: impl Fn() -> bool, what: impl Fn() -> String) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_mins(1), "{}", what());
        thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until the worker has ended and nothing waits for it.
pub(crate) fn settled(world: &World) {
    let queue = world.home().join("queue");
    let waits = || fs::read_dir(&queue).map_or(0, Iterator::count);
    until(|| is_alone(world) && waits() == 0, || format!("{:?}, {} jobs wait", processes(world), waits()));
}

/// A conversation as the client writes it: what the person said, what was answered.
pub(crate) fn transcript(path: &Path, turns: &[(&str, &str)]) {
    let mut text = String::new();
    for (number, (user, assistant)) in turns.iter().enumerate() {
        let line = |kind: &str, id: String, content: Value| json!({ "type": kind, "uuid": id, "isSidechain": false, "message": { "role": kind, "content": content } });
        text += &format!("{}\n", line("user", format!("u{number}"), json!(user)));
        let answer = json!([{ "type": "text", "text": assistant }]);
        text += &format!("{}\n", line("assistant", format!("a{number}"), answer));
    }
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

pub(crate) fn stop(world: &World, session: &str, transcript: &Path, answer: &str) -> Value {
    let fields = json!({ "transcript_path": transcript.to_str().unwrap(), "last_assistant_message": answer });
    event(world, "Stop", session, fields)
}
