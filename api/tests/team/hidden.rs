//! A text that one machine hides disappears from the server, from other machines and from other users, whatever they did
//! meanwhile.

use std::fs;
use std::path::Path;

use crate::server::{TeamServer, exchange};
use crate::support::World;

const SAID: &str = "The gate of the warehouse opens with purple lantern";
const VALUE: &str = "purple lantern";

/// The files of a directory that contain the value.
fn holding(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(holding(&path));
        } else if fs::read(&path).unwrap().windows(VALUE.len()).any(|bytes| bytes == VALUE.as_bytes()) {
            found.push(path.display().to_string());
        }
    }
    found
}

fn hide(world: &World) -> String {
    let hidden = world.run_with_stdin(&["secret", "hide", "1", "--json"], VALUE.as_bytes());
    assert_eq!(hidden.code, Some(0), "{hidden:?}");
    let told: serde_json::Value = serde_json::from_str(&hidden.stdout).unwrap();
    told["name"].as_str().unwrap().to_owned()
}

/// Nobody has the value in clear text, and all have the same text.
fn assert_hidden(server: &TeamServer, worlds: &[&World], text: &str) {
    for world in worlds {
        assert_eq!(holding(&world.home()), Vec::<String>::new());
        assert_eq!(world.contents(), [text]);
        world.assert_healthy();
    }
    assert!(!server.cluster.dump().contains(VALUE), "in the database");
    assert!(!server.log.lock().unwrap().contains(VALUE), "in the log");
}

#[test]
fn another_machine_and_a_teammate_hide_what_one_machine_hides() {
    let Some(server) = TeamServer::start_with(&[("TESSERA_SECRET_KEY", "correct horse")]) else { return };
    let (ada, bob) = (server.user("ada"), server.user("bob"));
    let (laptop, desktop, bobs) = (server.machine(&ada), server.machine(&ada), server.machine(&bob));
    laptop.remember(SAID);
    laptop.json(&["update", "1", "--content", &format!("{SAID} since May")]);
    exchange(&laptop);
    laptop.json(&["share", "1", "--with", "bob"]);
    for world in [&desktop, &bobs] {
        exchange(world);
        assert_eq!(world.run(&["backup"]).code, Some(0));
    }
    // The other machine has an earlier version in its history, too.
    desktop.json(&["update", "1", "--content", &format!("{SAID} since June")]);
    exchange(&desktop);
    exchange(&laptop);
    let name = hide(&laptop);
    for world in [&laptop, &desktop, &bobs, &laptop] {
        exchange(world);
    }
    let text = format!("The gate of the warehouse opens with [secret {name}: marked secret] since June");
    assert_hidden(&server, &[&laptop, &desktop], &text);
    assert_eq!(bobs.contents(), [text]);
    assert_eq!(desktop.run(&["secret", "show", &name]).stdout, format!("{VALUE}\n"));
    let refused = bobs.run(&["secret", "show", &name]);
    assert!(refused.code == Some(1), "{refused:?}");
    // A teammate's copies lose the text, because it does not belong to them.
    assert_eq!(holding(&bobs.home()), Vec::<String>::new());
}

#[test]
fn an_edit_on_another_machine_that_still_has_the_text_does_not_bring_it_back() {
    let Some(server) = TeamServer::start_with(&[("TESSERA_SECRET_KEY", "correct horse")]) else { return };
    let ada = server.user("ada");
    let (laptop, desktop) = (server.machine(&ada), server.machine(&ada));
    laptop.remember(SAID);
    exchange(&laptop);
    exchange(&desktop);
    // Both change the text before they hear of one another.
    desktop.json(&["update", "1", "--content", &format!("{SAID} at night")]);
    let name = hide(&laptop);
    for world in [&laptop, &desktop, &laptop, &desktop, &laptop] {
        exchange(world);
    }
    for world in [&laptop, &desktop] {
        assert_eq!(holding(&world.home()), Vec::<String>::new());
        let texts = world.contents();
        let place = format!("[secret {name}: marked secret]");
        assert!(!texts.is_empty() && texts.iter().all(|text| text.contains(&place)), "{texts:?}");
        world.assert_healthy();
    }
    assert!(!server.cluster.dump().contains(VALUE), "in the database");
}

