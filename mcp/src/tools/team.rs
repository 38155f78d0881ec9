//! `memory_share` and its companions: who else sees what. These ask the team server, and are offered only where
//! there is one.

use rmcp::model::Tool;
use serde_json::{Value, json};
use tessera_engine::Store;
use tessera_engine::domain::{DomainError, Memory, MemoryId, MemoryRef, Permission, Tag};
use tessera_engine::pack::neutral;
use tessera_engine::store::{ListRequest, StoreError};

use super::{Effect, tool};
use crate::args::{Args, IDS};
use crate::error::ToolError;
use crate::server::Team;

const WITH: &[&str] = &["shared_with", "user", "with"];
/// Lines of a list.
const SHOWN: u32 = 50;

/// The tools of a team.
pub(super) fn definitions() -> Vec<Tool> {
    let with = json!({ "type": "string", "description": "User name on the team server" });
    let permission = json!({ "type": "string", "enum": ["read", "write"], "default": "read" });
    let id = json!({ "type": "string", "description": "Handle such as 42" });
    let one = |name, title, description, properties: Value, required: &[&str]| {
        tool(name, title, description, Effect::Changes, properties, required)
    };
    vec![
        one(
            "memory_share",
            "Share a memory",
            "Share one memory with a teammate. Only when the person asks for it.",
            json!({ "id": id, "shared_with": with, "permission": permission }),
            &["id", "shared_with"],
        ),
        one(
            "memory_unshare",
            "Share a memory no longer",
            "Take back what memory_share allowed.",
            json!({ "id": id, "shared_with": with }),
            &["id", "shared_with"],
        ),
        one(
            "memory_share_tag",
            "Share a tag",
            "Share every memory with a tag, now and later, with a teammate. Only when the person asks for it.",
            json!({ "tag": { "type": "string" }, "shared_with": with, "permission": permission }),
            &["tag", "shared_with"],
        ),
        one(
            "memory_unshare_tag",
            "Share a tag no longer",
            "Take back what memory_share_tag allowed.",
            json!({ "tag": { "type": "string" }, "shared_with": with }),
            &["tag", "shared_with"],
        ),
        one(
            "memory_mute",
            "Hide a shared memory",
            "Hide a memory that a teammate shares; unmute shows it again.",
            json!({ "id": id, "unmute": { "type": "boolean", "default": false } }),
            &["id"],
        ),
        one(
            "memory_accept_share",
            "Answer an offer",
            "Accept or decline what a teammate offers by a tag. Only when the person asks for it.",
            json!({ "owner": with, "tag": { "type": "string" }, "decline": { "type": "boolean", "default": false } }),
            &["owner", "tag"],
        ),
        tool(
            "memory_shared_with_me",
            "What others share",
            "What teammates share, and what they offer.",
            Effect::Reads,
            json!({}),
            &[],
        ),
        tool(
            "memory_my_shares",
            "What is shared",
            "What this person shares, with whom.",
            Effect::Reads,
            json!({}),
            &[],
        ),
    ]
}

/// Runs a tool of the team; `None` for a name that is none.
pub(crate) async fn call(name: &str, args: &Args, team: &Team) -> Option<Result<String, ToolError>> {
    Some(match name {
        "memory_share" => share(args, team, true).await,
        "memory_unshare" => share(args, team, false).await,
        "memory_share_tag" => share_tag(args, team, true).await,
        "memory_unshare_tag" => share_tag(args, team, false).await,
        "memory_mute" => mute(args, team).await,
        "memory_accept_share" => answer_offer(args, team).await,
        "memory_shared_with_me" => shared_with_me(team).await,
        "memory_my_shares" => my_shares(team).await,
        _ => return None,
    })
}

fn permission(args: &Args, is_shared: bool) -> Result<Option<Permission>, DomainError> {
    if !is_shared {
        return Ok(None);
    }
    Ok(Some(args.parsed(&["permission"])?.unwrap_or(Permission::Read)))
}

async fn memory_of(args: &Args, team: &Team) -> Result<Memory, ToolError> {
    let missing = || DomainError::invalid("id", "is missing", "give a handle such as 42");
    let reference: MemoryRef = args.parsed_list(IDS)?.into_iter().next().ok_or_else(missing)?;
    let found = team.on(move |store| store.get(reference)).await??;
    Ok(found.ok_or(StoreError::NotFound(reference))?)
}

