//! `share`, `unshare`, `shares`, `resolve`: sharing with a team.

use tessera_desk::team::{AnswerInvitation, MyShares, Share as Shares, SharedWithMe, What};
use tessera_desk::use_cases::{Conflicts, Resolve};
use tessera_engine::domain::MemoryRef;
use tessera_engine::store::{Resolution, Usage};

use super::sync::runtime;
use super::{Access, Context};
use crate::cli::{Keep, Offered, Share};
use crate::exit::UsageError;
use crate::output;
use crate::shapes::{Answered, Done, Shares as AllShares};

/// The maximum number of listed memories that teammates share.
const SHOWN: u32 = 200;

/// Shares a memory or a tag with a teammate, or stops sharing it.
pub(super) fn share(context: &Context, args: Share, is_shared: bool) -> anyhow::Result<()> {
    let what = match (args.id, args.tag) {
        (Some(id), _) => What::Memory(id),
        (None, Some(tag)) => What::Tag(tag),
        (None, None) => return Err(UsageError("name a memory by its ID, or a tag with --tag".into()).into()),
    };
    let tag = if let What::Tag(tag) = &what { format!("everything tagged {tag}") } else { String::new() };
    let permission = is_shared.then_some(args.permission);
    let team = context.team(Usage::Write)?;
    let memory = runtime()?.block_on(team.perform(Shares { what, with: args.with.clone(), permission }))?;
    let what = memory.map_or(tag, |short_id| short_id.to_string());
    let text = match permission {
        Some(permission) if memory.is_none() => format!("{what}: invited {} ({permission})", args.with),
        Some(permission) => format!("{what} is shared with {} ({permission})", args.with),
        None => format!("{what} is no longer shared with {}", args.with),
    };
    context.print(&Done { done: text.clone() }, || text)
}

/// Lists what is shared, in both directions.
pub(super) fn shares(context: &Context) -> anyhow::Result<()> {
    let team = context.team(Usage::ReadOnce)?;
    let looks = async { tokio::try_join!(team.perform(MyShares), team.perform(SharedWithMe { limit: SHOWN })) };
    let (mine, theirs) = runtime()?.block_on(looks)?;
    if context.json {
        let (shared_with_me, invitations) = (theirs.memories, theirs.invitations);
        return output::json(&AllShares { my_shares: mine, shared_with_me, invitations });
    }
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (share, short_id) in mine.shares.memory_shares.into_iter().zip(mine.short_ids) {
        // A memory that has not been synced to this machine yet has no ID here.
        let short_id = short_id.map_or_else(String::new, |short_id| format!("{short_id} "));
        let what = format!("{short_id}{}", share.preview);
        rows.push(vec!["you".into(), share.shared_with, share.permission.to_string(), what]);
    }
    for share in mine.shares.tag_shares {
        let state = share.status.filter(|status| status != "accepted").map(|status| format!(" ({status})"));
        let what = format!("everything tagged {}{}", share.tag, state.unwrap_or_default());
        rows.push(vec!["you".into(), share.shared_with, share.permission.to_string(), what]);
    }
    for memory in theirs.memories {
        let Some(share) = memory.share else { continue };
        let what = format!("{} {}", memory.short_id, memory.summary);
        rows.push(vec![share.by, "you".into(), share.permission.to_string(), what]);
    }
    for invitation in theirs.invitations {
        let what = format!(
            "invites you to all memories tagged {} (tessera accept OWNER TAG, or tessera decline OWNER TAG)",
            output::shown(invitation.tag.as_str())
        );
        rows.push(vec![invitation.owner, "you".into(), invitation.permission.to_string(), what]);
    }
    if rows.is_empty() {
        return output::say("Nothing is shared yet; `tessera share ID --with USER` shares a memory.");
    }
    output::text(&output::table(&["by", "with", "permission", "what"], rows))
}

/// Accepts or declines a tag that a teammate offers.
pub(super) fn answer(context: &Context, offered: &Offered, is_accepted: bool) -> anyhow::Result<()> {
    let team = context.team(Usage::Write)?;
    let answer = AnswerInvitation { owner: offered.owner.clone(), tag: offered.tag.clone(), is_accepted };
    let changed = runtime()?.block_on(team.perform(answer))?;
    let Offered { owner, tag } = offered;
    let text = match (changed, is_accepted) {
        (true, true) => format!("you now see all memories that {owner} tags with {tag}"),
        (true, false) => format!("declined: you do not see the memories that {owner} tags with {tag}"),
        (false, _) => {
            format!("there is no open invitation from {owner} for the tag {tag}, or you have already given this answer")
        }
    };
    context.print(&Answered { done: text.clone(), changed }, || text)
}

/// Lists conflicts, or resolves one.
pub(super) fn resolve(
    context: &Context,
    id: Option<MemoryRef>,
    keep: Option<Keep>,
    content: Option<String>,
) -> anyhow::Result<()> {
    let Some(id) = id else {
        let conflicts = context.perform(Access::Change, Conflicts)?;
        if context.json {
            return output::json(&conflicts);
        }
        if conflicts.is_empty() {
            return output::say("There are no conflicts.");
        }
        let text = |memory: &tessera_engine::Memory| format!("{} {}", memory.short_id, memory.content);
        let gone = || "deleted".to_owned();
        let rows = conflicts.iter().map(|one| vec![one.memory.as_ref().map_or_else(gone, text), text(&one.copy)]);
        return output::text(&output::table(&["memory", "the other version of its text"], rows.collect()));
    };
    let resolution = match (content, keep) {
        (Some(text), None) => Resolution::Text(super::text_or_stdin(text)?),
        (None, Some(Keep::Memory)) => Resolution::Memory,
        (None, Some(Keep::Copy)) => Resolution::Copy,
        (None, Some(Keep::Both)) => Resolution::Both,
        _ => {
            return Err(UsageError(
                "add --keep memory, --keep copy or --keep both, or a merged text with --content".into(),
            )
            .into());
        }
    };
    let memory = context.perform(Access::Change, Resolve { id, resolution })?;
    context.print(&memory, || output::shown(&format!("{} {}", memory.short_id, memory.content)))
}
