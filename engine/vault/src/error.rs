//! What can be wrong with a vault, told apart by who must do what.

use std::path::PathBuf;

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
