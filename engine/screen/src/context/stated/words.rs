//! Words of twenty-five languages: nouns for what is secret, what binds a value to them, and what no value begins with.

use tessera_tables::{count_fields, count_sections, field, optional_field, section, words};

use crate::LISTS;

/// What a noun asks of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    /// A word, or a few.
    Password,
    /// A sentence.
    Phrase,
    /// Like a password, where a sign binds it: the noun itself names a network.
    Wifi,
    /// Digits.
    Pin,
    /// Digits behind a sign or between hyphens: the noun itself names a lock.
    Lock,
    /// Digits somewhere in the sentence: the noun is a verb that opens.
    Opens,
    /// Several parts in a row or below.
    Codes,
    /// Twelve words or more.
    Seed,
    /// A part with a digit among letters.
    Key,
    /// A password, where the text names a network before it: `network Attic, key wet cat`.
    NetworkKey,
    /// What a setting holds, whatever it spells: `JWT_SECRET=…`.
    Setting,
}

/// The sorts by the names of their fields in `languages.txt`.
pub(super) const SORTS: [(&str, Sort); 11] = [
    ("Password", Sort::Password),
    ("Phrase", Sort::Phrase),
    ("Wifi", Sort::Wifi),
    ("Pin", Sort::Pin),
    ("Lock", Sort::Lock),
    ("Opens", Sort::Opens),
    ("Codes", Sort::Codes),
    ("Seed", Sort::Seed),
    ("Key", Sort::Key),
    ("NetworkKey", Sort::NetworkKey),
    ("Setting", Sort::Setting),
];

/// A language: what binds a value to a noun, and what no value begins with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Language {
    /// Its section of `languages.txt`.
    pub(super) table: &'static str,
    pub(super) binders: &'static str,
    /// True where a value may follow its noun with nothing between.
    pub(super) is_bare: bool,
    /// Words that no value begins with, and that end a value of several words.
    pub(super) others: &'static str,
}

const NAMES: [&str; 25] = [
    "English",
    "German",
    "French",
    "Spanish",
    "Portuguese",
    "Italian",
    "Dutch",
    "Polish",
    "Czech",
    "Swedish",
    "Danish",
    "Finnish",
    "Hungarian",
    "Romanian",
    "Greek",
    "Turkish",
    "Russian",
    "Ukrainian",
    "Arabic",
    "Hebrew",
    "Hindi",
    "Vietnamese",
    "Chinese",
    "Japanese",
    "Korean",
];

/// All languages, English first: its binders hold everywhere.
pub(super) const LANGUAGES: [Language; NAMES.len()] = languages();

#[expect(clippy::indexing_slicing, reason = "evaluated while compiling: a wrong index is a compile error")]
const fn languages() -> [Language; NAMES.len()] {
    const TABLE: &str = include_str!("languages.txt");
    assert!(count_sections(TABLE) == NAMES.len(), "NAMES lists the languages of languages.txt");
    let mut all = [Language { table: "", binders: "", is_bare: false, others: "" }; NAMES.len()];
    let mut at = 0;
    while at < NAMES.len() {
        let table = section(TABLE, NAMES[at]);
        let is_bare = optional_field(table, "bare").is_some();
        let known = 2 + is_bare as usize + sorts_of(table);
        assert!(count_fields(table) == known, "a field of a language is `binders`, `others`, `bare` or a sort of noun");
        all[at] = Language { table, binders: field(table, "binders"), is_bare, others: field(table, "others") };
        at += 1;
    }
    all
}

/// The number of sorts of which a language has nouns.
#[expect(clippy::indexing_slicing, reason = "evaluated while compiling: a wrong index is a compile error")]
const fn sorts_of(table: &'static str) -> usize {
    let (mut count, mut at) = (0, 0);
    while at < SORTS.len() {
        count += optional_field(table, SORTS[at].0).is_some() as usize;
        at += 1;
    }
    count
}

/// Copulas and polite endings behind a value, which are no part of it.
pub(super) const ENDINGS: &[&str] = words!(field(section(LISTS, "endings"), "values"));

/// Words behind a noun that make it a part of something else: `password policy`, `password manager`.
pub(super) const PARTS: &str = "policy policies rule rules reset resets manager managers field fields hint prompt prompts page pages form \
    forms login length strength hash hashes hashing column protection protected protect generator rotation expiry change \
    changes screen dialog file files store storage vault reuse requirements requirement validation check checks checker \
    input box entry mail email flow feature authentication auth based less-secure helper service provider module class \
    function variable argument parameter header headers support settings setting table row rows count counter limit board \
    link links button buttons and or rate rates through by";

/// What a question begins with, where no sign ends it.
pub(super) const QUESTIONS: &str = "what what's whats which whose anyone was wie welches quel quelle qué cuál qual hvad vad mikä mi care ce ποιος \
    ne какой який ما מה क्या gì 什么 多少 何 뭐 뭐였지 jakie jaké jaký hol t'as";
