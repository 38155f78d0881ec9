//! The operations of a vault.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use reqwest::{Method, StatusCode};

use crate::config::Config;
use crate::error::{Envelope, Expected, Health, Keys, Stored, VaultError, Version, Write};
use crate::fields::Fields;
use crate::link::{Answer, Ask, Link};
use crate::path::{PathTemplate, SecretPath};
use crate::session::{Session, TokenState};

/// Maximum retries after conflicts with other writers.
const MOST_CONFLICTS: usize = 8;

/// The delay after the first conflict, which doubles.
const FIRST_WAIT: Duration = Duration::from_millis(5);

/// The data at a path, with its version for the next write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versioned {
    /// The version, from 1.
    pub version: u64,
    /// The fields.
    pub data: Fields,
}

/// A client of a vault. Clones share the token.
#[derive(Clone)]
pub struct Vault {
    inner: Arc<Inner>,
}

struct Inner {
    link: Link,
    session: Session,
    mount: String,
    template: PathTemplate,
    whole: Duration,
}

impl Vault {
    /// Creates a client. Nothing is sent yet.
    ///
    /// # Errors
    /// Returns an error if a setting is invalid: the address, the certificate, a mount.
    pub fn new(config: Config) -> Result<Self, VaultError> {
        let config = config.checked()?;
        let link = Link::new(&config)?;
        let Config { auth, mount, template, whole, .. } = config;
        Ok(Self { inner: Arc::new(Inner { link, session: Session::new(auth), mount, template, whole }) })
    }

    /// Returns the template for the paths of secrets.
    pub fn template(&self) -> &PathTemplate {
        &self.inner.template
    }

    /// The data at a path; `None` if there is none or it was deleted.
    pub async fn read(&self, path: &SecretPath) -> Result<Option<Versioned>, VaultError> {
        let (version, data) = self.latest(path).await?;
        Ok(data.map(|data| Versioned { version, data }))
    }

    /// Writes data if the current version at the path is the given one, and returns the new version. The given version
    /// is 0 if there was never any data.
    ///
    /// # Errors
    /// Returns [`VaultError::Conflict`] if the data has another version.
    pub async fn write(&self, path: &SecretPath, data: &Fields, version: u64) -> Result<u64, VaultError> {
        let written = self.in_time(self.inner.write(path, data, version)).await?;
        if let Written::At(version) = written {
            return Ok(version);
        }
        // The first of two attempts may have succeeded, with a lost answer.
        let conflict = VaultError::Conflict { path: path.to_string(), expected: version };
        if matches!(written, Written::Elsewhere { is_sure: true }) {
            return Err(conflict);
        }
        let (now, found) = self.latest(path).await?;
        if now == version + 1 && found.as_ref() == Some(data) { Ok(now) } else { Err(conflict) }
    }

    /// Changes the data at a path, and returns its version. After a conflict, the change is repeated on the new data.
    /// If nothing changes, nothing is written.
    ///
    /// # Errors
    /// Returns [`VaultError::Conflict`] after nine conflicts in a row.
    pub async fn update(&self, path: &SecretPath, mut change: impl FnMut(&mut Fields)) -> Result<u64, VaultError> {
        // Random delays keep concurrent writers apart.
        let mut waits =
            ExponentialBuilder::new().with_min_delay(FIRST_WAIT).with_max_times(MOST_CONFLICTS).with_jitter().build();
        loop {
            let (version, found) = self.latest(path).await?;
            let mut data = found.clone().unwrap_or_default();
            change(&mut data);
            if found.unwrap_or_default() == data {
                return Ok(version);
            }
            match self.write(path, &data, version).await {
                Err(conflict @ VaultError::Conflict { .. }) => match waits.next() {
                    Some(wait) => tokio::time::sleep(wait).await,
                    None => return Err(conflict),
                },
                done => return done,
            }
        }
    }

    /// Deletes all versions of the data at a path. A missing path is not an error.
    pub async fn delete(&self, path: &SecretPath) -> Result<(), VaultError> {
        let ask = self.inner.of("metadata", path, Method::DELETE);
        let answer = self.in_time(self.inner.ask(&ask, "delete", "metadata", path)).await?;
        match answer.status {
            StatusCode::OK | StatusCode::NO_CONTENT => Ok(()),
            _ => Err(self.inner.refusal(&answer, true)),
        }
    }

    /// The names in a folder; those of subfolders end with `/`. Data whose versions were all deleted is not listed. The
    /// list also contains data that claude-memory-mcp deleted, because claude-memory-mcp does not delete the versions.
    pub async fn list(&self, folder: &SecretPath) -> Result<Vec<String>, VaultError> {
        let ask = self.inner.of("metadata", folder, Method::GET).query("list=true");
        let answer = self.in_time(self.inner.ask(&ask, "list", "metadata", folder)).await?;
        match answer.status {
            StatusCode::OK => Ok(answer.read::<Envelope<Keys>>()?.data.keys),
            StatusCode::NOT_FOUND if answer.words().is_empty() => Ok(Vec::new()),
            _ => Err(self.inner.refusal(&answer, true)),
        }
    }

    /// The state of the vault. No token is needed.
    pub async fn health(&self) -> Result<Health, VaultError> {
        let answer = self.in_time(self.inner.link.ask(&Ask::health(), None)).await?;
        match answer.status {
            StatusCode::OK => answer.read(),
            _ => Err(self.inner.refusal(&answer, true)),
        }
    }

