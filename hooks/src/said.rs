//! What of a prompt the person says, and what they only show: mails, issues, documents and logs that are pasted into it.
//!
//! Nothing is learned from what is shown, whoever wrote it. It cannot be told for certain, so the rule is strict: only the
//! beginning of a prompt counts, up to the first sign that something else follows.

use std::sync::LazyLock;

use regex_lite::Regex;

use super::prompt::{own_words, unwrapped};

fn pattern(source: &str) -> Regex {
    Regex::new(source).expect("the pattern is a constant, compiled in a test")
}

/// A line that begins a mail, a document or a list in it.
static BEGINS_PASTE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^\s*(?:#{1,6} |>|dear\b|hi\b[^.!?]{0,30},?$|hello\b[^.!?]{0,30},?$|hallo\b[^.!?]{0,30},$|bonjour\b[^.!?]{0,30},$|hola\b[^.!?]{0,30},$|from:|to:|subject:|date:|on .{5,60} wrote:|begin |-----)",
    )
});

/// A line that asks for something to be done with what follows it.
static LEADS_IN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^\W*(?:please\s+|can you\s+|could you\s+)?(?:summari[sz]e|translate|reply|answer|explain|review|proofread|rewrite|rephrase|fix|shorten|check|read|analy[sz]e|classify|what do you think|what does|what is wrong|draft|write|make|improve|convert|format|compare|why does|why is|here is|here's|here are|this is what|this is the|look at|see (?:this|the)|fass|übersetze|beantworte|erkläre|prüfe|traduis|résume|réponds|explique|traduce|resume|responde|explica)\b",
    )
});

/// Words that name a text, in front of the colon behind which it stands: `here is the vendor text: …`.
static NAMES_TEXT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:text|mail|e-mail|email|message|messages|issue|ticket|log|logs|output|error|readme|document|doc|docs|page|article|post|comment|review|transcript|quote|says|said|wrote|writes|reads|following|below|this|customer|vendor|support|asks|asked|tells|told|wants|summari[sz]e|translate|reply|answer|explain|nachricht|schreibt|schrieb|sagt|texte|écrit|dit|texto|mensaje|dice|escribió)\b[^:]{0,40}:\s*\S",
    )
});

/// What is addressed to the agent, with or without a colon: `remember this: …`.
static ADDRESSED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)^\W*(?:please\s+)?(?:remember|note|keep in mind|my \w+|our \w+)[^:]{0,20}:"));

/// Words between quotes are somebody's.
static QUOTED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#""[^"\n]*\s[^"\n]*\s[^"\n]*"|“[^”\n]*\s[^”\n]*\s[^”\n]*”|«[^»\n]*\s[^»\n]*\s[^»\n]*»"#));

/// A sentence that says whose words it repeats.
static QUOTES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:says|said|wrote|writes|according to|as per|quoting|laut|schreibt|schrieb|selon|écrit|según|dice)\s+(?:the|a|an|our|my|this|that|their|his|her|der|die|das|dem|ein|eine|le|la|un|une|el|los|las)\b|\b(?:the|this|that|a)\s+(?:vendor|customer|mail|e-mail|email|readme|issue|article|page|document|docs?|blog|post|ticket|log|message)\s+(?:says|said|wrote|writes|reads|tells|wants|asks|states)\b",
    )
});

/// A command or an address: what is learned with one is injected automatically only after the user has accepted it.
static RUNS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)://|\bwww\.\w|\b(?:curl|wget|bash|sh|zsh|sudo|eval|chmod|rm|scp|ssh|nc|powershell|iex|invoke-\w+|pip3? install|npm (?:i|install)|npx|docker run|git clone)\s+[-\w/.~$]|[|&;]\s*(?:sh|bash|zsh|python3?|node)\b|`[^`\n]+`|\$\(|\b[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}/\S|\b\d+(?:\.\d+){3}\b|\b\w[\w-]*\s+(?:install|exec|apply|destroy)\s+\S|\b(?:python3?|node|perl|ruby|uvx?|pipx|make|just|kubectl|terraform|helm|git|cargo|npm|pnpm|yarn|brew|apt|apt-get|psql)\s+[-\w./]*[-./]\w|\b(?:python3?|node|perl|ruby|uvx|pipx|kubectl|terraform|helm)\s+\w+|\b(?:make|just|npm|pnpm|yarn|cargo|git)\s+(?:run\s+)?[a-z]+[-_:][\w-]+",
    )
});

/// The person's own statements: the beginning of the prompt, without what is pasted into it or repeated in it.
pub fn own_statements(text: &str) -> String {
    let text = &unwrapped(text);
    let own = own_words(text);
    // Lines of a program cut a text in two: what stands behind them belongs to them.
    let shown = text.lines().map(str::trim_end).position(|line| !line.trim().is_empty() && !own.contains(line.trim()));
    // A mail or a document from its first line on.
    if own.lines().next().is_some_and(|line| BEGINS_PASTE.is_match(line)) && own.lines().count() > 1 {
        return String::new();
    }
    let before: Vec<&str> = match shown {
        Some(first) => text.lines().take(first).map(str::trim_end).filter(|line| own.contains(line.trim())).collect(),
        None => own.lines().collect(),
    };
    let mut said = Vec::new();
    for (number, line) in before.iter().enumerate() {
        let is_blank = line.trim().is_empty();
        let goes_on = before.get(number + 1..).is_some_and(|rest| rest.iter().any(|line| !line.trim().is_empty()));
        // Behind a blank line stands what the first paragraph is about, or nothing that tells whose it is.
        if is_blank && !said.is_empty() || BEGINS_PASTE.is_match(line) && number > 0 {
            break;
        }
        let named = if ADDRESSED.is_match(line) { None } else { NAMES_TEXT.find(line) };
        let cut = named.and_then(|named| line.get(..named.start() + named.as_str().find(':')?));
        said.push(cut.unwrap_or(line));
        // A question about what stands below it.
        let ends_in_colon = line.trim_end().ends_with([':', '：', '?', '？']);
        if cut.is_some() || goes_on && (ends_in_colon || LEADS_IN.is_match(line)) {
            break;
        }
    }
    let sentences: Vec<&str> =
        said.iter().flat_map(|line| sentences(line)).filter(|one| !QUOTES.is_match(one)).collect();
    QUOTED.replace_all(&sentences.join("\n"), " ").trim().to_owned()
}

fn sentences(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, sign) in line.match_indices(['.', '!', '?', '。', '！', '？']) {
        let end = at + sign.len();
        let rest = line.get(end..).unwrap_or_default();
        if rest.is_empty() || rest.starts_with(char::is_whitespace) || !sign.is_ascii() {
            found.push(line.get(start..end).unwrap_or_default().trim());
            start = end;
        }
    }
    found.push(line.get(start..).unwrap_or_default().trim());
    found.retain(|sentence| !sentence.is_empty());
    found
}

/// True of a text with a command or an address in it.
pub fn runs_something(text: &str) -> bool {
    RUNS.is_match(text)
}

#[cfg(test)]
mod tests;
