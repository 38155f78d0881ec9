//! A client of the older API as its documents describe it: a cache of its own, a queue for what the server has not heard of,
//! and a sync that pushes, pulls, and now and then takes the server's word for everything.

use std::collections::{BTreeMap, BTreeSet};

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::site::Site;

/// How often an op of the queue is tried.
const MOST_TRIES: u32 = 5;

/// A row of the cache.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cached {
    pub(super) server_id: Option<i64>,
    pub(super) content: String,
    pub(super) tags: String,
    pub(super) keywords: String,
    pub(super) importance: f64,
    pub(super) is_sensitive: bool,
}

#[derive(Debug, Clone)]
enum Op {
    Store(Value),
    Delete(i64),
}

/// A machine of a user.
pub(super) struct Machine<'a> {
    site: &'a Site,
    key: String,
    pub(super) is_online: bool,
    pub(super) rows: BTreeMap<i64, Cached>,
    next: i64,
    queue: Vec<(Op, u32)>,
    since: Option<String>,
    pub(super) auth_failed: bool,
}

/// Why a request did nothing.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Failed {
    Offline,
    Status(u16),
}

impl<'a> Machine<'a> {
    pub(super) fn new(site: &'a Site, key: &str) -> Self {
        Self {
            site,
            key: key.to_owned(),
            is_online: true,
            rows: BTreeMap::new(),
            next: 1,
            queue: Vec::new(),
            since: None,
            auth_failed: false,
        }
    }

    /// One request, with the headers that the older client sends and no others.
    pub(super) async fn ask(&self, method: Method, path: &str, body: Option<Value>) -> Result<Value, Failed> {
        if !self.is_online {
            return Err(Failed::Offline);
        }
        let request = self.site.client.request(method, format!("http://{}{path}", self.site.address));
        let request = request.bearer_auth(&self.key).header("content-type", "application/json");
        let request = match body {
            Some(body) => request.body(body.to_string()),
            None => request,
        };
        let response = request.send().await.unwrap();
        match response.status() {
            StatusCode::OK => Ok(response.json().await.unwrap()),
            status => Err(Failed::Status(status.as_u16())),
        }
    }

    pub(super) fn queued(&self) -> usize {
        self.queue.len()
    }

    pub(super) fn texts(&self) -> Vec<&str> {
        let mut texts: Vec<&str> = self.rows.values().map(|row| row.content.as_str()).collect();
        texts.sort_unstable();
        texts
    }

    /// The number here of a row of this text.
    pub(super) fn of_text(&self, content: &str) -> i64 {
        *self.rows.iter().find(|(_, row)| row.content == content).unwrap().0
    }

    pub(super) fn server_id(&self, content: &str) -> i64 {
        self.rows[&self.of_text(content)].server_id.unwrap()
    }

    /// Written here first, then sent at once; queued where that fails.
    pub(super) async fn store(&mut self, content: &str, tags: &str) -> i64 {
        let local = self.next;
        self.next += 1;
        let row = Cached {
            server_id: None,
            content: content.to_owned(),
            tags: tags.to_owned(),
            keywords: String::new(),
            importance: 0.5,
            is_sensitive: false,
        };
        self.rows.insert(local, row);
        let mut body = json!({ "content": content, "category": "facts", "tags": tags, "expanded_keywords": "",
            "importance": 0.5, "force_sensitive": false });
        if let Ok(stored) = self.ask(Method::POST, "/api/memories", Some(body.clone())).await {
            self.rows.get_mut(&local).unwrap().server_id = stored["id"].as_i64();
        } else {
            body["local_id"] = json!(local);
            self.queue.push((Op::Store(body), 0));
        }
        local
    }

    /// Deleted here first; the server hears of it at once or later.
    pub(super) async fn delete(&mut self, local: i64) {
        let Some(server_id) = self.rows.remove(&local).unwrap().server_id else { return };
        match self.ask(Method::DELETE, &format!("/api/memories/{server_id}"), None).await {
            Ok(_) | Err(Failed::Status(404)) => {}
            Err(_) => self.queue.push((Op::Delete(server_id), 0)),
        }
    }

    /// As the client begins: everything is compared, then the queue is sent.
    pub(super) async fn start(&mut self) {
        let _ = self.resync().await;
        self.sync().await;
    }

    /// Push and pull, neither waiting for the other.
    pub(super) async fn sync(&mut self) {
        self.push().await;
        let _ = self.pull().await;
    }

