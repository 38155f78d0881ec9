//! Texts that a server keeps at hand, and indexes that it keeps beside the rows: of what somebody sees no more neither gives
//! anything, whoever else asks meanwhile, whatever becomes of the database.

use std::time::{Duration, Instant};

use serde_json::json;
use tessera_api::{SecretRules, Secrets};

use crate::audit::purge;
use crate::caches::{given, holds, kept, many, store};
use crate::site::{Site, unlimited, with_site};

const QUESTION: &str = "when does the zorblax of the old harbour open";

async fn share(site: &Site, key: &str, id: &str, with: &str) {
    let share = json!({ "shared_with": with, "permission": "read" });
    Site::ok(site.post(key, &format!("/api/memories/{id}/share"), &share).await).await;
}

/// Ada's memory with a word that nothing else has, which the kept index of a reader has as well.
async fn seen(site: &Site, ada: &str, bob: &str, reader: &str, is_tagged: bool) -> String {
    many(site, bob).await;
    let body = json!({ "content": "The zorblax of the old harbour opens at noon", "tags": ["harbour"] });
    let id = store(site, ada, &body).await;
    if !is_tagged {
        share(site, ada, &id, reader).await;
    }
    assert_eq!(given(site, bob, QUESTION).await.len(), 1);
    assert!(holds(kept(&site.admin().await, reader).await, "zorblax"));
    id
}

/// What was removed for good after somebody had seen it, and saw it no more, has no word in what is kept for them.
#[test]
fn no_kept_index_of_whoever_saw_it_once_has_a_word_of_what_was_removed_for_good() {
    with_site(|site| async move {
        let pool = site.admin().await;
        for (number, way) in ["unshared", "deleted", "declined", "not tagged any more"].into_iter().enumerate() {
            let (owner, reader) = (format!("ada{number}"), format!("bob{number}"));
            let (ada, bob) = (site.user(&owner).await, site.user(&reader).await);
            let rule = json!({ "tag": "harbour", "shared_with": reader });
            let answer = |accept: bool| json!({ "owner": owner, "tag": "harbour", "accept": accept });
            let is_tagged = number > 1;
            if is_tagged {
                Site::ok(site.post(&ada, "/api/memories/share-tag", &rule).await).await;
                Site::ok(site.post(&bob, "/api/memories/invitations", &answer(true)).await).await;
            }
            let id = seen(&site, &ada, &bob, &reader, is_tagged).await;
            let path = format!("/api/memories/{id}");
            let done = match way {
                "unshared" => site.delete(&ada, &format!("{path}/share/{reader}"), "").await,
                "deleted" => site.delete(&ada, &path, "*").await,
                "declined" => site.post(&bob, "/api/memories/invitations", &answer(false)).await,
                _ => site.put(&ada, &path, "*", &json!({ "tags": [] })).await,
            };
            Site::ok(done).await;
            purge(&site, &ada, &id).await;
            let sql = "SELECT snapshot FROM index_cache WHERE user_id = ANY ($1)";
            let left: Vec<Vec<u8>> =
                sqlx::query_scalar(sql).bind(vec![owner.clone(), reader.clone()]).fetch_all(&pool).await.unwrap();
            assert!(!left.into_iter().any(|bytes| holds(bytes, "zorblax")), "{way}");
            assert!(given(&site, &bob, QUESTION).await.is_empty());
        }
    });
}

/// What a user shared who was removed from the server: on the host, so by another program.
#[test]
fn what_somebody_shared_who_was_removed_is_at_hand_nowhere() {
    with_site(|site| async move {
        let (ada, bob) = (site.user("ada").await, site.user("bob").await);
        let other = site.replica_of(unlimited()).await;
        let id = seen(&site, &ada, &bob, "bob", false).await;
        // Both have the text at hand.
        for server in [&site, &other, &site, &other] {
            assert_eq!(given(server, &bob, QUESTION).await.len(), 1);
        }
        let secrets = Secrets::open(&site.db, SecretRules::default()).await.unwrap();
        site.db.remove_user(&"ada".parse().unwrap(), &secrets, None, |_, _| ()).await.unwrap();
        for server in [&site, &other, &site.replica_of(unlimited()).await] {
            assert!(given(server, &bob, QUESTION).await.is_empty());
            assert_eq!(server.get(&bob, &format!("/api/memories/{id}")).await.status(), 404);
        }
    });
}

