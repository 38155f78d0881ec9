//! A vault that is new, sealed, started again, or not the one that it says it is.

use tessera_vault::{Fields, Vault, VaultError};

use serde_json::Value;

use crate::bao::{Bao, path};

#[tokio::test]
async fn a_vault_that_is_new_or_started_again_is_told_from_one_that_is_away() {
    let Some(mut bao) = Bao::on_files().await else { return };
    let (place, data) = (path("a/b"), [("content", "kept")].into_iter().collect::<Fields>());
    let early = bao.vault();
    assert_eq!(early.read(&place).await.unwrap_err(), VaultError::NotInitialized);
    let health = early.health().await.unwrap();
    assert!(!health.initialized && health.sealed, "{health:?}");

    let key = bao.set_up().await;
    let vault = bao.vault();
    assert_eq!(vault.write(&place, &data, 0).await.unwrap(), 1);
    let health = vault.health().await.unwrap();
    assert!(health.initialized && !health.sealed && !health.version.is_empty(), "{health:?}");

    bao.restart().await;
    let error = vault.write(&place, &data, 1).await.unwrap_err();
    assert_eq!((&error, error.is_permanent()), (&VaultError::Sealed, false));
    assert!(vault.health().await.unwrap().sealed);
    bao.unseal(&key).await;
    let read = vault.read(&place).await.unwrap().unwrap();
    assert_eq!((read.version, read.data), (1, data));
}

#[tokio::test]
async fn a_vault_that_is_sealed_meanwhile_says_so_at_once() {
    let Some(bao) = Bao::start().await else { return };
    let vault = bao.vault();
    assert_eq!(vault.read(&path("a")).await.unwrap(), None);
    bao.does("PUT", "sys/seal", Value::Null).await;
    let begun = std::time::Instant::now();
    assert_eq!(vault.read(&path("a")).await.unwrap_err(), VaultError::Sealed);
    assert_eq!(vault.list(&path("a")).await.unwrap_err(), VaultError::Sealed);
    assert_eq!(vault.delete(&path("a")).await.unwrap_err(), VaultError::Sealed);
    assert_eq!(vault.token().await.unwrap_err(), VaultError::Sealed);
    assert!(begun.elapsed().as_secs() < 2, "what waiting does not help is not tried again");
}

#[tokio::test]
async fn only_a_certificate_that_is_known_is_believed() {
    let Some(bao) = Bao::with_tls().await else { return };
    assert_eq!(bao.vault().read(&path("a")).await.unwrap(), None);
    let mut config = bao.config("root");
    config.certificate = None;
    let error = Vault::new(config).unwrap().read(&path("a")).await.unwrap_err();
    assert!(matches!(error, VaultError::Tls { .. }) && error.is_permanent(), "{error}");
    for wrong in ["", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        std::fs::write(bao.file("wrong.pem"), wrong).unwrap();
        let mut config = bao.config("root");
        config.certificate = Some(bao.file("wrong.pem"));
        assert!(Vault::new(config).is_err(), "{wrong}");
    }
}
