//! The settings of a vault: its address, the authentication, and the path of secrets.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use zeroize::Zeroizing;

use crate::error::VaultError;
use crate::path::{PathTemplate, checked};

/// Time limits of a connection, and of a whole operation with all attempts.
const CONNECT: Duration = Duration::from_secs(3);
const WHOLE: Duration = Duration::from_secs(10);

/// The file in which Kubernetes stores the token of a service account.
const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount/token";

/// The role with which claude-memory-mcp logs in by default.
const OLDER_ROLE: &str = "claude-memory";

/// The variables that [`Config::read`] reads. If Vault's own client has a variable for a setting, Tessera uses the same
/// name.
pub const VARIABLES: [&str; 10] = [
    "VAULT_ADDR",
    "VAULT_TOKEN",
    "VAULT_TOKEN_FILE",
    "VAULT_NAMESPACE",
    "VAULT_MOUNT",
    "VAULT_PREFIX",
    "VAULT_ROLE",
    "VAULT_K8S_MOUNT",
    "VAULT_K8S_TOKEN_PATH",
    "VAULT_CACERT",
];

/// The authentication.
#[derive(Clone)]
pub enum Auth {
    /// A token. Tessera can renew this token, but cannot get a new one.
    Token(Zeroizing<String>),
    /// A file with a token, which is read again when the token becomes invalid. Vault's agent writes such files.
    TokenFile(PathBuf),
    /// A login with the service account of a pod.
    Kubernetes {
        /// The role of the login.
        role: String,
        /// The mount path of the method.
        mount: String,
        /// The file with the account's token, which is read at every login because Kubernetes replaces it.
        token_path: PathBuf,
    },
}

impl Auth {
    /// A login with the service account of this pod.
    pub fn kubernetes(role: impl Into<String>) -> Self {
        Self::Kubernetes { role: role.into(), mount: "kubernetes".into(), token_path: SERVICE_ACCOUNT.into() }
    }
}

impl fmt::Debug for Auth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Token(_) => f.debug_tuple("Token").finish_non_exhaustive(),
            Self::TokenFile(path) => f.debug_tuple("TokenFile").field(path).finish(),
            Self::Kubernetes { role, mount, token_path } => f
                .debug_struct("Kubernetes")
                .field("role", role)
                .field("mount", mount)
                .field("token_path", token_path)
                .finish(),
        }
    }
}

/// The configuration of a [`Vault`](crate::Vault).
#[derive(Clone)]
pub struct Config {
    /// The address: https, or http on this machine.
    pub address: String,
    /// The authentication.
    pub auth: Auth,
    /// The namespace, if the vault has namespaces.
    pub namespace: Option<String>,
    /// The mount path of the key-value engine.
    pub mount: String,
    /// The path of secrets within the mount.
    pub template: PathTemplate,
    /// The file with all certificates that Tessera trusts. Without it, Tessera trusts the certificates of the system.
    pub certificate: Option<PathBuf>,
    /// Time limit of a connection.
    pub connect: Duration,
    /// The time limit of an operation, including its retries and a login if necessary.
    pub whole: Duration,
}

impl Config {
    /// The default configuration for an address and an authentication method.
    pub fn new(address: impl Into<String>, auth: Auth) -> Self {
        Self {
            address: address.into(),
            auth,
            namespace: None,
            mount: "secret".into(),
            template: PathTemplate::default(),
            certificate: None,
            connect: CONNECT,
            whole: WHOLE,
        }
    }

