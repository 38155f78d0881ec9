//! Stores new memories, and recognises repeated ones.

use rusqlite::params;

use super::relate::note_related;
use super::update::rewrite;
use super::write::{Stored, Written, places_of, set_aside, tell, write_row};
use super::{links, places};
use crate::compose::{self, Composed, Known};
use crate::domain::{Draft, Memory, MemoryRef, MemoryUuid, Metadata, Origin, Patch, Timestamp, Trust};
use crate::relation::ComparedWhen;
use crate::screen::{KnownValues, ProbableSecrets, Screened, dropped, findings, screened_closely};
use crate::store::base::allowed_texts;
use crate::store::base::config::Actor;
use crate::store::base::kept;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::logs::history::Operation;
use crate::store::logs::{access_log, candidates, history};
use crate::store::rows::codec::sql;
use crate::store::rows::columns::MEMORY;
use crate::store::rows::memory as row;
use crate::text::{O200k, without_case_and_space};

impl Store {
    /// Stores a memory. Fields that the draft does not contain are derived from the text.
    ///
    /// # Errors
    /// Returns an error if a field is rejected, or the store cannot be written. Then nothing is stored.
    pub fn remember(&mut self, draft: Draft) -> Result<Stored, StoreError> {
        let now = self.clock.now();
        let probable = ProbableSecrets::of(&draft);
        let draft = self.looked_through(draft, probable, now)?;
        let is_filed = draft.category.is_some() || draft.sensitive.is_some();
        let meant = if is_filed { None } else { self.embedding_key(&draft.content) };
        let composed = compose::created(&draft, meant.as_ref(), now, &O200k)?;
        let unlinked = Memory { links: draft.links.clone(), ..composed.memory().clone() };
        let updated = self.updated_by(&unlinked, ComparedWhen::Storing)?;
        let stored = self.write(|change| {
            places::note_made(change, &draft)?;
            let mut stored = insert(change, &draft, &composed)?;
            if stored.existed && !links::affirm(change, &stored.memory, &again(&draft))? {
                return Ok(stored);
            }
            note_related(change, stored.memory.short_id)?;
            stored.memory.links = links::add_found(change, &stored.memory, &updated)?;
            Ok(stored)
        })?;
        self.maintain();
        Ok(stored)
    }

    /// Stores many memories in one transaction: all of them, or none.
    ///
    /// # Errors
    /// Returns the same errors as [`Store::remember`].
    pub fn remember_all(&mut self, drafts: &[Draft]) -> Result<Vec<Stored>, StoreError> {
        let now = self.clock.now();
        let probable = ProbableSecrets::of_each(drafts, |draft| Some(draft));
        let composed = drafts.iter().zip(probable).map(|(draft, probable)| {
            let draft = self.looked_through(draft.clone(), probable, now)?;
            let composed = compose::created(&draft, None, now, &O200k)?;
            Ok((draft, composed))
        });
        let composed: Vec<_> = composed.collect::<Result<_, StoreError>>()?;
        let stored =
            self.write(|change| composed.iter().map(|(draft, composed)| insert(change, draft, composed)).collect())?;
        self.maintain();
        Ok(stored)
    }

    /// A draft without credentials. Credentials are encrypted for the memory's UUID, so the draft gets its UUID first.
    pub(in crate::store) fn looked_through(
        &self,
        draft: Draft,
        probable: ProbableSecrets,
        now: Timestamp,
    ) -> Result<Screened<Draft>, StoreError> {
        if let Some(finding) = findings(draft.scope.as_str()).first() {
            // A project's name is in many rows, so it cannot be changed.
            return Err(StoreError::Credential { field: "scope", kind: finding.kind.as_str().to_owned() });
        }
        let id = draft.id.unwrap_or_else(|| MemoryUuid::generate(now));
        let probable = allowed_texts::excepted(&self.connection, probable)?;
        let keeper = &mut self.secrets.keeper(&self.connection);
        screened_closely(Draft { id: Some(id), ..draft }, id, keeper, &KnownValues::default(), probable)
    }
}

