//! Links of any type: over REST and between machines.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::site::{Site, with_site};
use crate::sync::create;

/// What a machine is told of a memory's links, as it reads them.
async fn told(site: &Site, key: &str, path: &str) -> Value {
    let body = Site::ok(site.get(key, path).await).await;
    let rows = body["news"].as_array().map_or_else(
        || body["rows"].as_array().unwrap().clone(),
        |news| news.iter().map(|news| news["arrival"]["row"].clone()).collect(),
    );
    let of = |row: &Value| row["row"]["state"]["live"].clone();
    let linked = rows.iter().map(of).find(|document| document["content"] == "It depends").unwrap();
    linked["links"].clone()
}

#[test]
fn links_of_any_type_are_told_and_merged_as_a_set() {
    with_site(|site| async move {
        let ada = site.user("ada").await;
        let (mut one, other) = (create("It depends"), create("It is depended upon"));
        one["action"]["create"]["links"] = json!([
            { "type": "depends_on", "to": other["memory"] }, { "type": "see_also", "to": other["memory"] },
        ]);
        let push = json!({ "epoch": 1, "ops": [one, other] });
        Site::ok(site.post(&ada, "/v1/sync/push", &push).await).await;
        let all =
            json!([{ "type": "see_also", "to": other["memory"] }, { "type": "depends_on", "to": other["memory"] }]);
        for path in ["/v1/sync/changes?epoch=1&after=0", "/v1/sync/snapshot"] {
            assert_eq!(told(&site, &ada, path).await, all, "{path}");
        }
        let edit = json!({ "op_id": create("another")["op_id"], "memory": one["memory"], "base_rev": 1,
            "at": one["at"], "action": { "edit": { "content": "It depends", "tags_added": [], "tags_removed": [],
            "links_added": [], "links_removed": [{ "type": "see_also", "to": other["memory"] }], "details": null } } });
        let pushed = Site::ok(site.post(&ada, "/v1/sync/push", &json!({ "epoch": 1, "ops": [edit] })).await).await;
        assert!(pushed["answers"][0]["refused"].is_null(), "{pushed}");
        let left = json!([{ "type": "depends_on", "to": other["memory"] }]);
        assert_eq!(told(&site, &ada, "/v1/sync/changes?epoch=1&after=0").await, left);
    });
}

#[test]
fn a_type_that_can_be_none_is_left_out_and_holds_up_nothing() {
    with_site(|site| async move {
        let ada = site.user("ada").await;
        let key = format!("ghp_{}", "a8F3kQ0ZbX7mN2pL5vR9tY1wC4dE6gH0jK2s");
        let (mut one, other) = (create("It depends"), create("It is depended upon"));
        let link = |kind: &str| json!({ "type": kind, "to": other["memory"] });
        one["action"]["create"]["links"] = json!([link("a,b"), link(&key), link(""), link("part_of")]);
        let pushed =
            Site::ok(site.post(&ada, "/v1/sync/push", &json!({ "epoch": 1, "ops": [one, other] })).await).await;
        assert!(pushed["answers"].as_array().unwrap().iter().all(|answer| answer["refused"].is_null()), "{pushed}");
        assert_eq!(told(&site, &ada, "/v1/sync/snapshot").await, json!([link("part_of")]));
        let path = format!("/api/memories/{}/links", one["memory"].as_str().unwrap());
        let ask = |kind: &str| json!({ "target_id": other["memory"], "link_type": kind });
        let made = Site::ok(site.post(&ada, &path, &ask("Depends On")).await).await;
        assert_eq!(made["link_type"], "depends_on");
        for bad in ["a,b", "", &key] {
            let refused = site.post(&ada, &path, &ask(bad)).await;
            assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY, "{bad}");
            assert!(!refused.text().await.unwrap().contains("a8F3kQ0Z"), "{bad}");
        }
        let gone = format!("{path}/{}/depends_on", other["memory"].as_str().unwrap());
        Site::ok(site.delete(&ada, &gone, "").await).await;
        assert_eq!(told(&site, &ada, "/v1/sync/snapshot").await, json!([link("part_of")]));
    });
}
