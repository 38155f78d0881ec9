//! What a question brings back: aliases, compounds, dates, weak matches, filters, and the words of a long question.
#![expect(clippy::unwrap_used, reason = "a test may")]

use std::sync::Arc;

use tessera_engine::Store;
use tessera_engine::domain::{
    Breadth, DomainError, Draft, Filters, FixedClock, Importance, Link, LinkKind, Purpose, RecallRequest, Scope,
    ShortId, Sort, Timestamp,
};
use tessera_engine::pack::{JsonRows, Recall};
use tessera_engine::score::Weights;
use tessera_engine::store::{SecretRules, StoreConfig, StoreError, Usage};
use tessera_engine::text::{O200k, TokenCounter};

struct Home {
    store: Store,
    _dir: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = Arc::new(FixedClock("2026-11-21T12:00:00Z".parse().unwrap()));
        let home = dir.path().join("home");
        let config = StoreConfig {
            home: home.into(),
            clock,
            weights: Weights::default(),
            usage: Usage::Serve,
            embedding: true,
            secrets: SecretRules::default(),
        };
        Self { store: Store::open(config).unwrap(), _dir: dir }
    }

    fn of(notes: &[&str]) -> Self {
        let mut home = Self::new();
        notes.iter().for_each(|note| {
            home.note(note, "2026-11-20");
        });
        home
    }

    fn note(&mut self, text: &str, created: &str) -> ShortId {
        let created: Timestamp = created.parse().unwrap();
        self.store.remember(Draft { created: Some(created), ..Draft::new(text) }).unwrap().memory.short_id
    }

    fn ask(&mut self, request: &RecallRequest) -> Recall {
        let recall = self.store.recall(request).unwrap();
        let counted = O200k.count(&recall.body);
        assert_eq!(recall.tokens_used, counted, "{}", recall.body);
        assert!(counted <= request.budget.get());
        recall
    }

    fn first(&mut self, question: &str) -> Option<String> {
        let recall = self.ask(&RecallRequest::new(question));
        recall.details.first().map(|detail| detail.memory.content.clone())
    }
}

/// A store of its first five minutes: each question with a word of the note that answers it.
#[test]
fn a_handful_of_notes_answers_natural_questions() {
    let mut home = Home::of(&[
        "Orders are kept in MySQL, one schema per shop",
        "I prefer Vue over Angular for new front ends",
        "Deploys happen on Wednesdays after 14:00",
        "Our tech lead is Ines Halvorsen",
        "The image proxy listens on port 9021",
    ]);
    for (question, word) in [
        ("what do orders use?", "MySQL"),
        ("orders db", "MySQL"),
        ("which database?", "MySQL"),
        ("where do we keep orders?", "MySQL"),
        ("which database do we use for the orders?", "MySQL"),
        ("do I like Angular?", "Vue"),
        ("what framework should I use for the frontend?", "Vue"),
        ("which frontend framework do I prefer?", "Vue"),
        ("Vue or Angular?", "Vue"),
        ("what do I think of Vue?", "Vue"),
        ("when is the next deploy window?", "Deploys"),
        ("what day are deployments?", "Deploys"),
        ("when can I deploy?", "Deploys"),
        ("can I deploy on a Friday?", "Deploys"),
        ("which day do we release?", "Deploys"),
        ("who is the tech lead?", "Ines"),
        ("who leads tech?", "Ines"),
        ("what does Ines do?", "Ines"),
        ("which port is the image proxy on?", "9021"),
        ("image proxy port", "9021"),
        ("where does the proxy listen?", "9021"),
    ] {
        let found = home.first(question);
        assert!(found.as_deref().is_some_and(|text| text.contains(word)), "{question}: {found:?}");
    }
    for question in ["how old is the universe?", "a recipe for pancakes", "train times to Vienna"] {
        let recall = home.ask(&RecallRequest::new(question));
        assert!(recall.details.is_empty() && recall.index.is_empty(), "{question}: {}", recall.body);
    }
}

