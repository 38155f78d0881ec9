//! The forward blob: the terms of one row with their frequencies per field. The stored terms are a section of the row's
//! blob (see [`super::sections`]), and are written in the same transaction as the row.
//!
//! Layout of the section: length (varint), number of terms (varint), then the terms in byte order. Each term has:
//! number of bytes shared with the previous term (u8), number of further bytes (u8), those bytes, and the frequencies
//! (see [`FieldTf`]). Terms are stored as text instead of hashes, so that no two terms can be confused and spelling
//! correction can compare them.

use std::collections::BTreeMap;

use super::label::Label;
use super::postings::{self, FieldTf};
use super::sections::{BadBlob, Section, TERMS, TERMS_VERSION, blob_of, section, sections};
use crate::domain::Memory;
use crate::text::{TokenKind, tokenize};

/// The sorted terms of one row, and the length of its text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ForwardDoc {
    /// Words of the text without function words, at most 65 535.
    pub length: u16,
    /// Terms in byte order with their frequencies. Labels have no frequencies.
    pub terms: BTreeMap<String, FieldTf>,
}

impl ForwardDoc {
    /// Analyses a memory. The context field stays empty, because it depends on the neighbouring memories.
    pub fn analyze(memory: &Memory) -> Self {
        let mut doc = Self::default();
        let mut length = 0_u32;
        for token in tokenize(&memory.content) {
            length += u32::from(matches!(token.kind, TokenKind::Word | TokenKind::Pair));
            doc.count(token.term, |tf| &mut tf.content);
        }
        doc.length = u16::try_from(length).unwrap_or(u16::MAX);
        let tags = memory.tags.iter().map(|tag| tag.as_str().to_owned());
        doc.count_all(memory.keywords.iter().cloned(), |tf| &mut tf.keywords);
        doc.count_all(tags.chain(memory.entities.iter().cloned()), |tf| &mut tf.tags);
        doc.count_all([memory.category.as_str().to_owned()].into_iter(), |tf| &mut tf.category);
        doc.label(memory);
        doc
    }

    fn count_all(&mut self, texts: impl Iterator<Item = String>, field: impl Fn(&mut FieldTf) -> &mut u8) {
        for token in texts.flat_map(|text| tokenize(&text)) {
            self.count(token.term, &field);
        }
    }

    fn count(&mut self, term: String, field: impl Fn(&mut FieldTf) -> &mut u8) {
        let tf = field(self.terms.entry(term).or_default());
        *tf = (*tf + 1).min(127);
    }

    fn label(&mut self, memory: &Memory) {
        let mut labels = vec![
            Label::Category(&memory.category).term(),
            Label::Type(memory.kind).term(),
            Label::Scope(&memory.scope).term(),
        ];
        labels.extend(memory.tags.iter().map(|tag| Label::Tag(tag).term()));
        labels.extend(memory.entities.iter().map(|name| Label::Entity(name).term()));
        if let Some(share) = &memory.share {
            labels.push(Label::SharedBy(&share.by).term());
        }
        for label in labels {
            self.terms.entry(label).or_default();
        }
    }

    /// The blob with only the terms.
    pub fn encode(&self) -> Vec<u8> {
        self.encode_into(&[])
    }

    /// The blob. The other sections are copied from the replaced blob, which must belong to the same text.
    pub fn encode_into(&self, replaced: &[u8]) -> Vec<u8> {
        let terms = self.encode_terms();
        let mut all = sections(replaced).unwrap_or_default();
        all.retain(|section| section.tag != TERMS);
        all.push(Section { tag: TERMS, version: TERMS_VERSION, bytes: &terms });
        blob_of(all)
    }

    fn encode_terms(&self) -> Vec<u8> {
        let mut out = Vec::new();
        postings::put(&mut out, u32::from(self.length));
        let terms = || self.terms.iter().filter(|(term, _)| term.len() <= 255);
        postings::put(&mut out, u32::try_from(terms().count()).unwrap_or(u32::MAX));
        let mut before: &[u8] = &[];
        for (term, tf) in terms() {
            let term = term.as_bytes();
            let shared = before.iter().zip(term).take_while(|(a, b)| a == b).count();
            let further = term.get(shared..).unwrap_or_default();
            out.push(u8::try_from(shared).unwrap_or(u8::MAX));
            out.push(u8::try_from(further.len()).unwrap_or(u8::MAX));
            out.extend_from_slice(further);
            tf.put(&mut out);
            before = term;
        }
        out
    }

    /// Decodes a blob.
    ///
    /// # Errors
    /// Returns [`BadBlob`] if the blob is damaged or was written by another analyzer.
    pub fn decode(blob: &[u8]) -> Result<Self, BadBlob> {
        let mut doc = Self::default();
        let mut is_text = true;
        doc.length = scan(blob, |term, tf| match std::str::from_utf8(term) {
            Ok(term) => drop(doc.terms.insert(term.to_owned(), tf)),
            Err(_) => is_text = false,
        })?;
        if is_text { Ok(doc) } else { Err(BadBlob) }
    }
}

/// Visits the terms of a blob in order without building a document. Returns its length.
pub(super) fn scan(blob: &[u8], mut visit: impl FnMut(&[u8], FieldTf)) -> Result<u16, BadBlob> {
    let terms = section(blob, TERMS)?.filter(|terms| terms.version == TERMS_VERSION).ok_or(BadBlob)?;
    let mut bytes = terms.bytes;
    let length = postings::take(&mut bytes).and_then(|length| u16::try_from(length).ok()).ok_or(BadBlob)?;
    let count = postings::take(&mut bytes).ok_or(BadBlob)?;
    let mut term = Vec::with_capacity(64);
    for _ in 0..count {
        let shared = postings::take_byte(&mut bytes).ok_or(BadBlob)?;
        let further = usize::from(postings::take_byte(&mut bytes).ok_or(BadBlob)?);
        let (suffix, rest) = bytes.split_at_checked(further).ok_or(BadBlob)?;
        if usize::from(shared) > term.len() {
            return Err(BadBlob);
        }
        term.truncate(usize::from(shared));
        term.extend_from_slice(suffix);
        bytes = rest;
        visit(&term, FieldTf::take(&mut bytes).ok_or(BadBlob)?);
    }
    if bytes.is_empty() { Ok(length) } else { Err(BadBlob) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tf() -> impl Strategy<Value = FieldTf> {
        (0..=127_u8, 0..3_u8, 0..3_u8, 0..2_u8, any::<u8>()).prop_map(|(content, keywords, tags, category, context)| {
            FieldTf { content, keywords, tags, category, context }
        })
    }

    proptest! {
        #[test]
        fn blobs_round_trip(length: u16, terms in prop::collection::btree_map("\\PC{1,12}", tf(), 0..40)) {
            let doc = ForwardDoc { length, terms };
            prop_assert_eq!(ForwardDoc::decode(&doc.encode()), Ok(doc));
        }

        #[test]
        fn any_terms_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = ForwardDoc::decode(&blob_of(vec![Section { tag: TERMS, version: TERMS_VERSION, bytes: &bytes }]));
        }
    }
}
