//! `secret`: manages the values that were removed from texts.

use std::io::IsTerminal as _;
use std::process::ExitCode;

use tessera_desk::SharedStore;
use tessera_desk::team::{FromServer, RevealFromServer};
use tessera_desk::use_cases::{
    AllowSecret, ForgetSecret, HideText, ListSecrets, Reveal, RotateKey, SecretUses, SecretsListed,
};
use tessera_engine::domain::MemoryRef;
use tessera_engine::store::{
    Allowed, CleanedFile, Hidden, KeyPlace, Revealed, RevealedSecret, SecretRef, SecretRow, StoreError,
    UnavailableBecause, Usage,
};

use super::sync::runtime;
use super::{Access, Context, all_or_stdin, residue};
use crate::cli::SecretTask;
use crate::shapes::{
    AllowedText, AllowedTexts, Fetched, ForgottenSecrets, KeyRotated, KeyShown, RevealedText, RevealedValue,
    SecretUses as AllUses, Secrets,
};
use crate::{config, output};

/// What the key file in the home directory protects against.
const IN_FILE: &str = "protects copies of the database (backups, synced folders, disk images without this file); \
    does not protect against programs that run under your account, or a copy of the whole home directory";
const IN_KEYRING: &str = "protects the whole home directory while you are logged out; does not protect against programs that run under your account";
const GIVEN: &str = "is not stored in the home directory, so a copy of the home directory does not reveal the secrets; does not protect against programs that can read the setting";

/// Performs one action.
pub(super) fn run(context: &Context, task: SecretTask) -> anyhow::Result<ExitCode> {
    let done = match task {
        SecretTask::Scan { fix, yes } => return residue::scan(context, fix, yes),
        SecretTask::List { memory: _, allowed: true } => list_allowed(context),
        SecretTask::List { memory, allowed: false } => list(context, memory),
        SecretTask::Hide { memory } => return hide(context, memory),
        SecretTask::Allow { name } => allow(context, name),
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
        return output::json(&Secrets { secrets });
    }
    if secrets.is_empty() {
        output::note("there are no secrets");
        return Ok(());
    }
    let row = |secret: &SecretRow| {
        let on_server = if secret.is_told { ", on the server" } else { "" };
        vec![
            secret.name.clone(),
            secret.kind.clone(),
            secret.short_id.to_string(),
            if output::is_terminal() { output::local(secret.made) } else { secret.made.to_string() },
            format!("{}{on_server}", secret.place),
        ]
    };
    output::text(&output::table(&["name", "kind", "memory", "redacted", "stored"], secrets.iter().map(row).collect()))
}

fn list_allowed(context: &Context) -> anyhow::Result<()> {
    let SecretsListed { allowed, .. } = context.perform_here(Access::Read, ListSecrets { of: None })?;
    if context.json {
        return output::json(&AllowedTexts { allowed });
    }
    if allowed.is_empty() {
        output::note("there are no texts that you declared not to be secrets");
    }
    allowed.iter().try_for_each(|text| output::line(&output::shown(text)))
}

/// Hides a text that the person types without echo, or passes through stdin. Exits with 1 if a file still contains it.
fn hide(context: &Context, memory: MemoryRef) -> anyhow::Result<ExitCode> {
    let text = if std::io::stdin().is_terminal() {
        rpassword::prompt_password("Text to hide (not shown while you type): ")?
    } else {
        all_or_stdin("-".to_owned())?
    };
    let hidden = context.perform_here(Access::Change, HideText { memory, text })?;
    let is_done = hidden.files.iter().all(|file| file.problem.is_none());
    if context.json {
        output::json(&hidden)?;
    } else {
        tell_hidden(context, &hidden)?;
    }
    Ok(if is_done { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn tell_hidden(context: &Context, hidden: &Hidden) -> anyhow::Result<()> {
    let Hidden { memory, name, versions, files, also_in } = hidden;
    output::say(&match name {
        Some(name) => format!("Hidden in {memory} as {name}; `tessera secret show {name}` shows the text"),
        None => format!("Removed from {memory} for ever, because the setting secrets.mode is drop"),
    })?;
    if *versions > 0 {
        output::say(&format!("  Earlier versions without the text: {versions}"))?;
    }
    for CleanedFile { path, problem } in files {
        let state = problem.as_deref().unwrap_or("rewritten without the text");
        output::say(&format!("  {}: {}", output::shown(path), output::shown(state)))?;
    }
    if config::team(context.home.clone())?.is_some() {
        output::line("  Other machines and the server remove it at their next sync.")?;
    }
    if !also_in.is_empty() {
        let ids: Vec<String> = also_in.iter().map(ToString::to_string).collect();
        let all = ids.join(", ");
        output::note(&format!("the same text is also in {all}; `tessera secret hide ID` hides it there too"));
    }
    Ok(())
}

fn allow(context: &Context, name: String) -> anyhow::Result<()> {
    let Allowed { name, value, memories } = context.perform_here(Access::Change, AllowSecret { name })?;
    if context.json {
        return output::json(&AllowedText { name: &name, value: &value, ids: &memories });
    }
    let ids: Vec<String> = memories.iter().map(ToString::to_string).collect();
    output::say(&format!("Restored in {}: {}", ids.join(", "), output::shown(&value)))?;
    output::say("Tessera does not redact this text again. To hide it later, run `tessera secret hide ID`.")
}

/// Prints only the value to stdout, so that a pipe gets nothing else.
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
        let secrets = secrets.iter().map(shown).collect();
        return output::json(&RevealedText {
            id: memory.short_id,
            uuid: memory.id,
            secrets,
            content: content.as_str(),
        });
    }
    if let ([RevealedSecret { value: Ok(value), .. }], false) = (secrets.as_slice(), of_memory) {
        return output::line(value);
    }
    output::line(content)?;
    for secret in secrets {
        if let Err(why) = &secret.value {
            output::note(&format!("the value of {} cannot be shown: {why}", secret.name));
        }
    }
    Ok(())
}

/// Shows a value that only the team server has.
fn show_from_server(context: &Context, which: SecretRef) -> anyhow::Result<()> {
    let team = context.team(Usage::Write)?;
    let asks = RevealFromServer { which, caller: super::caller() };
    let found = runtime()?.block_on(team.perform(asks))?;
    print_fetched(context, &found, "server")
}

fn shown(secret: &RevealedSecret) -> RevealedValue<'_> {
    let (value, missing) = match &secret.value {
        Ok(value) => (Some(value.as_str()), None),
        Err(why) => (None, Some(why.to_string())),
    };
    RevealedValue { name: &secret.name, kind: &secret.kind, value, missing }
}

