//! What is noted of what users do, and who has heard of what was removed for good.

use serde_json::{Value, json};

use crate::secrets::{id, said};
use crate::site::{Site, with_site};
use crate::sync::id as new_id;

/// Removes a memory for good, as a machine does.
pub(crate) async fn purge(site: &Site, key: &str, memory: &str) {
    let op =
        json!({ "op_id": new_id(), "memory": memory, "base_rev": 1, "at": "2026-11-20T12:00:00Z", "action": "purge" });
    Site::ok(site.post(key, "/v1/sync/push", &json!({ "epoch": 1, "ops": [op] })).await).await;
}

#[test]
fn whoever_removes_for_good_learns_how_many_machines_of_others_have_heard_and_no_more() {
    with_site(|site| async move {
        let (ada, bob) = (site.user("ada").await, site.user("bob").await);
        site.user("eve").await;
        let memory = id(&Site::ok(site.post(&ada, "/api/memories", &json!({ "content": "Seen by two" })).await).await);
        for with in ["bob", "eve"] {
            let share = json!({ "shared_with": with });
            Site::ok(site.post(&ada, &format!("/api/memories/{memory}/share"), &share).await).await;
        }
        let asked = async |machine: &str, after: &Value| {
            let path = format!("http://{}/v1/sync/changes?epoch=1&after={after}", site.address);
            let request = site.client.get(path).bearer_auth(&bob).header("tessera-machine", machine);
            Site::ok(request.send().await.unwrap()).await["next"].clone()
        };
        let (one, two) = (asked("one", &json!(0)).await, asked("two", &json!(0)).await);
        asked("one", &one).await;
        let report = async || Site::ok(site.get(&ada, &format!("/v1/sync/purged/{memory}")).await).await;
        assert_eq!(report().await["state"], "here");
        purge(&site, &ada, &memory).await;
        let others = |report: &Value| report["others"].clone();
        let told = report().await;
        let eve = json!({ "user": "eve", "machines": 0, "confirmed": 0 });
        assert_eq!(others(&told), json!([{ "user": "bob", "machines": 2, "confirmed": 0 }, eve]), "{told}");
        let next = asked("one", &one).await;
        asked("one", &next).await;
        assert_eq!(others(&report().await)[0], json!({ "user": "bob", "machines": 2, "confirmed": 1 }));
        let next = asked("two", &two).await;
        asked("two", &next).await;
        let told = report().await;
        assert_eq!(others(&told)[0]["confirmed"], 2);
        let keys = |key: &str| key.split('_').nth(1).unwrap().to_owned();
        assert!(!told.to_string().contains(&keys(&bob)), "no key of another's: {told}");
        // A name that is none is told, and one user cannot fill the table.
        let wrong = site.client.get(format!("http://{}/v1/sync/changes?epoch=1", site.address)).bearer_auth(&bob);
        assert_eq!(wrong.header("tessera-machine", "No Name").send().await.unwrap().status(), 422);
        for number in 0..210 {
            asked(&format!("m{number}"), &json!(0)).await;
        }
        let pool = site.admin().await;
        let kept: i64 = sqlx::query_scalar("SELECT count(*) FROM fetched").fetch_one(&pool).await.unwrap();
        assert_eq!(kept, 200);
    });
}

#[test]
fn what_is_audited_is_only_added_to_and_holds_no_text() {
    with_site(|site| async move {
        let site = site.encrypting().await;
        let (ada, bob) = (site.user("ada").await, site.user("bob").await);
        let memory =
            id(&Site::ok(site.post(&ada, "/api/memories", &json!({ "content": said(), "tags": "ops" })).await).await);
        let share = json!({ "shared_with": "bob" });
        Site::ok(site.post(&ada, &format!("/api/memories/{memory}/share"), &share).await).await;
        Site::ok(site.delete(&ada, &format!("/api/memories/{memory}/share/bob"), "").await).await;
        let tag = json!({ "tag": "ops", "shared_with": "bob" });
        Site::ok(site.post(&ada, "/api/memories/share-tag", &tag).await).await;
        let answer = json!({ "owner": "ada", "tag": "ops", "accept": true });
        Site::ok(site.post(&bob, "/api/memories/invitations", &answer).await).await;
        Site::ok(site.delete_with(&ada, "/api/memories/share-tag", &tag).await).await;
        site.whole(&ada, &memory).await;
        purge(&site, &ada, &memory).await;
        site.db.revoke_key(&"ada".parse().unwrap(), ada.split('_').nth(1).unwrap()).await.unwrap();
        let expected = [
            "key_made",
            "secret_kept",
            "shared",
            "unshared",
            "tag_shared",
            "tag_unshared",
            "secret_shown",
            "purged",
            "key_revoked",
        ];
        assert_eq!(site.audited("ada").await, expected);
        assert_eq!(site.audited("bob").await, ["key_made", "invitation_answered"]);
        let all = site.db.audited(&"ada".parse().unwrap(), None).await.unwrap();
        assert!(!format!("{all:?}").contains("staging"));
        assert!(all[1].target.starts_with(&memory) && all[1].key.as_deref() == ada.split('_').nth(1));
        assert!(site.db.audited(&"ada".parse().unwrap(), Some("2999-01-01")).await.unwrap().is_empty());
        let pool = sqlx::PgPool::connect(&site.cluster.url("server")).await.unwrap();
        for (role, problem) in [("SET LOCAL ROLE tessera_app", "permission denied"), ("SELECT 1", "cannot be changed")]
        {
            for change in ["UPDATE audit SET what = 'nothing'", "DELETE FROM audit"] {
                let mut tx = pool.begin().await.unwrap();
                sqlx::query(role).execute(&mut *tx).await.unwrap();
                sqlx::query("SELECT set_config('app.user_id', 'ada', true)").execute(&mut *tx).await.unwrap();
                let error = sqlx::query(change).execute(&mut *tx).await.unwrap_err().to_string();
                assert!(error.contains(problem), "{change}: {error}");
            }
        }
    });
}
