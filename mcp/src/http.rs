//! The HTTP server on a loopback address, at `/mcp`. The server checks Host, Origin and a key.
//!
//! Every user of the machine can reach a loopback port. So clients must send a key from a file with mode 0600.

use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::{fs, io};

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use subtle::ConstantTimeEq;
use tessera_desk::team::Team;
use tessera_engine::store::{Home, private_file};
use tokio_util::sync::CancellationToken;

use crate::error::ServeError;
use crate::server::Server;
use crate::stdio::ended_by_signal;

/// The allowed origins: pages that this machine serves.
const ORIGINS: [&str; 6] = [
    "http://localhost:*",
    "http://127.0.0.1:*",
    "http://[::1]:*",
    "http://localhost",
    "http://127.0.0.1",
    "http://[::1]",
];

/// Serves until SIGINT or SIGTERM. Requests without the key are rejected. `ready` receives the address once the server
/// listens.
///
/// # Errors
/// Returns an error if the address is not a loopback address, or is not available.
pub async fn serve_http(
    server: Server,
    address: SocketAddr,
    key: HttpKey,
    ready: impl FnOnce(SocketAddr),
) -> Result<(), ServeError> {
    if !address.ip().is_loopback() {
        return Err(ServeError::NotLoopback(address));
    }
    let failed = |source| ServeError::Io { what: address.to_string(), source };
    let listener = tokio::net::TcpListener::bind(address).await.map_err(failed)?;
    ready(listener.local_addr().map_err(failed)?);
    let store = server.store().clone();
    store.work_in_background(server.plugin_rules());
    store.watch_files_in_background();
    let worker = server.team().map(Team::worker);
    let syncing = async {
        match &worker {
            Some(worker) => worker.run().await,
            None => std::future::pending().await,
        }
    };
    let stop = CancellationToken::new();
    let mut config = StreamableHttpServerConfig::default().with_cancellation_token(stop.child_token());
    config.allowed_origins = ORIGINS.map(str::to_owned).to_vec();
    let service = StreamableHttpService::new(move || Ok(server.clone()), LocalSessionManager::default().into(), config);
    let router = axum::Router::new().nest_service("/mcp", service).layer(from_fn_with_state(key, with_key));
    let stopping = stop.clone();
    let serving = axum::serve(listener, router).with_graceful_shutdown(async move { stopping.cancelled().await });
    let mut serving = Box::pin(serving.into_future());
    let ended = tokio::select! {
        ended = &mut serving => ended.map_err(failed),
        () = store.keep_tidy() => Ok(()),
        () = syncing => Ok(()),
        signal = ended_by_signal() => signal,
    };
    stop.cancel();
    if let Some(worker) = &worker {
        worker.finish().await;
    }
    store.close().await;
    ended
}

/// Accepts a request only with the key, and checks it before reading anything else of the request.
async fn with_key(State(key): State<HttpKey>, headers: HeaderMap, request: Request, next: Next) -> Response {
    if key.admits(&headers) {
        return next.run(request).await;
    }
    let words = "this server needs its key: Authorization: Bearer KEY; `tessera mcp --help` says where the key is\n";
    (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Bearer")], words).into_response()
}

/// The number of random bytes in the key.
const BYTES: usize = 32;

/// The key, which a client sends as `Authorization: Bearer KEY`.
#[derive(Clone)]
pub struct HttpKey {
    key: String,
    path: PathBuf,
}

impl std::fmt::Debug for HttpKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpKey").field("path", &self.path).finish_non_exhaustive()
    }
}

impl HttpKey {
    /// Returns the key that is stored in the store's directory. The first call creates the key. If other users of the
    /// machine could read the file, the key is replaced. Otherwise it stays the same, so that clients need to be
    /// configured only once.
    ///
    /// # Errors
    /// Returns an error if the file can neither be read nor created.
    pub fn of_home(home: &Home) -> io::Result<Self> {
        let path = home.http_key();
        if let Some(key) = sound(&path) {
            return Ok(Self { key, path });
        }
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let made = random()?;
        let scratch = home.dir().join(format!(".tessera-{}", random()?));
        let mut file = private_file().create_new(true).write(true).open(&scratch)?;
        let written = file.write_all(made.as_bytes()).and_then(|()| file.sync_all());
        // A hard link creates the file atomically, and never replaces a file that another process created meanwhile.
        let linked = written.and_then(|()| fs::hard_link(&scratch, &path));
        fs::remove_file(&scratch)?;
        let key = match linked {
            Ok(()) => made,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => sound(&path).ok_or(error)?,
            Err(error) => return Err(error),
        };
        Ok(Self { key, path })
    }

    /// The path of the key file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True if a request has the key. The comparison takes constant time.
    pub(crate) fn admits(&self, headers: &HeaderMap) -> bool {
        let mut given = headers.get_all(AUTHORIZATION).iter();
        let (Some(one), None) = (given.next(), given.next()) else { return false };
        let Some((scheme, key)) = one.to_str().ok().and_then(|value| value.split_once(' ')) else { return false };
        scheme.eq_ignore_ascii_case("bearer") && key.trim().as_bytes().ct_eq(self.key.as_bytes()).into()
    }
}

fn random() -> io::Result<String> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The key in a file, if only the owner can read the file and the key is valid.
fn sound(path: &Path) -> Option<String> {
    let metadata = fs::symlink_metadata(path).ok()?;
    #[cfg(unix)]
    if std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o077 != 0 {
        return None;
    }
    if !metadata.is_file() || metadata.len() != 2 * BYTES as u64 {
        return None;
    }
    fs::read_to_string(path).ok().filter(|key| key.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admits(key: &HttpKey, values: &[&str]) -> bool {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, value.parse().unwrap());
        }
        key.admits(&headers)
    }

    #[test]
    fn the_key_alone_opens_and_stays_the_same() {
        let home = tempfile::tempdir().unwrap();
        let key = HttpKey::of_home(&home.path().into()).unwrap();
        let text = fs::read_to_string(key.path()).unwrap();
        assert!(admits(&key, &[&format!("Bearer {text}")]) && admits(&key, &[&format!("bearer  {text}")]));
        let (short, other) = (text[..63].to_owned(), format!("{}x", &text[..63]));
        for wrong in
            [&text, "", "Bearer ", &format!("Bearer {short}"), &format!("Bearer {other}"), &format!("Basic {text}")]
        {
            assert!(!admits(&key, &[wrong]), "{wrong}");
        }
        assert!(!admits(&key, &[]) && !admits(&key, &["Bearer x", &format!("Bearer {text}")]));
        assert_eq!(HttpKey::of_home(&home.path().into()).unwrap().key, text);
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
        assert!(!format!("{key:?}").contains(&text));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_could_read_is_made_anew() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().unwrap();
        let key = HttpKey::of_home(&home.path().into()).unwrap();
        assert_eq!(fs::metadata(key.path()).unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(key.path(), fs::Permissions::from_mode(0o644)).unwrap();
        let anew = HttpKey::of_home(&home.path().into()).unwrap();
        assert_ne!(anew.key, key.key);
        assert_eq!(fs::metadata(anew.path()).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
