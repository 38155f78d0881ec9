//! The worker: one process per machine, detached from every client. It processes the queue and ends.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use tessera_engine::Store;
use tessera_engine::domain::TokenCount;
use tessera_engine::store::{ExtractorUsage, Progress, StoreError, Usage};
use tessera_engine::text::{O200k, TokenCounter};

use crate::claude;
use crate::extracted_memory::{ExtractorError, MOST_ANSWERED, Means, Verdict, Window};
use crate::extractor::Extractor;
use crate::findings;
use crate::heuristic::{Retraction, taken_back};
use crate::lessons;
use crate::reconcile::{self, Outcome, Source};
use crate::transcript::{Turn, Turns, turns};
use tessera_desk::chain::spool;
use tessera_desk::embedding::{Pace, work_off};
use tessera_desk::log;
use tessera_desk::queue::{self, Batch, Job, WorkerTurn};
use tessera_desk::results::{self, LearningResult};
use tessera_desk::screen::screened;
use tessera_hooks::{Surroundings, handoff, prompt};

/// Maximum number of recent turns of one session per run.
const MOST_TURNS: usize = 20;
/// How long to wait for the last turn of a transcript. A busy client may write it late.
const PATIENCE: Duration = Duration::from_secs(3);
const MOST_ATTEMPTS: u32 = 5;
/// How long to wait for all missing transcripts together. A client may create the transcript after its hook.
const CREATED_WITHIN: Duration = Duration::from_secs(1);
/// A deep extraction reads this number of turns, and takes place after each such number of turns.
const DEEP: usize = 5;
/// The tokens that a client adds to the text for the extractor.
const AROUND: u64 = 1_000;

/// Learns from every waiting session. Returns the number of new memories.
///
/// If another worker is running, returns immediately, because that worker checks the queue again before it ends.
pub fn drain(surroundings: &Surroundings) -> usize {
    // A separate process session, so that signals of the client's terminal do not reach it. This fails if the process
    // already leads a group; then no client is around it.
    #[cfg(unix)]
    let _ = rustix::process::setsid();
    let mut learned = 0;
    // Each job is processed once per run. On a full disk, even a failure cannot be recorded.
    let mut seen = BTreeSet::new();
    loop {
        let Some(turn) = WorkerTurn::take(&surroundings.home) else { return learned };
        learned += empty_queue(surroundings, &mut seen);
        drop(turn);
        // A job that arrived after the last look found the lock taken, so no worker was started for it.
        if queue::due(&surroundings.home, surroundings.clock.now(), &seen).is_empty() {
            return learned;
        }
    }
}

fn empty_queue(surroundings: &Surroundings, seen: &mut BTreeSet<PathBuf>) -> usize {
    let now = surroundings.clock.now();
    let note = |text: &str| log::line(&surroundings.home, now, text);
    let batches = queue::due(&surroundings.home, now, seen);
    seen.extend(batches.iter().flat_map(Batch::files));
    if batches.is_empty() && !Store::has_spooled(&surroundings.home) && !spool::is_waiting(&surroundings.home) {
        return 0;
    }
    let mut store = match surroundings.open(Usage::Write) {
        Ok(store) => store,
        Err(error) => {
            note(&format!("learning is postponed: {error}"));
            batches.into_iter().for_each(|batch| batch.retry(now));
            return 0;
        }
    };
    let mut court = Extractors::new(surroundings);
    let mut learned = 0;
    let until = Instant::now() + CREATED_WITHIN;
    let (written, missing): (Vec<Batch>, Vec<Batch>) =
        batches.into_iter().partition(|batch| batch.job.subagent.is_some() || batch.job.transcript.exists());
    for batch in written.into_iter().chain(missing) {
        learned += finish(batch, &mut store, &mut court, surroundings, until);
    }
    // No client waits for this process. So it computes the embeddings of its new memories and of all others that miss
    // them, until the next job arrives.
    let is_idle = |_| queue::due(&surroundings.home, surroundings.clock.now(), seen).is_empty();
    if let Err(error) = work_off(&mut store, Pace::Aside, is_idle) {
        note(&format!("embeddings are postponed: {error}"));
    }
    results::clean(&surroundings.home, now);
    handoff::clean(&surroundings.home, now);
    // Plugins are notified last, because they may be slow.
    if let Err(error) = spool::work_off(&store, surroundings.settings.plugins, || true) {
        note(&format!("plugins will receive events later: {error}"));
    }
    let folded = store.fold_accesses().and_then(|()| store.fold_deliveries()).and_then(|()| store.fold_questions());
    if let Err(error) = folded {
        note(&format!("waiting records will be stored later: {error}"));
    }
    learned
}

