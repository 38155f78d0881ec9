//! The blob of a row consists of sections, each with its own version, so that one can be added or rebuilt without the
//! others.
//!
//! The layout of a blob: a format byte, the number of sections, the tag and the version of each section (one byte each,
//! tags ascending), the length of each section (varint), and the sections. Current blobs have the same beginning, so a
//! store can search for blobs that are not current. Unknown sections are skipped, and kept when others are written.

use super::postings;
use crate::text::ANALYZER_VERSION;

/// An unreadable blob: from another version, or damaged. It is rebuilt from the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the stored terms of the memory are damaged, or a different version of Tessera wrote them")]
pub struct BadBlob;

/// The current layout.
const FORMAT: u8 = 2;

/// The section of the terms.
pub(super) const TERMS: u8 = 1;
/// The analyzer version that this program reads.
pub(super) const TERMS_VERSION: u8 = ANALYZER_VERSION.to_le_bytes()[0];

/// One part of a blob.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Section<'a> {
    pub(super) tag: u8,
    pub(super) version: u8,
    pub(super) bytes: &'a [u8],
}

/// Whether a blob is up to date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    /// The blob is current, or contains a current section of terms.
    Current,
    /// An older program wrote it, or it is damaged. Tessera rebuilds the blob from its row and stores it.
    Older,
    /// A newer program wrote it. Tessera rebuilds the blob in memory, and does not change the stored one.
    Newer,
}

impl Freshness {
    /// Checks the beginning of the blob of a live row. A deleted row has no blob.
    pub fn of(blob: &[u8]) -> Self {
        if blob.first().is_some_and(|format| *format > FORMAT) {
            return Self::Newer;
        }
        match section(blob, TERMS) {
            Ok(Some(terms)) if terms.version == TERMS_VERSION => Self::Current,
            Ok(Some(terms)) if terms.version > TERMS_VERSION => Self::Newer,
            Ok(_) | Err(BadBlob) => Self::Older,
        }
    }

    /// True for a blob that can be read directly.
    pub fn is_current(self) -> bool {
        self == Self::Current
    }
}

/// The beginning of current blobs. A blob with another beginning may also be current, with an unknown section;
/// [`Freshness::of`] decides.
pub const CURRENT_HEAD: [u8; 4] = [FORMAT, 1, TERMS, TERMS_VERSION];

/// The sections of a blob.
pub(super) fn sections(blob: &[u8]) -> Result<Vec<Section<'_>>, BadBlob> {
    let mut found = Vec::new();
    visit(blob, |section| found.push(section))?;
    Ok(found)
}

/// One section of a blob, if it exists.
pub(super) fn section(blob: &[u8], tag: u8) -> Result<Option<Section<'_>>, BadBlob> {
    let mut found = None;
    visit(blob, |section| {
        if section.tag == tag {
            found = Some(section);
        }
    })?;
    Ok(found)
}

fn visit<'a>(blob: &'a [u8], mut see: impl FnMut(Section<'a>)) -> Result<(), BadBlob> {
    let (format, rest) = blob.split_first().ok_or(BadBlob)?;
    if *format != FORMAT {
        return Err(BadBlob);
    }
    let (count, rest) = rest.split_first().ok_or(BadBlob)?;
    let (directory, mut lengths) = rest.split_at_checked(2 * usize::from(*count)).ok_or(BadBlob)?;
    let mut bodies = lengths;
    for _ in 0..*count {
        postings::take(&mut bodies).ok_or(BadBlob)?;
    }
    let mut before = None;
    for entry in directory.chunks_exact(2) {
        let &[tag, version] = entry else { return Err(BadBlob) };
        if before.replace(tag).is_some_and(|before| before >= tag) {
            return Err(BadBlob);
        }
        let length = postings::take(&mut lengths).ok_or(BadBlob)? as usize;
        let (bytes, rest) = bodies.split_at_checked(length).ok_or(BadBlob)?;
        bodies = rest;
        see(Section { tag, version, bytes });
    }
    if !bodies.is_empty() {
        return Err(BadBlob);
    }
    Ok(())
}

