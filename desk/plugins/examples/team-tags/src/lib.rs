//! An example plugin: it tags a memory that names a ticket, such as LDG-4019, with `ticket` and the ticket's project,
//! and removes the digits of customer numbers, such as CUST-20417.
#![cfg_attr(target_family = "wasm", expect(unsafe_code, reason = "the names that a module exports"))]

use tessera_plugin::{Message, Reply};

#[cfg(target_family = "wasm")]
tessera_plugin::export!("../plugin.toml", handle);

/// Answers one message.
pub fn handle(message: &Message) -> Reply {
    let Some(content) = message.text("content") else { return Reply::nothing() };
    let mut tags = message.list("tags");
    let (mut kept, mut before) = (String::new(), tags.len());
    for word in content.split_inclusive(|c: char| !c.is_ascii_alphanumeric() && c != '-') {
        let name = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let (letters, digits) = name.split_once('-').unwrap_or_default();
        let is_numbered = letters.len() >= 2
            && letters.chars().all(|c| c.is_ascii_uppercase())
            && !digits.is_empty()
            && digits.chars().all(|c| c.is_ascii_digit());
        if is_numbered && letters == "CUST" {
            kept.push_str(&word.replacen(digits, "…", 1));
            continue;
        }
        kept.push_str(word);
        if is_numbered {
            for tag in ["ticket".to_owned(), letters.to_lowercase()] {
                if !tags.contains(&tag) {
                    tags.push(tag);
                }
            }
        }
    }
    // An update without tags keeps the present ones.
    if message.event() == "update" && before == 0 {
        before = tags.len();
    }
    let reply = if kept == content { Reply::nothing() } else { Reply::change("content", kept) };
    if tags.len() == before { reply } else { reply.and_change("tags", tags) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tickets_are_tags_and_numbers_of_customers_go() {
        let said = |event: &str, content: &str| {
            handle(&Message(json!({ "event": event, "when": "before", "fields": { "content": content, "tags": [] } })))
        };
        assert_eq!(said("store", "nothing of it, A-1 neither"), Reply::nothing());
        let expected = Reply::change("content", "CUST-… waits for LDG-4019").and_change("tags", vec!["ticket", "ldg"]);
        assert_eq!(said("store", "CUST-20417 waits for LDG-4019"), expected);
        assert_eq!(said("update", "see LDG-4019"), Reply::nothing());
    }
}
