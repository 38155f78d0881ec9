//! Adds plugins: first shows what a plugin requests, then adds it.
//!
//! This module also contains Tessera's own steps of the plugin chain.

use std::path::{Path, PathBuf};
use std::{fs, io};

use tessera_engine::screen::findings;
use tessera_engine::store::{Home, Near, SimilarityKind, StoreError, make_private_dir, replace};
use tessera_plugins::{Body, Manifest, Name, Pinned, Plugin, PluginError, command, digest, wasm};

use super::installed::{at, module_path};
use super::seen::{Asked, Seen};
use super::{Done, Link, installed};

/// The maximum size of a module with `fast = true`, because its functions are translated during the call.
const MOST_FAST: usize = 256 * 1024;
/// The maximum total size of the files of a program with `fast = true`. Tessera checks all these files before the call.
const MOST_FAST_FILES: u64 = 1024 * 1024;
/// How a WASM file begins.
const WASM: &[u8] = b"\0asm";

/// A plugin that may be added.
#[derive(Debug)]
pub struct Proposal {
    /// Its properties, and the rights that it requests.
    pub manifest: Manifest,
    source: Source,
}

#[derive(Debug)]
enum Source {
    Wasm(Vec<u8>),
    Command { program: PathBuf, arguments: Vec<String>, files: Vec<Pinned> },
}

impl Proposal {
    /// Reads a WASM file, with the manifest in it or in a `.toml` file with the same name.
    ///
    /// # Errors
    /// Returns an error if it is not a plugin, or has no manifest.
    pub fn of_wasm(path: &Path) -> Result<Self, PluginError> {
        let file = Pinned::of(path)?;
        let changing = |_| PluginError::File { path: path.to_path_buf(), problem: "is being changed".to_owned() };
        let bytes = file.read().map_err(changing)?;
        if !bytes.starts_with(WASM) {
            let fix = "add a program with `tessera plugin add plugin.toml --command`, and test it with `tessera plugin test NAME`";
            return Err(PluginError::of("module", format!("is not a WASM file; {fix}")));
        }
        let manifest = match wasm::examine(&bytes)? {
            Some(manifest) => manifest,
            None => Manifest::read(&beside(path)?)?,
        };
        if manifest.fast && bytes.len() > MOST_FAST {
            let problem = format!("a module with `fast = true` can be at most {} KiB", MOST_FAST / 1024);
            return Err(PluginError::of("fast", problem));
        }
        Ok(Self { manifest, source: Source::Wasm(bytes) })
    }

    /// Reads a program, relative to `dir` if its name is a path, otherwise from `search`. Its files must stay
    /// unchanged: a program named by path, and arguments that name files. A program on the search path is not pinned,
    /// because the operating system updates such programs.
    ///
    /// # Errors
    /// Returns an error if the program cannot be found or read.
    pub fn of_command(
        manifest: Manifest,
        program: &str,
        arguments: &[String],
        dir: &Path,
        search: &[PathBuf],
    ) -> Result<Self, PluginError> {
        refuse_credentials(&manifest.name, program, arguments)?;
        let found = command::find(program, dir, search)?;
        let mut files = Vec::new();
        if Path::new(program).components().count() > 1 {
            files.push(Pinned::of(&found)?);
        }
        let mut given = Vec::new();
        for argument in arguments {
            // It works in its own directory, so a relative file name must become absolute.
            let path = dir.join(argument);
            if path.is_file() {
                files.push(Pinned::of(&path)?);
                given.push(path.to_string_lossy().into_owned());
            } else {
                given.push(argument.clone());
            }
        }
        let bytes: u64 = files.iter().filter_map(|file| file.path.metadata().ok()).map(|found| found.len()).sum();
        if manifest.fast && bytes > MOST_FAST_FILES {
            let most = MOST_FAST_FILES / 1024;
            let problem = format!(
                "the files of a program with `fast = true` must not exceed {most} KiB in total; use a program on the \
                search path (PATH)"
            );
            return Err(PluginError::of("fast", problem));
        }
        Ok(Self { manifest, source: Source::Command { program: found, arguments: given, files } })
    }