async fn share(args: &Args, team: &Team, is_shared: bool) -> Result<String, ToolError> {
    let (with, permission) = (args.required(WITH)?, permission(args, is_shared)?);
    let memory = memory_of(args, team).await?;
    if let Some(share) = &memory.share {
        let problem = format!("belongs to {}", share.by);
        return Err(DomainError::invalid("id", problem, "only its owner can share it").into());
    }
    // The server must have it, as it is now.
    team.exchange().await?;
    team.remote().share(memory.id, &with, permission).await?;
    Ok(told(&memory.handle.to_string(), &with, permission))
}

async fn share_tag(args: &Args, team: &Team, is_shared: bool) -> Result<String, ToolError> {
    let (with, permission) = (args.required(WITH)?, permission(args, is_shared)?);
    let tag = Tag::try_from(args.required(&["tag"])?)?;
    team.exchange().await?;
    team.remote().share_tag(&tag, &with, permission).await?;
    Ok(told(&format!("Everything tagged {tag}"), &with, permission))
}

fn told(what: &str, with: &str, permission: Option<Permission>) -> String {
    match permission {
        Some(Permission::Read) => format!("{what} is shared with {with}, who may read it"),
        Some(Permission::Write) => format!("{what} is shared with {with}, who may read and change it"),
        None => format!("{what} is no longer shared with {with}"),
    }
}

async fn mute(args: &Args, team: &Team) -> Result<String, ToolError> {
    let shows = args.flag(&["unmute"])?;
    let memory: MemoryId = match args.parsed_list::<MemoryRef>(IDS)?.into_iter().next() {
        Some(MemoryRef::Id(id)) => id,
        _ => memory_of(args, team).await?.id,
    };
    team.remote().mute(memory, !shows).await?;
    team.exchange().await?;
    // Once it is hidden its handle is gone with it: the id brings it back.
    Ok(if shows {
        format!("{memory} is shown again")
    } else {
        format!("hidden; memory_mute with id {memory} and unmute shows it again")
    })
}

async fn answer_offer(args: &Args, team: &Team) -> Result<String, ToolError> {
    let owner = args.required(&["owner", "user"])?;
    let tag = Tag::try_from(args.required(&["tag"])?)?;
    let declines = args.flag(&["decline"])?;
    let changed = team.remote().answer_offer(&owner, &tag, !declines).await?;
    team.exchange().await?;
    Ok(match (changed, declines) {
        (true, false) => format!("What {owner} tags {tag} is seen here, now and later"),
        (true, true) => format!("What {owner} tags {tag} is not seen here"),
        (false, _) => format!("{owner} offers nothing tagged {tag}, or it was so answered before"),
    })
}

async fn shared_with_me(team: &Team) -> Result<String, ToolError> {
    let request = ListRequest { shared: true, limit: SHOWN, ..ListRequest::default() };
    let listing = team.on(move |store| store.list(&request)).await??;
    let lines = listing.memories.iter().filter_map(|memory| {
        let share = memory.share.as_ref()?;
        Some(line(&format!("{} from {} ({}) {}", memory.handle, share.by, share.permission, memory.summary)))
    });
    let mut text: String = lines.collect();
    for offer in team.remote().offers().await? {
        text += &line(&format!(
            "{} offers all tagged {} ({}); memory_accept_share answers",
            offer.owner, offer.tag, offer.permission
        ));
    }
    Ok(if text.is_empty() { "Nobody shares anything with you.\n".into() } else { text })
}

async fn my_shares(team: &Team) -> Result<String, ToolError> {
    let shares = team.remote().my_shares().await?;
    let ids: Vec<MemoryId> = shares.memory_shares.iter().map(|share| share.memory_id).collect();
    let known = |store: &mut Store| {
        let handle = |id| Ok(store.get(MemoryRef::Id(id))?.map(|memory| memory.handle));
        ids.into_iter().map(handle).collect::<Result<Vec<_>, StoreError>>()
    };
    let handles = team.on(known).await??;
    let memories = shares.memory_shares.iter().zip(handles).map(|(share, handle)| {
        // One that has not come to this machine yet has no handle here.
        let name = handle.map_or_else(|| share.memory_id.to_string(), |handle| handle.to_string());
        format!("{name} with {} ({}) {}", share.shared_with, share.permission, share.preview)
    });
    let tags = shares
        .tag_shares
        .iter()
        .map(|share| format!("everything tagged {} with {} ({})", share.tag, share.shared_with, share.permission));
    let text: String = memories.chain(tags).take(SHOWN as usize).map(|text| line(&text)).collect();
    Ok(if text.is_empty() { "You share nothing.\n".into() } else { text })
}

/// One line of a list, without what could pass for another.
fn line(text: &str) -> String {
    let text: Vec<String> = neutral(text).split_whitespace().map(str::to_owned).collect();
    format!("{}\n", text.join(" "))
}
