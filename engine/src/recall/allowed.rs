//! The filters on labels: category, type, tags, entities, scope, and the user who shared the memory.

use crate::domain::RecallRequest;
use crate::index::{DocId, IndexView, Label, Posting, TermPostings};

/// The filters on labels. Most are lists of rows. A scope contains most rows, so each row is tested instead.
pub(super) struct Allowed<'a> {
    rows: Option<Rows>,
    in_scope: Option<Box<dyn Fn(DocId) -> bool + 'a>>,
}

impl<'a> Allowed<'a> {
    /// Looks up the labels in the filters of a request.
    pub(super) fn of<B: AsRef<[u8]>>(view: &'a IndexView<'_, B>, request: &'a RecallRequest) -> Self {
        let scopes = &request.filters.scopes;
        let wanted = move |name: &str| scopes.iter().any(|scope| scope.as_str() == name);
        let is_tested = !scopes.is_empty() && view.knows_every_scope();
        let in_scope = is_tested.then(|| Box::new(view.scope_test(wanted)) as Box<dyn Fn(DocId) -> bool>);
        Self { rows: Rows::of(view, request), in_scope }
    }

    pub(super) fn has(&self, doc: DocId) -> bool {
        self.in_scope.as_ref().is_none_or(|in_scope| in_scope(doc))
            && self.rows.as_ref().is_none_or(|rows| rows.has(doc))
    }
}

/// Rows that pass the filters on labels other than scopes.
struct Rows {
    snapshot: Vec<u32>,
    tail: Vec<u32>,
}

impl Rows {
    /// Returns `None` if the request has no such filter.
    fn of<B: AsRef<[u8]>>(view: &IndexView<'_, B>, request: &RecallRequest) -> Option<Self> {
        let filters = &request.filters;
        let scopes = if view.knows_every_scope() { &[][..] } else { &filters.scopes[..] };
        let kinds: [Vec<String>; 6] = [
            filters.categories.iter().map(|category| Label::Category(category).term()).collect(),
            filters.types.iter().map(|kind| Label::Type(*kind).term()).collect(),
            filters.tags.iter().map(|tag| Label::Tag(tag).term()).collect(),
            filters.entities.iter().map(|name| Label::Entity(name).term()).collect(),
            scopes.iter().map(|scope| Label::Scope(scope).term()).collect(),
            filters.shared_by.iter().map(|user| Label::SharedBy(user).term()).collect(),
        ];
        let wanted = kinds.into_iter().filter(|labels| !labels.is_empty());
        wanted.map(|labels| Self::any_of(view, labels)).reduce(Self::and)
    }

    fn any_of<B: AsRef<[u8]>>(view: &IndexView<'_, B>, mut labels: Vec<String>) -> Self {
        labels.sort();
        labels.dedup();
        let terms: Vec<&[u8]> = labels.iter().map(String::as_bytes).collect();
        let lists = view.postings(&terms);
        let docs = |side: fn(&TermPostings) -> &[Posting]| {
            let mut docs: Vec<u32> = lists.iter().flat_map(|list| side(list).iter().map(|p| p.doc)).collect();
            docs.sort_unstable();
            docs.dedup();
            docs
        };
        Self { snapshot: docs(|list| &list.snapshot), tail: docs(|list| &list.tail) }
    }

    fn and(mut self, other: Self) -> Self {
        self.snapshot.retain(|doc| other.snapshot.binary_search(doc).is_ok());
        self.tail.retain(|doc| other.tail.binary_search(doc).is_ok());
        self
    }

    fn has(&self, doc: DocId) -> bool {
        match doc {
            DocId::Snapshot(doc) => self.snapshot.binary_search(&doc).is_ok(),
            DocId::Tail(doc) => self.tail.binary_search(&doc).is_ok(),
        }
    }
}
