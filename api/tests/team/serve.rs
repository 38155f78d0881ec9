//! The server's program with a real PostgreSQL, and how it ends without one.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use crate::cluster::Cluster;
use crate::server::program;
use crate::support::{Ran, Running, World};

fn server(world: &World, url: &str, args: &[&str]) -> Ran {
    world.command(program()).env("DATABASE_URL", url).args(args).output().unwrap().into()
}

pub(crate) fn get(address: &str, path: &str, key: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(std::time::Duration::from_secs(30))).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_team_is_served_from_one_command_and_keys_are_made_on_the_host() {
    let world = World::new();
    let missing: Ran = world.command(program()).arg("migrate").output().unwrap().into();
    assert!(missing.code != Some(0) && missing.stderr.contains("DATABASE_URL"), "{missing:?}");
    let Some(cluster) = Cluster::start() else { return };
    let url = cluster.url("server");
    assert_eq!(server(&world, &url, &["migrate"]).code, Some(0));
    assert_eq!(server(&world, &url, &["user", "add", "ada"]).code, Some(0));
    assert_eq!(server(&world, &url, &["user", "list"]).stdout, "ada\n");
    let made = server(&world, &url, &["key", "new", "ada", "--json"]);
    let made: serde_json::Value = serde_json::from_str(&made.stdout).unwrap();
    let (id, key) = (made["id"].as_str().unwrap(), made["key"].as_str().unwrap());
    let unsafe_role = server(&world, &cluster.url("admin"), &[]);
    assert!(unsafe_role.code != Some(0) && unsafe_role.stderr.contains("superuser"), "{unsafe_role:?}");
    let nobody = server(&world, &url, &["key", "new", "bob"]);
    assert!(nobody.code != Some(0) && nobody.stderr.contains("unknown user bob"), "{nobody:?}");
    let open = server(&world, &url, &["--listen", "0.0.0.0:0"]);
    assert!(open.code != Some(0) && open.stderr.contains("--behind-proxy"), "{open:?}");

    let watched = server(&world, &url, &["--listen", "127.0.0.1:0", "--metrics", "0.0.0.0:0"]);
    assert!(watched.code != Some(0) && watched.stderr.contains("--behind-proxy"), "{watched:?}");
    let proxy = server(&world, &url, &["--trusted-proxy", "10.0.0.0/8,somewhere"]);
    assert!(proxy.code == Some(2) && proxy.stderr.contains("somewhere"), "{proxy:?}");

    let mut command = world.command(program());
    command.env("DATABASE_URL", &url).args(["--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--metrics-on-api"]);
    let mut running = Running(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(running.0.stderr.take().unwrap()).lines();
    // Whoever watches the server is answered beside the metrics, too.
    let line = lines.next().unwrap().unwrap();
    let watch = line.rsplit("http://").next().unwrap().trim_end_matches("/metrics").to_owned();
    for path in ["/health", "/ready", "/metrics"] {
        assert!(get(&watch, path, "").starts_with("HTTP/1.1 200"), "{path}");
    }
    assert!(get(&watch, "/api/stats", key).starts_with("HTTP/1.1 404"));
    let line = lines.next().unwrap().unwrap();
    let address = line.rsplit("http://").next().unwrap().to_owned();
    assert!(get(&address, "/ready", "").starts_with("HTTP/1.1 200"));
    assert!(get(&address, "/metrics", "").starts_with("HTTP/1.1 200"));
    assert!(get(&address, "/api/auth-check", key).contains("\"ada\""));
    assert_eq!(server(&world, &url, &["key", "revoke", "ada", id]).code, Some(0));
    let refused = get(&address, "/api/auth-check", key);
    assert!(refused.starts_with("HTTP/1.1 401") && refused.contains("application/problem+json"), "{refused}");
    assert!(Command::new("kill").arg(running.0.id().to_string()).status().unwrap().success());
    assert_eq!(running.0.wait().unwrap().code(), Some(0), "it ends when asked to");
}

#[test]
fn machines_join_over_tls_and_only_with_a_certificate_that_they_trust() {
    let Some(cluster) = Cluster::start() else { return };
    let (world, url) = (World::new(), cluster.url("server"));
    let (certificate, private) = (world.path("cert.pem"), world.path("key.pem"));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"])
        .args([
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=DNS:localhost",
            "-addext",
            "basicConstraints=CA:FALSE",
        ])
        .arg("-keyout")
        .arg(&private)
        .arg("-out")
        .arg(&certificate)
        .output();
    if !made.is_ok_and(|made| made.status.success()) {
        crate::skip::left_out("TLS", "openssl makes no certificate");
        return;
    }
    assert_eq!(server(&world, &url, &["migrate"]).code, Some(0));
    assert_eq!(server(&world, &url, &["user", "add", "ada"]).code, Some(0));
    let key = server(&world, &url, &["key", "new", "ada"]).stdout;
    let mut command = world.command(program());
    command.env("DATABASE_URL", &url).args(["--listen", "127.0.0.1:0", "--tls-cert"]).arg(&certificate);
    command.arg("--tls-key").arg(&private).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut running = Running(command.spawn().unwrap());
    let line = BufReader::new(running.0.stderr.take().unwrap()).lines().next().unwrap().unwrap();
    let port = line.rsplit(':').next().unwrap();
    let address = format!("https://localhost:{port}");
    let join = |trusted: Option<&std::path::Path>| -> Ran {
        let machine = World::new();
        let mut command = machine.command(World::binary());
        command.env("TESSERA_API_KEY", key.trim()).args(["sync", "join", &address]);
        if let Some(trusted) = trusted {
            command.env("SSL_CERT_FILE", trusted);
        }
        command.output().unwrap().into()
    };
    let stranger = join(None);
    assert!(stranger.code == Some(1) && stranger.stderr.contains("certificate"), "{stranger:?}");
    let joined = join(Some(&certificate));
    assert!(joined.code == Some(0) && joined.stdout.starts_with("Joined https://localhost"), "{joined:?}");
}

#[test]
fn what_cannot_be_kept_as_it_is_set_is_said_before_anything_is_served() {
    let world = World::new();
    for (settings, said) in [
        (&[("VAULT_TOKEN", "0123456789abcdef")][..], "VAULT_ADDR"),
        (&[("VAULT_ROLE", "0123456789abcdef")], "VAULT_ADDR"),
        (&[("VAULT_ADDR", "https://vault.example.org")], "VAULT_TOKEN"),
        (&[("TESSERA_SECRETS_MODE", "hide")], "encrypt, drop, refuse or vault"),
    ] {
        let mut command = world.command(program());
        command.envs(settings.iter().copied()).env("DATABASE_URL", "postgres://server@127.0.0.1:1/tessera");
        let ran: Ran = command.output().unwrap().into();
        assert!(ran.code == Some(3) && ran.stderr.contains(said), "{settings:?}: {ran:?}");
        assert!(!ran.stderr.contains("0123456789abcdef"), "{ran:?}");
    }
}

#[test]
fn mistakes_of_whoever_runs_it_are_no_faults_of_the_program() {
    let world = World::new();
    let ran = server(&world, "postgres://server@127.0.0.1:1/tessera", &["migrate", "--database-wait", "0"]);
    assert!(ran.code == Some(3) && ran.stderr.contains("PostgreSQL"), "{ran:?}");
    assert!(ran.stderr.matches("os error").count() <= 1, "said once: {}", ran.stderr);
    let mut command = world.command(program());
    let ran: Ran = command.env("API_KEYS", "{").args(["--help"]).output().unwrap().into();
    assert!(ran.code == Some(0) && ran.stdout.contains("DATABASE_URL: address of PostgreSQL"), "{ran:?}");
    assert!(ran.stdout.contains("Exit codes: 0 success"), "{ran:?}");
    for args in [&["key"][..], &["--listen", "here"], &["--tls-cert", "cert.pem"], &["migrate", "--listen", "[::1]:1"]]
    {
        let ran = server(&world, "", args);
        assert_eq!(ran.code, Some(2), "{args:?}: {ran:?}");
    }
}

#[test]
fn the_command_of_the_client_hands_over_to_the_server_beside_it() {
    let world = World::new();
    for (asked, given) in [
        (&["serve", "--version"][..], &["--version"][..]),
        (&["serve", "--help"], &["--help"]),
        (&["serve", "key", "new", "--help"], &["key", "new", "--help"]),
        (&["serve", "migrate", "--listen", "127.0.0.1:1"], &["migrate", "--listen", "127.0.0.1:1"]),
        (&["--json", "serve", "-v", "user", "list"], &["user", "list", "--json", "-v"]),
    ] {
        let (ours, theirs) = (world.run(asked), server(&world, "", given));
        assert_eq!((ours.code, &ours.stdout, &ours.stderr), (theirs.code, &theirs.stdout, &theirs.stderr), "{asked:?}");
        assert!(theirs.stdout.contains("tessera-server") || theirs.code != Some(0), "{theirs:?}");
    }
}

#[test]
fn a_reader_who_leaves_early_is_no_fault() {
    let world = World::new();
    for args in [&["completions", "bash"][..], &["man"]] {
        let mut command = world.command(program());
        let mut child = command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Closed before anything can be written: there is nobody to write to.
        drop(child.stdout.take());
        let ran: Ran = child.wait_with_output().unwrap().into();
        assert!(ran.code == Some(0) && ran.stderr.is_empty(), "{args:?}: {ran:?}");
    }
}
