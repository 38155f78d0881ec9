//! The client's view of the team server.

use std::sync::OnceLock;
use std::time::Duration;

use reqwest::header::RETRY_AFTER;
use reqwest::{Client, Method, RequestBuilder, StatusCode, redirect};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tessera_engine::domain::{MemoryUuid, Permission, Tag};
use tessera_engine::sync::{
    Checkpoint, Invitation, KeptSecrets, MACHINE_HEADER, Page, PurgeReport, Push, Pushed, SentSecrets, ShownSecret,
    ShownSecrets, Snapshot,
};
use url::Url;

/// Time limits of a connection, and of a whole request.
const CONNECT: Duration = Duration::from_secs(3);
const WHOLE: Duration = Duration::from_secs(20);

/// Why a request failed.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// The address is none.
    #[error("the address of the team server is not valid: {0}; use an address such as https://tessera.example.org")]
    Address(String),
    /// No usable answer; the same request may be repeated.
    #[error("the team server cannot be reached ({0}); check the address and the network, and try again")]
    Unreachable(String),
    /// A proxy or a firewall sent the answer or closed the connection, but another request may succeed.
    #[error("the answer did not come from a Tessera server ({0}); check the address of the server and the proxy")]
    Blocked(String),
    /// The server cannot answer now.
    #[error("the team server is busy; try again later")]
    Wait {
        /// For how long, if it said so.
        after: Option<Duration>,
    },
    /// It does not know the key.
    #[error("the team server rejects the key; get a new key from its administrator, and run `tessera sync join`")]
    Unauthorized,
    /// The key lacks a scope, or the memory belongs to another user.
    #[error("the server does not allow this request: {0}")]
    Forbidden(String),
    /// The machine's sync state belongs to a database that the server no longer uses.
    #[error("the team server was restored from a backup; run `tessera sync now`")]
    MustRefetch,
    /// The server failed on this request. Another request may succeed.
    #[error("the team server failed ({0}); try again later, or ask its administrator")]
    Failed(String),
    /// The server accepted the connection and did not answer in time.
    #[error("the team server did not answer within {} seconds; try again later", WHOLE.as_secs())]
    TimedOut,
    /// The row does not exist, or the user may not see it.
    #[error("not found on the server: {0}")]
    NotFound(String),
    /// The request is too large.
    #[error("the request is too large for the team server")]
    TooLarge,
    /// The server will never accept this request.
    #[error("the server rejects the request: {0}")]
    Refused(String),
    /// The quota is used up. Changes that need no additional storage are still accepted.
    #[error("your quota on the server is used up: {0}")]
    Full(String),
}

impl RemoteError {
    /// True if the same request may succeed later.
    pub fn is_transient(&self) -> bool {
        use RemoteError::{Blocked, Failed, Full, TimedOut, Unreachable, Wait};
        matches!(self, Unreachable(_) | Blocked(_) | TimedOut | Failed(_) | Full(_) | Wait { .. })
    }

    /// True if a single change may have caused the error, so that other changes may still succeed.
    pub(super) fn is_not_now(&self) -> bool {
        matches!(self, Self::Failed(_) | Self::Blocked(_) | Self::Full(_) | Self::TimedOut)
    }

    /// True if fewer changes may succeed. After a timeout, this is only true if another timeout is acceptable.
    pub(super) fn may_be_of_one(&self, may_wait: bool) -> bool {
        matches!(self, Self::TooLarge | Self::Refused(_))
            || self.is_not_now() && (may_wait || !matches!(self, Self::TimedOut))
    }

    /// The pause that the server asked for.
    pub(super) fn wait(&self) -> Option<Duration> {
        match self {
            Self::Wait { after } => *after,
            _ => None,
        }
    }

    fn sent(error: reqwest::Error) -> Self {
        let was_connected = !error.is_connect();
        if error.is_timeout() && was_connected {
            return Self::TimedOut;
        }
        let mut text = error.to_string();
        let mut cause = std::error::Error::source(&error);
        while let Some(error) = cause {
            text = error.to_string();
            cause = error.source();
        }
        if was_connected { Self::Blocked(text) } else { Self::Unreachable(text) }
    }
}

/// A server's description of a problem.
#[derive(Debug, Default, Deserialize)]
struct Problem {
    #[serde(default)]
    code: String,
    #[serde(default)]
    detail: String,
}

