//! Recognises a statement that repeats an older one word by word and says explicitly what replaces what.
//!
//! Such a statement hides the older one, so nothing is guessed: apart from the replaced words and one phrase of change,
//! both statements have the same words in the same order.

use tessera_tables::{section, words};

use super::phrases::RELATION_WORDS;
use super::statement::{Cue, Statement, ValueKind};

/// Phrases that say that something is true from now on.
const NOW: &[&str] = words!(section(RELATION_WORDS, "now"));
/// Phrases between the new choice and the old one.
const INSTEAD: &[&str] = words!(section(RELATION_WORDS, "instead"));
/// Phrases directly before a name.
const NAMING: &[&str] = words!(section(RELATION_WORDS, "naming"));
/// Verbs of preferences, and phrases between the preferred thing and the other one.
const PREFER: &[&str] = words!(section(RELATION_WORDS, "prefer"));
const OVER: &[&str] = words!(section(RELATION_WORDS, "over"));
/// The maximum number of words of a name or of a preferred thing, and of the subject of a name.
const NAME: usize = 2;
const SUBJECT: usize = 4;
/// The minimum number of letters that both statements share.
const SHARED: usize = 5;

/// True if the new statement says that it replaces the old one as a whole.
pub(super) fn replaces(new: &Statement, old: &Statement) -> bool {
    let hedges = [Cue::Negation, Cue::Stays];
    if [new, old].into_iter().any(|one| hedges.into_iter().any(|cue| one.has(cue))) {
        return false;
    }
    let is_changed_now = NOW
        .iter()
        .filter_map(|phrase| without(&new.spaced, phrase))
        .any(|(text, at)| is_chosen_anew(&text, old) || is_revalued((&text, at), new, old) || is_renamed(&text, old));
    is_changed_now || is_chosen_anew(&new.spaced, old) || is_preferred_anew(new, old)
}

/// The text without a phrase, and the number of words before the phrase; `None` if the phrase does not occur exactly
/// once.
fn without(spaced: &str, phrase: &str) -> Option<(String, usize)> {
    let is_wide = phrase.starts_with(|first| first >= '\u{2e80}');
    let (phrase, gap) = if is_wide { (phrase.to_owned(), "") } else { (format!(" {phrase} "), " ") };
    let (before, after) = spaced.split_once(&phrase)?;
    let text = format!("{before}{gap}{after}");
    let words = words_of(before).len();
    (!text.contains(&phrase)).then(|| (format!(" {} ", words_of(&text).join(" ")), words))
}

fn words_of(spaced: &str) -> Vec<&str> {
    spaced.split(' ').filter(|word| !word.is_empty()).collect()
}

/// The words in which two statements differ: those between their common beginning and their common end. `None` if they
/// share too little.
fn difference<'a>(new: &[&'a str], old: &[&'a str]) -> Option<(Vec<&'a str>, Vec<&'a str>)> {
    let begin = new.iter().zip(old).take_while(|(one, other)| one == other).count();
    let (new, old) = (new.get(begin..)?, old.get(begin..)?);
    let end = new.iter().rev().zip(old.iter().rev()).take_while(|(one, other)| one == other).count();
    let (new, last) = new.split_at_checked(new.len().checked_sub(end)?)?;
    let old = old.get(..old.len().checked_sub(end)?)?;
    let shared: usize = last.iter().map(|word| word.chars().count()).sum();
    (shared + begin * SHARED >= SHARED).then(|| (new.to_vec(), old.to_vec()))
}

/// "The gateway now listens on 7171" after "The gateway listens on 7070". Each statement has one number. A number before
/// the phrase belongs to the subject: "The talk at 16:00 is now in English". Something may support two versions at once,
/// so versions are left out.
fn is_revalued((text, at): (&str, usize), new: &Statement, old: &Statement) -> bool {
    let (now, before) = (words_of(text), words_of(&old.spaced));
    let has_one =
        |words: &[&str]| words.iter().filter(|word| word.bytes().any(|byte| byte.is_ascii_digit())).count() == 1;
    let kind = |one: &Statement, word: &str| {
        let value = one.values.iter().find(|(_, value)| value == word)?;
        (!one.numbering.contains(word) && value.0 != ValueKind::Version).then_some(value.0)
    };
    let Some((gained, lost)) = difference(&now, &before) else { return false };
    let ([gained], [lost]) = (gained.as_slice(), lost.as_slice()) else { return false };
    let is_after = now.iter().position(|word| word == gained).is_some_and(|place| place + 1 >= at);
    is_after
        && has_one(&now)
        && has_one(&before)
        && kind(new, gained).is_some_and(|found| kind(old, lost) == Some(found))
}

