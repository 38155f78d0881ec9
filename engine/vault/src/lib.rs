//! Talks to HashiCorp Vault and OpenBao: the key-value engine, version 2.
