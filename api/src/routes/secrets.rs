//! Routes for secrets, which need the owner's key with all scopes, and for the progress of permanent deletions.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tessera_engine::domain::MemoryUuid;
use tessera_engine::screen::{Place, places};
use tessera_engine::sync::{
    Became, Document, KeptSecret, KeptSecrets, MOST_SECRET_BYTES, MOST_SECRETS, Missing, PurgeReport, SentSecret,
    SentSecrets, ShownSecret, ShownSecrets,
};
use tessera_vault::Fields;

use crate::App;
use crate::contract::{MigrateQuery, OfMemory};
use crate::db::{AuditedAction, Caller, KeptSecret as Row, Migrated, Migrator, Stored};
use crate::error::{Problem, ProblemBody};
use crate::extract::{Body, InPath, Named, Ours, Params, id};
use crate::secrets::{CannotKeepSecret, Opened, SecretMode, Taken, source_of};

/// After this time, a migration request stops and returns the next position.
const MIGRATE_FOR: std::time::Duration = std::time::Duration::from_secs(10);

/// Returns a memory of the caller with its secrets inserted. Each request is recorded with key and address before the
/// answer.
#[utoipa::path(post, path = "/api/memories/{id}/secret", params(OfMemory),
    responses((status = 200, body = Value), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn show(
    State(app): State<App>,
    caller: Caller,
    Ours(is_ours): Ours,
    InPath(text): InPath<String>,
) -> Result<Response, Problem> {
    app.may_all_or_note(&caller, &text).await?;
    let memory = app.one(&caller, &text).await?;
    let found = app.db.own_secrets(&caller, memory, |stored| named(stored).into_keys().collect()).await?;
    let shown = match &found {
        Some((stored, rows)) => Some(app.shown(&caller, stored, rows).await?),
        None => None,
    };
    let deed = if shown.is_some() { AuditedAction::SecretShown } else { AuditedAction::SecretDenied };
    app.db.note(&caller, &[(deed, memory.to_string())]).await?;
    metrics::counter!("tessera_secrets_shown_total", "found" => if shown.is_some() { "yes" } else { "no" })
        .increment(1);
    let shown = shown.ok_or_else(Problem::not_found)?;
    let short_id = app.db.short_ids(&caller.user, &[memory]).await?.get(&memory).copied();
    let mut reply = json!(shown);
    if let Some(fields) = reply.as_object_mut().filter(|_| !is_ours) {
        fields.insert("uuid".into(), json!(memory));
        fields.insert("id".into(), json!(short_id));
    }
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(reply)).into_response())
}

impl App {
    /// Rejects a key that does not have every scope, and records the attempt. The audit contains no text, so it names
    /// only a UUID.
    async fn may_all_or_note(&self, caller: &Caller, id: &str) -> Result<(), Problem> {
        let refused = caller.may_all();
        if refused.is_err() {
            let memory = id.parse().map(|id: MemoryUuid| id.to_string()).unwrap_or_default();
            self.db.note(caller, &[(AuditedAction::SecretDenied, memory)]).await?;
        }
        refused
    }
}

/// The placeholders of a memory, each name once.
fn named(stored: &Stored) -> BTreeMap<String, String> {
    let places = stored.row.state.document().map(all_places).unwrap_or_default();
    places.into_iter().filter_map(|place| Some((place.name?.to_string(), place.kind))).collect()
}

/// The placeholders of a document in the order of its texts. Tags have their own form.
fn all_places(document: &Document) -> Vec<Place> {
    let details = &document.details;
    let texts = std::iter::once(document.content.as_str())
        .chain(details.keywords.iter().chain(&details.entities).chain(&details.session).map(String::as_str));
    let mut found: Vec<Place> = texts.flat_map(|text| places(text).into_iter().map(|(_, place)| place)).collect();
    let slugs = document.tags.iter().map(tessera_engine::domain::Tag::as_str).chain([details.category.as_str()]);
    found.extend(slugs.flat_map(slug_places));
    let mut unique: Vec<Place> = Vec::new();
    for place in found {
        if !unique.iter().any(|known| known.name.is_some() && known.name == place.name) {
            unique.push(place);
        }
    }
    unique
}

/// The placeholders in a tag: `secret-s7k4q2`.
fn slug_places(slug: &str) -> impl Iterator<Item = Place> {
    let names = slug.split("secret-").skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        tessera_engine::screen::Name::parse(rest.get(..end)?)
    });
    names.map(|name| Place { name: Some(name), kind: "in a tag".into() }).collect::<Vec<_>>().into_iter()
}

