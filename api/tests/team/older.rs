//! An installation of the older system, whose image is replaced by ours: the same database, the same variables, its superuser.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::cluster::Cluster;
use crate::serve::get;
use crate::server::{TeamServer, program};
use crate::support::{Ran, Running, World};

fn dump() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/db/older-postgresql.sql")
}

/// A cluster as the older system's composition makes it: its one role may do anything, and asks for a password where the
/// cluster does.
fn older() -> Option<Cluster> {
    let cluster = Cluster::start()?;
    cluster.sql_on("postgres", "CREATE ROLE claude_memory LOGIN SUPERUSER PASSWORD 'devpassword'");
    cluster.sql_on("postgres", "ALTER DATABASE tessera OWNER TO claude_memory");
    cluster.run_file("claude_memory", &dump());
    Some(cluster)
}

#[test]
fn an_installation_moves_by_replacing_the_image() {
    let Some(cluster) = older() else { return };
    // The cluster asks for passwords, as the image does.
    cluster.ask_for_passwords();
    let variables =
        [("API_KEY", "dev-api-key"), ("API_KEYS", r#"{"ada": "key-ada-xxx", "Élodie Müller": "key-elodie-xxx"}"#)];
    let mut server = TeamServer::on(cluster, &variables);
    server.role = "claude_memory:devpassword".into();
    server.up();
    let log = server.log.lock().unwrap().clone();
    for said in
        ["14 memories", "#31: the text is 2097150 bytes long", "the key of ada is short enough", "\"Élodie Müller\""]
    {
        assert!(log.contains(said), "{said}: {log}");
    }
    let address = server.url().trim_start_matches("http://").to_owned();
    for (key, text) in [
        ("dev-api-key", "Buoy twelve sends nothing since the storm"),
        ("key-ada-xxx", "The staging gateway listens on port 9000"),
        ("key-elodie-xxx", "Le ferry de sept heures part du môle nord"),
    ] {
        let answer = get(&address, "/api/memories", key);
        assert!(answer.starts_with("HTTP/1.1 200") && answer.contains(text), "{answer}");
    }
    // It serves as a role of its own, that is no superuser.
    let who = "SELECT string_agg(DISTINCT usename, ' ') FROM pg_stat_activity WHERE datname = 'tessera' AND pid <> pg_backend_pid()";
    assert_eq!(server.cluster.ask(who), "tessera_server");
    let may = "SELECT rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb FROM pg_roles WHERE rolname = 'tessera_server'";
    assert_eq!(server.cluster.ask(may), "f");
    // A removed user stays removed, and a key that still names that user keeps the server from nothing.
    server.down();
    let name = server.cluster.ask("SELECT name FROM older.names WHERE older = 'Élodie Müller'");
    server.host(&["user", "remove", &name, "--yes"]);
    server.up();
    assert!(get(&address, "/api/memories", "key-elodie-xxx").starts_with("HTTP/1.1 401"));
    assert!(get(&address, "/api/memories", "dev-api-key").starts_with("HTTP/1.1 200"));
    // Once more, with another password of the superuser and without the older tables.
    server.down();
    server.cluster.ask("ALTER ROLE claude_memory PASSWORD 'another'");
    server.cluster.ask("DROP SCHEMA older CASCADE");
    server.role = "claude_memory:another".into();
    server.up();
    let answer = get(&address, "/api/memories", "key-ada-xxx");
    assert!(answer.contains("The staging gateway"), "{answer}");
    // A machine joins and has what was there, under the same numbers.
    let machine = server.machine("key-ada-xxx");
    assert!(machine.contents().iter().any(|text| text == "I prefer Svelte over React for new front ends"));
}

/// Killed at any moment, it goes on where it was.
#[test]
fn a_takeover_that_is_killed_goes_on_and_doubles_nothing() {
    let Some(cluster) = Cluster::start() else { return };
    cluster.run_file("server", &dump());
    cluster.ask(
        "INSERT INTO memories (user_id, content, tags) SELECT 'ada', 'Berth ' || n || ' is swept on day ' || n % 28, 'berths'
         FROM generate_series(1, 4000) n",
    );
    let (world, url) = (World::new(), cluster.url("server"));
    let mut kills = 0;
    for after in (1..).map(|step| Duration::from_millis(150 * step)) {
        let mut command = world.command(program());
        command.env("DATABASE_URL", &url).arg("migrate").stdout(Stdio::null()).stderr(Stdio::null());
        let mut running = Running(command.spawn().unwrap());
        let started = Instant::now();
        let ended = loop {
            if let Some(status) = running.0.try_wait().unwrap() {
                break Some(status);
            }
            if started.elapsed() > after {
                running.0.kill().unwrap();
                running.0.wait().unwrap();
                break None;
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        match ended {
            Some(status) => {
                assert!(status.success(), "{status:?}");
                break;
            }
            None => kills += 1,
        }
        // What is noted and what is there are one.
        if cluster.ask("SELECT to_regclass('older.taken') IS NOT NULL AND to_regclass('public.feed') IS NOT NULL")
            == "t"
        {
            let both = "SELECT (SELECT count(*) FROM older.taken WHERE memory IS NOT NULL) = (SELECT count(*) FROM public.memories)";
            assert_eq!(cluster.ask(both), "t");
        }
    }
    assert!(kills >= 2, "it was killed {kills} times");
    assert_eq!(cluster.ask("SELECT count(*) FROM memories"), "4014");
    assert_eq!(
        cluster.ask("SELECT count(*) FROM (SELECT FROM memories GROUP BY owner, content HAVING count(*) > 1) d"),
        "0"
    );
    assert_eq!(cluster.ask("SELECT count(*) FROM feed WHERE user_id = 'ada' AND owner = 'ada'"), "4009");
    assert_eq!(cluster.ask("SELECT count(*) FROM feed WHERE short_id <> seq AND user_id <> 'ada'"), "0");
}

/// A server whose database comes up later waits for it, and says so; one whose database does not is not waited for for ever.
#[test]
fn a_database_that_comes_up_later_is_waited_for() {
    let Some(cluster) = Cluster::start() else { return };
    let world = World::new();
    let url = cluster.url("server");
    cluster.end();
    let given_up: Ran = world
        .command(program())
        .env("DATABASE_URL", &url)
        .args(["migrate", "--database-wait", "2"])
        .output()
        .unwrap()
        .into();
    assert!(given_up.code == Some(3) && given_up.stderr.contains("waiting for PostgreSQL"), "{given_up:?}");
    assert!(given_up.stderr.contains("at most 2 s"), "{given_up:?}");
    // Other work does not wait unless it is told to.
    let started = Instant::now();
    let ran: Ran = world.command(program()).env("DATABASE_URL", &url).args(["user", "list"]).output().unwrap().into();
    assert!(ran.code == Some(3) && started.elapsed() < Duration::from_secs(5), "{ran:?}");
    let mut server = TeamServer::on(cluster, &[]);
    let mut command = world.command(program());
    command.env("DATABASE_URL", &url).arg("migrate").stdout(Stdio::null()).stderr(Stdio::piped());
    let mut waiting = Running(command.spawn().unwrap());
    std::thread::sleep(Duration::from_secs(3));
    assert!(waiting.0.try_wait().unwrap().is_none(), "it waits");
    server.cluster.begin();
    let status = waiting.0.wait().unwrap();
    assert!(status.success(), "{status:?}");
    server.up();
}
