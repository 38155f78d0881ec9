//! Names of files that other programs execute or read as instructions. A file with such a name could start a program or
//! instruct an agent, so Tessera never writes it. The same rule applies to the memory tool, indexed folders, sync,
//! restoring, imports and exports, on all machines and on the server.

use tessera_tables::{section, words};
use unicode_normalization::UnicodeNormalization;

const NAMES: &str = include_str!("names.txt");

/// Names of files that turn their directory into a bare Git repository. The `config` of a bare repository can name
/// programs that `git status` runs. Git searches all parent directories for such a repository.
const REPOSITORY: &[&str] = words!(section(NAMES, "repository"));

/// Files without a leading dot that a shell, an agent or a desktop reads automatically.
const OBEYED: &[&str] = words!(section(NAMES, "files"));

/// The extensions of programs, of settings that programs read automatically, and of files that a desktop follows when
/// it shows their directory.
const FOLLOWED: &[&str] = words!(section(NAMES, "endings"));

/// Returns the reason why writing to this path is not allowed; `None` if it is allowed.
///
/// Names are compared as the most lenient file system does, so that another spelling cannot avoid the rule. The
/// comparison ignores case, invisible characters, everything after a colon, and dots and spaces at the end.
pub fn why_refused(relative: &str) -> Option<&'static str> {
    let mut names = relative.split('/').filter(|name| !name.is_empty()).map(folded).peekable();
    while let Some(name) = names.next() {
        if name.starts_with('.') {
            return Some(
                "a component begins with a dot; other programs may run such files or use them as configuration",
            );
        }
        // Windows also has this short name for `.git`.
        let is_short = name.strip_prefix("git~").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
        if is_short || REPOSITORY.contains(&name.as_str()) {
            return Some("a component has a name that Git uses, and Git can run programs named in such files");
        }
        let is_followed = FOLLOWED.iter().any(|ending| name.ends_with(ending));
        if names.peek().is_none() && (is_followed || OBEYED.contains(&name.as_str())) {
            return Some("other programs may run a file with this name or use it as configuration");
        }
    }
    None
}

fn folded(name: &str) -> String {
    let seen: String = name.nfkc().filter(|letter| !is_ignored(*letter)).flat_map(char::to_lowercase).collect();
    let stem = seen.split(':').next().unwrap_or_default();
    stem.trim_end_matches(['.', ' ']).to_owned()
}

/// Characters that some file systems ignore in names.
fn is_ignored(letter: char) -> bool {
    matches!(letter, '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{ad}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_programs_run_are_refused_however_they_are_spelled() {
        for path in [
            ".git/config",
            ".GIT/config",
            ".g\u{200c}it/config",
            "\u{ff0e}git/config",
            "git~1/config",
            "notes/.git",
            ".claude/settings.json",
            ".vscode/tasks.json",
            ".envrc",
            ".mise.toml",
            ".bashrc",
            ".gitattributes",
            "HEAD",
            "head",
            "HEAD:stream",
            "HEAD.",
            "a/b/HEAD",
            "objects/k",
            "refs/heads/main",
            "hooks/post-commit",
            "config",
            "Config ",
            "a/config",
            "commondir",
            "mise.toml",
            "mise.dev.toml",
            "a/mise/config.toml",
            "mise/conf.d/a.toml",
            "Makefile",
            "package.json",
            "x.command",
            "Rakefile",
            "setup.py",
            "a/rust-toolchain.toml",
            "flake.nix",
            "HEAD\u{fe0f}",
            "\u{180e}.git/x",
            "CLAUDE.md",
            "team/AGENTS.md",
            "opencode.json",
            "a/SKILL.md",
            "notes/look.scf",
            "x.code-workspace",
        ] {
            assert!(why_refused(path).is_some(), "{path}");
        }
    }

    #[test]
    fn names_of_notes_are_not_refused() {
        for path in [
            "",
            "user/preferences.md",
            "heads.md",
            "HEAD.md",
            "config.md",
            "config/ports.md",
            "references/a.md",
            "objects.txt",
            "hooks.md",
            "git.md",
            "my.git.notes.md",
            "a.b/c.d",
            "claude.txt",
            "メモ.md",
        ] {
            assert_eq!(why_refused(path), None, "{path}");
        }
    }
}