fn finish(
    batch: Batch,
    store: &mut Store,
    court: &mut Extractors<'_>,
    surroundings: &Surroundings,
    until: Instant,
) -> usize {
    let now = surroundings.clock.now();
    match learn(&batch.job, store, court, until) {
        Ok(learned) => {
            batch.done();
            learned
        }
        Err(LearnError::Transcript(error)) => {
            log::line(&surroundings.home, now, &format!("a transcript cannot be read: {error}"));
            // Some clients never write a transcript.
            if batch.job.attempts < MOST_ATTEMPTS {
                batch.retry(now);
            } else {
                batch.done();
            }
            0
        }
        Err(LearnError::Store(error)) => {
            log::line(&surroundings.home, now, &format!("learning failed and will be tried again: {error}"));
            // After the last attempt, the job waits for the next turn of the session. Turns never count as learned
            // before they are.
            if batch.job.attempts < MOST_ATTEMPTS {
                batch.retry(now);
            } else {
                batch.done();
            }
            0
        }
    }
}

#[derive(Debug, thiserror::Error)]
enum LearnError {
    #[error(transparent)]
    Transcript(#[from] std::io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Waits until the client has written the last turn, and returns the turns of the session.
fn written_turns(job: &Job, cursor: Option<&str>, until: Instant) -> std::io::Result<Turns> {
    let answer = screened(&job.answer);
    let answer = answer.trim();
    let end = answer.char_indices().rev().nth(39).map_or(0, |(at, _)| at);
    let answer = answer.get(end..).unwrap_or_default();
    let started = Instant::now();
    loop {
        let read = turns(&job.transcript, cursor, MOST_TURNS);
        // A missing transcript is not being written, so other jobs do not wait for it.
        let is_missing =
            read.as_ref().is_err_and(|error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidInput));
        if is_missing && (job.attempts > 0 || Instant::now() > until) {
            return read;
        }
        // The previous turn may have ended with the same words. So there must also be a new turn.
        let is_whole = read.as_ref().is_ok_and(|read| {
            read.first < read.all.len() && read.all.last().is_some_and(|turn| turn.assistant.contains(answer))
        });
        // A job without an answer, for example before a compaction, has no new turn.
        if is_whole || answer.is_empty() || started.elapsed() > PATIENCE {
            return read;
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// Learns from the new turns of a session.
fn learn(job: &Job, store: &mut Store, court: &mut Extractors<'_>, until: Instant) -> Result<usize, LearnError> {
    if job.subagent.is_some() {
        return Ok(show(job, &findings::propose(store, job, court.surroundings.settings.review)?, court));
    }
    let mut progress = store.progress(&job.session)?;
    let mut read = written_turns(job, progress.cursor.as_deref(), until)?;
    if let Some(last) = read.all.last_mut().filter(|turn| turn.assistant.trim().is_empty()) {
        last.assistant = screened(&job.answer);
    }
    let mut learned = 0;
    if let Some(turn) = read.all.get(read.first) {
        let review = court.surroundings.settings.review;
        let source = Source { job, turn, extractor: Extractor::Heuristic, review };
        show(job, &lessons::propose(store, job, progress.cursor.as_deref(), source)?, court);
    }
    for at in read.first..read.all.len() {
        let (Some(turn), Some(window)) = (read.all.get(at), read.all.get((at + 1).saturating_sub(DEEP)..=at)) else {
            break;
        };
        progress = Progress { turns: progress.turns + 1, cursor: Some(turn.id.clone()) };
        let before = at.checked_sub(1).and_then(|at| read.all.get(at));
        learned += show(job, &learn_turn(job, turn, before, store, court)?, court);
        if (progress.turns as usize).is_multiple_of(DEEP) && court.has_model() {
            let window = Window { turns: window, before: "", is_deep: true, known: &[] };
            learned += show(job, &judged(job, &window, store, court)?, court);
        }
        store.note_progress(&job.session, &progress)?;
    }
    Ok(learned)
}

fn learn_turn(
    job: &Job,
    turn: &Turn,
    before: Option<&Turn>,
    store: &mut Store,
    court: &mut Extractors<'_>,
) -> Result<Vec<LearningResult>, LearnError> {
    match taken_back(&turn.user) {
        Retraction::ThisTurn => return Ok(Vec::new()),
        Retraction::TheLast => {
            let deleted = reconcile::take_back(store, job, before)?;
            return Ok(deleted.into_iter().map(LearningResult::Retracted).collect());
        }
        Retraction::Nothing => {}
    }
    let before = before.map_or("", |before| before.assistant.as_str());
    // A few words may answer the agent's question.
    if prompt::is_small_talk(&turn.user) && !turn.user.contains(|c: char| c.is_ascii_digit()) {
        return Ok(Vec::new());
    }
    judged(job, &Window { turns: std::slice::from_ref(turn), before, is_deep: false, known: &[] }, store, court)
}

/// Lets the next hook of the session show the results. Returns the number of new memories.
fn show(job: &Job, results: &[LearningResult], court: &Extractors<'_>) -> usize {
    let Surroundings { home, clock, .. } = court.surroundings;
    if let Err(error) = results::add(home, &job.session, clock.now(), results) {
        court.note(&format!("results of learning cannot be shown: {error}"));
    }
    count_learned(results)
}

/// Extracts memories from some turns, and compares them with the existing memories. Only a model receives existing
/// memories, which this function looks up.
fn judged(
    job: &Job,
    excerpt: &Window<'_>,
    store: &mut Store,
    court: &mut Extractors<'_>,
) -> Result<Vec<LearningResult>, LearnError> {
    let Some(turn) = excerpt.turns.last() else { return Ok(Vec::new()) };
    let kept: Vec<Turn> =
        excerpt.turns.iter().filter(|turn| taken_back(&turn.user) == Retraction::Nothing).cloned().collect();
    let said: String = kept.iter().map(|turn| format!("{}\n", turn.user)).collect();
    let known = if court.has_model() { reconcile::known(store, &said, &job.scope)? } else { Vec::new() };
    let window = Window { turns: &kept, known: &known, ..*excerpt };
    let (extractor, verdict) = court.extractor(&window, job, store)?;
    let mut results = Vec::new();
    for lesson in &verdict.extracted_memories {
        let source = Source { job, turn, extractor, review: court.surroundings.settings.review };
        match reconcile::reconcile(store, lesson, source) {
            Ok(Outcome::Stored(id)) => results.push(LearningResult::Learned(id)),
            Ok(Outcome::Waiting(id)) => results.push(LearningResult::Waiting(id)),
            Ok(Outcome::Known | Outcome::Unclear | Outcome::Uncertain) => {}
            // The store would also reject it later.
            Err(error @ (StoreError::Domain(_) | StoreError::Conflict { .. } | StoreError::InFile { .. })) => {
                court.note(&format!("skipped an extracted memory: {error}"));
            }
            Err(error) => return Err(error.into()),
        }
    }
    let learned = count_learned(&results);
    let spent = ExtractorUsage {
        extractor: extractor.as_str().to_owned(),
        learned: learned as u64,
        ..ExtractorUsage::default()
    };
    if learned > 0 {
        store.note_spending(&spent)?;
    }
    Ok(results)
}

/// The number of new memories.
fn count_learned(results: &[LearningResult]) -> usize {
    results.iter().filter(|result| matches!(result, LearningResult::Learned(_))).count()
}

/// The extractors of one run. A failed extractor is not asked again in the same run.
struct Extractors<'a> {
    surroundings: &'a Surroundings,
    absent: Vec<Extractor>,
}

impl<'a> Extractors<'a> {
    fn new(surroundings: &'a Surroundings) -> Self {
        Self { surroundings, absent: Vec::new() }
    }

    fn chain(&self) -> &'static [Extractor] {
        Extractor::chain(self.surroundings.settings.extractor)
    }

    fn has_model(&self) -> bool {
        self.chain().iter().any(|extractor| extractor.is_model() && !self.absent.contains(extractor))
    }

    /// The result of the first extractor that answers, and which one it is.
    fn extractor(
        &mut self,
        window: &Window<'_>,
        job: &Job,
        store: &mut Store,
    ) -> Result<(Extractor, Verdict), StoreError> {
        let surroundings = self.surroundings;
        let means = Means {
            ollama: surroundings.ollama.clone(),
            claude: claude::programs(
                job.claude.as_deref(),
                surroundings.search_path.as_deref(),
                surroundings.user_home.as_deref(),
            ),
            neutral_dir: surroundings.home.dir().to_path_buf(),
        };
        for extractor in self.chain() {
            if self.absent.contains(extractor) {
                continue;
            }
            if !extractor.is_model() {
                if let Ok(verdict) = extractor.ask(window, &means) {
                    return Ok((*extractor, verdict));
                }
                continue;
            }
            let estimate = estimate(window);
            if store.spent_today()? + estimate > surroundings.settings.daily_tokens {
                self.give_up(*extractor, "the daily token limit is reached");
                continue;
            }
            match asked(*extractor, window, &means, estimate, store) {
                Ok(Ok(verdict)) => return Ok((*extractor, verdict)),
                Ok(Err(error)) => self.give_up(*extractor, &error.to_string()),
                Err(error) => {
                    // A model whose cost cannot be recorded is not used.
                    self.give_up(*extractor, &format!("the token usage of this model cannot be recorded: {error}"));
                    return Err(error);
                }
            }
        }
        Ok((Extractor::Heuristic, Verdict::default()))
    }

    fn note(&self, text: &str) {
        log::line(&self.surroundings.home, self.surroundings.clock.now(), text);
    }

    fn give_up(&mut self, extractor: Extractor, why: &str) {
        self.note(&format!("extractor {}: {why}", extractor.as_str()));
        self.absent.push(extractor);
    }
}

/// The estimated maximum cost of a model call.
fn estimate(window: &Window<'_>) -> u64 {
    let text = format!("{}{}{}", window.instructions(), window.schema(), window.text());
    let counted = TokenCount(O200k.count(&text));
    u64::from(tessera_engine::domain::TokenProfile::CLAUDE.of_o200k(counted)) + AROUND + MOST_ANSWERED
}

/// Asks a model. The estimated cost is recorded before the request, and corrected after the answer. So a killed process
/// or a full disk never makes the recorded cost too low.
fn asked(
    extractor: Extractor,
    window: &Window<'_>,
    means: &Means,
    estimate: u64,
    store: &mut Store,
) -> Result<Result<Verdict, ExtractorError>, StoreError> {
    let spending = || ExtractorUsage { extractor: extractor.as_str().to_owned(), ..ExtractorUsage::default() };
    let day = store.note_spending(&ExtractorUsage { calls: 1, input_tokens: estimate, ..spending() })?;
    let answer = extractor.ask(window, means);
    let (input_tokens, output_tokens) = match &answer {
        Ok(verdict) => (verdict.input_tokens, verdict.output_tokens),
        Err(ExtractorError::Malformed { input_tokens, output_tokens }) => (*input_tokens, *output_tokens),
        // The actual cost is unknown, so the estimate stays.
        Err(ExtractorError::TimedOut(_)) => (estimate, 0),
        Err(ExtractorError::Absent | ExtractorError::Unreachable(_)) => (0, 0),
    };
    let failures = u64::from(answer.is_err());
    store.settle_spending(estimate, &ExtractorUsage { day, failures, input_tokens, output_tokens, ..spending() })?;
    Ok(answer)
}
