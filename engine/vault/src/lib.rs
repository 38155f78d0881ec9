//! A client for HashiCorp Vault and OpenBao: the key-value engine, version 2.
//!
//! [`Vault`] reads, writes with check-and-set, deletes and lists. The client logs in, and renews or replaces its token
//! in time. Its error messages explain how to fix the problem, and contain neither a token nor a secret. A
//! [`PathTemplate`] determines the path of a memory's secrets. This crate does not read the environment, does not
//! depend on memories, and does not decide what is secret.
//!
//! ```no_run
//! use tessera_vault::{Config, Vault, VaultError};
//!
//! # async fn example(settings: std::collections::HashMap<String, String>) -> Result<(), VaultError> {
//! let Some(config) = Config::read(|name| settings.get(name).cloned())? else { return Ok(()) };
//! let vault = Vault::new(config)?;
//! let path = vault.template().path("ada", "7")?;
//! vault.update(&path, |fields| fields.insert("s7k4q2", "the value")).await?;
//! let value = vault.read(&path).await?.and_then(|found| found.data.get("s7k4q2").map(str::to_owned));
//! vault.delete(&path).await?;
//! # drop(value);
//! # Ok(())
//! # }
//! ```

mod config;
mod error;
mod fields;
mod link;
mod path;
mod session;
mod vault;

pub use config::{Auth, Config, VARIABLES};
pub use error::{Health, VaultError};
pub use fields::Fields;
pub use path::{PathTemplate, SecretPath};
pub use session::TokenState;
pub use vault::{Vault, Versioned};
