//! `share`, `unshare`, `shares`, `resolve`: what a team has in common.

use serde_json::json;
use tessera_desk::sync::exchange;
use tessera_engine::domain::MemoryRef;
use tessera_engine::store::{ListRequest, Resolution, StoreError, Usage};

use super::sync::{remote, runtime};
use super::{Context, user};
use crate::cli::{Keep, Offered, Share};
use crate::exit::UserError;
use crate::output;

/// Shares a memory or a tag with a teammate, or no longer.
pub(super) fn share(context: &Context, args: Share, is_shared: bool) -> anyhow::Result<()> {
    let remote = remote(context)?;
    let permission = is_shared.then_some(args.permission);
    let store = context.open(Usage::Write)?;
    let memory = match args.id {
        None => None,
        Some(reference) => Some(store.get(reference)?.ok_or(StoreError::NotFound(reference))?),
    };
    let what = match (&memory, &args.tag) {
        (Some(memory), _) => memory.handle.to_string(),
        (None, Some(tag)) => format!("everything tagged {tag}"),
        (None, None) => return Err(UserError("give a memory or --tag".into()).into()),
    };
    runtime()?.block_on(async {
        // The server must have it, as it is now.
        exchange(store, &remote).await?;
        match (&memory, &args.tag) {
            (Some(memory), _) => remote.share(memory.id, &args.with, permission).await?,
            (None, Some(tag)) => remote.share_tag(tag, &args.with, permission).await?,
            (None, None) => {}
        }
        anyhow::Ok(())
    })?;
    let text = match permission {
        Some(permission) if memory.is_none() => format!("{what} is offered to {} ({permission})", args.with),
        Some(permission) => format!("{what} is shared with {} ({permission})", args.with),
        None => format!("{what} is no longer shared with {}", args.with),
    };
    if context.json {
        return output::json(&json!({ "done": text }));
    }
    output::line(&text)
}

/// Lists what is shared, both ways.
pub(super) fn shares(context: &Context) -> anyhow::Result<()> {
    let remote = remote(context)?;
    let (mine, offers) = runtime()?.block_on(async { tokio::try_join!(remote.my_shares(), remote.offers()) })?;
    let request = ListRequest { shared: true, limit: 200, ..ListRequest::default() };
    let store = context.open(Usage::ReadOnce)?;
    let theirs = store.list(&request)?;
    if context.json {
        return output::json(&json!({ "my_shares": mine, "shared_with_me": theirs.memories, "offers": offers }));
    }
    let mut rows: Vec<Vec<String>> = Vec::new();
    for share in mine.memory_shares {
        // One that has not come to this machine yet has no handle here.
        let handle = store.get(MemoryRef::Id(share.memory_id))?.map(|memory| format!("{} ", memory.handle));
        let what = format!("{}{}", handle.unwrap_or_default(), share.preview);
        rows.push(vec!["you".into(), share.shared_with, share.permission.to_string(), what]);
    }
    for share in mine.tag_shares {
        let state = share.status.filter(|status| status != "accepted").map(|status| format!(" ({status})"));
        let what = format!("everything tagged {}{}", share.tag, state.unwrap_or_default());
        rows.push(vec!["you".into(), share.shared_with, share.permission.to_string(), what]);
    }
    for memory in theirs.memories {
        let Some(share) = memory.share else { continue };
        let what = format!("{} {}", memory.handle, memory.summary);
        rows.push(vec![share.by, "you".into(), share.permission.to_string(), what]);
    }
    for offer in offers {
        let what = format!(
            "offered: everything tagged {} (tessera accept OWNER TAG, or decline)",
            output::shown(offer.tag.as_str())
        );
        rows.push(vec![offer.owner, "you".into(), offer.permission.to_string(), what]);
    }
    output::text(&output::table(&["by", "with", "permission", "what"], rows))
}

/// Accepts what a teammate offers by a tag, or declines it.
pub(super) fn answer(context: &Context, offered: &Offered, is_accepted: bool) -> anyhow::Result<()> {
    let remote = remote(context)?;
    let store = context.open(Usage::Write)?;
    let changed = runtime()?.block_on(async {
        let changed = remote.answer_offer(&offered.owner, &offered.tag, is_accepted).await?;
        exchange(store, &remote).await?;
        anyhow::Ok(changed)
    })?;
    let Offered { owner, tag } = offered;
    let text = match (changed, is_accepted) {
        (true, true) => format!("what {owner} tags {tag} is seen here, now and later"),
        (true, false) => format!("what {owner} tags {tag} is not seen here"),
        (false, _) => format!("{owner} offers nothing tagged {tag}, or it was so answered before"),
    };
    if context.json {
        return output::json(&json!({ "done": text, "changed": changed }));
    }
    output::line(&text)
}

/// Lists conflicts, or decides one.
pub(super) fn resolve(
    context: &Context,
    id: Option<MemoryRef>,
    keep: Option<Keep>,
    content: Option<String>,
) -> anyhow::Result<()> {
    let mut store = context.open_existing()?;
    let Some(id) = id else {
        let conflicts = store.conflicts()?;
        if context.json {
            return output::json(&conflicts);
        }
        let text = |memory: &tessera_engine::Memory| format!("{} {}", memory.handle, memory.content);
        let gone = || "gone".to_owned();
        let rows = conflicts.iter().map(|one| vec![one.memory.as_ref().map_or_else(gone, text), text(&one.copy)]);
        return output::text(&output::table(&["memory", "its other text"], rows.collect()));
    };
    let resolution = match (content, keep) {
        (Some(text), None) => Resolution::Text(super::text_or_stdin(text)?),
        (None, Some(Keep::Memory)) => Resolution::Memory,
        (None, Some(Keep::Copy)) => Resolution::Copy,
        (None, Some(Keep::Both)) => Resolution::Both,
        _ => return Err(UserError("give --keep memory, copy or both, or a merged text by --content".into()).into()),
    };
    let memory = store.resolve(id, &resolution, &user(None))?;
    if context.json {
        return output::json(&memory);
    }
    output::line(&output::shown(&format!("{} {}", memory.handle, memory.content)))
}
