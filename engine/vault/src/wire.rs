//! What goes over the wire, and no more of it than is used.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::fields::Fields;

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
