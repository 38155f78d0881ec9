//! What holds for every text: spans are sound, what is outside them stays, and screening twice is screening once.

use proptest::prelude::*;
use tessera_screen::{Finding, Name, Place, findings};

/// A text with its credentials put aside.
fn screened(text: &str, found: &[Finding]) -> String {
    let mut out = String::new();
    let mut from = 0;
    for (number, finding) in found.iter().enumerate() {
        out.push_str(&text[from..finding.span.start]);
        let place = Place { name: Name::parse(&format!("s{number}k")), kind: finding.kind.to_string() };
        out.push_str(&place.to_string());
        from = finding.span.end;
    }
    out.push_str(&text[from..]);
    out
}

fn check(text: &str) -> Result<(), TestCaseError> {
    let found = findings(text);
    let mut before = 0;
    for finding in &found {
        prop_assert!(finding.span.start >= before && finding.span.end > finding.span.start, "{found:?} in {text:?}");
        prop_assert!(text.get(finding.span.clone()).is_some(), "{finding:?} in {text:?}");
        before = finding.span.end;
    }
    let once = screened(text, &found);
    let again = findings(&once);
    prop_assert!(again.is_empty(), "{again:?} in {once:?} of {text:?}");
    Ok(())
}

const PIECES: &[&str] = &[
    "password",
    "Passwort",
    "api_key",
    "token",
    "secret",
    "密码",
    "パスワードは",
    "пароль",
    "login",
    "auth",
    "Authorization",
    "Basic",
    "Bearer",
    "Cookie",
    "sessionid",
    "seed phrase",
    "recovery code",
    "PIN",
    "curl",
    "-u",
    "--password",
    "-p",
    "mysql",
    "machine",
    "://",
    "postgres://app:",
    "@db/app",
    "-----BEGIN RSA PRIVATE KEY-----",
    "-----END RSA PRIVATE KEY-----",
    "$6$",
    " ",
    " ",
    " ",
    "\n",
    ":",
    "=",
    " is ",
    " ist ",
    ",",
    ";",
    "&",
    "\"",
    "'",
    "`",
    "\\\"",
    "(",
    ")",
    "{",
    "}",
    "<",
    ">",
    "[",
    "]",
    "/",
    "-",
    "_",
    ".",
    "…",
    "„",
    "“",
    "\u{200b}",
    "ｐａｓｓ",
    "[secret s1: password]",
    "[secret ",
    "the",
    "für",
    "a",
    "value",
    "is",
    "admin",
    "x7k9q2m4b8z1",
    "Tr0ub4dor&3",
    "hunter22",
    "Qm7ZtB3xKp9LwR2vYs8NdF4hAA==",
    "4711",
    "ab",
    "9f1cb4ae46ec494b2e2bb8198addfca2",
    "{{x}}",
    "${X}",
    "xxxx",
    "absorb abuse",
    "😀",
    "ä",
];

/// Pieces of texts with credentials: nouns, signs, quotes, values, words.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![8 => prop::sample::select(PIECES).prop_map(str::to_owned), 1 => "[ -~]{1,12}", 1 => "\\PC{1,4}"]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_screened_soundly_and_once(text in "\\PC{0,80}") {
        check(&text)?;
    }

    #[test]
    fn texts_like_those_with_credentials_are_screened_soundly_and_once(pieces in prop::collection::vec(piece(), 0..14)) {
        check(&pieces.concat())?;
    }

    #[test]
    fn with_spaces_between_they_are_as_well(pieces in prop::collection::vec(piece(), 0..14)) {
        check(&pieces.join(" "))?;
    }
}