#[test]
fn a_word_is_found_by_its_other_names() {
    let filler = ["The heron nests by the weir", "Lanterns are stored in the loft", "The violin needs new strings"];
    for (note, question) in [
        ("Upgrades of Kubernetes come each quarter", "k8s upgrades"),
        ("k8s is upgraded each quarter", "when is Kubernetes upgraded?"),
        ("The repository moved to a new host", "where is the repo?"),
        ("Production lives in Oslo", "prod location"),
        ("A roll back takes two minutes", "how long is a rollback?"),
        ("A rollback takes two minutes", "how long does it take to roll back?"),
        ("The front end is written by Ola", "who does the frontend?"),
        ("Every pull request needs a label", "what does a PR need?"),
    ] {
        let mut home = Home::of(&filler);
        home.note(note, "2026-11-20");
        assert_eq!(home.first(question).as_deref(), Some(note), "{question}");
    }
}

#[test]
fn a_date_in_a_question_matches_by_itself() {
    let mut home = Home::new();
    for (text, created) in [
        ("We decided to buy the licence", "2026-09-10"),
        ("We decided to paint the office", "2026-10-12"),
        ("The lift was out of order", "2026-10-20"),
        ("The gate opens at nine", "2026-08-01"),
    ] {
        home.note(text, created);
    }
    assert_eq!(home.first("what did we decide last month?").as_deref(), Some("We decided to paint the office"));
    assert_eq!(home.first("decisions in September").as_deref(), Some("We decided to buy the licence"));
    let august = home.ask(&RecallRequest::new("what happened in August?"));
    assert_eq!(august.details[0].memory.content, "The gate opens at nine");
    assert!(home.first("what happened in January?").is_none());
}

#[test]
fn the_words_of_a_relative_date_match_no_text() {
    let mut home = Home::new();
    for (text, created) in [
        ("The invoices of last month were late, the month before too", "2026-03-10"),
        ("We decided to paint the office", "2026-10-12"),
        ("The gate opens at nine", "2026-08-01"),
    ] {
        home.note(text, created);
    }
    let recall = home.ask(&RecallRequest::new("what did we decide last month?"));
    let given: Vec<&str> = recall.details.iter().map(|detail| detail.memory.content.as_str()).collect();
    assert_eq!(given, ["We decided to paint the office"]);
    let recall = home.ask(&RecallRequest::new("last month"));
    let given: Vec<&str> = recall.details.iter().map(|detail| detail.memory.content.as_str()).collect();
    assert_eq!(given, ["We decided to paint the office"]);
    assert_eq!(home.first("which invoices were late?").as_deref().map(|text| text.contains("invoices")), Some(true));
}

fn weak_home() -> Home {
    let mut notes: Vec<String> = (0..30).map(|n| format!("Shelf {n} holds crates of kind k{n}")).collect();
    notes.push("The turbine was oiled".into());
    Home::of(&notes.iter().map(String::as_str).collect::<Vec<_>>())
}

const HARD: &str = "which turbine bearings vibrate loudly?";

#[test]
fn what_shares_a_word_is_shown_as_weak_and_marked() {
    let mut home = weak_home();
    let question = "which turbine bearings vibrate?";
    let recall = home.ask(&RecallRequest::new(question));
    assert_eq!((recall.details.len(), recall.total_count, recall.has_more), (0, 0, false), "{}", recall.body);
    assert!((1..=3).contains(&recall.index.len()) && recall.index.iter().all(|e| e.ranked.is_weak), "{}", recall.body);
    assert!(
        recall.body.starts_with("<memories> 0 found, 1 low-confidence, ") && recall.body.contains("\n~ #"),
        "{}",
        recall.body
    );
    let json = home.store.recall_json(&RecallRequest::new(question), JsonRows::default()).unwrap();
    assert_eq!(json.tokens_used, O200k.count(&json.body), "{}", json.body);
    let value: serde_json::Value = serde_json::from_str(&json.body).unwrap();
    assert_eq!((&value["index"][0]["weak"], &value["near"]), (&true.into(), &0.into()), "{value}");
    let automatic = RecallRequest { purpose: Purpose::Unasked, ..RecallRequest::new(question) };
    assert!(home.ask(&automatic).index.is_empty());
}

