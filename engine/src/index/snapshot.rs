//! The snapshot: an immutable inverted index in one byte sequence that can be memory-mapped.
//!
//! ```text
//! header 128 bytes   magic, format, analyzer version, store, rev, stamp, counts, section lengths, checksums
//! features           28 bytes per row, in order of IDs
//! successors         8 bytes each: row number, ID of the row that replaces or updates it
//! scopes             length-prefixed names; a row has the number of its scope
//! dictionary         an fst map from term to the offset of its postings
//! postings           per term: rows, own rows, then gaps and frequencies
//! passages           see [`PassageTable`]; begins at a multiple of 64
//! ```
//!
//! A snapshot is a cache. It is used only if magic, versions, store identity and both checksums are correct. Otherwise
//! it is rebuilt; it never causes a crash or a wrong answer.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::features::{Features, Flags};
use super::passages::{PassageTable, PassageWriter};
use super::postings::{Posting, PostingsReader, PostingsWriter};
use super::tail::IndexRow;
use crate::embedding::ENCODER_VERSION;
use crate::text::ANALYZER_VERSION;

const MAGIC: &[u8; 8] = b"TESSNAP\x01";
/// The version of the layout, combined with the version of the encoder.
const FORMAT: u32 = 5 | (ENCODER_VERSION as u32) << 16;
/// The length of the header in bytes.
pub const HEADER: usize = 128;
const FEATURES: usize = 28;
/// Where the features of a row contain the time of the last use, and the access count.
const USED: std::ops::Range<usize> = 8..12;
const ACCESS_COUNT: usize = 18;
/// Sections that are read together begin at a multiple of this number of bytes.
const ALIGNED: usize = 64;

/// Identifies the store of a snapshot, and its change counter when the snapshot was built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// The store's UUID.
    pub store: [u8; 16],
    /// The store's change counter when the snapshot was built.
    pub rev: u64,
    /// The identity of the change with this number. If the store was restored from a backup, this value differs.
    pub stamp: [u8; 16],
}

/// The reasons why a snapshot is rebuilt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// There is none yet.
    #[error("there is no snapshot yet")]
    Missing,
    /// The file is not a snapshot, or is truncated or damaged.
    #[error("the snapshot is damaged")]
    Damaged,
    /// A program with another version of the snapshot format or of the analyzer wrote the snapshot.
    #[error("the snapshot has a different format version")]
    OtherVersion,
    /// It belongs to another store.
    #[error("the snapshot belongs to another store")]
    OtherStore,
}

/// A snapshot whose bytes belong to the caller: a memory-mapped file, or a buffer.
#[derive(Debug)]
pub struct Snapshot<B> {
    bytes: B,
    identity: Identity,
    rows: u32,
    total_length: u64,
    scopes: Vec<String>,
    sections: Sections,
}

/// Byte offsets of the sections.
#[derive(Debug, Clone, Copy)]
struct Sections {
    successors: usize,
    scopes: usize,
    dictionary: usize,
    postings: usize,
    passages: usize,
}

impl Identity {
    /// Reads the identity of a snapshot from the first [`HEADER`] bytes of its file.
    ///
    /// # Errors
    /// Returns an error if the bytes are not the header of a valid snapshot of this version.
    pub fn of_header(header: &[u8]) -> Result<Self, SnapshotError> {
        let said = header.get(..120).ok_or(SnapshotError::Damaged)?;
        if header.get(..8) != Some(MAGIC) || u64_at(header, 120)? != xxh3_64(said) {
            return Err(SnapshotError::Damaged);
        }
        if u32_at(header, 8)? != FORMAT || u32_at(header, 12)? != ANALYZER_VERSION {
            return Err(SnapshotError::OtherVersion);
        }
        Ok(Self { store: array_at(header, 16)?, rev: u64_at(header, 32)?, stamp: array_at(header, 40)? })
    }
}

impl<B: AsRef<[u8]>> Snapshot<B> {
    /// Checks the bytes and returns a reader for them. Reads every byte once for the checksum.
    ///
    /// # Errors
    /// Returns an error if the bytes are not a valid snapshot of this version.
    pub fn open(bytes: B) -> Result<Self, SnapshotError> {
        let (header, body) = bytes.as_ref().split_at_checked(HEADER).ok_or(SnapshotError::Damaged)?;
        Identity::of_header(header)?;
        if u64_at(header, 112)? != xxh3_64(body) {
            return Err(SnapshotError::Damaged);
        }
        Self::open_known(bytes)
    }

