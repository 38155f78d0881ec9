//! `/api/memories`: the routes of the older API, and additional ones.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tessera_engine::compose;
use tessera_engine::domain::{Category, DomainError, Link, MemoryUuid, Packing, RecallRequest, ShortId, Sort, Tag};
use tessera_engine::screen::Screened;
use tessera_engine::sync::{Action, Edit, Refusal, Rights, State as Being};

use super::creation::{creation, named};
use super::pages::{All, Changed, Own, sent};
use crate::App;
use crate::contract::{
    Answer, CategoryCount, LinkedView, ListQuery, MatchView, MatchesView, MemoriesView, MemoryPatch, MemoryView,
    NewMemory, OfMemory, Question, SinceQuery, SinceView, StoredView, TagCount,
};
use crate::db::{Ask, Caller, ChangedAfter, Idempotency, Listed, Reply, Stored};
use crate::error::{Problem, ProblemBody};
use crate::extract::{Body, InPath, Params, Raw, if_match};
use crate::recall::RecallError;
use crate::secrets::Aside;
use crate::threads::off_runtime;

/// Approximate maximum bytes of texts in an answer without a budget.
const MOST_MATCH_BYTES: usize = 1024 * 1024;
/// The maximum length of a list.
const MOST_LISTED: u32 = 10_000;
/// Characters of a preview.
const PREVIEW: usize = 50;

impl From<DomainError> for Problem {
    fn from(error: DomainError) -> Self {
        Self::invalid(error.to_string())
    }
}

impl From<RecallError> for Problem {
    fn from(error: RecallError) -> Self {
        match error {
            RecallError::Domain(error) => error.into(),
            RecallError::Db(error) => error.into(),
        }
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Unknown => Self::not_found(),
            Refusal::IdTaken => Self::new(StatusCode::CONFLICT, "id_taken", "id: belongs to another memory; omit it"),
            Refusal::Purged => Self::new(StatusCode::GONE, "purged", "the memory was deleted permanently"),
            Refusal::NotAllowed => Self::not_allowed(),
            Refusal::Invalid => Self::invalid("a field contains characters that cannot be stored"),
            Refusal::OpReused => Self::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "op_reused",
                "Idempotency-Key: was already used for another request; use a new key",
            ),
        }
    }
}

/// The caller's idempotency key, with the content of the request.
pub(super) fn idempotency(headers: &HeaderMap, what: &str, body: &[u8]) -> Result<Option<Idempotency>, Problem> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let key = value.to_str().ok().filter(|key| !key.is_empty() && key.len() <= 200);
    let key = key.ok_or_else(|| Problem::invalid("Idempotency-Key: must have 1 to 200 ASCII characters"))?;
    Ok(Some(Idempotency { key: key.to_owned(), body: [what.as_bytes(), b"\n", body].concat() }))
}

fn read<T: serde::de::DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice(body).map_err(|error| Problem::invalid(error.to_string()))
}

pub(super) fn tagged(rev: u64, body: impl IntoResponse) -> Response {
    let mut response = body.into_response();
    if let Ok(value) = HeaderValue::from_str(&format!("\"{rev}\"")) {
        response.headers_mut().insert(header::ETAG, value);
    }
    response
}

fn preview(stored: &Stored) -> String {
    let text = stored.row.state.document().map_or("", |document| document.content.as_str());
    text.chars().take(PREVIEW).collect()
}

/// The result of a change, or the problem.
pub(super) fn done(reply: Reply) -> Result<Option<Box<Stored>>, Problem> {
    match reply {
        Reply::Done(stored) => Ok(stored),
        Reply::Refused(refusal) => Err(refusal.into()),
        Reply::Moved(None) => Err(Problem::not_found()),
        Reply::Moved(Some(stored)) => {
            let detail = "the memory was changed in the meantime; read `current`, adapt the change, and send it with the revision of `current`";
            let problem = Problem::new(StatusCode::PRECONDITION_FAILED, "changed", detail);
            Err(problem.with("current", json!(MemoryView::of(&stored))))
        }
    }
}

