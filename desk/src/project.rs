//! The project of a directory, which is the same for every worktree and clone of a repository.

use std::fs;
use std::path::{Path, PathBuf};

use ini::Ini;
use tessera_engine::Store;
use tessera_engine::domain::Scope;
use tessera_engine::screen::dropped;
use tessera_engine::store::StoreError;
use tessera_tables::names;

use crate::files;

/// A file at the top of a project that contains the project's name: `project = "name"`.
pub const NAME_FILE: &str = ".tessera.toml";

/// The project that a directory claims, and where the claim is written. All these values may come from somebody else,
/// because the directory may be a clone of their repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The project.
    pub scope: Scope,
    /// The source of the name.
    pub by: DetectedBy,
    /// The directory that contains the name: the requested directory, or one of its parents.
    pub root: PathBuf,
    /// The directory to trust: `root`, or the repository's main directory if `root` is a worktree that the repository
    /// knows.
    pub place: PathBuf,
}

names! {
/// The sources of a project's name.
pub enum DetectedBy {
    /// `.tessera.toml`.
    NameFile = "its .tessera.toml",
    /// The repository's `origin`.
    Origin = "the git remote `origin`",
    /// The path of the repository, or of the directory.
    Path = "its path",
}
}

impl Claim {
    fn nobodys(dir: &Path) -> Self {
        Self { scope: Scope::Global, by: DetectedBy::Path, root: dir.to_path_buf(), place: dir.to_path_buf() }
    }

    /// True if the path of the directory identifies the project, because no other directory can claim such a project.
    pub fn is_its_own(&self) -> bool {
        let own = || self.by == DetectedBy::Path && same(Path::new(self.scope.as_str()), &self.place);
        self.scope == Scope::Global || own()
    }

    /// True if the directory is trusted: its path is the project, the user confirmed it, or the user stored memories of
    /// the project in it.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn is_believed(&self, store: &Store) -> Result<bool, StoreError> {
        if self.is_its_own() {
            return Ok(true);
        }
        let real = [real(&self.place), real(&self.root)];
        store.knows_place(&self.scope, &[&self.place, &self.root, &real[0], &real[1]])
    }

    /// The directory to confirm, without links.
    pub fn real_place(&self) -> PathBuf {
        real(&self.place)
    }
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

/// The project that a directory names.
///
/// In this order: the name in `.tessera.toml` of the directory or a parent; the repository's `origin` as
/// `host/owner/name`; the repository's main directory; the directory itself. The user's home and the root directory are
/// not projects.
pub fn claim_of(dir: &Path, user_home: Option<&Path>) -> Claim {
    let is_nobodys = |dir: &Path| dir.parent().is_none() || user_home.is_some_and(|home| same(home, dir));
    for above in dir.ancestors().take_while(|above| !is_nobodys(above)) {
        let claim = |scope, by, git: Option<&GitDir>| {
            let main = git.filter(|git| git.knows_us).map(|git| main_dir(&git.path, above));
            let place = main.unwrap_or_else(|| above.to_path_buf());
            Claim { scope, by, root: above.to_path_buf(), place }
        };
        let git = common_git_dir(above);
        if let Some(name) = declared_name(above) {
            return claim(scope(&name), DetectedBy::NameFile, git.as_ref());
        }
        let Some(git) = git else { continue };
        return match origin_of(&git.path) {
            Some(origin) => claim(scope(&origin), DetectedBy::Origin, Some(&git)),
            None => claim(scope(&main_dir(&git.path, above).to_string_lossy()), DetectedBy::Path, Some(&git)),
        };
    }
    if is_nobodys(dir) {
        return Claim::nobodys(dir);
    }
    Claim { scope: scope(&dir.to_string_lossy()), ..Claim::nobodys(dir) }
}

/// The scope of [`claim_of`].
pub fn project_of(dir: &Path, user_home: Option<&Path>) -> Scope {
    claim_of(dir, user_home).scope
}

