//! What can be asked of a vault.

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

/// How often a change is made anew because somebody else was faster.
const MOST_CONFLICTS: usize = 8;

/// How long is waited after the first conflict; it doubles.
const FIRST_WAIT: Duration = Duration::from_millis(5);

/// What lies at a path, and the version to name when it is changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versioned {
    /// Which version it is; the first is 1.
    pub version: u64,
    /// The fields.
    pub data: Fields,
}

/// A vault, and how one is known there. A clone is the same one, with the same token.
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
    /// A vault by its settings. Nothing is sent yet.
    ///
    /// # Errors
    /// When a setting cannot be used: the address, the certificate, a mount.
    pub fn new(config: Config) -> Result<Self, VaultError> {
        let config = config.checked()?;
        let link = Link::new(&config)?;
        let Config { auth, mount, template, whole, .. } = config;
        Ok(Self { inner: Arc::new(Inner { link, session: Session::new(auth), mount, template, whole }) })
    }

    /// Where secrets lie in it.
    pub fn template(&self) -> &PathTemplate {
        &self.inner.template
    }

    /// What lies at a path, or `None` where nothing does or what did was deleted.
    pub async fn read(&self, path: &SecretPath) -> Result<Option<Versioned>, VaultError> {
        let (version, data) = self.latest(path).await?;
        Ok(data.map(|data| Versioned { version, data }))
    }

    /// Writes what is to lie at a path if it is at the version named, and gives the new version; 0 is where nothing ever lay.
    ///
    /// # Errors
    /// [`VaultError::Conflict`] when it is at another version.
    pub async fn write(&self, path: &SecretPath, data: &Fields, version: u64) -> Result<u64, VaultError> {
        let written = self.in_time(self.inner.write(path, data, version)).await?;
        if let Written::At(version) = written {
            return Ok(version);
        }
        // Of two attempts the first may have been done, its answer lost.
        let conflict = VaultError::Conflict { path: path.to_string(), expected: version };
        if matches!(written, Written::Elsewhere { is_sure: true }) {
            return Err(conflict);
        }
        let (now, found) = self.latest(path).await?;
        if now == version + 1 && found.as_ref() == Some(data) { Ok(now) } else { Err(conflict) }
    }

    /// Changes what lies at a path, and gives the version it is then at. The change is made anew of what is found when
    /// somebody else writes at the same time; where it changes nothing, nothing is written.
    ///
    /// # Errors
    /// [`VaultError::Conflict`] when others were faster nine times in a row.
    pub async fn update(&self, path: &SecretPath, mut change: impl FnMut(&mut Fields)) -> Result<u64, VaultError> {
        // Those who write at the same time do not come back at the same time.
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

    /// Removes all that ever lay at a path, every version. Nothing there is no error.
    pub async fn delete(&self, path: &SecretPath) -> Result<(), VaultError> {
        let ask = self.inner.of("metadata", path, Method::DELETE);
        let answer = self.in_time(self.inner.ask(&ask, "delete", "metadata", path)).await?;
        match answer.status {
            StatusCode::OK | StatusCode::NO_CONTENT => Ok(()),
            _ => Err(self.inner.refusal(&answer, true)),
        }
    }

    /// The names in a folder, those of folders in it with a `/` at their end. What was deleted at all its versions is not
    /// among them; what the older system deleted, which leaves its versions, is.
    pub async fn list(&self, folder: &SecretPath) -> Result<Vec<String>, VaultError> {
        let ask = self.inner.of("metadata", folder, Method::GET).query("list=true");
        let answer = self.in_time(self.inner.ask(&ask, "list", "metadata", folder)).await?;
        match answer.status {
            StatusCode::OK => Ok(answer.read::<Envelope<Keys>>()?.data.keys),
            StatusCode::NOT_FOUND if answer.words().is_empty() => Ok(Vec::new()),
            _ => Err(self.inner.refusal(&answer, true)),
        }
    }

    /// How the vault is. No token is needed.
    pub async fn health(&self) -> Result<Health, VaultError> {
        let answer = self.in_time(self.inner.link.ask(&Ask::health(), None)).await?;
        match answer.status {
            StatusCode::OK => answer.read(),
            _ => Err(self.inner.refusal(&answer, true)),
        }
    }

    /// How the token is, after a login where one is due.
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

    /// Keeps the token alive for as long as the future is polled, and logs in ahead of the first request where that is how
    /// one gets in. A server runs it beside all else; a command that is soon over needs none: every request renews a token
    /// that has lived two thirds of its time.
    pub async fn keep_token(&self) -> std::convert::Infallible {
        self.inner.session.keep(&self.inner.link).await
    }

    /// The version a path is at, 0 where nothing ever lay, and what lies there unless it was deleted.
    async fn latest(&self, path: &SecretPath) -> Result<(u64, Option<Fields>), VaultError> {
        let ask = self.inner.of("data", path, Method::GET);
        let answer = self.in_time(self.inner.ask(&ask, "read", "data", path)).await?;
        match answer.status {
            StatusCode::OK => {
                let Envelope { data: Stored { data, metadata } } = answer.read()?;
                Ok((metadata.version, data))
            }
            // A version that was deleted has no data, but a number that the next write has to name.
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

/// What became of a write.
enum Written {
    /// It is at this version now.
    At(u64),
    /// It is at another version than was named; not sure means that an earlier attempt may be why.
    Elsewhere { is_sure: bool },
}

impl Inner {
    fn of(&self, kind: &str, path: &SecretPath, method: Method) -> Ask {
        Ask::new(method, &[&self.mount, kind, path.as_str()])
    }

    async fn write(&self, path: &SecretPath, data: &Fields, version: u64) -> Result<Written, VaultError> {
        let body = Write { data, options: Expected { cas: version } };
        let ask = self.of("data", path, Method::POST).body(&body, data.most_bytes() + 128)?;
        // Which of the two lacks depends on whether something lies there; a policy for one without the other is rare.
        let verb = if version == 0 { "create" } else { "update" };
        let answer = self.ask(&ask, verb, "data", path).await?;
        match answer.status {
            StatusCode::OK => Ok(Written::At(answer.read::<Envelope<Version>>()?.data.version)),
            // An engine of version 1 takes it, at a path of another name.
            StatusCode::NO_CONTENT => Err(VaultError::NoEngine { mount: self.mount.clone() }),
            StatusCode::BAD_REQUEST if answer.words().contains("did not match the current version") => {
                Ok(Written::Elsewhere { is_sure: answer.attempts == 1 })
            }
            _ => Err(self.refusal(&answer, false)),
        }
    }

    /// Asks with a token, and once more with another where this one is refused.
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
        // What was refused was not done, but an attempt before it may have been.
        Ok(Answer { attempts: first.attempts + second.attempts - 1, ..second })
    }

    /// True for the answer to a token that is unknown or may not. What stands before a vault refuses in other words.
    fn is_refused(&self, answer: &Answer) -> Result<bool, VaultError> {
        match answer.status {
            StatusCode::FORBIDDEN if !answer.is_of_a_vault() => Err(self.refusal(answer, false)),
            status => Ok(status == StatusCode::FORBIDDEN),
        }
    }

    /// What an answer says that is none of those a route knows. Words are left out where they might repeat what was sent.
    fn refusal(&self, answer: &Answer, with_words: bool) -> VaultError {
        if !answer.is_of_a_vault() {
            return VaultError::BadAnswer { problem: "it is of another form" };
        }
        if matches!(answer.status, StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED) {
            return VaultError::NoEngine { mount: self.mount.clone() };
        }
        let words = if with_words { answer.words() } else { "what it says is not shown".into() };
        VaultError::Refused { status: answer.status.as_u16(), words }
    }
}
