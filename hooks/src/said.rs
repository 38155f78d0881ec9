//! Separates the statements of a person from text that they only paste: mails, issues, documents and logs.
//!
//! Nothing is learned from pasted text, even if the person wrote it. There is no certain way to recognise it, so the
//! rule is strict: only the beginning of a prompt counts, up to the first sign of pasted text.

use std::sync::LazyLock;

use regex_lite::Regex;

use super::prompt::{own_words, pattern, unwrapped};

/// A line that begins a mail, a document or a list.
static BEGINS_PASTE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^\s*(?:#{1,6} |>|dear\b|hi\b[^.!?]{0,30},?$|hello\b[^.!?]{0,30},?$|hallo\b[^.!?]{0,30},$|bonjour\b[^.!?]{0,30},$|hola\b[^.!?]{0,30},$|from:|to:|subject:|date:|on .{5,60} wrote:|begin |-----)",
    )
});

/// A line that asks for something to be done with the following text.
static LEADS_IN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^\W*(?:please\s+|can you\s+|could you\s+)?(?:summari[sz]e|translate|reply|answer|explain|review|proofread|rewrite|rephrase|fix|shorten|check|read|analy[sz]e|classify|what do you think|what does|what is wrong|draft|write|make|improve|convert|format|compare|why does|why is|here is|here's|here are|this is what|this is the|look at|see (?:this|the)|fass|übersetze|beantworte|erkläre|prüfe|traduis|résume|réponds|explique|traduce|resume|responde|explica)\b",
    )
});

/// A word that announces a text, then a colon, and then the text: `here is the vendor text: …`.
static NAMES_TEXT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:text|mail|e-mail|email|message|messages|issue|ticket|log|logs|output|error|readme|document|doc|docs|page|article|post|comment|review|transcript|quote|says|said|wrote|writes|reads|following|below|this|customer|vendor|support|asks|asked|tells|told|wants|summari[sz]e|translate|reply|answer|explain|nachricht|schreibt|schrieb|sagt|texte|écrit|dit|texto|mensaje|dice|escribió)\b[^:]{0,40}:\s*\S",
    )
});

/// Phrases that address the agent, with or without a colon: `remember this: …`.
static ADDRESSED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^\W*(?:please\s+)?(?:(?:remember|note|keep in mind|my \w+|our \w+)[^:]{0,20}|(?:for|in|on) (?:this|the|all|every) \w+|whenever you [^:]{0,40}|(?:für|in) (?:dieses|diesem|diese|dieser) \w+|(?:pour|dans) (?:ce|cette) \w+ ?|(?:para|en) (?:este|esta) \w+|(?:para este|neste|nesta) \w+):",
    )
});

/// Signs that another person wrote the whole prompt: how it ends, a line about the sender's phone, or a web page's line
/// about a comment.
static ANOTHERS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?im)^\s*(?:best|(?:best |kind |warm )?regards|cheers|thanks|thank you|many thanks|sincerely|yours|mfg|viele grüße|mit freundlichen grüßen|cordialement|saludos)[,.!]?[ \t]*\r?\n\s*(?-i:[A-Z])|\bsent from my (?:iphone|ipad|phone|android)|\bsent by \S+@|\bi am writing to (?:complain|ask|inform|request|apply|tell)|\bautomated (?:message|mail|e-?mail|reply|notification)|\bdo not reply\b|\b\d+ (?:minute|hour|day|week|month|year)s? ago\b.*[|·]|\bcommented \d+ (?:minute|hour|day|week|month)s? ago|[-–—] (?-i:The [A-Z]\w+(?: [A-Z]\w+)? Team)\b",
    )
});

/// The name at the end of a letter: `Cheers, Bob`.
static SIGNED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(?i:best|cheers|thanks|regards|sincerely|grüße),\s+([A-Z]\w+)[.!]?\s*$"));

/// A greeting with a name: `Good morning Ada!`.
static GREETS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^\W*(?i:good (?:morning|afternoon|evening)|hello|hi|hey|dear|hallo|guten (?:tag|morgen|abend)),?\s+(\w+)\s*[,!.:]",
    )
});

/// Names of the agent, and other words that may follow a greeting.
const NOBODY_ELSE: [&str; 9] =
    ["claude", "codex", "copilot", "agent", "assistant", "there", "again", "everything", "please"];

/// A first line that begins a program or a source file.
static OF_PROGRAM: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^\W*(?:npm\s+)?(?:WARN|WARNING|INFO|ERROR|DEBUG|FATAL|TRACE)\b|^\s*(?://|/\*|--\s|<!--)")
});

/// A first line above a text: its author and time, the person it addresses, or a one-word heading.
static HEADS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^.{1,40}\d{1,2}:\d{2}(?:\s*[AP]M)?\s*$|^[A-Z][\w.-]*(?: [A-Z][\w.-]*)?,\s*$|^[A-Z][a-z]{5,}\s*$")
});