    async fn push(&mut self) {
        for (op, tries) in std::mem::take(&mut self.queue) {
            if self.auth_failed {
                self.queue.push((op, tries));
                continue;
            }
            let sent = match &op {
                Op::Store(body) => self.ask(Method::POST, "/api/memories", Some(body.clone())).await,
                Op::Delete(server_id) => self.ask(Method::DELETE, &format!("/api/memories/{server_id}"), None).await,
            };
            match (sent, &op) {
                (Ok(stored), Op::Store(body)) => {
                    if let Some(row) = self.rows.get_mut(&body["local_id"].as_i64().unwrap()) {
                        row.server_id = stored["id"].as_i64();
                    }
                }
                (Ok(_), Op::Delete(_)) => {}
                (Err(Failed::Status(401 | 403)), _) => {
                    self.auth_failed = true;
                    self.queue.push((op, tries));
                }
                (Err(_), _) if tries + 1 < MOST_TRIES => self.queue.push((op, tries + 1)),
                (Err(_), _) => {}
            }
        }
    }

    /// What changed since the last time; the server wins.
    pub(super) async fn pull(&mut self) -> Result<(), Failed> {
        let since = self.since.as_deref().map(|since| format!("?since={}", since.replace('+', "%2B")));
        let path = format!("/api/memories/sync{}", since.unwrap_or_default());
        let page = self.ask(Method::GET, &path, None).await?;
        for row in page["memories"].as_array().unwrap() {
            let server_id = row["id"].as_i64().unwrap();
            if row["deleted_at"].is_string() {
                self.rows.retain(|_, known| known.server_id != Some(server_id));
            } else {
                self.take(row);
            }
        }
        self.since = page["server_time"].as_str().map(str::to_owned);
        Ok(())
    }

    /// The whole of it: what the server has not is sent, what it has no more is dropped, and all it has is taken.
    pub(super) async fn resync(&mut self) -> Result<(), Failed> {
        self.push_orphans().await?;
        let page = self.ask(Method::GET, "/api/memories/sync", None).await?;
        let rows = page["memories"].as_array().unwrap();
        let there: BTreeSet<i64> = rows.iter().map(|row| row["id"].as_i64().unwrap()).collect();
        self.rows.retain(|_, row| row.server_id.is_some_and(|id| there.contains(&id)));
        rows.iter().for_each(|row| self.take(row));
        self.since = page["server_time"].as_str().map(str::to_owned);
        Ok(())
    }

    /// What the server has no number for, unless it says the very same already.
    async fn push_orphans(&mut self) -> Result<(), Failed> {
        let orphans: Vec<i64> =
            self.rows.iter().filter(|(_, row)| row.server_id.is_none()).map(|(id, _)| *id).collect();
        if orphans.is_empty() {
            return Ok(());
        }
        let page = self.ask(Method::GET, "/api/memories/sync", None).await?;
        let texts: BTreeSet<&str> =
            page["memories"].as_array().unwrap().iter().map(|row| row["content"].as_str().unwrap()).collect();
        for orphan in orphans {
            let row = self.rows[&orphan].clone();
            if texts.contains(row.content.as_str()) {
                continue;
            }
            let body = json!({ "content": row.content, "category": "facts", "tags": row.tags,
                "expanded_keywords": row.keywords, "importance": row.importance });
            if let Ok(stored) = self.ask(Method::POST, "/api/memories", Some(body)).await {
                self.rows.get_mut(&orphan).unwrap().server_id = stored["id"].as_i64();
            }
        }
        Ok(())
    }

    /// Puts a row of the server in the place of the one here. Each field is what a column of the cache takes.
    fn take(&mut self, row: &Value) {
        let text =
            |field: &str| row[field].as_str().unwrap_or_else(|| panic!("{field} is no text in {row}")).to_owned();
        let taken = Cached {
            server_id: row["id"].as_i64(),
            content: text("content"),
            tags: text("tags"),
            keywords: text("expanded_keywords"),
            importance: row["importance"].as_f64().unwrap(),
            is_sensitive: row["is_sensitive"].as_bool().unwrap(),
        };
        assert!(text("category").len() + text("created_at").len() + text("updated_at").len() > 0);
        let known = self.rows.iter().find(|(_, known)| known.server_id == taken.server_id).map(|(local, _)| *local);
        let local = known.unwrap_or(self.next);
        self.next = self.next.max(local + 1);
        self.rows.insert(local, taken);
    }
}
