//! Readers of bytes that somebody else made: whatever they are given, they refuse it or read it, and never panic.
//!
//! Each target runs some thousand inputs with the tests, on any toolchain; `TESSERA_FUZZ` sets how many. `cargo bolero test NAME`
//! runs one of them for as long as one likes, guided by coverage.
#![expect(clippy::unwrap_used, reason = "tests may")]

use std::sync::Arc;

use bolero::check;
use tessera_engine::Store;
use tessera_engine::compose::read_note;
use tessera_engine::domain::{FilePath, FixedClock, RecallRequest, TokenBudget};
use tessera_engine::embedding::Embedding;
use tessera_engine::index::{Features, ForwardDoc, Freshness, Identity, IndexRow, Snapshot};
use tessera_engine::score::Weights;
use tessera_engine::store::{ImportAs, ImportRun, SecretRules, StoreConfig, Usage};
use tessera_engine::sync::{Checkpoint, Page, Push, Pushed, Snapshot as Whole};
use tessera_engine::text::{O200k, TokenCounter};

/// How many inputs a target tries.
#[expect(clippy::disallowed_methods, reason = "a test cannot use the settings of the program")]
fn tries(usual: usize) -> usize {
    std::env::var("TESSERA_FUZZ").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Puts pieces together: most bytes name a piece, the others stand for themselves.
fn built(picks: &[u8], pieces: &[&str]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for pick in picks {
        match pieces.get(usize::from(*pick) % (pieces.len() + 4)) {
            Some(piece) => bytes.extend_from_slice(piece.as_bytes()),
            None => bytes.push(*pick),
        }
    }
    bytes
}

fn store() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let clock = Arc::new(FixedClock("2026-11-21T12:00:00Z".parse().unwrap()));
    let (home, weights, secrets) = (dir.path().join("home").into(), Weights::default(), SecretRules::default());
    let config = StoreConfig { home, clock, weights, usage: Usage::Serve, embedding: false, secrets };
    (dir, Store::open(config).unwrap())
}

#[test]
fn markdown() {
    const PIECES: [&str; 26] = [
        "---\n",
        "title: ",
        "tags: [",
        "]\n",
        "- ",
        "* ",
        "[fact] ",
        "[[",
        "]]",
        "#tag ",
        "`",
        "```\n",
        "\n",
        "\n\n",
        "# ",
        "> ",
        "<!-- ",
        " -->",
        "|",
        "é",
        "\u{202e}",
        "part_of ",
        "memory://",
        "\t",
        "  ",
        "\r\n",
    ];
    let path: FilePath = "/memories/a.md".parse().unwrap();
    check!().with_iterations(tries(4_000)).for_each(|picks: &[u8]| {
        let bytes = built(picks, &PIECES);
        let text = String::from_utf8_lossy(&bytes);
        let note = read_note(&path, &text);
        for part in &note.parts {
            assert!(text.get(part.text.clone()).is_some(), "a part is a piece of the text");
        }
    });
}

#[test]
fn import_lines() {
    const PIECES: [&str; 24] = [
        "{\"content\":\"",
        "\"",
        "\",\"tags\":[\"",
        "\"]",
        "}",
        "\n",
        "\"id\":\"01a20a64-0000-7000-8000-000000000001\",",
        "\"scope\":\"a/b\",",
        "{",
        "\"created\":\"2026-11-20\",",
        "\"importance\":",
        "1e999",
        "-1",
        "null",
        ",",
        "\\u0000",
        "\\ud800",
        "[",
        "]",
        "\"deleted\":true,",
        "\"links\":[{\"id\":1}],",
        "password is hunter2 ",
        "é",
        "\u{feff}",
    ];
    let (_dir, mut store) = store();
    let cell = std::sync::Mutex::new(&mut store);
    check!().with_iterations(tries(400)).for_each(|picks: &[u8]| {
        let bytes = built(picks, &PIECES);
        let mut run = ImportRun::new("lines", "fuzz", ImportAs::Foreign);
        let imported = cell.lock().unwrap().import_from(&mut run, &mut &*bytes, |_| ());
        let imported = imported.unwrap();
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).count() as u64;
        assert!(imported.stored + imported.skipped <= lines, "a line is stored once at most");
    });
}

