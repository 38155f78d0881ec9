//! The server against its own contract: generated requests of one user, with another user's memories beside them.
//!
//! Runs where `TESSERA_SCHEMATHESIS` names the program (`.ci/contract` installs it).

use std::fs;
use std::process::Command;

use serde_json::json;

use crate::server::{TeamServer, exchange};
use crate::support::World;

/// Requests that are made up for each operation, beside those that cover each field.
const CASES: &str = "20";
/// Which replies to a sound request are as good as a success.
const CONFIGURATION: &str = "[cache]\nenabled = false\n[checks.positive_data_acceptance]\n\
     expected-statuses = [\"2xx\", \"401\", \"403\", \"404\", \"409\", \"410\", \"412\"]\n";
/// What stands in every text of the other user. Nothing that the first one is sent may hold it.
const MARK: &str = "The Zanzibar lighthouse stands on the coast";

#[test]
fn generated_requests_break_nothing_and_see_nothing_of_another_user() {
    #[expect(clippy::disallowed_methods, reason = "a test cannot use the settings of the program")]
    let Some(program) = std::env::var_os("TESSERA_SCHEMATHESIS") else {
        eprintln!("left out: TESSERA_SCHEMATHESIS does not name the program; `bash .ci/contract` installs it");
        return;
    };
    let Some(server) = TeamServer::start() else { return };
    let (ada, bob) = (server.user("ada"), server.user("bob"));
    let adas = server.machine(&ada);
    for number in 0..20 {
        adas.remember(&format!("{MARK}, says note {number}"));
    }
    adas.json(&["update", "1", "--tags", "private"]);
    exchange(&adas);
    let ids: Vec<String> = (1..=5)
        .map(|short_id| adas.json(&["get", &short_id.to_string()])["uuid"].as_str().unwrap().to_owned())
        .collect();
    let bobs = server.machine(&bob);
    bobs.remember("something of his own");
    exchange(&bobs);
    let cleo = server.user("cleo");
    let dir = World::new();
    fs::write(dir.path("hooks.py"), include_str!("contract.py")).unwrap();
    fs::write(dir.path("schemathesis.toml"), CONFIGURATION).unwrap();
    for (seed, key) in [(1, &bob), (2, &cleo)] {
        let mut command = Command::new(&program);
        command.args(["run", &format!("{}/openapi.json", server.url()), "--no-color"]);
        command.args(["-H", &format!("Authorization: Bearer {key}"), "--seed", &seed.to_string()]);
        command.args([
            "--phases",
            "examples,coverage,fuzzing,stateful",
            "-c",
            "all",
            "-n",
            CASES,
            "-w",
            "1",
            "--no-shrink",
        ]);
        // An import of 1,000 rows takes an unoptimised server many seconds on a busy machine.
        command.args(["--continue-on-failure", "--generation-database", "none"]);
        command.args(["--request-timeout", "300", "--max-response-time", "300"]);
        command.env("SCHEMATHESIS_HOOKS", dir.path("hooks.py")).env("PYTHONHASHSEED", "0");
        command.env("IDS", json!(ids).to_string()).env("MARK", MARK);
        let output = command.current_dir(dir.path("")).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
        eprintln!(
            "{}",
            said.lines().rev().take(12).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join("\n")
        );
    }
    // Nothing of hers was changed either.
    exchange(&adas);
    let kept = adas.contents();
    assert_eq!(kept.iter().filter(|text| text.starts_with(MARK)).count(), 20, "{kept:?}");
    assert_eq!(kept.len(), 20);
}
