//! A user who leaves, as whoever runs the server removes them.

use crate::server::{TeamServer, exchange, program};
use crate::support::{Ran, World};

#[test]
fn a_user_is_written_down_removed_and_proven_to_be_gone() {
    let Some(server) = TeamServer::start() else { return };
    let (ada, bob) = (server.machine(&server.user("ada")), server.machine(&server.user("bob")));
    bob.remember("The crane is serviced in May");
    exchange(&bob);
    let shared = bob.json(&["list"])["memories"][0]["uuid"].as_str().unwrap().to_owned();
    let ran = bob.run(&["share", "--with", "ada", &shared]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    exchange(&ada);
    assert_eq!(ada.contents(), ["The crane is serviced in May"]);

    let world = World::new();
    let run = |args: &[&str]| -> Ran {
        let mut command = world.command(program());
        command.env("DATABASE_URL", server.cluster.url("server")).args(args).output().unwrap().into()
    };
    let automatic = run(&["user", "remove", "bob"]);
    assert!(automatic.code == Some(1) && automatic.stderr.contains("--yes"), "{automatic:?}");
    let proof = run(&["user", "remove", "bob", "--prove"]);
    assert!(proof.code == Some(1) && proof.stdout.contains("memories: 1"), "{proof:?}");
    let file = world.path("bob.jsonl");
    let removed = run(&["user", "remove", "bob", "--yes", "--export", file.to_str().unwrap()]);
    assert!(removed.code == Some(0) && removed.stdout.contains("memories: 1\n"), "{removed:?}");
    let kept = std::fs::read_to_string(&file).unwrap();
    assert!(kept.lines().count() == 1 && kept.contains("serviced in May"), "{kept}");
    let proof = run(&["user", "remove", "bob", "--prove"]);
    assert!(
        proof.code == Some(0) && proof.stdout.ends_with("rows that contain the name bob, excluding the audit log: 0\n"),
        "{proof:?}"
    );
    assert_eq!(run(&["user", "list"]).stdout, "ada\n");
    assert!(run(&["audit", "--user", "bob"]).stdout.contains("user_removed"));
    let nobody = run(&["user", "remove", "bob", "--yes"]);
    assert!(nobody.code == Some(1) && nobody.stderr.contains("unknown user bob"), "{nobody:?}");
    // A machine of somebody who saw it drops it with the next news; theirs are let in no more.
    exchange(&ada);
    assert_eq!(ada.contents(), [""; 0]);
    ada.assert_healthy();
    assert_ne!(bob.run(&["sync", "now"]).code, Some(0));
    // Not written over what is there.
    let again = run(&["user", "add", "bob"]);
    assert_eq!(again.code, Some(0));
    let refused = run(&["user", "remove", "bob", "--yes", "--export", file.to_str().unwrap()]);
    assert!(refused.code == Some(1) && refused.stderr.contains("bob.jsonl"), "{refused:?}");
    assert!(run(&["user", "list"]).stdout.contains("bob"), "nothing was removed that was not written down");
}