/// A memory that is shared with or by the user.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, schemars::JsonSchema)]
pub struct SharedMemory {
    /// The memory. The server's short ID is in a different field. Tessera does not use this field.
    #[serde(rename(deserialize = "memory_uuid"))]
    pub memory_id: MemoryUuid,
    /// With whom.
    pub shared_with: String,
    /// The permission.
    pub permission: Permission,
    /// The first words of it.
    pub preview: String,
}

/// A tag that is shared.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, schemars::JsonSchema)]
pub struct SharedTag {
    /// The tag.
    pub tag: String,
    /// With whom.
    pub shared_with: String,
    /// The permission.
    pub permission: Permission,
    /// offered, accepted or declined, if the server reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
}

/// The shares of a user.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, schemars::JsonSchema)]
pub struct Shares {
    /// Single memories.
    pub memory_shares: Vec<SharedMemory>,
    /// Tags.
    pub tag_shares: Vec<SharedTag>,
}

/// A server, and the key of a user.
#[derive(Clone)]
pub struct Remote {
    client: Client,
    base: Url,
    key: String,
    /// The name of this machine, so that the server can report which machines are up to date.
    machine: OnceLock<String>,
    /// False if an environment variable contains the address, because a project directory can set variables.
    is_chosen: bool,
}

impl std::fmt::Debug for Remote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Remote").field("base", &self.base.as_str()).finish_non_exhaustive()
    }
}