fn print_fetched(context: &Context, found: &FromServer, from: &str) -> anyhow::Result<()> {
    let FromServer { memory, value, missing } = found;
    if context.json {
        let (id, uuid) = (memory.short_id, memory.id);
        return output::json(&Fetched { id, uuid, value: value.as_str(), missing, from });
    }
    output::line(value)?;
    missing
        .iter()
        .for_each(|name| output::note(&format!("{name}: the value is neither on this machine nor on the server")));
    Ok(())
}

/// Shows a value that is stored in the vault of this machine.
fn show_from_vault(context: &Context, which: &SecretRef) -> anyhow::Result<()> {
    let Some(safe) = config::vault(context.home.clone())? else { return Ok(()) };
    let store = SharedStore::new(context.open_existing()?);
    let found = runtime()?.block_on(safe.reveal(&store, which, &super::caller()))?;
    print_fetched(context, &found, "vault")
}

fn forget(context: &Context, which: SecretRef) -> anyhow::Result<()> {
    let gone = context.perform_here(Access::Change, ForgetSecret { which })?;
    if context.json {
        return output::json(&ForgottenSecrets { forgotten: gone });
    }
    for secret in &gone {
        output::say(&format!("Deleted {} ({}) of {} permanently", secret.name, secret.kind, secret.short_id))?;
    }
    if gone.iter().any(|secret| secret.is_told) {
        output::note(
            "the team server still stores the secret; only `tessera forget ID --hard`, which deletes the whole memory, deletes it there",
        );
    }
    output::note("earlier copies of the store still contain the encrypted value, and the same key decrypts it");
    Ok(())
}

fn uses(context: &Context, name: Option<String>) -> anyhow::Result<()> {
    let uses = context.perform_here(Access::Read, SecretUses { name })?;
    if context.json {
        return output::json(&AllUses { uses });
    }
    if uses.is_empty() {
        return output::line("No use of such a secret is recorded; `tessera secret list` lists the secrets.");
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
    let SecretsListed { secrets, key, .. } = context.perform_here(Access::Read, all)?;
    let protects = key.as_ref().map(|key| match key {
        KeyPlace::File(_) => IN_FILE,
        KeyPlace::Keyring => IN_KEYRING,
        KeyPlace::Given => GIVEN,
    });
    if context.json {
        let place = key.as_ref().map(ToString::to_string);
        return output::json(&KeyShown { place, protects, secrets: secrets.len() });
    }
    match (key, protects) {
        (Some(key), Some(protects)) => {
            let count = output::counted(secrets.len(), "secret is", "secrets are");
            output::say(&format!("{count} encrypted with the key in {key}"))?;
            output::say(protects)?;
            output::say(
                "Without it, no secret can be decrypted: keep a copy of the key apart from copies of the store; \
                `tessera backup` does not copy the key without --with-key",
            )
        }
        _ if !secrets.is_empty() => output::say(&format!(
            "{}, but the key is missing; restore secret.key from a copy, or set TESSERA_SECRET_KEY",
            output::counted(secrets.len() as u64, "secret is encrypted", "secrets are encrypted")
        )),
        _ => output::line("There is no key yet; Tessera creates a key for the first secret."),
    }
}

fn rotate(context: &Context) -> anyhow::Result<()> {
    let rotated = context.perform_here(Access::Change, RotateKey { progress: &mut |_| {} })?;
    if context.json {
        return output::json(&KeyRotated {
            sealed_anew: rotated.sealed_anew,
            do_not_open: rotated.closed,
            key: rotated.key,
            place: rotated.place.to_string(),
            resumed: rotated.resumed,
        });
    }
    if rotated.resumed {
        output::note("completed an interrupted key rotation");
    }
    output::say(&format!(
        "encrypted {} secrets with the new key {} in {}",
        rotated.sealed_anew, rotated.key, rotated.place
    ))?;
    if rotated.sealed_anew == 0 && rotated.place == KeyPlace::Given && rotated.closed.is_empty() {
        output::note(
            "all secrets already use this key; to change it, set TESSERA_SECRET_KEY to the new key and \
            TESSERA_SECRET_KEY_BEFORE to the old one",
        );
    }
    if !rotated.closed.is_empty() {
        output::note(&format!(
            "no key decrypts {}; set TESSERA_SECRET_KEY_BEFORE to the key that encrypted them",
            rotated.closed.join(", ")
        ));
    }
    output::note("earlier copies of the store need the old key");
    Ok(())
}
