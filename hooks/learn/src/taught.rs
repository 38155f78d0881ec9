//! Asks the classifier of [`tessera_engine::learning`] what a message teaches, and makes a sentence of it that is clear
//! on its own.

use std::sync::LazyLock;

use regex_lite::Regex;
use tessera_desk::screen::holds_credential;
use tessera_engine::compose::categories;
use tessera_engine::domain::{Category, QUOTES};
use tessera_engine::embedding::{Encoder, Vector, as_read};
use tessera_engine::learning::{CERTAIN, Kind, POSSIBLE, Taught, end_of, inputs, taught};
use tessera_hooks::said::sentences;

use crate::correction::lacks_subject;
use crate::extracted_memory::{ExtractedKind, ExtractedMemory};
use crate::heuristic::{capitalised, pattern, without_opening};

/// A sentence of a teaching message belongs to the memory if its own probability is at least this value.
const BELONGS: f64 = 0.1;
/// The maximum number of characters of a memory, and of the agent's words in it.
const LONGEST: usize = 300;
const LONGEST_SUBJECT: usize = 120;
/// A message of at most this number of words probably has its subject in the agent's words.
const FEW_WORDS: usize = 4;

// Words with which a person contradicts. They say nothing later. Without a sign after it, a word such as "no" may be a
// part of the statement.
pattern!(
    CONTRADICTS,
    r"(?i)^(?:(?:no|nope|nah|wrong|actually|incorrect|sorry|wait|not quite|nein|nö|doch|eigentlich|falsch|stimmt nicht|non|en fait|faux|en realidad|perdona|não|na verdade|errado)\s*[,.:;!…]+\s*|(?:不对|不是|不|错了|其实|いや|いいえ|違います|違う|実は|ちがう)[,，、.。!！]+\s*)+"
);
// Words with which a person agrees or thanks.
pattern!(
    AGREES,
    r"(?i)^(?:(?:ok|okay|yes|thanks|ok thanks|that works|looks good|danke|merci|gracias|obrigad[oa])\s*[,.:;!… ]+|(?:yep|good|well|lgtm|perfect|great|ja|gut|oui|sí|vale|sim)\s*[,.:;!…]+\s*)+"
);

/// What a person's message teaches, with its memory.
pub(crate) struct Message<'a> {
    said: &'a str,
    before: &'a str,
    before_meant: Option<Vector>,
    taught: Taught,
}

impl<'a> Message<'a> {
    /// Asks the classifier about a message and the agent's words before it.
    pub(crate) fn new(said: &'a str, before: &'a str) -> Self {
        let before = before.trim();
        let before_meant = (!before.is_empty()).then(|| meant(end_of(before)));
        let taught = asked(said, before, before_meant.as_ref());
        Self { said, before, before_meant, taught }
    }

    /// True if the classifier is certain that the message teaches something.
    pub(crate) fn teaches(&self) -> bool {
        self.taught.probability >= CERTAIN
    }

    /// True if the message teaches something, or may do so.
    pub(crate) fn may_teach(&self) -> bool {
        self.taught.probability >= POSSIBLE
    }

    /// What the message teaches, if it teaches something.
    pub(crate) fn kind(&self) -> Kind {
        self.taught.kind
    }

    /// The memory of the message. `None` if its text is too long, is a question, or contains a credential.
    pub(crate) fn memory(&self) -> Option<ExtractedMemory> {
        let own = self.own_sentences();
        let mut content = capitalised(&own);
        if self.needs_subject(&own) {
            content.push_str(&self.subject()?);
        }
        if own.is_empty() || content.chars().count() > LONGEST || holds_credential(&content) {
            return None;
        }
        let kind = match self.taught.kind {
            Kind::Preference => ExtractedKind::Preference,
            Kind::Decision => ExtractedKind::Decision,
            Kind::Fact => ExtractedKind::Fact,
            Kind::Correction => ExtractedKind::Correction,
            Kind::Lesson => ExtractedKind::Workaround,
        };
        Some(ExtractedMemory {
            category: Some(self.category(&content, kind)),
            is_everywhere: Some(self.taught.is_everywhere),
            probability: Some(self.taught.probability),
            ..ExtractedMemory::new(kind, content)
        })
    }

    /// The sentences that belong to the memory, without words of agreement or contradiction.
    fn own_sentences(&self) -> String {
        let all: Vec<&str> = split(self.said).filter(|sentence| !sentence.ends_with(['?', '？'])).collect();
        let belongs = |sentence: &&str| asked(sentence, self.before, self.before_meant.as_ref()).probability >= BELONGS;
        // A correction alone is often unclear, so all its sentences belong together.
        let is_split = all.len() > 1 && self.taught.kind != Kind::Correction;
        let chosen: Vec<&str> = if is_split { all.iter().copied().filter(belongs).collect() } else { Vec::new() };
        let kept = if chosen.is_empty() { all } else { chosen };
        let plain = |sentence: &&str| {
            let sentence = CONTRADICTS.replace(sentence, "");
            without_opening(&AGREES.replace(&sentence, ""))
        };
        kept.iter().map(plain).filter(|sentence| !sentence.is_empty()).collect::<Vec<_>>().join(" ")
    }

    fn needs_subject(&self, own: &str) -> bool {
        let few = own.split_whitespace().count() <= FEW_WORDS && own.is_ascii();
        let is_correction = self.taught.kind == Kind::Correction;
        let contradicts = CONTRADICTS.is_match(self.said);
        !self.before.is_empty() && (is_correction || contradicts || few || lacks_subject(own))
    }