fn same(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

fn scope(identity: &str) -> Scope {
    // A clone may contain anything.
    dropped(identity).parse().unwrap_or_default()
}

fn declared_name(dir: &Path) -> Option<String> {
    let text = files::small_text(&dir.join(NAME_FILE))?;
    let document: toml_edit::DocumentMut = text.parse().ok()?;
    let name = document.get("project")?.as_str()?.trim().to_owned();
    (!name.is_empty()).then_some(name)
}

/// The common directory of a repository's worktrees.
struct GitDir {
    path: PathBuf,
    /// True if the repository confirms the worktree, because a `.git` file alone can name any repository.
    knows_us: bool,
}

fn common_git_dir(dir: &Path) -> Option<GitDir> {
    let dot_git = dir.join(".git");
    if fs::metadata(&dot_git).ok()?.is_dir() {
        return Some(GitDir { path: dot_git, knows_us: false });
    }
    let text = files::small_text(&dot_git)?;
    let own = dir.join(text.strip_prefix("gitdir:")?.trim());
    let Some(common) = files::small_text(&own.join("commondir")) else {
        return Some(GitDir { path: own, knows_us: false });
    };
    let back = files::small_text(&own.join("gitdir"));
    let knows_us = back.is_some_and(|back| same(&own.join(back.trim()), &dot_git));
    Some(GitDir { path: own.join(common.trim()), knows_us })
}

fn main_dir(git_dir: &Path, dir: &Path) -> PathBuf {
    let git_dir = git_dir.canonicalize().unwrap_or_else(|_| git_dir.to_path_buf());
    let parent = git_dir.parent().filter(|_| git_dir.file_name().is_some_and(|name| name == ".git"));
    parent.map_or_else(|| dir.to_path_buf(), Path::to_path_buf)
}

fn origin_of(git_dir: &Path) -> Option<String> {
    let config = Ini::load_from_str_noescape(&files::small_text(&git_dir.join("config"))?).ok()?;
    normal_url(config.get_from(Some("remote \"origin\""), "url")?)
}

/// `host/owner/name` for any protocol, without user names and passwords.
fn normal_url(address: &str) -> Option<String> {
    let parsed = url::Url::parse(address).ok().filter(url::Url::has_host);
    let (host, path) = if let Some(parsed) = &parsed {
        (parsed.host_str()?.to_lowercase(), parsed.path().to_owned())
    } else if address.contains("://") {
        // An address that cannot be parsed may contain a password.
        return None;
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

    #[cfg(unix)]
    #[test]
    fn a_directory_is_its_own_only_by_its_path_and_a_worktree_only_if_its_repository_knows_it() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        for dir in
            ["ledger/.git/worktrees/w", "ledger/src", "worktree", "plain", "linked", "pointing", "named", "false"]
        {
            fs::create_dir_all(at(dir)).unwrap();
        }
        let claim = |path: &str| claim_of(&at(path), None);
        assert!(claim("plain").is_its_own() && claim("ledger/src").is_its_own());
        let own = claim("ledger").scope;
        // A link to another repository's directory names that repository.
        std::os::unix::fs::symlink(at("ledger/.git"), at("linked/.git")).unwrap();
        fs::write(at("pointing/.git"), format!("gitdir: {}\n", at("ledger/.git").display())).unwrap();
        for path in ["linked", "pointing"] {
            assert!(claim(path).scope == own && !claim(path).is_its_own(), "{path}");
        }
        fs::write(at("worktree/.git"), format!("gitdir: {}\n", at("ledger/.git/worktrees/w").display())).unwrap();
        fs::write(at("false/.git"), format!("gitdir: {}\n", at("ledger/.git/worktrees/w").display())).unwrap();
        fs::write(at("ledger/.git/worktrees/w/commondir"), "../..\n").unwrap();
        fs::write(at("ledger/.git/worktrees/w/gitdir"), format!("{}\n", at("worktree/.git").display())).unwrap();
        assert!(claim("worktree").is_its_own() && claim("worktree").scope == own);
        assert!(!claim("false").is_its_own() && claim("false").scope == own);
        fs::write(at("ledger/.git/config"), "[remote \"origin\"]\n\turl = git@github.com:acme/ledger.git\n").unwrap();
        for (path, place) in
            [("ledger/src", "ledger"), ("worktree", "ledger"), ("false", "false"), ("linked", "linked")]
        {
            let claim = claim(path);
            assert_eq!((claim.scope.as_str(), claim.by), ("github.com/acme/ledger", DetectedBy::Origin), "{path}");
            assert_eq!(claim.real_place(), at(place).canonicalize().unwrap(), "{path}");
            assert!(!claim.is_its_own(), "{path}");
        }
        fs::write(at("named/.tessera.toml"), "project = \"github.com/acme/ledger\"\n").unwrap();
        assert!(!claim("named").is_its_own() && claim("named").by == DetectedBy::NameFile);
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_where_a_name_should_be_keeps_nobody_waiting() {
        let root = tempfile::tempdir().unwrap();
        let pipe = root.path().join(NAME_FILE);
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(claim_of(root.path(), None).is_its_own());
    }
}
