//! `unanswered`: frequent questions without an answer.
//!
//! `log`, `why`, `usage`: the memories that models received, why, and at what cost.

use tessera_desk::use_cases::{
    Day, ForgetQuestions, LearnedEvent, ListUnanswered, Log, Logged, Named, TokenUsage, UnansweredTopic,
    UnansweredTopics, WhereInFiles, Why,
};
use tessera_engine::domain::Timestamp;
use tessera_engine::score::ScoreParts;
use tessera_engine::store::{Delivery, ExtractorUsage, Given};

use super::{Access, Context, meant};
use crate::cli::{LogArguments, UnansweredArguments};
use crate::shapes::QuestionsForgotten;
use crate::{config, output};

/// Maximum number of shown variants of a question.
const MOST_ALSO: usize = 4;

/// Lists the topics, or deletes the recorded questions.
pub(super) fn run(context: &Context, args: &UnansweredArguments) -> anyhow::Result<()> {
    if args.clear {
        return clear(context);
    }
    let now = config::clock()?.now();
    let since = args.since.clone().map(|time| time.of("since").beginning(now)).transpose()?;
    let asks = ListUnanswered { since, limit: args.limit, answered: args.all };
    let found = context.perform_here(Access::Read, asks)?;
    if context.json {
        return output::json(&serde_json::to_value(&found)?);
    }
    let UnansweredTopics { topics: gaps, asked, unnamed, answered } = &found;
    if !gaps.is_empty() {
        output::text(&output::table(&["asked", "last", "in", "topic"], gaps.iter().map(row).collect()))?;
    }
    if gaps.is_empty() && *answered == 0 {
        output::note("There are no unanswered questions to list.");
    }
    if *unnamed > 0 {
        output::note(&format!(
            "{unnamed} of {asked} unanswered questions cannot be listed, because none of their words occurs in a memory"
        ));
    }
    if *answered > 0 && !args.all {
        output::note(&format!("{answered} more topics now have an answer; --all shows them"));
    }
    if *asked > 0 && !config::keeps_questions(context.home.clone())? {
        output::note(
            "Tessera stores only words of a question that occur in memories; `tessera settings set \
            recall.keep_questions on` stores complete questions, on this machine",
        );
    }
    Ok(())
}

fn row(gap: &UnansweredTopic) -> Vec<String> {
    let also = gap.also.iter().take(MOST_ALSO).map(|asked| format!("\n  also: {}", short(asked)));
    let more = gap.also.len().saturating_sub(MOST_ALSO);
    let more = if more > 0 { format!("\n  and in {more} other words") } else { String::new() };
    let answered = gap.answered_by.map(|short_id| format!("\n  answered by {short_id} now")).unwrap_or_default();
    let topic = format!("{}{}{more}{answered}", short(&gap.topic), also.collect::<String>());
    let scopes: Vec<String> = gap.scopes.iter().map(ToString::to_string).collect();
    let day = gap.last.to_string().chars().take(10).collect();
    vec![gap.times.to_string(), day, scopes.join(", "), topic]
}

/// The first line of a question, at most 120 characters.
fn short(asked: &str) -> String {
    let line = asked.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    let cut: String = line.chars().take(120).collect();
    if cut.len() < asked.trim().len() { format!("{cut} …") } else { cut }
}

fn clear(context: &Context) -> anyhow::Result<()> {
    let forgotten = context.perform_here(Access::Change, ForgetQuestions)?;
    context.print(&QuestionsForgotten { forgotten }, || {
        format!("Deleted {}.", output::counted(forgotten, "recorded question", "recorded questions"))
    })
}

/// Shows the latest events, newest last.
pub(super) fn log(context: &Context, args: LogArguments) -> anyhow::Result<()> {
    let LogArguments { session, limit } = args;
    let logged = context.perform_here(Access::Read, Log { session: session.clone(), limit })?;
    if context.json {
        return output::json(&logged);
    }
    for event in &logged {
        match event {
            Logged::Delivered(event) => {
                output::say(&output::shown(&event_line(&event.delivery)))?;
                for (given, summary) in event.delivery.given.iter().zip(&event.summaries) {
                    let text = format!("{} {}: {summary}", given.short_id, form(given));
                    output::say(&format!("    {}", output::shown(&text)))?;
                }
            }
            Logged::Learned(event) => output::say(&output::shown(&learned_line(event)))?,
        }
    }
    if logged.is_empty() {
        output::note(&match session {
            Some(session) => format!("no events of the session {}; `tessera log` lists all", output::shown(&session)),
            None => "no events yet; `tessera doctor` checks the hooks".to_owned(),
        });
    }
    Ok(())
}

