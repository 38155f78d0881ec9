//! Who is let in.

use reqwest::StatusCode;
use tessera_api::Db;
use tessera_api::NewKey;
use tessera_api::keys::Key;

use crate::site::{Site, with_site};

#[test]
fn only_a_valid_key_is_let_in_and_all_others_are_told_the_same() {
    with_site(|site| async move {
        let key = site.user("ada").await;
        let known = Site::ok(site.get(&key, "/api/auth-check").await).await;
        assert_eq!(known["user_id"], "ada");
        let stranger = Key::generate().unwrap().reveal();
        let mut wrong = Key::generate().unwrap().reveal();
        // The right id with another secret.
        let id = key.split('_').nth(1).unwrap();
        wrong = wrong.replacen(wrong.clone().split('_').nth(1).unwrap(), id, 1);
        let mut answers = Vec::new();
        for bad in [stranger.as_str(), wrong.as_str(), "", "x", &"y".repeat(100_000)] {
            let response = site.get(bad, "/api/auth-check").await;
            let status = response.status();
            // A header beyond all measure is refused by the protocol itself.
            if status == StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE {
                continue;
            }
            assert_eq!(status, StatusCode::UNAUTHORIZED, "{bad:.40}");
            answers.push(response.text().await.unwrap());
        }
        answers.dedup();
        assert_eq!(answers.len(), 1, "{answers:?}");
        let ada = "ada".parse().unwrap();
        assert!(site.db.revoke_key(&ada, id).await.unwrap());
        assert_eq!(site.get(&key, "/api/auth-check").await.status(), StatusCode::UNAUTHORIZED);
        assert!(site.db.add_key(&"nobody".parse().unwrap(), &NewKey::default()).await.is_err());
        for bad in ["", "../bob", "a b", "ё", &"a".repeat(101)] {
            assert!(bad.parse::<tessera_api::UserId>().is_err(), "{bad}");
        }
    });
}

#[test]
fn a_rotated_key_keeps_its_end_and_an_expired_one_is_not_rotated() {
    with_site(|site| async move {
        site.user("ada").await;
        let ada = "ada".parse().unwrap();
        let contractor = NewKey { days: Some(30), scopes: vec!["read".into()], label: "contractor".into() };
        let old = site.db.add_key(&ada, &contractor).await.unwrap();
        let fresh = site.db.rotate_key(&ada, old.id(), 24).await.unwrap().unwrap();
        let keys = site.db.keys(&ada).await.unwrap();
        let of = |id: &str| keys.iter().find(|key| key.id == id).unwrap();
        assert_eq!(
            (of(fresh.id()).label.as_str(), of(fresh.id()).scopes.as_slice()),
            ("contractor", ["read".into()].as_slice())
        );
        let (end, soon) = (of(fresh.id()).expires.clone().unwrap(), of(old.id()).expires.clone().unwrap());
        assert!(soon < end, "the old key ends first: {soon} {end}");
        let pool = site.admin().await;
        sqlx::query("UPDATE api_keys SET expires = now() - interval '1 minute' WHERE key_id = $1")
            .bind(fresh.id())
            .execute(&pool)
            .await
            .unwrap();
        let count = site.db.keys(&ada).await.unwrap().len();
        assert!(site.db.rotate_key(&ada, fresh.id(), 24).await.unwrap().is_none());
        site.db.revoke_key(&ada, old.id()).await.unwrap();
        assert!(site.db.rotate_key(&ada, old.id(), 24).await.unwrap().is_none());
        assert_eq!(site.db.keys(&ada).await.unwrap().len(), count, "no key was made");
    });
}

/// As the older system's own examples have them.
#[test]
fn short_keys_of_the_older_system_are_let_in() {
    with_site(|site| async move {
        for (user, key) in [("alice", "key-alice-xxx"), ("default", "dev-api-key"), ("one", "1")] {
            site.db.import_key(&user.parse().unwrap(), key).await.unwrap();
            site.db.import_key(&user.parse().unwrap(), key).await.unwrap();
            let known = Site::ok(site.get(key, "/api/auth-check").await).await;
            assert_eq!(known["user_id"], user);
        }
        for bad in ["", " ", "key-alice-xx", "tsr_x", "a\u{1}b"] {
            let imported = site.db.import_key(&"eve".parse().unwrap(), bad).await.is_ok();
            assert!(!imported || bad == "key-alice-xx", "{bad:?}");
        }
        assert_eq!(site.get("", "/api/auth-check").await.status(), StatusCode::UNAUTHORIZED);
        assert_eq!(site.get("dev-api-kex", "/api/auth-check").await.status(), StatusCode::UNAUTHORIZED);
    });
}

#[test]
fn a_database_that_is_not_safe_is_not_served() {
    with_site(|site| async move {
        let admin = Db::connect(&site.cluster.url("admin")).await.unwrap();
        assert!(admin.check().await.unwrap_err().to_string().contains("superuser"));
        let pool = sqlx::PgPool::connect(&site.cluster.url("admin")).await.unwrap();
        for table in ["memories", "feed", "api_keys", "tag_shares"] {
            let alter = |what: &str| sqlx::AssertSqlSafe(format!("ALTER TABLE {table} {what} ROW LEVEL SECURITY"));
            sqlx::query(alter("NO FORCE")).execute(&pool).await.unwrap();
            assert!(site.db.check().await.unwrap_err().to_string().contains(table));
            sqlx::query(alter("FORCE")).execute(&pool).await.unwrap();
            site.db.check().await.unwrap();
        }
        // What a request's role may do beside, and what lets it in beside.
        for (change, back, said) in [
            ("CREATE POLICY more ON feed USING (true)", "DROP POLICY more ON feed", "lets everybody in"),
            (
                "CREATE POLICY more ON audit FOR INSERT WITH CHECK (true)",
                "DROP POLICY more ON audit",
                "lets everybody in",
            ),
            (
                "GRANT TRUNCATE ON memories TO tessera_app",
                "REVOKE TRUNCATE ON memories FROM tessera_app",
                "may empty memories",
            ),
            ("ALTER ROLE tessera_app CREATEROLE", "ALTER ROLE tessera_app NOCREATEROLE", "administrator"),
        ] {
            sqlx::query(change).execute(&pool).await.unwrap();
            let refused = site.db.check().await.unwrap_err().to_string();
            assert!(refused.contains(said), "{change}: {refused}");
            sqlx::query(back).execute(&pool).await.unwrap();
            site.db.check().await.unwrap();
        }
    });
}
