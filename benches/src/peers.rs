//! The peers: SQLite FTS5 without stop words in the query, and tantivy with the same blend of importance, recency and
//! use.

use rusqlite::Connection;
use tantivy::collector::TopDocs;
use tantivy::columnar::Column;
use tantivy::query::QueryParser;
use tantivy::schema::{FAST, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{Language, LowerCaser, SimpleTokenizer, Stemmer, TextAnalyzer};
use tantivy::{DocId, Index, IndexReader, Score, SegmentReader, doc};
use tessera_engine::text::is_stop_word;

use crate::Note;

fn content_words(query: &str) -> Vec<&str> {
    query.split(' ').filter(|word| !is_stop_word(word)).collect()
}

/// A full-text table in a file.
#[derive(Debug)]
pub struct Fts5 {
    connection: Connection,
    _dir: tempfile::TempDir,
}

impl Fts5 {
    /// Fills a table with notes.
    pub fn with(notes: &[Note]) -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let mut connection = Connection::open(dir.path().join("fts.db")).expect("a database");
        let schema = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
            CREATE VIRTUAL TABLE notes USING fts5(body, tokenize = 'porter unicode61')";
        connection.execute_batch(schema).expect("a schema");
        let tx = connection.transaction().expect("a transaction");
        for note in notes {
            tx.execute("INSERT INTO notes (body) VALUES (?1)", [&note.text]).expect("a row");
        }
        tx.commit().expect("a commit");
        Self { connection, _dir: dir }
    }

    /// The twenty best rows for a question.
    pub fn search(&self, query: &str) -> usize {
        let quoted: Vec<String> = content_words(query).iter().map(|word| format!("\"{word}\"")).collect();
        let sql = "SELECT rowid FROM notes WHERE notes MATCH ?1 ORDER BY rank LIMIT 20";
        let mut statement = self.connection.prepare_cached(sql).expect("a statement");
        let rows = statement.query_map([quoted.join(" OR ")], |row| row.get::<_, i64>(0)).expect("rows");
        rows.filter_map(Result::ok).count()
    }

    /// Adds a row in its own transaction.
    pub fn insert(&self, text: &str) {
        self.connection.execute("INSERT INTO notes (body) VALUES (?1)", [text]).expect("a row");
    }
}

/// A tantivy index in a directory.
pub struct Tantivy {
    index: Index,
    reader: IndexReader,
    parser: QueryParser,
    _dir: tempfile::TempDir,
}

impl std::fmt::Debug for Tantivy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tantivy").field("index", &self.index).finish_non_exhaustive()
    }
}

impl Tantivy {
    /// Fills an index with notes.
    pub fn with(notes: &[Note]) -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let indexing =
            TextFieldIndexing::default().set_tokenizer("english").set_index_option(IndexRecordOption::WithFreqs);
        let mut schema = Schema::builder();
        let body = schema.add_text_field("body", TextOptions::default().set_indexing_options(indexing));
        let importance = schema.add_u64_field("importance", FAST);
        let age = schema.add_u64_field("age", FAST);
        let accesses = schema.add_u64_field("accesses", FAST);
        let index = Index::create_in_dir(dir.path(), schema.build()).expect("an index");
        let analyzer = TextAnalyzer::builder(SimpleTokenizer::default())
            .filter(LowerCaser)
            .filter(Stemmer::new(Language::English))
            .build();
        index.tokenizers().register("english", analyzer);
        let mut writer = index.writer_with_num_threads(1, 50_000_000).expect("a writer");
        for note in notes {
            let row = doc!(body => note.text.as_str(), importance => u64::from(note.importance),
                age => u64::from(note.age_minutes), accesses => u64::from(note.accesses));
            writer.add_document(row).expect("a row");
        }
        writer.commit().expect("a commit");
        writer.wait_merging_threads().expect("merges");
        let reader = index.reader().expect("a reader");
        let parser = QueryParser::for_index(&index, vec![body]);
        Self { index, reader, parser, _dir: dir }
    }

    /// Ranks the twenty best rows for a question, with importance, recency and access count of every match.
    pub fn search(&self, query: &str) -> usize {
        let query = self.parser.parse_query(&content_words(query).join(" ")).expect("plain words");
        let blend = |segment: &SegmentReader| {
            let fast = |name: &str| -> Column<u64> { segment.fast_fields().u64(name).expect("a fast field") };
            let (importance, age, accesses) = (fast("importance"), fast("age"), fast("accesses"));
            move |doc: DocId, score: Score| {
                let value = |column: &Column<u64>| column.first(doc).unwrap_or(0) as f32;
                let recency = (-value(&age) / 43_200.0).exp2();
                score * (1.0 + 0.0015 * value(&importance) + 0.1 * recency + 0.01 * (1.0 + value(&accesses)).ln())
            }
        };
        let top = TopDocs::with_limit(20).tweak_score(blend);
        self.reader.searcher().search(&query, &top).expect("a search").len()
    }
}
