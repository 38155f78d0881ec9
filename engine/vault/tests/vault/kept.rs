//! What is written, changed, listed and deleted.

use serde_json::{Value, json};
use tessera_vault::{Fields, VaultError};

use crate::bao::{Bao, path};

fn fields(text: &str) -> Fields {
    [("content", text)].into_iter().collect()
}

#[tokio::test]
async fn what_is_written_is_read_and_nobody_overwrites_unseen() {
    let Some(bao) = Bao::start().await else { return };
    let vault = bao.vault();
    let place = vault.template().path("ada", "s7k4q2").unwrap();
    assert_eq!(vault.read(&place).await.unwrap(), None);
    assert_eq!(vault.write(&place, &fields("öpen \"sesame\"\n\u{1f}"), 0).await.unwrap(), 1);
    let read = vault.read(&place).await.unwrap().unwrap();
    assert_eq!((read.version, read.data.get(Fields::CONTENT)), (1, Some("öpen \"sesame\"\n\u{1f}")));

    let conflict = |expected| VaultError::Conflict { path: place.to_string(), expected };
    assert_eq!(vault.write(&place, &fields("mine"), 0).await.unwrap_err(), conflict(0));
    assert_eq!(vault.write(&place, &fields("second"), 1).await.unwrap(), 2);
    assert_eq!(vault.write(&place, &fields("late"), 1).await.unwrap_err(), conflict(1));
    assert_eq!(vault.read(&place).await.unwrap().unwrap().data, fields("second"));

    let large = "x".repeat(200_000);
    assert_eq!(vault.write(&place, &fields(&large), 2).await.unwrap(), 3);
    assert_eq!(vault.read(&place).await.unwrap().unwrap().data, fields(&large));
}

#[tokio::test]
async fn changes_at_the_same_time_are_all_kept() {
    let Some(bao) = Bao::start().await else { return };
    let vault = bao.vault();
    let place = vault.template().path("ada", "1").unwrap();
    let changes: Vec<_> = (0..16)
        .map(|number| {
            let (vault, place) = (vault.clone(), place.clone());
            tokio::spawn(async move {
                vault.update(&place, |fields| fields.insert(format!("s{number}"), "secret")).await.unwrap()
            })
        })
        .collect();
    for change in changes {
        change.await.unwrap();
    }
    let read = vault.read(&place).await.unwrap().unwrap();
    assert_eq!(read.version, 16);
    assert!((0..16).all(|number| read.data.get(&format!("s{number}")) == Some("secret")));
    // What changes nothing writes nothing.
    assert_eq!(vault.update(&place, |fields| fields.insert("s0", "secret")).await.unwrap(), 16);
    assert_eq!(vault.update(&place, |fields| drop(fields.remove("s0"))).await.unwrap(), 17);
    assert_eq!(vault.read(&place).await.unwrap().unwrap().data.get("s0"), None);
}

#[tokio::test]
async fn what_is_deleted_is_gone_with_all_its_versions() {
    let Some(bao) = Bao::start().await else { return };
    let vault = bao.vault();
    let place = vault.template().path("ada", "1").unwrap();
    for version in 0..3 {
        vault.write(&place, &fields("secret"), version).await.unwrap();
    }
    vault.delete(&place).await.unwrap();
    assert_eq!(vault.read(&place).await.unwrap(), None);
    let about = format!("secret/metadata/{place}");
    assert_eq!(bao.order("GET", &about, Value::Null).await.0, 404);
    assert_eq!(bao.order("GET", &format!("secret/data/{place}?version=1"), Value::Null).await.0, 404);
    // Gone already, and gone before it ever was.
    vault.delete(&place).await.unwrap();
    assert_eq!(vault.write(&place, &fields("anew"), 0).await.unwrap(), 1);
}

