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
use crate::extract::{Body, Machine, Marks, Params};
use crate::keys::Place;
use crate::secrets::{Aside, CannotKeepSecret, unhinted};
use crate::threads::off_runtime;

/// Carries out ops of a machine, each once.
#[utoipa::path(post, path = "/v1/sync/push", request_body = serde_json::Value,
    responses((status = 200, body = serde_json::Value), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn push(
    State(app): State<App>,
    caller: Caller,
    Marks(marks): Marks,
    Body(push): Body<Push>,
) -> Result<Json<Pushed>, Problem> {
    caller.may("write")?;
    if push.ops.len() > MOST_OPS {
        return Err(Problem::invalid(format!("ops: {} are too many, send at most {MOST_OPS}", push.ops.len())));
    }
    if app.db.known(&caller.user, push.epoch, &marks).await?.is_none() {
        return Err(Problem::must_refetch());
    }
    let now = app.clock.now();
    let mut answers = Vec::with_capacity(push.ops.len());
    for sent in push.ops {
        answers.push(carried_out(&app, &caller, sent, now).await?);
    }
    let mark = app.db.known(&caller.user, push.epoch, &[]).await?.and_then(|position| position.mark);
    Ok(Json(Pushed { answers, mark }))
}

/// Carries out one op. What a machine of before sends in clear is set aside here, where there is a place for it; where there
/// is none it stays on the machine, and the machine says so.
async fn carried_out(app: &App, caller: &Caller, sent: SentOp, now: Timestamp) -> Result<Answer, Problem> {
    let SentOp { op, meaning } = sent;
    let (op_id, memory) = (op.op_id, op.memory);
    let invalid = || Answer { op_id, memory, refused: Some(Refusal::Invalid), row: None, copy: None };
    let body = serde_json::to_vec(&op).map_err(|error| Problem::invalid(error.to_string()))?;
    // A clock that is ahead must not make its details win for years.
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
            tracing::warn!(%why, "an op is refused");
            return Ok(invalid());
        }
    };
    app.secrets.put(&app.db, &caller.user, memory, &taken).await?;
    app.note_dropped(caller, memory, &taken).await?;
    // What it means was found out of another text, where something was taken out of it.
    let sent = meaning.filter(|_| taken.is_empty()).map(|meaning| Sent { meaning, key: caller.key.clone() });
    match app.db.carry_out(caller, &op, &hash, sent.as_ref()).await {
        // What can never be stored holds up nothing that can.
        Err(error) if error.remedy() == Remedy::Change => {
            tracing::warn!(%error, "an op cannot be stored");
            Ok(invalid())
        }
        done => Ok(done?),
    }
}

/// Tells what changed after a cursor.
#[utoipa::path(get, path = "/v1/sync/changes", params(ChangesQuery),
    responses((status = 200, body = serde_json::Value), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn changes(
    State(app): State<App>,
    caller: Caller,
    Marks(marks): Marks,
    Machine(machine): Machine,
    Params(query): Params<ChangesQuery>,
) -> Result<Json<Page>, Problem> {
    caller.may("read")?;
    let place = Place { epoch: query.epoch, after: query.after };
    let is_noted = app.heard.is_noted(&caller.key, &machine, place);
    if is_noted && caller.at.is_known_to(query.epoch, query.after, &marks) {
        // The look-up of the key has said it all.
        return Ok(Json(Page {
            keeps_secrets: app.secrets.has_place(),
            ..Page::nothing_new(query.after, caller.at.mark)
        }));
    }
    let limit = query.limit.unwrap_or(MOST_ROWS);
    let page = app.db.changes(&caller.user, query.epoch, &marks, query.after, limit).await?;
    let page = page.ok_or_else(Problem::must_refetch)?;
    // News go out though nobody can be told that they were asked for.
    match app.db.asked_after(&caller, &machine, query.after).await {
        Ok(()) => app.heard.note(&caller.key, &machine, place),
        Err(error) => tracing::warn!(%error, "how far a machine has taken the news"),
    }
    Ok(Json(Page { keeps_secrets: app.secrets.has_place(), ..page }))
}

/// Gives all that the caller may see, in pages.
#[utoipa::path(get, path = "/v1/sync/snapshot", params(SnapshotQuery),
    responses((status = 200, body = serde_json::Value), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn snapshot(
    State(app): State<App>,
    caller: Caller,
    Marks(marks): Marks,
    Params(query): Params<SnapshotQuery>,
) -> Result<Json<Snapshot>, Problem> {
    caller.may("read")?;
    Ok(Json(app.db.snapshot(&caller.user, &marks, query.after).await?))
}
