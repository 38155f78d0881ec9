//! `memory_share` and the other sharing tools. They call the team server, and are offered only if there is one.

use serde_json::{Value, json};
use tessera_desk::Effect;
use tessera_desk::team::{AnswerInvitation, HideShared, MyShares, Share, SharedWithMe, Team, What};
use tessera_engine::domain::{DomainError, Permission, Tag, TokenProfile};
use tessera_engine::pack::{Lines, neutral};

use super::{Call, Entry, Listed, MAX_TOKENS, Replying, budgeted, listed};
use crate::args::{Args, IDS};

const OWNER: &[&str] = &["owner", "user"];
const WITH: &[&str] = &["shared_with", "user", "with"];
/// Maximum lines of a list.
const SHOWN: u32 = 50;

/// The common part of all sharing tools.
const OF_TEAM: Entry = Entry {
    name: "",
    title: "",
    description: "",
    effect: Effect::Changes,
    properties: || json!({}),
    aliases: &[],
    required: &[],
    listed: Listed::Never,
    is_always_loaded: false,
    call: Call::Team(my_shares),
};

/// Does everything that the next three tools do. These keep the calls of older clients.
pub(super) const SHARE: Entry = Entry {
    name: "memory_share",
    title: "Share memories",
    description: "Share one memory, or all memories with a tag, with a teammate. Only when the user asks for it.",
    properties: || {
        json!({
            "id": id(),
            "tag": { "type": "string", "description": "Instead of id: all present and future memories with this tag" },
            "shared_with": user(),
            "permission": permission(),
            "stop": { "type": "boolean", "description": "Stop sharing" }
        })
    },
    aliases: &[IDS, WITH],
    required: &["shared_with"],
    listed: Listed::Team,
    call: Call::Team(|args, team| {
        Box::pin(async move {
            let sharing = match (args.id()?.is_some(), args.has(&["tag"])) {
                (true, false) => Sharing::Memory,
                (false, true) => Sharing::Tag,
                _ => {
                    return Err(DomainError::invalid("id", "or tag is needed, and not both", "pass one of them").into());
                }
            };
            let stops = args.flag(&["stop"])?;
            share(args, team, sharing, !stops).await
        })
    }),
    ..OF_TEAM
};

pub(super) const UNSHARE: Entry = Entry {
    name: "memory_unshare",
    title: "Stop sharing a memory",
    description: "Undo memory_share.",
    properties: || json!({ "id": id(), "shared_with": user() }),
    aliases: &[IDS, WITH],
    required: &["id", "shared_with"],
    call: Call::Team(|args, team| share(args, team, Sharing::Memory, false)),
    ..OF_TEAM
};

pub(super) const SHARE_TAG: Entry = Entry {
    name: "memory_share_tag",
    title: "Share a tag",
    description: "Share all present and future memories that have this tag. Use only when the user asks for it.",
    properties: || json!({ "tag": { "type": "string", "description": "The shared tag" }, "shared_with": user(), "permission": permission() }),
    aliases: &[WITH],
    required: &["tag", "shared_with"],
    call: Call::Team(|args, team| share(args, team, Sharing::Tag, true)),
    ..OF_TEAM
};

pub(super) const UNSHARE_TAG: Entry = Entry {
    name: "memory_unshare_tag",
    title: "Stop sharing a tag",
    description: "Undo memory_share_tag.",
    properties: || json!({ "tag": { "type": "string", "description": "The shared tag" }, "shared_with": user() }),
    aliases: &[WITH],
    required: &["tag", "shared_with"],
    call: Call::Team(|args, team| share(args, team, Sharing::Tag, false)),
    ..OF_TEAM
};

pub(super) const MUTE: Entry = Entry {
    name: "memory_mute",
    title: "Hide a shared memory",
    description: "Hide a memory that a teammate shares; unmute shows it again.",
    properties: || json!({ "id": id(), "unmute": { "type": "boolean", "default": false, "description": "Show it again" } }),
    aliases: &[IDS],
    required: &["id"],
    call: Call::Team(mute),
    ..OF_TEAM
};

pub(super) const ACCEPT: Entry = Entry {
    name: "memory_accept_share",
    title: "Answer an invitation",
    description: "Accept or decline a teammate's invitation to a shared tag. Only when the user asks for it.",
    properties: || json!({ "owner": user(), "tag": { "type": "string", "description": "The shared tag" }, "decline": { "type": "boolean", "default": false, "description": "Decline it" } }),
    aliases: &[OWNER],
    required: &["owner", "tag"],
    call: Call::Team(answer_invitation),
    ..OF_TEAM
};

pub(super) const SHARED_WITH_ME: Entry = Entry {
    name: "memory_shared_with_me",
    title: "What others share",
    description: "Memories that teammates share, and open invitations.",
    effect: Effect::Reads,
    call: Call::Team(shared_with_me),
    ..OF_TEAM
};

pub(super) const MY_SHARES: Entry = Entry {
    name: "memory_my_shares",
    title: "What is shared",
    description: "Memories that the user shares, and with whom.",
    effect: Effect::Reads,
    properties: || json!({ "max_tokens": { "type": "integer", "default": 1000, "description": "Maximum size of the reply" } }),
    aliases: &[MAX_TOKENS],
    call: Call::Team(my_shares),
    ..OF_TEAM
};

