//! Reads the parts of a hand-off from a transcript.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::LazyLock;

use regex_lite::Regex;
use tessera_desk::screen::{holds_credential, screened};
use tessera_engine::domain::Timestamp;
use tessera_tables::names;

use super::commands::{Command, Commands, FailedCommand};
use super::decisions;
use super::files::{EditedFile, Edits};
use super::quote::{in_one_line, quoted, sentence as quoted_sentence};
use super::tasks::Tasks;
use crate::prompt::{agent_sentences, is_small_talk, own_words, pattern};
use crate::said::sentences;
use crate::transcript::{FinishedCall, OpenCalls, Row, command_of, each_row};

/// The number of bytes at the end of a transcript that are read first for an offer, and the maximum number. More and more
/// bytes are read until they contain a request.
const BYTES_FOR_OFFER: u64 = 256 * 1024;
const MOST_BYTES_FOR_OFFER: u64 = 4 * 1024 * 1024;
/// The fewest prompts of a session without tool calls for which a hand-off is offered.
const FEWEST_PROMPTS: usize = 3;
/// The points of an answer to the agent's question.
const POINTS_OF_ANSWER: u32 = 5;
/// The maximum number of quoted requests and decisions.
const MOST_REQUESTS: usize = 3;
const MOST_DECISIONS: usize = 24;
/// Answers of at most this number of words need the agent's question beside them.
const FEW_WORDS: usize = 12;
/// The maximum number of characters of the question in a decision.
const LONGEST_QUESTION: usize = 120;
/// The number of sentences at the end of a text of the agent in which a question waits for the person.
const LAST_SENTENCES: usize = 4;
/// The number of answers, from the last one, whose sentences about remaining work count.
const LAST_ANSWERS: usize = 3;

/// The tool with which the agent asks a person.
const QUESTIONS: &str = "AskUserQuestion";
/// A question and its answer in the output of this tool.
static ANSWER: LazyLock<Regex> = LazyLock::new(|| pattern(r#""([^"]+)"="([^"]+)""#));
/// The name of an image in a prompt.
static IMAGE: LazyLock<Regex> = LazyLock::new(|| pattern(r"\[Image #\d+\]\s*"));

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
    /// The last edited files, the most recently edited one first.
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
    /// Reads at most `most` bytes from the end of a transcript. `root` is the directory of the project.
    ///
    /// # Errors
    /// Returns an error if the transcript cannot be read.
    pub fn read(transcript: &Path, root: &Path, most: u64) -> io::Result<Self> {
        let mut session = Session::default();
        each_row(transcript, most, |row| session.row(row))?;
        Ok(session.handoff(root))
    }

    /// True if there is nothing to hand off.
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty() && self.files.is_empty() && self.failed.is_empty() && self.worked.is_empty()
    }
}

/// The last request of a session that did some work. A client waits for it, so it reads as little of the transcript as
/// necessary, from its end.
pub fn last_request(transcript: &Path) -> Option<String> {
    let mut most = BYTES_FOR_OFFER;
    loop {
        let mut last = LastRequest::default();
        each_row(transcript, most, |row| last.row(row)).ok()?;
        let is_whole = most >= MOST_BYTES_FOR_OFFER || transcript.metadata().ok()?.len() <= most;
        let has_worked = last.has_worked || last.prompts >= FEWEST_PROMPTS;
        match last.request.filter(|_| has_worked) {
            None if !is_whole => most *= 4,
            found => return found,
        }
    }
}

/// The last request of a session, and whether the session did some work.
#[derive(Debug, Default)]
struct LastRequest {
    request: Option<String>,
    /// The last text of the agent.
    answer: String,
    prompts: usize,
    has_worked: bool,
}

impl LastRequest {
    fn row(&mut self, row: &Row) {
        self.has_worked |= !row.tool_calls().is_empty();
        if let Some(text) = row.agent_texts().last() {
            (*text).clone_into(&mut self.answer);
        }
        let Some(prompt) = row.prompt() else { return };
        self.prompts += 1;
        let own = own_text(&prompt);
        let questions = questions(&agent_sentences(&std::mem::take(&mut self.answer)));
        if questions.last().is_some_and(|question| answers_with_credential(question, &own)) {
            return;
        }
        self.request = request(&own).or(self.request.take());
    }
}

/// The person's own words in a prompt, without credentials.
fn own_text(prompt: &str) -> String {
    own_words(&without_list_signs(&screened(prompt)))
}

/// A password alone looks like any word. The question shows what it is.
fn answers_with_credential(question: &str, answer: &str) -> bool {
    holds_credential(&format!("{}: {answer}", question.trim_end_matches(['?', '？', ' '])))
}

/// The questions at the end of a text of the agent. An earlier question is rhetorical, because the agent goes on.
fn questions(sentences: &[String]) -> Vec<String> {
    let last = sentences.get(sentences.len().saturating_sub(LAST_SENTENCES)..).unwrap_or_default();
    last.iter().filter(|sentence| decisions::asks(sentence)).cloned().collect()
}

