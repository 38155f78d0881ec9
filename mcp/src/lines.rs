//! JSON-RPC over lines. Every request gets an answer, even if it cannot be parsed.

use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use tessera_desk::json::whole_characters;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;

/// Error codes of JSON-RPC.
const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const INVALID_PARAMS: i32 = -32602;

/// A client that is connected through two streams, with one message per line.
pub(crate) struct Lines<R, W> {
    read: BufReader<R>,
    /// The part of a line read so far. It is kept because `receive` may be cancelled in the middle of a line.
    line: Vec<u8>,
    write: Arc<Mutex<W>>,
}

impl<R: AsyncRead, W: AsyncWrite + Send + Unpin + 'static> Lines<R, W> {
    pub(crate) fn of((read, write): (R, W)) -> Self {
        Self { read: BufReader::new(read), line: Vec::new(), write: Arc::new(Mutex::new(write)) }
    }
}

/// Writes a complete line, even with concurrent writers.
async fn tell<W: AsyncWrite + Unpin>(write: Arc<Mutex<W>>, line: serde_json::Result<Vec<u8>>) -> io::Result<()> {
    let mut line = line?;
    line.push(b'\n');
    let mut write = write.lock().await;
    write.write_all(&line).await?;
    write.flush().await
}

impl<R: AsyncRead + Send + Unpin, W: AsyncWrite + Send + Unpin + 'static> Transport<RoleServer> for Lines<R, W> {
    type Error = io::Error;

    fn send(&mut self, item: TxJsonRpcMessage<RoleServer>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        tell(Arc::clone(&self.write), serde_json::to_vec(&item))
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let read = self.read.read_until(b'\n', &mut self.line).await;
            let is_last = self.line.last() != Some(&b'\n');
            if read.is_err() || (is_last && self.line.is_empty()) {
                return None;
            }
            let line = std::mem::take(&mut self.line);
            match message(&line) {
                Ok(message) => return Some(message),
                Err(Unread::ToNobody(problem)) => tracing::debug!(problem, "skipped a line"),
                Err(Unread::ToBeTold(answer)) => {
                    // A separate task finishes the line even if this call is cancelled.
                    let told = tokio::spawn(tell(Arc::clone(&self.write), serde_json::to_vec(&answer)));
                    if is_last {
                        // An error means that the client has stopped reading.
                        drop(told.await);
                    }
                }
            }
            if is_last {
                return None;
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.write.lock().await.shutdown().await
    }
}

/// The reason why a line is not a message.
enum Unread {
    /// The line expects no answer.
    ToNobody(String),
    /// The answer to the line.
    ToBeTold(Value),
}

fn message(line: &[u8]) -> Result<RxJsonRpcMessage<RoleServer>, Unread> {
    let text = String::from_utf8_lossy(line);
    let text = whole_characters(text.trim_start_matches('\u{feff}').trim());
    if text.is_empty() {
        return Err(Unread::ToNobody("it is empty".to_owned()));
    }
    let refused = |id: Value, code: i32, problem: String| {
        Unread::ToBeTold(json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": problem } }))
    };
    let value: Value = serde_json::from_str(&text)
        .map_err(|error| refused(Value::Null, PARSE_ERROR, format!("The line is not JSON: {error}")))?;
    let id = value.get("id").cloned().unwrap_or_default();
    if value.get("method").and_then(Value::as_str) == Some("tools/call")
        && let Some(problem) = problem_of_call(value.get("params"))
    {
        return Err(refused(id, INVALID_PARAMS, problem));
    }
    serde_json::from_value(value).map_err(|error| match id {
        Value::Null => Unread::ToNobody(error.to_string()),
        id => refused(id, INVALID_REQUEST, format!("The line is not an MCP (JSON-RPC) message: {error}")),
    })
}

/// Checks the parameters of a call. Without this check, rmcp would answer that the method does not exist.
fn problem_of_call(params: Option<&Value>) -> Option<String> {
    let Some(params) = params.and_then(Value::as_object) else {
        return Some("params is missing or not an object; use {\"name\": …, \"arguments\": {…}}".to_owned());
    };
    if !params.get("name").is_some_and(Value::is_string) {
        return Some("params.name is missing or not text; use the name of a tool".to_owned());
    }
    let arguments = params.get("arguments").filter(|arguments| !arguments.is_null() && !arguments.is_object());
    arguments.map(|_| "params.arguments is not an object; use {\"argument\": value}".to_owned())
}