    /// The agent's last sentence, which names the subject. It is quoted, because its statement does not hold.
    fn subject(&self) -> Option<String> {
        let last = split(self.before).rfind(|sentence| sentence.chars().any(char::is_alphabetic))?;
        let [corrects, answers] = QUOTES;
        let quote = if last.ends_with(['?', '？']) { answers } else { corrects };
        let last = last.trim_end_matches(['.', '。', ' ']);
        let quoted: String = last.chars().filter(|c| *c != '"').take(LONGEST_SUBJECT).collect();
        (!holds_credential(&quoted)).then(|| format!("{quote}{quoted}\")"))
    }

    /// People, if the embedding says so. Otherwise only a preference that holds everywhere is a preference; a rule of the
    /// project is a decision.
    fn category(&self, content: &str, kind: ExtractedKind) -> Category {
        let by_meaning = categories::category(content, Some(&meant(content)));
        let slug = match kind {
            _ if by_meaning.as_str() == "people" => return by_meaning,
            ExtractedKind::Preference | ExtractedKind::Correction if self.taught.is_everywhere => Category::PREFERENCES,
            ExtractedKind::Preference | ExtractedKind::Decision | ExtractedKind::Workaround => Category::DECISIONS,
            _ => Category::FACTS,
        };
        slug.parse().unwrap_or_default()
    }
}

/// The sentences of a message. People often begin a sentence with a small letter.
fn split(said: &str) -> impl DoubleEndedIterator<Item = &str> {
    said.lines().flat_map(sentences)
}

/// What the classifier says about a message or one of its sentences.
fn asked(said: &str, before: &str, before_meant: Option<&Vector>) -> Taught {
    taught(&inputs(said, before, &meant(said), before_meant))
}

fn meant(text: &str) -> Vector {
    Encoder::shared().passages(&[&as_read(text)]).pop().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(before: &str, said: &str) -> Option<ExtractedMemory> {
        Some(Message::new(said, before)).filter(Message::teaches)?.memory()
    }

    #[test]
    fn messages_in_seven_languages_teach_without_a_pattern() {
        for said in [
            "we can't have names in notebook output here. ids only, always.",
            "Preise werden bei uns im Shop grundsätzlich als Cent gespeichert, kein Float",
            "ici on ne met pas de texte en dur, tout passe par les fichiers de traduction",
            "En este repo nunca se sube el archivo .env",
            "Neste projeto ninguém faz deploy na sexta-feira depois das 14h.",
            "这个项目里绝对不要在本地执行 terraform apply，只能走流水线。",
            "このリポジトリではmallocは絶対に使わないでください。",
        ] {
            let memory = memory("", said).map(|memory| (memory.content, memory.is_everywhere));
            assert_eq!(memory, Some((capitalised(said), Some(false))), "{said}");
        }
    }

    #[test]
    fn orders_questions_and_short_answers_teach_nothing() {
        for (before, said) in [
            ("", "run the tests again"),
            ("", "should we always use tabs?"),
            ("Shall I rename it?", "yes"),
            ("Which of the two files?", "the second one"),
            ("", "lass das bitte erstmal so"),
            ("", "pourquoi le build est rouge ?"),
            ("", "先不要提交"),
        ] {
            assert_eq!(memory(before, said), None, "{said}");
        }
    }

    #[test]
    fn a_correction_quotes_the_agents_sentence() {
        for (before, said, wanted) in [
            (
                "I'll point the health check at the gateway on port 8080.",
                "no, it's 8443 since October",
                "It's 8443 since October (corrects: \"I'll point the health check at the gateway on port 8080\")",
            ),
            (
                "Customers without a ride in 60 days are labelled as churned.",
                "Nope. 90 days, and at least 3 rides.",
                "90 days, and at least 3 rides. (corrects: \"Customers without a ride in 60 days are labelled as churned\")",
            ),
            (
                "Ich setze die Versandkostengrenze auf 59 Euro.",
                "65 sind es seit Oktober",
                "65 sind es seit Oktober (corrects: \"Ich setze die Versandkostengrenze auf 59 Euro\")",
            ),
        ] {
            assert_eq!(memory(before, said).map(|memory| memory.content).as_deref(), Some(wanted), "{said}");
        }
    }

    #[test]
    fn a_memory_has_no_thanks_and_no_credential() {
        let thanks =
            memory("Fixed, the voucher test passes.", "ok thanks, that works. btw we never deploy after 15:00");
        assert_eq!(thanks.map(|memory| memory.content).as_deref(), Some("We never deploy after 15:00"));
        assert_eq!(memory("", "always log in as admin with the password hunter22 on staging"), None);
    }

    #[test]
    fn a_word_that_belongs_to_the_statement_stays() {
        let rule = "no VACUUM FULL between 7 and 19 on anything in kite";
        assert_eq!(memory("", rule).map(|memory| memory.content), Some(capitalised(rule)));
    }

    #[test]
    fn any_message_is_read() {
        for said in ["", " ", "\0", "🎉", "-85", "?", "\u{202e}abc", &"x ".repeat(4_000), "“"] {
            for before in ["", "?", "…", &"Which port? ".repeat(400)] {
                let _ = Message::new(said, before).memory();
            }
        }
    }
}
