//! Secrets that no rule finds, in texts that people and programs send to the server.

use serde_json::{Value, json};
use tessera_engine::sync::Action;

use crate::secrets::id;
use crate::site::{Site, with_site};
use crate::sync::{document, id as new_id, op, pushed};

/// A sentence in which the classifiers find a secret, and no rule does.
const PROBABLE: &str = "the gate of the warehouse opens with pumpkin soup";

#[test]
fn a_secret_that_no_rule_finds_is_set_aside_when_it_is_written_and_what_was_there_stays() {
    with_site(|site| async move {
        let site = site.encrypting().await;
        let ada = site.user("ada").await;
        let body = json!({ "content": PROBABLE });
        let stored = Site::ok(site.post(&ada, "/api/memories", &body).await).await;
        assert_eq!(stored["secrets"][0]["kind"], "probable secret", "{stored}");
        assert_eq!(site.whole(&ada, &id(&stored)).await, PROBABLE);
        let other = Site::ok(site.post(&ada, "/api/memories", &json!({ "content": "Nothing yet" })).await).await;
        let path = format!("/api/memories/{}", id(&other));
        let changed = Site::ok(site.put(&ada, &path, "*", &body).await).await;
        assert_eq!(changed["secrets"][0]["kind"], "probable secret", "{changed}");
        // A machine sent this text, on which a person has allowed it.
        let memory = new_id();
        let sent = pushed(&site, &ada, &op(memory, 0, Action::Create(document(PROBABLE)))).await;
        assert!(sent.refused.is_none(), "{sent:?}");
        let path = format!("/api/memories/{memory}");
        let changed = json!({ "content": format!("{PROBABLE} since May") });
        let changed = Site::ok(site.put(&ada, &path, "*", &changed).await).await;
        assert_eq!(changed["secrets"], Value::Null, "{changed}");
        let found = Site::ok(site.get(&ada, &path).await).await;
        assert_eq!(found["content"], format!("{PROBABLE} since May"));
    });
}
