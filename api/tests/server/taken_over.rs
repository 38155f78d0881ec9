//! The database of an older installation, taken over where it is: every row under its number, for everybody who saw it, and
//! nothing lost without a word.

use std::path::Path;

use reqwest::StatusCode;
use serde_json::{Value, json};
use sqlx::{PgPool, Row as _};
use tessera_api::{Patience, SecretRules, Secrets, Settings, TakenOver};
use uuid::Uuid;

use crate::bao::Bao;
use crate::cluster::Cluster;
use crate::site::{Site, key_rules};

/// With a key of now, and the one that encrypted what the older system kept.
pub(crate) fn rules() -> SecretRules {
    SecretRules {
        before: vec!["correct horse battery staple".to_owned().into()],
        ..key_rules("a passphrase of the tests")
    }
}

pub(crate) async fn take(site: &Site, rules: SecretRules) -> Option<TakenOver> {
    let secrets = Secrets::open(&site.db, rules).await.unwrap();
    site.db.take_over(&secrets, |_, _| ()).await.unwrap()
}

/// Runs a test on a database of the older system, which belongs to the role that connects; its tables are aside already.
pub(crate) fn with_older<F: Future<Output = ()>>(sql: &str, test: impl FnOnce(Site) -> F) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        if let Some(cluster) = Cluster::start() {
            let dump = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/db/older-postgresql.sql");
            cluster.run_file("server", &dump);
            cluster.sql_on("tessera", sql);
            test(Site::on(cluster, Settings::default(), &Patience::default()).await).await;
        }
    });
}

/// What a user has under a number.
async fn numbered(pool: &PgPool, user: &str, number: i64) -> Option<Uuid> {
    let sql = "SELECT memory FROM feed WHERE user_id = $1 AND short_id = $2";
    sqlx::query_scalar(sql).bind(user).bind(number).fetch_optional(pool).await.unwrap()
}

async fn numbers(pool: &PgPool, user: &str) -> Vec<i64> {
    let sql = "SELECT short_id FROM feed WHERE user_id = $1 ORDER BY short_id";
    sqlx::query_scalar(sql).bind(user).fetch_all(pool).await.unwrap()
}

async fn shown(site: &Site, key: &str, id: Uuid) -> Value {
    Site::ok(site.get(key, &format!("/api/memories/{id}")).await).await
}