/// A line that contains a word such as "ticket" or "mail", and does not end like a sentence. The lines below it are the
/// text that it announces.
static ABOVE_TEXT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:ticket|mail|e-mail|email|message|issue|log|error|warning|comment|review|response|reply|slack|jira|thread|feedback|transcript|article|post|readme|output|below)\b.*[^.!?:,;]$",
    )
});

/// Finds the end of a sentence, or a pronoun such as "I" or "you". If a line of a longer prompt neither ends like a
/// sentence nor contains a pronoun, it is a heading, a field, a signature or a line of code. If the first paragraph of
/// a prompt with several lines contains such a line, the prompt is pasted text.
static IS_SENTENCE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)[.!?…。！？][)\]»”’]*$|^(?:and|but|or|so|because|then|also|und|aber|oder|et|mais|y|pero|thanks|thank you|thx|danke|merci|gracias)\b|\b(?:i|i'm|i've|i'd|me|my|mine|we|we're|we've|us|our|ours|you|your|please|let's|lets|ich|mir|mein\w*|wir|uns\w*|du|dein\w*|bitte|je|moi|nous|notre|vous|yo|mi|nosotros|nuestr\w+)\b|[我你您我们私僕俺あなた]",
    )
});

/// A line that asks for something to be done with the preceding text.
static ASKS_BEHIND: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^\W*(?:please\s+|can you\s+|could you\s+)?(?:summari[sz]e|translate|proofread|rewrite|rephrase|shorten|classify|reply|answer|review|what does (?:this|that|it)|what do you think|is this|übersetze|fasse|traduis|résume|traduce|resume)\b",
    )
});

/// Quoted words belong to another person.
static QUOTED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#""[^"\n]*\s[^"\n]*\s[^"\n]*"|“[^”\n]*\s[^”\n]*\s[^”\n]*”|«[^»\n]*\s[^»\n]*\s[^»\n]*»"#));

/// A sentence that says whose words it repeats.
static QUOTES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:says|said|wrote|writes|according to|as per|quoting|laut|schreibt|schrieb|selon|écrit|según|dice)\s+(?:the|a|an|our|my|this|that|their|his|her|der|die|das|dem|ein|eine|le|la|un|une|el|los|las)\b|\b(?:the|this|that|a)\s+(?:vendor|customer|mail|e-mail|email|readme|issue|article|page|document|docs?|blog|post|ticket|log|message)\s+(?:says|said|wrote|writes|reads|tells|wants|asks|states)\b",
    )
});

/// A command or an address. If a memory contains a command or an address, it is injected automatically only after the
/// user has accepted it.
static RUNS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)://|\bwww\.\w|\b(?:curl|wget|bash|sh|zsh|sudo|eval|chmod|rm|scp|ssh|nc|powershell|iex|invoke-\w+|pip3? install|npm (?:i|install)|npx|docker run|git clone)\s+[-\w/.~$]|[|&;]\s*(?:sh|bash|zsh|python3?|node)\b|`[^`\n]+`|\$\(|\b[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}/\S|\b\d+(?:\.\d+){3}\b|\b\w[\w-]*\s+(?:install|exec|apply|destroy)\s+\S|\b(?:python3?|node|perl|ruby|uvx?|pipx|make|just|kubectl|terraform|helm|git|cargo|npm|pnpm|yarn|brew|apt|apt-get|psql)\s+[-\w./]*[-./]\w|\b(?:python3?|node|perl|ruby|uvx|pipx|kubectl|terraform|helm)\s+\w+|\b(?:make|just|npm|pnpm|yarn|cargo|git)\s+(?:run\s+)?[a-z]+[-_:][\w-]+",
    )
});

/// A host, a mail address, a script, an option, a path outside the project, or a command such as `git push`.
static RUNS_TOO: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b[a-z0-9][\w-]*\.(?:com|net|org|io|dev|app|ai|co|sh|xyz|info|biz|eu|cloud|example|local|ru|cn|de|uk|fr|me|tk)\b|\S@\S+\.\w|\bmailto:|\b[\w-]+\.(?:bash|zsh|exe|bat|cmd|ps1|msi)\b|(?:^|\s)--?[A-Za-z]|(?:^|\s)(?:\.{1,2}|~)/\w|\b[A-Za-z]:\\|\b(?:git (?:clean|reset|push|pull|checkout|rebase|stash|apply|am|rm|config|submodule|filter-branch)|cargo (?:run|publish|xtask)|(?:npm|pnpm|yarn|bun|deno|go|nix) (?:run|start|exec|x|dlx|publish)|docker compose|gh (?:repo|api|pr|release|secret)|aws [a-z]\w+|systemctl [a-z]+|crontab)\b|\bhxxps?\b|\(\.\)|\[\.\]|\b[\w-]+\.(?:py|sh|mjs|cjs|rb|pl|php|lua|jar|nix|vbs)\b|\b(?:xdg-open|cargo|npm|npx|pnpm|yarn|bun|deno|pip3?|uv|brew|apt|gem|nix)\s+[a-z][\w-]{2,}|\bsource\s+\S*[/.]|\b(?:scripts?|bin|sbin|tools?|env|tmp|ci|hooks)/\w",
    )
});

