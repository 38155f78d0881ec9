//! An OpenBao of a test's own, on a port of the loopback interface, and its operator.

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use tessera_vault::{Auth, Config, SecretPath, Vault};
use zeroize::Zeroizing;

/// How long an OpenBao may take to answer.
const READY: Duration = Duration::from_secs(30);

/// The program, where `.ci/openbao` puts it or where a variable says.
#[expect(clippy::disallowed_methods, reason = "a test cannot use the settings of the program")]
fn program() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("TESSERA_OPENBAO") {
        return Some(path.into());
    }
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let is_program = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("bao-"));
    let found = fs::read_dir(target.parent()?.join("openbao")).ok()?;
    found.filter_map(|entry| Some(entry.ok()?.path())).filter(is_program).max()
}

fn said_that_it_lacks() {
    // Past the test's own output, which nobody sees of a test that passes.
    crate::skip::left_out("OpenBao", "`bash .ci/openbao` fetches one");
}

/// What stores an OpenBao's data.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Memory: unsealed, with an engine at `secret` and the token `root`.
    Dev,
    /// The same with a certificate of its own.
    DevTls,
    /// Files, which outlive it.
    Files,
}

/// A running OpenBao; it ends with the value.
pub(crate) struct Bao {
    child: Child,
    program: PathBuf,
    kind: Kind,
    home: TempDir,
    port: u16,
    root: String,
    operator: reqwest::Client,
}

impl Bao {
    /// One in memory, or `None` where there is no OpenBao.
    pub(crate) async fn start() -> Option<Self> {
        Self::of(Kind::Dev).await
    }

    /// One in memory that speaks TLS.
    pub(crate) async fn with_tls() -> Option<Self> {
        Self::of(Kind::DevTls).await
    }

    /// One on files, neither initialised nor unsealed.
    pub(crate) async fn on_files() -> Option<Self> {
        Self::of(Kind::Files).await
    }

    async fn of(kind: Kind) -> Option<Self> {
        let Some(program) = program() else {
            said_that_it_lacks();
            return None;
        };
        let home = TempDir::new().unwrap();
        // Two are taken at once, so that they are not the same.
        let ports = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let [port, peers] = ports.map(|listener| listener.local_addr().unwrap().port());
        if kind == Kind::Files {
            fs::create_dir(home.path().join("data")).unwrap();
            fs::write(home.path().join("bao.hcl"), settings(&home, port, peers)).unwrap();
        }
        let child = run(&program, kind, &home, port);
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut operator = reqwest::Client::builder().no_proxy();
        if kind == Kind::DevTls {
            // Only here to give orders: what the client believes is what is tried.
            operator = operator.tls_danger_accept_invalid_certs(true);
        }
        let operator = operator.build().unwrap();
        let bao = Self { child, program, kind, home, port, root: "root".into(), operator };
        bao.ready().await;
        if kind != Kind::Files {
            bao.can_write().await;
        }
        Some(bao)
    }