fn user() -> Value {
    json!({ "type": "string", "description": "User name on the team server" })
}

fn permission() -> Value {
    json!({ "type": "string", "description": "read or write; default read" })
}

fn id() -> Value {
    json!({ "type": "string", "description": "ID such as 42" })
}

/// What a call shares.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sharing {
    Memory,
    Tag,
}

fn share<'a>(args: &'a Args, team: &'a Team, sharing: Sharing, is_shared: bool) -> Replying<'a> {
    Box::pin(async move {
        let with = args.required(WITH)?;
        let permission = if is_shared { Some(args.parsed(&["permission"])?.unwrap_or(Permission::Read)) } else { None };
        let what = match sharing {
            Sharing::Memory => What::Memory(args.id()?.ok_or_else(missing_id)?),
            Sharing::Tag => What::Tag(Tag::try_from(args.required(&["tag"])?)?),
        };
        let name = if let What::Tag(tag) = &what { format!("Everything tagged {tag}") } else { String::new() };
        let short_id = team.perform(Share { what, with: with.clone(), permission }).await?;
        let name = short_id.map_or(name, |short_id| short_id.to_string());
        Ok(match permission {
            Some(permission) if short_id.is_none() => format!("{name}: invited {with} ({permission})"),
            Some(permission) => format!("{name} is shared with {with} ({permission})"),
            None => format!("{name} is no longer shared with {with}"),
        })
    })
}

fn missing_id() -> DomainError {
    DomainError::invalid("id", "is missing", "use an ID such as 42")
}

fn mute<'a>(args: &'a Args, team: &'a Team) -> Replying<'a> {
    Box::pin(async move {
        let shows = args.flag(&["unmute"])?;
        let memory = args.id()?.ok_or_else(missing_id)?;
        let memory = team.perform(HideShared { memory, is_muted: !shows }).await?;
        // A hidden memory has no ID here any more; its UUID brings it back.
        Ok(if shows {
            format!("{memory} is shown again")
        } else {
            format!("hidden; to show it again, call memory_mute with id {memory} and unmute true")
        })
    })
}

fn answer_invitation<'a>(args: &'a Args, team: &'a Team) -> Replying<'a> {
    Box::pin(async move {
        let owner = args.required(OWNER)?;
        let tag = Tag::try_from(args.required(&["tag"])?)?;
        let is_accepted = !args.flag(&["decline"])?;
        let changed = team.perform(AnswerInvitation { owner: owner.clone(), tag: tag.clone(), is_accepted }).await?;
        Ok(match (changed, is_accepted) {
            (true, true) => format!("You now see all memories that {owner} tags with {tag}"),
            (true, false) => format!("Declined: you will not see the memories that {owner} tags with {tag}"),
            (false, _) => {
                format!(
                    "There is no open invitation from {owner} for the tag {tag}, or you have already given this answer"
                )
            }
        })
    })
}

fn shared_with_me<'a>(_: &'a Args, team: &'a Team) -> Replying<'a> {
    Box::pin(async move {
        let received = team.perform(SharedWithMe { limit: SHOWN }).await?;
        let lines = received.memories.iter().filter_map(|memory| {
            let share = memory.share.as_ref()?;
            Some(line(&format!("{} from {} ({}) {}", memory.short_id, share.by, share.permission, memory.summary)))
        });
        let invitations = received.invitations.iter().map(|invitation| {
            let (owner, tag, permission) = (&invitation.owner, &invitation.tag, &invitation.permission);
            line(&format!(
                "{owner} wants to share everything tagged {tag} ({permission}); the user can run `tessera accept \
                 {owner} {tag}`"
            ))
        });
        let text: String = lines.chain(invitations).collect();
        Ok(if text.is_empty() { "Nobody shares anything with you.\n".into() } else { text })
    })
}

fn my_shares<'a>(args: &'a Args, team: &'a Team) -> Replying<'a> {
    Box::pin(async move {
        let budget = budgeted(args, String::new())?.budget;
        let given = team.perform(MyShares).await?;
        let memories = given.shares.memory_shares.iter().zip(&given.short_ids).map(|(share, short_id)| {
            // A memory that has not been synced to this machine yet has no ID here.
            let name = short_id.map_or_else(|| share.memory_id.to_string(), |short_id| short_id.to_string());
            format!("{name} shared with {} ({}) {}", share.shared_with, share.permission, share.preview)
        });
        let tags = given.shares.tag_shares.iter();
        let tags = tags.map(|share| {
            format!("all memories tagged {}, shared with {} ({})", share.tag, share.shared_with, share.permission)
        });
        let rows: Vec<String> = memories.chain(tags).map(|text| line(&text)).collect();
        if rows.is_empty() {
            return Ok("You share nothing.\n".into());
        }
        Ok(listed(Lines { budget, profile: TokenProfile::O200K }, &rows, "shares")?)
    })
}

/// A line of a list, without hidden characters. Imitated tags of replies are made harmless.
fn line(text: &str) -> String {
    let text: Vec<String> = neutral(text).split_whitespace().map(str::to_owned).collect();
    format!("{}\n", text.join(" "))
}
