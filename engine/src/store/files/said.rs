//! Masks the credentials in the text of a file, and selects the part that its memory stores.

use std::borrow::Cow;
use std::convert::Infallible;
use std::ops::Range;
use std::sync::Arc;

use tessera_markdown::Note;

use super::exported;
use crate::compose::{self, Filed, Told};
use crate::domain::{Draft, FilePath, MAX_CONTENT_BYTES, MemoryUuid, Metadata, content_of_file};
use crate::screen::{Finding, Found, Keeper, Looked, Place, Screened, Secret, Texts, places, screened_beside};

/// The maximum number of bytes of a file that its memory stores.
const MOST_OF_FILE: usize = MAX_CONTENT_BYTES - 8;
/// The search for the longest beginning that fits is precise to this number of bytes.
const NEARLY: usize = 256;
/// The marker at the end of an incomplete text, so that it is never mistaken for the whole file.
const CUT: &str = "\n[the rest of the file is not stored]";
/// The replacement of each byte of a credential.
const COVER: char = 'x';

/// Stores no secrets. Used for files that people write by hand, because their credentials stay in the file.
struct Nobody;

impl Keeper for Nobody {
    type Error = Infallible;

    fn keep(&mut self, _: MemoryUuid, _: &str, _: &str) -> Result<Option<Secret>, Infallible> {
        Ok(None)
    }
}

/// True if the content of a memory is the complete text of its file: it was not cut, and no credential was discarded.
pub fn says_all_of_file(content: &str) -> bool {
    // Older incomplete texts have no mark, but the maximum length.
    let is_cut = content.ends_with(CUT) || content.len() + char::MAX.len_utf8() > MOST_OF_FILE;
    !is_cut && places(content).iter().all(|(_, place)| place.name.is_some())
}

/// A text whose credentials are masked, so that all positions stay the same. The whole text is searched, because a part
/// alone does not always show that it contains a credential.
pub(super) struct Said<'a> {
    text: Cow<'a, str>,
    found: Found,
    looked: Looked<'a>,
}

impl<'a> Said<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let (looked, found) = match exported::without_values(text) {
            Some(searched) => {
                let (looked, found) = Looked::through(&searched);
                (looked.of_parts(), found)
            }
            None => Looked::through(text),
        };
        if found.known.is_empty() {
            return Self { text: Cow::Borrowed(text), found, looked };
        }
        let (mut said, mut at) = (String::with_capacity(text.len()), 0);
        for finding in &found.known {
            said.push_str(text.get(at..finding.span.start).unwrap_or_default());
            let value = text.get(finding.span.clone()).unwrap_or_default();
            // Line breaks stay.
            said.extend(value.bytes().map(|byte| if byte == b'\n' { '\n' } else { COVER }));
            at = finding.span.end;
        }
        said.push_str(text.get(at..).unwrap_or_default());
        Self { text: Cow::Owned(said), found, looked }
    }

    /// The masked text.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// A part of the text in which a word replaces each masked credential.
    pub(super) fn shown(&self, piece: Range<usize>) -> String {
        self.shown_without(&self.found.known, piece)
    }

    fn shown_without(&self, covered: &[Finding], piece: Range<usize>) -> String {
        let (mut shown, mut at) = (String::new(), piece.start);
        let begin = covered.partition_point(|finding| finding.span.end <= piece.start);
        for Finding { span, kind } in covered.iter().skip(begin).take_while(|finding| finding.span.start < piece.end) {
            shown.push_str(self.text.get(at..span.start.max(at)).unwrap_or_default());
            shown.push_str(&Place { name: None, kind: kind.as_str().to_owned() }.to_string());
            at = span.end.min(piece.end);
        }
        shown.push_str(self.text.get(at..piece.end).unwrap_or_default());
        shown
    }

    pub(super) fn without_credentials(&self, draft: Draft) -> Screened<Draft> {
        let Ok(screened) = screened_beside(draft, MemoryUuid::from_key(""), &mut Nobody, &self.looked);
        screened
    }

    /// The memory of the file. If the text is too long, its longest beginning that fits is used. The names of secrets
    /// can make a text longer.
    pub(super) fn whole_draft(&self, filed: &Filed, id: MemoryUuid, note: &Note) -> Screened<Draft> {
        let of_beginning = |most: usize| {
            let end = self.text.floor_char_boundary(most);
            let mut beginning = self.shown_without(&self.found.repeated, 0..end);
            if end < self.text.len() {
                beginning.push_str(CUT);
            }
            let content = content_of_file(&beginning);
            self.without_credentials(compose::file_draft(filed, id, note, content))
        };
        let fits = |draft: &Screened<Draft>| draft.content.len() <= MAX_CONTENT_BYTES;
        let is_short = self.text.len() <= MOST_OF_FILE;
        let (mut least, mut most) = (0, if is_short { self.text.len() } else { MOST_OF_FILE - CUT.len() });
        let all = of_beginning(most);
        if fits(&all) {
            return all;
        }
        let mut longest = of_beginning(least);
        while most - least > NEARLY {
            let middle = least.midpoint(most);
            let tried = of_beginning(middle);
            if fits(&tried) { (least, longest) = (middle, tried) } else { most = middle }
        }
        longest
    }

    /// Parses the file, and masks credentials that become visible only then. Also returns the data about the memory from
    /// which the note was written. The caller must screen it with [`Said::without_credentials`].
    pub(super) fn read(&self, path: &FilePath) -> (Note, Option<Told>) {
        let mut note = compose::read_note(path, &self.text);
        let told = Told::of(&note);
        if told.is_some() {
            note.fields.retain(|key, _| !exported::FIELDS.contains(&key.as_str()));
        }
        (self.note(note), told)
    }

    /// Masks credentials in a parsed note that become visible only after escapes, marks and entities are decoded.
    fn note(&self, mut note: Note) -> Note {
        let out = |text: &str| self.looked.taken_out_of(text);
        let is_clean = |text: &String| out(text).is_none();
        note.title = out(&note.title).unwrap_or(note.title);
        note.kind = out(&note.kind).unwrap_or(note.kind);
        note.permalink = note.permalink.filter(is_clean);
        note.aliases.retain(is_clean);
        note.tags.retain(is_clean);
        let mut fields = Metadata::unbounded(note.fields.into_iter().collect());
        Texts::change_texts(&mut fields, &mut |_, text| out(text));
        note.fields = fields.into_fields().into_iter().collect();
        for part in &mut note.parts {
            part.tags.retain(is_clean);
            part.category = part.category.take().filter(is_clean);
            part.context = part.context.take().filter(is_clean);
            if !part.headings.iter().all(is_clean) {
                part.headings = part.headings.iter().filter(|heading| is_clean(heading)).cloned().collect::<Arc<_>>();
            }
        }
        for relation in &mut note.relations {
            let target = &mut relation.target;
            let names = [&mut relation.kind, &mut target.name].into_iter().chain(&mut target.project);
            names.chain(&mut relation.context).for_each(|name| *name = out(name).unwrap_or(std::mem::take(name)));
        }
        note
    }
}
