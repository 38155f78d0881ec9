//! A scripted stand-in for the model: the Messages API as far as the client uses it.

use std::sync::{Arc, Mutex};
use std::thread;

use axum::Router;
use axum::extract::{Json, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};

/// One request of the client, as the model sees it.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) body: Value,
}

/// A block of the model's answer.
#[derive(Debug, Clone)]
pub(crate) enum Block {
    Text(String),
    Call(String, Value),
}

/// The model's answer.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    blocks: Vec<Block>,
    input_tokens: u64,
}

/// What the model does.
pub(crate) type Script = Box<dyn FnMut(&Asked) -> Answer + Send>;

impl Answer {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self { blocks: vec![Block::Text(text.into())], input_tokens: 100 }
    }

    pub(crate) fn call(tool: impl Into<String>, input: Value) -> Self {
        Self { blocks: vec![Block::Call(tool.into(), input)], input_tokens: 100 }
    }

    fn message(&self, model: &Value) -> Value {
        let block = |(at, block): (usize, &Block)| match block {
            Block::Text(text) => json!({ "type": "text", "text": text }),
            Block::Call(name, input) => {
                json!({ "type": "tool_use", "id": format!("toolu_{at}_{:08x}", fastrand::u32(..)), "name": name, "input": input })
            }
        };
        let calls = self.blocks.iter().any(|block| matches!(block, Block::Call(..)));
        json!({
            "id": format!("msg_{:08x}", fastrand::u32(..)), "type": "message", "role": "assistant", "model": model,
            "content": self.blocks.iter().enumerate().map(block).collect::<Vec<_>>(),
            "stop_reason": if calls { "tool_use" } else { "end_turn" }, "stop_sequence": null,
            "usage": { "input_tokens": self.input_tokens, "cache_creation_input_tokens": 0,
                       "cache_read_input_tokens": 0, "output_tokens": 20 },
        })
    }
}

impl Asked {
    fn messages(&self) -> impl DoubleEndedIterator<Item = &Value> {
        self.body["messages"].as_array().unwrap().iter()
    }

    /// Everything the model sees: system prompt and messages.
    pub(crate) fn everything(&self) -> String {
        let messages = self.messages().map(|message| flat(&message["content"]));
        [flat(&self.body["system"])].into_iter().chain(messages).collect::<Vec<_>>().join("\n")
    }

    /// The memories that hooks put before the model, each block once for every time it stands there.
    pub(crate) fn injected(&self) -> Vec<String> {
        let all: String =
            self.messages().filter(|m| m["role"] != "assistant").map(|m| flat_text(&m["content"])).collect();
        all.split("<memories>")
            .skip(1)
            .map(|rest| rest.split("</memories>").next().unwrap().trim().to_owned())
            .collect()
    }

    /// The last message of the person or a tool.
    pub(crate) fn last(&self) -> String {
        let last = self.messages().rfind(|message| message["role"] == "user");
        last.map_or_else(String::new, |message| flat(&message["content"]))
    }

    /// True when the model is given the result of a tool.
    pub(crate) fn is_tool_result(&self) -> bool {
        let core = self.messages().rfind(|message| message["role"] != "system").unwrap();
        core["content"].as_array().is_some_and(|blocks| blocks.iter().any(|block| block["type"] == "tool_result"))
    }

    pub(crate) fn model(&self) -> &str {
        self.body["model"].as_str().unwrap_or("")
    }
}

fn flat(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let one = |block: &Value| match block["type"].as_str() {
                Some("tool_result") => flat(&block["content"]),
                _ => block["text"].as_str().unwrap_or("").to_owned(),
            };
            blocks.iter().map(one).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// Without results of tools: those were asked for.
fn flat_text(content: &Value) -> String {
    match content {
        Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n"),
        other => other.as_str().unwrap_or("").to_owned(),
    }
}

#[derive(Clone)]
struct Shared {
    script: Arc<Mutex<Script>>,
    asked: Arc<Mutex<Vec<Asked>>>,
}

/// A running endpoint. It ends with the process.
pub(crate) struct Endpoint {
    pub(crate) address: String,
    shared: Shared,
}

impl Endpoint {
    pub(crate) fn start() -> Self {
        let script: Script = Box::new(|_| Answer::text("done"));
        let shared = Shared { script: Arc::new(Mutex::new(script)), asked: Arc::default() };
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new()
            .route("/v1/messages", post(messages))
            .route("/", get(|| async { "" }))
            .fallback(|| async { axum::http::StatusCode::NOT_FOUND })
            .with_state(shared.clone());
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                axum::serve(listener, router).await.unwrap();
            });
        });
        Self { address, shared }
    }

    /// Sets what the model does from now on.
    pub(crate) fn script(&self, script: impl FnMut(&Asked) -> Answer + Send + 'static) {
        *self.shared.script.lock().unwrap() = Box::new(script);
    }

    /// The requests since the last time this was asked.
    pub(crate) fn take(&self) -> Vec<Asked> {
        std::mem::take(&mut *self.shared.asked.lock().unwrap())
    }

    pub(crate) fn count(&self) -> usize {
        self.shared.asked.lock().unwrap().len()
    }
}

async fn messages(State(shared): State<Shared>, Json(body): Json<Value>) -> Response {
    let asked = Asked { body };
    let answer = {
        let mut script = shared.script.lock().unwrap();
        shared.asked.lock().unwrap().push(asked.clone());
        script(&asked)
    };
    let message = answer.message(&asked.body["model"]);
    if asked.body["stream"] != true {
        return Json(message).into_response();
    }
    ([(CONTENT_TYPE, "text/event-stream")], stream(&message)).into_response()
}

fn stream(message: &Value) -> String {
    let event = |name: &str, data: Value| format!("event: {name}\ndata: {data}\n\n");
    let mut head = message.clone();
    head["content"] = json!([]);
    head["stop_reason"] = Value::Null;
    let mut out = event("message_start", json!({ "type": "message_start", "message": head }));
    for (index, block) in message["content"].as_array().unwrap().iter().enumerate() {
        let (empty, delta) = if block["type"] == "text" {
            (json!({ "type": "text", "text": "" }), json!({ "type": "text_delta", "text": block["text"] }))
        } else {
            let mut empty = block.clone();
            empty["input"] = json!({});
            (empty, json!({ "type": "input_json_delta", "partial_json": block["input"].to_string() }))
        };
        let start = json!({ "type": "content_block_start", "index": index, "content_block": empty });
        out.push_str(&event("content_block_start", start));
        let delta = json!({ "type": "content_block_delta", "index": index, "delta": delta });
        out.push_str(&event("content_block_delta", delta));
        out.push_str(&event("content_block_stop", json!({ "type": "content_block_stop", "index": index })));
    }
    let end = json!({ "type": "message_delta", "usage": message["usage"],
                      "delta": { "stop_reason": message["stop_reason"], "stop_sequence": null } });
    out.push_str(&event("message_delta", end));
    out.push_str(&event("message_stop", json!({ "type": "message_stop" })));
    out
}