/// Who stored a memory again.
fn again(draft: &Draft) -> Actor {
    let (origin, session, client) = (draft.origin.clone(), draft.session.clone(), draft.client.clone());
    Actor { origin, session, client, reason: Some("stored again".to_owned()), ..Actor::default() }
}

/// Stores a composed memory, or finds an existing one with the same text.
pub(crate) fn insert(change: &Change<'_>, draft: &Draft, composed: &Composed) -> Result<Stored, StoreError> {
    if let Some(line) = &draft.accepts {
        candidates::accept(change, line, composed.memory())?;
    }
    let actor = Actor {
        origin: draft.origin.clone(),
        session: draft.session.clone(),
        client: draft.client.clone(),
        altered: draft.altered.clone(),
        reason: draft.reason.as_deref().map(|reason| dropped(reason).into_owned()),
    };
    if let Some(known) = same_text(change, composed)? {
        for secret in composed.secrets() {
            kept::write_again(change, (composed.memory().id, known.id), secret)?;
        }
        return said_again(change, known, draft, &actor);
    }
    let composed = composed.placed(change.next_short_id()?, history::next_rev(change, &actor)?);
    let memory = composed.memory();
    write_row(change, &composed, Written::New)?;
    kept::adopt(change, memory)?;
    history::record(change, memory, Operation::Create, &actor, None)?;
    tell(change, memory.id)?;
    for link in &draft.links {
        links::insert(change, memory, &link.kind, MemoryRef::Id(link.to))?;
    }
    // A link is part of the memory; nothing else has changed since it was composed.
    let memory =
        if draft.links.is_empty() { memory.clone() } else { change.existing(MemoryRef::ShortId(memory.short_id))? };
    Ok(Stored {
        memory,
        tokens: composed.costs().detail,
        existed: false,
        kept: Vec::new(),
        aside: set_aside(&composed, None),
    })
}

/// If a text is stored again, the existing memory counts as used. The existing memory gets the later of the two expiry
/// times. The existing memory also gets new links, and the metadata if it has none.
fn said_again(change: &Change<'_>, known: Memory, draft: &Draft, actor: &Actor) -> Result<Stored, StoreError> {
    access_log::touch(change, known.short_id, change.now)?;
    let expires = known.expires.and_then(|known| draft.expires.map(|asked| asked.max(known)));
    let metadata = draft.metadata.clone().filter(|_| known.metadata.as_ref().is_none_or(Metadata::is_empty));
    // A user who types a learned text accepts it.
    let is_learned = known.origin == Origin::AutoLearn && known.owner_trust == Some(Trust::Foreign);
    let owner_trust = (is_learned && draft.origin == Origin::User).then_some(Trust::User);
    if expires != known.expires || metadata.is_some() || owner_trust.is_some() {
        let patch = Patch { expires: Some(expires), metadata, owner_trust, ..Patch::default() };
        rewrite(change, &change.known(MemoryRef::ShortId(known.short_id))?, &patch, actor)?;
    } else if draft.reason.is_some() {
        // Nothing changed, but the new source is recorded.
        let memory = Memory { rev: change.next_rev()?, ..known.clone() };
        links::noted(change, &memory, Operation::Update, actor)?;
    }
    let has = row::links_of(change.tx, known.id)?;
    let fresh = draft.links.iter().filter(|link| link.to != known.id && !has.contains(link));
    for link in fresh {
        let memory = Memory { rev: change.next_rev()?, ..known.clone() };
        links::insert(change, &memory, &link.kind, MemoryRef::Id(link.to))?;
        links::noted(change, &memory, Operation::Link, actor)?;
    }
    let Known { memory, costs, .. } = change.known(MemoryRef::ShortId(known.short_id))?;
    let (aside, kept) = (places_of(&memory), kept_as_before(&memory, draft));
    Ok(Stored { memory, tokens: costs.map_or(0, |costs| costs.detail), existed: true, kept, aside })
}

