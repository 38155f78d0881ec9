//! `secret_get`: returns a credential that was removed from a text.

use serde_json::json;
use tessera_desk::team::{FromServer, RevealFromServer};
use tessera_desk::use_cases::Reveal;
use tessera_desk::{Caller, Desk, Effect};
use tessera_engine::domain::DomainError;
use tessera_engine::store::{Revealed, RevealedSecret, SecretRef};

use super::{Call, Elsewhere, Entry, Listed, Reply, Replying};
use crate::args::Args;

const WHICH: &[&str] = &["id", "name", "memory_id", "secret"];

pub(super) const TOOL: Entry = Entry {
    name: "secret_get",
    title: "Show a secret",
    description: "The value behind a placeholder such as [secret s7k4q2: password], or all values of a memory. Call it only \
        when the user needs the value now; each call is recorded. Do not store or repeat the reply.",
    effect: Effect::Reads,
    properties: || {
        json!({
            "id": { "type": "string", "description": "Secret such as s7k4q2, or memory such as 42" }
        })
    },
    aliases: &[WHICH],
    required: &["id"],
    listed: Listed::Always,
    is_always_loaded: false,
    call: Call::Fetching(call, fetch),
};

fn which(args: &Args) -> Result<SecretRef, DomainError> {
    let placeholders = args.text(WHICH)?.map_or(0, |text| text.matches("[secret ").count());
    if placeholders > 1 {
        let problem = format!("names {placeholders} secrets");
        return Err(DomainError::invalid(args.name(WHICH), problem, "use one call for each secret"));
    }
    let which: Option<SecretRef> = args.parsed(WHICH)?;
    let missing = || {
        DomainError::invalid(
            "id",
            "is missing",
            "use the name of a secret such as s7k4q2, or the ID of a memory such as 42",
        )
    };
    which.ok_or_else(missing)
}

/// Gets a value from the server or the vault, if this machine does not have it.
fn fetch<'a>(args: &'a Args, from: Elsewhere<'a>, caller: Caller) -> Replying<'a> {
    Box::pin(async move {
        let which = which(args)?;
        let FromServer { value, missing, .. } = match from {
            Elsewhere::Team(team) => team.perform(RevealFromServer { which, caller }).await?,
            Elsewhere::Vault(safe, store) => safe.reveal(store, &which, &caller).await?,
        };
        let missing: String = missing
            .iter()
            .map(|name| format!("\n{name}: the value is neither on this machine nor on the server"))
            .collect();
        Ok(value.to_string() + &missing)
    })
}

/// Returns the value of a secret. For a memory, returns its text with the values of its secrets.
fn call(desk: &mut Desk<'_>, args: &Args) -> Reply {
    let which = which(args)?;
    let is_name = matches!(which, SecretRef::Name(_));
    let Revealed { secrets, content, .. } = desk.perform(Reveal { which })?;
    if let ([RevealedSecret { value: Ok(value), .. }], true) = (secrets.as_slice(), is_name) {
        return Ok(value.to_string());
    }
    let missing = secrets.iter().filter_map(|secret| Some((&secret.name, secret.value.as_ref().err()?)));
    let missing: String =
        missing.map(|(name, why)| format!("\n{name}: the value is not on this machine: {why}")).collect();
    Ok(content.to_string() + &missing)
}
