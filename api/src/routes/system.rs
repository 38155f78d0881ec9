//! Whether the server is there, and whose a key is.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use crate::App;
use crate::db::Caller;
use crate::error::{Problem, ProblemBody};

/// That all is well.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Status {
    /// ok.
    status: &'static str,
    /// ok, sealed, denied, expired or unreachable: the vault that keeps secrets, where there is one. Without it all goes on
    /// but what needs a secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    vault: Option<&'static str>,
}

/// Whose the key is.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Whose {
    /// ok.
    status: &'static str,
    /// The user.
    user_id: String,
    /// What the key may be used for.
    scopes: Vec<String>,
}

/// Tells that the process lives; asks nobody.
#[utoipa::path(get, path = "/health", security(()), responses((status = 200, body = Status)))]
pub(super) async fn health() -> Json<Status> {
    Json(Status { status: "ok", vault: None })
}

/// Tells that requests can be answered now.
#[utoipa::path(get, path = "/ready", security(()), responses((status = 200, body = Status), (status = 503, body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn ready(State(app): State<App>) -> Result<Json<Status>, Problem> {
    if app.is_draining() {
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "draining", "this server is about to stop"));
    }
    if app.db.is_ready().await {
        return Ok(Json(Status { status: "ok", vault: app.vault_state.known() }));
    }
    Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", "the database does not answer"))
}

/// Tells whose a key is.
#[utoipa::path(get, path = "/api/auth-check", responses((status = 200, body = Whose), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn auth_check(caller: Caller) -> Json<Whose> {
    Json(Whose { status: "ok", user_id: caller.user.as_str().to_owned(), scopes: caller.scopes })
}
