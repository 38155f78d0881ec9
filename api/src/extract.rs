//! Extracts values from requests. An invalid value becomes a problem that names the field.

use std::collections::HashSet;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, JsonRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use serde::de::DeserializeOwned;
use tessera_engine::domain::MemoryUuid;
use tessera_engine::sync::{Checkpoint, MACHINE_HEADER};

use crate::App;
use crate::address;
use crate::db::{Caller, Stored};
use crate::error::Problem;
use crate::keys::{SCOPES, presented};

/// A JSON body.
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        unpacked(request.headers())?;
        let body: Result<Json<T>, JsonRejection> = Json::from_request(request, state).await;
        body.map(|Json(body)| Self(body)).map_err(|rejection| match rejection {
            JsonRejection::BytesRejection(rejection) => not_read(&rejection),
            JsonRejection::MissingJsonContentType(_) => {
                Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "media_type", "send application/json")
            }
            other => Problem::invalid(other.body_text()),
        })
    }
}

/// A body as it came.
pub(crate) struct Raw(pub(crate) Bytes);

impl<S: Send + Sync> FromRequest<S> for Raw {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        unpacked(request.headers())?;
        Bytes::from_request(request, state).await.map(Self).map_err(|rejection| not_read(&rejection))
    }
}

/// Rejects a compressed body, because its size is unknown before decompression.
fn unpacked(headers: &HeaderMap) -> Result<(), Problem> {
    let is_packed = headers.get_all(header::CONTENT_ENCODING).iter().any(|value| value != "identity");
    let detail = "compressed bodies are not supported; send the body without Content-Encoding";
    if is_packed { Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "media_type", detail)) } else { Ok(()) }
}

fn not_read(rejection: &BytesRejection) -> Problem {
    if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE {
        return Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", "the body is too large; send less at a time");
    }
    Problem::new(StatusCode::REQUEST_TIMEOUT, "incomplete", "the body is incomplete; send it again")
}

/// The query string.
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let query: Result<Query<T>, QueryRejection> = Query::from_request_parts(parts, state).await;
        query.map(|Query(query)| Self(query)).map_err(|rejection| Problem::invalid(rejection.body_text()))
    }
}

/// Parts of the path.
pub(crate) struct InPath<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for InPath<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path: Result<Path<T>, PathRejection> = Path::from_request_parts(parts, state).await;
        path.map(|Path(path)| Self(path)).map_err(|rejection| Problem::invalid(rejection.body_text()))
    }
}

/// The checkpoints that a machine sent; empty if it sent none.
pub(crate) struct Checkpoints(pub(crate) Vec<Checkpoint>);

impl<S: Send + Sync> FromRequestParts<S> for Checkpoints {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        /// More than a machine keeps.
        const MOST: usize = 1_000;
        let header = parts.headers.get(Checkpoint::HEADER).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let checkpoints = Checkpoint::listed(header);
        if checkpoints.len() > MOST {
            return Err(Problem::invalid(format!("{}: contains more than {MOST} checkpoints", Checkpoint::HEADER)));
        }
        Ok(Self(checkpoints))
    }
}

/// The name of the machine; empty if it sent none.
pub(crate) struct Machine(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for Machine {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let header = parts.headers.get(MACHINE_HEADER).map(|value| value.to_str().unwrap_or("?"));
        let name = header.unwrap_or_default();
        let is_name = name.len() <= 64
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        let problem = || {
            Problem::invalid(format!(
                "{MACHINE_HEADER}: is not a valid machine name; use lowercase letters, digits and -"
            ))
        };
        is_name.then(|| Self(name.to_owned())).ok_or_else(problem)
    }
}

/// Whether the client is ours. Where the older API returns an ID, earlier Tessera clients expect a UUID.
pub(crate) struct Ours(pub(crate) bool);

impl<S: Send + Sync> FromRequestParts<S> for Ours {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let agent = parts.headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok());
        Ok(Self(agent.is_some_and(|agent| agent.starts_with("tessera/"))))
    }
}

/// The memory that a request names, and its ID for the caller.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named {
    pub(crate) memory: MemoryUuid,
    /// The caller's short ID of the memory, if the caller ever received the memory.
    pub(crate) short_id: Option<u32>,
}

/// The number of distinct words that both texts contain.
fn common_words(one: &str, other: &str) -> usize {
    let words = |text: &str| text.to_lowercase().split_whitespace().map(str::to_owned).collect::<HashSet<_>>();
    words(one).intersection(&words(other)).count()
}

