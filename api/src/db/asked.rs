//! Looks up API keys and the feed positions of their users. Every request begins with this look-up. One SQL statement
//! looks up the keys of all waiting requests, on a connection of its own.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{Connection as _, Row as _};
use tessera_engine::sync::Checkpoint;
use tokio::sync::{mpsc, oneshot};

use super::{DbError, Position, UserId};

/// Keys of one statement.
const MOST: usize = 64;
/// The maximum number of waiting requests.
const WAITING: usize = 1024;

/// The stored data of a key.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    /// The user of the key; `None` if the key is unknown, revoked or expired.
    pub(super) user: Option<UserId>,
    pub(super) hash: Vec<u8>,
    pub(super) scopes: Vec<String>,
    /// The user's position in the change feed, read after the request arrived.
    pub(super) at: Position,
}

type Answer = Result<Known, DbError>;

/// Looks up keys. Ends with the last clone.
#[derive(Debug, Clone)]
pub(super) struct Lookup(mpsc::Sender<(String, oneshot::Sender<Answer>)>);

impl Lookup {
    /// Runs on the caller's runtime. Connects at the first look-up, and again after the connection was lost.
    pub(super) fn new(options: PgConnectOptions, patience: Duration) -> Self {
        let (ask, asked) = mpsc::channel(WAITING);
        tokio::spawn(Worker { options, patience, connection: None }.work(asked));
        Self(ask)
    }

    /// Looks up the key with this ID.
    pub(super) async fn of(&self, key_id: &str) -> Answer {
        let (answer, answered) = oneshot::channel();
        let gone = |_| DbError::Sql(sqlx::Error::WorkerCrashed);
        self.0.send((key_id.to_owned(), answer)).await.map_err(|_| DbError::Sql(sqlx::Error::WorkerCrashed))?;
        answered.await.map_err(gone)?
    }
}

struct Worker {
    options: PgConnectOptions,
    patience: Duration,
    connection: Option<PgConnection>,
}

impl Worker {
    async fn work(mut self, mut asked: mpsc::Receiver<(String, oneshot::Sender<Answer>)>) {
        let mut some = Vec::new();
        while asked.recv_many(&mut some, MOST).await > 0 {
            let mut waiting: HashMap<String, Vec<oneshot::Sender<Answer>>> = HashMap::new();
            for (key, answer) in some.drain(..) {
                waiting.entry(key).or_default().push(answer);
            }
            let keys: Vec<String> = waiting.keys().cloned().collect();
            let found = self.look_up(&keys).await.map_err(Arc::new);
            for (key, answers) in waiting {
                let of_key = || match &found {
                    Ok(found) => found.get(&key).cloned().ok_or_else(|| DbError::Row("the key look-up failed".into())),
                    Err(error) => Err(DbError::Shared(Arc::clone(error))),
                };
                // A caller who left needs no answer.
                answers.into_iter().for_each(|answer| drop(answer.send(of_key())));
            }
        }
    }

    async fn look_up(&mut self, keys: &[String]) -> Result<HashMap<String, Known>, DbError> {
        if let Some(mut connection) = self.connection.take()
            && let Ok(found) = self.in_time(read(&mut connection, keys)).await
        {
            self.connection = Some(connection);
            return Ok(found);
        }
        // The connection may be dead. The look-up changes nothing, so it is tried once more.
        let connecting = async { Ok(PgConnection::connect_with(&self.options).await?) };
        let mut connection = self.in_time(connecting).await?;
        let found = self.in_time(read(&mut connection, keys)).await?;
        self.connection = Some(connection);
        Ok(found)
    }

    /// All waiting requests need this look-up, so a database that does not answer must not block it.
    async fn in_time<T>(&self, what: impl Future<Output = Result<T, DbError>>) -> Result<T, DbError> {
        tokio::time::timeout(self.patience, what).await.unwrap_or(Err(DbError::Sql(sqlx::Error::PoolTimedOut)))
    }
}

async fn read(connection: &mut PgConnection, keys: &[String]) -> Result<HashMap<String, Known>, DbError> {
    let rows = sqlx::query("SELECT * FROM presented_keys($1)").bind(keys).fetch_all(connection).await?;
    let number = |value: Option<i64>| u64::try_from(value.unwrap_or(0)).unwrap_or(0);
    let mut found = HashMap::with_capacity(rows.len());
    for row in rows {
        let (head, stamp): (Option<i64>, Option<i64>) = (row.try_get("head")?, row.try_get("stamp")?);
        let head = number(head);
        let checkpoint = stamp.map(|stamp| Checkpoint { seq: head, stamp });
        let user: Option<String> = row.try_get("key_user")?;
        let known = Known {
            // Many requests wait for this reply. One invalid name must not fail all of them.
            user: user.and_then(|name| name.parse().ok()),
            hash: row.try_get::<Option<_>, _>("key_hash")?.unwrap_or_default(),
            scopes: row.try_get::<Option<_>, _>("key_scopes")?.unwrap_or_default(),
            at: Position { epoch: number(row.try_get("epoch")?), head, checkpoint, common: None },
        };
        found.insert(row.try_get("key_id")?, known);
    }
    Ok(found)
}