impl App {
    /// A memory with its secrets inserted.
    async fn shown(&self, caller: &Caller, stored: &Stored, rows: &[Row]) -> Result<ShownSecrets, Problem> {
        let document = stored.row.state.document().ok_or_else(Problem::not_found)?;
        let in_vault = self.in_vault(caller, rows).await?;
        let mut secrets = Vec::new();
        for place in all_places(document) {
            let row = place.name.as_ref().and_then(|name| rows.iter().find(|row| row.name == name.as_str()));
            let found = match (&place.name, row) {
                (None, _) => Err(Missing::Dropped),
                (Some(_), None) => Err(Missing::NotHere),
                (Some(_), Some(row)) => self.value(caller, row, &in_vault)?,
            };
            let (value, missing) = found.map_or_else(|missing| (None, Some(missing)), |value| (Some(value), None));
            secrets.push(ShownSecret {
                name: place.name.map(|name| name.to_string()),
                kind: place.kind,
                value,
                missing,
            });
        }
        let source =
            if secrets.is_empty() { "plaintext" } else { source_of(rows.iter().any(|row| row.sealed.is_none())) };
        Ok(ShownSecrets {
            id: stored.row.memory,
            category: document.details.category.as_str().to_owned(),
            content: put_back(document.content.as_str(), &secrets),
            source: source.to_owned(),
            secrets,
        })
    }

    /// The values that the vault stores for these secrets, by their path.
    async fn in_vault(&self, caller: &Caller, rows: &[Row]) -> Result<BTreeMap<String, Fields>, Problem> {
        let mut found = BTreeMap::new();
        for row in rows.iter().filter(|row| row.sealed.is_none()) {
            let at = row.memory.to_string();
            if !found.contains_key(&at)
                && let Some(fields) = self.secrets.read(caller.user.as_str(), &at).await?
            {
                found.insert(at, fields);
            }
        }
        Ok(found)
    }

    fn value(
        &self,
        caller: &Caller,
        row: &Row,
        in_vault: &BTreeMap<String, Fields>,
    ) -> Result<Result<String, Missing>, Problem> {
        let Some(sealed) = &row.sealed else {
            let value = in_vault.get(&row.memory.to_string()).and_then(|fields| fields.get(&row.name));
            return Ok(value.map(str::to_owned).ok_or(Missing::NotHere));
        };
        match self.secrets.opened(caller.user.as_str(), row.memory, &row.name, sealed) {
            Ok(Opened::Value(value)) => Ok(Ok(value.as_str().to_owned())),
            Ok(Opened::NoKey) => Ok(Err(Missing::Key)),
            Err(error) => {
                tracing::error!(%error, memory = %row.memory, "a secret cannot be decrypted");
                Err(Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "damaged", "a stored secret is damaged"))
            }
        }
    }
}

/// Inserts values at the placeholders of a text.
fn put_back(text: &str, secrets: &[ShownSecret]) -> String {
    let (mut written, mut at) = (String::new(), 0);
    for (span, place) in places(text) {
        let name = place.name.as_ref().map(tessera_engine::screen::Name::as_str);
        let shown = secrets.iter().find(|secret| secret.name.as_deref() == name);
        let Some(value) = shown.and_then(|secret| secret.value.as_deref()) else { continue };
        written.push_str(text.get(at..span.start).unwrap_or_default());
        written.push_str(value);
        at = span.end;
    }
    written + text.get(at..).unwrap_or_default()
}