#[tokio::test]
async fn what_the_older_system_keeps_is_read_and_changed() {
    let Some(bao) = Bao::start().await else { return };
    let vault = bao.vault();
    let place = vault.template().path("ada@example.org", "42").unwrap();
    let content = json!({ "data": { "content": "the door opens to mellon" } });
    bao.does("POST", "secret/data/claude-memory/ada@example.org/mem-42", content).await;
    let read = vault.read(&place).await.unwrap().unwrap();
    assert_eq!((read.version, read.data), (1, fields("the door opens to mellon")));

    // It deletes the last version alone, which leaves a number behind.
    bao.does("DELETE", &format!("secret/data/{place}"), Value::Null).await;
    assert_eq!(vault.read(&place).await.unwrap(), None);
    assert!(matches!(vault.write(&place, &fields("new"), 0).await, Err(VaultError::Conflict { .. })));
    assert_eq!(vault.update(&place, |fields| fields.insert("content", "new")).await.unwrap(), 2);
    assert_eq!(vault.read(&place).await.unwrap().unwrap().data, fields("new"));

    // A number is no text; it is neither taken for one nor shown.
    bao.does("POST", "secret/data/pins", json!({ "data": { "pin": 918_273 } })).await;
    let error = vault.read(&path("pins")).await.unwrap_err();
    assert!(matches!(error, VaultError::BadAnswer { .. }), "{error}");
    assert!(!format!("{error} {error:?}").contains("918273"));
}

#[tokio::test]
async fn a_folder_lists_its_own() {
    let Some(bao) = Bao::start().await else { return };
    let vault = bao.vault();
    for (user, id) in [("ada", "1"), ("ada", "2"), ("../ada", "3"), ("bob", "1")] {
        let place = vault.template().path(user, id).unwrap();
        vault.write(&place, &fields(user), 0).await.unwrap();
    }
    let folder = vault.template().folder("ada").unwrap();
    assert_eq!(vault.list(&folder).await.unwrap(), ["mem-1", "mem-2"]);
    assert_eq!(vault.list(&path("claude-memory")).await.unwrap(), ["..~2fada/", "ada/", "bob/"]);
    assert_eq!(vault.list(&vault.template().folder("eve").unwrap()).await.unwrap(), Vec::<String>::new());
    vault.delete(&folder.child("mem-1").unwrap()).await.unwrap();
    assert_eq!(vault.list(&folder).await.unwrap(), ["mem-2"]);
    let other = vault.template().path("../ada", "3").unwrap();
    assert_eq!(vault.read(&other).await.unwrap().unwrap().data, fields("../ada"));
}

#[tokio::test]
async fn mounts_and_namespaces_are_kept_apart() {
    let Some(bao) = Bao::start().await else { return };
    let place = path("a/b");
    let at = |mount: &str, namespace: Option<&str>| {
        let mut config = bao.config("root");
        config.mount = mount.into();
        config.namespace = namespace.map(str::to_owned);
        tessera_vault::Vault::new(config).unwrap()
    };
    let none = |mount: &str| VaultError::NoEngine { mount: mount.into() };
    for error in [
        at("nowhere", None).read(&place).await.unwrap_err(),
        at("nowhere", None).write(&place, &fields("x"), 0).await.unwrap_err(),
        at("nowhere", None).list(&place).await.unwrap_err(),
        at("nowhere", None).delete(&place).await.unwrap_err(),
    ] {
        assert_eq!(error, none("nowhere"));
    }
    // An engine of version 1 takes whatever is written, under another name.
    bao.does("POST", "sys/mounts/plain", json!({ "type": "kv", "options": { "version": "1" } })).await;
    assert_eq!(at("plain", None).write(&place, &fields("x"), 0).await.unwrap_err(), none("plain"));

    bao.does("POST", "sys/namespaces/team", Value::Null).await;
    bao.does("POST", "team/sys/mounts/kv/deep", json!({ "type": "kv", "options": { "version": "2" } })).await;
    let within = at("/kv/deep/", Some("team/"));
    within.write(&place, &fields("theirs"), 0).await.unwrap();
    assert_eq!(within.read(&place).await.unwrap().unwrap().data, fields("theirs"));
    assert_eq!(at("secret", None).read(&place).await.unwrap(), None);
    assert!(within.health().await.unwrap().initialized);
    let (status, found) = bao.order("GET", "team/kv/deep/data/a/b", Value::Null).await;
    assert_eq!((status, &found["data"]["data"]["content"]), (200, &json!("theirs")));
}