    /// A line that describes the code of the plugin.
    pub fn what(&self) -> String {
        match &self.source {
            Source::Wasm(bytes) => {
                format!("{} KiB of WebAssembly, sha256 {}", bytes.len().div_ceil(1024), digest(bytes))
            }
            Source::Command { program, arguments, .. } => {
                let words: Vec<String> =
                    std::iter::once(program.display().to_string()).chain(arguments.iter().cloned()).collect();
                format!("the program {}, which runs under your account with all your rights", words.join(" "))
            }
        }
    }

    /// Returns the proposal as a plugin that can be called, with its module at `path`, without adding it.
    pub fn as_it_is(&self, path: &Path) -> Plugin {
        let body = match &self.source {
            Source::Wasm(bytes) => Body::Wasm(Pinned { path: path.to_path_buf(), sha256: digest(bytes) }),
            Source::Command { program, arguments, files } => {
                Body::Command { program: program.clone(), arguments: arguments.clone(), files: files.clone() }
            }
        };
        Plugin { manifest: self.manifest.clone(), body }
    }

    /// Adds the plugin, and grants everything that its manifest requests. Copies a WASM file into the plugin directory.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn accept(self, home: &Home) -> io::Result<()> {
        make_private_dir(&home.plugins()).map_err(at(&home.plugins()))?;
        let path = module_path(home, &self.manifest.name);
        if let Source::Wasm(bytes) = &self.source
            && fs::read(&path).ok().as_ref() != Some(bytes)
        {
            replace(&path, bytes).map_err(at(&path))?;
        }
        let path =
            fs::canonicalize(home.plugins()).map_or(path.clone(), |dir| dir.join(path.file_name().unwrap_or_default()));
        installed::add(home, self.as_it_is(&path))
    }
}

/// Arguments are stored in clear text, displayed, and visible in process lists.
fn refuse_credentials(name: &Name, program: &str, arguments: &[String]) -> Result<(), PluginError> {
    let words: Vec<&str> = std::iter::once(program).chain(arguments.iter().map(String::as_str)).collect();
    // An option names the kind of the next argument.
    let Some(found) = findings(&words.join(" ")).into_iter().next() else { return Ok(()) };
    let problem = format!(
        "contains a {}, which would be stored in clear text; write it to a file in plugins/data/{name} of Tessera's \
        home directory, and let the program read it there",
        found.kind.as_str()
    );
    Err(PluginError::of("command", problem))
}

/// The manifest beside a file.
fn beside(path: &Path) -> Result<String, PluginError> {
    let manifest = path.with_extension("toml");
    fs::read_to_string(&manifest).map_err(|error| PluginError::File {
        path: path.to_path_buf(),
        problem: format!("contains no manifest, and {} cannot be read: {error}", manifest.display()),
    })
}

/// Redacts credentials before any plugin sees the request; this is the first step of the chain. The store does not rely
/// on this step, because it accepts only screened texts.
pub(super) struct Screen;

impl Link for Screen {
    fn before(&self, seen: &mut Seen, asked: &mut Asked<'_>) -> Result<(), StoreError> {
        seen.show(asked);
        Ok(())
    }
}

/// Finds memories that are nearly the same as a new one.
pub(super) struct FindDuplicates;

impl Link for FindDuplicates {
    fn after(&self, done: &Done<'_>) -> Vec<Near> {
        like(done, &[SimilarityKind::Same])
    }
}

/// Finds memories that a new one supersedes or updates, or that are similar and may contradict it.
pub(super) struct FindContradictions;

impl Link for FindContradictions {
    fn after(&self, done: &Done<'_>) -> Vec<Near> {
        use SimilarityKind::{MayUpdate, Other, Supersedes, Updates};
        like(done, &[Supersedes, Updates, MayUpdate, Other])
    }
}

fn like(done: &Done<'_>, kinds: &[SimilarityKind]) -> Vec<Near> {
    done.near.iter().filter(|near| kinds.contains(&near.likeness)).cloned().collect()
}
