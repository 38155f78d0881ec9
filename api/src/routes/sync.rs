//! `/v1/sync`: push, changes, snapshot.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use sha2::{Digest, Sha256};
use tessera_engine::domain::Timestamp;
use tessera_engine::screen::Screened;
use tessera_engine::sync::{Answer, MOST_OPS, MOST_ROWS, Op, Page, Push, Pushed, Refusal, SentOp, Snapshot};

use crate::App;
use crate::contract::{ChangesQuery, SnapshotQuery};
use crate::db::{Caller, Remedy, Sent};
use crate::error::{Problem, ProblemBody};
use crate::extract::{Body, Checkpoints, Machine, Params};
use crate::keys::Place;
use crate::secrets::{Aside, CannotKeepSecret, unhinted};
use crate::threads::off_runtime;

/// Applies changes of a machine, each once.
#[utoipa::path(post, path = "/v1/sync/push", request_body = serde_json::Value,
    responses((status = 200, body = serde_json::Value), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn push(
    State(app): State<App>,
    caller: Caller,
    Checkpoints(checkpoints): Checkpoints,
    Body(push): Body<Push>,
) -> Result<Json<Pushed>, Problem> {
    caller.may("write")?;
    if push.ops.len() > MOST_OPS {
        return Err(Problem::invalid(format!("ops: {} is too many; send at most {MOST_OPS}", push.ops.len())));
    }
    if app.db.known(&caller.user, push.epoch, &checkpoints).await?.is_none() {
        return Err(Problem::must_refetch());
    }
    let now = app.clock.now();
    let mut answers = Vec::with_capacity(push.ops.len());
    for sent in push.ops {
        answers.push(carried_out(&app, &caller, sent, now).await?);
    }
    let checkpoint = app.db.known(&caller.user, push.epoch, &[]).await?.and_then(|position| position.checkpoint);
    Ok(Json(Pushed { answers, checkpoint }))
}

/// Applies one change. Redacts secrets that an earlier client sent in clear text. In the mode `refuse`, the server
/// rejects the change, and the secret stays on the machine. In the mode `drop`, the server discards the secret.
async fn carried_out(app: &App, caller: &Caller, sent: SentOp, now: Timestamp) -> Result<Answer, Problem> {
    let SentOp { op, embedding } = sent;
    let (op_id, memory) = (op.op_id, op.memory);
    let invalid = || Answer { op_id, memory, refused: Some(Refusal::Invalid), row: None, copy: None };
    let body = serde_json::to_vec(&op).map_err(|error| Problem::invalid(error.to_string()))?;
    // A fast clock must not make its details win for years.
    let op = Op { at: op.at.min(now), ..op };
    let (is_clean, op) = off_runtime(move || (Screened::clean(op.clone()).is_some(), op)).await?;
    let is_anothers = !is_clean && app.db.get(&caller.user, memory).await?.is_some_and(|found| found.share().is_some());
    let (secrets, user) = (Arc::clone(&app.secrets), caller.user.clone());
    let screened = off_runtime(move || {
        let aside = if is_anothers { Aside::anothers } else { Aside::own };
        let mut aside = aside(&secrets, user.as_str());
        let op = aside.look(op, memory)?;
        let taken = aside.into_taken();
        let hash = Sha256::digest(unhinted(&body, &taken));
        Ok::<_, CannotKeepSecret>((op, taken, hash))
    });
    let (op, taken, hash) = match screened.await? {
        Ok(screened) => screened,
        Err(why) => {
            tracing::warn!(%why, "a change was rejected");
            return Ok(invalid());
        }
    };
    app.secrets.put(&app.db, &caller.user, memory, &taken).await?;
    app.note_dropped(caller, memory, &taken).await?;
    // The embedding belongs to another text if something was redacted.
    let sent = embedding.filter(|_| taken.is_empty()).map(|embedding| Sent { embedding, key: caller.key.clone() });
    match app.db.carry_out(caller, &op, &hash, sent.as_ref()).await {
        // A change that can never be stored must not block others.
        Err(error) if error.remedy() == Remedy::Change => {
            tracing::warn!(%error, "a change could not be stored");
            Ok(invalid())
        }
        done => Ok(done?),
    }
}

/// Returns changes after a cursor.
#[utoipa::path(get, path = "/v1/sync/changes", params(ChangesQuery),
    responses((status = 200, body = serde_json::Value), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn changes(
    State(app): State<App>,
    caller: Caller,
    Checkpoints(checkpoints): Checkpoints,
    Machine(machine): Machine,
    Params(query): Params<ChangesQuery>,
) -> Result<Json<Page>, Problem> {
    caller.may("read")?;
    let place = Place { epoch: query.epoch, after: query.after };
    let is_noted = app.heard.is_noted(&caller.key, &machine, place);
    if is_noted && caller.at.is_known_to(query.epoch, query.after, &checkpoints) {
        // The key look-up already contains the answer.
        return Ok(Json(Page {
            keeps_secrets: app.secrets.has_place(),
            ..Page::nothing_new(query.after, caller.at.checkpoint)
        }));
    }
    let limit = query.limit.unwrap_or(MOST_ROWS);
    let page = app.db.changes(&caller.user, query.epoch, &checkpoints, query.after, limit).await?;
    let page = page.ok_or_else(Problem::must_refetch)?;
    // Returns changes even if the request cannot be recorded.
    match app.db.asked_after(&caller, &machine, query.after).await {
        Ok(()) => app.heard.note(&caller.key, &machine, place),
        Err(error) => tracing::warn!(%error, "the position of a machine in the change feed"),
    }
    Ok(Json(Page { keeps_secrets: app.secrets.has_place(), ..page }))
}

/// Returns everything that the caller may see, in pages.
#[utoipa::path(get, path = "/v1/sync/snapshot", params(SnapshotQuery),
    responses((status = 200, body = serde_json::Value), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn snapshot(
    State(app): State<App>,
    caller: Caller,
    Checkpoints(checkpoints): Checkpoints,
    Params(query): Params<SnapshotQuery>,
) -> Result<Json<Snapshot>, Problem> {
    caller.may("read")?;
    Ok(Json(app.db.snapshot(&caller.user, &checkpoints, query.after).await?))
}
