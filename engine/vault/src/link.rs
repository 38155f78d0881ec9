//! One request and its answer, with retries.

use std::error::Error;
use std::io;
use std::net::IpAddr;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use bytes::Bytes;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{Certificate, Client, Method, StatusCode, Url, redirect};
use serde::Serialize;
use serde::de::DeserializeOwned;
use zeroize::Zeroizing;

use crate::config::Config;
use crate::error::{Health, Problem, VaultError};

/// Maximum size of an answer. Vault's own limit for a value is one megabyte.
const MOST_OF_AN_ANSWER: usize = 4 << 20;

/// The number of retries, and the first delay, which doubles.
const MORE_ATTEMPTS: usize = 3;
const FIRST_WAIT: Duration = Duration::from_millis(100);

/// The longest delay before a retry that the client accepts from a vault.
const MOST_WAIT: Duration = Duration::from_secs(2);

/// Maximum length of a vault's message.
const MOST_OF_WORDS: usize = 200;

/// A request.
pub(crate) struct Ask {
    method: Method,
    parts: Vec<String>,
    query: Option<&'static str>,
    body: Option<Bytes>,
    of_the_root: bool,
}

impl Ask {
    /// Creates a request for a path. Each text is split at `/`.
    pub(crate) fn new(method: Method, path: &[&str]) -> Self {
        let parts = path.iter().flat_map(|text| text.split('/')).map(str::to_owned).collect();
        Self { method, parts, query: None, body: None, of_the_root: false }
    }

    pub(crate) fn query(self, query: &'static str) -> Self {
        Self { query: Some(query), ..self }
    }

    /// Outside of the namespace.
    fn of_the_root(self) -> Self {
        Self { of_the_root: true, ..self }
    }

    /// Requests the state of the vault. The parameters make the vault answer every state with a success status.
    pub(crate) fn health() -> Self {
        Self::new(Method::GET, &["sys/health"])
            .query("standbyok=true&perfstandbyok=true&sealedcode=200&uninitcode=200&drsecondarycode=200")
            .of_the_root()
    }

    /// Adds a body. No copy of it stays in memory after it was sent.
    pub(crate) fn body(self, body: &impl Serialize, most_bytes: usize) -> Result<Self, VaultError> {
        // A growing vector would leave copies in memory.
        let mut bytes = Zeroizing::new(Vec::with_capacity(most_bytes));
        serde_json::to_writer(&mut *bytes, body).map_err(|_| VaultError::TooLarge)?;
        Ok(Self { body: Some(Bytes::from_owner(bytes)), ..self })
    }
}

/// An answer.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    /// The number of attempts. If there was more than one attempt, the results of the earlier ones are unknown.
    pub(crate) attempts: usize,
    pub(crate) after: Option<Duration>,
    pub(crate) body: Zeroizing<Vec<u8>>,
}

impl Answer {
    /// Parses the answer. The parser's message is left out, because it repeats parts of the answer.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, VaultError> {
        serde_json::from_slice(&self.body)
            .map_err(|_| VaultError::BadAnswer { problem: "the answer is not JSON with the expected fields" })
    }

    /// True if a vault sent the answer, and not a proxy. A vault's error contains a list of messages.
    pub(crate) fn is_of_a_vault(&self) -> bool {
        serde_json::from_slice::<Problem>(&self.body).is_ok()
    }

    /// The vault's message, in one line of limited length.
    pub(crate) fn words(&self) -> String {
        let problem: Problem = serde_json::from_slice(&self.body).unwrap_or_default();
        let words = problem.errors.join("; ").split_whitespace().collect::<Vec<_>>().join(" ");
        words.chars().filter(|character| !character.is_control()).take(MOST_OF_WORDS).collect()
    }

    /// Errors that every kind of request may cause.
    fn trouble(&self) -> Option<VaultError> {
        Some(match self.status.as_u16() {
            // 412 means that this node has not seen an earlier write yet.
            412 => VaultError::Fault { status: 412 },
            413 => VaultError::TooLarge,
            429 => VaultError::RateLimited,
            300..=399 | 472 | 473 => VaultError::Standby,
            501 => VaultError::NotInitialized,
            503 if self.words().contains("sealed") => VaultError::Sealed,
            status @ 500..=599 => VaultError::Fault { status },
            _ => return None,
        })
    }
}