/// "The docs are built with Astro instead of Hugo" after "The docs are built with Hugo". A choice is one word, because
/// further words may be a condition: "tea on Sundays instead of coffee".
fn is_chosen_anew(text: &str, old: &Statement) -> bool {
    let before = words_of(&old.spaced);
    INSTEAD.iter().any(|phrase| {
        let Some((head, tail)) = text.split_once(&format!(" {phrase} ")) else { return false };
        let (head, tail) = (words_of(head), words_of(tail));
        let Some((choice, rest)) = tail.split_first() else { return false };
        let now: Vec<&str> = head.iter().chain(rest).copied().collect();
        difference(&now, &before).is_some_and(|(gained, lost)| lost == [*choice] && gained.len() == 1)
    })
}

/// "The job is now called daybreak" after "The job is called nightly".
fn is_renamed(text: &str, old: &Statement) -> bool {
    let name = |text: &str| {
        NAMING.iter().find_map(|phrase| {
            let (subject, name) = text.split_once(&format!(" {phrase} "))?;
            let (words, last) = (words_of(subject).len(), words_of(subject).pop().unwrap_or_default());
            let is_clause = ["que", "qui", "that", "which", "der", "die", "das"].contains(&last);
            let is_name = (1..=NAME).contains(&words_of(name).len()) && (2..=SUBJECT).contains(&words) && !is_clause;
            is_name.then(|| (subject.to_owned(), name.to_owned()))
        })
    };
    let (Some((subject, new)), Some((older, old))) = (name(text), name(&old.spaced)) else { return false };
    let begins_with_by =
        |name: &str| ["by ", "von ", "par ", "por "].iter().any(|by| name.trim_start().starts_with(by));
    subject == older && new != old && !begins_with_by(&new) && !begins_with_by(&old)
}

