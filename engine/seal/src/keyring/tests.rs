//! The keyring against a real one, where there is GNOME's, and against what is none.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};

use super::wire::{Answer, length};
use super::*;

/// A bus of a test's own with GNOME's keyring on it; both end with the value.
struct Desktop {
    bus: Child,
    daemon: Option<Child>,
    home: tempfile::TempDir,
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
            said_that_it_lacks("dbus-daemon");
            return None;
        };
        let mut address = String::new();
        BufReader::new(bus.stdout.take().unwrap()).read_line(&mut address).unwrap();
        let address = address.trim().to_owned();
        let keyring = Keyring::of_session(|name| (name == "DBUS_SESSION_BUS_ADDRESS").then(|| address.clone()));
        Some(Self { bus, daemon: None, home, keyring: keyring.unwrap() })
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
        started.env("DBUS_SESSION_BUS_ADDRESS", &self.keyring.address).env("XDG_RUNTIME_DIR", home);
        started.env("XDG_DATA_HOME", home).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let Ok(mut daemon) = started.spawn() else {
            said_that_it_lacks("gnome-keyring-daemon");
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

fn said_that_it_lacks(program: &str) {
    // Past the test's own output, which nobody sees of a test that passes.
    let _ = writeln!(std::io::stderr(), "left out: {program} is not installed");
}

fn new_keys(count: usize) -> Keys {
    (1..count).fold(Keys::of(Key::generate().unwrap()), |keys, _| keys.followed_by(Key::generate().unwrap()))
}

fn ids(keys: &Keys) -> Vec<String> {
    std::iter::once(&keys.current).chain(&keys.before).map(|key| key.id().to_string()).collect()
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
    keyring
        .ask(|bus| {
            let collection = open_collection(bus)?;
            let call = Call::of(SERVICE, &Path::of(ROOT), SERVICE_INTERFACE, "Lock").paths(&[&collection]);
            bus.ask(call, |answer| Some((answer.paths()?, answer.path()?))).map(drop)
        })
        .unwrap();
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
        keyring
            .ask(move |bus| {
                let (session, collection) = (session(bus)?, open_collection(bus)?);
                let call = Call::of(SERVICE, &collection, COLLECTION_INTERFACE, "CreateItem")
                    .described_as("x", &attributes("one"))
                    .secret(&session, text.as_bytes())
                    .truth(true);
                bus.ask(call, path).map(drop)
            })
            .unwrap();
        assert_eq!(keyring.load("one").unwrap_err(), KeyringError::NoKey { source });
    }
}

#[test]
fn a_bus_without_a_keyring_says_so_at_once() {
    let Some(mut desktop) = Desktop::with_bus() else { return };
    let begun = Instant::now();
    let error = desktop.keyring.load("one").unwrap_err();
    assert_eq!(error, KeyringError::Absent { why: "nobody on the session's bus keeps secrets".into() });
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
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("bus"), "").unwrap();
    let keyring = of(&[("XDG_RUNTIME_DIR", home.path().to_str().unwrap())]).unwrap();
    assert!(matches!(keyring.load("one").unwrap_err(), KeyringError::Absent { .. }));
}

#[test]
#[cfg(unix)]
fn what_is_no_bus_is_neither_waited_for_nor_believed() {
    use std::os::unix::net::UnixListener;

    let home = tempfile::tempdir().unwrap();
    let bus = |name: &str| {
        let path = home.path().join(name);
        (UnixListener::bind(&path).unwrap(), Keyring { address: format!("unix:path={},guid=1", path.display()) })
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

#[test]
fn an_address_is_read_as_the_bus_writes_it() {
    use super::bus::Place;

    let file = |path: &str| Place::File(path.into());
    assert_eq!(places("unix:path=/run/user/1000/bus"), [file("/run/user/1000/bus")]);
    assert_eq!(places("tcp:host=x;unix:guid=9,path=/tmp/a%20b%2c;unix:path=/c"), [file("/tmp/a b,"), file("/c")]);
    assert_eq!(places("unix:path=/a%2"), []);
    assert_eq!(places("unix:path=/a%zz;unix:path=/%ff"), []);
    #[cfg(target_os = "linux")]
    assert_eq!(places("unix:abstract=/tmp/dbus-x,guid=1"), [Place::Name("/tmp/dbus-x".into())]);
}

#[test]
fn a_call_is_written_as_the_specification_says() {
    let call = Call::of("a.b", &Path::of("/c"), "d.e", "F").text("xy").truth(true);
    let mut wanted = vec![b'l', 1, 0, 1, 12, 0, 0, 0, 7, 0, 0, 0, 71, 0, 0, 0];
    // Each field begins at a multiple of 8: which it is, of what kind, how long, and the text with a nought behind it.
    wanted.extend_from_slice(b"\x01\x01o\0\x02\0\0\0/c\0\0\0\0\0\0");
    wanted.extend_from_slice(b"\x02\x01s\0\x03\0\0\0d.e\0\0\0\0\0");
    wanted.extend_from_slice(b"\x03\x01s\0\x01\0\0\0F\0\0\0\0\0\0\0");
    wanted.extend_from_slice(b"\x06\x01s\0\x03\0\0\0a.b\0\0\0\0\0");
    wanted.extend_from_slice(b"\x08\x01g\0\x02sb\0");
    wanted.extend_from_slice(b"\x02\0\0\0xy\0\0\x01\0\0\0");
    // The length of the fields is without what fills up to the body.
    wanted[12] = u8::try_from(wanted.len() - 16 - 12).unwrap();
    let message = call.message(7);
    assert_eq!(message.as_slice(), wanted);
    assert_eq!(length(&message[..16]), Some(message.len()));
}

#[test]
fn no_message_whatever_is_in_it_stops_the_program() {
    let secret = Call::of("a.b", &Path::of("/c"), "d.e", "F").paths(&[&Path::of("/x")]).secret(&Path::of("/s"), b"key");
    let message = secret.message(7).to_vec();
    let read = |message: &[u8]| {
        let _ = length(message);
        let Some(mut answer) = Answer::read(message).and_then(|answer| answer.outcome.ok()) else { return };
        let _ = (answer.paths(), answer.align(8), answer.path(), answer.bytes(), answer.bytes(), answer.text_variant());
    };
    for at in 0..message.len() {
        read(&message[..at]);
        for byte in [0, 1, 2, 7, b'B', b'u', 0x7f, 0x80, 0xff] {
            let mut changed = message.clone();
            changed[1] = 2;
            changed[at] = byte;
            read(&changed);
        }
    }
}
