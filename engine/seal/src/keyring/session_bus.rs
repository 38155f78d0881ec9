//! Linux and similar systems: the secret service on the session bus.
//!
//! This module uses the crate `secret_service` instead of the session-bus store in the crate `keyring`. That store asks
//! the user for a password whenever the keyring is locked. With hooks, this would happen at every prompt.

use std::collections::HashMap;
use std::future::Future;
use std::str::FromStr as _;

use secret_service::{Collection, EncryptionType, Error, SecretService};
use tokio::time::timeout;
use zbus::address::Address;
use zbus::address::transport::{Transport, UnixSocket};
use zbus::names::OwnedErrorName;
use zbus::{DBusError as _, connection, fdo};
use zeroize::Zeroizing;

use super::{KeyringError, PATIENCE, SERVICE};

/// A bus.
#[derive(Debug, Clone)]
pub(super) struct Place {
    address: Address,
}

impl Place {
    /// The session bus, if it can be reached without starting a bus.
    pub(super) fn of_session(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let address = variable("DBUS_SESSION_BUS_ADDRESS").filter(|address| !address.is_empty()).or_else(|| {
            let path = std::path::Path::new(&variable("XDG_RUNTIME_DIR")?).join("bus");
            Some(format!("unix:path={}", path.to_str().filter(|_| path.exists())?))
        })?;
        let mut addresses = address.split(';').filter_map(|one| Address::from_str(one).ok());
        addresses.find(is_socket).map(|address| Self { address })
    }

    pub(super) fn read(&self, account: &str) -> Result<Option<Zeroizing<Vec<u8>>>, KeyringError> {
        bounded(async {
            let service = self.service().await?;
            let found = service.search_items(attributes(account)).await.map_err(meant)?;
            match found.unlocked.first() {
                Some(item) => item.get_secret().await.map(|text| Some(Zeroizing::new(text))).map_err(meant),
                None if found.locked.is_empty() => Ok(None),
                None => Err(KeyringError::Locked),
            }
        })
    }

    pub(super) fn write(&self, account: &str, text: &[u8]) -> Result<(), KeyringError> {
        bounded(async {
            let service = self.service().await?;
            let collection = open_collection(&service).await?;
            let label = "Tessera's key for secrets";
            collection.create_item(label, attributes(account), text, true, "text/plain").await.map_err(meant)?;
            Ok(())
        })
    }

    pub(super) fn erase(&self, account: &str) -> Result<(), KeyringError> {
        bounded(async {
            let service = self.service().await?;
            let found = service.search_items(attributes(account)).await.map_err(meant)?;
            for item in &found.unlocked {
                item.delete().await.map_err(meant)?;
            }
            if found.locked.is_empty() { Ok(()) } else { Err(KeyringError::Locked) }
        })
    }

    pub(super) async fn service(&self) -> Result<SecretService<'static>, KeyringError> {
        let builder = connection::Builder::address(self.address.clone()).map_err(of_bus)?;
        let connection = builder.build().await.map_err(of_bus)?;
        // Messages on the bus are encrypted, so that a recording of the bus contains no key.
        SecretService::connect_with_existing(EncryptionType::Dh, connection).await.map_err(meant)
    }
}

/// The persistent collection. A locked collection is not written to, because writing would ask for its password.
pub(super) async fn open_collection<'a>(service: &'a SecretService<'_>) -> Result<Collection<'a>, KeyringError> {
    let collection = service.get_default_collection().await.map_err(meant)?;
    collection.ensure_unlocked().await.map_err(meant)?;
    Ok(collection)
}

/// The attributes of an item.
pub(super) fn attributes(account: &str) -> HashMap<&str, &str> {
    HashMap::from([("service", SERVICE), ("account", account)])
}

/// True for a socket. Other types of bus addresses could start a program or connect to another machine.
fn is_socket(address: &Address) -> bool {
    match address.transport() {
        Transport::Unix(socket) => match socket.path() {
            UnixSocket::File(_) => true,
            #[cfg(target_os = "linux")]
            UnixSocket::Abstract(_) => true,
            _ => false,
        },
        _ => false,
    }
}

/// Performs an operation within the time limit; afterwards, nothing continues in the background.
pub(super) fn bounded<T>(work: impl Future<Output = Result<T, KeyringError>>) -> Result<T, KeyringError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| KeyringError::Absent { why: error.to_string() })?;
    let silent = || Err(KeyringError::Silent { after: PATIENCE });
    let outcome = runtime.block_on(async { timeout(PATIENCE, work).await.unwrap_or_else(|_| silent()) });
    runtime.shutdown_background();
    outcome
}

fn meant(error: Error) -> KeyringError {
    match error {
        Error::Locked | Error::Prompt | Error::PromptDisconnected => KeyringError::Locked,
        Error::NoResult => KeyringError::Absent { why: "it has no collection for keys".into() },
        Error::Unavailable => nobody(),
        Error::Zbus(error) => of_bus(error),
        Error::ZbusFdo(error) => of_standard(error),
        _ => KeyringError::BadAnswer,
    }
}

fn of_bus(error: zbus::Error) -> KeyringError {
    match error {
        zbus::Error::MethodError(name, ..) => refused(&name),
        zbus::Error::FDO(error) => of_standard(*error),
        zbus::Error::InputOutput(error) | zbus::Error::Connection(error, _) => {
            KeyringError::Absent { why: format!("cannot connect to the session bus: {error}") }
        }
        zbus::Error::Handshake(_) => KeyringError::Absent { why: "the session bus rejects this user".into() },
        _ => KeyringError::BadAnswer,
    }
}

fn of_standard(error: fdo::Error) -> KeyringError {
    match error {
        fdo::Error::ZBus(error) => of_bus(error),
        error => refused(&error.name().into()),
    }
}

/// Interprets an error from the bus. The name of the error determines the result. The message of this error is omitted,
/// because it may repeat data that was sent.
fn refused(name: &OwnedErrorName) -> KeyringError {
    match name.strip_prefix("org.freedesktop.") {
        Some("Secret.Error.IsLocked") => KeyringError::Locked,
        Some("DBus.Error.ServiceUnknown" | "DBus.Error.NameHasNoOwner") => nobody(),
        Some(rest) if rest.starts_with("DBus.Error.Spawn") => {
            KeyringError::Absent { why: "the keyring service cannot be started".into() }
        }
        Some("DBus.Error.NoReply" | "DBus.Error.Timeout" | "DBus.Error.TimedOut") => {
            KeyringError::Silent { after: PATIENCE }
        }
        _ => KeyringError::Refused { why: name.to_string() },
    }
}

fn nobody() -> KeyringError {
    KeyringError::Absent { why: "the session bus has no secret service".into() }
}
