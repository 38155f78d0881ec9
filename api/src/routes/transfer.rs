//! Import and export.

use axum::Json;
use axum::body::{Body as HttpBody, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::creation::creation;
use super::memories::{done, idempotency};
use crate::App;
use crate::contract::{ImportedRow, MemoryView, NewMemory};
use crate::db::{Ask, Caller, Idempotency};
use crate::error::{Problem, ProblemBody};
use crate::extract::Raw;
use crate::secrets::SetAside;

/// Rows of an import, at most; they are one transaction.
const MOST_ROWS: usize = 1_000;

/// Stores many memories in one transaction; each row is reported on. A row that is refused does not hold the others up.
#[utoipa::path(post, path = "/api/memories/import", request_body = Vec<NewMemory>,
    params(("Idempotency-Key" = Option<String>, Header, description = "A retry with the same key stores once")),
    responses((status = 200, body = Vec<ImportedRow>), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn import(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    Raw(body): Raw,
) -> Result<Json<Vec<ImportedRow>>, Problem> {
    caller.may("write")?;
    let given = idempotency(&headers, "import", &body)?;
    // Rows are read one by one: a bad one is its own problem.
    let rows: Vec<&RawValue> = serde_json::from_slice(&body).map_err(|error| Problem::invalid(error.to_string()))?;
    if rows.len() > MOST_ROWS {
        return Err(Problem::invalid(format!("{} rows are too many; send at most {MOST_ROWS} at a time", rows.len())));
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
                imported.id = stored.handle;
                imported.uuid = Some(stored.row.memory.to_string());
                if let Some(document) = stored.row.state.document() {
                    imported.category = Some(document.details.category.as_str().to_owned());
                    imported.importance = Some(document.details.importance.into());
                }
            }
            Ok(None) => imported.error = Some("the memory was removed for good".into()),
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

/// A memory as a line that `tessera import` reads: named by its UUID alone, with lists.
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

/// Gives all of the caller's own memories, one JSON object a line, as `tessera import` reads them: `id` is the UUID, `tags` are
/// a list.
#[utoipa::path(get, path = "/api/memories/export",
    responses((status = 200, body = String, content_type = "application/x-ndjson"), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn export(State(app): State<App>, caller: Caller) -> Result<Response, Problem> {
    caller.may("read")?;
    // What fails before anything is sent is a problem like any other.
    let first = app.db.own_after(&caller.user, None).await?;
    // A page is read when the one before was taken: nothing is held for a slow reader but a page.
    let pages = futures_util::stream::try_unfold((app.db, caller.user, first), |(db, user, page)| async move {
        let Some(last) = page.last() else { return Ok(None) };
        let lines: String = page.iter().filter_map(MemoryView::of).map(|view| line(&view)).collect();
        let next = db.own_after(&user, Some(last.row.memory)).await;
        let next = next.inspect_err(|error| tracing::error!(%error, "export"));
        // A cut connection: the reader must not take a part for the whole.
        let next = next.map_err(|_| std::io::Error::other("the database failed"))?;
        Ok::<_, std::io::Error>(Some((Bytes::from(lines), (db, user, next))))
    });
    let headers = [(header::CONTENT_TYPE, "application/x-ndjson")];
    Ok((headers, HttpBody::from_stream(pages)).into_response())
}