    /// Reads the configuration from [`VARIABLES`], in the environment or a settings file; `None` if there is no
    /// address. A token has priority over a file with a token, and the file has priority over a login. `~/.vault-token`
    /// is never read.
    ///
    /// # Errors
    /// Returns an error if no authentication is configured, or if a name is not valid in a path.
    pub fn read(value: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, VaultError> {
        let value = |name: &str| value(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        let Some(address) = value("VAULT_ADDR") else { return Ok(None) };
        let token_path = value("VAULT_K8S_TOKEN_PATH").map_or_else(|| PathBuf::from(SERVICE_ACCOUNT), PathBuf::from);
        let role = value("VAULT_ROLE").or_else(|| token_path.exists().then(|| OLDER_ROLE.into()));
        let auth = match (value("VAULT_TOKEN"), value("VAULT_TOKEN_FILE"), role) {
            (Some(token), ..) => Auth::Token(Zeroizing::new(token)),
            (None, Some(path), _) => Auth::TokenFile(path.into()),
            (None, None, Some(role)) => {
                let mount = value("VAULT_K8S_MOUNT").unwrap_or_else(|| "kubernetes".into());
                Auth::Kubernetes { role, mount, token_path }
            }
            (None, None, None) => return Err(VaultError::NoAuth),
        };
        let mut config = Self::new(address, auth);
        config.namespace = value("VAULT_NAMESPACE");
        config.certificate = value("VAULT_CACERT").map(PathBuf::from);
        if let Some(mount) = value("VAULT_MOUNT") {
            config.mount = mount;
        }
        if let Some(folder) = value("VAULT_PREFIX") {
            config.template = PathTemplate::below(folder.trim_matches('/'))?;
        }
        config.checked().map(Some)
    }

    /// The configuration in normalised form.
    pub(crate) fn checked(mut self) -> Result<Self, VaultError> {
        self.mount = self.mount.trim_matches('/').to_owned();
        checked("the mount", &self.mount)?;
        if let Some(namespace) = &mut self.namespace {
            *namespace = namespace.trim_matches('/').to_owned();
            checked("the namespace", namespace)?;
        }
        if let Auth::Kubernetes { mount, .. } = &mut self.auth {
            *mount = mount.trim_matches('/').to_owned();
            checked("the mount path of the Kubernetes login", mount)?;
        }
        Ok(self)
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A token in the address does not appear in a log.
        f.debug_struct("Config")
            .field("auth", &self.auth)
            .field("namespace", &self.namespace)
            .field("mount", &self.mount)
            .field("template", &self.template)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: &[(&str, &str)]) -> Result<Option<Config>, VaultError> {
        Config::read(|name| {
            assert!(VARIABLES.contains(&name), "{name}");
            values.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn without_an_address_there_is_no_vault() {
        assert!(read(&[("VAULT_TOKEN", "t"), ("VAULT_ADDR", " ")]).unwrap().is_none());
    }

    #[test]
    fn a_token_goes_before_a_file_and_a_file_before_a_login() {
        let address = ("VAULT_ADDR", "https://v.example.org");
        let way = |more: &[(&str, &str)]| {
            read(&[&[address, ("VAULT_K8S_TOKEN_PATH", "/nowhere/at/all")], more].concat())
                .map(|config| format!("{:?}", config.unwrap().auth))
        };
        let all = [("VAULT_TOKEN", "very-secret"), ("VAULT_TOKEN_FILE", "/f"), ("VAULT_ROLE", "r")];
        assert_eq!(way(&all).unwrap(), "Token(..)");
        assert_eq!(way(&all[1..]).unwrap(), r#"TokenFile("/f")"#);
        assert_eq!(
            way(&all[2..]).unwrap(),
            r#"Kubernetes { role: "r", mount: "kubernetes", token_path: "/nowhere/at/all" }"#
        );
        assert_eq!(way(&[]).unwrap_err(), VaultError::NoAuth);
    }

    #[test]
    fn in_a_pod_the_older_role_is_taken_where_none_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().to_str().unwrap();
        let config = read(&[("VAULT_ADDR", "https://v.example.org"), ("VAULT_K8S_TOKEN_PATH", path)]).unwrap().unwrap();
        assert!(matches!(config.auth, Auth::Kubernetes { role, .. } if role == OLDER_ROLE));
    }

    #[test]
    fn what_is_no_path_is_refused() {
        let given = |name, text| {
            read(&[("VAULT_ADDR", "https://v.example.org"), ("VAULT_TOKEN", "t"), (name, text)])
                .map(|config| config.unwrap().mount)
        };
        for name in ["VAULT_MOUNT", "VAULT_NAMESPACE", "VAULT_PREFIX"] {
            for text in ["..", "a/../b", "a//b", "a b", "%2e%2e"] {
                assert!(given(name, text).is_err(), "{name}={text}");
            }
        }
        assert_eq!(given("VAULT_MOUNT", "/kv/team/").unwrap(), "kv/team");
        assert_eq!(given("VAULT_MOUNT", "").unwrap(), "secret");
    }

    #[test]
    fn settings_are_printed_without_the_address_and_the_token() {
        let config = Config::new("https://user:hidden@v.example.org", Auth::Token(Zeroizing::new("hidden".into())));
        assert!(!format!("{config:?}").contains("hidden"));
    }
}