fn event_line(delivery: &Delivery) -> String {
    let Delivery { at, event, session, scope, .. } = delivery;
    let short: String = session.chars().take(8).collect();
    let what = match (&delivery.skipped, delivery.given.len()) {
        (Some(reason), _) => format!("not scanned: {reason}"),
        (None, 0) if delivery.below_floor > 0 => format!(
            "scanned {}, nothing added: the best score was {:.2}, and all {} matches were below the threshold",
            delivery.searched, delivery.best_below_floor, delivery.below_floor
        ),
        (None, 0) => format!("scanned {}, nothing added", delivery.searched),
        (None, count) => {
            let to = if delivery.to_subagent { " to a subagent" } else { "" };
            format!("added {count} memories{to}, {} tokens, {} characters", delivery.tokens, delivery.characters)
        }
    };
    format!("{} {event} {short} [{scope}] {what}, {:.1} ms", time(*at), delivery.took_micros as f64 / 1000.0)
}

/// A result of automatic learning: `2026-11-20T10:00:00Z learned 1f2e3d4c #12: I prefer tabs`.
fn learned_line(event: &LearnedEvent) -> String {
    let session = event.session.as_deref().map(|session| session.chars().take(8).collect::<String>());
    let id = event.id.map(|id| id.to_string()).or(event.line.as_ref().map(ToString::to_string));
    let what = [Some(event.event.to_string()), session, id].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let text = event.text.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
    format!("{} {what}{text}", time(event.at))
}

fn time(at: Timestamp) -> String {
    if output::is_terminal() { output::local(at) } else { at.to_string() }
}

fn form(given: &Given) -> String {
    let parts = ScoreParts::NAMES.iter().zip(given.parts.values()).filter(|(_, value)| *value > 0.0005);
    let parts: Vec<String> = parts.map(|(name, value)| format!("{name} {value:.2}")).collect();
    let score =
        if parts.is_empty() { String::new() } else { format!(" score {:.2} = {}", given.score, parts.join(" + ")) };
    let because = match given.because.as_slice() {
        [] => String::new(),
        words => format!(" probability {:.2}, because of {}", given.score, words.join(", ")),
    };
    format!("{} {} tokens{score}{because}", given.form.as_str(), given.tokens)
}

/// Shows the origin of a memory, and when and why it was recalled.
pub(super) fn why(context: &Context, id: Named) -> anyhow::Result<()> {
    let (reason, position) = context.at_local_desk(Access::Read, |desk| {
        let id = meant(desk, id)?;
        let reason = desk.perform(Why { id })?;
        let position = desk.perform(WhereInFiles { ids: vec![reason.memory.id] })?;
        Ok((reason, position.into_iter().next().flatten()))
    })?;
    if context.json {
        return output::json(&serde_json::to_value(&reason)?);
    }
    let (memory, deliveries) = (&reason.memory, &reason.given);
    let client = memory.client.as_deref().unwrap_or("an unknown client");
    let session = memory.session.as_deref().unwrap_or("none");
    output::text(&output::heading(&format!("{} {}", memory.short_id, output::shown(&memory.summary))))?;
    let created =
        format!("{} ({})", output::local(memory.created), output::age(memory.created, config::clock()?.now()));
    let uses = output::counted(memory.access_count, "time", "times");
    let rows = [
        ("origin", format!("{} (trust {}), through {client}", memory.origin, memory.trust.as_str())),
        ("session", session.to_owned()),
        ("created", created),
        ("scope", memory.scope.to_string()),
        ("recalled", format!("{uses} in full")),
    ];
    output::text(&output::rows(&rows))?;
    if let Some(position) = position {
        output::say(&output::shown(&format!("in {position}")))?;
    }
    if let Some(why) = memory.why_never_injected() {
        output::say(&output::shown(&format!("never added to prompts: {why}")))?;
    }
    if reason.is_over {
        let short_id = memory.short_id.get();
        output::say(&format!("Expired; `tessera restore {short_id}` restores the memory."))?;
    }
    for delivery in deliveries {
        for given in delivery.given.iter().filter(|given| given.short_id == memory.short_id) {
            let session: String = delivery.session.chars().take(8).collect();
            output::say(&output::shown(&format!("{} {} {session} {}", delivery.at, delivery.event, form(given))))?;
        }
    }
    if deliveries.is_empty() {
        output::say("Not added to a prompt yet.")?;
    }
    Ok(())
}

/// Shows tokens day by day.
pub(super) fn usage(context: &Context, days: u32) -> anyhow::Result<()> {
    let usage = context.perform_here(Access::Read, TokenUsage { days })?;
    if context.json {
        return output::json(&serde_json::to_value(&usage)?);
    }
    let judged = |spent: &ExtractorUsage| {
        let ExtractorUsage { extractor, calls, failures, input_tokens, output_tokens, learned, .. } = spent;
        format!(
            "{extractor}: {learned} memories learned, {calls} calls ({failures} failed), {input_tokens} input and {output_tokens} output tokens"
        )
    };
    let row = |day: &Day| {
        let Day { day, events, silent, given_tokens, extractors } = day;
        let extractors: Vec<String> = extractors.iter().map(judged).collect();
        vec![day.clone(), events.to_string(), silent.to_string(), given_tokens.to_string(), extractors.join("; ")]
    };
    let rows = usage.iter().map(row).collect();
    output::text(&output::table(&["day", "events", "silent", "tokens delivered", "extractors"], rows))
}