/// The connection to a vault, without a token.
pub(crate) struct Link {
    client: Client,
    base: Url,
    host: String,
    namespace: Option<HeaderValue>,
}

impl Link {
    pub(crate) fn new(config: &Config) -> Result<Self, VaultError> {
        let (base, is_here) = address(&config.address)?;
        let host = base.host_str().unwrap_or_default();
        let host = base.port_or_known_default().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        let namespace = match &config.namespace {
            Some(namespace) => Some(HeaderValue::from_str(namespace).map_err(|_| VaultError::Path {
                name: "the namespace",
                problem: "it contains characters that are not allowed in HTTP headers",
            })?),
            None => None,
        };
        // An error means that a provider was already installed, which is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // A vault's agent answers only requests with this header, as protection against forged requests from browsers.
        let asked =
            HeaderMap::from_iter([(HeaderName::from_static("x-vault-request"), HeaderValue::from_static("true"))]);
        let mut builder = Client::builder()
            .connect_timeout(config.connect)
            .timeout(config.whole)
            .redirect(redirect::Policy::none())
            .default_headers(asked)
            .pool_idle_timeout(Duration::from_secs(30))
            .user_agent(concat!("tessera/", env!("CARGO_PKG_VERSION")));
        if is_here {
            builder = builder.no_proxy();
        }
        if base.scheme() == "http" {
            // Without TLS, no certificates are needed, and a small container may have none.
            builder = builder.tls_certs_only([]);
        } else if let Some(path) = &config.certificate {
            let wrong = |problem: String| VaultError::Certificate { path: path.clone(), problem };
            let text = std::fs::read(path).map_err(|error| wrong(error.to_string()))?;
            let known = Certificate::from_pem_bundle(&text).map_err(|error| wrong(innermost(&error)))?;
            if known.is_empty() {
                return Err(wrong("it contains no certificate".into()));
            }
            builder = builder.tls_certs_only(known);
        }
        let client =
            builder.build().map_err(|error| VaultError::Tls { host: host.clone(), cause: innermost(&error) })?;
        Ok(Self { client, base, host, namespace })
    }

    /// The error when the time is up.
    pub(crate) fn is_late(&self, after: Duration) -> VaultError {
        VaultError::Unreachable { host: self.host.clone(), cause: format!("no answer within {after:?}") }
    }

    /// Sends a request, and sends it again after temporary errors.
    pub(crate) async fn ask(&self, ask: &Ask, token: Option<&str>) -> Result<Answer, VaultError> {
        let mut waits =
            ExponentialBuilder::new().with_min_delay(FIRST_WAIT).with_max_times(MORE_ATTEMPTS).with_jitter().build();
        let mut attempts = 1;
        loop {
            let (error, after) = match self.ask_once(ask, token).await {
                Ok(answer) => match answer.trouble() {
                    None => return Ok(Answer { attempts, ..answer }),
                    Some(error) => (error, answer.after),
                },
                Err(error) => (error, None),
            };
            if error == VaultError::Sealed && self.is_new().await {
                return Err(VaultError::NotInitialized);
            }
            let Some(wait) = waits.next().filter(|_| error.passes()) else { return Err(error) };
            tokio::time::sleep(wait.max(after.unwrap_or_default().min(MOST_WAIT))).await;
            attempts += 1;
        }
    }

    /// True for an uninitialised vault, which also reports that it is sealed.
    async fn is_new(&self) -> bool {
        let health = self.ask_once(&Ask::health(), None).await.and_then(|answer| answer.read::<Health>());
        health.is_ok_and(|health| !health.initialized)
    }

