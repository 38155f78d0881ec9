//! Errors for clients: RFC 9457 problems with a stable code, and without internal details.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::db::{DbError, Remedy};
use crate::secrets::CannotKeepSecret;

/// A problem.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    status: StatusCode,
    code: &'static str,
    detail: String,
    more: Option<(&'static str, Value)>,
}

/// A problem in the form of RFC 9457.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ProblemBody {
    /// The status.
    status: u16,
    /// A stable code for programs.
    code: String,
    /// An explanation for people: it names the field and the fix.
    detail: String,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Self { status, code, detail: detail.into(), more: None }
    }

    /// Adds a field.
    pub(crate) fn with(mut self, name: &'static str, value: Value) -> Self {
        self.more = Some((name, value));
        self
    }

    /// Sets the number of seconds to wait before a retry.
    pub(crate) fn retry_after(self, seconds: u64) -> Retry {
        Retry { problem: self, seconds }
    }

    /// True for a temporary error.
    pub(crate) fn is_passing(&self) -> bool {
        self.status.is_server_error()
    }

    /// The words.
    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    /// A temporary error that goes away without an action of the caller.
    pub(crate) fn unavailable(code: &'static str, detail: &'static str) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, code, detail)
    }

    /// The same answer for a missing and an invisible memory.
    pub(crate) fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", "the memory does not exist, or you may not see it")
    }

    pub(crate) fn not_allowed() -> Self {
        let detail = "the memory belongs to another user, who does not allow this";
        Self::new(StatusCode::FORBIDDEN, "not_allowed", detail)
    }

    /// The same answer for a missing, an unknown, a wrong and a revoked key.
    pub(crate) fn unauthorized() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", "send a valid key as `Authorization: Bearer KEY`")
    }

    pub(crate) fn forbidden(scope: &str) -> Self {
        Self::new(StatusCode::FORBIDDEN, "scope_missing", format!("this key does not have the scope {scope}"))
    }

    pub(crate) fn must_refetch() -> Self {
        let detail = "the cursor or generation is no longer valid; restart from /v1/sync/snapshot";
        Self::new(StatusCode::CONFLICT, "must_refetch", detail)
    }

    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", detail)
    }
}

/// A temporary problem.
#[derive(Debug, Clone)]
pub(crate) struct Retry {
    problem: Problem,
    seconds: u64,
}

impl IntoResponse for Retry {
    fn into_response(self) -> Response {
        let mut response = self.problem.into_response();
        if let Ok(value) = HeaderValue::from_str(&self.seconds.to_string()) {
            response.headers_mut().insert(header::RETRY_AFTER, value);
        }
        response
    }
}

impl From<DbError> for Problem {
    fn from(error: DbError) -> Self {
        if let DbError::Quota(used) = &error {
            let detail = format!(
                "your quota on this server is used up ({used}); delete memories permanently with `tessera forget \
                --hard`, or ask the operator of the server for more"
            );
            let problem = Self::new(StatusCode::INSUFFICIENT_STORAGE, "quota_exceeded", detail);
            return problem.with("quota", json!(used));
        }
        let remedy = error.remedy();
        tracing::error!(%error, ?remedy, "database");
        match remedy {
            Remedy::Wait => {
                let detail = "the database is busy; try again";
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail)
            }
            Remedy::Change => Self::invalid("a field contains characters that cannot be stored"),
            Remedy::Report => {
                let detail = "internal error; the server operator can find the reason in the log";
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", detail)
            }
        }
    }
}

impl From<CannotKeepSecret> for Problem {
    fn from(why: CannotKeepSecret) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "no_place_for_secrets", why.to_string())
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = ProblemBody { status: self.status.as_u16(), code: self.code.to_owned(), detail: self.detail };
        let mut body = json!(body);
        if let (Some((name, value)), Some(fields)) = (self.more, body.as_object_mut()) {
            fields.insert(name.to_owned(), value);
        }
        let mut response = (self.status, Json(body)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        match self.status {
            StatusCode::UNAUTHORIZED => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            StatusCode::SERVICE_UNAVAILABLE => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            _ => {}
        }
        response
    }
}
