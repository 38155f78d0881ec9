//! `secret`: what was taken out of texts, given back on purpose.

use std::process::ExitCode;

use serde_json::json;
use tessera_desk::SharedStore;
use tessera_desk::team::{FromServer, RevealFromServer};
use tessera_desk::use_cases::{ForgetSecret, ListSecrets, Reveal, RotateKey, SecretUses, SecretsListed};
use tessera_engine::domain::MemoryRef;
use tessera_engine::store::{
    KeyPlace, Revealed, RevealedSecret, SecretRef, SecretRow, StoreError, UnavailableBecause, Usage,
};

use super::sync::runtime;
use super::{Access, Context, residue};
use crate::cli::SecretTask;
use crate::{config, output};

/// What the key in the home protects from.
const IN_FILE: &str = "it protects copies of the database: backups, synchronised folders, a disk image without this file; \
                       not from a program that runs as you, nor from who reads the whole home";
const IN_KEYRING: &str = "it protects the whole home while you are not logged in; not from a program that runs as you";
const GIVEN: &str = "it is not kept in the home: whoever has the home alone opens nothing; a program that is given the same \
                     setting does";

/// Does one task.
pub(super) fn run(context: &Context, task: SecretTask) -> anyhow::Result<ExitCode> {
    let done = match task {
        SecretTask::Scan { fix } => return residue::scan(context, fix),
        SecretTask::List { memory } => list(context, memory),
        SecretTask::Show { which } => show(context, which),
        SecretTask::Forget { which } => forget(context, which),
        SecretTask::Uses { name } => uses(context, name),
        SecretTask::Key => key(context),
        SecretTask::RotateKey => rotate(context),
    };
    done.map(|()| ExitCode::SUCCESS)
}

fn list(context: &Context, of: Option<MemoryRef>) -> anyhow::Result<()> {
    let SecretsListed { secrets, .. } = context.perform_here(Access::Read, ListSecrets { of })?;
    if context.json {
        return output::json(&json!({ "secrets": secrets }));
    }
    if secrets.is_empty() {
        output::note("no secret was set aside");
        return Ok(());
    }
    let row = |secret: &SecretRow| {
        let on_server = if secret.is_told { ", on the server" } else { "" };
        vec![
            secret.name.clone(),
            secret.kind.clone(),
            secret.short_id.to_string(),
            secret.made.to_string(),
            format!("{}{on_server}", secret.place),
        ]
    };
    output::text(&output::table(&["name", "kind", "of", "set aside", "kept"], secrets.iter().map(row).collect()))
}

/// One value stands alone on stdout, so that a pipe gets it and nothing else.
fn show(context: &Context, which: SecretRef) -> anyhow::Result<()> {
    let of_memory = matches!(which, SecretRef::Memory(_));
    let here = context.at_local_desk(Access::Change, |desk| Ok(desk.perform(Reveal { which: which.clone() })));
    let revealed = match here? {
        Err(StoreError::ValueElsewhere { why: UnavailableBecause::NeverHere, .. })
            if config::team(context.home.clone())?.is_some() =>
        {
            return show_from_server(context, which);
        }
        Err(StoreError::ValueElsewhere { why: UnavailableBecause::InVault, .. })
            if config::vault(context.home.clone()).is_ok_and(|safe| safe.is_some()) =>
        {
            return show_from_vault(context, &which);
        }
        here => here?,
    };
    let Revealed { memory, secrets, content } = &revealed;
    if context.json {
        let shown = |secret: &RevealedSecret| {
            let (value, missing) = match &secret.value {
                Ok(value) => (Some(value.as_str()), None),
                Err(why) => (None, Some(why.to_string())),
            };
            json!({ "name": secret.name, "kind": secret.kind, "value": value, "missing": missing })
        };
        let all: Vec<_> = secrets.iter().map(shown).collect();
        return output::json(&json!({
            "id": memory.short_id, "uuid": memory.id, "secrets": all, "content": content.as_str(),
        }));
    }
    if let ([RevealedSecret { value: Ok(value), .. }], false) = (secrets.as_slice(), of_memory) {
        return output::line(value);
    }
    output::line(content)?;
    for secret in secrets {
        if let Err(why) = &secret.value {
            output::note(&format!("{}: the value is not here: {why}", secret.name));
        }
    }
    Ok(())
}

/// The same for a value that is on the team server alone.
fn show_from_server(context: &Context, which: SecretRef) -> anyhow::Result<()> {
    let team = context.team(Usage::Write)?;
    let asks = RevealFromServer { which, caller: super::caller() };
    let found = runtime()?.block_on(team.perform(asks))?;
    print_fetched(context, &found, "server")
}

