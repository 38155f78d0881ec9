//! How a check is said: requests of users, and what the answer must be.

use reqwest::Method;
use serde_json::Value;

use crate::site::Site;

/// What stands at a place of an answer.
#[derive(Debug, Clone)]
pub(super) enum Is {
    /// Exactly this.
    This(Value),
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// A text that holds this.
    With(&'static str),
    /// A text that does not hold this.
    Without(&'static str),
    /// A time of RFC 3339.
    Time,
    /// A list of so many.
    Many(usize),
    /// Nothing, or null.
    Nothing,
    /// What an earlier step saved under this name.
    Saved(&'static str),
}

impl Is {
    fn holds(&self, found: Option<&Value>, saved: &[(&str, String)]) -> bool {
        let text = || found.and_then(Value::as_str);
        match self {
            Self::This(value) => found == Some(value),
            Self::Integer => found.is_some_and(Value::is_i64),
            Self::Number => found.is_some_and(Value::is_number),
            Self::With(part) => text().is_some_and(|text| text.contains(part)),
            Self::Without(part) => text().is_some_and(|text| !text.contains(part)),
            Self::Time => text().is_some_and(|text| text.parse::<tessera_engine::Timestamp>().is_ok()),
            Self::Many(count) => found.and_then(Value::as_array).is_some_and(|list| list.len() == *count),
            Self::Nothing => found.is_none_or(Value::is_null),
            Self::Saved(name) => {
                let known = saved.iter().rev().find(|(known, _)| known == name);
                known.is_some_and(|(_, text)| found.is_some_and(|found| plain(found) == *text))
            }
        }
    }
}

/// A value as it stands in a path.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A request, and what is expected of its answer.
#[derive(Debug, Clone)]
pub(super) struct Step {
    who: &'static str,
    method: Method,
    path: String,
    body: Option<Value>,
    status: u16,
    expected: Vec<(&'static str, Is)>,
    saved: Vec<(&'static str, &'static str)>,
}

fn step(who: &'static str, method: Method, path: &str, body: Option<Value>) -> Step {
    Step { who, method, path: path.to_owned(), body, status: 200, expected: Vec::new(), saved: Vec::new() }
}

pub(super) fn get(who: &'static str, path: &str) -> Step {
    step(who, Method::GET, path, None)
}

pub(super) fn post(who: &'static str, path: &str, body: Value) -> Step {
    step(who, Method::POST, path, Some(body))
}

pub(super) fn put(who: &'static str, path: &str, body: Value) -> Step {
    step(who, Method::PUT, path, Some(body))
}

pub(super) fn delete(who: &'static str, path: &str) -> Step {
    step(who, Method::DELETE, path, None)
}

impl Step {
    pub(super) fn with(mut self, body: Value) -> Self {
        self.body = Some(body);
        self
    }

    pub(super) fn gives(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// What stands at a JSON pointer; the whole answer at `""`.
    pub(super) fn has(mut self, at: &'static str, is: Is) -> Self {
        self.expected.push((at, is));
        self
    }

    pub(super) fn is(self, at: &'static str, value: impl Into<Value>) -> Self {
        self.has(at, Is::This(value.into()))
    }

    /// Keeps what stands at a pointer, for `{name}` in later paths.
    pub(super) fn save(mut self, name: &'static str, at: &'static str) -> Self {
        self.saved.push((name, at));
        self
    }

    /// Asks; what is wrong, in words.
    async fn run(&self, site: &Site, tag: &str, saved: &mut Vec<(&'static str, String)>) -> Result<(), String> {
        let fill = |text: &str| {
            let text =
                saved.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value));
            text.replace("{bob}", &format!("bob{tag}"))
        };
        let path = fill(&self.path);
        let request = site.client.request(self.method.clone(), format!("http://{}{path}", site.address));
        let request = match self.who {
            "nobody" => request,
            "bare" => request.header("authorization", key("alice", tag)),
            "wrong" => request.bearer_auth("older-key-of-nobody-at-all"),
            who => request.bearer_auth(key(who, tag)),
        };
        let request = match &self.body {
            Some(body) => request.header("content-type", "application/json").body(fill(&body.to_string())),
            None => request,
        };
        let response = request.send().await.map_err(|error| error.to_string())?;
        let status = response.status().as_u16();
        let text = response.text().await.map_err(|error| error.to_string())?;
        let said = format!("{} {path} by {}: {status} {text}", self.method, self.who);
        if status != self.status {
            return Err(format!("{} was expected of {said}", self.status));
        }
        let answer: Value = serde_json::from_str(&text).unwrap_or_default();
        for (at, is) in &self.expected {
            if !is.holds(answer.pointer(at), saved) {
                return Err(format!("{at} is not {is:?} in {said}"));
            }
        }
        for (name, at) in &self.saved {
            let value = answer.pointer(at).ok_or_else(|| format!("no {at} in {said}"))?;
            saved.push((name, plain(value)));
        }
        Ok(())
    }
}

fn key(who: &str, tag: &str) -> String {
    format!("older-key-of-{who}{tag}")
}

/// What the older API promises, in steps that are taken one after another by users of its own.
pub(super) struct Check {
    pub(super) name: &'static str,
    steps: Vec<Step>,
}

pub(super) fn check(name: &'static str, steps: impl IntoIterator<Item = Step>) -> Check {
    Check { name, steps: steps.into_iter().collect() }
}

impl Check {
    /// Takes the steps, as users who are there for this check alone and have keys of the older API.
    pub(super) async fn run(&self, site: &Site, tag: &str) -> Result<(), String> {
        for who in ["alice", "bob"] {
            let user = format!("{who}{tag}").parse().map_err(|error| format!("{error}"))?;
            site.db.import_key(&user, &key(who, tag)).await.map_err(|error| error.to_string())?;
        }
        let mut saved = Vec::new();
        for step in &self.steps {
            step.run(site, tag, &mut saved).await?;
        }
        Ok(())
    }
}