#[test]
fn every_row_comes_under_its_number_to_everybody_who_saw_it() {
    with_older("SELECT 1", |site| async move {
        let taken = take(&site, rules()).await.unwrap();
        let pool = site.admin().await;
        assert_eq!((taken.memories, taken.deleted, taken.with_secrets, taken.left), (17, 1, 3, 4), "{taken:#?}");
        assert_eq!((taken.shares, taken.tag_shares, taken.links), (5, 1, 2), "{taken:#?}");
        assert_eq!(numbers(&pool, "ada").await, [1, 2, 3, 5, 6, 7, 9, 12, 13, 20, 21, 33]);
        assert_eq!(numbers(&pool, "bob").await, [1, 3, 8, 14, 16, 20, 21], "shared with bob: 1, and the tag ci");
        assert_eq!(numbers(&pool, "default").await, [4]);
        assert_eq!(numbers(&pool, "zoe").await, [2]);
        let (older, name) = taken.renamed[0].clone();
        assert_eq!((older.as_str(), taken.renamed.len()), ("Élodie Müller", 1));
        assert_eq!(numbers(&pool, &name).await, [12, 15], "`Lint` is shared with her, `lint` is not");
        assert_eq!(site.db.name_of_older("Élodie Müller").await.unwrap().unwrap().as_str(), name);
        assert_eq!(taken.unknown, ["zoe"]);
        assert!(taken.remarks.iter().any(|remark| remark.contains("\"Lint\"")), "{:?}", taken.remarks);

        // By REST: texts, fields and times are what they were.
        let site = site.keeping(rules()).await;
        let (ada, bob) = (site.key("ada").await, site.key("bob").await);
        let first = shown(&site, &ada, numbered(&pool, "ada", 1).await.unwrap()).await;
        assert_eq!(first["content"], "The staging gateway listens on port 9000");
        assert_eq!((&first["tag_list"], &first["category"]), (&json!(["gateway", "ops"]), &json!("facts")));
        assert_eq!(first["keywords"], json!(["port", "staging", "gateway", "listener"]));
        assert!(first["created_at"].as_str().unwrap().starts_with("2026-03-20T10:00:00"), "{first}");
        let second = shown(&site, &ada, numbered(&pool, "ada", 2).await.unwrap()).await;
        assert_eq!(second["keywords"], json!(["svelte", "react", "user interface"]));
        assert!(second["updated_at"].as_str().unwrap().starts_with("2026-04-02T08:30:00"), "{second}");
        assert!((second["importance"].as_f64().unwrap() - 0.9).abs() < 0.001);
        let odd = shown(&site, &bob, numbered(&pool, "bob", 16).await.unwrap()).await;
        assert_eq!(odd["content"], "A note\twith tabs,\r\nlines, \"quotes\", \\ and 🦀\u{200d}");
        let many = shown(&site, &ada, numbered(&pool, "ada", 33).await.unwrap()).await;
        assert_eq!(many["tag_list"].as_array().unwrap().len(), 32);
        // A client of before asks for what came since: by the older times.
        let since = Site::ok(site.get(&ada, "/api/memories/sync?since=2026-04-20T00:00:00%2B00:00").await).await;
        let since = since["memories"].as_array().unwrap();
        assert_eq!(since.len(), 1, "{since:?}");
        assert_eq!((&since[0]["id"], &since[0]["content"]), (&json!(5), &json!("This note is forgotten")));
        assert!(since[0]["deleted_at"].as_str().unwrap().starts_with("2026-05-01T12:00:00"), "{since:?}");
        // Recall knows them by their numbers, follows what replaces what, and finds what others share.
        let question = json!({ "context": "which host is the build cache on?", "max_tokens": 400 });
        let answer = Site::ok(site.post(&bob, "/api/memories/recall", &question).await).await;
        assert_eq!(answer["details"][0]["content"], "The build cache lives on host elm", "{answer}");
        assert!(
            answer["details"][0].to_string().contains("#21") || answer["details"][0]["id"] == json!(21),
            "{answer}"
        );
        // By their numbers, which clients have: a share for writing is one, one for reading is none.
        for (number, text) in
            [(1, "The staging gateway listens on port 9000"), (3, "The crane service is deployed on Mondays")]
        {
            for key in [&ada, &bob] {
                let seen = Site::ok(site.get(key, &format!("/api/memories/{number}")).await).await;
                assert_eq!((&seen["id"], &seen["content"]), (&json!(number), &json!(text)));
            }
        }
        assert_eq!(site.get(&bob, "/api/memories/2").await.status(), StatusCode::NOT_FOUND);
        let put = site.put(&ada, "/api/memories/3", "", &json!({ "content": "On Tuesdays" })).await;
        assert_eq!(put.status(), StatusCode::OK);
        let put = site.put(&bob, "/api/memories/1", "", &json!({ "content": "Mine" })).await;
        assert_eq!(put.status(), StatusCode::FORBIDDEN);
        // What is new has a number that nobody had.
        let new = Site::ok(site.post(&ada, "/api/memories", &json!({ "content": "The quay is wet" })).await).await;
        let new: Uuid = new["uuid"].as_str().unwrap().parse().unwrap();
        assert!(numbers(&pool, "ada").await.last().unwrap() > &120 && numbered(&pool, "ada", 122).await == Some(new));
        // Somebody who comes later begins at one, and sees nothing.
        let late = site.user("late").await;
        let all = Site::ok(site.get(&late, "/v1/sync/snapshot").await).await;
        assert_eq!(all["rows"], json!([]));
        assert!(take(&site, rules()).await.unwrap().memories == 0, "done again, nothing is doubled");
        let rows: i64 = sqlx::query_scalar("SELECT count(*) FROM memories").fetch_one(&pool).await.unwrap();
        assert_eq!(rows, 18);
    });
}