    async fn ready(&self) {
        let begun = Instant::now();
        let health = format!("{}/v1/sys/health?sealedcode=200&uninitcode=200", self.address());
        while !self.operator.get(&health).send().await.is_ok_and(|answer| answer.status() == 200) {
            assert!(begun.elapsed() < READY, "OpenBao does not answer: {}", self.log());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    fn log(&self) -> String {
        fs::read_to_string(self.home.path().join("log")).unwrap_or_default()
    }

    pub(crate) fn address(&self) -> String {
        let scheme = if self.kind == Kind::DevTls { "https" } else { "http" };
        format!("{scheme}://127.0.0.1:{}", self.port)
    }

    /// The certificate that signed its own.
    pub(crate) fn certificate(&self) -> PathBuf {
        self.home.path().join("vault-ca.pem")
    }

    /// A place for files of the test.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// Ends it without a word, as a power cut does, and starts it again.
    pub(crate) async fn restart(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.child = run(&self.program, self.kind, &self.home, self.port);
        self.ready().await;
    }

    /// An order of the operator's: the status and the answer.
    pub(crate) async fn order(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        let method = method.parse().unwrap();
        let request = self.operator.request(method, format!("{}/v1/{path}", self.address()));
        let answer = request.header("x-vault-token", &self.root).json(&body).send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap_or_default())
    }

    /// An order that must be obeyed.
    pub(crate) async fn does(&self, method: &str, path: &str, body: Value) -> Value {
        let (status, answer) = self.order(method, path, body).await;
        assert!(matches!(status, 200 | 204), "{method} {path}: {status} {answer}");
        answer
    }

    /// Initialises it, unseals it and makes an engine at `secret`; gives the key to unseal it with.
    pub(crate) async fn set_up(&mut self) -> String {
        let made = self.does("PUT", "sys/init", json!({ "secret_shares": 1, "secret_threshold": 1 })).await;
        self.root = made["root_token"].as_str().unwrap().into();
        let key = made["keys"][0].as_str().unwrap().to_owned();
        self.unseal(&key).await;
        self.does("POST", "sys/mounts/secret", json!({ "type": "kv", "options": { "version": "2" } })).await;
        self.can_write().await;
        key
    }

    /// Unseals it, and waits until it does its work.
    pub(crate) async fn unseal(&self, key: &str) {
        self.does("PUT", "sys/unseal", json!({ "key": key })).await;
        let begun = Instant::now();
        while self.order("GET", "sys/health", Value::Null).await.0 != 200 {
            assert!(begun.elapsed() < READY, "OpenBao stays sealed: {}", self.log());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// A new engine first makes room for versions.
    async fn can_write(&self) {
        let begun = Instant::now();
        while self.order("POST", "secret/data/first", json!({ "data": {} })).await.0 != 200 {
            assert!(begun.elapsed() < READY, "OpenBao writes nothing: {}", self.log());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        self.does("DELETE", "secret/metadata/first", Value::Null).await;
    }

    /// A token with a policy of these rules.
    pub(crate) async fn token(&self, rules: &str, life: Value) -> String {
        self.does("PUT", "sys/policies/acl/of-a-test", json!({ "policy": rules })).await;
        let mut wish = json!({ "policies": ["of-a-test"] });
        wish.as_object_mut().unwrap().extend(life.as_object().unwrap().clone());
        let made = self.does("POST", "auth/token/create", wish).await;
        made["auth"]["client_token"].as_str().unwrap().to_owned()
    }

    pub(crate) fn config(&self, token: &str) -> Config {
        let mut config = Config::new(self.address(), Auth::Token(Zeroizing::new(token.into())));
        if self.kind == Kind::DevTls {
            config.certificate = Some(self.certificate());
        }
        config
    }

    /// The client with a token of any rights.
    pub(crate) fn vault(&self) -> Vault {
        Vault::new(self.config(&self.root)).unwrap()
    }

    /// The client with this token.
    pub(crate) fn vault_with(&self, token: &str) -> Vault {
        Vault::new(self.config(token)).unwrap()
    }
}

impl Drop for Bao {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn settings(home: &TempDir, port: u16, peers: u16) -> String {
    let data = home.path().join("data");
    let data = data.display();
    format!(
        r#"
storage "raft" {{
  path = "{data}"
  node_id = "one"
  performance_multiplier = "1"
}}
listener "tcp" {{
  address = "127.0.0.1:{port}"
  tls_disable = true
}}
api_addr = "http://127.0.0.1:{port}"
cluster_addr = "http://127.0.0.1:{peers}"
"#
    )
}

fn run(program: &PathBuf, kind: Kind, home: &TempDir, port: u16) -> Child {
    let mut command = Command::new(program);
    command.arg("server");
    match kind {
        Kind::Files => drop(command.arg("-config").arg(home.path().join("bao.hcl"))),
        Kind::Dev | Kind::DevTls => {
            command.args(["-dev", "-dev-no-store-token", "-dev-root-token-id=root"]);
            command.arg(format!("-dev-listen-address=127.0.0.1:{port}"));
        }
    }
    if kind == Kind::DevTls {
        command.arg("-dev-tls").arg(format!("-dev-tls-cert-dir={}", home.path().display()));
    }
    let log = fs::OpenOptions::new().create(true).append(true).open(home.path().join("log")).unwrap();
    command.env("HOME", home.path()).stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
    command.spawn().unwrap()
}

/// A path as it is written.
pub(crate) fn path(text: &str) -> SecretPath {
    SecretPath::parse(text).unwrap()
}