/// A word for something to run. The pattern finds the word after `run`, or after `use` and the name of a program.
static TOLD_TO_RUN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:(?:run|execute|launch|invoke|download)|(?:use|using|via|with)\s+(?:go|bun|deno|dd|gh|docker|podman|tar|service|cmd|find|chown|chmod|xargs|pkill|osascript|nix|mvn|gradle|tox|poetry|rake|bundle|composer|php|java|dotnet|gcloud|az|ansible|vagrant|rsync|mount|reg|cat|open|source|ftp|telnet))\s+([^\s,.;:!?)]+)",
    )
});

/// Words that are not a command after `run` or `use`: `run the tests`, `use docker for builds`.
const NATURAL: &str = "the all our my your a an it them this that both every each test tests linter linters checks migrations \
     benchmarks on in at with as under by from into out before after locally once twice to for only instead \
     everywhere because when version and or but since";

/// The person's own statements: the beginning of a prompt, without pasted or repeated text.
pub fn own_statements(text: &str) -> String {
    let text = &unwrapped(text);
    let own = own_words(text);
    // Program lines split a text in two; the text after them belongs to them.
    let shown = text.lines().map(str::trim_end).position(|line| !line.trim().is_empty() && !own.contains(line.trim()));
    if is_anothers(&own) {
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
        // The text after a blank line may be pasted, and nothing says whose it is.
        if is_blank && !said.is_empty() || BEGINS_PASTE.is_match(line) && number > 0 {
            break;
        }
        let named = if ADDRESSED.is_match(line) { None } else { NAMES_TEXT.find(line) };
        let cut = named.and_then(|named| line.get(..named.start() + named.as_str().find(':')?));
        said.push(cut.unwrap_or(line));
        // A question about the text below it.
        let ends_in_colon = line.trim_end().ends_with([':', '：', '?', '？']);
        if cut.is_some()
            || goes_on && (ends_in_colon || LEADS_IN.is_match(line) || ABOVE_TEXT.is_match(line.trim_end()))
        {
            break;
        }
    }
    let sentences: Vec<&str> =
        said.iter().flat_map(|line| sentences(line)).filter(|one| !QUOTES.is_match(one)).collect();
    QUOTED.replace_all(&sentences.join("\n"), " ").trim().to_owned()
}

/// True if the prompt, from its first line on, is another person's text: a mail, a document or a log.
fn is_anothers(own: &str) -> bool {
    let is_other = |found: Option<regex_lite::Captures<'_>>| {
        let name = found.and_then(|found| found.get(1)).map(|name| name.as_str().to_lowercase());
        name.is_some_and(|name| !NOBODY_ELSE.contains(&name.as_str()))
    };
    let first = own.trim_start().lines().next().unwrap_or_default();
    let has_more = own.trim().lines().count() > 1;
    let begins = has_more && (BEGINS_PASTE.is_match(first) || HEADS.is_match(first) || !is_all_said(own));
    let names_another = || is_other(GREETS.captures(first)) || is_other(SIGNED.captures(own.trim_end()));
    begins || OF_PROGRAM.is_match(first) || ANOTHERS.is_match(own) || names_another()
}

/// True if each line of the first paragraph is a sentence, and no line after the first asks the agent to do something
/// with the other lines.
fn is_all_said(own: &str) -> bool {
    let mut paragraph = own.trim().lines().map(str::trim).take_while(|line| !line.is_empty()).enumerate();
    paragraph.all(|(number, line)| {
        let leads = line.ends_with([':', '：']) || LEADS_IN.is_match(line);
        let is_said = leads || IS_SENTENCE.is_match(line);
        is_said && (number == 0 || !ASKS_BEHIND.is_match(line))
    })
}

/// The sentences of a line. A sign ends a sentence if a space follows, or if the sign belongs to a script without spaces.
pub fn sentences(line: &str) -> Vec<&str> {
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

/// True for a text with a command or an address.
pub fn runs_something(text: &str) -> bool {
    let is_told = |word: &str| {
        !NATURAL.split(' ').any(|natural| natural == word.to_lowercase())
            && !word.starts_with(|c: char| c.is_ascii_digit())
    };
    let told = || TOLD_TO_RUN.captures_iter(text).filter_map(|found| found.get(1)).any(|word| is_told(word.as_str()));
    RUNS.is_match(text) || RUNS_TOO.is_match(text) || told()
}

#[cfg(test)]
mod tests;
