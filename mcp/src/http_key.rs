//! The key of the HTTP server: a loopback port is open to every user of the machine, a file of mode 0600 is not.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use subtle::ConstantTimeEq;
use tessera_engine::store::{Home, private_file};

/// Random bytes of a key.
const BYTES: usize = 32;

/// What a client has to send as `Authorization: Bearer KEY`.
#[derive(Clone)]
pub struct HttpKey {
    key: String,
    path: PathBuf,
}

impl std::fmt::Debug for HttpKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpKey").field("path", &self.path).finish_non_exhaustive()
    }
}

impl HttpKey {
    /// The key of a store's directory. It is made at the first time, and anew where others of the machine could read
    /// the file; it stays the same otherwise, so that clients are set up once.
    ///
    /// # Errors
    /// When the file can neither be read nor made.
    pub fn of_home(home: &Home) -> io::Result<Self> {
        let path = home.http_key();
        if let Some(key) = sound(&path) {
            return Ok(Self { key, path });
        }
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let made = random()?;
        let scratch = home.dir().join(format!(".tessera-{}", random()?));
        let mut file = private_file().create_new(true).write(true).open(&scratch)?;
        let written = file.write_all(made.as_bytes()).and_then(|()| file.sync_all());
        // Whole or not at all, and never in the place of one that another process made meanwhile.
        let linked = written.and_then(|()| fs::hard_link(&scratch, &path));
        fs::remove_file(&scratch)?;
        let key = match linked {
            Ok(()) => made,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => sound(&path).ok_or(error)?,
            Err(error) => return Err(error),
        };
        Ok(Self { key, path })
    }

    /// The file that holds it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True when a request carries the key. The time taken tells nothing of how much of it was right.
    pub(crate) fn admits(&self, headers: &HeaderMap) -> bool {
        let mut given = headers.get_all(AUTHORIZATION).iter();
        let (Some(one), None) = (given.next(), given.next()) else { return false };
        let Some((scheme, key)) = one.to_str().ok().and_then(|value| value.split_once(' ')) else { return false };
        scheme.eq_ignore_ascii_case("bearer") && key.trim().as_bytes().ct_eq(self.key.as_bytes()).into()
    }
}

fn random() -> io::Result<String> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The key in a file, if the file is its owner's alone and holds one.
fn sound(path: &Path) -> Option<String> {
    let metadata = fs::symlink_metadata(path).ok()?;
    #[cfg(unix)]
    if std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o077 != 0 {
        return None;
    }
    if !metadata.is_file() || metadata.len() != 2 * BYTES as u64 {
        return None;
    }
    fs::read_to_string(path).ok().filter(|key| key.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admits(key: &HttpKey, values: &[&str]) -> bool {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, value.parse().unwrap());
        }
        key.admits(&headers)
    }

    #[test]
    fn the_key_alone_opens_and_stays_the_same() {
        let home = tempfile::tempdir().unwrap();
        let key = HttpKey::of_home(&home.path().into()).unwrap();
        let text = fs::read_to_string(key.path()).unwrap();
        assert!(admits(&key, &[&format!("Bearer {text}")]) && admits(&key, &[&format!("bearer  {text}")]));
        let (short, other) = (text[..63].to_owned(), format!("{}x", &text[..63]));
        for wrong in
            [&text, "", "Bearer ", &format!("Bearer {short}"), &format!("Bearer {other}"), &format!("Basic {text}")]
        {
            assert!(!admits(&key, &[wrong]), "{wrong}");
        }
        assert!(!admits(&key, &[]) && !admits(&key, &["Bearer x", &format!("Bearer {text}")]));
        assert_eq!(HttpKey::of_home(&home.path().into()).unwrap().key, text);
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
        assert!(!format!("{key:?}").contains(&text));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_could_read_is_made_anew() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().unwrap();
        let key = HttpKey::of_home(&home.path().into()).unwrap();
        assert_eq!(fs::metadata(key.path()).unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(key.path(), fs::Permissions::from_mode(0o644)).unwrap();
        let anew = HttpKey::of_home(&home.path().into()).unwrap();
        assert_ne!(anew.key, key.key);
        assert_eq!(fs::metadata(anew.path()).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
