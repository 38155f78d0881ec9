//! Programs in directories that a package manager replaces, such as the cache of npx. No client may depend on them.

use std::path::{Component, Path};

use crate::error::SetupError;

/// A command that keeps programs in such a directory.
struct Runner {
    /// The names of two nested directories in lowercase. An empty name matches every name, and a name that ends with a hyphen
    /// matches all names that begin with it.
    cache: (&'static str, &'static str),
    name: &'static str,
    /// The command that installs the package permanently.
    install: &'static str,
}

const NPM: &str = "npm install --global tessera-memory";
const UV: &str = "uv tool install tessera-memory";
const PIPX: &str = "pipx install tessera-memory";

const RUNNERS: [Runner; 13] = [
    Runner { cache: ("", "_npx"), name: "npx", install: NPM },
    Runner { cache: ("pnpm", "dlx"), name: "pnpm dlx", install: NPM },
    Runner { cache: ("pnpm-cache", "dlx"), name: "pnpm dlx", install: NPM },
    // The directories of a global installation contain the version.
    Runner { cache: ("", ".pnpm"), name: "pnpm", install: NPM },
    Runner { cache: ("links", "@tessera-memory"), name: "pnpm", install: NPM },
    Runner { cache: ("xfs-", "dlx-"), name: "yarn dlx", install: NPM },
    Runner { cache: ("", "bunx-"), name: "bunx", install: NPM },
    Runner { cache: ("", "archive-v0"), name: "uvx", install: UV },
    Runner { cache: ("", "environments-v2"), name: "uvx", install: UV },
    Runner { cache: (".cache", "pipx"), name: "pipx run", install: PIPX },
    Runner { cache: ("caches", "pipx"), name: "pipx run", install: PIPX },
    Runner { cache: ("pipx", ".cache"), name: "pipx run", install: PIPX },
    Runner { cache: ("pipx", "cache"), name: "pipx run", install: PIPX },
];

/// Returns an error if the program is in the cache of a package runner.
pub(crate) fn check(program: &Path) -> Result<(), SetupError> {
    let names: Vec<String> = program
        .components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
            _ => None,
        })
        .collect();
    let is = |name: &str, wanted: &str| {
        wanted.is_empty() || name == wanted || (wanted.ends_with('-') && name.starts_with(wanted))
    };
    let is_in = |runner: &Runner| {
        let (outer, inner) = runner.cache;
        names.windows(2).any(|pair| matches!(pair, [first, second] if is(first, outer) && is(second, inner)))
    };
    match RUNNERS.iter().find(|runner| is_in(runner)) {
        Some(runner) => {
            Err(SetupError::Temporary { program: program.to_owned(), runner: runner.name, install: runner.install })
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runner(program: &str) -> Option<&'static str> {
        match check(Path::new(program)) {
            Err(SetupError::Temporary { runner, .. }) => Some(runner),
            _ => None,
        }
    }

    #[test]
    fn programs_in_caches_of_package_runners_are_rejected() {
        let tail = "node_modules/@tessera-memory/linux-x64/bin/tessera";
        for (program, expected) in [
            (format!("/home/ada/.npm/_npx/4b3f/{tail}"), "npx"),
            (format!("/home/ada/.cache/pnpm/dlx/4b3f/17/{tail}"), "pnpm dlx"),
            (format!("/tmp/bunx-1000-tessera-memory@latest/{tail}"), "bunx"),
            ("/home/ada/.cache/uv/archive-v0/Hx7/bin/tessera".to_owned(), "uvx"),
            ("/home/ada/.cache/uv/environments-v2/tessera/bin/tessera".to_owned(), "uvx"),
            ("/home/ada/.cache/pipx/4b3f/bin/tessera".to_owned(), "pipx run"),
            ("/home/ada/.local/share/pipx/.cache/4b3f/bin/tessera".to_owned(), "pipx run"),
            ("/c/Users/ada/AppData/Local/pipx/pipx/Cache/4b3f/Scripts/tessera.exe".to_owned(), "pipx run"),
            (format!("/tmp/xfs-1a2b/dlx-77/{tail}"), "yarn dlx"),
            (format!("/c/Users/ada/AppData/Local/pnpm-cache/dlx/4b3f/{tail}"), "pnpm dlx"),
            (format!("/home/ada/.local/share/pnpm/global/5/.pnpm/@tessera-memory+linux-x64@0.1.0/{tail}"), "pnpm"),
        ] {
            assert_eq!(runner(&program), Some(expected), "{program}");
        }
    }

    #[test]
    fn installed_programs_are_accepted() {
        for program in [
            "/home/ada/.local/bin/tessera",
            "/usr/lib/node_modules/tessera-memory/node_modules/@tessera-memory/linux-x64/bin/tessera",
            "/home/ada/.local/share/uv/tools/tessera-memory/bin/tessera",
            "/home/ada/.local/share/pipx/venvs/tessera-memory/bin/tessera",
            "/opt/homebrew/bin/tessera",
            "/srv/archive-v0.9/bin/tessera",
            "/srv/_npx-tools/bin/tessera",
            "/home/ada/.bun/install/global/node_modules/@tessera-memory/linux-x64/bin/tessera",
            "tessera",
        ] {
            assert_eq!(runner(program), None, "{program}");
        }
    }
}
