//! The rules of the verbs, at the door that all faces share.

mod changing;
mod finding;
mod notes;
mod secrets;
mod telling;
mod unanswered;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;
use tessera_engine::Store;
use tessera_engine::domain::{FixedClock, MemoryRef, Origin, Scope};
use tessera_engine::score::Weights;
use tessera_engine::store::{SecretRules, StoreConfig, StoreError, Stored, Usage};

use super::Remember;
use crate::{Caller, Desk, Project, UseCase};

const NOW: &str = "2026-11-20T12:00:00Z";

/// A store in a directory of its own, and a project beside it.
struct World {
    dir: TempDir,
    store: Store,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = Arc::new(FixedClock(NOW.parse().unwrap()));
        let home = dir.path().join("home").into();
        let config = StoreConfig {
            home,
            clock,
            weights: Weights::default(),
            usage: Usage::Serve,
            embedding: true,
            secrets: SecretRules::default(),
        };
        Self { store: Store::open(config).unwrap(), dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A clone of a repository.
    fn clone_of(&self, name: &str, origin: &str) -> PathBuf {
        let dir = self.path(name);
        std::fs::create_dir_all(dir.join(".git")).unwrap();
        std::fs::write(dir.join(".git/config"), format!("[remote \"origin\"]\n\turl = {origin}\n")).unwrap();
        dir
    }

    fn perform<V: UseCase>(&mut self, caller: &Caller, verb: V) -> Result<V::Outcome, StoreError> {
        Desk::new(&mut self.store, caller).perform(verb)
    }

    fn says(&mut self, caller: &Caller, content: &str) -> Stored {
        self.perform(caller, Remember { content: content.into(), ..Remember::default() }).unwrap()
    }
}

fn person() -> Caller {
    Caller { client: Some("tessera".into()), ..Caller::new(Origin::User) }
}

fn model_in(dir: &Path) -> Caller {
    let project = Project::of(dir, None);
    Caller { project, session: Some("s1".into()), client: Some("client 1".into()), ..Caller::new(Origin::Agent) }
}

fn scope(name: &str) -> Scope {
    name.parse().unwrap()
}

fn id(short_id: u32) -> MemoryRef {
    short_id.to_string().parse().unwrap()
}
