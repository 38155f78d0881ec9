//! Encrypts what was taken out of texts, and knows where its key is kept.
