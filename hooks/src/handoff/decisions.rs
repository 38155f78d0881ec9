//! Finds sentences that decide something, and sentences that leave something open.
//!
//! A sentence gets points for words of choice and of reason. The lists are short, because a hand-off shows only the
//! sentences with the most points.

use std::sync::LazyLock;

use regex_lite::Regex;

use crate::prompt::{is_small_talk, pattern};

/// The fewest characters of a sentence.
const SHORTEST: usize = 10;

macro_rules! patterns {
    ($($(#[$doc:meta])* $name:ident = $($source:literal),+;)+) => {$(
        $(#[$doc])*
        static $name: LazyLock<Regex> = LazyLock::new(|| pattern(concat!($($source),+)));
    )+};
}

patterns! {
    /// Words of a choice.
    CHOICE =
        r"(?i)\b(?:decid\w+|decision|chose|chosen|choose|agreed|settled?|let'?s|go(?:ing)? with|went with|stick(?:ing)? (?:with|to)|instead of|rather than",
        r"|we'?ll|we will|i'?d rather|prefer|keep(?:ing)?|leave|leaving|drop(?:ping)?|skip|stays?|no longer|not? \w+ yet|until|for now|must(?:n'?t)?|never|always|don'?t|do not|only|without|no more",
        r"|entscheid\w*|entschieden|nehmen wir|wir (?:nehmen|machen|lassen|bleiben|nutzen|verwenden)|bleibt|bleiben|lieber|statt|stattdessen|nicht mehr|erstmal|nur|kein\w*|ohne|soll(?:en)?|muss",
        r"|décid\w+|choisi\w*|gard(?:e|ons|er)|on (?:garde|part|prend|laisse|utilise|fait|met)|plutôt|au lieu|pas de|sans|jamais|toujours|ne \w+ (?:plus|pas)|uniquement|seulement",
        r"|decid\w+|eleg\w+|mejor|vamos (?:a|con)|usamos|usemos|dejamos|dejemos|mantene\w+|mantén|en vez|en lugar|nunca|siempre|sin|solo|sólo|manter|em vez|ficamos|vamos usar|sempre)\b",
        r"|決め|にします|にしよう|ではなく|使わない|だけ|のまま|しないで|残す|残し|方針|决定|就用|改用|不要|保留|先不|只|还是用";
    /// Words of a reason, or of a condition.
    REASON =
        r"(?i)\b(?:because|since|so that|otherwise|as long as|unless|weil|da wir|damit|sonst|parce que|puisque|car|sinon|porque|ya que|si no|pois)\b|ので|から|ため|因为|否则";
    /// Words of denial.
    DENIES =
        r"(?i)\b(?:no|not|cannot|nicht|kein\w*|ne|pas|aucun\w*|ningún|ninguna|não|nenhum\w*)\b|n't\b|ない|ません|不";
    /// Words of thanks and praise.
    THANKS =
        r"(?i)\b(?:thanks?|thx|great|nice|perfect|awesome|cool|danke|merci|gracias|obrigad[oa])\b|ありがとう|谢谢";
    /// A plan of the agent.
    PLAN =
        r"(?i)\b(?:i'?ll|i will|i'?ve|i (?:put|kept|left|made|moved|chose|used|added)|we|plan|ich (?:lasse|nehme|habe|werde)|wir|je (?:garde|mets|laisse|vais)|on|dejo|voy a|he)\b|ました|ます";
    /// The beginning of a sentence about the agent's next step, or about its success.
    PROGRESS =
        r"(?i)^(?:ok(?:ay)?[,.! ]+|now[, ]+|good[,.! ]+|great[,.! ]+|perfect[,.! ]+|first[, ]+|next[, ]+|then[, ]+)*(?:let me|let's (?:see|check|look|run|start|try)|i'?ll (?:now |just |first |also )?(?:run|check|look|read|open|start|see|search|try|take|verify|begin|find|inspect)|i'?m (?:going to|now)|running|looking|checking|reading|done|fixed|ich (?:sehe|schaue|prüfe|lese|starte)|lass mich|je (?:regarde|vérifie|lis|lance)|voy a (?:ver|mirar|revisar|leer)|確認し|見てみ|让我|我来)";
    /// Words about work that remains.
    REMAINS =
        r"(?i)\b(?:todo|to do|still|remain\w*|not yet|yet to|next steps?|follow-?up|left to|haven'?t|hasn'?t|needs? to|needs|unclear|unresolved|open (?:question|point|issue)s?|pending|later|flaky|missing|untested|waiting",
        r"|noch (?:nicht|offen|zu)|offen\w*|fehlt|fehlen|später|übrig|reste|restent|pas encore|il manque|à faire|plus tard|queda\w*|falta\w*|pendiente\w*|todavía|más tarde|aún)\b|まだ|残り|残って|未対応|未確認|後で|还没|还需要|剩下|待";
}

/// True for a question.
pub(super) fn asks(sentence: &str) -> bool {
    sentence.trim_end_matches(['"', ')', '*', '`', ' ']).ends_with(['?', '？'])
}

/// The points of a person's sentence. 0 for a question. A person's statement is often a decision without any such word.
pub(super) fn points_of_person(sentence: &str) -> u32 {
    if asks(sentence) || is_short(sentence) || is_small_talk(sentence) {
        return 0;
    }
    3 + choices(sentence) + u32::from(REASON.is_match(sentence))
}

/// The points of an agent's sentence. 0 for a question, and for a sentence that only reports progress.
pub(super) fn points_of_agent(sentence: &str) -> u32 {
    if asks(sentence) || is_short(sentence) || PROGRESS.is_match(sentence) {
        return 0;
    }
    let points = choices(sentence) + u32::from(REASON.is_match(sentence)) + u32::from(DENIES.is_match(sentence));
    // A statement without such words is shown only if there is room.
    if points == 0 { 1 } else { 1 + points + u32::from(PLAN.is_match(sentence)) }
}

/// The number of words of choice, at most two.
fn choices(sentence: &str) -> u32 {
    u32::try_from(CHOICE.find_iter(sentence).take(2).count()).unwrap_or(2)
}

/// True for an answer that contains nothing but thanks or praise. "Yes" is an answer.
pub(super) fn only_thanks(answer: &str) -> bool {
    is_small_talk(answer) && THANKS.is_match(answer)
}

/// True for an agent's sentence about work that remains.
pub(super) fn remains(sentence: &str) -> bool {
    !is_short(sentence) && REMAINS.is_match(sentence)
}

fn is_short(sentence: &str) -> bool {
    let is_wide = sentence.chars().any(|c| (c as u32) >= 0x2E80);
    sentence.chars().count() < if is_wide { SHORTEST / 2 } else { SHORTEST }
}
