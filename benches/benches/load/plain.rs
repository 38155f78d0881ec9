//! What a team would run without Tessera: an HTTP server over PostgreSQL's own text search, with GIN and `ts_rank`. It
//! answers the two requests of the benchmark, and knows neither budgets nor meanings.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::routing::post;
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};
use sqlx::postgres::PgPoolOptions;
use sqlx::{PgPool, Row as _};

/// The argument with which the benchmark starts itself as this server.
pub(crate) const ARGUMENT: &str = "plain-server";
/// The best rows of an answer.
pub(crate) const ROWS: i64 = 20;
/// A reply ends after about this number of tokens, each of about four bytes.
const REPLY_BYTES: usize = 4 * 1000;
/// The connections of the server.
const CONNECTIONS: u32 = 16;

#[derive(Deserialize)]
struct Question {
    context: String,
}

#[derive(Deserialize)]
struct Write {
    content: String,
}

type Answer = Result<Json<Value>, (StatusCode, String)>;

/// Serves until the process is killed.
pub(crate) async fn serve(url: &str) {
    let pool = PgPoolOptions::new().max_connections(CONNECTIONS).connect(url).await.unwrap();
    let router = Router::new().route("/api/memories/recall", post(recall)).route("/api/memories", post(write));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    eprintln!("listening on http://{}", listener.local_addr().unwrap());
    axum::serve(listener, router.with_state(pool)).await.unwrap();
}

/// The user of a key.
async fn user(pool: &PgPool, headers: &HeaderMap) -> Result<String, (StatusCode, String)> {
    let key = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let found = sqlx::query_scalar("SELECT whose FROM plain_keys WHERE hash = sha256($1::bytea)");
    let user = found.bind(key.unwrap_or_default().as_bytes()).fetch_optional(pool).await.map_err(failed)?;
    user.ok_or_else(|| (StatusCode::UNAUTHORIZED, "unknown key".to_owned()))
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes it so")]
fn failed(error: sqlx::Error) -> (StatusCode, String) {
    (StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
}

async fn recall(State(pool): State<PgPool>, headers: HeaderMap, Json(question): Json<Question>) -> Answer {
    let user = user(&pool, &headers).await?;
    let found = super::search(&pool, &user, &question.context, ROWS).await.map_err(failed)?;
    let mut bytes = 0;
    let rows = found.iter().map(|row| (row.get::<uuid::Uuid, _>("id"), row.get::<String, _>("content")));
    let fitting = rows.take_while(|(_, content)| {
        bytes += content.len();
        bytes <= REPLY_BYTES
    });
    let details: Vec<Value> = fitting.map(|(id, content)| json!({ "id": id, "content": content })).collect();
    Ok(Json(json!({ "details": details })))
}

async fn write(State(pool): State<PgPool>, headers: HeaderMap, Json(write): Json<Write>) -> Answer {
    let user = user(&pool, &headers).await?;
    let sql = "INSERT INTO plain (whose, id, content, words)
               VALUES ($1, gen_random_uuid(), $2, to_tsvector('english', $2)) RETURNING id";
    let id: uuid::Uuid =
        sqlx::query_scalar(sql).bind(user).bind(write.content).fetch_one(&pool).await.map_err(failed)?;
    Ok(Json(json!({ "id": id })))
}
