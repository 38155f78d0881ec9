//! `demo`: shows recall on sample notes in a temporary store.

use std::time::Instant;

use tessera_desk::use_cases::{Form, Recall};
use tessera_desk::{Caller, Desk};
use tessera_engine::domain::{Origin, RecallRequest, Scope, TokenBudget};
use tessera_engine::pack::JsonRows;
use tessera_engine::score::Weights;
use tessera_eval::Fixture;

use super::Context;
use crate::output::{self, Style};
use crate::shapes::DemoAnswer;

const NOTES: &str = include_str!("../../fixtures/corpus/notes.jsonl");
const CONVERSATION: &str = include_str!("../../fixtures/corpus/conversation.jsonl");

/// The questions, each with a project and a token budget.
const SHOWN: [(&str, Option<&str>, u32); 5] = [
    ("which front-end framework should I use for a new project?", None, 150),
    ("on which port does the ledger API listen?", Some("ledger"), 150),
    ("LDG-4019", Some("ledger"), 150),
    ("what did we decide about PostgreSQL outages and migrations?", Some("ledger"), 600),
    ("grandmother's apple pie recipe", None, 150),
];

/// Shows recall on the sample notes, in a temporary store.
pub(super) fn run(context: &Context) -> anyhow::Result<()> {
    let fixture = Fixture { corpus: format!("{NOTES}{CONVERSATION}"), queries: Vec::new() };
    let mut scratch = fixture.load(&Weights::default())?;
    let stats = scratch.store.stats()?;
    let (caller, mut views) = (Caller::new(Origin::User), Vec::new());
    if !context.json {
        output::say(&format!("{} notes of a fictional developer, in a temporary store.", stats.memories))?;
    }
    for (query, project, budget) in SHOWN {
        let scope = project.map(str::parse::<Scope>).transpose()?;
        let request = RecallRequest { budget: TokenBudget::try_from(budget)?, scope, ..RecallRequest::new(query) };
        let started = Instant::now();
        let rows = JsonRows::default();
        let form = if context.json { Form::Json(rows) } else { Form::Text };
        let reply = Desk::new(&mut scratch.store, &caller).perform(Recall { request, form })?.reply;
        let took = started.elapsed().as_secs_f64() * 1000.0;
        if context.json {
            let answer: serde_json::Value = serde_json::from_str(&reply.body)?;
            views.push(DemoAnswer { recall: answer, ms: took });
            continue;
        }
        output::say(&format!("\n{}", output::paint(&format!("? {query}  (at most {budget} tokens)"), Style::Bold)))?;
        output::text(&reply.body)?;
        let cost = format!("{} of {budget} tokens, {took:.2} ms", reply.tokens_used);
        output::say(&output::paint(&cost, Style::Dim))?;
    }
    if context.json {
        return output::json(&views);
    }
    output::say("\nTry your own: `tessera remember \"I prefer tabs\"`, then `tessera recall \"tabs or spaces?\"`.")?;
    output::say("MCP clients start `tessera mcp`.")
}
