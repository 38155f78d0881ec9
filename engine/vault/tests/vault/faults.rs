//! What is not a vault, or one in trouble: how long it takes, what is tried again and what is said.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tessera_vault::{Fields, Vault, VaultError};

use crate::bao::path;
use crate::canned::{Canned, Listener};

const TOKEN: &str = "hvs.CAESITokenOfATest";
const SECRET: &str = "correct-horse-battery";
const WHOLE: Duration = Duration::from_secs(5);

fn secret() -> Fields {
    [("content", SECRET)].into_iter().collect()
}

fn found(version: u64, text: &str) -> Canned {
    Canned::json(
        200,
        &json!({ "data": { "data": { "content": text }, "metadata": { "version": version } } }).to_string(),
    )
}

fn refused(status: u16, words: &str) -> Canned {
    Canned::json(status, &json!({ "errors": [words] }).to_string())
}

/// What a read and a write say when all requests are answered so; and how many requests the write took.
async fn both(answer: Canned) -> (VaultError, VaultError, usize) {
    let listener = Listener::in_turn(vec![answer]).await;
    let vault = listener.vault(TOKEN, WHOLE);
    let read = vault.read(&path("a")).await.unwrap_err();
    // Of another client, whose token is as new as that of the first was.
    let before = listener.asked().len();
    let write = listener.vault(TOKEN, WHOLE).write(&path("a"), &secret(), 0).await.unwrap_err();
    (read, write, listener.asked().len() - before)
}

#[tokio::test]
async fn what_may_pass_is_tried_again() {
    for trouble in [
        Canned::Closed,
        refused(412, "required index state not present"),
        Canned::Answer(429, "retry-after: 0\r\n", "{}".into()),
        refused(473, ""),
        refused(500, "internal error"),
        Canned::Answer(502, "", "<html>bad gateway</html>".into()),
        refused(503, "no leader"),
    ] {
        let listener = Listener::in_turn(vec![trouble.clone(), trouble, found(7, SECRET)]).await;
        let vault = listener.vault(TOKEN, WHOLE);
        assert_eq!(vault.read(&path("a")).await.unwrap().map(|read| read.version), Some(7));
        assert_eq!(listener.asked().len(), 3);
    }
}

#[tokio::test]
async fn what_cannot_pass_is_said_at_once() {
    let sealed = both(refused(503, "Vault is sealed")).await;
    // The second request asks whether it was ever initialised.
    assert_eq!(sealed, (VaultError::Sealed, VaultError::Sealed, 2));
    let page = "<html>not a vault</html>";
    for status in [200, 400, 403, 404] {
        let (read, write, tried) = both(Canned::Answer(status, "", page.into())).await;
        assert!(matches!(read, VaultError::BadAnswer { .. }), "{status}: {read}");
        assert!(matches!(write, VaultError::BadAnswer { .. }), "{status}: {write}");
        assert_eq!(tried, 1, "{status}");
    }
    let (read, _, _) = both(Canned::Answer(200, "", "x".repeat(5 << 20))).await;
    assert_eq!(read, VaultError::BadAnswer { problem: "it is too large" });
    let (_, write, _) = both(refused(413, "")).await;
    assert_eq!(write, VaultError::TooLarge);
    let (_, write, _) = both(refused(405, "unsupported operation")).await;
    assert_eq!(write, VaultError::NoEngine { mount: "secret".into() });
}

#[tokio::test]
async fn nobody_is_sent_on_to_elsewhere() {
    let elsewhere = Listener::in_turn(vec![found(1, "stolen")]).await;
    let to = elsewhere.address.clone();
    let away: &'static str = Box::leak(format!("location: {to}/v1/secret/data/a\r\n").into_boxed_str());
    let (read, write, tried) = both(Canned::Answer(307, away, String::new())).await;
    assert_eq!((read, write, tried), (VaultError::Standby, VaultError::Standby, 4));
    assert!(elsewhere.asked().is_empty());
}