/// A short ID consists of digits only, so `+1` and `-1` are not valid.
fn number(text: &str) -> Option<i64> {
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

impl App {
    /// The memory that a request names by short ID or UUID. `None` for an ID that the caller does not have.
    pub(crate) async fn meant(&self, caller: &Caller, text: &str) -> Result<Option<MemoryUuid>, Problem> {
        match number(text) {
            Some(short_id) => match self.db.of_short_id(&caller.user, short_id).await? {
                Some(memory) => Ok(Some(memory)),
                // The older system had one ID for all users. If the caller does not have the ID, and one other user's
                // shared memory has it, the ID means that memory.
                None => match self.db.shared_under(&caller.user, short_id).await?.as_slice() {
                    [only] => Ok(Some(only.row.memory)),
                    _ => Ok(None),
                },
            },
            None => uuid(text).map(Some),
        }
    }

    /// Rejects an edit by short ID if its text resembles another user's memory with this ID more than it resembles the
    /// caller's memory. The other memory is shared with the caller, and has the same short ID for its owner.
    pub(crate) async fn means_own(&self, caller: &Caller, text: &str, own: &Stored, said: &str) -> Result<(), Problem> {
        let Some(short_id) = number(text) else { return Ok(()) };
        let alike = |stored: &Stored| {
            stored.row.state.live().map_or(0, |document| common_words(document.content.as_str(), said))
        };
        let others = self.db.shared_under(&caller.user, short_id).await?;
        let other = others.iter().filter(|other| other.row.memory != own.row.memory).max_by_key(|other| alike(other));
        let Some(other) = other.filter(|other| alike(other) > alike(own)) else { return Ok(()) };
        let (number, owner) =
            (other.short_id.map_or_else(String::new, |number| format!(" (your {number})")), &other.owner);
        let detail = format!(
            "{short_id}: is ambiguous: you and {owner} each have a memory with this ID, and this text resembles \
            {owner}'s memory{number}; use a UUID: {} is {owner}'s memory, {} is yours",
            other.row.memory, own.row.memory
        );
        Err(Problem::new(StatusCode::CONFLICT, "ambiguous_number", detail))
    }

    /// The memory that a request names; an error if it does not exist.
    pub(crate) async fn one(&self, caller: &Caller, text: &str) -> Result<MemoryUuid, Problem> {
        self.meant(caller, text).await?.ok_or_else(Problem::not_found)
    }

    /// Also returns the short ID, for answers without the memory's fields.
    pub(crate) async fn named(&self, caller: &Caller, text: &str) -> Result<Named, Problem> {
        let memory = self.one(caller, text).await?;
        let short_id = match number(text).and_then(|number| u32::try_from(number).ok()) {
            Some(short_id) => Some(short_id),
            None => self.db.short_ids(&caller.user, &[memory]).await?.get(&memory).copied(),
        };
        Ok(Named { memory, short_id })
    }
}

fn uuid(text: &str) -> Result<MemoryUuid, Problem> {
    text.parse().map_err(|_| Problem::invalid("id: is not valid; use a short ID or a UUID"))
}

/// A UUID in a path of `/v1`.
pub(crate) fn id(text: &str) -> Result<MemoryUuid, Problem> {
    text.parse().map_err(|_| Problem::invalid("id: is not valid; use a UUID"))
}

/// The revision in `If-Match: "3"`. Without the header `If-Match`, or with `*`, the change is unconditional.
pub(crate) fn if_match(headers: &HeaderMap) -> Result<Option<u64>, Problem> {
    let Some(value) = headers.get(header::IF_MATCH) else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim();
    if text == "*" {
        return Ok(None);
    }
    let number = text.trim_start_matches("W/").trim_matches('"').parse();
    number.map(Some).map_err(|_| Problem::invalid("If-Match: is not a revision; use a number such as \"3\", or *"))
}

impl FromRequestParts<App> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let key = presented(&parts.headers).ok_or_else(Problem::unauthorized)?;
        let caller = app.db.caller(&key).await?.ok_or_else(Problem::unauthorized)?;
        Ok(Self { from: address::of_parts(parts, app.proxies()), ..caller })
    }
}

impl Caller {
    /// Rejects a key without a scope.
    pub(crate) fn may(&self, scope: &str) -> Result<(), Problem> {
        if self.scopes.iter().any(|known| known == scope) { Ok(()) } else { Err(Problem::forbidden(scope)) }
    }

    /// Rejects a key that does not have every scope, because secrets require a key with all scopes.
    pub(crate) fn may_all(&self) -> Result<(), Problem> {
        SCOPES.iter().try_for_each(|scope| self.may(scope))
    }
}
