//! Tokens that are wrong, expired, not allowed, renewed and replaced.

use std::fs;
use std::time::Duration;

use serde_json::json;
use tessera_vault::{Auth, Fields, Vault, VaultError};

use crate::bao::{Bao, path};

const ALL: &str = r#"path "secret/*" { capabilities = ["create", "read", "update", "delete", "list"] }"#;

#[tokio::test]
async fn an_unknown_token_and_an_expired_one_are_told_from_one_that_may_not() {
    let Some(bao) = Bao::start().await else { return };
    let place = path("claude-memory/ada/mem-1");
    assert_eq!(bao.vault_with("wrong").read(&place).await.unwrap_err(), VaultError::TokenInvalid);
    assert_eq!(bao.vault_with("wrong").token().await.unwrap_err(), VaultError::TokenInvalid);

    let short = bao.vault_with(&bao.token(ALL, json!({ "ttl": "2s", "renewable": false })).await);
    assert_eq!(short.read(&place).await.unwrap(), None);
    let state = short.token().await.unwrap();
    assert!(state.remaining.is_some_and(|rest| rest <= Duration::from_secs(2)) && !state.is_renewable, "{state:?}");
    assert_eq!(state.policies, ["default", "of-a-test"]);

    let rules = r#"path "secret/data/claude-memory/ada/*" { capabilities = ["read"] }"#;
    for (policy, life) in [("default", json!({})), ("none", json!({ "no_default_policy": true }))] {
        let reader = bao.vault_with(&bao.token(rules, life).await);
        assert_eq!(reader.read(&place).await.unwrap(), None, "{policy}");
        let denied = |verb, path: &str, rule: &str| VaultError::Denied { verb, path: path.into(), rule: rule.into() };
        let rule = "secret/data/claude-memory/ada/mem-1";
        let error = reader.write(&place, &Fields::default(), 0).await.unwrap_err();
        assert_eq!(error, denied("create", place.as_str(), rule), "{policy}");
        let error = reader.read(&path("claude-memory/bob/mem-1")).await.unwrap_err();
        assert_eq!(error, denied("read", "claude-memory/bob/mem-1", "secret/data/claude-memory/bob/mem-1"), "{policy}");
        let error = reader.delete(&place).await.unwrap_err();
        assert_eq!(error, denied("delete", place.as_str(), "secret/metadata/claude-memory/ada/mem-1"), "{policy}");
        assert!(error.to_string().contains("add `path \"secret/metadata/claude-memory/ada/mem-1\"`"), "{error}");
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(short.read(&place).await.unwrap_err(), VaultError::TokenInvalid);
}

#[tokio::test]
async fn a_token_lives_on_while_somebody_keeps_it() {
    let Some(bao) = Bao::start().await else { return };
    let place = path("a");
    // A given token is asked how long it lives when it has been used for a second.
    let life = json!({ "period": "4s" });
    let (kept, used) = (bao.token(ALL, life.clone()).await, bao.token(ALL, life.clone()).await);
    let [kept, used, left] = [kept, used, bao.token(ALL, life).await].map(|token| bao.vault_with(&token));
    let keeper = tokio::spawn({
        let kept = kept.clone();
        async move { kept.keep_token().await }
    });
    assert_eq!(left.read(&place).await.unwrap(), None);
    for _ in 0..30 {
        assert_eq!(used.read(&place).await.unwrap(), None);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert_eq!(kept.read(&place).await.unwrap(), None);
    assert_eq!(used.read(&place).await.unwrap(), None);
    assert_eq!(left.read(&place).await.unwrap_err(), VaultError::TokenInvalid);
    keeper.abort();
}

#[tokio::test]
async fn a_file_is_read_again_when_its_token_is_known_no_more() {
    let Some(bao) = Bao::start().await else { return };
    let (file, place) = (bao.file("token"), path("a"));
    let mut config = bao.config("");
    config.auth = Auth::TokenFile(file.clone());
    let vault = Vault::new(config).unwrap();
    assert!(matches!(vault.read(&place).await.unwrap_err(), VaultError::TokenFile { .. }));
    for wrong in [&b" \n"[..], b"two words", b"\xff\xfe", b"a\nb"] {
        fs::write(&file, wrong).unwrap();
        assert!(matches!(vault.read(&place).await.unwrap_err(), VaultError::TokenFile { .. }), "{wrong:?}");
    }
    let first = bao.token(ALL, json!({})).await;
    fs::write(&file, format!("{first}\n")).unwrap();
    assert_eq!(vault.read(&place).await.unwrap(), None);

    bao.does("POST", "auth/token/revoke", json!({ "token": first })).await;
    assert_eq!(vault.read(&place).await.unwrap_err(), VaultError::TokenInvalid);
    fs::write(&file, bao.token(ALL, json!({})).await).unwrap();
    assert_eq!(vault.read(&place).await.unwrap(), None);
    fs::write(&file, "s.neverheardof").unwrap();
    assert_eq!(vault.read(&place).await.unwrap(), None, "a token that works is kept");
}