impl Remote {
    /// A server by its address. Sends nothing yet.
    ///
    /// # Errors
    /// Returns an error if the address is not valid.
    pub fn new(address: &str, key: impl Into<String>) -> Result<Self, RemoteError> {
        let wrong = |problem: &dyn std::fmt::Display| RemoteError::Address(problem.to_string());
        let mut base: Url = address.trim().parse().map_err(|error: url::ParseError| wrong(&error))?;
        if !matches!(base.scheme(), "http" | "https") || base.host_str().is_none() {
            return Err(wrong(&"is not an http or https address"));
        }
        if !base.username().is_empty() || base.password().is_some() {
            return Err(wrong(&"contains a user name or a password; remove it, and log in with a key"));
        }
        // A key must not cross a network in clear text.
        let is_here = matches!(base.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
        if base.scheme() == "http" && !is_here {
            return Err(wrong(&"is on another machine and needs https"));
        }
        base.set_query(None);
        base.set_fragment(None);
        if !base.path().ends_with('/') {
            base.set_path(&format!("{}/", base.path()));
        }
        // An already installed provider is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .connect_timeout(CONNECT)
            .timeout(WHOLE)
            .redirect(redirect::Policy::none())
            .user_agent(concat!("tessera/", env!("CARGO_PKG_VERSION")));
        if is_here {
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(|error| wrong(&error))?;
        Ok(Self { client, base, key: key.into(), machine: OnceLock::new(), is_chosen: true })
    }

    /// Marks the server as configured by an environment variable. A project directory can set variables. So a store
    /// with memories joins such a server only after `tessera sync join`.
    #[must_use]
    pub fn named_by_environment(self) -> Self {
        Self { is_chosen: false, ..self }
    }

    /// True if a store with memories may join without a question.
    pub fn is_chosen(&self) -> bool {
        self.is_chosen
    }

    /// The address in its stored form.
    pub fn address(&self) -> &str {
        self.base.as_str().trim_end_matches('/')
    }

    /// Sets the machine's name for further requests.
    pub(super) fn speak_as(&self, machine: String) {
        // A machine has one name.
        let _ = self.machine.set(machine);
    }

    fn request(&self, method: Method, path: &str) -> Result<RequestBuilder, RemoteError> {
        let url = self.base.join(path).map_err(|error| RemoteError::Address(error.to_string()))?;
        let request = self.client.request(method, url).bearer_auth(&self.key);
        Ok(self.machine.get().into_iter().fold(request, |request, machine| request.header(MACHINE_HEADER, machine)))
    }

    async fn answer<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, RemoteError> {
        let response = request.send().await.map_err(RemoteError::sent)?;
        let status = response.status();
        let after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        let bytes = response.bytes().await.map_err(RemoteError::sent)?;
        if status == StatusCode::OK {
            // An answer that is not ours comes from something between.
            return serde_json::from_slice(&bytes)
                .map_err(|error| RemoteError::Blocked(format!("cannot read the answer: {error}")));
        }
        let problem: Problem = serde_json::from_slice(&bytes).unwrap_or_default();
        let words = if problem.detail.is_empty() { status.to_string() } else { problem.detail };
        Err(match (status, problem.code.as_str()) {
            (StatusCode::CONFLICT, "must_refetch") => RemoteError::MustRefetch,
            (StatusCode::UNAUTHORIZED, code) if !code.is_empty() => RemoteError::Unauthorized,
            (StatusCode::FORBIDDEN, code) if !code.is_empty() => RemoteError::Forbidden(words),
            (StatusCode::PAYLOAD_TOO_LARGE, code) if !code.is_empty() => RemoteError::TooLarge,
            (StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE, _) => {
                RemoteError::Wait { after: after.map(Duration::from_secs) }
            }
            (StatusCode::INSUFFICIENT_STORAGE, "quota_exceeded") => RemoteError::Full(words),
            (StatusCode::INTERNAL_SERVER_ERROR, _) => RemoteError::Failed(words),
            (StatusCode::NOT_FOUND, "not_found" | "no_such_user") => RemoteError::NotFound(words),
            // These statuses describe the connection or a route, not the content; the same request may succeed later.
            (
                StatusCode::NOT_FOUND
                | StatusCode::METHOD_NOT_ALLOWED
                | StatusCode::REQUEST_TIMEOUT
                | StatusCode::UNSUPPORTED_MEDIA_TYPE,
                _,
            ) => RemoteError::Blocked(words),
            // Only a Tessera server sends a code. A page without a code comes from a proxy.
            (status, code) if status.is_client_error() && !code.is_empty() => RemoteError::Refused(words),
            (StatusCode::GATEWAY_TIMEOUT, _) => RemoteError::TimedOut,
            (StatusCode::BAD_GATEWAY, _) => RemoteError::Unreachable(words),
            _ => RemoteError::Blocked(words),
        })
    }

    /// The user of the key.
    ///
    /// # Errors
    /// Returns an error if the server cannot be reached or rejects the key.
    pub async fn user(&self) -> Result<String, RemoteError> {
        #[derive(Deserialize)]
        struct Whose {
            user_id: String,
        }
        let whose: Whose = self.answer(self.request(Method::GET, "api/auth-check")?).await?;
        Ok(whose.user_id)
    }

    /// A sync request with the machine's checkpoints.
    fn knowing(&self, method: Method, path: &str, checkpoints: &[Checkpoint]) -> Result<RequestBuilder, RemoteError> {
        let request = self.request(method, path)?;
        Ok(if checkpoints.is_empty() {
            request
        } else {
            request.header(Checkpoint::HEADER, Checkpoint::header(checkpoints))
        })
    }

    pub(super) async fn push(&self, push: &Push, known: &[Checkpoint]) -> Result<Pushed, RemoteError> {
        self.answer(self.knowing(Method::POST, "v1/sync/push", known)?.json(push)).await
    }

    pub(super) async fn changes(
        &self,
        epoch: u64,
        after: u64,
        limit: u32,
        known: &[Checkpoint],
    ) -> Result<Page, RemoteError> {
        let query = [("epoch", epoch), ("after", after), ("limit", u64::from(limit))];
        self.answer(self.knowing(Method::GET, "v1/sync/changes", known)?.query(&query)).await
    }

    pub(super) async fn snapshot(
        &self,
        epoch: u64,
        after: Option<MemoryUuid>,
        known: &[Checkpoint],
    ) -> Result<Snapshot, RemoteError> {
        let request = self.knowing(Method::GET, "v1/sync/snapshot", known)?.query(&[("epoch", epoch)]);
        let request = match after {
            Some(after) => request.query(&[("after", after.to_string())]),
            None => request,
        };
        self.answer(request).await
    }

    /// Sends secrets to a server that stores them.
    pub(super) async fn keep_secrets(&self, secrets: &SentSecrets) -> Result<KeptSecrets, RemoteError> {
        self.answer(self.request(Method::PUT, "v1/sync/secrets")?.json(secrets)).await
    }

    /// The progress of a permanent deletion.
    ///
    /// # Errors
    /// Returns an error if the server cannot be reached, or the key lacks the permission.
    pub async fn purged(&self, memory: MemoryUuid) -> Result<PurgeReport, RemoteError> {
        self.answer(self.request(Method::GET, &format!("v1/sync/purged/{memory}"))?).await
    }

    /// Returns a memory and those of its secrets that the server stores. The server records the request.
    ///
    /// # Errors
    /// Returns an error if the server cannot be reached or does not know the memory, or the key lacks the permission.
    pub async fn secrets_of(&self, memory: MemoryUuid) -> Result<ShownSecrets, RemoteError> {
        // If the server has a short ID for the memory, `id` is this ID, and `uuid` is separate.
        #[derive(Deserialize)]
        struct Shown {
            id: Value,
            uuid: Option<MemoryUuid>,
            category: String,
            content: String,
            source: String,
            secrets: Vec<ShownSecret>,
        }
        let request = self.request(Method::POST, &format!("api/memories/{memory}/secret"))?;
        let Shown { id, uuid, category, content, source, secrets } = self.answer(request).await?;
        let unreadable = |error: serde_json::Error| RemoteError::Blocked(format!("cannot read the answer: {error}"));
        let id = uuid.map_or_else(|| serde_json::from_value(id).map_err(unreadable), Ok)?;
        Ok(ShownSecrets { id, category, content, source, secrets })
    }

    /// Shares a memory with a user, or stops sharing it.
    ///
    /// # Errors
    /// Returns an error if the server cannot be reached, does not know the memory or user, or the memory belongs to another user.
    pub async fn share(
        &self,
        memory: MemoryUuid,
        with: &str,
        permission: Option<Permission>,
    ) -> Result<(), RemoteError> {
        let request = match permission {
            Some(permission) => self
                .request(Method::POST, &format!("api/memories/{memory}/share"))?
                .json(&json!({ "shared_with": with, "permission": permission })),
            None => self.request(Method::DELETE, &format!("api/memories/{memory}/share/{}", segment(with)))?,
        };
        self.answer::<Value>(request).await.map(drop)
    }

    /// Shares a tag with a user, or stops sharing it.
    ///
    /// # Errors
    /// As [`Remote::share`].
    pub async fn share_tag(&self, tag: &Tag, with: &str, permission: Option<Permission>) -> Result<(), RemoteError> {
        let request = match permission {
            Some(permission) => self
                .request(Method::POST, "api/memories/share-tag")?
                .json(&json!({ "tag": tag, "shared_with": with, "permission": permission })),
            None => self
                .request(Method::POST, "api/memories/unshare-tag")?
                .json(&json!({ "tag": tag, "shared_with": with })),
        };
        self.answer::<Value>(request).await.map(drop)
    }

    /// Hides a shared memory, or shows it again.
    ///
    /// # Errors
    /// As [`Remote::share`].
    pub async fn mute(&self, memory: MemoryUuid, is_muted: bool) -> Result<(), RemoteError> {
        let method = if is_muted { Method::POST } else { Method::DELETE };
        self.answer::<Value>(self.request(method, &format!("api/memories/{memory}/mute"))?).await.map(drop)
    }

    /// Open invitations.
    ///
    /// # Errors
    /// Returns an error if the server cannot be reached.
    pub async fn invitations(&self) -> Result<Vec<Invitation>, RemoteError> {
        self.answer(self.request(Method::GET, "api/memories/invitations")?).await
    }

    /// Accepts or declines a shared tag. False if there is no invitation, or the answer was the same before.
    ///
    /// # Errors
    /// Returns an error if the server cannot be reached.
    pub async fn answer_invitation(&self, owner: &str, tag: &Tag, is_accepted: bool) -> Result<bool, RemoteError> {
        #[derive(Deserialize)]
        struct Answered {
            changed: bool,
        }
        let body = json!({ "owner": owner, "tag": tag, "accept": is_accepted });
        let answered: Answered =
            self.answer(self.request(Method::POST, "api/memories/invitations")?.json(&body)).await?;
        Ok(answered.changed)
    }

    /// The user's shares.
    ///
    /// # Errors
    /// Returns an error if the server cannot be reached.
    pub async fn my_shares(&self) -> Result<Shares, RemoteError> {
        self.answer(self.request(Method::GET, "api/memories/my-shares")?).await
    }
}

/// A text as one part of a path.
fn segment(text: &str) -> String {
    let mut url = Url::parse("http://localhost").unwrap_or_else(|_| unreachable!("an address"));
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.push(text);
    }
    url.path().trim_start_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_checked_before_a_key_is_sent() {
        for good in ["http://127.0.0.1:8765", "https://t.example.org/team", "http://localhost:1/"] {
            assert!(Remote::new(good, "k").is_ok(), "{good}");
        }
        for bad in ["", "t.example.org", "ftp://t.example.org", "http://t.example.org", "https://"] {
            assert!(matches!(Remote::new(bad, "k"), Err(RemoteError::Address(_))), "{bad}");
        }
        assert_eq!(Remote::new("https://t.example.org/team/", "k").unwrap().address(), "https://t.example.org/team");
        assert_eq!(segment("a/../b"), "a%2F..%2Fb");
        assert!(!format!("{:?}", Remote::new("https://t.example.org", "tsr_secret").unwrap()).contains("secret"));
    }
}
