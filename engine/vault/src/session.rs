//! The token: getting, renewing and replacing it, with one request at a time for all waiting callers.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde_json::json;
use tokio::time::Instant;
use zeroize::Zeroizing;

use crate::config::Auth;
use crate::error::{Envelope, Granted, LoggedIn, Login, LookedUp, VaultError};
use crate::link::{Answer, Ask, Link};

/// How long a token of unknown lifetime is used before its lifetime is looked up. A command usually ends before.
const LOOK_AFTER: Duration = Duration::from_secs(1);

/// If the vault knows the token but denies a request, the token is replaced only if it is older than this. A younger
/// token is kept, because a new one would be denied too.
const YOUNG: Duration = Duration::from_mins(1);

/// The delay after a failed renewal, before the next attempt.
const RENEW_AGAIN: Duration = Duration::from_secs(5);

/// How long the background renewal sleeps if nothing is due, and after a failure.
const IDLE: Duration = Duration::from_mins(1);

/// Maximum size of a token, and of its file.
const MOST_OF_A_TOKEN: usize = 64 << 10;

/// The state of the token.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenState {
    /// Its remaining lifetime without renewal; `None` if unlimited.
    pub remaining: Option<Duration>,
    /// True if it can be renewed.
    pub is_renewable: bool,
    /// Its policies.
    pub policies: Vec<String>,
}

impl From<LookedUp> for TokenState {
    fn from(told: LookedUp) -> Self {
        Self { remaining: told.lives(), is_renewable: told.renewable, policies: told.policies }
    }
}

/// A token, and the times for its renewal.
#[derive(Clone)]
pub(crate) struct Token {
    text: Arc<Zeroizing<String>>,
    /// Its number in this session.
    number: u64,
    got: Instant,
    ends: Option<Instant>,
    /// Its original lifetime. If a renewal grants less than half of the first lifetime, the token soon cannot be
    /// renewed any more.
    first: Duration,
    next: Option<(Instant, Due)>,
}

/// The next step for a token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Due {
    Look,
    Renew,
    Replace,
}

impl Token {
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the token with a lifetime that begins now.
    fn living(mut self, lives: Option<Duration>, is_renewable: bool, can_be_replaced: bool) -> Self {
        let now = Instant::now();
        self.next = None;
        self.ends = lives.map(|lives| now + lives);
        if let Some(lives) = lives {
            self.first = self.first.max(lives);
            let due = match (is_renewable && lives * 2 >= self.first, can_be_replaced) {
                (true, _) => Some(Due::Renew),
                (false, true) => Some(Due::Replace),
                (false, false) => None,
            };
            self.next = due.map(|due| (now + lives * 2 / 3, due));
        }
        self
    }
}

/// A failed attempt to get a token, kept for callers that waited for it.
struct Failed {
    at: Instant,
    error: VaultError,
}

/// An authenticated session at a vault.
pub(crate) struct Session {
    auth: Auth,
    current: Mutex<Option<Token>>,
    /// The lock of the task that gets, renews or replaces the token.
    turn: tokio::sync::Mutex<Option<Failed>>,
}

impl Session {
    pub(crate) fn new(auth: Auth) -> Self {
        Self { auth, current: Mutex::new(None), turn: tokio::sync::Mutex::new(None) }
    }

    /// The present token.
    pub(crate) async fn token(&self, link: &Link) -> Result<Token, VaultError> {
        let Some(token) = self.current() else { return self.another(link, None).await };
        let now = Instant::now();
        // For a configured token, the vault itself reports that it is invalid.
        if self.can_replace() && token.ends.is_some_and(|end| end <= now) {
            return self.another(link, Some(&token)).await;
        }
        if token.next.is_some_and(|(at, _)| at <= now) {
            self.look_after(link, &token).await;
        }
        Ok(self.current().unwrap_or(token))
    }

