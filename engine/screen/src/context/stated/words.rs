//! Word lists of twenty-five languages: nouns for secrets, words that assign a value, and words that cannot begin a
//! value.

use tessera_tables::{count_fields, count_sections, field, names, nth_section, optional_field, section, words};

use crate::LISTS;

names! {
/// The kind of value of a noun. Each variant has the name of its field in `languages.txt`.
pub(super) enum Sort {
    /// A word, or a few.
    Password,
    /// A sentence.
    Phrase,
    /// The noun means a network. Such a noun means a password only if a symbol assigns the value.
    Wifi,
    /// Digits.
    Pin,
    /// The noun means a lock. Digits after such a noun are a code only if a symbol assigns them to the noun, or if
    /// hyphens separate them.
    Lock,
    /// The noun is missing, but the sentence contains a verb such as "opens". Then digits anywhere in the sentence are
    /// the value.
    Opens,
    /// Several recovery codes, in the same line or in the next one.
    Codes,
    /// Twelve words or more.
    Seed,
    /// A text with a digit among letters.
    Key,
    /// A password, if a network is named before it: `network Attic, key wet cat`.
    NetworkKey,
    /// The value of a setting: `JWT_SECRET=…`.
    Setting,
}
}

/// A language: the words that assign a value, and the words that cannot begin a value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Language {
    /// Its section of `languages.txt`.
    pub(super) table: &'static str,
    pub(super) binders: &'static str,
    /// True if a value may follow its noun directly.
    pub(super) is_bare: bool,
    /// Words that cannot begin a value, and that end a value of several words.
    pub(super) others: &'static str,
}

const TABLE: &str = include_str!("languages.txt");

/// All languages. English is first, and its assignment words are valid in every language.
pub(super) const LANGUAGES: [Language; count_sections(TABLE)] = languages();

#[expect(clippy::indexing_slicing, reason = "evaluated at compile time: a wrong index is a compile error")]
const fn languages() -> [Language; count_sections(TABLE)] {
    let mut all = [Language { table: "", binders: "", is_bare: false, others: "" }; count_sections(TABLE)];
    let mut at = 0;
    while at < all.len() {
        let table = nth_section(TABLE, at);
        let is_bare = optional_field(table, "bare").is_some();
        let known = 2 + is_bare as usize + sorts_of(table);
        assert!(
            count_fields(table) == known,
            "the section of a language contains a field that is not `binders`, `others`, `bare` or a kind of noun"
        );
        all[at] = Language { table, binders: field(table, "binders"), is_bare, others: field(table, "others") };
        at += 1;
    }
    all
}

/// The number of kinds of secrets for which a language has nouns.
#[expect(clippy::indexing_slicing, reason = "evaluated at compile time: a wrong index is a compile error")]
const fn sorts_of(table: &'static str) -> usize {
    let (mut count, mut at) = (0, 0);
    while at < Sort::ALL.len() {
        count += optional_field(table, Sort::ALL[at].as_str()).is_some() as usize;
        at += 1;
    }
    count
}

/// Copulas and polite endings after a value, which do not belong to it.
pub(super) const ENDINGS: &[&str] = words!(field(section(LISTS, "endings"), "values"));

/// Words after a noun that make it a part of something else: `password policy`, `password manager`.
pub(super) const PARTS: &str = "policy policies rule rules reset resets manager managers field fields hint prompt prompts page pages form \
    forms login length strength hash hashes hashing column protection protected protect generator rotation expiry change \
    changes screen dialog file files store storage vault reuse requirements requirement validation check checks checker \
    input box entry mail email flow feature authentication auth based less-secure helper service provider module class \
    function variable argument parameter header headers support settings setting table row rows count counter limit board \
    link links button buttons and or rate rates through by";

/// Beginnings of questions without a question mark.
pub(super) const QUESTIONS: &str = "what what's whats which whose anyone was wie welches quel quelle qué cuál qual hvad vad mikä mi care ce ποιος \
    ne какой який ما מה क्या gì 什么 多少 何 뭐 뭐였지 jakie jaké jaký hol t'as";
