//! The errors of a vault, grouped by what the caller must do.
//!
//! This module also defines the vault's messages. They contain only the fields that Tessera uses.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::fields::Fields;

/// An error of a vault. No message contains a token, a secret, or the part of an address before `@`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VaultError {
    /// The address is invalid, or would reveal the token.
    #[error("the vault's address {problem}; use one such as https://vault.example.org:8200")]
    Address {
        /// The problem.
        problem: &'static str,
    },
    /// A mount, path, template, user or ID that is not valid in a path.
    #[error("{name} cannot be part of a vault path: {problem}")]
    Path {
        /// The name of the value, such as the mount, the template or the user.
        name: &'static str,
        /// The problem.
        problem: &'static str,
    },
    /// The file with the certificates cannot be used.
    #[error("the certificate {path} cannot be used: {problem}", path = path.display())]
    Certificate {
        /// The file.
        path: PathBuf,
        /// The problem.
        problem: String,
    },
    /// There is an address but no authentication.
    #[error("no vault token; set VAULT_TOKEN, VAULT_TOKEN_FILE or, in a cluster, VAULT_ROLE")]
    NoAuth,
    /// The file with the token, or the file with the token of the service account, cannot be used.
    #[error("cannot read a token from {path}: {problem}", path = path.display())]
    TokenFile {
        /// The file.
        path: PathBuf,
        /// The problem.
        problem: String,
    },
    /// The token contains invalid characters.
    #[error("the vault token is empty, or contains characters that are not allowed in tokens")]
    TokenForm,
    /// The vault does not know the token: it is wrong, expired or revoked.
    #[error("the vault rejects the token: it is wrong, expired or revoked; use a new one")]
    TokenInvalid,
    /// The login with a service account was rejected.
    #[error("the vault rejects the login of role {role} at {mount}: {words}")]
    LoginRefused {
        /// The role.
        role: String,
        /// The mount path of the method.
        mount: String,
        /// The vault's message.
        words: String,
    },
    /// The token is valid, but its policy does not allow the operation.
    #[error("the token's policy does not allow {verb} on {path}; add `path \"{rule}\"` with capability {verb}")]
    Denied {
        /// The missing capability.
        verb: &'static str,
        /// The path within the mount.
        path: String,
        /// The path in the form that policies use.
        rule: String,
    },
    /// The vault is sealed.
    #[error("the vault is sealed; its operator must unseal it")]
    Sealed,
    /// The vault was never initialised.
    #[error("the vault is not initialised; its operator must initialise and unseal it")]
    NotInitialized,
    /// The vault is only a standby.
    #[error("this vault is a standby; use the address of the active one, or of the load balancer")]
    Standby,
    /// Too many requests.
    #[error("the vault received too many requests; try again")]
    RateLimited,
    /// Another client wrote first.
    #[error("{path} no longer has version {expected}")]
    Conflict {
        /// The path within the mount.
        path: String,
        /// The expected version.
        expected: u64,
    },
    /// No key-value engine of version 2 is mounted at this path.
    #[error("no KV version 2 engine is mounted at {mount}; enable one, or set VAULT_MOUNT and VAULT_NAMESPACE")]
    NoEngine {
        /// The mount.
        mount: String,
    },
    /// The vault rejects the request permanently.
    #[error("the vault rejects the request ({status}): {words}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The vault's message, or a fixed text if the message might repeat a secret.
        words: String,
    },
    /// The value or the answer is too large.
    #[error("the value is too large for the vault")]
    TooLarge,
    /// The vault did not answer in time.
    #[error("the vault at {host} cannot be reached: {cause}")]
    Unreachable {
        /// The host and the port.
        host: String,
        /// The cause.
        cause: String,
    },
    /// The connection cannot be trusted.
    #[error("TLS verification of the vault at {host} failed: {cause}; check VAULT_CACERT")]
    Tls {
        /// The host and the port.
        host: String,
        /// The cause.
        cause: String,
    },
    /// The vault, or a proxy in front of it, failed.
    #[error("the vault failed ({status})")]
    Fault {
        /// The HTTP status.
        status: u16,
    },
    /// An answer that does not come from a vault.
    #[error("the server at the vault's address does not respond like a vault: {problem}")]
    BadAnswer {
        /// What was wrong, without any part of the answer.
        problem: &'static str,
    },
}

impl VaultError {
    /// True if the same request will fail until somebody changes something; false if waiting may help. A sealed vault
    /// is a temporary error, because the vault does not report when somebody unseals it.
    pub fn is_permanent(&self) -> bool {
        !(self.passes() || matches!(self, Self::Sealed))
    }

    /// True if the same request may succeed within seconds.
    pub(crate) fn passes(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::RateLimited | Self::Standby | Self::Fault { .. })
    }
}

/// An answer of any route.
#[derive(Deserialize)]
pub(crate) struct Envelope<T> {
    pub(crate) data: T,
}

/// The data at a path.
#[derive(Deserialize)]
pub(crate) struct Stored {
    pub(crate) data: Option<Fields>,
    pub(crate) metadata: Version,
}

/// The version of the data at a path.
#[derive(Deserialize)]
pub(crate) struct Version {
    pub(crate) version: u64,
}

/// The names in a folder.
#[derive(Deserialize)]
pub(crate) struct Keys {
    pub(crate) keys: Vec<String>,
}

/// New data for a path.
#[derive(Serialize)]
pub(crate) struct Write<'a> {
    pub(crate) data: &'a Fields,
    pub(crate) options: Expected,
}

/// The version of a path that a write expects.
#[derive(Serialize)]
pub(crate) struct Expected {
    pub(crate) cas: u64,
}

/// A login with a service account.
#[derive(Serialize)]
pub(crate) struct Login<'a> {
    pub(crate) role: &'a str,
    pub(crate) jwt: &'a str,
}

/// The answer to a login or a renewal.
#[derive(Deserialize)]
pub(crate) struct LoggedIn {
    pub(crate) auth: Granted,
}

/// A new or renewed token.
#[derive(Deserialize)]
pub(crate) struct Granted {
    client_token: String,
    lease_duration: u64,
    pub(crate) renewable: bool,
}

impl Granted {
    /// The lifetime of the token; `None` if it is unlimited.
    pub(crate) fn lives(&self) -> Option<Duration> {
        (self.lease_duration > 0).then(|| Duration::from_secs(self.lease_duration))
    }

    pub(crate) fn token(self) -> Zeroizing<String> {
        Zeroizing::new(self.client_token)
    }
}

/// The properties of a token.
#[derive(Deserialize)]
pub(crate) struct LookedUp {
    ttl: u64,
    expire_time: Option<String>,
    #[serde(default)]
    pub(crate) renewable: bool,
    #[serde(default)]
    pub(crate) policies: Vec<String>,
}

impl LookedUp {
    /// Its remaining lifetime; `None` if unlimited. In the last second of its lifetime, a token reports 0, like an
    /// unlimited token.
    pub(crate) fn lives(&self) -> Option<Duration> {
        (self.ttl > 0 || self.expire_time.is_some()).then(|| Duration::from_secs(self.ttl))
    }
}

/// The state of a vault.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Health {
    /// False before its first initialisation.
    pub initialized: bool,
    /// True while it is sealed.
    pub sealed: bool,
    /// True if another node of the vault's cluster is active.
    #[serde(default)]
    pub standby: bool,
    /// The version of Vault or OpenBao.
    #[serde(default)]
    pub version: String,
}

/// The errors in an answer.
#[derive(Default, Deserialize)]
pub(crate) struct Problem {
    pub(crate) errors: Vec<String>,
}