/// The blob of these sections, whose tags must differ.
pub(super) fn blob_of(mut sections: Vec<Section<'_>>) -> Vec<u8> {
    sections.sort_by_key(|section| section.tag);
    let bytes = sections.iter().map(|section| section.bytes.len()).sum::<usize>();
    let mut out = Vec::with_capacity(bytes + 7 * sections.len() + 2);
    out.extend([FORMAT, u8::try_from(sections.len()).unwrap_or(u8::MAX)]);
    out.extend(sections.iter().flat_map(|section| [section.tag, section.version]));
    for section in &sections {
        postings::put(&mut out, u32::try_from(section.bytes.len()).unwrap_or(u32::MAX));
    }
    sections.iter().for_each(|section| out.extend_from_slice(section.bytes));
    out
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::super::{FieldTf, ForwardDoc};
    use super::*;

    fn listed(parts: &BTreeMap<u8, (u8, Vec<u8>)>) -> Vec<Section<'_>> {
        parts.iter().map(|(tag, (version, bytes))| Section { tag: *tag, version: *version, bytes }).collect()
    }

    fn parts() -> impl Strategy<Value = BTreeMap<u8, (u8, Vec<u8>)>> {
        prop::collection::btree_map(any::<u8>(), (any::<u8>(), prop::collection::vec(any::<u8>(), 0..300)), 0..6)
    }

    proptest! {
        #[test]
        fn sections_round_trip_in_any_order(parts in parts()) {
            let mut turned = listed(&parts);
            turned.reverse();
            let blob = blob_of(turned);
            prop_assert_eq!(sections(&blob).unwrap(), listed(&parts));
        }

        #[test]
        fn a_cut_or_lengthened_blob_is_damaged(parts in parts(), cut: prop::sample::Index, more: u8) {
            let mut blob = blob_of(listed(&parts));
            prop_assert!(sections(&blob[..cut.index(blob.len())]).is_err());
            blob.push(more);
            prop_assert!(sections(&blob).is_err());
        }

        #[test]
        fn any_bytes_are_read_or_refused(mut bytes in prop::collection::vec(any::<u8>(), 0..200), format in 0..4_u8) {
            let _ = (sections(&bytes), Freshness::of(&bytes), ForwardDoc::decode(&bytes));
            bytes.insert(0, format);
            let _ = (sections(&bytes), Freshness::of(&bytes), ForwardDoc::decode(&bytes));
        }

        #[test]
        fn what_is_not_known_is_skipped_and_kept(tag in 2..=255_u8, version: u8, bytes: Vec<u8>) {
            let (mut doc, unknown) = (ForwardDoc::default(), Section { tag, version, bytes: &bytes });
            doc.terms.insert("crane".into(), FieldTf { content: 1, ..FieldTf::default() });
            let plain = doc.encode();
            let mut with = sections(&plain).unwrap();
            with.push(unknown);
            let with = blob_of(with);
            prop_assert_eq!(ForwardDoc::decode(&with).unwrap(), doc.clone());
            prop_assert!(Freshness::of(&with).is_current());
            doc.terms.insert("harbour".into(), FieldTf::default());
            let again = doc.encode_into(&with);
            prop_assert_eq!(ForwardDoc::decode(&again).unwrap(), doc);
            prop_assert_eq!(section(&again, tag).unwrap(), Some(unknown));
        }
    }

    #[test]
    fn current_blobs_begin_as_it_is_said_and_others_are_told_apart() {
        let blob = ForwardDoc::default().encode();
        let begins = |blob: &[u8]| blob.starts_with(&CURRENT_HEAD);
        assert!(begins(&blob) && Freshness::of(&blob).is_current());
        assert_eq!(Freshness::of(&[]), Freshness::Older);
        let with_version = |at: usize, version: u8| {
            let mut blob = blob.clone();
            blob[at] = version;
            assert!(!begins(&blob), "{blob:?}");
            Freshness::of(&blob)
        };
        assert_eq!(with_version(3, TERMS_VERSION - 1), Freshness::Older);
        assert_eq!(with_version(3, TERMS_VERSION + 1), Freshness::Newer);
        assert_eq!(with_version(0, FORMAT + 1), Freshness::Newer);
        assert_eq!(with_version(0, 0), Freshness::Older);
        // Without terms, no query finds it.
        assert_eq!(Freshness::of(&blob_of(vec![Section { tag: 9, version: 1, bytes: b"x" }])), Freshness::Older);
    }
}