/// Stores a memory.
#[utoipa::path(post, path = "/api/memories", request_body = NewMemory,
    params(("Idempotency-Key" = Option<String>, Header, description = "A request that is retried with the same key is stored only once")),
    responses((status = 200, body = StoredView), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn create(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    Raw(body): Raw,
) -> Result<Response, Problem> {
    caller.may("write")?;
    let idempotency = idempotency(&headers, "create", &body)?;
    let new: NewMemory = read(&body)?;
    let local_id = new.local_id().cloned();
    let (ask, secrets) = creation(&app, new, idempotency, &caller, &body).await?;
    let known = match (&local_id, secrets.is_empty()) {
        (Some(_), true) => app.sent_before(&caller, &ask).await?,
        _ => None,
    };
    let stored = match known {
        Some(stored) => Box::new(stored),
        None => done(app.db.ask(&caller, &ask).await?)?.ok_or_else(Problem::not_found)?,
    };
    metrics::counter!("memory_store_total", "surface" => "api").increment(1);
    let document = stored.row.state.document().ok_or_else(Problem::not_found)?;
    let reply = StoredView {
        id: stored.short_id,
        uuid: stored.row.memory.to_string(),
        local_id,
        category: document.details.category.as_str().to_owned(),
        importance: document.details.importance.into(),
        rev: stored.row.rev,
        secrets,
    };
    Ok(tagged(stored.row.rev, Json(reply)))
}

/// Lists the caller's own memories.
#[utoipa::path(get, path = "/api/memories", params(ListQuery),
    responses((status = 200, body = MemoriesView), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn list(
    State(app): State<App>,
    caller: Caller,
    Params(query): Params<ListQuery>,
) -> Result<Response, Problem> {
    caller.may("read")?;
    let limit = page_limit(query.limit, 50)?;
    let newest_first = match query.sort.as_deref() {
        None | Some("" | "importance") => false,
        Some("recency") => true,
        Some(_) => return Err(Problem::invalid("sort: has an unknown value; use importance or recency")),
    };
    let category = query.category.filter(|name| !name.is_empty()).map(Category::try_from).transpose()?;
    let tag = query.tag.filter(|name| !name.is_empty()).map(Tag::try_from).transpose()?;
    let listed = Listed {
        category: category.map(|category| category.as_str().to_owned()),
        tag: tag.map(|tag| tag.as_str().to_owned()),
        newest_first,
        deleted: query.deleted,
        ..Listed::default()
    };
    sent(Own::new(app.db, caller.user, listed, limit, query.offset)).await
}

/// Memories of a page.
pub(super) fn page_limit(given: Option<u32>, default: u32) -> Result<u32, Problem> {
    let limit = given.unwrap_or(default);
    if (1..=MOST_LISTED).contains(&limit) {
        return Ok(limit);
    }
    Err(Problem::invalid(format!("limit: {limit} is out of range; use 1 to {MOST_LISTED}")))
}

/// Recalls memories for a question. With `max_tokens`: full results and summaries within the budget. Without both: all
/// memories.
#[utoipa::path(post, path = "/api/memories/recall", request_body = Question,
    responses((status = 200, body = Answer),
        (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn recall(
    State(app): State<App>,
    caller: Caller,
    Body(question): Body<Question>,
) -> Result<Response, Problem> {
    caller.may("read")?;
    if let Some(everything) = question.everything()? {
        return sent(All::new(app.db, caller.user, everything)).await;
    }
    let request = question.request()?;
    let sort = request.sort.as_str();
    let started = std::time::Instant::now();
    let response = if question.has_budget() {
        let recall = app.recaller.recall(&app.db, &caller, &request, question.rows()?).await?;
        let headers = [(header::CONTENT_TYPE, "application/json")];
        (headers, recall.body).into_response()
    } else {
        let request = RecallRequest { packing: Packing::Details, ..request };
        Json(matches(&app, &caller, &request).await?).into_response()
    };
    metrics::counter!("memory_recall_requests_total", "surface" => "api", "sort" => sort).increment(1);
    metrics::histogram!("memory_recall_seconds").record(started.elapsed().as_secs_f64());
    Ok(response)
}

async fn matches(app: &App, caller: &Caller, request: &RecallRequest) -> Result<MatchesView, Problem> {
    let mut found = app.recaller.page(&app.db, caller, request).await?;
    // The older form cannot mark low-confidence matches.
    found.retain(|(ranked, _)| !ranked.is_weak);
    if request.sort == Sort::Recency {
        // The index has minutes, but memories may be stored within one.
        let created = |stored: &Stored| stored.row.state.document().map(|document| document.details.created);
        found.sort_by_key(|(_, stored)| std::cmp::Reverse(created(stored)));
    }
    // The best matches that fit a page. For more, clients use a budget and a cursor.
    let mut bytes = 0;
    found.retain(|(_, stored)| {
        let is_in = bytes < MOST_MATCH_BYTES;
        bytes += stored.row.state.document().map_or(0, |document| document.content.as_str().len());
        is_in
    });
    app.recaller.note(&caller.user, found.iter().map(|(ranked, _)| ranked.short_id.get()));
    let memories = found.into_iter().filter_map(|(ranked, mut stored)| {
        stored.short_id = Some(ranked.short_id.get());
        let memory = MemoryView::of(&stored)?;
        let redirected_from = ranked.redirected_from.map(ShortId::get);
        Some(MatchView { memory, rank: ranked.score, redirected_from })
    });
    Ok(MatchesView { memories: memories.collect() })
}

/// Returns one memory with the links to it.
#[utoipa::path(get, path = "/api/memories/{id}", params(OfMemory),
    responses((status = 200, body = MemoryView), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn get_one(
    State(app): State<App>,
    caller: Caller,
    InPath(text): InPath<String>,
) -> Result<Response, Problem> {
    caller.may("read")?;
    let memory = app.one(&caller, &text).await?;
    let stored = app.db.get(&caller.user, memory).await?.ok_or_else(Problem::not_found)?;
    let view = MemoryView::of(&stored).ok_or_else(Problem::not_found)?;
    let mut reply = json!(view);
    let links_in = app.db.links_to(&caller.user, memory).await?;
    let links_out = reply_links(&stored);
    let ends: Vec<MemoryUuid> =
        links_in.iter().map(|(from, _)| *from).chain(links_out.iter().map(|link| link.to)).collect();
    let short_ids = app.db.short_ids(&caller.user, &ends).await?;
    let linked =
        |end: MemoryUuid, kind: String| LinkedView { kind, id: short_ids.get(&end).copied(), uuid: end.to_string() };
    if let Some(fields) = reply.as_object_mut() {
        let out: Vec<LinkedView> = links_out.into_iter().map(|link| linked(link.to, link.kind.to_string())).collect();
        fields.insert("links_out".into(), json!(out));
        let back: Vec<LinkedView> = links_in.into_iter().map(|(from, kind)| linked(from, kind)).collect();
        fields.insert("links_in".into(), json!(back));
    }
    Ok(tagged(stored.row.rev, Json(reply)))
}

pub(super) fn reply_links(stored: &Stored) -> BTreeSet<Link> {
    stored.row.state.document().map(|document| document.links.clone()).unwrap_or_default()
}

/// Changes fields of a memory.
#[utoipa::path(put, path = "/api/memories/{id}", request_body = MemoryPatch,
    params(OfMemory, ("If-Match" = Option<String>, Header, description = "Only if the memory has this revision; * \
        for any")),
    responses((status = 200, body = Value), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn update(
    State(app): State<App>,
    caller: Caller,
    InPath(text): InPath<String>,
    headers: HeaderMap,
    Raw(body): Raw,
) -> Result<Response, Problem> {
    caller.may("write")?;
    let only_at = if_match(&headers)?;
    let patch: MemoryPatch = read(&body)?;
    let memory = app.one(&caller, &text).await?;
    let idempotency = idempotency(&headers, &format!("update {memory}"), &body)?;
    let current = app.db.get(&caller.user, memory).await?.ok_or_else(Problem::not_found)?;
    if let Some(said) = patch.content() {
        app.means_own(&caller, &text, &current, said).await?;
    }
    if current.rights == Rights::Write
        && let Some(field) = patch.field_beside_text()
    {
        let detail = format!("{field}: only the owner can change it; write permission covers the text only");
        return Err(Problem::new(StatusCode::FORBIDDEN, "not_allowed", detail));
    }
    // The whole text is hidden as it was read, so an edit in between must not be overwritten.
    let only_at = only_at.or(patch.hides_unseen_text().then_some(current.row.rev));
    let (kept, user) = (Arc::clone(&app.secrets), caller.user.clone());
    let looked = off_runtime(move || {
        let base = current.row.state.live().ok_or_else(Problem::not_found)?;
        let patch = patch.patch(base.content.as_str())?;
        if patch.is_empty() {
            let detail = "the request does not change any field; send content, tags, importance or another field";
            return Err(Problem::new(StatusCode::BAD_REQUEST, "no_fields", detail));
        }
        let owner = (current.rights != Rights::Owner).then_some(current.owner.as_str());
        let mut aside = match owner {
            None => Aside::own(&kept, user.as_str()),
            Some(_) => Aside::anothers(&kept, user.as_str()),
        };
        let patch = aside.look_closely(patch, memory, base.content.as_str()).map_err(|why| named(why, &body))?;
        let edit = compose::edit(base, owner, &patch)?;
        let edit = aside.look(edit, memory).map_err(|why| named(why, &body))?.beside(patch.secrets());
        Ok(aside.looked(Screened::of(edit)))
    })
    .await??;
    let (ask, secrets) = app.keep(&caller, memory, looked, only_at, idempotency).await?;
    let stored = done(app.db.ask(&caller, &ask).await?)?.ok_or_else(Problem::not_found)?;
    let mut reply = json!({ "updated": stored.short_id, "uuid": memory, "rev": stored.row.rev });
    if let Some(fields) = reply.as_object_mut().filter(|_| !secrets.is_empty()) {
        fields.insert("secrets".into(), json!(secrets));
    }
    Ok(tagged(stored.row.rev, Json(reply)))
}

/// Deletes a memory; `restore` brings it back. A deleted and an unknown memory get the same answer.
#[utoipa::path(delete, path = "/api/memories/{id}",
    params(OfMemory, ("If-Match" = Option<String>, Header, description = "Only if the memory has this revision; * \
        for any")),
    responses((status = 200, body = Value), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn delete(
    State(app): State<App>,
    caller: Caller,
    InPath(text): InPath<String>,
    headers: HeaderMap,
) -> Result<Json<Value>, Problem> {
    caller.may("write")?;
    let only_at = if_match(&headers)?;
    let meant = app.meant(&caller, &text).await?;
    let current = match meant {
        Some(memory) => app.db.get(&caller.user, memory).await?,
        None => None,
    };
    let short_id = current.as_ref().and_then(|stored| stored.short_id.map(i64::from)).or_else(|| text.parse().ok());
    let live = current.filter(|stored| matches!(stored.row.state, Being::Live(_)));
    let (Some(memory), Some(current)) = (meant, live) else {
        return Ok(Json(json!({ "deleted": short_id, "uuid": meant, "preview": "[already deleted]" })));
    };
    let idempotency = idempotency(&headers, &format!("delete {memory}"), b"")?;
    let action = Screened::clean(Action::Delete).ok_or_else(Problem::not_found)?;
    let ask = Ask { memory, is_unheard: false, action, only_at, idempotency, at: app.clock.now() };
    done(app.db.ask(&caller, &ask).await?)?;
    Ok(Json(json!({ "deleted": short_id, "uuid": memory, "preview": preview(&current) })))
}

/// Restores a deleted memory.
#[utoipa::path(post, path = "/api/memories/{id}/restore", params(OfMemory),
    responses((status = 200, body = MemoryView), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn restore(
    State(app): State<App>,
    caller: Caller,
    InPath(text): InPath<String>,
) -> Result<Response, Problem> {
    caller.may("write")?;
    let memory = app.one(&caller, &text).await?;
    let current = app.db.get(&caller.user, memory).await?.ok_or_else(Problem::not_found)?;
    let Being::Deleted(document) = &current.row.state else {
        return Err(Problem::new(StatusCode::CONFLICT, "not_deleted", "the memory is not deleted"));
    };
    if current.share().is_some() {
        return Err(Problem::not_allowed());
    }
    // The text may be older than the detector.
    let (kept, user, edit) = (Arc::clone(&app.secrets), caller.user.clone(), Edit::to(document));
    let looked = off_runtime(move || {
        let mut aside = Aside::own(&kept, user.as_str());
        let edit = aside.look(edit, memory)?;
        Ok::<_, Problem>(aside.looked(Screened::of(edit)))
    })
    .await??;
    let (ask, _) = app.keep(&caller, memory, looked, Some(current.row.rev), None).await?;
    let stored = done(app.db.ask(&caller, &ask).await?)?.ok_or_else(Problem::not_found)?;
    Ok(tagged(stored.row.rev, Json(MemoryView::of(&stored))))
}

/// Returns changes since a time, as in the older API. Use `server_time` of the previous answer; another time can miss
/// changes of running transactions. Sync clients use `/v1/sync/changes`.
#[utoipa::path(get, path = "/api/memories/sync", params(SinceQuery),
    responses((status = 200, body = SinceView), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn since(
    State(app): State<App>,
    caller: Caller,
    Params(query): Params<SinceQuery>,
) -> Result<Response, Problem> {
    caller.may("read")?;
    let since = query.since.filter(|text| !text.is_empty()).map(|text| place(&text)).transpose()?;
    sent(Changed::new(app.db, caller.user, since)).await
}

/// Earlier servers added a suffix to times, and machines may still send such times.
const AFTER: &str = "[_after=";

fn place(text: &str) -> Result<ChangedAfter, Problem> {
    let problem = || {
        Problem::invalid(
            "since: is not a valid time; use RFC 3339 such as 2026-11-20T12:00:00Z, or the `server_time` of an \
            earlier reply",
        )
    };
    let (time, memory) = match text.split_once(AFTER) {
        Some((time, rest)) => {
            let memory = rest.strip_suffix(']').and_then(|id| id.parse().ok()).ok_or_else(problem)?;
            (time, Some(memory))
        }
        None => (text, None),
    };
    // Accepts a `+` that arrived as a space.
    let time = time.replace(' ', "+").parse().map_err(|_| problem())?;
    Ok(ChangedAfter { time, memory })
}

/// Counts the caller's own memories by tag.
#[utoipa::path(get, path = "/api/tags", responses((status = 200, body = Vec<TagCount>), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn tags(State(app): State<App>, caller: Caller) -> Result<Json<Vec<TagCount>>, Problem> {
    caller.may("read")?;
    let counts = app.db.counts(&caller.user, true).await?;
    Ok(Json(counts.into_iter().map(|(tag, count)| TagCount { tag, count }).collect()))
}

/// Counts the caller's own memories by category.
#[utoipa::path(get, path = "/api/categories",
    responses((status = 200, body = Vec<CategoryCount>), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn categories(State(app): State<App>, caller: Caller) -> Result<Json<Vec<CategoryCount>>, Problem> {
    caller.may("read")?;
    let counts = app.db.counts(&caller.user, false).await?;
    Ok(Json(counts.into_iter().map(|(category, count)| CategoryCount { category, count }).collect()))
}

/// Returns numbers of memories, and the size of the index.
#[utoipa::path(get, path = "/api/stats", responses((status = 200, body = Value), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn stats(State(app): State<App>, caller: Caller) -> Result<Json<Value>, Problem> {
    caller.may("read")?;
    let mut stats = app.db.stats(&caller.user).await?;
    if let (Some(used), Some(fields)) = (app.db.used_quota(&caller.user).await?, stats.as_object_mut()) {
        fields.insert("quota".into(), json!(used));
    }
    Ok(Json(stats))
}