#[test]
fn an_edit_that_reaches_the_server_first_is_hidden_when_it_comes_back() {
    let Some(server) = TeamServer::start() else { return };
    let ada = server.user("ada");
    let (laptop, desktop) = (server.machine(&ada), server.machine(&ada));
    laptop.remember(SAID);
    exchange(&laptop);
    exchange(&desktop);
    let name = hide(&laptop);
    desktop.json(&["update", "1", "--content", &format!("{SAID} at night")]);
    for world in [&desktop, &laptop, &desktop, &laptop, &desktop] {
        exchange(world);
    }
    let place = format!("[secret {name}: marked secret]");
    for world in [&laptop, &desktop] {
        let texts = world.contents();
        assert!(!texts.is_empty() && texts.iter().all(|text| text.contains(&place)), "{texts:?}");
        assert_eq!(holding(&world.home()), Vec::<String>::new());
    }
    assert!(!server.cluster.dump().contains(VALUE), "in the database");
}

#[test]
fn another_machine_restores_what_one_machine_allows() {
    let Some(server) = TeamServer::start_with(&[("TESSERA_SECRET_KEY", "correct horse")]) else { return };
    let ada = server.user("ada");
    let (laptop, desktop) = (server.machine(&ada), server.machine(&ada));
    laptop.remember(SAID);
    exchange(&laptop);
    exchange(&desktop);
    let name = hide(&laptop);
    exchange(&laptop);
    exchange(&desktop);
    assert_eq!(laptop.run(&["secret", "allow", &name]).code, Some(0));
    for world in [&laptop, &desktop, &laptop, &desktop] {
        exchange(world);
    }
    for world in [&laptop, &desktop] {
        assert_eq!(world.contents(), [SAID]);
        assert_eq!(world.json(&["secret", "list", "--allowed"])["allowed"][0], VALUE);
    }
    // An edit on the other machine leaves the text as it is.
    desktop.json(&["update", "1", "--content", &format!("{SAID} at night")]);
    exchange(&desktop);
    exchange(&laptop);
    assert_eq!(laptop.contents(), [format!("{SAID} at night")]);
}

#[test]
fn a_name_that_comes_back_or_is_quoted_hides_nothing_else() {
    let Some(server) = TeamServer::start() else { return };
    let ada = server.user("ada");
    let (laptop, desktop) = (server.machine(&ada), server.machine(&ada));
    laptop.remember(SAID);
    laptop.remember("The shed is painted in June");
    exchange(&laptop);
    exchange(&desktop);
    let name = hide(&laptop);
    laptop.json(&["update", "2", "--content", "The shed is painted in July"]);
    for world in [&laptop, &desktop] {
        exchange(world);
    }
    laptop.json(&["update", "1", "--content", "The gate is gone"]);
    exchange(&laptop);
    exchange(&desktop);
    // The earlier text comes back, and another memory names the secret in the place of a word.
    let place = format!("[secret {name}: marked secret]");
    laptop.json(&["update", "1", "--content", &format!("The gate is {place}")]);
    laptop.json(&["update", "2", "--content", &format!("The shed is painted in {place}")]);
    exchange(&laptop);
    exchange(&desktop);
    let history = desktop.run(&["history", "1"]).stdout + &desktop.run(&["history", "2"]).stdout;
    for kept in ["The gate is gone", "The shed is painted in June", "The shed is painted in July"] {
        assert!(history.contains(kept), "{kept}: {history}");
    }
    assert_eq!(desktop.run(&["secret", "show", &name]).stdout, format!("{VALUE}\n"));
    desktop.assert_healthy();
}
