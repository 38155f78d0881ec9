//! The filters of a request that labels answer: category, type, tags, entities, scope, sharer.

use crate::domain::RecallRequest;
use crate::index::{DocId, IndexView, Label, Posting, TermPostings};

/// Rows that pass the filters on labels.
pub(super) struct Allowed {
    snapshot: Vec<u32>,
    tail: Vec<u32>,
}

impl Allowed {
    /// `None` when there is no such filter.
    pub(super) fn of<B: AsRef<[u8]>>(view: &IndexView<'_, B>, request: &RecallRequest) -> Option<Self> {
        let filters = &request.filters;
        let kinds: [Vec<String>; 6] = [
            filters.categories.iter().map(|category| Label::Category(category).term()).collect(),
            filters.types.iter().map(|kind| Label::Type(*kind).term()).collect(),
            filters.tags.iter().map(|tag| Label::Tag(tag).term()).collect(),
            filters.entities.iter().map(|name| Label::Entity(name).term()).collect(),
            filters.scopes.iter().map(|scope| Label::Scope(scope).term()).collect(),
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

    pub(super) fn has(&self, doc: DocId) -> bool {
        match doc {
            DocId::Snapshot(doc) => self.snapshot.binary_search(&doc).is_ok(),
            DocId::Tail(doc) => self.tail.binary_search(&doc).is_ok(),
        }
    }
}
