//! `remember`, `update`, `forget`, `restore`: the commands that change memories.

use serde_json::json;
use tessera_engine::domain::{Category, Draft, Link, LinkKind, MemoryRef, Origin, Patch, Tag};
use tessera_engine::store::{Erase, StoreError, Stored, Traces, Usage};

use super::views::StoredView;
use super::{Context, text_or_stdin, user};
use crate::cli::{Remember, Update};
use crate::{config, output};

/// Memories that are changed in one transaction: all of them, or none.
const UPDATED_AT_ONCE: usize = 500;

/// Stores a memory.
pub(super) fn run(context: &Context, args: Remember) -> anyhow::Result<()> {
    let content = text_or_stdin(args.text)?;
    let mut store = context.open(Usage::Write)?;
    let links = match args.supersedes {
        None => Vec::new(),
        Some(old) => {
            let memory = store.get(old)?.ok_or(StoreError::NotFound(old))?;
            vec![Link { kind: LinkKind::Supersedes, to: memory.id }]
        }
    };
    let draft = Draft {
        category: args.category,
        kind: args.kind,
        importance: args.importance,
        tags: Tag::unique(args.tags)?,
        keywords: args.keywords,
        entities: args.entities,
        scope: args.scope.unwrap_or_default(),
        created: args.created,
        expires: args.expires.map(|expiry| expiry.seen_from(store.now())).transpose()?.flatten(),
        session: args.session,
        cwd: std::env::current_dir().ok().map(|dir| dir.display().to_string()),
        client: Some("tessera".into()),
        origin: Origin::User,
        links,
        ..Draft::new(content)
    };
    let stored = store.remember(draft)?;
    let verb = if stored.existed { "Already stored as" } else { "Stored" };
    print(context, verb, &stored)
}

/// Changes fields of a memory.
pub(super) fn update(context: &Context, args: Update) -> anyhow::Result<()> {
    let words =
        |list: String| list.split(',').map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect();
    let now = config::clock()?.now();
    let patch = Patch {
        content: args.content.map(text_or_stdin).transpose()?,
        category: args.category,
        kind: args.kind,
        importance: args.importance,
        tags: args.tags.map(|tags| Tag::list(&tags)).transpose()?,
        keywords: args.keywords.map(words),
        entities: None,
        scope: args.scope,
        expires: args.expires.map(|expiry| expiry.seen_from(now)).transpose()?,
        vouched: args.trust,
    };
    if patch.is_empty() {
        anyhow::bail!(crate::exit::UserError(
            "nothing to change; give --content, --tags, --importance or another field".into()
        ));
    }
    let mut store = context.open_existing()?;
    let ids = if args.imported { store.imported()? } else { args.ids };
    let actor = user(args.reason);
    if let [id] = ids.as_slice() {
        return print(context, "Updated", &store.update(*id, &patch, &actor)?);
    }
    let mut updated = 0;
    for batch in ids.chunks(UPDATED_AT_ONCE) {
        updated += store.update_all(batch, &patch, &actor)?.len();
    }
    if context.json {
        return output::json(&json!({ "updated": updated }));
    }
    output::line(&format!("Updated {updated} memories"))
}

/// Forgets memories.
pub(super) fn forget(context: &Context, ids: &[MemoryRef], hard: bool, reason: Option<String>) -> anyhow::Result<()> {
    let erase = if hard { Erase::Hard } else { Erase::Soft };
    let mut store = context.open_existing()?;
    let forgotten = store.forget(ids, erase, &user(reason))?;
    let removed: Vec<_> = forgotten.iter().filter(|_| hard).map(|one| one.id).collect();
    let traces = if hard { store.traces(&removed)? } else { Traces::default() };
    if context.json {
        let ids: Vec<_> = forgotten.iter().map(|one| one.id).collect();
        let handles: Vec<_> = forgotten.iter().map(|one| one.handle).collect();
        return output::json(
            &json!({ "deleted_count": forgotten.len(), "deleted_ids": ids, "handles": handles, "hard": hard, "left": traces }),
        );
    }
    for one in forgotten {
        let how =
            if hard { "for good".to_owned() } else { format!("`tessera restore {}` brings it back", one.handle.get()) };
        output::line(&format!("Forgot {} ({how})", one.handle))?;
    }
    traces.told().iter().for_each(|told| output::note(told));
    Ok(())
}

/// Brings back a forgotten memory, or an earlier text.
pub(super) fn restore(context: &Context, id: MemoryRef, before: Option<u64>) -> anyhow::Result<()> {
    let stored = context.open_existing()?.restore(id, before, &user(None))?;
    print(context, "Restored", &stored)
}

fn print(context: &Context, verb: &str, stored: &Stored) -> anyhow::Result<()> {
    if context.json {
        return output::json(&StoredView::from(stored));
    }
    let memory = &stored.memory;
    let category: &Category = &memory.category;
    let importance = f64::from(memory.importance);
    let facts = format!("{category}, importance {importance:.2}, {} tokens", stored.tokens);
    output::line(&format!("{verb} {} ({facts}): {}", memory.handle, output::shown(&memory.summary)))
}
