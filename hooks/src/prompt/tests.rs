//! What is asked of the memory for prompts of every kind.

use super::*;

fn asked(prompt: &str) -> Result<String, &'static str> {
    match Reading::of(prompt) {
        Reading::Ask { query, .. } => Ok(query),
        Reading::Skip(reason) => Err(reason),
    }
}

#[test]
fn what_asks_nothing_is_skipped() {
    for (prompt, reason) in [
        ("", "empty"),
        ("  \n ", "empty"),
        ("!cargo test", "shell command"),
        ("/clear", "slash command"),
        ("/tessera:recall which port", "our own command"),
        ("fix it", "short"),
        ("ok thanks, looks good, please continue", "small talk"),
        ("<system-reminder>be nice to the user of this</system-reminder>", "empty"),
        ("2026-11-20 12:00:01 INFO started\n2026-11-20 12:00:02 INFO listening", "only pasted text"),
    ] {
        assert_eq!(asked(prompt), Err(reason), "{prompt:?}");
    }
}

#[test]
fn the_persons_own_words_are_asked() {
    assert_eq!(asked("which port does the ledger take?").as_deref(), Ok("which port does the ledger take?"));
    assert_eq!(
        asked("please explain what the ledger does").as_deref(),
        Ok("  what the ledger does"),
        "words of asking"
    );
    assert_eq!(asked("can you show me how to use it, in full").as_deref(), Ok("can you  me how to  it, in full"));
    assert_eq!(asked("/review the ledger service").as_deref(), Ok("the ledger service"));
    assert_eq!(asked("/usr/bin/env is missing, why?").as_deref(), Ok("/usr/bin/env is missing, why?"));
    assert_eq!(asked("上海机房").as_deref(), Ok("上海机房"));
    let fenced = "why does this fail?\n```rust\nfn main() { ledger_secret(); }\n```\nit worked on Monday";
    assert_eq!(asked(fenced).as_deref(), Ok("why does this fail?\nit worked on Monday"));
}

#[test]
fn pasted_errors_are_looked_for_beside_the_words() {
    let prompt =
        "what is wrong here?\n2026-11-20 12:00:02 ERROR LDG-4019 ledger is sealed\n    at Ledger.post(Ledger.java:42)";
    let Reading::Ask { query, expanded } = Reading::of(prompt) else { panic!("{:?}", Reading::of(prompt)) };
    assert_eq!(query, "what is  here?");
    assert!(expanded.unwrap().contains("LDG-4019"));
    assert!(asked("thread 'main' panicked at src/main.rs:4:5:\nLDG-4019\n").is_ok());
}

#[test]
fn a_huge_prompt_is_read_at_both_ends() {
    let prompt = format!("The first words. {} The last words.", "filler words that go on ".repeat(100_000));
    let query = asked(&prompt).unwrap();
    assert!(query.starts_with("The first words.") && query.ends_with("The last words."), "{}", query.len());
    assert!(query.chars().count() < 2_000);
    let emoji = "🧩".repeat(40_000);
    assert!(asked(&emoji).is_err());
}

#[test]
fn every_line_that_a_program_wrote_reaches_the_pattern() {
    let pasted = [
        "2026-11-20T12:00 up",
        "[12:00:01] up",
        "Nov 12 10:10:10 host",
        "TRACE done",
        "  WARN] full",
        "FATAL: full",
        "error[E0433]: failed",
        "at Ledger.post(Ledger.java)",
        "at async main",
        "File \"a.py\"",
        "Traceback (most",
        "Caused by: x",
        "... 12 more",
        "--> src",
        "3: 0x1f",
        "panicked at x",
        "@@ -1",
        "+++ b",
        "- old",
        "diff --git a",
        "index 0a1b2c3",
        "{",
        "\"key\" : 1",
        "| a",
        "====",
        "$ ls",
        "12 | let",
        "npm ERR! x",
        "cargo[1]: x",
        "test a::b ... ok",
        "TypeError x",
        "my_Exception",
        "Überlauf_Error: 3",
    ];
    for line in pasted {
        assert_eq!(is_pasted(line), PASTED.is_match(line), "{line}");
        assert!(may_be_pasted(line), "{line}");
    }
    let file = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/prompts.toml")).unwrap();
    let mut plain = 0;
    for line in file.lines().map(|line| line.trim_start_matches(|c: char| !c.is_alphabetic())) {
        assert_eq!(is_pasted(line), PASTED.is_match(line), "{line}");
        plain += usize::from(!may_be_pasted(line));
    }
    assert!(plain > 300, "{plain} lines do without the pattern");
}
