//! Links between the caller's own memories.

use std::collections::BTreeSet;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::{Map, Value, json};
use tessera_engine::domain::{Link, LinkKind, MemoryUuid};
use tessera_engine::screen::Screened;
use tessera_engine::sync::Edit;

use super::memories::{done, reply_links};
use crate::App;
use crate::contract::{NewLink, OfMemory};
use crate::db::{Ask, Caller, Stored};
use crate::error::{Problem, ProblemBody};
use crate::extract::{Body, InPath, Named};
use crate::secrets::Aside;

/// Links a memory to another.
#[utoipa::path(post, path = "/api/memories/{id}/links", request_body = NewLink, params(OfMemory),
    responses((status = 200, body = Value), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn link(
    State(app): State<App>,
    caller: Caller,
    InPath(text): InPath<String>,
    Body(new): Body<NewLink>,
) -> Result<Json<Value>, Problem> {
    caller.may("write")?;
    let memory = app.one(&caller, &text).await?;
    let other = app.named(&caller, &new.target_id.to_string()).await?;
    let link = new.link(other.memory)?;
    let current = own(&app, &caller, memory).await?;
    if link.to == memory {
        return Err(Problem::invalid("target_id: cannot be the memory itself"));
    }
    if app.db.get(&caller.user, link.to).await?.is_none_or(|other| other.row.state.live().is_none()) {
        return Err(Problem::not_found());
    }
    if reply_links(&current).contains(&link) {
        return Err(Problem::new(StatusCode::CONFLICT, "linked", "this link already exists"));
    }
    let is_chain = matches!(link.kind, LinkKind::Supersedes | LinkKind::Updates);
    if is_chain && app.db.leads_to(&caller.user, &link.kind, [link.to, memory]).await? {
        let problem = format!("target_id: the other memory already {} this memory", link.kind.as_str());
        return Err(Problem::invalid(problem));
    }
    let edit = Edit { links_added: BTreeSet::from([link.clone()]), ..Edit::default() };
    change_links(&app, &caller, &current, edit).await?;
    let mut reply = ends(&current, other, &link);
    reply.insert("created_at".into(), json!(app.clock.now()));
    Ok(Json(Value::Object(reply)))
}

/// Removes a link.
#[utoipa::path(delete, path = "/api/memories/{id}/links/{dst}/{type}",
    params(OfMemory, ("dst" = String, Path, description = "The other memory: its short ID or UUID"), ("type" = String, Path)),
    responses((status = 200, body = Value), (status = "default", body = ProblemBody, content_type = "application/problem+json")))]
pub(super) async fn unlink(
    State(app): State<App>,
    caller: Caller,
    InPath((text, to, kind)): InPath<(String, String, String)>,
) -> Result<Json<Value>, Problem> {
    caller.may("write")?;
    let memory = app.one(&caller, &text).await?;
    let other = app.named(&caller, &to).await?;
    let link = Link { kind: kind.parse()?, to: other.memory };
    let current = own(&app, &caller, memory).await?;
    if !reply_links(&current).contains(&link) {
        return Err(Problem::not_found());
    }
    let edit = Edit { links_removed: BTreeSet::from([link.clone()]), ..Edit::default() };
    change_links(&app, &caller, &current, edit).await?;
    Ok(Json(json!({ "unlinked": ends(&current, other, &link) })))
}

/// A link, as answers name it.
fn ends(from: &Stored, to: Named, link: &Link) -> Map<String, Value> {
    let fields = [
        ("src_id", json!(from.short_id)),
        ("src_uuid", json!(from.row.memory)),
        ("dst_id", json!(to.short_id)),
        ("dst_uuid", json!(to.memory)),
        ("link_type", json!(link.kind)),
    ];
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// A live memory of the caller.
async fn own(app: &App, caller: &Caller, memory: MemoryUuid) -> Result<Stored, Problem> {
    let stored = app.db.get(&caller.user, memory).await?.ok_or_else(Problem::not_found)?;
    if stored.share().is_some() {
        return Err(Problem::not_allowed());
    }
    if stored.row.state.live().is_none() {
        return Err(Problem::not_found());
    }
    Ok(stored)
}

async fn change_links(app: &App, caller: &Caller, current: &Stored, edit: Edit) -> Result<(), Problem> {
    let memory = current.row.memory;
    let mut aside = Aside::own(&app.secrets, caller.user.as_str());
    let action = Screened::of(aside.look(edit, memory)?);
    let ask = Ask { memory, is_unheard: false, action, only_at: None, idempotency: None, at: app.clock.now() };
    done(app.db.ask(caller, &ask).await?).map(drop)
}