#[test]
fn credentials_are_set_aside_and_opened_for_their_owner() {
    with_older("SELECT 1", |site| async move {
        // Without a place for them their rows wait, and the rest comes.
        let taken = take(&site, SecretRules::default()).await.unwrap();
        assert_eq!((taken.memories, taken.left), (14, 7), "{taken:#?}");
        let pool = site.admin().await;
        let site = site.keeping(rules()).await;
        let (ada, bob) = (site.key("ada").await, site.key("bob").await);
        let mark = Site::ok(site.get(&ada, "/v1/sync/snapshot").await).await;
        // With one they come, under their numbers, and machines that had the rest hear of it.
        let taken = take(&site, rules()).await.unwrap();
        assert_eq!((taken.memories, taken.with_secrets, taken.left), (3, 3, 4), "{taken:#?}");
        assert!(taken.renamed.is_empty() && taken.remarks.is_empty(), "that was told before: {taken:?}");
        let after = format!("/v1/sync/changes?epoch=1&after={}", mark["head"]);
        let news = Site::ok(site.get(&ada, &after).await).await;
        assert_eq!(news["news"].as_array().unwrap().len(), 2, "{news}");
        for (user, key, number, whole, shown_as) in [
            ("ada", &ada, 7, "The harbour safe opens left twelve, right forty", "Sensitive note (people)"),
            ("ada", &ada, 9, "token=abcd1234efgh5678ijkl Grüße", "[REDACTED:token]"),
            ("bob", &bob, 8, "Xk93mmQz7Lp2tt", "[secret s"),
        ] {
            let id = numbered(&pool, user, number).await.unwrap();
            let text = shown(&site, key, id).await["content"].as_str().unwrap().to_owned();
            assert!(text.contains(shown_as) && !text.contains(whole), "{number}: {text}");
            let said = site.whole(key, &id.to_string()).await;
            assert!(said.contains(whole), "{number}: {said}");
        }
        let redacted = shown(&site, &ada, numbered(&pool, "ada", 6).await.unwrap()).await;
        assert_eq!(
            redacted["content"], "The depot login is marta, [REDACTED:password]",
            "nothing is left of it anywhere"
        );
        // What is left is counted, named with its number and kept.
        let left: Vec<i64> = taken.left_rows.iter().map(|(id, _)| *id).collect();
        assert_eq!(left, [10, 30, 31, 32], "{taken:?}");
        assert!(taken.left_rows[0].1.contains("VAULT_ADDR") && taken.left_rows[2].1.contains("2097150 bytes"));
        let kept: i64 = sqlx::query_scalar("SELECT count(*) FROM older.memories").fetch_one(&pool).await.unwrap();
        assert_eq!(kept, 21);
    });
}

