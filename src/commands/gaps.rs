//! `gaps`: what was asked often and never answered.

use serde_json::json;
use tessera_desk::verbs::{ForgetQuestions, Gap, Gaps, GapsFound};

use super::{Access, Context};
use crate::cli::GapsArguments;
use crate::{config, output};

/// Other ways of asking that are shown.
const MOST_ALSO: usize = 4;

/// Lists the topics, or forgets the questions.
pub(super) fn run(context: &Context, args: &GapsArguments) -> anyhow::Result<()> {
    if args.clear {
        return clear(context);
    }
    let asks = Gaps { since: args.since, limit: args.limit, answered: args.all };
    let found = context.perform_here(Access::Read, asks)?;
    if context.json {
        return output::json(&serde_json::to_value(&found)?);
    }
    let GapsFound { gaps, asked, unnamed, answered } = &found;
    if !gaps.is_empty() {
        output::text(&output::table(&["asked", "last", "in", "topic"], gaps.iter().map(row).collect()))?;
    }
    if gaps.is_empty() && *answered == 0 {
        output::note("nothing was asked in vain so far");
    }
    if *unnamed > 0 {
        output::note(&format!("{unnamed} of {asked} questions held no word that a memory holds"));
    }
    if *answered > 0 && !args.all {
        output::note(&format!("something answers {answered} more by now; --all shows them"));
    }
    if *asked > 0 && !config::keeps_questions(context.home.clone())? {
        output::note(
            "only words that memories hold are kept of a question; `tessera settings set recall.keep_questions on` keeps \
             questions as they are, on this machine",
        );
    }
    Ok(())
}

fn row(gap: &Gap) -> Vec<String> {
    let also = gap.also.iter().take(MOST_ALSO).map(|asked| format!("\n  also: {}", short(asked)));
    let more = gap.also.len().saturating_sub(MOST_ALSO);
    let more = if more > 0 { format!("\n  and in {more} more ways") } else { String::new() };
    let answered = gap.answered_by.map(|handle| format!("\n  answered by {handle} now")).unwrap_or_default();
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
    context.answer(&json!({ "forgotten": forgotten }), || format!("{forgotten} questions forgotten"))
}