/// A prompt whose list items are plain lines. Otherwise, a line that begins with `-` would count as pasted. The names of images
/// are left out.
fn without_list_signs(prompt: &str) -> String {
    let line = |line: &str| {
        let line = IMAGE.replace_all(line, "");
        let plain = line.trim_start();
        let item = plain.strip_prefix("- ").or_else(|| plain.strip_prefix("* "));
        item.filter(|item| item.starts_with(char::is_alphabetic)).unwrap_or(&line).to_owned()
    };
    prompt.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// The person's own words in a screened prompt that asks for something.
fn request(own: &str) -> Option<String> {
    if is_small_talk(own) { None } else { quoted_sentence(own) }
}

/// A sentence that decides something.
#[derive(Debug)]
struct Decision {
    quote: Quote,
    points: u32,
    /// The number of prompts before it.
    turn: usize,
}

/// The parts of a hand-off in the rows that were read.
#[derive(Debug, Default)]
struct Session {
    at: Option<Timestamp>,
    branch: Option<String>,
    requests: Vec<String>,
    turns: usize,
    decisions: Vec<Decision>,
    /// The questions at the ends of the agent's texts since the last prompt.
    questions: Vec<String>,
    /// The sentences about remaining work, with the number of prompts before them.
    remaining: Vec<(usize, String)>,
    /// The calls without a result.
    calls: OpenCalls,
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
        if let Some(prompt) = row.prompt().or_else(|| row.objection()) {
            self.prompt(&prompt);
        }
        for text in row.agent_texts() {
            self.agent_text(text);
        }
        for call in self.calls.read(row) {
            self.finished(&call);
        }
    }

    fn prompt(&mut self, prompt: &str) {
        self.turns += 1;
        let own = own_text(prompt);
        let questions = std::mem::take(&mut self.questions);
        let is_answer = own.split_whitespace().count() <= FEW_WORDS && !decisions::asks(&own);
        let question = questions.last().filter(|_| is_answer);
        if question.is_some_and(|question| answers_with_credential(question, &own)) {
            return;
        }
        // A short answer is a decision together with its question.
        if let Some(question) = question {
            self.answered(question, &own);
        } else {
            for sentence in own.lines().flat_map(sentences) {
                self.decided(Speaker::User, sentence, decisions::points_of_person(sentence));
            }
        }
        if let Some(request) = request(&own) {
            self.requests.retain(|other| *other != request);
            self.requests.push(request);
        }
    }

    /// Adds the agent's question and the person's answer as one decision.
    fn answered(&mut self, question: &str, answer: &str) {
        if decisions::only_thanks(answer) {
            return;
        }
        let Some(question) = in_one_line(question, LONGEST_QUESTION) else { return };
        self.decided(Speaker::User, &format!("{question} — {answer}"), POINTS_OF_ANSWER);
    }

    fn decided(&mut self, speaker: Speaker, sentence: &str, points: u32) {
        let Some(text) = Some(sentence).filter(|_| points > 0).and_then(quoted_sentence) else { return };
        self.decisions.push(Decision { quote: Quote { speaker, text }, points, turn: self.turns });
    }

    fn agent_text(&mut self, text: &str) {
        let sentences = agent_sentences(&screened(text));
        for sentence in &sentences {
            self.decided(Speaker::Agent, sentence, decisions::points_of_agent(sentence));
            if decisions::remains(sentence) && !decisions::asks(sentence) {
                self.remaining.push((self.turns, sentence.clone()));
            }
        }
        self.questions.extend(questions(&sentences));
    }

    fn finished(&mut self, call: &FinishedCall) {
        if call.tool == QUESTIONS {
            for answer in ANSWER.captures_iter(&screened(&call.output)) {
                let text = |at| answer.get(at).map_or("", |found| found.as_str());
                self.answered(text(1), text(2));
            }
        }
        if let Some(command) = command_of(&call.tool, &call.input) {
            self.commands.add(command, call.is_error.then_some(call.output.as_str()));
        } else if !call.is_error {
            self.edits.read(&call.tool, &call.input);
            self.tasks.read(&call.tool, &call.input, &call.output);
        }
    }

    fn handoff(mut self, root: &Path) -> Handoff {
        // An interrupted command has no result.
        for (tool, input) in std::mem::take(&mut self.calls).into_interrupted() {
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
        let mut seen = BTreeSet::new();
        found.retain(|decision| seen.insert(&decision.quote.text));
        found.into_iter().take(MOST_DECISIONS).map(|decision| decision.quote.clone()).collect()
    }

    fn open(&self) -> Vec<Quote> {
        let agent = |sentence: &String| Some(Quote { speaker: Speaker::Agent, text: quoted_sentence(sentence)? });
        let questions = self.questions.iter().filter_map(agent);
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
