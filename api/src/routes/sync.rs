//! `/v1/sync`: push, changes, snapshot.

use axum::Json;
use axum::extract::State;
use tessera_engine::sync::{Answer, MOST_OPS, MOST_ROWS, Page, Push, Pushed, Refusal, SentOp, Snapshot};

use crate::App;
use crate::contract::{ChangesQuery, SnapshotQuery};
use crate::db::{Caller, Remedy, Sent};
use crate::error::{Problem, ProblemBody};
use crate::extract::{Body, Marks, Params};

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
    for SentOp { op, meaning } in push.ops {
        let sent = meaning.map(|meaning| Sent { meaning, key: caller.key.clone() });
        answers.push(match app.db.carry_out(&caller.user, &op, sent.as_ref(), now).await {
            // What can never be stored holds up nothing that can.
            Err(error) if error.remedy() == Remedy::Change => {
                tracing::warn!(%error, "an op cannot be stored");
                let refused = Some(Refusal::Invalid);
                Answer { op_id: op.op_id, memory: op.memory, refused, row: None, copy: None }
            }
            done => done?,
        });
    }
    let mark = app.db.known(&caller.user, push.epoch, &[]).await?.and_then(|position| position.mark);
    Ok(Json(Pushed { answers, mark }))
}

/// Tells what changed after a cursor.
#[utoipa::path(get, path = "/v1/sync/changes", params(ChangesQuery),
    responses((status = 200, body = serde_json::Value), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn changes(
    State(app): State<App>,
    caller: Caller,
    Marks(marks): Marks,
    Params(query): Params<ChangesQuery>,
) -> Result<Json<Page>, Problem> {
    caller.may("read")?;
    let limit = query.limit.unwrap_or(MOST_ROWS);
    let page = app.db.changes(&caller.user, query.epoch, &marks, query.after, limit).await?;
    page.map(Json).ok_or_else(Problem::must_refetch)
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
