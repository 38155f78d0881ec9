//! Corrections without a subject, such as "no, it is port 8491, not 8490". The subject is that of the corrected memory.

use std::sync::LazyLock;

use regex_lite::Regex;

use crate::heuristic::pattern;

pattern!(
    WITHOUT_SUBJECT,
    r"(?i)^(?:(?:no|nope|wrong|actually|incorrect|sorry|wait)[,.:;! ]+)*(?:it|that|this|they|these|those|he|she)(?:['’](?:s|re)| (?:is|are|was|were|should|must|needs?|uses?|runs?|lives?|listens?|goes|isn['’]t|aren['’]t|doesn['’]t|don['’]t|has|have))\b"
);
// The new value and the old one: "it is port 8491, not 8490", "it runs on falcon instead of heron".
pattern!(
    VALUES,
    r"(?i)(?:is|are|['’]s|['’]re|was|were|be|uses?|on|at|in|to) (?:now )?(?:the |an? )?(?P<new>[\w@#/.:+-]+(?: [\w@#/.:+-]+)?),? (?:and )?(?:not|instead of|rather than) (?:the |an? |on |at |in )?(?:[a-z]+ )??(?P<old>[\w@#/.:+-]*[\w])[.!]*$"
);

/// True for a statement whose subject is only a pronoun.
pub(crate) fn lacks_subject(text: &str) -> bool {
    WITHOUT_SUBJECT.is_match(text)
}

/// The text of a memory with the value that a correction gives. `None` if the correction does not name the old value, or
/// the memory does not contain it exactly once.
pub(crate) fn corrected(correction: &str, memory: &str) -> Option<String> {
    let values = VALUES.captures(correction.trim())?;
    let (new, old) = (values.name("new")?.as_str(), values.name("old")?.as_str());
    let mut places = memory.match_indices(old).filter(|(at, old)| is_whole(memory, *at, old.len()));
    let (at, _) = places.next().filter(|_| places.next().is_none())?;
    let (before, after) = (memory.get(..at)?, memory.get(at + old.len()..)?);
    // The memory says "port 8490", and the correction "port 8491".
    let value = new.split_once(' ').filter(|(unit, _)| ends_with_word(before, unit)).map_or(new, |(_, value)| value);
    Some(format!("{before}{value}{after}"))
}

fn is_whole(text: &str, at: usize, length: usize) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let before = text.get(..at).and_then(|head| head.chars().next_back());
    let after = text.get(at + length..).and_then(|tail| tail.chars().next());
    !before.is_some_and(is_part) && !after.is_some_and(is_part)
}

fn ends_with_word(text: &str, word: &str) -> bool {
    text.split_whitespace().next_back().is_some_and(|last| last.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_correction_takes_its_subject_from_the_memory() {
        let gateway = "The gateway of the depot listens on port 8490";
        for (correction, memory, expected) in [
            ("No, it is port 8491, not 8490", gateway, Some("The gateway of the depot listens on port 8491")),
            ("it's 8491, not port 8490.", gateway, Some("The gateway of the depot listens on port 8491")),
            ("Actually it runs on falcon instead of heron", "CI runs on heron", Some("CI runs on falcon")),
            ("no, it is port 8491", gateway, None),
            ("no, it is 91, not 90", gateway, None),
        ] {
            assert!(lacks_subject(correction), "{correction}");
            assert_eq!(corrected(correction, memory).as_deref(), expected, "{correction}");
        }
        for text in ["No, the API listens on port 8490", "This project uses pnpm", "that service is slow, use heron"] {
            assert!(!lacks_subject(text), "{text}");
        }
    }
}