/// Writers and readers at one time, on two servers: what is asked for after a change was acknowledged is given as it was
/// changed, or not at all.
#[test]
fn whoever_asks_after_a_change_is_given_nothing_of_before_however_many_ask() {
    with_site(|site| async move {
        let (ada, bob) = (site.user("ada").await, site.user("bob").await);
        let other = site.replica_of(unlimited()).await;
        let until = Instant::now() + Duration::from_secs(8);
        let noise = async {
            let mut asked = 0;
            while Instant::now() < until {
                let some = (0..16).map(|n| given(if n % 2 == 0 { &site } else { &other }, &bob, QUESTION));
                asked += futures_util::future::join_all(some).await.len();
            }
            asked
        };
        let changes = async {
            let mut rounds = 0;
            // A busy machine takes longer for them.
            while Instant::now() < until || rounds < 6 {
                rounds += 1;
                let (one, two) = if rounds % 2 == 0 { (&site, &other) } else { (&other, &site) };
                let text = |what: &str| format!("The zorblax of the old harbour opens {what} in round {rounds}");
                let id = store(one, &ada, &json!({ "content": text("first") })).await;
                share(one, &ada, &id, "bob").await;
                assert_eq!(given(two, &bob, QUESTION).await, [text("first")]);
                let path = format!("/api/memories/{id}");
                // Whoever asks beside it reads one text while the next is written.
                for what in ["second", "third", "fourth", "later"] {
                    Site::ok(one.put(&ada, &path, "*", &json!({ "content": text(what) })).await).await;
                }
                for server in [two, one] {
                    assert_eq!(given(server, &bob, QUESTION).await, [text("later")]);
                }
                match rounds % 3 {
                    0 => purge(one, &ada, &id).await,
                    1 => drop(Site::ok(one.delete(&ada, &format!("{path}/share/bob"), "").await).await),
                    _ => drop(Site::ok(one.delete(&ada, &path, "*").await).await),
                }
                for server in [two, one] {
                    assert_eq!(given(server, &bob, QUESTION).await, [""; 0], "round {rounds}");
                }
            }
            rounds
        };
        let (asked, rounds) = tokio::join!(noise, changes);
        assert!(rounds > 5 && asked > 0, "{rounds} rounds, {asked} beside them");
    });
}

/// After a crash, and after a backup was brought back, with and without a word on it: what is at hand is of another history.
#[test]
fn a_database_that_went_back_is_given_as_it_is_and_not_as_it_was_known() {
    with_site(|site| async move {
        let (ada, bob) = (site.user("ada").await, site.user("bob").await);
        let id = seen(&site, &ada, &bob, "bob", false).await;
        site.cluster.crash();
        let ready = async |server: &Site| {
            let mut in_a_row = 0;
            for _ in 0..200 {
                // Every connection of the pool is another one then.
                let is_there = server.get(&bob, "/api/stats").await.status() == 200;
                in_a_row = if is_there { in_a_row + 1 } else { 0 };
                if in_a_row == 20 {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            panic!("it does not come back");
        };
        ready(&site).await;
        assert_eq!(given(&site, &bob, QUESTION).await, ["The zorblax of the old harbour opens at noon"]);
        // The backup has it unshared; afterwards it is shared with another text, which the backup does not have.
        Site::ok(site.delete(&ada, &format!("/api/memories/{id}/share/bob"), "").await).await;
        for is_told in [false, true] {
            site.cluster.back_up();
            ready(&site).await;
            share(&site, &ada, &id, "bob").await;
            let text = format!("The zorblax of the old harbour opens at dusk {is_told}");
            let path = format!("/api/memories/{id}");
            Site::ok(site.put(&ada, &path, "*", &json!({ "content": text })).await).await;
            assert_eq!(given(&site, &bob, QUESTION).await, [text.as_str()]);
            site.cluster.restore();
            ready(&site).await;
            if is_told {
                site.db.begin_epoch().await.unwrap();
            }
            // As far as the backup's head, and beyond it, by what nobody of before knows.
            assert_eq!(given(&site, &bob, QUESTION).await, [""; 0], "{is_told}");
            for number in 0..3 {
                store(&site, &bob, &json!({ "content": format!("A ferry goes {number}") })).await;
            }
            assert_eq!(given(&site, &bob, QUESTION).await.iter().filter(|text| text.contains("zorblax")).count(), 0);
            assert_eq!(given(&site, &ada, QUESTION).await, ["The zorblax of the old harbour opens at noon"]);
        }
    });
}