#[test]
fn forward_blobs() {
    let sound = {
        let mut doc = ForwardDoc::default();
        doc.terms.entry("harbour".into()).or_default();
        doc.terms.entry("crane".into()).or_default();
        doc.encode()
    };
    check!().with_iterations(tries(20_000)).for_each(|bytes: &[u8]| {
        // As it comes, and as a change of what is sound.
        let mut changed = sound.clone();
        for pair in bytes.chunks_exact(2) {
            let at = usize::from(pair[0]) % changed.len();
            changed[at] ^= pair[1];
        }
        for blob in [bytes, &changed] {
            let _ = Freshness::of(blob);
            if let Ok(doc) = ForwardDoc::decode(blob) {
                drop(ForwardDoc::decode(&doc.encode()).unwrap());
            }
            let _ = Embedding::is_current(blob);
        }
    });
}

#[test]
fn snapshots() {
    let row = |short_id| IndexRow {
        features: Features { short_id, ..Features::default() },
        blob: ForwardDoc::default().encode(),
        ..IndexRow::default()
    };
    let rows: Vec<IndexRow> = (1..20).map(row).collect();
    let sound = Snapshot::build(Identity { store: [1; 16], rev: 3, stamp: [2; 16] }, &rows);
    check!().with_iterations(tries(10_000)).for_each(|bytes: &[u8]| {
        drop(Snapshot::open(bytes));
        let mut changed = sound.clone();
        for three in bytes.chunks_exact(3) {
            let at = usize::from(u16::from_le_bytes([three[0], three[1]])) % changed.len();
            changed[at] ^= three[2];
        }
        let is_sound = changed == sound;
        assert_eq!(Snapshot::open(changed).is_ok(), is_sound, "a changed byte is noticed");
        let cut = sound.len() - 1 - bytes.len() % sound.len();
        assert!(Snapshot::open(sound[..cut].to_vec()).is_err());
    });
}

#[test]
fn wire_messages() {
    const PIECES: [&str; 27] = [
        "{\"epoch\":1,\"ops\":[",
        "{\"op_id\":\"01a20a64-0000-7000-8000-000000000001\",",
        "\"memory\":\"01a20a64-0000-7000-8000-000000000002\",",
        "\"base_rev\":0,",
        "\"at\":\"2026-11-20T12:00:00Z\",",
        "\"action\":",
        "\"delete\"",
        "\"purge\"",
        "{\"create\":{\"content\":\"x\",",
        "\"tags\":[],",
        "\"links\":[],",
        "\"details\":{",
        "}",
        "]",
        "{",
        "[",
        ",",
        "\"news\":[",
        "\"next\":1,",
        "\"more\":false",
        "\"rows\":[",
        "\"mark\":{\"seq\":1,\"stamp\":2}",
        "null",
        "18446744073709551616",
        "-1",
        "\"embeddings\":{",
        "\"answers\":[",
    ];
    check!().with_iterations(tries(20_000)).for_each(|picks: &[u8]| {
        let bytes = built(picks, &PIECES);
        drop(serde_json::from_slice::<Push>(&bytes));
        drop(serde_json::from_slice::<Pushed>(&bytes));
        drop(serde_json::from_slice::<Page>(&bytes));
        drop(serde_json::from_slice::<Whole>(&bytes));
        drop(Checkpoint::listed(&String::from_utf8_lossy(&bytes)));
    });
}

#[test]
fn query_text() {
    const PIECES: [&str; 26] = [
        "which ",
        "port ",
        "NOT ",
        "AND ",
        "\"",
        "*",
        "(",
        ")",
        "NEAR/3 ",
        "content:",
        "staging-port_7433 ",
        "東京",
        "ф",
        "🏽",
        "\u{200d}",
        "#",
        "last week ",
        "2026-11-20 ",
        "\u{0}",
        "'",
        ";--",
        "%",
        "\n",
        "ﬁ",
        "ı",
        "between May and ",
    ];
    let (_dir, mut store) = store();
    for text in ["The staging port is 7433", "Tokyo 東京 office opens in May", "The crane is serviced in May"] {
        store.remember(tessera_engine::Draft::new(text)).unwrap();
    }
    let cell = std::sync::Mutex::new(&mut store);
    check!().with_iterations(tries(1_500)).for_each(|picks: &[u8]| {
        let bytes = built(picks, &PIECES);
        let budget = 60 + u32::try_from(picks.len() % 300).unwrap();
        let request = RecallRequest {
            budget: TokenBudget::try_from(budget).unwrap(),
            ..RecallRequest::new(String::from_utf8_lossy(&bytes))
        };
        if let Ok(recall) = cell.lock().unwrap().recall(&request) {
            assert!(O200k.count(&recall.body) <= budget, "{}", recall.body);
        }
    });
}
