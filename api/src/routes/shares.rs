//! Sharing and muting.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};
use tessera_engine::domain::{DomainError, Permission, Tag};
use tessera_engine::screen::is_clean;
use tessera_engine::sync::Invitation;

use super::memories::page_limit;
use super::pages::{WithMe, sent};
use crate::App;
use crate::contract::{InvitationAnswer, MemoriesView, OfMemory, PageQuery, ShareTagWith, ShareWith, UnshareTag};
use crate::db::{Caller, MyShares, ShareError, Target, UserId};
use crate::error::{Problem, ProblemBody};
use crate::extract::{Body, InPath, Named, Ours, Params};

impl From<ShareError> for Problem {
    fn from(error: ShareError) -> Self {
        match error {
            ShareError::NoMemory => Self::not_found(),
            ShareError::NoUser => no_user("shared_with"),
            ShareError::Self_ => {
                Self::new(StatusCode::BAD_REQUEST, "self", "shared_with: you cannot share with yourself")
            }
            ShareError::Db(error) => error.into(),
        }
    }
}

fn no_user(field: &str) -> Problem {
    let detail = format!("{field}: no user has this name; ask the operator of the server to add the user");
    Problem::new(StatusCode::NOT_FOUND, "no_such_user", detail)
}

/// The user that a field names.
fn user(field: &str, text: &str) -> Result<UserId, Problem> {
    if !(1..=100).contains(&text.chars().count()) {
        return Err(Problem::invalid(format!("{field}: is not a valid name; use 1 to 100 characters")));
    }
    text.parse().map_err(|_| no_user(field))
}

fn permission(text: Option<&str>) -> Result<Permission, DomainError> {
    text.filter(|text| !text.is_empty()).map_or(Ok(Permission::Read), str::parse)
}

/// A tag to share. The tag must not contain a credential, because it is stored unchanged.
fn clean_tag(text: String) -> Result<Tag, Problem> {
    if !is_clean(&text) {
        let detail = "tag: contains a credential; share another tag";
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "no_place_for_secrets", detail));
    }
    Ok(Tag::try_from(text)?)
}