    /// Returns a reader for bytes that are known to be a complete snapshot. Reads only the beginning of each section.
    ///
    /// # Errors
    /// Returns an error if the bytes are of another version, or the sections do not fit.
    pub fn open_known(bytes: B) -> Result<Self, SnapshotError> {
        let all = bytes.as_ref();
        let header = all.get(..HEADER).ok_or(SnapshotError::Damaged)?;
        let identity = Identity::of_header(header)?;
        if u64_at(header, 104)? != all.len() as u64 {
            return Err(SnapshotError::Damaged);
        }
        let rows = u32_at(header, 56)?;
        let length = |at| u64_at(header, at).and_then(|n| usize::try_from(n).map_err(|_| SnapshotError::Damaged));
        let successors = HEADER + rows as usize * FEATURES;
        let scopes = successors + length(72)?;
        let dictionary = scopes + length(80)?;
        let postings = dictionary + length(88)?;
        let passages = (postings + length(96)?).next_multiple_of(ALIGNED);
        let names = all.get(scopes..dictionary).and_then(read_scopes).ok_or(SnapshotError::Damaged)?;
        let total_length = u64_at(header, 64)?;
        fst::Map::new(all.get(dictionary..postings).unwrap_or_default()).map_err(|_| SnapshotError::Damaged)?;
        PassageTable::of(all.get(passages..).unwrap_or_default(), rows).ok_or(SnapshotError::Damaged)?;
        let sections = Sections { successors, scopes, dictionary, postings, passages };
        Ok(Self { identity, rows, total_length, scopes: names, sections, bytes })
    }

    /// Returns the store of the snapshot, and its change counter when the snapshot was built.
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// The number of rows.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// The sum of the lengths of all rows.
    pub fn total_length(&self) -> u64 {
        self.total_length
    }

    /// Scope names, indexed by [`Snapshot::scope_number`].
    pub fn scopes(&self) -> &[String] {
        &self.scopes
    }

    /// Size in bytes.
    pub fn size(&self) -> usize {
        self.bytes.as_ref().len()
    }

    fn row(&self, doc: u32) -> Option<&[u8; FEATURES]> {
        let at = HEADER + doc as usize * FEATURES;
        if doc >= self.rows {
            return None;
        }
        self.bytes.as_ref().get(at..at + FEATURES)?.try_into().ok()
    }

    /// The features of a row; zeros for a number out of range.
    #[inline]
    pub fn features(&self, doc: u32) -> Features {
        let Some(row) = self.row(doc) else { return Features::default() };
        let [
            h0,
            h1,
            h2,
            h3,
            c0,
            c1,
            c2,
            c3,
            u0,
            u1,
            u2,
            u3,
            e0,
            e1,
            e2,
            e3,
            l0,
            l1,
            access_count,
            importance,
            flags,
            ..,
        ] = *row;
        Features {
            short_id: u32::from_le_bytes([h0, h1, h2, h3]),
            created: u32::from_le_bytes([c0, c1, c2, c3]),
            used: u32::from_le_bytes([u0, u1, u2, u3]),
            expires: u32::from_le_bytes([e0, e1, e2, e3]),
            length: u16::from_le_bytes([l0, l1]),
            access_count,
            importance,
            flags: Flags(flags),
        }
    }

    /// The number of a row's scope.
    pub fn scope_number(&self, doc: u32) -> u16 {
        self.row(doc).map_or(u16::MAX, |row| {
            let [.., s0, s1, _, _] = *row;
            u16::from_le_bytes([s0, s1])
        })
    }

