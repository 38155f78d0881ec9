//! The keyring against a real one, where there is GNOME's, and against what is none.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use super::system::{attributes, bounded, open_collection};
use super::*;

#[path = "../../../../fixtures/skip.rs"]
mod skip;

/// A bus of a test's own with GNOME's keyring on it; both end with the value.
struct Desktop {
    bus: Child,
    daemon: Option<Child>,
    home: tempfile::TempDir,
    address: String,
    keyring: Keyring,
}

impl Desktop {
    /// A bus, or `None` where there is no program for one.
    fn with_bus() -> Option<Self> {
        let home = tempfile::tempdir().unwrap();
        // Nothing may be started by being called: this bus knows no services.
        let settings = home.path().join("bus.conf");
        let rules = "<allow send_destination=\"*\"/><allow own=\"*\"/><allow receive_sender=\"*\"/>";
        let socket = home.path().join("bus");
        let listen = format!("<type>session</type><listen>unix:path={}</listen>", socket.display());
        let text = format!("<busconfig>{listen}<policy context=\"default\">{rules}</policy></busconfig>");
        std::fs::write(&settings, text).unwrap();
        let mut started = Command::new("dbus-daemon");
        started.arg(format!("--config-file={}", settings.display())).args(["--nofork", "--print-address=1"]);
        let Ok(mut bus) = started.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn() else {
            skip::left_out("Keyring", "dbus-daemon is not installed");
            return None;
        };
        let mut address = String::new();
        BufReader::new(bus.stdout.take().unwrap()).read_line(&mut address).unwrap();
        let address = address.trim().to_owned();
        let keyring = Keyring::of_session(|name| (name == "DBUS_SESSION_BUS_ADDRESS").then(|| address.clone()));
        Some(Self { bus, daemon: None, home, address, keyring: keyring.unwrap() })
    }

    /// A bus with an unlocked keyring on it.
    fn start() -> Option<Self> {
        let mut desktop = Self::with_bus()?;
        desktop.keep_secrets("a password").then_some(desktop)
    }

    fn keep_secrets(&mut self, password: &str) -> bool {
        let home = self.home.path();
        let mut started = Command::new("gnome-keyring-daemon");
        started.args(["--foreground", "--unlock", "--components=secrets"]).env("HOME", home);
        started.env("DBUS_SESSION_BUS_ADDRESS", &self.address).env("XDG_RUNTIME_DIR", home);
        started.env("XDG_DATA_HOME", home).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let Ok(mut daemon) = started.spawn() else {
            skip::left_out("Keyring", "gnome-keyring-daemon is not installed");
            return false;
        };
        daemon.stdin.take().unwrap().write_all(password.as_bytes()).unwrap();
        self.daemon = Some(daemon);
        let begun = Instant::now();
        while let Err(error @ KeyringError::Absent { .. }) = self.keyring.load("nobody") {
            assert!(begun.elapsed() < Duration::from_secs(10), "{error}");
            thread::sleep(Duration::from_millis(20));
        }
        true
    }

    fn stop_keeping(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        self.stop_keeping();
        let _ = self.bus.kill();
        let _ = self.bus.wait();
    }
}

fn new_keys(count: usize) -> Keys {
    (1..count).fold(Keys::of(Key::generate().unwrap()), |keys, _| keys.followed_by(Key::generate().unwrap()))
}

fn ids(keys: &Keys) -> Vec<String> {
    std::iter::once(&keys.current).chain(&keys.before).map(|key| key.id().to_string()).collect()
}

fn kept_under(keyring: &Keyring, account: &str) -> usize {
    let account = account.to_owned();
    let count = move |place: &Place| {
        bounded(async { Ok(place.service().await?.search_items(attributes(&account)).await.unwrap().unlocked.len()) })
    };
    keyring.ask(count).unwrap()
}

#[test]
fn a_key_is_kept_replaced_and_removed() {
    let Some(mut desktop) = Desktop::start() else { return };
    let keyring = desktop.keyring.clone();
    let loaded = |account: &str| keyring.load(account).unwrap().map(|keys| ids(&keys));
    assert_eq!(loaded("one"), None);
    let (one, other, many) = (new_keys(1), new_keys(1), new_keys(40));
    keyring.save("one", &one).unwrap();
    keyring.save("another's, with ünusual \"signs\"", &other).unwrap();
    assert_eq!(loaded("one"), Some(ids(&one)));
    assert_eq!(loaded("another's, with ünusual \"signs\""), Some(ids(&other)));
    keyring.save("one", &many).unwrap();
    assert_eq!(loaded("one"), Some(ids(&many)));
    assert_eq!(kept_under(&keyring, "one"), 1);
    keyring.remove("one").unwrap();
    assert_eq!(loaded("one"), None);
    keyring.remove("one").unwrap();

    // It outlives the session, under its password; with another one nobody reads it.
    desktop.stop_keeping();
    assert!(desktop.keep_secrets("a password"));
    assert_eq!(loaded("another's, with ünusual \"signs\""), Some(ids(&other)));
    desktop.stop_keeping();
    assert!(desktop.keep_secrets("a wrong password"));
    assert_eq!(keyring.load("another's, with ünusual \"signs\"").unwrap_err(), KeyringError::Locked);
}

