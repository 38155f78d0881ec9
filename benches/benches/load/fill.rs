//! The memories of the users, in the tables of Tessera's server and in those of the plain one.

use sqlx::{AssertSqlSafe, PgPool};
use tessera_benches::Note;
use tessera_engine::Timestamp;
use tessera_engine::compose::{Beside, carried, memory_of};
use tessera_engine::domain::{Importance, MemoryUuid};
use tessera_engine::embedding::{Encoder, embeddings};
use tessera_engine::pack::Passage;
use tessera_engine::text::O200k;

/// The columns of a note that recall needs, as the server writes them.
pub(crate) struct Row {
    text: String,
    importance: i16,
    summary: String,
    length: i32,
    signature: i64,
    forward: Vec<u8>,
    costs: Vec<i32>,
    passages: Vec<u8>,
    embedding: Vec<u8>,
}

impl Row {
    pub(crate) fn of(note: &Note) -> Self {
        let document = tessera_engine::sync::Document {
            content: note.text.clone().try_into().unwrap(),
            tags: [].into(),
            links: [].into(),
            details: tessera_engine::sync::Details {
                category: "facts".to_owned().try_into().unwrap(),
                kind: tessera_engine::domain::MemoryType::Fact,
                importance: Importance::from_percent(note.importance),
                keywords: Vec::new(),
                entities: Vec::new(),
                scope: tessera_engine::domain::Scope::Global,
                created: Timestamp::from_micros(1_790_000_000_000_000),
                expires: None,
                owner_trust: None,
                origin: tessera_engine::domain::Origin::Agent,
                session: None,
                conflict_of: None,
                metadata: None,
                file: None,
            },
        };
        let composed = carried(memory_of(&document, Beside::of(MemoryUuid::from_key(&note.text))), &O200k);
        Self {
            importance: i16::from(note.importance),
            summary: composed.memory().summary.clone(),
            length: i32::from(composed.length()),
            signature: composed.signature().cast_signed(),
            forward: composed.forward().to_vec(),
            costs: composed.costs().kept().map(u32::cast_signed).to_vec(),
            passages: Passage::encode_all(&composed.costs().passages),
            text: note.text.clone(),
            embedding: Vec::new(),
        }
    }
}

/// Adds embeddings in the form in which the server stores them. All users have the same notes, so each is encoded once.
pub(crate) fn add_embeddings(rows: &mut [Row]) {
    let half = rows.len().div_ceil(2).max(1);
    std::thread::scope(|scope| {
        for some in rows.chunks_mut(half) {
            scope.spawn(|| {
                for batch in some.chunks_mut(16) {
                    let texts: Vec<&str> = batch.iter().map(|row| row.text.as_str()).collect();
                    let made: Vec<_> = embeddings(Encoder::shared(), &texts, || true);
                    batch.iter_mut().zip(made).for_each(|(row, embedding)| row.embedding = embedding.into_bytes());
                }
            });
        }
    });
}

/// Every user gets the same notes with different UUIDs, because results depend only on the user's own rows.
pub(crate) async fn fill(admin: &PgPool, users: usize, rows: &[Row]) {
    sqlx::query(
        "CREATE TABLE notes (n int PRIMARY KEY, content text, importance smallint, summary text, length int,
         signature bigint, forward bytea, costs int[], passages bytea, embedding bytea)",
    )
    .execute(admin)
    .await
    .unwrap();
    for (n, row) in rows.iter().enumerate() {
        sqlx::query("INSERT INTO notes VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)")
            .bind(i32::try_from(n).unwrap() + 1)
            .bind(&row.text)
            .bind(row.importance)
            .bind(&row.summary)
            .bind(row.length)
            .bind(row.signature)
            .bind(&row.forward)
            .bind(&row.costs)
            .bind(&row.passages)
            .bind(&row.embedding)
            .execute(admin)
            .await
            .unwrap();
    }
    for user in 0..users {
        let name = format!("user{user}");
        sqlx::query(
            "INSERT INTO memories (owner, id, rev, content_rev, details_at, state, content, tags, category, type, importance,
                 keywords, entities, links, scope, created, origin, updated, summary, is_instruction, length, signature, forward,
                 costs, passages, embedding, embedding_rev, related)
             SELECT $1, md5($1 || n)::uuid, 1, 1, 0, 'live', content, '{}', 'facts', 'fact', importance,
                 '{}', '{}', '{}', 'global', 1790000000000000, 'agent', 1790000000000000, summary, false, length, signature,
                 forward, costs, passages, embedding, 1, true FROM notes",
        )
        .bind(&name)
        .execute(admin)
        .await
        .unwrap();
        sqlx::query(
            "INSERT INTO feed (user_id, memory, owner, seq, short_id) SELECT $1, md5($1 || n)::uuid, $1, n, n FROM \
            notes",
        )
        .bind(&name)
        .execute(admin)
        .await
        .unwrap();
        sqlx::query("INSERT INTO user_seq SELECT $1, max(n) FROM notes").bind(&name).execute(admin).await.unwrap();
        sqlx::query("INSERT INTO checkpoints SELECT $1, max(n) FROM notes").bind(&name).execute(admin).await.unwrap();
    }
    for statement in [
        "CREATE TABLE plain AS SELECT owner AS whose, id, content, to_tsvector('english', content) AS words FROM \
        memories",
        "CREATE INDEX plain_words ON plain USING gin (words)",
        "CREATE INDEX plain_owner ON plain (whose)",
        "CREATE TABLE plain_keys (hash bytea PRIMARY KEY, whose text NOT NULL)",
        "GRANT SELECT, INSERT ON plain, plain_keys TO server",
        "VACUUM ANALYZE memories",
        "VACUUM ANALYZE feed",
        "VACUUM ANALYZE plain",
    ] {
        sqlx::query(AssertSqlSafe(statement)).execute(admin).await.unwrap();
    }
}
