//! `remember` and `update`: store a memory, and change fields of memories.

use tessera_desk::Desk;
use tessera_desk::use_cases::{
    Alike, Get, LinkBy, Meant, Named, Remember as Stores, Update as Changes, Which, described, told_near,
};
use tessera_desk::views::{StoredView, told_aside, told_kept, told_scope};
use tessera_engine::domain::{Category, Memory, MemoryRef, Patch, Scope, Tag};
use tessera_engine::store::{Ahead, Near, Stored};

use super::{Access, Context, all_or_stdin, text_of, without_last_newline};
use crate::cli::{Ids, Remember, Tags, Update};
use crate::exit::UsageError;
use crate::shapes::Updated;
use crate::{config, output};

/// Stores a memory.
pub(super) fn run(context: &Context, args: Remember) -> anyhow::Result<()> {
    let content = text_of(args.text)?;
    let is_chosen = args.scope.is_some();
    let is_encoded = !args.sensitive && config::is_semantic(context.home.clone());
    let ahead = if is_encoded { Ahead::memory(&content) } else { None };
    context.at_desk(Access::Add, |desk| {
        desk.expect(ahead);
        let named: Vec<Named> = args.supersedes.into_iter().collect();
        let supersedes = desk.perform(Meant { named })?.pop();
        let expires = args.expires.map(|expiry| expiry.seen_from(desk.now())).transpose()?.flatten();
        let created = args.created.map(|time| time.of("created").beginning(desk.now())).transpose()?;
        let sensitive = args.sensitive.then(|| described(args.described, args.category.as_ref()));
        let stored = desk.perform(Stores {
            sensitive,
            content,
            category: args.category,
            kind: args.kind,
            importance: args.importance,
            tags: Tag::unique(Tags::all(args.tags))?,
            keywords: args.keywords,
            entities: args.entities,
            scope: args.scope,
            created,
            expires,
            session: args.session,
            metadata: args.metadata,
            reason: args.reason,
            supersedes,
            owner_trust: None,
            accepts: None,
        })?;
        let near = if stored.existed || !context.json { Vec::new() } else { alike(desk, &stored) };
        print(desk, context, if stored.existed { "Already stored as" } else { "Stored" }, &stored, near)?;
        if !context.json {
            let id = stored.memory.short_id.get();
            let change = |scope: &Scope| format!("`tessera update {id} --scope {}`", output::shown(scope.as_str()));
            let told = told_scope(&stored, desk.caller(), is_chosen, change);
            told.iter().try_for_each(|told| output::say(told))?;
        }
        if !stored.existed && !context.json {
            // The memory is already stored and reported. Similar memories are reported afterwards.
            let told = |near: &Near| output::shown(&told_near(near, stored.memory.short_id, LinkBy::Command));
            alike(desk, &stored).iter().try_for_each(|near| output::say(&told(near)))?;
        }
        desk.embed();
        Ok(())
    })
}

/// Changes fields of a memory.
pub(super) fn update(context: &Context, args: Update) -> anyhow::Result<()> {
    let words =
        |list: String| list.split(',').map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect();
    let now = config::clock()?.now();
    let is_stdin = args.content.as_deref() == Some("-");
    let mut patch = Patch {
        sensitive: args.sensitive.then(|| described(args.described, args.category.as_ref())),
        content: args.content.map(all_or_stdin).transpose()?,
        category: args.category,
        kind: args.kind,
        importance: args.importance,
        tags: args.tags.map(|tags| Tag::list(&tags)).transpose()?,
        keywords: args.keywords.map(words),
        entities: None,
        scope: args.scope,
        expires: args.expires.map(|expiry| expiry.seen_from(now)).transpose()?,
        metadata: args.metadata,
        owner_trust: args.trust,
    };
    if patch.is_empty() {
        anyhow::bail!(UsageError(
            "there is nothing to change; add --content, --tags, --importance or another field".into()
        ));
    }
    let (named, is_imported, reason) = (Ids::all(args.ids), args.imported, args.reason);
    context.at_desk(Access::Change, |desk| {
        let which = if is_imported { Which::Imported } else { Which::Named(desk.perform(Meant { named })?) };
        // The newline at the end belongs to a file, but not to a text from a pipe.
        if is_stdin && !is_whole_file(desk, &which)? {
            patch.content = patch.content.take().map(without_last_newline);
        }
        let updated = desk.perform(Changes { which, patch, reason })?;
        if let Some(stored) = &updated.only {
            print(desk, context, "Updated", stored, Vec::new())?;
            desk.embed();
            return Ok(());
        }
        if context.json {
            return output::json(&Updated { updated: updated.count });
        }
        output::say(&match (updated.count, is_imported) {
            (0, true) => "There is no imported memory that you have not confirmed yet.".to_owned(),
            (count, _) => format!("Updated {}.", output::memories(count)),
        })
    })
}

fn is_whole_file(desk: &mut Desk<'_>, which: &Which) -> anyhow::Result<bool> {
    let Which::Named(ids) = which else { return Ok(false) };
    let [id] = ids.as_slice() else { return Ok(false) };
    let memory = desk.perform(Get { ids: vec![*id] })?;
    Ok(memory.first().is_some_and(Memory::is_whole_file))
}

/// Existing memories that say nearly the same. If the search for similar memories fails, the new memory is stored
/// anyway.
fn alike(desk: &mut Desk<'_>, stored: &Stored) -> Vec<Near> {
    desk.perform(Alike { id: MemoryRef::ShortId(stored.memory.short_id) }).unwrap_or_default()
}

/// Prints a stored memory: the verb, its facts and its summary.
pub(super) fn print_stored(desk: &Desk<'_>, context: &Context, verb: &str, stored: &Stored) -> anyhow::Result<()> {
    print(desk, context, verb, stored, Vec::new())
}

fn print(desk: &Desk<'_>, context: &Context, verb: &str, stored: &Stored, near: Vec<Near>) -> anyhow::Result<()> {
    if context.json {
        return output::json(&StoredView::of(stored, near));
    }
    let memory = &stored.memory;
    let category: &Category = &memory.category;
    let importance = f64::from(memory.importance);
    let of = match &memory.scope {
        Scope::Global => String::new(),
        Scope::Project(_) => format!(" of {}", output::shown(memory.scope.as_str())),
    };
    if let (true, Some(file)) = (memory.is_whole_file(), &memory.file) {
        let path = &file.path;
        let before = if verb == "Updated" {
            format!(" (the whole file; `tessera undo {}` restores the earlier text)", memory.short_id.get())
        } else {
            String::new()
        };
        return output::say(&output::shown(&format!("{verb} {} {path}{before}", memory.short_id)));
    }
    let tags: Vec<String> = memory.tags.iter().map(|tag| format!("#{}", output::shown(tag.as_str()))).collect();
    let tags = if tags.is_empty() { String::new() } else { format!(", {}", tags.join(" ")) };
    let facts = format!("{category}{of}{tags}, importance {importance:.2}, {} tokens", stored.tokens);
    output::say(&format!("{verb} {} ({facts}): {}", memory.short_id, output::shown(&memory.summary)))?;
    let kept = told_kept(stored, &format!("`tessera update {}`", memory.short_id.get()));
    kept.iter().try_for_each(|told| output::say(told))?;
    let aside = told_aside(stored, desk.secret_key().as_ref(), |name| format!("`tessera secret show {name}`"));
    aside.iter().try_for_each(|told| output::say(&output::shown(told)))
}
