//! Secrets of one machine in a real OpenBao, where there is one.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::skip::left_out;
use crate::support::{Client, Ran, Running, World};

/// How long an OpenBao may take to answer.
const READY: Duration = Duration::from_secs(10);

/// The program, where `.ci/openbao` puts it or where a variable says.
#[expect(clippy::disallowed_methods, reason = "a test cannot use the settings of the program")]
fn program() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("TESSERA_OPENBAO") {
        return Some(path.into());
    }
    let target = World::binary().ancestors().nth(2)?.join("openbao");
    let is_program = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("bao-"));
    std::fs::read_dir(target).ok()?.filter_map(|entry| Some(entry.ok()?.path())).filter(is_program).max()
}

/// One in memory, with the token `root`.
struct Bao {
    program: PathBuf,
    address: String,
    running: Option<Running>,
}

impl Bao {
    fn start() -> Option<Self> {
        let Some(program) = program() else {
            left_out("OpenBao", "`bash .ci/openbao` fetches one");
            return None;
        };
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut bao = Self { program, address: format!("127.0.0.1:{port}"), running: None };
        bao.up();
        Some(bao)
    }

    fn up(&mut self) {
        let mut command = Command::new(&self.program);
        command.args(["server", "-dev", "-dev-root-token-id=root", "-dev-no-store-token", "-dev-listen-address"]);
        let child = command.arg(&self.address).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        self.running = Some(Running(child));
        let begun = Instant::now();
        while !self.asked(&["status"]).status.success() {
            assert!(begun.elapsed() < READY, "OpenBao does not answer");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn asked(&self, args: &[&str]) -> std::process::Output {
        let mut command = Command::new(&self.program);
        command
            .env("BAO_ADDR", format!("http://{}", self.address))
            .env("BAO_TOKEN", "root")
            .args(args)
            .output()
            .unwrap()
    }

    /// What it keeps of a memory.
    fn fields(&self, world: &World, memory: &str) -> Option<Value> {
        let owner = self.asked(&["kv", "list", "-format=json", "-mount=secret", "claude-memory"]).stdout;
        let owner = serde_json::from_slice::<Value>(&owner).ok()?[0].as_str()?.trim_end_matches('/').to_owned();
        assert!(owner.starts_with("store-") && world.home().exists(), "{owner}");
        let path = format!("claude-memory/{owner}/mem-{memory}");
        let got = self.asked(&["kv", "get", "-format=json", "-mount=secret", &path]).stdout;
        Some(serde_json::from_slice::<Value>(&got).ok()?["data"]["data"].clone())
    }

    fn variables(&self) -> [(&'static str, String); 3] {
        [
            ("TESSERA_SECRETS_MODE", "vault".into()),
            ("VAULT_ADDR", format!("http://{}", self.address)),
            ("VAULT_TOKEN", "root".into()),
        ]
    }

    fn run(&self, world: &World, args: &[&str]) -> Ran {
        world.command(World::binary()).envs(self.variables()).args(args).output().unwrap().into()
    }
}

#[test]
fn a_value_moves_to_the_vault_and_comes_back_from_there_and_leaves_it_with_its_memory() {
    let Some(mut bao) = Bao::start() else { return };
    let world = World::new();
    let stored = bao.run(&world, &["remember", "the staging password is hunter2!X9", "--json"]);
    assert_eq!((stored.code, stored.stderr.as_str()), (Some(0), ""));
    let stored: Value = serde_json::from_str(&stored.stdout).unwrap();
    let (id, name) = (stored["uuid"].as_str().unwrap(), stored["secrets"][0]["name"].as_str().unwrap());
    assert_eq!(bao.fields(&world, id).unwrap(), json!({ name: "hunter2!X9" }));
    assert_eq!(bao.run(&world, &["secret", "show", name]).stdout, "hunter2!X9\n");
    assert_eq!(bao.run(&world, &["secret", "show", "#1"]).stdout, "the staging password is hunter2!X9\n");
    let without = world.run(&["secret", "show", name]);
    assert!(without.code == Some(1) && without.stderr.contains("it is in a vault"), "{without:?}");
    let variables = bao.variables();
    let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut client = Client::start_with(&world, &variables);
    assert_eq!(client.ok("secret_get", json!({ "id": name })), "hunter2!X9");
    let told = client.ok("memory_store", json!({ "content": "the vpn password is Tr0ub4dor&3xy" }));
    assert!(told.contains("Redacted ["), "{told}");
    assert!(client.close().success());
    let second = world.json(&["get", "2"])["uuid"].as_str().unwrap().to_owned();
    bao.run(&world, &["remember", "whatever was not told yet is told now"]);
    assert!(bao.fields(&world, &second).unwrap().to_string().contains("Tr0ub4dor&3xy"));
    // The vault goes down: what is new stays here, sealed, and is told later.
    bao.running = None;
    let kept = bao.run(&world, &["remember", "the door password is hunter7!Q4z"]);
    assert!(
        kept.code == Some(0) && kept.stderr.contains("stay encrypted in the store until the vault accepts them"),
        "{kept:?}"
    );
    assert_eq!(bao.run(&world, &["secret", "show", "4"]).stdout, "the door password is hunter7!Q4z\n");
    let down = bao.run(&world, &["secret", "show", name]);
    assert!(
        down.code == Some(1) && !down.stderr.contains("root") && down.stderr.contains("cannot be reached"),
        "{down:?}"
    );
    bao.up();
    assert_eq!(bao.run(&world, &["remember", "a plain note"]).stderr, "");
    let third = world.json(&["get", "4"])["uuid"].as_str().unwrap().to_owned();
    assert!(bao.fields(&world, &third).unwrap().to_string().contains("hunter7!Q4z"));
    assert_eq!(bao.run(&world, &["forget", "4", "--hard"]).code, Some(0));
    assert_eq!(bao.fields(&world, &third), None);
}