/// Stores secrets of the caller's own memories that a machine redacted.
#[utoipa::path(put, path = "/v1/sync/secrets", request_body = Value,
    responses((status = 200, body = Value), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn take(
    State(app): State<App>,
    caller: Caller,
    Body(sent): Body<SentSecrets>,
) -> Result<Json<KeptSecrets>, Problem> {
    // A write-only key must not find out a value by guessing.
    caller.may_all()?;
    if !app.secrets.has_place() {
        let detail = "this server does not store secrets; they stay on the machine that they came from";
        return Err(Problem::new(StatusCode::CONFLICT, "no_place_for_secrets", detail));
    }
    if sent.secrets.len() > MOST_SECRETS {
        let problem = format!("secrets: {} is too many; send at most {MOST_SECRETS}", sent.secrets.len());
        return Err(Problem::invalid(problem));
    }
    let mut kept = Vec::with_capacity(sent.secrets.len());
    for secret in sent.secrets {
        let (memory, name) = (secret.memory, secret.name.clone());
        let became = app.taken(&caller, secret).await?;
        kept.push(KeptSecret { memory, name, became });
    }
    Ok(Json(KeptSecrets { kept }))
}

impl App {
    async fn taken(&self, caller: &Caller, sent: SentSecret) -> Result<Became, Problem> {
        let Some(taken) = sound(sent.name, &sent.kind, sent.value) else { return Ok(Became::Invalid) };
        let memory = sent.memory;
        let Some(known) = self.db.sent_before(caller, memory, &taken.0).await? else { return Ok(Became::Unknown) };
        let (name, taken) = taken;
        if let Some(row) = known {
            let in_vault = self.in_vault(caller, std::slice::from_ref(&row)).await?;
            let is_same = self.value(caller, &row, &in_vault)?.is_ok_and(|value| value == *taken.value);
            return Ok(if is_same { Became::Kept } else { Became::Differs });
        }
        let secret = self
            .secrets
            .secret(caller.user.as_str(), memory, &taken)
            .map_err(|_| Problem::unavailable("unavailable", "a secret cannot be encrypted now; try again"))?;
        let taken = [taken];
        self.secrets.put(&self.db, &caller.user, memory, &taken).await?;
        let is_kept = self.db.keep_sent(caller, memory, &secret).await?;
        tracing::debug!(memory = %memory, name, "a client sent the value of a secret");
        Ok(if is_kept { Became::Kept } else { Became::Unknown })
    }
}

/// A secret from a machine, if it is valid.
fn sound(name: String, kind: &str, value: String) -> Option<(String, Taken)> {
    let name = tessera_engine::screen::Name::parse(&name)?;
    let place = Place { name: Some(name.clone()), kind: kind.to_owned() };
    // The kind must be valid in a placeholder.
    let is_sound = places(&place.to_string()).first().is_some_and(|(_, read)| *read == place)
        && !value.is_empty()
        && value.len() <= MOST_SECRET_BYTES;
    let text = name.to_string();
    is_sound.then(|| (text, Taken { name: Some(name), kind: kind.to_owned(), value: value.into() }))
}

/// Deletes a secret of the caller's memory permanently; the text keeps the placeholder.
#[utoipa::path(delete, path = "/api/memories/{id}/secret/{name}",
    params(OfMemory, ("name" = String, Path)),
    responses((status = 200, body = Value), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn forget(
    State(app): State<App>,
    caller: Caller,
    InPath((text, name)): InPath<(String, String)>,
) -> Result<Json<Value>, Problem> {
    app.may_all_or_note(&caller, &text).await?;
    let Named { memory, short_id } = app.named(&caller, &text).await?;
    if !app.db.forget_secret(&caller, memory, &name).await? {
        return Err(Problem::not_found());
    }
    Ok(Json(json!({ "forgotten": name, "memory": short_id, "uuid": memory })))
}

/// Redacts secrets in the caller's old memories, and stops after some seconds. `next` is the position for the next
/// call. A second run finds nothing.
#[utoipa::path(post, path = "/api/memories/migrate-secrets", params(MigrateQuery),
    responses((status = 200, body = Migrated), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn migrate(
    State(app): State<App>,
    caller: Caller,
    Params(query): Params<MigrateQuery>,
) -> Result<Json<Migrated>, Problem> {
    caller.may_all()?;
    if app.secrets.mode() == SecretMode::Refuse && !query.dry_run {
        let kind = "any".into();
        return Err(CannotKeepSecret::Refused { kind }.into());
    }
    let started = std::time::Instant::now();
    let mut done = Migrated { next: query.after, ..Migrated::default() };
    loop {
        let batch = app.db.migrate_secrets(Migrator::Caller(&caller), &app.secrets, done.next, query.dry_run).await?;
        done.add(&batch);
        if done.next.is_none() || started.elapsed() > MIGRATE_FOR {
            return Ok(Json(done));
        }
    }
}

/// Lists the machines that know about a permanent deletion.
#[utoipa::path(get, path = "/v1/sync/purged/{id}", params(("id" = String, Path, format = Uuid)),
    responses((status = 200, body = Value), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn purged(
    State(app): State<App>,
    caller: Caller,
    InPath(text): InPath<String>,
) -> Result<Json<PurgeReport>, Problem> {
    caller.may("read")?;
    let memory: MemoryUuid = id(&text)?;
    Ok(Json(app.db.purge_report(&caller, memory).await?))
}