/// What the older system put into a vault is read there, and kept as ours are.
#[test]
fn what_lies_in_the_older_vault_is_opened() {
    with_older("SELECT 1", |site| async move {
        let Some(bao) = Bao::start().await else { return };
        let value = json!({ "data": { "content": "The dredger is paid with api_key=Wq81zzTr55PlMn30aaBb" } });
        let put = bao.order("POST", "secret/data/claude-memory/ada/mem-10", value).await;
        assert_eq!(put.0, 200, "{put:?}");
        let in_vault = || SecretRules { vault: Some(bao.config("root")), ..rules() };
        let taken = take(&site, in_vault()).await.unwrap();
        assert_eq!((taken.memories, taken.with_secrets, taken.left), (18, 4, 3), "{taken:#?}");
        let pool = site.admin().await;
        let site = site.keeping(in_vault()).await;
        let ada = site.key("ada").await;
        let id = numbered(&pool, "ada", 10).await.unwrap();
        let text = shown(&site, &ada, id).await["content"].to_string();
        assert!(text.contains("[REDACTED:api_key]") && !text.contains("Wq81zz"), "{text}");
        let whole = site.whole(&ada, &id.to_string()).await;
        assert!(whole.contains("Wq81zzTr55PlMn30aaBb"), "{whole}");
        // Whoever leaves takes it along, under its older number as well.
        let secrets = Secrets::open(&site.db, in_vault()).await.unwrap();
        site.db.remove_user(&"ada".parse().unwrap(), &secrets, None, |_, _| ()).await.unwrap();
        for path in ["mem-10".to_owned(), format!("mem-{id}")] {
            let path = format!("secret/data/claude-memory/ada/{path}");
            assert_eq!(bao.order("GET", &path, Value::Null).await.0, 404, "{path}");
        }
        let named: i64 = sqlx::query_scalar(
            "SELECT (SELECT count(*) FROM older.memories WHERE user_id = 'ada') + (SELECT count(*) FROM older.taken WHERE owner = 'ada')
                 + (SELECT count(*) FROM older.tag_shares WHERE owner_id = 'ada') + (SELECT count(*) FROM older.names WHERE name = 'ada')",
        )
        .fetch_one(&pool)
        .await
        .unwrap();
        assert_eq!(named, 0, "what was put aside is kept for nobody who is gone");
        assert!(site.db.rows_naming(&"ada".parse().unwrap()).await.unwrap().is_empty());
    });
}

/// The older tables are moved as they are, and a program of before that is started again by mistake changes none of ours.
#[test]
fn what_was_there_is_kept_as_it_was() {
    with_older("SELECT 1", |site| async move {
        let pool = site.admin().await;
        let tables = "SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
             WHERE n.nspname = 'older' AND c.relkind = 'r' ORDER BY 1";
        let tables: Vec<String> = sqlx::query_scalar(tables).fetch_all(&pool).await.unwrap();
        let expected = [
            "alembic_version",
            "concepts",
            "memories",
            "memory_concepts",
            "memory_links",
            "memory_shares",
            "names",
            "tag_shares",
        ];
        assert_eq!(tables[..8], expected, "{tables:?}");
        let row = sqlx::query(
            "SELECT (SELECT version_num FROM older.alembic_version) AS before, (SELECT version_num FROM public.alembic_version) AS now,
                 (SELECT count(*) FROM older.memories WHERE search_vector @@ to_tsquery('english', 'gateway')) AS found,
                 pg_get_serial_sequence('older.memories', 'id') AS numbers",
        )
        .fetch_one(&pool)
        .await
        .unwrap();
        assert_eq!(row.get::<&str, _>("before"), "006");
        assert_eq!(row.get::<&str, _>("now"), "taken over", "a version that no program of before knows");
        assert_eq!((row.get::<i64, _>("found"), row.get::<&str, _>("numbers")), (1, "older.memories_id_seq"));
        let theirs = "INSERT INTO memories (user_id, content) VALUES ('ada', 'written by a program of before')";
        assert!(sqlx::query(theirs).execute(&pool).await.is_err(), "it is told, and nothing is lost silently");
        // The schema may go once it is needed no more.
        take(&site, rules()).await.unwrap();
        sqlx::raw_sql("DROP SCHEMA older CASCADE").execute(&pool).await.unwrap();
        site.db.migrate().await.unwrap();
        assert!(take(&site, rules()).await.is_none() && !site.db.has_older().await.unwrap());
    });
}

/// The first version of the older system had one user and no shares.
#[test]
fn the_first_version_of_the_older_schema_is_taken_over_as_well() {
    let strip = "DROP TABLE memory_links, memory_concepts, concepts, memory_shares, tag_shares, alembic_version;
        ALTER TABLE memories DROP COLUMN user_id, DROP COLUMN is_sensitive, DROP COLUMN vault_path,
            DROP COLUMN encrypted_content, DROP COLUMN deleted_at";
    with_older(strip, |site| async move {
        let taken = take(&site, rules()).await.unwrap();
        assert_eq!((taken.memories, taken.shares, taken.left), (18, 0, 3), "{taken:#?}");
        assert_eq!(site.db.users().await.unwrap(), ["default"]);
        let pool = site.admin().await;
        assert_eq!(numbers(&pool, "default").await.len(), 18);
    });
}