#[test]
fn a_reply_without_a_match_says_how_many_are_near_and_how_to_see_them() {
    let mut home = weak_home();
    let recall = home.ask(&RecallRequest::new(HARD));
    assert_eq!((recall.index.len(), recall.near), (0, 1), "{}", recall.body);
    let stated = format!("No memory matches: {} tokens.\n+1 weak matches, see option weak\n", recall.tokens_used);
    assert_eq!(recall.body, stated);
    let all = home.ask(&RecallRequest { weak: true, ..RecallRequest::new(HARD) });
    assert_eq!((all.index.len(), all.near), (1, 0), "{}", all.body);
    for budget in (1..120).step_by(7) {
        let request = RecallRequest { budget: budget.try_into().unwrap(), weak: true, ..RecallRequest::new(HARD) };
        if home.store.recall(&request).is_ok() {
            home.ask(&request);
        }
    }
    let nothing = home.ask(&RecallRequest::new("zebra migration"));
    let stated = format!("No memory matches: {} tokens.\n", nothing.tokens_used);
    assert_eq!((nothing.body, nothing.near), (stated, 0));
}

#[test]
fn what_holds_only_a_word_near_in_meaning_is_listed_as_weak() {
    let mut home = weak_home();
    let sign = home.note("The supplier list hangs in the hall", "2026-11-20");
    let question = "which vendor bearings vibrate loudly?";
    let recall = home.ask(&RecallRequest::new(question));
    assert_eq!((recall.index.len(), recall.near), (0, 1), "{}", recall.body);
    let all = home.ask(&RecallRequest { weak: true, ..RecallRequest::new(question) });
    let listed: Vec<ShortId> = all.index.iter().map(|entry| entry.memory.short_id).collect();
    assert_eq!((listed, all.near), (vec![sign], 0), "{}", all.body);
}

#[test]
fn an_explanation_names_what_was_below_the_floor() {
    let mut home = weak_home();
    let recall = home.ask(&RecallRequest { explain: true, ..RecallRequest::new(HARD) });
    assert_eq!(recall.below_floor.len(), 1);
    for ranked in &recall.below_floor {
        assert!(ranked.share > 0.0 && ranked.share < Weights::default().floor, "{ranked:?}");
        assert!((ranked.parts.sum() - ranked.score).abs() < 1e-9);
    }
}

#[test]
fn what_replaces_a_memory_must_pass_the_filters_too() {
    let mut home = Home::new();
    let ledger: Scope = "ledger".parse().unwrap();
    let draft = |text: &str, scope: &Scope| Draft { scope: scope.clone(), ..Draft::new(text) };
    let old = home.store.remember(draft("Tabs of the ledger are four wide", &ledger)).unwrap().memory.id;
    let supersedes = Link { kind: LinkKind::Supersedes, to: old };
    let new = Draft { links: vec![supersedes], ..draft("Tabs everywhere are two wide", &Scope::Global) };
    let new = home.store.remember(new).unwrap().memory.short_id;
    let everywhere = home.ask(&RecallRequest::new("how wide are tabs in the ledger?"));
    assert_eq!(everywhere.details[0].memory.short_id, new);
    let filters = Filters { scopes: vec![ledger], ..Filters::default() };
    let inside = home.ask(&RecallRequest { filters, ..RecallRequest::new("how wide are tabs in the ledger?") });
    assert!(inside.details.is_empty() && inside.index.is_empty(), "{}", inside.body);
}

#[test]
fn opposites_are_both_shown() {
    for [one, other] in [
        ["Use tabs, not spaces", "Use spaces, not tabs"],
        ["Alert when latency > 200 ms", "Alert when latency < 200 ms"],
        ["Sync from primary to replica", "Sync from replica to primary"],
    ] {
        let mut home = Home::of(&[one, other]);
        let recall = home.ask(&RecallRequest::new(one));
        let found: Vec<&str> = recall.details.iter().map(|detail| detail.memory.content.as_str()).collect();
        assert_eq!(found.len(), 2, "{}", recall.body);
        let mut said = Home::of(&[one, &format!("  {}  ", one.to_uppercase())]);
        assert_eq!(said.ask(&RecallRequest::new(one)).details.len(), 1, "the same is said once");
    }
}

