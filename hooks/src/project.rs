//! Which project a directory belongs to: the same for every worktree and clone of a repository.

use std::fs;
use std::path::{Path, PathBuf};

use ini::Ini;
use tessera_engine::domain::Scope;

/// A file at the top of a project that names it: `project = "name"`.
pub const NAME_FILE: &str = ".tessera.toml";

/// The project of a directory.
///
/// In this order: the name in `.tessera.toml` of the directory or one above it; the repository's
/// `origin` as `host/owner/name`; the repository's main directory; the directory itself. The user's
/// home and the file system's root are no projects.
pub fn project_of(dir: &Path, user_home: Option<&Path>) -> Scope {
    let is_nobodys = |dir: &Path| dir.parent().is_none() || user_home.is_some_and(|home| same(home, dir));
    for above in dir.ancestors().take_while(|above| !is_nobodys(above)) {
        if let Some(name) = declared_name(above) {
            return scope(&name);
        }
        let Some(git_dir) = common_git_dir(above) else { continue };
        let origin = origin_of(&git_dir);
        return origin.map_or_else(|| scope(&main_dir(&git_dir, above).to_string_lossy()), |origin| scope(&origin));
    }
    if is_nobodys(dir) { Scope::Global } else { scope(&dir.to_string_lossy()) }
}

fn same(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

fn scope(identity: &str) -> Scope {
    identity.parse().unwrap_or_default()
}

fn declared_name(dir: &Path) -> Option<String> {
    let text = fs::read_to_string(dir.join(NAME_FILE)).ok()?;
    let document: toml_edit::DocumentMut = text.parse().ok()?;
    let name = document.get("project")?.as_str()?.trim().to_owned();
    (!name.is_empty()).then_some(name)
}

/// The directory that all worktrees of a repository share.
fn common_git_dir(dir: &Path) -> Option<PathBuf> {
    let dot_git = dir.join(".git");
    let metadata = fs::metadata(&dot_git).ok()?;
    if metadata.is_dir() {
        return Some(dot_git);
    }
    let text = fs::read_to_string(&dot_git).ok()?;
    let own = dir.join(text.strip_prefix("gitdir:")?.trim());
    match fs::read_to_string(own.join("commondir")) {
        Ok(common) => Some(own.join(common.trim())),
        Err(_) => Some(own),
    }
}

fn main_dir(git_dir: &Path, dir: &Path) -> PathBuf {
    let git_dir = git_dir.canonicalize().unwrap_or_else(|_| git_dir.to_path_buf());
    let parent = git_dir.parent().filter(|_| git_dir.file_name().is_some_and(|name| name == ".git"));
    parent.map_or_else(|| dir.to_path_buf(), Path::to_path_buf)
}

fn origin_of(git_dir: &Path) -> Option<String> {
    let config = Ini::load_from_file_noescape(git_dir.join("config")).ok()?;
    normal_url(config.get_from(Some("remote \"origin\""), "url")?)
}

/// `host/owner/name`, whatever the way to it, without user names and passwords.
fn normal_url(address: &str) -> Option<String> {
    let parsed = url::Url::parse(address).ok().filter(url::Url::has_host);
    let (host, path) = if let Some(parsed) = &parsed {
        (parsed.host_str()?.to_lowercase(), parsed.path().to_owned())
    } else {
        // The short form of ssh: [user@]host:path
        let (host, path) = address.split_once(':')?;
        let host = host.rsplit('@').next()?;
        if host.contains('/') || host.len() < 2 {
            return None;
        }
        (host.to_lowercase(), path.to_owned())
    };
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    (!path.is_empty()).then(|| format!("{host}/{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_a_repository_is_the_same_project() {
        for address in [
            "https://github.com/acme/ledger.git",
            "https://user:secret@GitHub.com/acme/ledger",
            "git@github.com:acme/ledger.git",
            "ssh://git@github.com:22/acme/ledger.git/",
        ] {
            assert_eq!(normal_url(address).as_deref(), Some("github.com/acme/ledger"), "{address}");
        }
        assert_eq!(normal_url("/srv/git/ledger.git"), None);
        assert_eq!(normal_url("C:/repos/ledger"), None);
    }

    #[test]
    fn worktrees_names_homes_and_plain_directories() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        for dir in ["repo/.git/worktrees/w", "repo/src", "worktree/src", "plain/sub", "home", "named/deep"] {
            fs::create_dir_all(at(dir)).unwrap();
        }
        fs::write(at("worktree/.git"), format!("gitdir: {}\n", at("repo/.git/worktrees/w").display())).unwrap();
        fs::write(at("repo/.git/worktrees/w/commondir"), "../..\n").unwrap();
        let home = at("home");
        let of = |path: &str| project_of(&at(path), Some(&home));
        assert_eq!(of("repo/src"), of("worktree/src"));
        fs::write(
            at("repo/.git/config"),
            "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = git@github.com:acme/ledger.git\n",
        )
        .unwrap();
        assert_eq!(of("worktree/src").as_str(), "github.com/acme/ledger");
        assert_eq!(of("plain/sub").as_str(), at("plain/sub").to_str().unwrap());
        assert_eq!(of("home"), Scope::Global);
        fs::write(at("named/.tessera.toml"), "project = \"ledger\"\n").unwrap();
        assert_eq!(of("named/deep").as_str(), "ledger");
        assert_eq!(project_of(Path::new("/"), None), Scope::Global);
    }
}
