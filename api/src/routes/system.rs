//! Health, and the user of a key.
//!
//! Import and export.

use axum::Json;
use axum::body::{Body as HttpBody, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::creation::creation;
use super::memories::{done, idempotency};
use crate::App;
use crate::contract::{ImportedRow, MemoryView, NewMemory};
use crate::db::{Ask, Caller, Idempotency};
use crate::error::{Problem, ProblemBody};
use crate::extract::Raw;
use crate::secrets::SetAside;

/// The status of the server.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Status {
    /// ok.
    status: &'static str,
    /// ok, sealed, denied, expired or unreachable: the state of the vault, if there is one. While the vault cannot be
    /// used, requests that need the value of a secret fail, and all other requests work.
    #[serde(skip_serializing_if = "Option::is_none")]
    vault: Option<&'static str>,
}

/// The user of the key.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Whose {
    /// ok.
    status: &'static str,
    /// The user.
    user_id: String,
    /// The scopes of the key.
    scopes: Vec<String>,
}

/// Confirms that the process is alive, without any query.
#[utoipa::path(get, path = "/health", security(()), responses((status = 200, body = Status)))]
pub(super) async fn health() -> Json<Status> {
    Json(Status { status: "ok", vault: None })
}

/// Confirms that requests can be answered.
#[utoipa::path(get, path = "/ready", security(()), responses((status = 200, body = Status), (status = 503, body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn ready(State(app): State<App>) -> Result<Json<Status>, Problem> {
    if app.is_draining() {
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "draining", "the server is shutting down"));
    }
    if app.db.is_ready().await {
        return Ok(Json(Status { status: "ok", vault: app.vault_state.known() }));
    }
    Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", "the database does not answer"))
}

/// Returns the user and the scopes of a key.
#[utoipa::path(get, path = "/api/auth-check", responses((status = 200, body = Whose), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn auth_check(caller: Caller) -> Json<Whose> {
    Json(Whose { status: "ok", user_id: caller.user.as_str().to_owned(), scopes: caller.scopes })
}

/// The maximum number of rows per import, which is one transaction.
const MOST_ROWS: usize = 1_000;

/// Stores many memories in one transaction, and reports each row. A rejected row does not stop the others.
#[utoipa::path(post, path = "/api/memories/import", request_body = Vec<NewMemory>,
    params(("Idempotency-Key" = Option<String>, Header, description = "A request that is retried with the same key is stored only once")),
    responses((status = 200, body = Vec<ImportedRow>), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn import(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    Raw(body): Raw,
) -> Result<Json<Vec<ImportedRow>>, Problem> {
    caller.may("write")?;
    let given = idempotency(&headers, "import", &body)?;
    // Parses each row separately, so a bad row is its own problem.
    let rows: Vec<&RawValue> = serde_json::from_slice(&body).map_err(|error| Problem::invalid(error.to_string()))?;
    if rows.len() > MOST_ROWS {
        return Err(Problem::invalid(format!("rows: {} is too many; send at most {MOST_ROWS} at a time", rows.len())));
    }
    let mut report: Vec<ImportedRow> = Vec::with_capacity(rows.len());
    let mut asks = Vec::new();
    for (row, text) in rows.iter().enumerate() {
        let mut imported = ImportedRow {
            row,
            id: None,
            uuid: None,
            category: None,
            importance: None,
            secrets: Vec::new(),
            error: None,
        };
        match asked(&app, text.get(), row, given.as_ref(), &caller).await {
            Ok((ask, secrets)) => {
                imported.secrets = secrets;
                asks.push((row, ask));
            }
            Err(problem) if problem.is_passing() => return Err(problem),
            Err(problem) => imported.error = Some(problem.detail().to_owned()),
        }
        report.push(imported);
    }
    let (numbers, asks): (Vec<usize>, Vec<Ask>) = asks.into_iter().unzip();
    for (row, outcome) in numbers.into_iter().zip(app.db.ask_all(&caller, &asks).await?) {
        let Some(imported) = report.get_mut(row) else { continue };
        match done(outcome) {
            Ok(Some(stored)) => {
                imported.id = stored.short_id;
                imported.uuid = Some(stored.row.memory.to_string());
                if let Some(document) = stored.row.state.document() {
                    imported.category = Some(document.details.category.as_str().to_owned());
                    imported.importance = Some(document.details.importance.into());
                }
            }
            Ok(None) => imported.error = Some("the memory was deleted permanently".into()),
            Err(problem) => imported.error = Some(problem.detail().to_owned()),
        }
    }
    Ok(Json(report))
}

async fn asked(
    app: &App,
    text: &str,
    row: usize,
    given: Option<&Idempotency>,
    caller: &Caller,
) -> Result<(Ask, Vec<SetAside>), Problem> {
    let new: NewMemory = serde_json::from_str(text).map_err(|error| Problem::invalid(error.to_string()))?;
    let idempotency = given.map(|given| Idempotency { key: format!("{} row {row}", given.key), body: text.into() });
    creation(app, new, idempotency, caller, text.as_bytes()).await
}

/// A memory as a line for `tessera import`: `id` is its UUID, and `tags` is a list.
fn line(view: &MemoryView) -> String {
    let mut line = json!(view);
    if let Some(fields) = line.as_object_mut() {
        for (name, of) in [("id", "uuid"), ("tags", "tag_list")] {
            let value = fields.remove(of).unwrap_or_default();
            fields.insert(name.to_owned(), value);
        }
        for name in ["expanded_keywords", "permission", "deleted_at"] {
            fields.remove(name);
        }
        let links = fields.get_mut("links").and_then(Value::as_array_mut);
        for link in links.into_iter().flatten().filter_map(Value::as_object_mut) {
            let to = link.remove("uuid").unwrap_or_default();
            link.insert("id".into(), to);
        }
    }
    line.to_string() + "\n"
}

/// Returns the caller's own memories, one JSON object per line, as `tessera import` reads them: `id` is the UUID,
/// `tags` is a list.
#[utoipa::path(get, path = "/api/memories/export",
    responses((status = 200, body = String, content_type = "application/x-ndjson"), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn export(State(app): State<App>, caller: Caller) -> Result<Response, Problem> {
    caller.may("read")?;
    // An error before the first byte is an ordinary problem.
    let first = app.db.own_after(&caller.user, None).await?;
    // Reads a page after the client has read the previous one, so a slow client costs one page.
    let pages = futures_util::stream::try_unfold((app.db, caller.user, first), |(db, user, page)| async move {
        let Some(last) = page.last() else { return Ok(None) };
        let lines: String = page.iter().filter_map(MemoryView::of).map(|view| line(&view)).collect();
        let next = db.own_after(&user, Some(last.row.memory)).await;
        let next = next.inspect_err(|error| tracing::error!(%error, "export"));
        // An error cuts the connection, so the client does not take a part for the whole.
        let next = next.map_err(|_| std::io::Error::other("the database failed"))?;
        Ok::<_, std::io::Error>(Some((Bytes::from(lines), (db, user, next))))
    });
    let headers = [(header::CONTENT_TYPE, "application/x-ndjson")];
    Ok((headers, HttpBody::from_stream(pages)).into_response())
}
