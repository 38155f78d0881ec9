//! Words of twenty-five languages: nouns for what is secret, what binds a value to them, and what no value begins with.

mod latin;
mod others;

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

/// A language: its nouns, what binds, and what no value begins with.
///
/// A noun may have several words. `*` at its end allows up to five letters more, for cases and articles. In scripts
/// without spaces nouns are found inside words.
#[derive(Debug, Clone, Copy)]
pub(super) struct Language {
    pub(super) nouns: &'static [(Sort, &'static [&'static str])],
    pub(super) binders: &'static str,
    /// True where a value may follow its noun with nothing between.
    pub(super) is_bare: bool,
    /// Words that no value begins with, and that end a value of several words.
    pub(super) others: &'static str,
}

const LATIN: usize = latin::LANGUAGES.len();
const COUNT: usize = LATIN + others::LANGUAGES.len();

/// All languages, English first: its binders hold everywhere.
pub(super) const LANGUAGES: [Language; COUNT] = joined();

#[expect(clippy::indexing_slicing, reason = "evaluated while compiling: a wrong index is a compile error")]
const fn joined() -> [Language; COUNT] {
    let mut all = [latin::LANGUAGES[0]; COUNT];
    let mut at = 0;
    while at < COUNT {
        all[at] = if at < LATIN { latin::LANGUAGES[at] } else { others::LANGUAGES[at - LATIN] };
        at += 1;
    }
    all
}

/// Copulas and polite endings behind a value, which are no part of it.
pub(super) const ENDINGS: [&str; 17] = [
    "です",
    "でした",
    "だよ",
    "だ",
    "입니다",
    "이에요",
    "예요",
    "이야",
    "야",
    "이다",
    " है",
    " हैं",
    " था",
    " thôi",
    " nhé",
    " nha",
    " नहीं",
];

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