#[test]
fn what_is_locked_stays_locked_and_asks_nobody() {
    let Some(desktop) = Desktop::start() else { return };
    let keyring = &desktop.keyring;
    let keys = new_keys(1);
    keyring.save("one", &keys).unwrap();
    let locked = |place: &Place| {
        bounded(async {
            let service = place.service().await?;
            open_collection(&service).await?.lock().await.unwrap();
            Ok(())
        })
    };
    keyring.ask(locked).unwrap();
    let begun = Instant::now();
    assert_eq!(keyring.load("one").unwrap_err(), KeyringError::Locked);
    assert_eq!(keyring.save("one", &keys).unwrap_err(), KeyringError::Locked);
    assert_eq!(keyring.save("two", &keys).unwrap_err(), KeyringError::Locked);
    assert_eq!(keyring.remove("one").unwrap_err(), KeyringError::Locked);
    assert!(begun.elapsed() < Duration::from_secs(1));
}

#[test]
fn what_is_no_key_is_not_taken_for_one() {
    let Some(desktop) = Desktop::start() else { return };
    let keyring = &desktop.keyring;
    for (text, source) in [("", KeyError::Empty), ("hunter2", KeyError::NotHex), ("\u{0}\n", KeyError::NotHex)] {
        keyring.ask(move |place| place.write("one", text.as_bytes())).unwrap();
        assert_eq!(keyring.load("one").unwrap_err(), KeyringError::NoKey { source });
    }
}

#[test]
fn a_bus_without_a_keyring_says_so_at_once() {
    let Some(mut desktop) = Desktop::with_bus() else { return };
    let begun = Instant::now();
    let error = desktop.keyring.load("one").unwrap_err();
    assert_eq!(error, KeyringError::Absent { why: "the session bus has no secret service".into() });
    desktop.bus.kill().unwrap();
    desktop.bus.wait().unwrap();
    assert!(matches!(desktop.keyring.save("one", &new_keys(1)).unwrap_err(), KeyringError::Absent { .. }));
    assert!(begun.elapsed() < Duration::from_secs(1));
}

#[test]
fn without_a_bus_nothing_is_tried() {
    let of = |values: &[(&str, &str)]| {
        let values: Vec<_> = values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Keyring::of_session(|name| values.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()))
    };
    assert!(of(&[]).is_none());
    assert!(of(&[("DBUS_SESSION_BUS_ADDRESS", ""), ("XDG_RUNTIME_DIR", "/nowhere/at/all")]).is_none());
    for elsewhere in ["autolaunch:", "tcp:host=example.org,port=1", "disabled:", "unix:tmpdir=/tmp", "x"] {
        assert!(of(&[("DBUS_SESSION_BUS_ADDRESS", elsewhere)]).is_none(), "{elsewhere}");
    }
    assert!(of(&[("DBUS_SESSION_BUS_ADDRESS", "tcp:host=example.org,port=1;unix:path=/tmp/b%20c")]).is_some());
    assert_eq!(of(&[("DBUS_SESSION_BUS_ADDRESS", "unix:abstract=/x")]).is_some(), cfg!(target_os = "linux"));
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("bus"), "").unwrap();
    let keyring = of(&[("XDG_RUNTIME_DIR", home.path().to_str().unwrap())]).unwrap();
    assert!(matches!(keyring.load("one").unwrap_err(), KeyringError::Absent { .. }));
}

#[test]
fn what_is_no_bus_is_neither_waited_for_nor_believed() {
    use std::os::unix::net::UnixListener;

    let home = tempfile::tempdir().unwrap();
    let bus = |name: &str| {
        let path = home.path().join(name);
        let address = format!("unix:path={}", path.display());
        (UnixListener::bind(&path).unwrap(), Keyring::of_session(|_| Some(address.clone())).unwrap())
    };
    let (_silent, keyring) = bus("silent");
    // It accepts and says nothing.
    let begun = Instant::now();
    assert_eq!(keyring.load("one").unwrap_err(), KeyringError::Silent { after: PATIENCE });
    assert!(begun.elapsed() < PATIENCE + Duration::from_secs(1));
    let huge = [&b"OK 1\r\nl\x02\x00\x01\xff\xff\xff\x7f"[..], &[0xff; 8]].concat();
    let says = [&b"REJECTED\r\n"[..], b"OK 1\r\nnonsense, and enough of it", &huge, b"OK 1\r\n", &[0xff; 2048]];
    for (number, said) in says.map(<[u8]>::to_vec).into_iter().enumerate() {
        let (listener, keyring) = bus(&number.to_string());
        let server = thread::spawn(move || listener.accept().unwrap().0.write_all(&said).unwrap());
        let error = keyring.load("one").unwrap_err();
        assert!(matches!(error, KeyringError::Absent { .. } | KeyringError::BadAnswer), "{error}");
        server.join().unwrap();
    }
}
