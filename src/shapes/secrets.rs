//! Secrets, and permanent deletions.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use tessera_desk::folders::CredentialInFile;
use tessera_engine::domain::{MemoryUuid, ShortId};
use tessera_engine::store::{ClearCredential, Purged, SecretRow, SecretUse};
use tessera_engine::sync::PurgeReport;

/// The output of `tessera secret list`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Secrets {
    /// The secrets, without their values.
    pub(crate) secrets: Vec<SecretRow>,
}

/// The output of `tessera secret list --allowed`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct AllowedTexts {
    /// The texts that you declared not to be secrets.
    pub(crate) allowed: Vec<String>,
}

/// The output of `tessera secret allow`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct AllowedText<'a> {
    /// The name of the secret.
    pub(crate) name: &'a str,
    /// The restored text.
    pub(crate) value: &'a str,
    /// The memories that contain it again.
    pub(crate) ids: &'a [ShortId],
}

/// A value in the output of `tessera secret show`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct RevealedValue<'a> {
    /// The name of the secret.
    pub(crate) name: &'a str,
    /// The kind of the secret.
    pub(crate) kind: &'a str,
    /// The value; `null` if it is not available.
    pub(crate) value: Option<&'a str>,
    /// Why the value is not available.
    pub(crate) missing: Option<String>,
}

/// The output of `tessera secret show`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct RevealedText<'a> {
    /// The ID of the memory.
    pub(crate) id: ShortId,
    /// The UUID of the memory.
    pub(crate) uuid: MemoryUuid,
    /// The values.
    pub(crate) secrets: Vec<RevealedValue<'a>>,
    /// The text with its values.
    pub(crate) content: &'a str,
}

/// The output of `tessera secret show` for a value on the server or in a vault.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Fetched<'a> {
    /// The ID of the memory.
    pub(crate) id: ShortId,
    /// The UUID of the memory.
    pub(crate) uuid: MemoryUuid,
    /// The value.
    pub(crate) value: &'a str,
    /// The names of secrets without a value.
    pub(crate) missing: &'a [String],
    /// `server` or `vault`.
    pub(crate) from: &'a str,
}

/// The output of `tessera secret forget`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ForgottenSecrets {
    /// The secrets whose values were deleted.
    pub(crate) forgotten: Vec<SecretRow>,
}

/// The output of `tessera secret uses`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SecretUses {
    /// The uses, latest first.
    pub(crate) uses: Vec<SecretUse>,
}

/// The output of `tessera secret key`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct KeyShown {
    /// Where the key is; `null` if there is no key.
    pub(crate) place: Option<String>,
    /// What the key protects against.
    pub(crate) protects: Option<&'static str>,
    /// The number of secrets.
    pub(crate) secrets: usize,
}

/// The output of `tessera secret rotate-key`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct KeyRotated {
    /// The number of secrets that were encrypted again.
    pub(crate) sealed_anew: usize,
    /// The names of secrets that no key decrypts.
    pub(crate) do_not_open: Vec<String>,
    /// The ID of the new key.
    pub(crate) key: String,
    /// Where the new key is.
    pub(crate) place: String,
    /// True if an interrupted rotation was completed.
    pub(crate) resumed: bool,
}

/// The output of `tessera secret scan`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Scan<'a> {
    /// The number of searched rows and files.
    pub(crate) looked_at: u64,
    /// The number of places with credentials that remain.
    pub(crate) left: u64,
    /// The number of findings by kind.
    pub(crate) kinds: BTreeMap<&'a str, u64>,
    /// The findings in the store.
    pub(crate) found: &'a [ClearCredential],
    /// The findings in files that people wrote.
    pub(crate) in_files: &'a [CredentialInFile],
}

/// The output of `tessera purged`.
#[expect(clippy::struct_field_names, reason = "the names of the JSON fields")]
#[derive(Serialize, JsonSchema)]
pub(crate) struct Removal {
    /// True if the memory was removed everywhere.
    pub(crate) done: bool,
    /// Where the memory was removed.
    pub(crate) removal: Purged,
    /// The server's report on other machines.
    pub(crate) heard: Option<Heard>,
}

/// The server's report, or why there is none.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Heard {
    /// The report.
    Report(PurgeReport),
    /// There is no report.
    Problem {
        /// The reason.
        problem: String,
    },
}