/// Whatever ends it, it goes on where it was: here the database refuses in the middle, then does not.
#[test]
fn what_was_begun_is_gone_on_with_and_nothing_is_doubled() {
    let many = "INSERT INTO memories (user_id, content) SELECT 'ada', 'berth ' || n FROM generate_series(1, 450) n";
    with_older(many, |site| async move {
        let pool = site.admin().await;
        let stop = "CREATE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                 IF NEW.content = 'berth 300' THEN RAISE EXCEPTION 'stop' USING ERRCODE = '57014'; END IF;
                 RETURN NEW;
             END $$;
             CREATE TRIGGER stop BEFORE INSERT ON memories FOR EACH ROW EXECUTE FUNCTION stop()";
        sqlx::raw_sql(stop).execute(&pool).await.unwrap();
        let secrets = Secrets::open(&site.db, rules()).await.unwrap();
        let failed = site.db.take_over(&secrets, |_, _| ()).await;
        assert!(failed.is_err(), "{failed:?}");
        let count =
            async || sqlx::query_scalar::<_, i64>("SELECT count(*) FROM memories").fetch_one(&pool).await.unwrap();
        let before = count().await;
        assert!(before > 100 && before < 467, "{before}");
        sqlx::raw_sql("DROP TRIGGER stop ON memories").execute(&pool).await.unwrap();
        // Two servers that start at once.
        let progress = |_, _| ();
        let (one, other) = tokio::join!(site.db.take_over(&secrets, progress), site.db.take_over(&secrets, progress));
        let both = one.unwrap().map_or(0, |taken| taken.memories) + other.unwrap().map_or(0, |taken| taken.memories);
        assert_eq!(i64::try_from(both).unwrap() + before, 467);
        assert_eq!(count().await, 467);
        let doubled: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM (SELECT content FROM memories WHERE state = 'live' GROUP BY owner, content HAVING count(*) > 1) twice",
        )
        .fetch_one(&pool)
        .await
        .unwrap();
        assert_eq!(doubled, 0);
    });
}

/// A role that may not do it is told what is missing, before anything is done.
#[test]
fn what_is_missing_is_said_before_anything_is_done() {
    let Some(cluster) = Cluster::start() else { return };
    let dump = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/db/older-postgresql.sql");
    cluster.run_file("admin", &dump);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let db = tessera_api::Db::connect(&cluster.url("server")).await.unwrap();
        let said = db.migrate().await.unwrap_err().to_string();
        assert!(said.contains("does not own its tables") && said.contains("REASSIGN OWNED"), "{said}");
        cluster.sql_on("tessera", "CREATE ROLE plain LOGIN");
        let db = tessera_api::Db::connect(&cluster.url("plain")).await.unwrap();
        let said = db.migrate().await.unwrap_err().to_string();
        assert!(said.contains("CREATE ROLE tessera_app NOLOGIN") && said.contains("WITH ADMIN OPTION"), "{said}");
        cluster.sql_on("tessera", "ALTER ROLE plain CREATEROLE; REVOKE CREATE ON SCHEMA public FROM PUBLIC");
        let said = db.migrate().await.unwrap_err().to_string();
        assert!(said.contains("ALTER DATABASE \"tessera\" OWNER TO \"plain\""), "{said}");
        let pool = PgPool::connect(&cluster.url("admin")).await.unwrap();
        let there: i64 = sqlx::query_scalar("SELECT count(*) FROM public.memories").fetch_one(&pool).await.unwrap();
        assert_eq!(there, 21, "nothing was touched");
    });
}
