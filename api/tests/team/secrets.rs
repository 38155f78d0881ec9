//! Secrets of one machine on another: through a server that has a place for them, and not without one.

use serde_json::{Value, json};

use crate::bao::Bao;
use crate::serve::get;
use crate::server::{TeamServer, exchange};
use crate::support::Client;
use crate::support::hooks::until;

const SAID: &str = "the staging password is hunter2!X9";

#[test]
fn what_was_set_aside_on_one_machine_is_given_back_on_another_and_to_nobody_else() {
    let Some(server) = TeamServer::start_with(&[("TESSERA_SECRET_KEY", "correct horse")]) else { return };
    is_given_back(server);
}

#[test]
fn the_older_name_of_the_servers_key_does_the_same() {
    let Some(server) = TeamServer::start_with(&[("MEMORY_ENCRYPTION_KEY", "correct horse")]) else { return };
    is_given_back(server);
}

fn is_given_back(mut server: TeamServer) {
    let (ada, bob) = (server.user("ada"), server.user("bob"));
    let (laptop, desktop, bobs) = (server.machine(&ada), server.machine(&ada), server.machine(&bob));
    laptop.remember(SAID);
    exchange(&laptop);
    exchange(&desktop);
    let kept = laptop.json(&["secret", "list"])["secrets"][0].clone();
    let name = kept["name"].as_str().unwrap();
    assert_eq!(kept["on_server"], true, "{kept}");
    assert!(desktop.contents()[0].contains(&format!("[secret {name}: password]")));
    assert!(desktop.json(&["secret", "list"])["secrets"].as_array().unwrap().is_empty());
    assert_eq!(desktop.run(&["secret", "show", name]).stdout, "hunter2!X9\n");
    assert_eq!(desktop.run(&["secret", "show", "#1"]).stdout, format!("{SAID}\n"));
    let mut client = Client::start_with(&desktop, &[]);
    assert_eq!(client.ok("secret_get", json!({ "id": name })), "hunter2!X9");
    assert_eq!(client.ok("secret_get", json!({ "id": 1 })), SAID);
    assert!(client.close().success());
    assert_eq!(desktop.json(&["secret", "uses", name])["uses"].as_array().unwrap().len(), 4);
    laptop.json(&["share", "1", "--with", "bob"]);
    exchange(&bobs);
    assert!(bobs.contents()[0].contains(name));
    let refused = ["1", name].map(|which| bobs.run(&["secret", "show", which]));
    assert!(refused.iter().all(|ran| ran.code == Some(1) && ran.stderr.contains("there is no secret")), "{refused:?}");
    server.down();
    let alone = desktop.run(&["secret", "show", name]);
    assert!(alone.code == Some(1) && alone.stderr.contains("cannot be reached"), "{alone:?}");
    assert_eq!(laptop.run(&["secret", "show", name]).stdout, "hunter2!X9\n");
    for world in [&laptop, &desktop, &bobs] {
        world.assert_healthy();
    }
}

/// N11: a credential that somebody puts into a path is not in the server's log.
#[test]
fn a_path_with_a_credential_is_not_logged() {
    let Some(server) = TeamServer::start() else { return };
    let ada = server.user("ada");
    let token = "ghp_Zk3vQ9xT7mWb2nRc5yLd8pHs4jKf6g1AoE0u";
    let address = server.url().trim_start_matches("http://").to_owned();
    let answer = get(&address, &format!("/api/memories/{token}"), &ada);
    assert!(answer.starts_with("HTTP/1.1 4"), "{answer}");
    assert!(get(&address, &format!("/nowhere/{token}"), &ada).starts_with("HTTP/1.1 404"));
    let logged = || server.log.lock().unwrap().clone();
    until(|| logged().matches("status").count() >= 2, logged);
    assert!(!logged().contains(token), "{}", logged());
}

#[test]
fn a_server_without_a_place_gets_no_secret_and_the_other_machine_says_where_it_is() {
    let Some(server) = TeamServer::start() else { return };
    let ada = server.user("ada");
    let (laptop, desktop) = (server.machine(&ada), server.machine(&ada));
    laptop.remember(SAID);
    exchange(&laptop);
    exchange(&desktop);
    let kept = laptop.json(&["secret", "list"])["secrets"][0].clone();
    assert_eq!(kept["on_server"], false, "{kept}");
    let elsewhere = desktop.run(&["secret", "show", kept["name"].as_str().unwrap()]);
    assert!(elsewhere.code == Some(1) && elsewhere.stderr.contains("stored on another device"), "{elsewhere:?}");
    assert_eq!(laptop.run(&["secret", "show", "1"]).stdout, format!("{SAID}\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn values_lie_in_the_vault_that_the_servers_variables_name() {
    let Some(bao) = Bao::start().await else { return };
    let variables = [("VAULT_ADDR", bao.address()), ("VAULT_TOKEN", "root".to_owned())];
    let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
    let Some(server) = TeamServer::start_with(&variables) else { return };
    let ada = server.user("ada");
    let (laptop, desktop) = (server.machine(&ada), server.machine(&ada));
    laptop.remember(SAID);
    exchange(&laptop);
    exchange(&desktop);
    let id = laptop.json(&["get", "1"])["uuid"].as_str().unwrap().to_owned();
    let name = laptop.json(&["secret", "list"])["secrets"][0]["name"].as_str().unwrap().to_owned();
    let (status, kept) = bao.order("GET", &format!("secret/data/claude-memory/ada/mem-{id}"), Value::Null).await;
    assert_eq!((status, &kept["data"]["data"]), (200, &json!({ &name: "hunter2!X9" })));
    assert_eq!(desktop.run(&["secret", "show", &name]).stdout, "hunter2!X9\n");
}