#[tokio::test]
async fn who_never_answers_is_not_waited_for() {
    let begun = Instant::now();
    let listener = Listener::in_turn(vec![Canned::Silence]).await;
    let vault = listener.vault(TOKEN, Duration::from_millis(300));
    let read = vault.read(&path("a")).await.unwrap_err();
    assert!(matches!(&read, VaultError::Unreachable { cause, .. } if cause == "no answer within 300ms"), "{read}");
    assert!(!read.is_permanent());
    // Nobody listens there any more.
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut config = tessera_vault::Config::new(format!("http://{gone}"), tessera_vault::Auth::kubernetes("r"));
    config.auth = tessera_vault::Auth::Token(zeroize::Zeroizing::new(TOKEN.into()));
    let error = Vault::new(config).unwrap().health().await.unwrap_err();
    assert!(matches!(&error, VaultError::Unreachable { host, .. } if *host == gone.to_string()), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_write_whose_answer_was_lost_counts_once() {
    let is_write = |line: &str| line.starts_with("POST");
    let conflict = || refused(400, "check-and-set parameter did not match the current version");
    for (now, is_ours) in [(found(1, SECRET), true), (found(1, "another's"), false), (found(2, SECRET), false)] {
        let listener = Listener::start(move |number, asked| match number {
            0 => Canned::Closed,
            _ if is_write(&asked.line) => conflict(),
            _ => now.clone(),
        })
        .await;
        let written = listener.vault(TOKEN, WHOLE).write(&path("a"), &secret(), 0).await;
        if is_ours {
            assert_eq!(written.unwrap(), 1);
        } else {
            assert_eq!(written.unwrap_err(), VaultError::Conflict { path: "a".into(), expected: 0 });
        }
        assert_eq!(listener.asked().iter().map(|asked| is_write(&asked.line)).collect::<Vec<_>>(), [true, true, false]);
    }
    // A first attempt that was answered is believed.
    let listener = Listener::in_turn(vec![conflict()]).await;
    let written = listener.vault(TOKEN, WHOLE).write(&path("a"), &secret(), 3).await;
    assert_eq!(written.unwrap_err(), VaultError::Conflict { path: "a".into(), expected: 3 });
    assert_eq!(listener.asked().len(), 1);
}

#[tokio::test]
async fn a_request_is_what_a_vault_expects() {
    let listener = Listener::in_turn(vec![found(1, SECRET)]).await;
    let mut config = tessera_vault::Config::new(
        format!("{}/below/", listener.address),
        tessera_vault::Auth::Token(zeroize::Zeroizing::new(TOKEN.into())),
    );
    config.namespace = Some("team/a".into());
    let vault = Vault::new(config).unwrap();
    let place = vault.template().path("a?b#c%2e", "1").unwrap();
    vault.read(&place).await.unwrap();
    // What this listener answers is no answer to a write.
    assert!(vault.write(&place, &secret(), 4).await.is_err());
    let asked = listener.asked();
    assert_eq!(asked[0].line, "GET /below/v1/secret/data/claude-memory/a~3fb~23c~252e/mem-1");
    for header in ["x-vault-token: hvs.", "x-vault-namespace: team/a", "x-vault-request: true"] {
        assert!(asked[0].headers.contains(header), "{}", asked[0].headers);
    }
    let body: Value = serde_json::from_str(&asked[1].body).unwrap();
    assert_eq!(body, json!({ "data": { "content": SECRET }, "options": { "cas": 4 } }));
}

#[tokio::test]
async fn no_error_holds_a_token_or_a_secret() {
    let echo = format!("could not take {SECRET} of {TOKEN}");
    let statuses = [400, 403, 404, 405, 409, 412, 413, 422, 429, 472, 500, 501, 502, 503];
    // Together, since some are tried again and again.
    let writes = statuses.map(|status| tokio::spawn(both(refused(status, &echo))));
    let mut told = String::new();
    for write in writes {
        let (_, write, _) = write.await.unwrap();
        told.push_str(&format!("{write} {write:?}\n"));
    }
    let odd = json!({ "data": { "data": { "content": [SECRET] }, "metadata": { "version": SECRET } } });
    let (read, write, _) = both(Canned::json(200, &odd.to_string())).await;
    told.push_str(&format!("{read} {read:?} {write} {write:?}\n"));
    let mut config = tessera_vault::Config::new(
        format!("https://{TOKEN}@127.0.0.1:1"),
        tessera_vault::Auth::Token(zeroize::Zeroizing::new(TOKEN.into())),
    );
    told.push_str(&format!("{config:?} {:?}", Vault::new(config.clone()).unwrap_err()));
    config.address = "https://127.0.0.1:1".into();
    told.push_str(&format!("{:?} {:?}", Vault::new(config).unwrap(), secret()));
    assert!(told.contains("the vault rejects the request (400)"), "{told}");
    for hidden in [TOKEN, SECRET] {
        assert!(!told.contains(hidden), "{told}");
    }
}
