//! A small local model as extractor.

use std::time::Duration;

use reqwest::Client;
use serde_json::{Value, json};

use crate::extracted_memory::{ExtractorError, MOST_ANSWERED, Means, Verdict, Window, block_on, object_in};

/// Small models of sufficient quality, in the order in which they are tried.
const MODELS: [&str; 4] = ["qwen2.5:3b", "llama3.2:3b", "gemma2:2b", "phi3:mini"];
const PATIENCE: Duration = Duration::from_secs(30);
const CONNECT: Duration = Duration::from_millis(500);

/// Asks the installed models one after another, until one answers.
pub(crate) fn ask(window: &Window<'_>, means: &Means) -> Result<Verdict, ExtractorError> {
    block_on(asked(window, &means.ollama))?
}

async fn asked(window: &Window<'_>, address: &str) -> Result<Verdict, ExtractorError> {
    let unreachable = |error: reqwest::Error| ExtractorError::Unreachable(error.without_url().to_string());
    // Ollama may use TLS. An error means that a provider was already installed, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client =
        Client::builder().connect_timeout(CONNECT).timeout(PATIENCE).no_proxy().build().map_err(unreachable)?;
    let address = address.trim_end_matches('/');
    let tags: Value = client
        .get(format!("{address}/api/tags"))
        .send()
        .await
        .map_err(|_| ExtractorError::Absent)?
        .json()
        .await
        .map_err(unreachable)?;
    let names = tags.get("models").and_then(Value::as_array).into_iter().flatten();
    let names: Vec<&str> = names.filter_map(|model| model.get("name")?.as_str()).collect();
    let (mut failure, mut spent) = (ExtractorError::Absent, (0, 0));
    for model in MODELS.iter().filter(|model| names.contains(*model)) {
        match one(&client, address, model, window).await {
            Ok(verdict) => {
                let (input, output) = spent;
                return Ok(Verdict {
                    input_tokens: verdict.input_tokens + input,
                    output_tokens: verdict.output_tokens + output,
                    ..verdict
                });
            }
            Err(ExtractorError::Malformed { input_tokens, output_tokens }) => {
                spent = (spent.0 + input_tokens, spent.1 + output_tokens);
                failure = ExtractorError::Malformed { input_tokens: spent.0, output_tokens: spent.1 };
            }
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

async fn one(client: &Client, address: &str, model: &str, window: &Window<'_>) -> Result<Verdict, ExtractorError> {
    let body = json!({
        "model": model,
        "messages": [
            { "role": "system", "content": window.instructions() },
            { "role": "user", "content": window.text() },
        ],
        "stream": false,
        "think": false,
        "format": window.schema(),
        "options": { "temperature": 0, "num_ctx": 8192, "num_predict": MOST_ANSWERED, "seed": 1 },
        "keep_alive": "5m",
    });
    let unreachable = |error: reqwest::Error| {
        if error.is_timeout() {
            ExtractorError::TimedOut(PATIENCE)
        } else {
            ExtractorError::Unreachable(error.without_url().to_string())
        }
    };
    let reply = client.post(format!("{address}/api/chat")).json(&body).send().await.map_err(unreachable)?;
    let reply: Value = reply.error_for_status().map_err(unreachable)?.json().await.map_err(unreachable)?;
    let count = |name: &str| reply.get(name).and_then(Value::as_u64).unwrap_or(0);
    let (input_tokens, output_tokens) = (count("prompt_eval_count"), count("eval_count"));
    let text = reply.get("message").and_then(|message| message.get("content")?.as_str());
    let extracted_memories = text.and_then(object_in).and_then(|answer| window.lessons_of(&answer));
    let extracted_memories = extracted_memories.ok_or(ExtractorError::Malformed { input_tokens, output_tokens })?;
    Ok(Verdict { extracted_memories, input_tokens, output_tokens })
}