fn print_fetched(context: &Context, found: &FromServer, from: &str) -> anyhow::Result<()> {
    let FromServer { memory, value, missing } = found;
    if context.json {
        return output::json(&json!({
            "id": memory.short_id, "uuid": memory.id, "value": value.as_str(), "missing": missing, "from": from,
        }));
    }
    output::line(value)?;
    missing.iter().for_each(|name| output::note(&format!("{name}: the value is not on the server either")));
    Ok(())
}

/// The same for a value that the vault of this machine has.
fn show_from_vault(context: &Context, which: &SecretRef) -> anyhow::Result<()> {
    let Some(safe) = config::vault(context.home.clone())? else { return Ok(()) };
    let store = SharedStore::new(context.open_existing()?);
    let found = runtime()?.block_on(safe.reveal(&store, which, &super::caller()))?;
    print_fetched(context, &found, "vault")
}

fn forget(context: &Context, which: SecretRef) -> anyhow::Result<()> {
    let gone = context.perform_here(Access::Change, ForgetSecret { which })?;
    if context.json {
        return output::json(&json!({ "forgotten": gone }));
    }
    for secret in &gone {
        output::line(&format!("Forgot {} ({}) of {} for good", secret.name, secret.kind, secret.short_id))?;
    }
    if gone.iter().any(|secret| secret.is_told) {
        output::note("the team server still has it: `tessera forget --hard` of its memory removes it there too");
    }
    output::note("copies of the store that were made before still hold what was sealed, and open it with the same key");
    Ok(())
}

fn uses(context: &Context, name: Option<String>) -> anyhow::Result<()> {
    let uses = context.perform_here(Access::Read, SecretUses { name })?;
    if context.json {
        return output::json(&json!({ "uses": uses }));
    }
    let row = |one: &tessera_engine::store::SecretUse| {
        let who =
            [Some(one.origin.clone()), one.client.clone()].into_iter().flatten().collect::<Vec<_>>().join(" via ");
        let session = one.session.clone().unwrap_or_default();
        vec![one.at.to_string(), one.name.clone(), one.short_id.to_string(), one.what.clone(), who, session]
    };
    output::text(&output::table(&["at", "secret", "of", "what", "by", "session"], uses.iter().map(row).collect()))
}

fn key(context: &Context) -> anyhow::Result<()> {
    let all = ListSecrets { of: None };
    let SecretsListed { secrets, key } = context.perform_here(Access::Read, all)?;
    let protects = key.as_ref().map(|key| match key {
        KeyPlace::File(_) => IN_FILE,
        KeyPlace::Keyring => IN_KEYRING,
        KeyPlace::Given => GIVEN,
    });
    if context.json {
        let place = key.as_ref().map(ToString::to_string);
        return output::json(&json!({ "place": place, "protects": protects, "secrets": secrets.len() }));
    }
    match (key, protects) {
        (Some(key), Some(protects)) => {
            output::line(&format!("{} secrets are sealed with the key in {key}", secrets.len()))?;
            output::line(protects)?;
            output::line(
                "without it nothing opens: keep a copy of it apart from copies of the store; `tessera backup` copies no key",
            )
        }
        _ => output::line("there is no key yet: one is made when the first credential is set aside"),
    }
}

fn rotate(context: &Context) -> anyhow::Result<()> {
    let rotated = context.perform_here(Access::Change, RotateKey { progress: &mut |_| {} })?;
    if context.json {
        return output::json(&json!({
            "sealed_anew": rotated.sealed_anew, "do_not_open": rotated.closed, "key": rotated.key,
            "place": rotated.place.to_string(), "resumed": rotated.resumed,
        }));
    }
    if rotated.resumed {
        output::note("an earlier rotation had been stopped; it was brought to its end");
    }
    output::line(&format!(
        "{} secrets are sealed anew with key {} in {}",
        rotated.sealed_anew, rotated.key, rotated.place
    ))?;
    if rotated.sealed_anew == 0 && rotated.place == KeyPlace::Given && rotated.closed.is_empty() {
        output::note(
            "nothing was sealed with another key; to change it, set TESSERA_SECRET_KEY to the new one and TESSERA_SECRET_KEY_BEFORE to the old",
        );
    }
    if !rotated.closed.is_empty() {
        output::note(&format!(
            "no key here opens {}; set TESSERA_SECRET_KEY_BEFORE to theirs",
            rotated.closed.join(", ")
        ));
    }
    output::note("copies of the store that were made before are opened by the old key alone");
    Ok(())
}