#[test]
fn a_chain_of_any_length_ends_at_its_last_memory() {
    let mut home = Home::new();
    let mut last = None;
    for n in 1..=60 {
        let links = last.map(|to| Link { kind: LinkKind::Supersedes, to }).into_iter().collect();
        let text = format!("The crane of the harbour is painted in colour {n}");
        last = Some(home.store.remember(Draft { links, ..Draft::new(text) }).unwrap().memory.id);
    }
    home.store.rebuild_snapshot().unwrap();
    let answer = home.first("which colour is the crane of the harbour painted in?");
    assert_eq!(answer.as_deref(), Some("The crane of the harbour is painted in colour 60"));
}

#[test]
fn a_name_that_nobody_has_is_read_as_another_only_where_the_reply_says_so() {
    let mut home =
        Home::of(&["Maria drinks green tea", "Petra leads the harbour team", "The lighthouse has a green lamp"]);
    let asked = RecallRequest::new("What does Marta drink?");
    let reply = home.ask(&asked);
    assert!(reply.body.contains("marta is read as maria.\n"), "{}", reply.body);
    assert_eq!(reply.tokens_used, O200k.count(&reply.body));
    let json = home.store.recall_json(&asked, JsonRows::default()).unwrap();
    let value: serde_json::Value = serde_json::from_str(&json.body).unwrap();
    assert_eq!(value["read_as"], serde_json::json!({ "marta": ["maria"] }), "{}", json.body);
    assert_eq!(json.tokens_used, O200k.count(&json.body));
    let known = home.ask(&RecallRequest::new("What does Maria drink?"));
    assert!(!known.body.contains("is read as"), "{}", known.body);
    // Nobody asked: then nobody would be told.
    let automatic =
        RecallRequest { purpose: Purpose::Unasked, ..RecallRequest::new("please ask Marta what she drinks") };
    assert!(home.ask(&automatic).details.is_empty());
    // In any place and any letters; an ending that no stemmer takes is another name, too.
    for question in ["Marta", "what does marta drink?", "what about Mariah"] {
        let reply = home.ask(&RecallRequest::new(question));
        assert!(reply.total_count == 0 || reply.body.contains(" is read as maria.\n"), "{}", reply.body);
        let automatic = RecallRequest { purpose: Purpose::Unasked, ..RecallRequest::new(question) };
        assert!(home.ask(&automatic).details.is_empty(), "{question}");
    }
}

#[test]
fn a_question_without_content_finds_nothing() {
    let mut home = Home::of(&["The crane is green", "What? Why?"]);
    for question in ["?", "...", "  ?! "] {
        let recall = home.ask(&RecallRequest::new(question));
        assert!(recall.details.is_empty() && recall.index.is_empty(), "{}", recall.body);
    }
}

#[test]
fn a_question_is_found_before_and_after_a_long_text() {
    let mut home = Home::of(&["The staging database listens on port 5433", "The crane is green"]);
    let log: String =
        (0..300).map(|n| format!("2026-11-20 worker{n} handled request {n} of batch{n} in {n} ms\n")).collect();
    let question = "which port does the staging database listen on?";
    for text in [format!("{question}\n{log}"), format!("{log}\n{question}"), format!("{log}\n{question}\n{log}")] {
        let is_between = text.ends_with("ms\n") && !text.starts_with("which");
        let found = home.first(&text);
        assert!(is_between || found.is_some_and(|text| text.contains("5433")), "{}", &text[..60]);
    }
}

#[test]
fn a_misspelt_question_gets_an_excerpt_too() {
    let mut home = Home::new();
    let paragraph =
        |n: usize| format!("Paragraph {n} says how the crates of shelf {n} are counted and where they go next.");
    let mut text: Vec<String> = (0..40).map(paragraph).collect();
    text[20] = "The carburettor is cleaned with paraffin every spring.".into();
    home.note(&text.join("\n\n"), "2026-11-20");
    let request = RecallRequest { budget: 200.try_into().unwrap(), ..RecallRequest::new("carburetor cleaning") };
    let recall = home.ask(&request);
    let excerpt = recall.details.first().and_then(|detail| detail.excerpt.as_deref());
    assert!(excerpt.is_some_and(|lines| lines.contains("carburettor")), "{}", recall.body);
}