    /// The row with an ID, by binary search.
    pub fn find(&self, short_id: u32) -> Option<u32> {
        let (mut low, mut high) = (0, self.rows);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.features(middle).short_id.cmp(&short_id) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// The ID of the row that replaces a superseded one, or that updates an older one.
    pub fn successor(&self, doc: u32) -> Option<u32> {
        // Pairs of a row and an ID, sorted by row.
        let table = self.bytes.as_ref().get(self.sections.successors..self.sections.scopes)?;
        let (mut low, mut high) = (0, table.len() / 8);
        while low < high {
            let middle = low + (high - low) / 2;
            match u32_at(table, middle * 8).ok()?.cmp(&doc) {
                std::cmp::Ordering::Equal => return u32_at(table, middle * 8 + 4).ok(),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// The dictionary, for lookups and for spelling correction.
    pub(super) fn dictionary(&self) -> Option<fst::Map<&[u8]>> {
        fst::Map::new(self.bytes.as_ref().get(self.sections.dictionary..self.sections.postings)?).ok()
    }

    /// The embeddings of the passages of all rows.
    pub(super) fn passages(&self) -> PassageTable<'_> {
        let section = self.bytes.as_ref().get(self.sections.passages..).unwrap_or_default();
        PassageTable::of(section, self.rows).unwrap_or_default()
    }

    /// The rows that contain a term.
    pub(super) fn postings(&self, term: &[u8]) -> Option<PostingsReader<'_>> {
        let offset = usize::try_from(self.dictionary()?.get(term)?).ok()?;
        PostingsReader::new(self.bytes.as_ref().get(self.sections.postings + offset..)?)
    }
}

impl Snapshot<Vec<u8>> {
    /// Builds the bytes of a snapshot without deleted rows.
    pub fn build(identity: Identity, rows: &[IndexRow]) -> Vec<u8> {
        let mut live: Vec<&IndexRow> = rows.iter().filter(|row| row.is_live()).collect();
        live.sort_by_key(|row| row.features.short_id);
        let mut builder = Builder::default();
        live.iter().for_each(|row| builder.add(row));
        builder.finish(identity)
    }
}

/// The terms under construction. The hash is computed in one step, because terms are short and there are very many.
type Terms = HashMap<Box<[u8]>, PostingsWriter, BuildHasherDefault<TermHasher>>;

#[derive(Default)]
struct TermHasher(u64);

impl Hasher for TermHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64_with_seed(bytes, self.0);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[derive(Default)]
struct Builder {
    rows: u32,
    total_length: u64,
    features: Vec<u8>,
    successors: Vec<u8>,
    scopes: Vec<String>,
    scope_numbers: HashMap<String, u16>,
    terms: Terms,
    passages: PassageWriter,
}

impl Builder {
    fn add(&mut self, row: &IndexRow) {
        let doc = self.rows;
        let terms = &mut self.terms;
        row.scan(|term, tf| {
            if let Some(list) = terms.get_mut(term) {
                return list.push(Posting { doc, tf });
            }
            let mut list = PostingsWriter::default();
            list.push(Posting { doc, tf });
            terms.insert(term.into(), list);
        });
        let features = row.features;
        for number in [features.short_id, features.created, features.used, features.expires] {
            self.features.extend(number.to_le_bytes());
        }
        self.features.extend(features.length.to_le_bytes());
        self.features.extend([features.access_count, features.importance, features.flags.0, 0, 0, 0]);
        let scope = self.scope_number(&row.scope);
        self.features.extend(scope.to_le_bytes());
        self.features.extend([0, 0]);
        if let Some(successor) = row.successor {
            self.successors.extend(doc.to_le_bytes());
            self.successors.extend(successor.to_le_bytes());
        }
        self.passages.add(&row.embedding);
        self.total_length += u64::from(features.length);
        self.rows += 1;
    }

    fn scope_number(&mut self, scope: &str) -> u16 {
        if let Some(number) = self.scope_numbers.get(scope) {
            return *number;
        }
        let number = u16::try_from(self.scopes.len()).unwrap_or(u16::MAX);
        if number < u16::MAX {
            self.scopes.push(scope.to_owned());
            self.scope_numbers.insert(scope.to_owned(), number);
        }
        number
    }

    fn finish(self, identity: Identity) -> Vec<u8> {
        let (dictionary, postings) = write_terms(self.terms);
        let scopes = write_scopes(&self.scopes);
        let mut body = self.features;
        for section in [&self.successors, &scopes, &dictionary, &postings] {
            body.extend_from_slice(section);
        }
        body.resize((HEADER + body.len()).next_multiple_of(ALIGNED) - HEADER, 0);
        self.passages.finish(&mut body);
        let mut header = Vec::with_capacity(HEADER + body.len());
        header.extend_from_slice(MAGIC);
        header.extend(FORMAT.to_le_bytes());
        header.extend(ANALYZER_VERSION.to_le_bytes());
        header.extend(identity.store);
        header.extend(identity.rev.to_le_bytes());
        header.extend(identity.stamp);
        header.extend(self.rows.to_le_bytes());
        header.extend([0; 4]);
        header.extend(self.total_length.to_le_bytes());
        for length in [self.successors.len(), scopes.len(), dictionary.len(), postings.len()] {
            header.extend((length as u64).to_le_bytes());
        }
        header.extend((HEADER as u64 + body.len() as u64).to_le_bytes());
        header.extend(xxh3_64(&body).to_le_bytes());
        header.extend(xxh3_64(&header).to_le_bytes());
        header.extend_from_slice(&body);
        header
    }
}

impl Snapshot<Vec<u8>> {
    /// Sets when a row was last used, in minutes since 1970, and how often. A row out of range is ignored.
    pub fn set_use(&mut self, doc: u32, used: u32, access_count: u8) {
        let at = HEADER + doc as usize * FEATURES;
        if doc < self.rows
            && let Some(row) = self.bytes.get_mut(at..at + FEATURES)
            && let Some(place) = row.get_mut(USED)
        {
            place.copy_from_slice(&used.to_le_bytes());
            if let Some(place) = row.get_mut(ACCESS_COUNT) {
                *place = access_count;
            }
        }
    }

    /// The bytes for [`Snapshot::open`], with all updated access times and counts.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        if let Some((header, body)) = bytes.split_at_mut_checked(HEADER) {
            let of_body = xxh3_64(body).to_le_bytes();
            if let Some(place) = header.get_mut(112..120) {
                place.copy_from_slice(&of_body);
            }
            let of_header = xxh3_64(header.get(..120).unwrap_or_default()).to_le_bytes();
            if let Some(place) = header.get_mut(120..128) {
                place.copy_from_slice(&of_header);
            }
        }
        bytes
    }
}

