//! One request and its answer, and the same again where waiting may help.

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

/// The largest answer: Vault's own limit for a value is one megabyte.
const MOST_OF_AN_ANSWER: usize = 4 << 20;

/// How often what may pass is tried again, and after which wait first; it doubles.
const MORE_ATTEMPTS: usize = 3;
const FIRST_WAIT: Duration = Duration::from_millis(100);

/// The longest wait that a vault may ask for between two attempts.
const MOST_WAIT: Duration = Duration::from_secs(2);

/// How much of a vault's own words is shown.
const MOST_OF_WORDS: usize = 200;

/// What is asked for.
pub(crate) struct Ask {
    method: Method,
    parts: Vec<String>,
    query: Option<&'static str>,
    body: Option<Bytes>,
    of_the_root: bool,
}

impl Ask {
    /// A request of a path: of all that stands between `/` in each of the texts.
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

    /// How the vault is, asked so that no state of it is an error.
    pub(crate) fn health() -> Self {
        Self::new(Method::GET, &["sys/health"])
            .query("standbyok=true&perfstandbyok=true&sealedcode=200&uninitcode=200&drsecondarycode=200")
            .of_the_root()
    }

    /// With a body, of which no copy is left behind when it has been sent.
    pub(crate) fn body(self, body: &impl Serialize, most_bytes: usize) -> Result<Self, VaultError> {
        // A vector that grows leaves its former self behind.
        let mut bytes = Zeroizing::new(Vec::with_capacity(most_bytes));
        serde_json::to_writer(&mut *bytes, body).map_err(|_| VaultError::TooLarge)?;
        Ok(Self { body: Some(Bytes::from_owner(bytes)), ..self })
    }
}

/// What came back.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    /// How many attempts it took: after a first one nobody knows what the earlier ones did.
    pub(crate) attempts: usize,
    pub(crate) after: Option<Duration>,
    pub(crate) body: Zeroizing<Vec<u8>>,
}

impl Answer {
    /// What the answer says. Its parser's own words are left out, since they repeat what they stumble on.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, VaultError> {
        serde_json::from_slice(&self.body).map_err(|_| VaultError::BadAnswer { problem: "it is of another form" })
    }

    /// True for what a vault says: an error has words, or none, in a list of its own.
    pub(crate) fn is_of_a_vault(&self) -> bool {
        serde_json::from_slice::<Problem>(&self.body).is_ok()
    }

    /// What the vault says is wrong, on one line and not too long.
    pub(crate) fn words(&self) -> String {
        let problem: Problem = serde_json::from_slice(&self.body).unwrap_or_default();
        let words = problem.errors.join("; ").split_whitespace().collect::<Vec<_>>().join(" ");
        words.chars().filter(|character| !character.is_control()).take(MOST_OF_WORDS).collect()
    }

    /// What is wrong whatever was asked for.
    fn trouble(&self) -> Option<VaultError> {
        Some(match self.status.as_u16() {
            // 412 says that this one has not heard of an earlier write yet.
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

/// The way to a vault, without a token.
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
                problem: "it holds characters that no header has",
            })?),
            None => None,
        };
        // Whoever installed one before was as right.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // A vault's agent answers only who says that a browser was not tricked into asking.
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
            // There is nothing to believe, and a small container may have no certificates that could be loaded.
            builder = builder.tls_certs_only([]);
        } else if let Some(path) = &config.certificate {
            let wrong = |problem: String| VaultError::Certificate { path: path.clone(), problem };
            let text = std::fs::read(path).map_err(|error| wrong(error.to_string()))?;
            let known = Certificate::from_pem_bundle(&text).map_err(|error| wrong(innermost(&error)))?;
            if known.is_empty() {
                return Err(wrong("it holds no certificate".into()));
            }
            builder = builder.tls_certs_only(known);
        }
        let client =
            builder.build().map_err(|error| VaultError::Tls { host: host.clone(), cause: innermost(&error) })?;
        Ok(Self { client, base, host, namespace })
    }

    /// What is said when time is up.
    pub(crate) fn is_late(&self, after: Duration) -> VaultError {
        VaultError::Unreachable { host: self.host.clone(), cause: format!("no answer within {after:?}") }
    }

    /// Asks, and asks again while that may help.
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

    /// True for a vault that was never set up: it calls itself sealed as well.
    async fn is_new(&self) -> bool {
        let health = self.ask_once(&Ask::health(), None).await.and_then(|answer| answer.read::<Health>());
        health.is_ok_and(|health| !health.initialized)
    }

    /// Asks once.
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
                // A vector that grows by itself leaves its former self behind.
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

/// An address, and whether it is on this machine. What is wrong with it is said without repeating it: it may hold a password.
fn address(text: &str) -> Result<(Url, bool), VaultError> {
    let wrong = |problem| VaultError::Address { problem };
    let mut url: Url = text.trim().parse().map_err(|_| wrong("is none"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(wrong("is neither http nor https"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("holds a name or a password, which no vault asks for"));
    }
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let is_here = host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback());
    if url.scheme() == "http" && !is_here {
        return Err(wrong(
            "is beyond this machine and not https: the token and the secrets would cross the network in clear",
        ));
    }
    url.set_query(None);
    url.set_fragment(None);
    Ok((url, is_here))
}

/// The cause of all causes: what is said above it repeats the address.
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
        // What an I/O error wraps is not its source, but what it is.
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