/// The fields of a draft that differ from the existing memory with the same text. The existing memory keeps these
/// fields, and the differences are reported.
fn kept_as_before(memory: &Memory, draft: &Draft) -> Vec<&'static str> {
    let differs = |field: &'static str, differs: bool| differs.then_some(field);
    let lacks = |given: &[String], has: &[String]| given.iter().any(|word| !has.contains(word));
    let fields = [
        differs("category", draft.category.as_ref().is_some_and(|given| *given != memory.category)),
        differs("type", draft.kind.is_some_and(|given| given != memory.kind)),
        differs("importance", draft.importance.is_some_and(|given| given != memory.importance)),
        differs("tags", draft.tags.iter().any(|tag| !memory.tags.contains(tag))),
        differs("keywords", lacks(&draft.keywords, &memory.keywords)),
        differs("entities", lacks(&draft.entities, &memory.entities)),
        differs("metadata", draft.metadata.as_ref().is_some_and(|given| memory.metadata.as_ref() != Some(given))),
        differs("expires_at", draft.expires.is_some_and(|given| memory.expires != Some(given))),
    ];
    fields.into_iter().flatten().collect()
}

/// The user's own memory with the same text and scope; case and white space do not matter. Deleted, expired, superseded
/// and foreign memories and conflict copies are ignored. Captured turns and imports are always stored separately. If a file with a credential is imported
/// again, its earlier memory is found even if it is foreign.
fn same_text(change: &Change<'_>, composed: &Composed) -> Result<Option<Memory>, StoreError> {
    let memory = composed.memory();
    let is_said = matches!(memory.origin, Origin::User | Origin::Agent | Origin::AutoLearn);
    // A file is compared by its stored text. A text with a credential is stored in another form.
    let is_reread = matches!(memory.origin, Origin::File) && !places_of(memory).is_empty();
    if !is_said && !is_reread {
        return Ok(None);
    }
    let sql = sql!(
        "SELECT ",
        MEMORY,
        " FROM memories WHERE signature = ?1 AND (content = ?3 OR NOT ?5) AND scope = ?4 AND deleted IS NULL AND file IS NULL
         AND conflict_of IS NULL AND (expires IS NULL OR expires > ?2)
         AND (trust <> 'foreign' OR (?5 AND origin = 'file' AND shared_by IS NULL AND edited_by IS NULL)) AND ",
        row::HOLDS,
        " ORDER BY trust = 'foreign', content <> ?3, short_id"
    );
    let mut statement = change.tx.prepare_cached(sql)?;
    let signature = composed.signature().cast_signed();
    let wanted = params![signature, change.now, memory.content, memory.scope.as_str(), is_reread];
    let mut rows = statement.query(wanted)?;
    while let Some(found) = rows.next()? {
        let found = row::memory(found)?;
        if is_equal(&found.content, &memory.content) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// True if two texts differ only in case and white space.
fn is_equal(one: &str, other: &str) -> bool {
    one == other || without_case_and_space(one) == without_case_and_space(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Link, LinkKind, MemoryUuid, Scope};
    use crate::store::change::erase::Erase;
    use crate::store::open::in_memory::{InMemory, named};

    #[test]
    fn the_same_text_in_the_same_scope_is_kept_once_and_counted_as_used() {
        let mut store = InMemory::new();
        let first = store.said("Port 8080 is taken by the proxy");
        let again = store.remember(Draft::new("Port 8080 is taken by the proxy")).unwrap();
        assert!(again.existed && again.memory.short_id == first.short_id);
        assert_eq!(again.memory.access_count, 1);
        let scope: Scope = "acme/ledger".parse().unwrap();
        for draft in [
            Draft { scope, ..Draft::new("Port 8080 is taken by the proxy") },
            Draft { origin: Origin::Import, ..Draft::new("Port 8080 is taken by the proxy") },
            Draft::new("Port 8080 is taken by the other proxy"),
        ] {
            assert!(!store.remember(draft).unwrap().existed);
        }
        assert_eq!(store.one::<u32>("SELECT count(*) FROM memories"), 4);
    }

    #[test]
    fn texts_that_differ_in_case_and_white_space_are_the_same_and_a_return_is_affirmed() {
        let mut store = InMemory::new();
        let tabs = store.said("Always indent with tabs");
        let again = store.remember(Draft::new("always  indent with Tabs")).unwrap();
        assert_eq!((again.existed, again.memory.short_id), (true, tabs.short_id));
        assert!(!store.remember(Draft::new("Always indent with tabs!?")).unwrap().existed);
        let spaces = store.said("Always indent with spaces");
        store.link(named(&spaces), &LinkKind::Updates, named(&tabs), &Actor::default()).unwrap();
        let newer = |store: &InMemory| store.one::<Option<u32>>("SELECT newer FROM memories WHERE short_id = 1");
        assert_eq!(newer(&store), Some(spaces.short_id.get()));
        let back = store.remember(Draft::new("Always indent with tabs")).unwrap();
        assert_eq!((back.existed, back.memory.short_id, newer(&store)), (true, tabs.short_id, None));
    }

    #[test]
    fn what_is_said_again_stays_as_long_as_the_longer_lifetime_and_takes_new_links() {
        let mut store = InMemory::new();
        let other = store.said("The proxy is nginx");
        let end = |days| Some(store.now().plus_days(days));
        let (short, long) = (end(1), end(9));
        let draft = |expires| Draft { expires, ..Draft::new("Port 8080 is taken") };
        store.remember(draft(long)).unwrap();
        let link = Link { kind: LinkKind::SeeAlso, to: other.id };
        let again = store.remember(Draft { links: vec![link.clone()], ..draft(short) }).unwrap();
        assert_eq!((again.memory.expires, again.memory.links), (long, vec![link]));
        assert_eq!(store.remember(draft(None)).unwrap().memory.expires, None);
    }

    #[test]
    fn many_are_stored_or_none() {
        let mut store = InMemory::new();
        let unknown = Link { kind: LinkKind::SeeAlso, to: MemoryUuid::from_key("nobody") };
        let drafts = [Draft::new("one"), Draft { links: vec![unknown], ..Draft::new("two") }];
        assert!(matches!(store.remember_all(&drafts), Err(StoreError::NotFound(_))));
        assert_eq!(store.one::<u32>("SELECT count(*) FROM memories"), 0);
        assert_eq!(store.remember_all(&drafts[..1]).unwrap().len(), 1);
        let waiting = "SELECT count(*) FROM outbox";
        assert_eq!(store.one::<u32>(waiting), 0, "there is no server");
        let mut joined = InMemory::joined();
        joined.remember_all(&drafts[..1]).unwrap();
        assert_eq!(joined.one::<u32>(waiting), 1);
    }

    #[test]
    fn a_memory_that_was_replaced_can_be_said_anew() {
        let mut store = InMemory::new();
        let tabs = store.said("Indent with tabs");
        let spaces = store.said("Indent with spaces");
        store.link(named(&spaces), &LinkKind::Supersedes, named(&tabs), &Actor::default()).unwrap();
        assert!(!store.remember(Draft::new("Indent with tabs")).unwrap().existed);
    }

    #[test]
    fn a_memory_whose_successor_was_forgotten_holds_again_and_is_not_stored_twice() {
        let mut store = InMemory::new();
        let (tabs, spaces) = (store.said("Indent with tabs"), store.said("Indent with spaces"));
        store.link(named(&spaces), &LinkKind::Supersedes, named(&tabs), &Actor::default()).unwrap();
        store.forget(&[named(&spaces)], Erase::Soft, &Actor::default()).unwrap();
        let again = store.remember(Draft::new("Indent with tabs")).unwrap();
        assert_eq!((again.existed, again.memory.short_id), (true, tabs.short_id));
    }
}