/// "I prefer npm over pnpm" after "I prefer pnpm over npm".
fn is_preferred_anew(new: &Statement, old: &Statement) -> bool {
    OVER.iter().any(|phrase| {
        let phrase = format!(" {phrase} ");
        let sides = new.spaced.split_once(&phrase).zip(old.spaced.split_once(&phrase));
        let Some(((now_left, now_right), (left, right))) = sides else { return false };
        let [now_left, now_right, left, right] = [now_left, now_right, left, right].map(words_of);
        let sizes = (1..=NAME).flat_map(|first| (1..=NAME).map(move |second| (first, second)));
        sizes.into_iter().any(|(first, second)| {
            let swapped = || {
                let (begin, liked) = now_left.split_at_checked(now_left.len().checked_sub(first)?)?;
                let (other, end) = now_right.split_at_checked(second)?;
                let is_stated = begin.iter().any(|word| PREFER.contains(word)) && liked != other;
                let is_swapped = [begin, other].concat() == left && [liked, end].concat() == right;
                Some(is_stated && is_swapped)
            };
            swapped().unwrap_or(false)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hides(old: &str, new: &str) -> bool {
        super::super::restated::restates(&Statement::read(new), &Statement::read(old))
            == Some(super::super::Restated::Replaces)
    }

    #[test]
    fn an_explicit_phrase_in_the_same_words_replaces() {
        for (old, new) in [
            ("The checkout service listens on port 7070", "The checkout service now listens on port 7171"),
            ("The gateway listens on 7070", "the gateway now listens on 7272 instead of 7070"),
            ("Backups run at 02:00 every night", "Backups run at 04:30 now instead of 02:00 every night"),
            ("I prefer pnpm over npm in all front-end work", "I prefer npm over pnpm in all front-end work"),
            ("The docs site is built with Hugo", "The docs site is built with Astro instead of Hugo"),
            ("The batch job is called nightly-sync", "The batch job is now called daybreak"),
            ("Der Standup ist um 9:30 Uhr", "Der Standup ist jetzt um 10:00 Uhr"),
            ("Die Suche läuft mit Solr", "Die Suche läuft jetzt mit Meilisearch statt Solr"),
            ("Ich mag Tee lieber als Kaffee", "Ich mag Kaffee lieber als Tee"),
            ("Le déploiement passe par Jenkins", "Le déploiement passe par GitLab au lieu de Jenkins"),
            ("El panel usa Vue", "El panel usa Svelte en lugar de Vue"),
            ("O painel usa Vue", "O painel usa Svelte em vez de Vue"),
            ("网关监听端口 7070", "网关现在监听端口 7171"),
            ("決済サービスのポートは 7070", "決済サービスのポートは 7171 に変更"),
        ] {
            assert!(hides(old, new), "{old} / {new}");
        }
    }

    #[test]
    fn everything_else_hides_nothing() {
        for (old, new) in [
            // Without a phrase of change, or without the rest.
            ("Backups run at 02:00", "Backups run at 04:30"),
            ("The gateway listens on 7070 and logs to Loki", "The gateway now listens on 7171"),
            ("The gateway listens on 7070 and 7071", "The gateway now listens on 7171"),
            ("Alerts go to the Slack channel #ops", "Alerts now go to PagerDuty instead of Slack"),
            // A condition, a part, an attempt, somebody else.
            ("The panel uses Vue", "When offline, the panel uses Svelte instead of Vue"),
            ("I drink coffee", "I drink tea instead of coffee on Sundays"),
            ("Backups go to S3", "Weekly backups go to Glacier instead of S3"),
            ("Anna uses Vim", "Anna's brother uses Emacs instead of Vim"),
            ("We use Hugo for docs", "We tried to use Astro instead of Hugo for docs"),
            ("The panel uses Vue", "The panel no longer uses Vue Router"),
            ("My alarm rings at 7:00", "Her alarm now rings at 6:00"),
            ("Parcels to Anna cost 5 EUR", "Parcels from Anna now cost 9 EUR"),
            ("A gateway listens on port 7070", "A new gateway now listens on port 7171"),
            ("Postgres connects to Redis over TLS", "Redis connects to Postgres over TLS"),
            ("I prefer pnpm over npm", "They prefer npm over pnpm"),
            ("We use GitHub for code review", "We use Gerrit instead of GitHub for kernel code review"),
            ("Ich trinke Kaffee", "Ich trinke sonntags Tee statt Kaffee"),
            ("The talk at 15:00 is in English", "The talk at 16:00 is now in English"),
            ("Ana tiene un gato que se llama Mo", "Ana tiene ahora un gato que se llama Rex"),
            // Negations, several numbers, versions.
            ("Use npm in the shop", "Don't use pnpm instead of npm in the shop"),
            ("The gateway must not use port 7070", "The gateway must not now use port 7171"),
            ("The gateway port is 7070", "The gateway port was changed from 6060 to 7070"),
            ("The gateway listens on 7070", "The gateway listens on 7070 instead of 6060"),
            ("For 10 users the price is 59 EUR", "For 50 users the price is now 199 EUR"),
            ("The library supports Python 3.11", "The library now supports Python 3.12"),
            ("The gateway crashed at 02:00", "The gateway crashed again at 04:30"),
            // Names.
            ("The pricing endpoint is called by checkout", "The pricing endpoint is now called by billing"),
            ("One of the jobs is called nightly", "One of the jobs is called daybreak"),
            ("Anna has a cat called Mo", "Anna now has a cat called Rex"),
            // Numbers and characters in scripts without spaces.
            ("3号网关监听端口 7070", "5号网关现在监听端口 7171"),
            ("更改费是 100 元", "更换费现在是 200 元"),
            ("到仓库的运费是 50 元", "在仓库的运费现在是 80 元"),
            ("Use tabs, not spaces", "Use spaces, not tabs"),
            ("Only in CI, the gateway listens on 7070", "Only in CI, the gateway now listens on 7171"),
            ("The gateway listens on 7070", "Maybe the gateway now listens on 7171"),
        ] {
            assert!(!hides(old, new), "{old} / {new}");
        }
    }
}
