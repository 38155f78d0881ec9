//! What can be wrong with a vault, told apart by who must do what.
//!
//! What goes over the wire, and no more of it than is used.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::fields::Fields;

/// Why a vault did not do what was asked. No message holds a token, a secret or what an address says before `@`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VaultError {
    /// The address is none, or one that would betray the token.
    #[error("the vault's address {problem}; give one such as https://vault.example.org:8200")]
    Address {
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A mount, a path, a template, a user or an id that cannot be part of a path.
    #[error("{name} cannot be part of a path in the vault: {problem}")]
    Path {
        /// What it is: the mount, the template, the user …
        name: &'static str,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The file of the authority that signed the vault's certificate.
    #[error("the certificate {path} cannot be used: {problem}", path = path.display())]
    Certificate {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// There is an address and no way in.
    #[error("there is no token for the vault; give VAULT_TOKEN, VAULT_TOKEN_FILE or, in a cluster, VAULT_ROLE")]
    NoAuth,
    /// A file with a token, or with the token of a service account, that cannot be used.
    #[error("no token can be read from {path}: {problem}", path = path.display())]
    TokenFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The token holds what no token holds.
    #[error("the token for the vault is empty or holds characters that no token has")]
    TokenForm,
    /// The vault does not know the token: it is wrong, expired or revoked.
    #[error("the vault does not know the token: it is wrong, expired or revoked; give it a new one")]
    TokenInvalid,
    /// The login by a service account was refused.
    #[error("the vault refuses the login of role {role} at {mount}: {words}")]
    LoginRefused {
        /// The role.
        role: String,
        /// Where the method is mounted.
        mount: String,
        /// What the vault says.
        words: String,
    },
    /// The token is good, its policy is not.
    #[error("the token's policy does not allow to {verb} {path}; add `path \"{rule}\"` with capability {verb} to it")]
    Denied {
        /// The capability that lacks.
        verb: &'static str,
        /// The path within the mount.
        path: String,
        /// The path as a policy names it.
        rule: String,
    },
    /// The vault is sealed.
    #[error("the vault is sealed; its operator must unseal it")]
    Sealed,
    /// The vault was never initialised.
    #[error("the vault is not initialised; its operator must initialise and unseal it")]
    NotInitialized,
    /// This one only stands by, and sends elsewhere.
    #[error("this vault only stands by; give the address of the active one or of what is before them all")]
    Standby,
    /// Too many requests.
    #[error("the vault asks to wait: too many requests")]
    RateLimited,
    /// Somebody else wrote first.
    #[error("{path} is not at version {expected} any more")]
    Conflict {
        /// The path within the mount.
        path: String,
        /// The version that was expected.
        expected: u64,
    },
    /// At the mount is no key-value engine of version 2.
    #[error(
        "at {mount} is no key-value engine of version 2; enable one there, or give VAULT_MOUNT and VAULT_NAMESPACE"
    )]
    NoEngine {
        /// The mount.
        mount: String,
    },
    /// The vault will never take this request.
    #[error("the vault refuses it ({status}): {words}")]
    Refused {
        /// The status of HTTP.
        status: u16,
        /// What the vault says, where that cannot repeat a secret.
        words: String,
    },
    /// What is to be kept, or what came back, is larger than may be.
    #[error("this is too large for the vault")]
    TooLarge,
    /// Nobody answered in time.
    #[error("the vault at {host} cannot be reached: {cause}")]
    Unreachable {
        /// The host and the port.
        host: String,
        /// What happened.
        cause: String,
    },
    /// The connection is not to be trusted.
    #[error("the vault at {host} cannot be trusted: {cause}; is VAULT_CACERT the certificate that signed its own?")]
    Tls {
        /// The host and the port.
        host: String,
        /// What happened.
        cause: String,
    },
    /// The vault, or something before it, failed.
    #[error("the vault failed ({status})")]
    Fault {
        /// The status of HTTP.
        status: u16,
    },
    /// An answer that no vault gives.
    #[error("what answers at the vault's address does not answer as a vault does: {problem}")]
    BadAnswer {
        /// What is wrong with it; never a part of it.
        problem: &'static str,
    },
}

impl VaultError {
    /// True when the same request will fail until somebody changes something; false when waiting may help. A vault that is
    /// sealed is one to wait for: whoever unseals it tells nobody.
    pub fn is_permanent(&self) -> bool {
        !(self.passes() || matches!(self, Self::Sealed))
    }

    /// True when the same request may succeed within seconds.
    pub(crate) fn passes(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::RateLimited | Self::Standby | Self::Fault { .. })
    }
}

/// An answer of any route.
#[derive(Deserialize)]
pub(crate) struct Envelope<T> {
    pub(crate) data: T,
}

/// What lies at a path.
#[derive(Deserialize)]
pub(crate) struct Stored {
    pub(crate) data: Option<Fields>,
    pub(crate) metadata: Version,
}

/// The version of what lies at a path.
#[derive(Deserialize)]
pub(crate) struct Version {
    pub(crate) version: u64,
}

/// The names in a folder.
#[derive(Deserialize)]
pub(crate) struct Keys {
    pub(crate) keys: Vec<String>,
}

/// What is to lie at a path.
#[derive(Serialize)]
pub(crate) struct Write<'a> {
    pub(crate) data: &'a Fields,
    pub(crate) options: Expected,
}

/// At which version a path must be for a write to be done.
#[derive(Serialize)]
pub(crate) struct Expected {
    pub(crate) cas: u64,
}

/// A login by a service account.
#[derive(Serialize)]
pub(crate) struct Login<'a> {
    pub(crate) role: &'a str,
    pub(crate) jwt: &'a str,
}

/// What a login and a renewal answer.
#[derive(Deserialize)]
pub(crate) struct LoggedIn {
    pub(crate) auth: Granted,
}

/// A token that was given or made to live longer.
#[derive(Deserialize)]
pub(crate) struct Granted {
    client_token: String,
    lease_duration: u64,
    pub(crate) renewable: bool,
}

impl Granted {
    /// How long it lives; `None` where it has no end.
    pub(crate) fn lives(&self) -> Option<Duration> {
        (self.lease_duration > 0).then(|| Duration::from_secs(self.lease_duration))
    }

    pub(crate) fn token(self) -> Zeroizing<String> {
        Zeroizing::new(self.client_token)
    }
}

/// What a token says of itself.
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
    /// How long it still lives; `None` where it has no end. Of its last second it says 0, as one without an end does.
    pub(crate) fn lives(&self) -> Option<Duration> {
        (self.ttl > 0 || self.expire_time.is_some()).then(|| Duration::from_secs(self.ttl))
    }
}

/// How a vault is.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Health {
    /// False before its operator first set it up.
    pub initialized: bool,
    /// True while it holds its data locked.
    pub sealed: bool,
    /// True when another one of its cluster does the work.
    #[serde(default)]
    pub standby: bool,
    /// Which version of Vault or OpenBao it is.
    #[serde(default)]
    pub version: String,
}

/// What an answer says is wrong.
#[derive(Default, Deserialize)]
pub(crate) struct Problem {
    pub(crate) errors: Vec<String>,
}
