//! The server against its own contract: generated requests of one user, with another user's memories beside them.
//!
//! Runs where `TESSERA_SCHEMATHESIS` names the program (`.ci/contract` installs it).

use std::fs;
use std::process::Command;

use serde_json::json;

use crate::server::{TeamServer, exchange};
use crate::support::World;

/// How long requests are generated.
const SECONDS: &str = "45";
/// What stands in every text of the other user. Nothing that the first one is sent may hold it.
const MARK: &str = "zanzibar-lighthouse-7281";

#[test]
fn generated_requests_break_nothing_and_see_nothing_of_another_user() {
    #[expect(clippy::disallowed_methods, reason = "a test has no settings of its own")]
    let Some(program) = std::env::var_os("TESSERA_SCHEMATHESIS") else {
        eprintln!("left out: TESSERA_SCHEMATHESIS does not name the program; `bash .ci/contract` installs it");
        return;
    };
    let Some(server) = TeamServer::start() else { return };
    let (ada, bob) = (server.user("ada"), server.user("bob"));
    let adas = server.machine(&ada);
    for number in 0..20 {
        adas.remember(&format!("{MARK} {number}"));
    }
    adas.json(&["update", "1", "--tags", "private"]);
    exchange(&adas);
    let ids: Vec<String> =
        (1..=5).map(|handle| adas.json(&["get", &handle.to_string()])["id"].as_str().unwrap().to_owned()).collect();
    let bobs = server.machine(&bob);
    bobs.remember("something of his own");
    exchange(&bobs);
    let dir = World::new();
    let hooks = dir.path("hooks.py");
    fs::write(&hooks, hooks_of(&ids)).unwrap();
    let mut command = Command::new(program);
    command.args(["run", &format!("{}/openapi.json", server.url()), "--no-color"]);
    command.args([
        "-H",
        &format!("Authorization: Bearer {bob}"),
        "-n",
        "30",
        "--max-time",
        SECONDS,
        "--generation-database",
        "none",
    ]);
    command.args([
        "-c",
        "not_a_server_error,content_type_conformance,response_schema_conformance,ignored_auth,nothing_of_others",
    ]);
    let output = command.env("SCHEMATHESIS_HOOKS", &hooks).current_dir(dir.path("")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    eprintln!("{}", said.lines().rev().take(25).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join("\n"));
    // Nothing of hers was changed either.
    exchange(&adas);
    let kept = adas.contents();
    assert_eq!(kept.iter().filter(|text| text.starts_with(MARK)).count(), 20, "{kept:?}");
    assert_eq!(kept.len(), 20);
}

/// Half of the ids in paths are hers, and no answer may hold her mark.
fn hooks_of(ids: &[String]) -> String {
    format!(
        "import random\nimport schemathesis\n\nIDS = {}\n\n\
         @schemathesis.hook\ndef map_path_parameters(context, path_parameters):\n    \
         if path_parameters and 'id' in path_parameters and random.random() < 0.5:\n        \
         path_parameters['id'] = random.choice(IDS)\n    return path_parameters\n\n\
         @schemathesis.check\ndef nothing_of_others(ctx, response, case):\n    \
         assert {} not in response.text, 'another user\\'s memory was sent'\n",
        json!(ids),
        json!(MARK)
    )
}
