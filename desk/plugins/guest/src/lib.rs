//! What a plugin for Tessera in Rust stands on: [`Message`], [`Reply`], and [`export!`], which makes a module of a function.
//!
//! Built for `wasm32-unknown-unknown`, a plugin is one file. It sees the message and nothing else: no file, no network, no
//! clock unless that was granted. Each call has an instance of its own: nothing is remembered between two calls.

use std::cell::RefCell;

use serde_json::{Map, Value, json};

/// The version of what is said between Tessera and a plugin.
pub const ABI: u32 = 1;

/// What is asked for, or was done.
#[derive(Debug, Clone, PartialEq)]
pub struct Message(pub Value);

impl Message {
    /// What is done: `store`, `recall`, `update` or `forget`.
    pub fn event(&self) -> &str {
        self.0.get("event").and_then(Value::as_str).unwrap_or_default()
    }

    /// True before it is done, while it can be changed or refused.
    pub fn is_before(&self) -> bool {
        self.0.get("when").is_some_and(|when| when == "before")
    }

    /// A field that is a text, such as `content` or `query`, where it is given.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.field(field)?.as_str()
    }

    /// A field that is a list, such as `tags`; empty where it is not given.
    pub fn list(&self, field: &str) -> Vec<String> {
        let list = self.field(field).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(|item| item.as_str().map(str::to_owned)).collect()
    }

    /// The memories that it is done to, or was done to, each an object.
    pub fn memories(&self) -> &[Value] {
        self.0.get("memories").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    fn field(&self, name: &str) -> Option<&Value> {
        self.0.get("fields")?.get(name)
    }
}

/// What a plugin answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply(Map<String, Value>);

impl Reply {
    /// Nothing to say.
    pub fn nothing() -> Self {
        Self(Map::new())
    }

    /// It shall not be done, and why. The person is told.
    pub fn refuse(reason: impl Into<String>) -> Self {
        Self::nothing().with("refuse", json!(reason.into()))
    }

    /// A field shall be something else.
    pub fn change(field: &str, value: impl Into<Value>) -> Self {
        Self::nothing().and_change(field, value)
    }

    /// A further field shall be something else.
    #[must_use]
    pub fn and_change(mut self, field: &str, value: impl Into<Value>) -> Self {
        let change = self.0.entry("change").or_insert_with(|| json!({}));
        if let Some(change) = change.as_object_mut() {
            change.insert(field.to_owned(), value.into());
        }
        self
    }

    /// A line for `tessera plugin log`.
    #[must_use]
    pub fn and_note(self, note: impl Into<String>) -> Self {
        self.with("note", json!(note.into()))
    }

    fn with(mut self, key: &str, value: Value) -> Self {
        self.0.insert(key.to_owned(), value);
        self
    }
}

thread_local! {
    /// The message, and the answer: places in the module's memory that stay where they are while Tessera reads them.
    static MESSAGE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Makes room for a message, and gives its place. Called by [`export!`].
pub fn room(length: usize) -> usize {
    MESSAGE.with_borrow_mut(|message| {
        *message = vec![0; length];
        message.as_ptr().addr()
    })
}

/// Has the message in the room answered, and gives the place and length of the answer. Called by [`export!`].
pub fn answer(handle: fn(&Message) -> Reply) -> u64 {
    let message = MESSAGE.with_borrow(|message| serde_json::from_slice(message).unwrap_or_default());
    let Reply(reply) = handle(&Message(message));
    ANSWER.with_borrow_mut(|answer| {
        *answer = serde_json::to_vec(&reply).unwrap_or_default();
        (answer.as_ptr().addr() as u64) << 32 | answer.len() as u64
    })
}

/// Makes a module of a manifest, named as a file beside this one, and a function from [`Message`] to [`Reply`].
#[macro_export]
macro_rules! export {
    ($manifest:literal, $handle:path) => {
        const _: () = {
            const TEXT: &[u8] = include_bytes!($manifest);
            #[cfg(target_family = "wasm")]
            #[used]
            #[unsafe(link_section = "tessera.plugin")]
            static MANIFEST: [u8; TEXT.len()] = *include_bytes!($manifest);

            #[unsafe(export_name = "tessera_abi")]
            extern "C" fn exported_abi() -> u32 {
                $crate::ABI
            }

            #[unsafe(export_name = "alloc")]
            extern "C" fn exported_alloc(length: usize) -> usize {
                $crate::room(length)
            }

            #[unsafe(export_name = "handle")]
            extern "C" fn exported_handle(_: usize, _: usize) -> u64 {
                $crate::answer($handle)
            }
        };
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_answered_from_the_room_it_was_put_into() {
        let message =
            Message(json!({ "event": "store", "when": "before", "fields": { "content": "x", "tags": ["a", 1] } }));
        assert_eq!((message.event(), message.is_before(), message.text("content")), ("store", true, Some("x")));
        assert_eq!(
            (message.list("tags"), message.text("query"), message.memories().len()),
            (vec!["a".to_owned()], None, 0)
        );
        assert!(room(3) > 0);
        let packed = answer(|message| {
            assert_eq!(message.event(), "", "what is no JSON says nothing");
            Reply::change("tags", vec!["a"]).and_change("content", "y").and_note("z")
        });
        let said = ANSWER.with_borrow(|answer| (answer.len() as u64, serde_json::from_slice::<Value>(answer).unwrap()));
        assert_eq!(packed & u64::from(u32::MAX), said.0);
        assert_eq!(said.1, json!({ "change": { "tags": ["a"], "content": "y" }, "note": "z" }));
        assert_eq!(Reply::refuse("no"), Reply(Map::from_iter([("refuse".to_owned(), json!("no"))])));
    }
}
