//! The TLS certificate and key.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

/// A certificate and its key.
#[derive(Clone)]
pub struct Tls(pub(crate) TlsAcceptor);

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

/// A certificate that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the certificate or its key cannot be used: {}: {problem}", path.display())]
pub struct TlsError {
    path: PathBuf,
    problem: String,
}

impl Tls {
    /// Reads both PEM files.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read, or the key does not belong to the certificate.
    pub fn read(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        // An already installed provider is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let chain: Result<Vec<_>, _> = CertificateDer::pem_file_iter(certificate).and_then(Iterator::collect);
        let chain = chain.map_err(|error| wrong(certificate, &error))?;
        let private = PrivateKeyDer::from_pem_file(key).map_err(|error| wrong(key, &error))?;
        let config = ServerConfig::builder().with_no_client_auth().with_single_cert(chain, private);
        let mut config = config.map_err(|error| wrong(certificate, &error))?;
        // HTTP/1.1 only: one request per connection at a time limits its resources.
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self(TlsAcceptor::from(Arc::new(config))))
    }
}

fn wrong(path: &Path, problem: &dyn std::error::Error) -> TlsError {
    TlsError { path: path.to_owned(), problem: problem.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_missing_or_holds_something_else_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let (certificate, key) = (dir.path().join("cert.pem"), dir.path().join("key.pem"));
        let told = || Tls::read(&certificate, &key).unwrap_err().to_string();
        assert!(told().contains("cert.pem: "), "{}", told());
        std::fs::write(&certificate, "no certificate").unwrap();
        assert!(told().contains("key.pem: "), "{}", told());
        std::fs::write(&key, "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n").unwrap();
        assert!(told().contains("cert.pem: "), "a chain of no certificates: {}", told());
    }
}
