//! Reads the parts of a hand-off from a transcript.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde_json::Value;
use tessera_engine::domain::Timestamp;
use tessera_tables::names;

use super::commands::{Command, Commands, FailedCommand};
use super::files::{EditedFile, Edits};
use super::tasks::Tasks;
use super::{decisions, quoted};
use crate::prompt::{agent_sentences, is_small_talk, own_words};
use crate::said::sentences;
use crate::transcript::{MOST_BYTES, Row, ToolResult, each_row};

/// The maximum number of bytes at the end of a transcript that are read for an offer.
const MOST_BYTES_FOR_OFFER: u64 = 256 * 1024;
/// The fewest prompts of a session without tool calls for which a hand-off is offered.
const FEWEST_PROMPTS: usize = 3;
/// The maximum number of quoted requests and decisions.
const MOST_REQUESTS: usize = 3;
const MOST_DECISIONS: usize = 24;
/// Answers of at most this number of words need the agent's question beside them.
const FEW_WORDS: usize = 12;
/// The number of answers, from the last one, whose sentences about remaining work count.
const LAST_ANSWERS: usize = 3;
/// The output of a tool that a person did not allow. The tool did not run.
const NOT_ALLOWED: &str = "The user doesn't want to";

names! {
/// Who wrote a sentence.
pub enum Speaker {
    /// The person.
    User = "user",
    /// The agent.
    Agent = "agent",
}
}

/// A quoted sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    /// Who wrote it.
    pub speaker: Speaker,
    /// The sentence in one line, without credentials.
    pub text: String,
}

/// What the next agent needs from a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Handoff {
    /// The time of the last row.
    pub at: Option<Timestamp>,
    /// The branch of the repository.
    pub branch: Option<String>,
    /// The first request, if it is not among the last ones.
    pub first_request: Option<String>,
    /// The last requests, newest first.
    pub requests: Vec<String>,
    /// Sentences that decide something, the most important first.
    pub decisions: Vec<Quote>,
    /// The edited files, the most recently edited one first.
    pub files: Vec<EditedFile>,
    /// The commands that failed when they were last run, newest first.
    pub failed: Vec<FailedCommand>,
    /// The commands that worked when they were last run, the most important first.
    pub worked: Vec<Command>,
    /// Questions of the agent without an answer, and sentences about remaining work.
    pub open: Vec<Quote>,
    /// Tasks that are not completed.
    pub tasks: Vec<String>,
}

impl Handoff {
    /// Reads a transcript. `root` is the directory of the project.
    ///
    /// # Errors
    /// Returns an error if the transcript cannot be read.
    pub fn read(transcript: &Path, root: &Path) -> io::Result<Self> {
        let mut session = Session::default();
        each_row(transcript, MOST_BYTES, |row| session.row(row))?;
        Ok(session.handoff(root))
    }

    /// True if there is nothing to hand off.
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty() && self.files.is_empty() && self.failed.is_empty() && self.worked.is_empty()
    }
}

/// The last request of a session that did some work. Reads only the end of the transcript.
pub fn last_request(transcript: &Path) -> Option<String> {
    let (mut prompts, mut has_worked) = (Vec::new(), false);
    let read = each_row(transcript, MOST_BYTES_FOR_OFFER, |row| {
        prompts.extend(row.prompt().as_deref().and_then(request));
        has_worked |= !row.tool_calls().is_empty();
    });
    read.ok()?;
    if has_worked || prompts.len() >= FEWEST_PROMPTS { prompts.pop() } else { None }
}

/// The person's own words in a prompt that asks for something.
fn request(prompt: &str) -> Option<String> {
    let own = own_words(prompt);
    if is_small_talk(&own) { None } else { quoted(&own) }
}

/// A sentence that decides something.
#[derive(Debug)]
struct Decision {
    quote: Quote,
    points: u32,
    /// The number of prompts before it.
    turn: usize,
}

/// What has been read so far.
#[derive(Debug, Default)]
struct Session {
    at: Option<Timestamp>,
    branch: Option<String>,
    requests: Vec<String>,
    turns: usize,
    decisions: Vec<Decision>,
    /// The sentences of the agent since the last prompt.
    answer: Vec<String>,
    /// The sentences about remaining work, with the number of prompts before them.
    remaining: Vec<(usize, String)>,
    /// The calls without a result.
    calls: BTreeMap<String, (String, Value)>,
    commands: Commands,
    edits: Edits,
    tasks: Tasks,
}

impl Session {
    fn row(&mut self, row: &Row) {
        self.at = row.at().or(self.at);
        if let Some(branch) = row.branch().filter(|branch| *branch != "HEAD") {
            self.branch = Some(branch.to_owned());
        }
        if let Some(prompt) = row.prompt() {
            self.prompt(&prompt);
        }
        for text in row.agent_texts() {
            self.agent_text(text);
        }
        for call in row.tool_calls() {
            self.calls.insert(call.id.to_owned(), (call.name.to_owned(), call.input.clone()));
        }
        for result in row.tool_results() {
            self.result(&result);
        }
    }

