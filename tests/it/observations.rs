//! Short observations are found by what stands above them: notes of a team and a household, asked as people ask.

use std::path::Path;
use std::sync::Arc;

use tessera_desk::folders::AddFolder;
use tessera_desk::use_cases::{Form, Recall};
use tessera_desk::{Caller, Desk};
use tessera_engine::Store;
use tessera_engine::domain::{FixedClock, Origin, RecallRequest, Scope, Trust};
use tessera_engine::score::Weights;
use tessera_engine::store::{SecretRules, StoreConfig, Usage};

#[test]
fn short_observations_are_found_by_what_stands_above_them() {
    let home = tempfile::tempdir().unwrap();
    let config = StoreConfig {
        home: home.path().join("home").into(),
        clock: Arc::new(FixedClock("2026-11-20T12:00:00Z".parse().unwrap())),
        weights: Weights::default(),
        usage: Usage::Serve,
        embedding: true,
        secrets: SecretRules::default(),
    };
    let mut store = Store::open(config).unwrap();
    let caller = Caller::new(Origin::User);
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/observations");
    let dir = fixture.join("notes");
    let (name, scope, trust) = (None, Scope::Global, Trust::User);
    let adds = AddFolder { dir, name, scope, trust, is_writable: false, is_told: false };
    Desk::new(&mut store, &caller).perform(adds).unwrap();
    while store.embed_some().unwrap() {}
    let (mut first, mut shown, mut asked, mut noise) = (0, 0, 0, 0);
    for line in std::fs::read_to_string(fixture.join("questions.tsv")).unwrap().lines() {
        let (question, piece) = line.split_once('\t').unwrap();
        let recall = Recall { request: RecallRequest::new(question), form: Form::Text };
        let reply = Desk::new(&mut store, &caller).perform(recall).unwrap().reply;
        if piece.is_empty() {
            noise += usize::from(!reply.details.is_empty());
            continue;
        }
        let says = |at: usize| reply.details.get(at).is_some_and(|detail| detail.memory.content.contains(piece));
        asked += 1;
        first += usize::from(says(0));
        shown += usize::from((0..reply.details.len()).any(says));
    }
    // Without what stands above them in their vectors: 29 first, 40 shown, and 3 answers where there is none.
    assert_eq!((first, shown, asked, noise), (36, 42, 42, 2));
}