/// Shares a memory; sharing again changes the permission.
#[utoipa::path(post, path = "/api/memories/{id}/share", request_body = ShareWith, params(OfMemory),
    responses((status = 200, body = Value), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn share(
    State(app): State<App>,
    caller: Caller,
    InPath(text): InPath<String>,
    Body(with): Body<ShareWith>,
) -> Result<Json<Value>, Problem> {
    caller.may("share")?;
    let permission = permission(with.permission.as_deref())?;
    let Named { memory, short_id } = app.named(&caller, &text).await?;
    let grantee = user("shared_with", &with.shared_with)?;
    app.db.share(&caller, &Target::Memory(memory), &grantee, Some(permission)).await?;
    Ok(Json(json!({ "shared": short_id, "uuid": memory, "with": grantee.as_str(), "permission": permission })))
}

/// Stops sharing a memory.
#[utoipa::path(delete, path = "/api/memories/{id}/share/{user}",
    params(OfMemory, ("user" = String, Path)),
    responses((status = 200, body = Value), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn unshare(
    State(app): State<App>,
    caller: Caller,
    InPath((text, with)): InPath<(String, String)>,
) -> Result<Json<Value>, Problem> {
    caller.may("share")?;
    let Named { memory, short_id } = app.named(&caller, &text).await?;
    let grantee = user("username", &with)?;
    app.db.share(&caller, &Target::Memory(memory), &grantee, None).await?;
    Ok(Json(json!({ "unshared": short_id, "uuid": memory, "from": grantee.as_str() })))
}

/// Shares all present and future memories that have a tag.
#[utoipa::path(post, path = "/api/memories/share-tag", request_body = ShareTagWith,
    responses((status = 200, body = Value), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn share_tag(
    State(app): State<App>,
    caller: Caller,
    Body(with): Body<ShareTagWith>,
) -> Result<Json<Value>, Problem> {
    caller.may("share")?;
    let (tag, permission) = (clean_tag(with.tag)?, permission(with.permission.as_deref())?);
    let grantee = user("shared_with", &with.shared_with)?;
    app.db.share(&caller, &Target::Tag(tag.clone()), &grantee, Some(permission)).await?;
    Ok(Json(json!({ "shared_tag": tag, "with": grantee.as_str(), "permission": permission })))
}

/// Stops sharing a tag. Behind a proxy that drops the body of a DELETE, clients can use `POST
/// /api/memories/unshare-tag`.
#[utoipa::path(delete, path = "/api/memories/share-tag", request_body = UnshareTag,
    responses((status = 200, body = Value), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn unshare_tag(
    State(app): State<App>,
    caller: Caller,
    Body(with): Body<UnshareTag>,
) -> Result<Json<Value>, Problem> {
    no_longer(&app, &caller, with).await
}

/// Stops sharing a tag.
#[utoipa::path(post, path = "/api/memories/unshare-tag", request_body = UnshareTag,
    responses((status = 200, body = Value), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn unshare_tag_by_post(
    State(app): State<App>,
    caller: Caller,
    Body(with): Body<UnshareTag>,
) -> Result<Json<Value>, Problem> {
    no_longer(&app, &caller, with).await
}

async fn no_longer(app: &App, caller: &Caller, with: UnshareTag) -> Result<Json<Value>, Problem> {
    caller.may("share")?;
    let (tag, grantee) = (Tag::try_from(with.tag)?, user("shared_with", &with.shared_with)?);
    app.db.share(caller, &Target::Tag(tag.clone()), &grantee, None).await?;
    Ok(Json(json!({ "unshared_tag": tag, "from": grantee.as_str() })))
}

/// Lists memories that other users share with the caller.
#[utoipa::path(get, path = "/api/memories/shared-with-me", params(PageQuery),
    responses((status = 200, body = MemoriesView), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn shared_with_me(
    State(app): State<App>,
    caller: Caller,
    Params(query): Params<PageQuery>,
) -> Result<Response, Problem> {
    caller.may("read")?;
    let limit = page_limit(query.limit, 10_000)?;
    sent(WithMe::new(app.db, caller.user, limit, query.offset)).await
}

/// Lists what the caller shares.
#[utoipa::path(get, path = "/api/memories/my-shares",
    responses((status = 200, body = MyShares), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn my_shares(
    State(app): State<App>,
    caller: Caller,
    Ours(is_ours): Ours,
) -> Result<Json<Value>, Problem> {
    caller.may("read")?;
    let mut shares = json!(app.db.my_shares(&caller.user).await?);
    let rows = shares.get_mut("memory_shares").and_then(Value::as_array_mut);
    for row in rows.into_iter().flatten().filter_map(Value::as_object_mut).filter(|_| is_ours) {
        let uuid = row.get("memory_uuid").cloned().unwrap_or_default();
        row.insert("memory_id".into(), uuid);
    }
    Ok(Json(shares))
}

/// Lists open invitations to the caller.
#[utoipa::path(get, path = "/api/memories/invitations",
    responses((status = 200, body = Vec<Value>), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn invitations(State(app): State<App>, caller: Caller) -> Result<Json<Vec<Invitation>>, Problem> {
    caller.may("read")?;
    Ok(Json(app.db.invitations(&caller.user).await?))
}

/// Accepts or declines a shared tag; the answer can be changed later.
#[utoipa::path(post, path = "/api/memories/invitations", request_body = InvitationAnswer,
    responses((status = 200, body = Value), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn answer_invitation(
    State(app): State<App>,
    caller: Caller,
    Body(answer): Body<InvitationAnswer>,
) -> Result<Json<Value>, Problem> {
    caller.may("write")?;
    let (tag, owner) = (Tag::try_from(answer.tag)?, user("owner", &answer.owner)?);
    let changed = app.db.answer_invitation(&caller, &owner, &tag, answer.accept).await?;
    Ok(Json(json!({ "owner": owner.as_str(), "tag": tag, "accepted": answer.accept, "changed": changed })))
}

/// Hides a shared memory on all of the caller's machines.
#[utoipa::path(post, path = "/api/memories/{id}/mute", params(OfMemory),
    responses((status = 200, body = Value), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn mute(
    State(app): State<App>,
    caller: Caller,
    InPath(text): InPath<String>,
) -> Result<Json<Value>, Problem> {
    caller.may("write")?;
    let memory = app.one(&caller, &text).await?;
    let stored = app.db.get(&caller.user, memory).await?.filter(|stored| stored.share().is_some());
    let stored = stored.ok_or_else(Problem::not_found)?;
    app.db.mute(&caller.user, &user("owner", &stored.owner)?, Some(memory), true).await?;
    Ok(Json(json!({ "muted": stored.short_id, "uuid": memory })))
}

/// Shows a memory again.
#[utoipa::path(delete, path = "/api/memories/{id}/mute", params(OfMemory),
    responses((status = 200, body = Value), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn unmute(
    State(app): State<App>,
    caller: Caller,
    InPath(text): InPath<String>,
) -> Result<Json<Value>, Problem> {
    caller.may("write")?;
    let Named { memory, short_id } = app.named(&caller, &text).await?;
    let owners = app.db.muted_owners(&caller.user, memory).await?;
    for owner in &owners {
        app.db.mute(&caller.user, owner, Some(memory), false).await?;
    }
    Ok(Json(json!({ "unmuted": short_id, "uuid": memory })))
}

/// Lists at most 1000 other users with whom the caller can share.
#[utoipa::path(get, path = "/api/users",
    responses((status = 200, body = Value), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn users(State(app): State<App>, caller: Caller) -> Result<Json<Value>, Problem> {
    caller.may("share")?;
    Ok(Json(json!({ "users": app.db.others(&caller.user).await? })))
}

/// Hides all memories that a user shares.
#[utoipa::path(post, path = "/api/users/{user}/mute", params(("user" = String, Path)),
    responses((status = 200, body = Value), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn mute_owner(
    State(app): State<App>,
    caller: Caller,
    InPath(text): InPath<String>,
) -> Result<Json<Value>, Problem> {
    caller.may("write")?;
    let owner = user("owner", &text)?;
    app.db.mute(&caller.user, &owner, None, true).await?;
    Ok(Json(json!({ "muted": owner.as_str() })))
}

/// Shows hidden memories of a user again.
#[utoipa::path(delete, path = "/api/users/{user}/mute", params(("user" = String, Path)),
    responses((status = 200, body = Value), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn unmute_owner(
    State(app): State<App>,
    caller: Caller,
    InPath(text): InPath<String>,
) -> Result<Json<Value>, Problem> {
    caller.may("write")?;
    let owner = user("owner", &text)?;
    app.db.mute(&caller.user, &owner, None, false).await?;
    Ok(Json(json!({ "unmuted": owner.as_str() })))
}