    /// True if the token of a rejected request is valid. The vault answers 403 both for unknown tokens and for missing
    /// permissions.
    pub(crate) async fn is_known(&self, link: &Link, token: &Token) -> Result<bool, VaultError> {
        match self.look(link, token).await {
            Ok(_) | Err(VaultError::Denied { .. }) => Ok(true),
            Err(VaultError::TokenInvalid) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The token to try after a rejection; `None` if another one would not help.
    pub(crate) async fn after_refusal(&self, link: &Link, token: &Token) -> Result<Option<Token>, VaultError> {
        let is_known = self.is_known(link, token).await?;
        if is_known && token.got.elapsed() < YOUNG {
            return Ok(None);
        }
        match self.another(link, Some(token)).await {
            Ok(other) => Ok(Some(other)),
            Err(VaultError::TokenInvalid) if is_known => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The vault's description of the token.
    pub(crate) async fn look(&self, link: &Link, token: &Token) -> Result<LookedUp, VaultError> {
        told(&link.ask(&look(), Some(token.text())).await?)
    }

    /// Renews the token while this future is polled.
    pub(crate) async fn keep(&self, link: &Link) -> std::convert::Infallible {
        loop {
            let rest = match self.token(link).await {
                Ok(token) => token.next.map_or(IDLE, |(at, _)| at.saturating_duration_since(Instant::now())),
                Err(error) if error.is_permanent() => IDLE,
                Err(_) => RENEW_AGAIN,
            };
            tokio::time::sleep(rest.clamp(Duration::from_millis(100), IDLE)).await;
        }
    }

    fn current(&self) -> Option<Token> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, token: Token) {
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Some(token);
    }

    fn can_replace(&self) -> bool {
        !matches!(self.auth, Auth::Token(_))
    }

    /// Replaces this token by another one. If several tasks need a token, one task gets it, and the others use the
    /// result.
    async fn another(&self, link: &Link, seen: Option<&Token>) -> Result<Token, VaultError> {
        let asked = Instant::now();
        let mut turn = self.turn.lock().await;
        if let Some(token) = self.current().filter(|token| seen.is_none_or(|seen| seen.number < token.number)) {
            return Ok(token);
        }
        if let Some(failed) = turn.as_ref().filter(|failed| failed.at >= asked) {
            return Err(failed.error.clone());
        }
        match self.obtain(link, seen).await {
            Ok(token) => {
                *turn = None;
                self.set(token.clone());
                Ok(token)
            }
            Err(error) => {
                *turn = Some(Failed { at: Instant::now(), error: error.clone() });
                Err(error)
            }
        }
    }

    async fn obtain(&self, link: &Link, seen: Option<&Token>) -> Result<Token, VaultError> {
        let now = Instant::now();
        let made = |text| Token {
            text: Arc::new(text),
            number: seen.map_or(0, |seen| seen.number + 1),
            got: now,
            ends: None,
            first: Duration::ZERO,
            next: Some((now + LOOK_AFTER, Due::Look)),
        };
        match &self.auth {
            Auth::Token(_) if seen.is_some() => Err(VaultError::TokenInvalid),
            Auth::Token(text) => well_formed(text).map(|()| made(text.clone())),
            Auth::TokenFile(path) => {
                let text = token_in(path)?;
                // The same token would be rejected again.
                if seen.is_some_and(|seen| **seen.text == *text) {
                    return Err(VaultError::TokenInvalid);
                }
                Ok(made(text))
            }
            Auth::Kubernetes { role, mount, token_path } => {
                let granted = login(link, role, mount, &token_in(token_path)?).await?;
                let (lives, is_renewable) = (granted.lives(), granted.renewable);
                let text = granted.token();
                well_formed(&text)?;
                Ok(made(text).living(lives, is_renewable, true))
            }
        }
    }

    /// Renews a token if it is due, unless another task does it. While the old token is valid, a failed renewal is not
    /// an error.
    async fn look_after(&self, link: &Link, token: &Token) {
        let Some((_, due)) = token.next else { return };
        if due == Due::Replace {
            if self.another(link, Some(token)).await.is_err() {
                self.put_off(token);
            }
            return;
        }
        let Ok(_turn) = self.turn.try_lock() else { return };
        // Another task may have done it meanwhile.
        if self.current().is_none_or(|current| current.number != token.number || current.next != token.next) {
            return;
        }
        let is_renewal = due == Due::Renew;
        let state = if is_renewal {
            renewed(link, token).await.map(|told| (told.lives(), told.renewable))
        } else {
            let answer = link.ask_once(&look(), Some(token.text())).await;
            answer.and_then(|answer| told(&answer)).map(|told| (told.lives(), told.renewable))
        };
        match state {
            Ok((lives, is_renewable)) => {
                self.set(token.clone().living(lives, is_renewable, self.can_replace()));
            }
            // A token without permission to look itself up is used while it is valid.
            Err(VaultError::Denied { .. }) if !is_renewal => self.set(Token { next: None, ..token.clone() }),
            Err(_) => self.put_off(token),
        }
    }

    fn put_off(&self, token: &Token) {
        let next = token.next.map(|(_, due)| (Instant::now() + RENEW_AGAIN, due));
        self.set(Token { next, ..token.clone() });
    }
}

/// If a vault denies the look-up of a token, its message shows whether the token is unknown or only a policy is
/// missing.
fn is_of_policy(answer: &Answer) -> bool {
    let words = answer.words();
    words.contains("1 error occurred") && !words.contains("invalid token")
}

fn look() -> Ask {
    Ask::new(Method::GET, &["auth/token/lookup-self"])
}

fn told(answer: &Answer) -> Result<LookedUp, VaultError> {
    match answer.status {
        StatusCode::OK => Ok(answer.read::<Envelope<LookedUp>>()?.data),
        // Some tokens may not even look themselves up.
        StatusCode::FORBIDDEN if is_of_policy(answer) => {
            let path = "auth/token/lookup-self";
            Err(VaultError::Denied { verb: "read", path: path.into(), rule: path.into() })
        }
        StatusCode::FORBIDDEN => Err(VaultError::TokenInvalid),
        status => Err(VaultError::Refused { status: status.as_u16(), words: answer.words() }),
    }
}

async fn renewed(link: &Link, token: &Token) -> Result<Granted, VaultError> {
    let ask = Ask::new(Method::POST, &["auth/token/renew-self"]).body(&json!({}), 2)?;
    let answer = link.ask_once(&ask, Some(token.text())).await?;
    match answer.status {
        StatusCode::OK => Ok(answer.read::<LoggedIn>()?.auth),
        status => Err(VaultError::Refused { status: status.as_u16(), words: answer.words() }),
    }
}

async fn login(link: &Link, role: &str, mount: &str, jwt: &str) -> Result<Granted, VaultError> {
    let most = 6 * (role.len() + jwt.len()) + 64;
    let ask = Ask::new(Method::POST, &["auth", mount, "login"]).body(&Login { role, jwt }, most)?;
    let answer = link.ask(&ask, None).await?;
    if answer.status == StatusCode::OK {
        return Ok(answer.read::<LoggedIn>()?.auth);
    }
    let mut words = answer.words();
    // The message is passed on, unless it repeats the cluster's token.
    if words.is_empty() || jwt.split('.').any(|part| part.len() > 3 && words.contains(part)) {
        words = answer.status.to_string();
    }
    Err(VaultError::LoginRefused { role: role.to_owned(), mount: mount.to_owned(), words })
}

/// The token in a file, without surrounding white space.
fn token_in(path: &Path) -> Result<Zeroizing<String>, VaultError> {
    let wrong = |problem: String| VaultError::TokenFile { path: path.to_owned(), problem };
    let text = Zeroizing::new(std::fs::read(path).map_err(|error| wrong(error.to_string()))?);
    let text = str::from_utf8(&text).map_err(|_| wrong("it is not text".into()))?.trim();
    well_formed(text)
        .map_err(|_| wrong("it is empty, or contains characters that are not allowed in tokens".into()))?;
    Ok(Zeroizing::new(text.to_owned()))
}

fn well_formed(token: &str) -> Result<(), VaultError> {
    let is_fine = !token.is_empty() && token.len() <= MOST_OF_A_TOKEN && token.bytes().all(|b| b.is_ascii_graphic());
    if is_fine { Ok(()) } else { Err(VaultError::TokenForm) }
}