    /// The state of the token, after a login if necessary.
    pub async fn token(&self) -> Result<TokenState, VaultError> {
        let Inner { link, session, .. } = &*self.inner;
        self.in_time(async {
            let token = session.token(link).await?;
            let told = match session.look(link, &token).await {
                Err(VaultError::TokenInvalid) => match session.after_refusal(link, &token).await? {
                    Some(token) => session.look(link, &token).await,
                    None => Err(VaultError::TokenInvalid),
                },
                told => told,
            };
            told.map(TokenState::from)
        })
        .await
    }

    /// Keeps the token alive while this future is polled, and logs in before the first request if necessary. A server
    /// runs this function in the background. A short command does not need this function, because each request renews
    /// the token after two thirds of its lifetime.
    pub async fn keep_token(&self) -> std::convert::Infallible {
        self.inner.session.keep(&self.inner.link).await
    }

    /// The version of a path (0 if it never had data), and its data unless deleted.
    async fn latest(&self, path: &SecretPath) -> Result<(u64, Option<Fields>), VaultError> {
        let ask = self.inner.of("data", path, Method::GET);
        let answer = self.in_time(self.inner.ask(&ask, "read", "data", path)).await?;
        match answer.status {
            StatusCode::OK => {
                let Envelope { data: Stored { data, metadata } } = answer.read()?;
                Ok((metadata.version, data))
            }
            // A deleted version has no data, but a number that the next write needs.
            StatusCode::NOT_FOUND => match answer.read::<Envelope<Stored>>() {
                Ok(Envelope { data: Stored { metadata, .. } }) => Ok((metadata.version, None)),
                Err(_) if answer.is_of_a_vault() && answer.words().is_empty() => Ok((0, None)),
                Err(_) => Err(self.inner.refusal(&answer, true)),
            },
            _ => Err(self.inner.refusal(&answer, true)),
        }
    }

    async fn in_time<T>(&self, work: impl Future<Output = Result<T, VaultError>>) -> Result<T, VaultError> {
        let whole = self.inner.whole;
        tokio::time::timeout(whole, work).await.unwrap_or_else(|_| Err(self.inner.link.is_late(whole)))
    }
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vault").field("mount", &self.inner.mount).finish_non_exhaustive()
    }
}

/// The result of a write.
enum Written {
    /// The write succeeded with this version.
    At(u64),
    /// The path has another version. If there were several attempts, an earlier one may have created that version.
    Elsewhere { is_sure: bool },
}

impl Inner {
    fn of(&self, kind: &str, path: &SecretPath, method: Method) -> Ask {
        Ask::new(method, &[&self.mount, kind, path.as_str()])
    }

    async fn write(&self, path: &SecretPath, data: &Fields, version: u64) -> Result<Written, VaultError> {
        let body = Write { data, options: Expected { cas: version } };
        let ask = self.of("data", path, Method::POST).body(&body, data.most_bytes() + 128)?;
        // The missing capability depends on whether the path exists. Policies with only one of the two are rare.
        let verb = if version == 0 { "create" } else { "update" };
        let answer = self.ask(&ask, verb, "data", path).await?;
        match answer.status {
            StatusCode::OK => Ok(Written::At(answer.read::<Envelope<Version>>()?.data.version)),
            // An engine of version 1 accepts it at another path.
            StatusCode::NO_CONTENT => Err(VaultError::NoEngine { mount: self.mount.clone() }),
            StatusCode::BAD_REQUEST if answer.words().contains("did not match the current version") => {
                Ok(Written::Elsewhere { is_sure: answer.attempts == 1 })
            }
            _ => Err(self.refusal(&answer, false)),
        }
    }

    /// Sends a request with the token; if the token is rejected, retries once with another one.
    async fn ask(&self, ask: &Ask, verb: &'static str, kind: &str, path: &SecretPath) -> Result<Answer, VaultError> {
        let Self { link, session, .. } = self;
        let token = session.token(link).await?;
        let first = link.ask(ask, Some(token.text())).await?;
        if !self.is_refused(&first)? {
            return Ok(first);
        }
        let denied = || {
            let rule = format!("{}/{kind}/{path}", self.mount);
            VaultError::Denied { verb, path: path.to_string(), rule }
        };
        let Some(token) = session.after_refusal(link, &token).await? else { return Err(denied()) };
        let second = link.ask(ask, Some(token.text())).await?;
        if self.is_refused(&second)? {
            return Err(if session.is_known(link, &token).await? { denied() } else { VaultError::TokenInvalid });
        }
        // The rejected attempt did nothing, but an earlier one may have.
        Ok(Answer { attempts: first.attempts + second.attempts - 1, ..second })
    }

    /// True if the token is unknown or lacks permission. If a proxy in front of the vault sent the answer, returns an
    /// error.
    fn is_refused(&self, answer: &Answer) -> Result<bool, VaultError> {
        match answer.status {
            StatusCode::FORBIDDEN if !answer.is_of_a_vault() => Err(self.refusal(answer, false)),
            status => Ok(status == StatusCode::FORBIDDEN),
        }
    }

    /// The error for an unexpected answer. The message is left out if it could repeat sent data.
    fn refusal(&self, answer: &Answer, with_words: bool) -> VaultError {
        if !answer.is_of_a_vault() {
            return VaultError::BadAnswer { problem: "the answer is not JSON with the expected fields" };
        }
        if matches!(answer.status, StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED) {
            return VaultError::NoEngine { mount: self.mount.clone() };
        }
        let words = if with_words { answer.words() } else { "its content is not shown".into() };
        VaultError::Refused { status: answer.status.as_u16(), words }
    }
}
