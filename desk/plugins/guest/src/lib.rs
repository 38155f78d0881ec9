//! The library for plugins in Rust: [`Message`], [`Reply`], and [`export!`], which makes a module from a function.
//!
//! Built for `wasm32-unknown-unknown`, a plugin is one file. The plugin sees only the message: no files, no network,
//! and a clock only if the user granted it. Each call has its own instance, so the plugin remembers nothing between
//! calls. All memory is freed at the end of the call. A plugin that needs more than 16 MiB in total must enable the
//! feature `frees`, whose allocator is slower.

use std::cell::RefCell;
use std::mem::ManuallyDrop;

use serde_json::{Map, Value, json};

/// The version of the interface between Tessera and plugins.
pub const ABI: u32 = 1;

/// A request, or a finished action.
#[derive(Debug, Clone, PartialEq)]
pub struct Message(pub Value);

impl Message {
    /// The event: `store`, `recall`, `update` or `forget`.
    pub fn event(&self) -> &str {
        self.0.get("event").and_then(Value::as_str).unwrap_or_default()
    }

    /// True before the action, while it can be changed or rejected.
    pub fn is_before(&self) -> bool {
        self.0.get("when").is_some_and(|when| when == "before")
    }

    /// A text field such as `content` or `query`, if present.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.field(field)?.as_str()
    }

    /// A list field such as `tags`; empty if missing.
    pub fn list(&self, field: &str) -> Vec<String> {
        let list = self.field(field).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(|item| item.as_str().map(str::to_owned)).collect()
    }

    /// The affected memories, each an object.
    pub fn memories(&self) -> &[Value] {
        self.0.get("memories").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    fn field(&self, name: &str) -> Option<&Value> {
        self.0.get("fields")?.get(name)
    }
}

/// The reply of a plugin.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply(Map<String, Value>);

impl Reply {
    /// Nothing to say.
    pub fn nothing() -> Self {
        Self(Map::new())
    }

    /// Rejects the request with a reason for the user.
    pub fn refuse(reason: impl Into<String>) -> Self {
        Self::nothing().with("refuse", json!(reason.into()))
    }

    /// Changes a field.
    pub fn change(field: &str, value: impl Into<Value>) -> Self {
        Self::nothing().and_change(field, value)
    }

    /// Changes a further field.
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
    /// The message and the answer. Their addresses do not change while Tessera reads them.
    static MESSAGE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Allocates a buffer for a message; returns its address. Called by [`export!`].
pub fn room(length: usize) -> usize {
    MESSAGE.with_borrow_mut(|message| {
        *message = vec![0; length];
        message.as_ptr().addr()
    })
}

/// Answers the message in the buffer; returns address and length of the answer. Called by [`export!`].
pub fn answer(handle: fn(&Message) -> Reply) -> u64 {
    let message = MESSAGE.with_borrow(|message| serde_json::from_slice(message).unwrap_or_default());
    // The instance ends with the call, so destructors would only delay a prompt.
    let message = ManuallyDrop::new(Message(message));
    let Reply(reply) = handle(&message);
    ANSWER.with_borrow_mut(|answer| {
        *answer = serde_json::to_vec(&reply).unwrap_or_default();
        (answer.as_ptr().addr() as u64) << 32 | answer.len() as u64
    })
}

/// A bump allocator that frees only the last allocation. Its hundred bytes of code compile fast. Compiling a general
/// allocator would take longer than most plugins run.
#[cfg(all(target_family = "wasm", not(feature = "frees")))]
#[expect(unsafe_code, reason = "an allocator cannot be written without `unsafe`")]
mod memory {
    use core::alloc::{GlobalAlloc, Layout};
    use core::arch::wasm32::{memory_grow, memory_size};
    use core::ptr::null_mut;
    use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    const PAGE: usize = 65_536;

    #[global_allocator]
    static MEMORY: Memory = Memory(AtomicUsize::new(0));

    unsafe extern "C" {
        /// The first address after the linker's data.
        static __heap_base: u8;
    }

    /// The end of the used memory; 0 before the first allocation.
    struct Memory(AtomicUsize);

    impl Memory {
        fn end(&self) -> usize {
            match self.0.load(Relaxed) {
                0 => (&raw const __heap_base).addr(),
                end => end,
            }
        }

        /// Grows the memory up to an address; returns false if that is impossible.
        fn take_until(&self, end: Option<usize>) -> bool {
            let Some(end) = end else { return false };
            let there = memory_size(0) * PAGE;
            if end > there && memory_grow(0, (end - there).div_ceil(PAGE)) == usize::MAX {
                return false;
            }
            self.0.store(end, Relaxed);
            true
        }
    }

    // SAFETY: a module has one thread. Each allocation lies behind all earlier ones.
    unsafe impl GlobalAlloc for Memory {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            let Some(place) = self.end().checked_next_multiple_of(layout.align()) else { return null_mut() };
            let is_taken = self.take_until(place.checked_add(layout.size()));
            if is_taken { core::ptr::with_exposed_provenance_mut(place) } else { null_mut() }
        }

        unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
            if place.addr() + layout.size() == self.end() {
                self.0.store(place.addr(), Relaxed);
            }
        }

        unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
            if place.addr() + layout.size() == self.end() {
                return if self.take_until(place.addr().checked_add(size)) { place } else { null_mut() };
            }
            if size <= layout.size() {
                return place;
            }
            // SAFETY: the caller's layout and size, and two areas that do not overlap.
            unsafe {
                let new = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
                if !new.is_null() {
                    new.copy_from_nonoverlapping(place, layout.size());
                }
                new
            }
        }
    }
}

/// Exports a plugin module. The arguments are a manifest file and a function from [`Message`] to [`Reply`].
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