fn write_terms(terms: Terms) -> (Vec<u8>, Vec<u8>) {
    let mut sorted: Vec<_> = terms.into_iter().collect();
    sorted.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    let mut dictionary = fst::MapBuilder::memory();
    let mut postings = Vec::new();
    for (term, list) in sorted {
        dictionary.insert(term, postings.len() as u64).expect("terms are sorted and unique");
        list.finish(&mut postings);
    }
    (dictionary.into_inner().expect("writing to memory does not fail"), postings)
}

fn write_scopes(scopes: &[String]) -> Vec<u8> {
    let mut out = Vec::new();
    for scope in scopes {
        super::postings::put(&mut out, u32::try_from(scope.len()).unwrap_or(0));
        out.extend_from_slice(scope.as_bytes());
    }
    out
}

fn read_scopes(mut bytes: &[u8]) -> Option<Vec<String>> {
    let mut scopes = Vec::new();
    while !bytes.is_empty() {
        let length = super::postings::take(&mut bytes)? as usize;
        let (name, rest) = bytes.split_at_checked(length)?;
        scopes.push(String::from_utf8(name.to_vec()).ok()?);
        bytes = rest;
    }
    Some(scopes)
}

fn array_at<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], SnapshotError> {
    bytes.get(at..at + N).and_then(|slice| slice.try_into().ok()).ok_or(SnapshotError::Damaged)
}

fn u32_at(bytes: &[u8], at: usize) -> Result<u32, SnapshotError> {
    array_at(bytes, at).map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> Result<u64, SnapshotError> {
    array_at(bytes, at).map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_use_that_is_noted_is_read_and_the_bytes_are_sound_again() {
        let row = |short_id| IndexRow {
            features: Features { short_id, used: 5, ..Features::default() },
            blob: vec![0],
            ..IndexRow::default()
        };
        let identity = Identity { store: [0; 16], rev: 1, stamp: [0; 16] };
        let rows: Vec<IndexRow> = [3, 7, 9].map(row).into();
        let mut snapshot = Snapshot::open(Snapshot::build(identity, &rows)).unwrap();
        snapshot.set_use(1, 70_000, 12);
        snapshot.set_use(3, 1, 1);
        let noted = Features { used: 70_000, access_count: 12, ..rows[1].features };
        let again = Snapshot::open(snapshot.to_bytes()).unwrap();
        for snapshot in [&snapshot, &again] {
            assert_eq!([0, 1, 2].map(|doc| snapshot.features(doc)), [rows[0].features, noted, rows[2].features]);
        }
        assert!(Snapshot::open(snapshot.bytes).is_err(), "changed behind its checksum");
    }
}