    /// Sends a request once.
    pub(crate) async fn ask_once(&self, ask: &Ask, token: Option<&str>) -> Result<Answer, VaultError> {
        let mut url = self.base.clone();
        url.path_segments_mut()
            .map_err(|()| VaultError::Address { problem: "is none" })?
            .pop_if_empty()
            .push("v1")
            .extend(&ask.parts);
        url.set_query(ask.query);
        let mut request = self.client.request(ask.method.clone(), url);
        if let Some(token) = token {
            let mut value = HeaderValue::from_str(token).map_err(|_| VaultError::TokenForm)?;
            value.set_sensitive(true);
            request = request.header("x-vault-token", value);
        }
        if let (Some(namespace), false) = (&self.namespace, ask.of_the_root) {
            request = request.header("x-vault-namespace", namespace);
        }
        if let Some(body) = &ask.body {
            request = request.header("content-type", "application/json").body(body.clone());
        }
        let mut response = request.send().await.map_err(|error| self.failed(&error))?;
        let status = response.status();
        let after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        let announced = response.content_length().and_then(|length| usize::try_from(length).ok());
        let mut body = Zeroizing::new(Vec::with_capacity(announced.unwrap_or(4096).min(MOST_OF_AN_ANSWER)));
        while let Some(chunk) = response.chunk().await.map_err(|error| self.failed(&error))? {
            if body.len() + chunk.len() > MOST_OF_AN_ANSWER {
                return Err(VaultError::BadAnswer { problem: "it is too large" });
            }
            if body.len() + chunk.len() > body.capacity() {
                // A growing vector would leave copies in memory.
                let mut larger = Zeroizing::new(Vec::with_capacity(2 * (body.len() + chunk.len())));
                larger.extend_from_slice(&body);
                body = larger;
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Answer { status, attempts: 1, after: after.map(Duration::from_secs), body })
    }

    fn failed(&self, error: &reqwest::Error) -> VaultError {
        let (host, cause) = (self.host.clone(), innermost(error));
        if is_of_tls(error) {
            return VaultError::Tls { host, cause };
        }
        VaultError::Unreachable { host, cause }
    }
}

/// Parses an address, and tells whether it is on this machine. An error does not repeat the address, which may contain
/// a password.
fn address(text: &str) -> Result<(Url, bool), VaultError> {
    let wrong = |problem| VaultError::Address { problem };
    let mut url: Url = text.trim().parse().map_err(|_| wrong("is none"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(wrong("is neither http nor https"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong(
            "contains a user name or a password; remove it, because Tessera logs in to the vault with a token",
        ));
    }
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let is_here = host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback());
    if url.scheme() == "http" && !is_here {
        return Err(wrong(
            "is on another machine and needs https; otherwise token and secrets would cross the network in clear text",
        ));
    }
    url.set_query(None);
    url.set_fragment(None);
    Ok((url, is_here))
}

/// Returns the innermost cause of an error, because the outer ones repeat the address.
fn innermost(error: &reqwest::Error) -> String {
    let mut cause = error.source();
    let mut text = "the request failed".to_owned();
    while let Some(error) = cause {
        text = error.to_string();
        cause = error.source();
    }
    text
}

fn is_of_tls(error: &reqwest::Error) -> bool {
    let mut cause = error.source();
    while let Some(error) = cause {
        if error.is::<rustls::Error>() {
            return true;
        }
        // An I/O error contains its inner error directly, not as its source.
        cause = match error.downcast_ref::<io::Error>() {
            Some(error) => error.get_ref().map(|within| within as &(dyn Error + 'static)),
            None => error.source(),
        };
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_crosses_no_network_in_clear() {
        for fine in [
            "https://vault.example.org:8200",
            "http://127.0.0.1:8200/",
            "http://127.9.9.9",
            "http://localhost:1",
            "http://[::1]:8200/below/this",
        ] {
            assert!(address(fine).is_ok(), "{fine}");
        }
        for wrong in [
            "",
            "vault.example.org",
            "http://vault.example.org",
            "http://10.0.0.1:8200",
            "http://localhost.example.org",
            "http://127.0.0.1.example.org",
            "ftp://127.0.0.1",
            "https://me:pass@vault.example.org",
            "https://token@vault.example.org",
        ] {
            let error = address(wrong).unwrap_err().to_string();
            assert!(!error.contains("pass@") && !error.contains("token@"), "{error}");
        }
    }
}
