//! Records how far each machine has read the feed. This shows which machines have received a permanent deletion.

use sqlx::Row as _;
use sqlx::postgres::PgRow;
use tessera_engine::domain::MemoryUuid;
use tessera_engine::sync::{KeyMachine, OtherUserMachines, PurgeReport};

use super::memories::uuid;
use super::verbs::{Ask as _, args};
use super::{Caller, Db, DbError, unless_overtaken};

/// The maximum number of machines per user. Machines choose their names, so there could be any number.
const MOST_MACHINES: i64 = 200;

impl Db {
    /// Records that a machine has requested the changes after a feed position. Such a machine has received all changes
    /// up to this position.
    pub(crate) async fn asked_after(&self, caller: &Caller, machine: &str, after: u64) -> Result<(), DbError> {
        unless_overtaken(|| async {
            let mut tx = self.by(caller).await?;
            let sql = "INSERT INTO fetched (user_id, key_id, machine, after, asked)
             SELECT $1, $2, $3, $4, now() WHERE $5 > (SELECT count(*) FROM fetched WHERE user_id = $1)
                 OR EXISTS (SELECT FROM fetched WHERE user_id = $1 AND key_id = $2 AND machine = $3)
             ON CONFLICT (user_id, key_id, machine) DO UPDATE SET after = excluded.after, asked = excluded.asked
             WHERE fetched.after <> excluded.after OR excluded.asked - fetched.asked > interval '1 hour'";
            let noted = tx
                .run(
                    sql,
                    args![
                        caller.user.as_str(),
                        &caller.key,
                        machine,
                        i64::try_from(after).unwrap_or(i64::MAX),
                        MOST_MACHINES
                    ],
                )
                .await?;
            // Usually nothing is new.
            if noted.rows_affected() > 0 {
                tx.commit().await?;
            }
            Ok(())
        })
        .await
    }

    /// The machines that know about a permanent deletion of the caller's memory.
    pub(crate) async fn purge_report(&self, caller: &Caller, memory: MemoryUuid) -> Result<PurgeReport, DbError> {
        let mut tx = self.by(caller).await?;
        let sql = "SELECT state FROM memories WHERE owner = $1 AND id = $2";
        let state: Option<String> = tx.maybe_value(sql, args![caller.user.as_str(), uuid(memory)]).await?;
        let state = match state.as_deref() {
            Some("purged") => "purged",
            Some(_) => "here",
            None => "unknown",
        };
        let mut report =
            PurgeReport { memory, state: state.into(), at: None, machines: Vec::new(), others: Vec::new() };
        if state != "purged" {
            return Ok(report);
        }
        report.at = tx
            .maybe_value(
                "SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') FROM purges
             WHERE owner = $1 AND memory = $2",
                args![caller.user.as_str(), uuid(memory)],
            )
            .await?;
        let sql = "SELECT f.key_id, k.label, f.machine, to_char(f.asked AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') AS asked,
                 coalesce(f.after >= (SELECT max(seq) FROM feed WHERE user_id = $1 AND owner = $1 AND memory = $2), false)
                     AS confirmed
             FROM fetched f JOIN api_keys k ON k.user_id = f.user_id AND k.key_id = f.key_id
             WHERE f.user_id = $1 ORDER BY f.key_id, f.machine";
        let machines = tx.all(sql, args![caller.user.as_str(), uuid(memory)]).await?;
        let machine = |row: &PgRow| -> Result<KeyMachine, DbError> {
            Ok(KeyMachine {
                key: row.try_get("key_id")?,
                label: row.try_get("label")?,
                machine: row.try_get("machine")?,
                confirmed: row.try_get("confirmed")?,
                asked: row.try_get("asked")?,
            })
        };
        report.machines = machines.iter().map(machine).collect::<Result<_, _>>()?;
        let sql = "SELECT who, machines, confirmed FROM machines_informed($1) ORDER BY who";
        let others = tx.all(sql, args![uuid(memory)]).await?;
        let other = |row: &PgRow| -> Result<OtherUserMachines, DbError> {
            let count = |name: &str| row.try_get::<i64, _>(name).map(i64::unsigned_abs);
            Ok(OtherUserMachines {
                user: row.try_get("who")?,
                machines: count("machines")?,
                confirmed: count("confirmed")?,
            })
        };
        report.others = others.iter().map(other).collect::<Result<_, _>>()?;
        Ok(report)
    }
}