    fn prompt(&mut self, prompt: &str) {
        self.turns += 1;
        let own = own_words(prompt);
        let is_answer = own.split_whitespace().count() <= FEW_WORDS && !decisions::asks(&own);
        let question = self.answer.iter().rev().find(|sentence| decisions::asks(sentence)).filter(|_| is_answer);
        // A short answer is a decision together with its question.
        if let Some(question) = question.cloned() {
            self.answered(&question, &own);
        } else {
            for sentence in own.lines().flat_map(sentences) {
                self.decided(Speaker::User, sentence, decisions::points_of_person(sentence));
            }
        }
        self.requests.extend(request(prompt));
        self.answer.clear();
    }

    /// Adds the agent's question and the person's answer as one decision.
    fn answered(&mut self, question: &str, answer: &str) {
        let (Some(question), Some(answer)) = (quoted(question), quoted(answer)) else { return };
        self.decided(Speaker::User, &format!("{question} — {answer}"), 3);
    }

    fn decided(&mut self, speaker: Speaker, sentence: &str, points: u32) {
        let Some(text) = Some(sentence).filter(|_| points > 0).and_then(quoted) else { return };
        self.decisions.retain(|decision| decision.quote.text != text);
        self.decisions.push(Decision { quote: Quote { speaker, text }, points, turn: self.turns });
    }

    fn agent_text(&mut self, text: &str) {
        for sentence in agent_sentences(text) {
            let points = decisions::points_of_agent(&sentence);
            self.decided(Speaker::Agent, &sentence, points);
            if decisions::remains(&sentence) && !decisions::asks(&sentence) {
                self.remaining.push((self.turns, sentence.clone()));
            }
            self.answer.push(sentence);
        }
    }

    fn result(&mut self, result: &ToolResult<'_>) {
        let Some((tool, input)) = self.calls.remove(result.id) else { return };
        if result.is_error && result.text.starts_with(NOT_ALLOWED) {
            return;
        }
        if let Some(command) = command_of(&tool, &input) {
            self.commands.add(command, result.is_error.then_some(result.text.as_str()));
        } else if !result.is_error {
            self.edits.read(&tool, &input);
            self.tasks.read(&tool, &input, &result.text);
        }
    }

    fn handoff(mut self, root: &Path) -> Handoff {
        // An interrupted command has no result.
        for (tool, input) in std::mem::take(&mut self.calls).into_values() {
            if let Some(command) = command_of(&tool, &input) {
                self.commands.add(command, Some(""));
            }
        }
        let first_request = self.requests.first().filter(|_| self.requests.len() > MOST_REQUESTS).cloned();
        let requests: Vec<String> = self.requests.iter().rev().take(MOST_REQUESTS).cloned().collect();
        let open = self.open();
        Handoff {
            at: self.at,
            branch: self.branch.as_deref().and_then(quoted),
            decisions: self.best_decisions(&first_request.iter().chain(&requests).collect::<Vec<_>>(), &open),
            open,
            first_request,
            requests,
            files: self.edits.files(root),
            failed: self.commands.failed(),
            worked: self.commands.worked(),
            tasks: self.tasks.open(),
        }
    }

    /// The decisions with the most points, without those that other parts contain. Among equal ones, later ones come first.
    fn best_decisions(&self, requests: &[&String], open: &[Quote]) -> Vec<Quote> {
        let is_new = |decision: &&Decision| {
            let quote = &decision.quote;
            !open.contains(quote) && !requests.iter().any(|request| request.contains(&quote.text))
        };
        let mut found: Vec<&Decision> = self.decisions.iter().filter(is_new).collect();
        found.sort_by_key(|decision| std::cmp::Reverse((decision.points, decision.turn)));
        found.into_iter().take(MOST_DECISIONS).map(|decision| decision.quote.clone()).collect()
    }

    fn open(&self) -> Vec<Quote> {
        let agent = |sentence: &String| Some(Quote { speaker: Speaker::Agent, text: quoted(sentence)? });
        let questions = self.answer.iter().filter(|sentence| decisions::asks(sentence)).filter_map(agent);
        let is_late = |(turn, _): &&(usize, String)| turn + LAST_ANSWERS > self.turns;
        let remaining = self.remaining.iter().rev().filter(is_late).filter_map(|(_, sentence)| agent(sentence));
        let mut open: Vec<Quote> = Vec::new();
        for quote in questions.chain(remaining) {
            if !open.contains(&quote) {
                open.push(quote);
            }
        }
        open
    }
}

/// The command of a call of a shell.
fn command_of<'a>(tool: &str, input: &'a Value) -> Option<&'a str> {
    if matches!(tool, "Bash" | "PowerShell" | "Shell") { input.get("command")?.as_str() } else { None }
}