#[test]
fn an_expansion_can_only_help() {
    let mut home = weak_home();
    let plain = RecallRequest::new("turbine maintenance");
    assert_eq!(home.ask(&plain).details.len(), 1);
    let expanded = RecallRequest {
        expanded_query: Some("gearbox rotor lubricant nacelle inspection interval overhaul".into()),
        ..plain
    };
    assert_eq!(home.ask(&expanded).details.len(), 1);
}

/// The form of a reply, and the question it answers.
fn ask_in(home: &mut Home, form: Option<JsonRows>, request: &RecallRequest) -> Result<Recall, StoreError> {
    let recall = match form {
        Some(rows) => home.store.recall_json(request, rows)?,
        None => home.store.recall(request)?,
    };
    let counted = O200k.count(&recall.body);
    assert!(recall.tokens_used == counted && counted <= request.budget.get(), "{counted}: {}", recall.body);
    Ok(recall)
}

/// The first row is on the page, named at least, or the error says what it needs.
#[test]
fn a_tight_budget_loses_no_row() {
    let mut home = Home::of(&[
        "The checkout service listens on port 7070 locally, and on port 7171 on the staging machine behind the proxy",
        "Checkout totals are kept in cents",
        "The checkout page is rendered by Svelte",
        "Checkout was moved to its own repository",
    ]);
    let short = JsonRows::default();
    let forms = [None, Some(short), Some(JsonRows { parts: true, ..short }), Some(JsonRows { full: true, ..short })];
    for (form, breadth) in forms.into_iter().flat_map(|form| [(form, Breadth::Off), (form, Breadth::On)]) {
        for budget in 30..200 {
            let question = RecallRequest { breadth, ..RecallRequest::new("checkout") };
            let mut request = RecallRequest { budget: budget.try_into().unwrap(), ..question };
            // Page after page shows every row once.
            let (mut seen, mut total) = (Vec::new(), 0);
            loop {
                let page = match ask_in(&mut home, form, &request) {
                    Ok(page) => page,
                    Err(StoreError::Domain(DomainError::BudgetTooSmall { minimum, .. })) => {
                        assert!(budget < minimum, "{budget} {minimum}");
                        request.budget = minimum.try_into().unwrap();
                        ask_in(&mut home, form, &request).unwrap()
                    }
                    Err(error) => panic!("{error}"),
                };
                total = total.max(page.total_count as usize);
                let is_shown = !page.details.is_empty() || !page.index.is_empty();
                assert!(total > 1 && is_shown, "{form:?} {breadth:?} {budget}: {}", page.body);
                seen.extend(page.details.iter().map(|detail| detail.memory.short_id));
                seen.extend(page.index.iter().map(|entry| entry.memory.short_id));
                let Some(cursor) = page.next_cursor.clone() else { break };
                request.cursor = Some(cursor.parse().unwrap());
            }
            let all = seen.len();
            seen.sort_unstable();
            seen.dedup();
            assert_eq!((seen.len(), all), (total, total), "{form:?} {breadth:?} {budget}: {seen:?}");
        }
    }
}

#[test]
fn by_importance_each_match_counts_and_those_with_all_words_come_first() {
    let mut home = Home::new();
    let (grass, both, fibre) =
        ("The wombat diet is grass, says Python", "zebra and wombat diet compared", "A wombat diet needs fibre");
    for (text, importance) in [(grass, 0.9), (both, 0.5), (fibre, 0.8)] {
        let importance = Some(Importance::try_from(importance).unwrap());
        home.store.remember(Draft { importance, ..Draft::new(text) }).unwrap();
    }
    let recall = home.ask(&RecallRequest { sort: Sort::Importance, ..RecallRequest::new("zebra wombat diet") });
    let texts: Vec<&str> = recall.details.iter().map(|detail| detail.memory.content.as_str()).collect();
    assert_eq!(texts, [both, grass, fibre]);
}
