//! The parts of the OpenAPI contract that request types cannot express: which texts a field accepts. JSON Schema
//! describes these texts as ECMA 262 patterns. Each pattern is defined once.

use serde_json::{Map, Value, json};
use utoipa::openapi::OpenApi;

/// A UUID, except the two reserved ones.
const UUID: &str =
    "(?!0{8}-(0{4}-){3}0{12}$|[fF]{8}-([fF]{4}-){3}[fF]{12}$)[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}";
/// Any UUID.
const ANY_UUID: &str = "^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$";
/// The name of a category: no comma, quote or control character, and no space at either end.
const CATEGORY: &str = r#"[^\s",\x00-\x1f\x7f-\x9f]([^",\x00-\x1f\x7f-\x9f]{0,62}[^\s",\x00-\x1f\x7f-\x9f])?"#;
/// A tag follows the rules of a category, and does not start with `#`.
const TAG: &str = r#"[^\s#",\x00-\x1f\x7f-\x9f]([^",\x00-\x1f\x7f-\x9f]{0,62}[^\s",\x00-\x1f\x7f-\x9f])?"#;
const KIND: &str = "(fact|entity|relationship|self)";
/// A date, or an RFC 3339 time, in the years 1 to 9999, except for the last two days of 9999.
const TIME: &str = concat!(
    "(?!9999-12-3|0000)[0-9]{4}-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)",
    r"([Tt]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9]))?"
);
const NO_NUL: &str = r"^[^\x00]*$";
const NO_CONTROL: &str = r"^[^\x00-\x1f\x7f-\x9f]*$";
/// A text with a letter in it.
const SOME_TEXT: &str = r"^[^\x00]*[^\s\x00][^\x00]*$";
const LINK_TYPE: &str = "^[A-Za-z0-9]+([ _-][A-Za-z0-9]+)*$";
const TOKEN_PROFILE: &str = r"^(o200k|o200k_base|claude|claude:([123](\.[0-9]{1,9})?|4(\.0{1,9})?))?$";

fn whole(pattern: &str) -> String {
    format!("^{pattern}$")
}

fn or_nothing(pattern: &str) -> String {
    format!("^({pattern})?$")
}

/// Returns a pattern for several values, separated by commas.
fn some(pattern: &str) -> String {
    format!("^({pattern}(,{pattern})*)?$")
}

fn text(pattern: &str) -> Value {
    json!({ "type": "string", "pattern": pattern })
}

fn text_or_null(pattern: &str) -> Value {
    json!({ "type": ["string", "null"], "pattern": pattern })
}

/// The short ID of a memory, or its UUID.
fn memory() -> Value {
    text(&format!("^([0-9]{{1,18}}|{UUID})$"))
}

fn unsigned(most: u64) -> Value {
    json!({ "type": "integer", "minimum": 0, "maximum": most })
}

/// A list of texts, or one text.
fn words(item: &Value, one: &Value, most: Option<u32>) -> Value {
    let mut list = json!({ "type": "array", "items": item });
    if let (Some(most), Some(list)) = (most, list.as_object_mut()) {
        list.insert("maxItems".to_owned(), json!(most));
    }
    json!({ "oneOf": [list, one, { "type": "null" }] })
}

fn bounded(pattern: &str, most: u32) -> Value {
    json!({ "type": "string", "pattern": pattern, "maxLength": most })
}

fn bounded_or_null(pattern: &str, most: u32) -> Value {
    json!({ "type": ["string", "null"], "pattern": pattern, "maxLength": most })
}

/// For each field of a schema, the texts that it accepts.
fn fields() -> Vec<(&'static str, &'static str, Value)> {
    let tags = words(&text(&or_nothing(TAG)), &text(&some(TAG)), Some(32));
    let named = words(&bounded(NO_NUL, 200), &bounded(NO_NUL, 200), Some(128));
    let content = json!({ "type": "string", "minLength": 1, "maxLength": 32768, "pattern": SOME_TEXT });
    let new_content = json!({ "type": ["string", "null"], "minLength": 1, "maxLength": 32768, "pattern": SOME_TEXT });
    let permission = text_or_null("^(read|write)?$");
    let uuid_or_null = text_or_null(&whole(UUID));
    let number_or_uuid =
        json!({ "oneOf": [{ "type": "integer", "format": "int64" }, text(&whole(UUID)), { "type": "null" }] });
    vec![
        ("NewMemory", "content", content),
        ("NewMemory", "id", number_or_uuid),
        ("NewMemory", "uuid", uuid_or_null),
        ("NewMemory", "category", text_or_null(&or_nothing(CATEGORY))),
        ("NewMemory", "type", text_or_null(&whole(KIND))),
        ("NewMemory", "tags", tags.clone()),
        ("NewMemory", "keywords", named.clone()),
        ("NewMemory", "entities", named.clone()),
        ("NewMemory", "scope", bounded_or_null(NO_CONTROL, 300)),
        ("NewMemory", "session", bounded_or_null(NO_NUL, 200)),
        ("NewMemory", "created", text_or_null(&whole(TIME))),
        ("NewMemory", "expires", text_or_null(&whole(TIME))),
        ("NewMemory", "vault_id", json!({ "type": ["integer", "null"], "minimum": 0, "maximum": u64::MAX })),
        ("MemoryPatch", "content", new_content),
        ("MemoryPatch", "category", text_or_null(&whole(CATEGORY))),
        ("MemoryPatch", "type", text_or_null(&whole(KIND))),
        ("MemoryPatch", "tags", tags.clone()),
        ("MemoryPatch", "keywords", named.clone()),
        ("MemoryPatch", "entities", named),
        ("MemoryPatch", "scope", bounded_or_null(NO_CONTROL, 300)),
        ("Question", "token_profile", text_or_null(TOKEN_PROFILE)),
        ("Question", "packing", text_or_null("^(dual|details|all)?$")),
        ("Question", "category", words(&text(&or_nothing(CATEGORY)), &text(&some(CATEGORY)), None)),
        ("Question", "type", words(&text(&or_nothing(KIND)), &text(&some(KIND)), None)),
        ("Question", "tags", tags),
        ("Question", "entities", words(&text(NO_NUL), &text(NO_NUL), None)),
        ("Question", "scope", words(&bounded(NO_CONTROL, 300), &bounded(NO_CONTROL, 300), None)),
        ("Question", "project", bounded_or_null(NO_CONTROL, 300)),
        ("Question", "shared_by", text_or_null(NO_NUL)),
        ("Question", "since", text_or_null(&or_nothing(TIME))),
        ("Question", "until", text_or_null(&or_nothing(TIME))),
        ("Question", "cursor", text_or_null("^([0-9]{1,4}-[0-9]{1,9}(-[0-9]{1,17})?)?$")),
        (
            "NewLink",
            "target_id",
            json!({ "oneOf": [{ "type": "integer", "minimum": 0, "maximum": 999_999_999_999_999_999_u64 }, memory()] }),
        ),
        ("NewLink", "link_type", bounded(LINK_TYPE, 64)),
        ("ShareWith", "permission", permission.clone()),
        ("ShareTagWith", "permission", permission),
        ("ShareTagWith", "tag", text(&whole(TAG))),
        ("UnshareTag", "tag", text(&whole(TAG))),
        ("InvitationAnswer", "tag", text(&whole(TAG))),
    ]
}

/// For each parameter of a route, the texts that it accepts.
fn parameters() -> Vec<(&'static str, &'static str, &'static str, Value)> {
    let rev = text(r#"^(\*|(W/)?"[0-9]{1,18}"|[0-9]{1,18})$"#);
    let request = text(r"^[!-~]([\t -~]{0,198}[!-~])?$");
    let user = json!({ "type": "string", "minLength": 1, "maxLength": 100 });
    let offset = unsigned(u64::from(u32::MAX));
    vec![
        ("/api/memories", "get", "category", text(&or_nothing(CATEGORY))),
        ("/api/memories", "get", "tag", text(&or_nothing(TAG))),
        ("/api/memories", "get", "sort", text("^(importance|recency)?$")),
        ("/api/memories", "get", "offset", offset.clone()),
        ("/api/memories/shared-with-me", "get", "offset", offset.clone()),
        ("/api/memories", "post", "Idempotency-Key", request.clone()),
        ("/api/memories/import", "post", "Idempotency-Key", request),
        ("/api/memories/{id}", "put", "If-Match", rev.clone()),
        ("/api/memories/{id}", "delete", "If-Match", rev),
        ("/api/memories/sync", "get", "since", text(&or_nothing(TIME))),
        ("/api/memories/{id}/links/{dst}/{type}", "delete", "dst", memory()),
        ("/api/memories/{id}/links/{dst}/{type}", "delete", "type", bounded(LINK_TYPE, 64)),
        ("/api/memories/{id}/secret/{name}", "delete", "name", text("^[a-z0-9]{1,40}$")),
        ("/api/memories/{id}/share/{user}", "delete", "user", user.clone()),
        ("/api/users/{user}/mute", "post", "user", user.clone()),
        ("/api/users/{user}/mute", "delete", "user", user),
        ("/v1/sync/changes", "get", "epoch", unsigned(u64::MAX)),
        ("/v1/sync/changes", "get", "after", unsigned(u64::MAX)),
        ("/v1/sync/changes", "get", "limit", offset),
        ("/v1/sync/snapshot", "get", "epoch", unsigned(u64::MAX)),
        ("/v1/sync/purged/{id}", "get", "id", text(&whole(UUID))),
    ]
}

/// Request bodies of sync clients. `Document` and `Edit` in `engine/src/sync/document.rs` describe new memories and
/// edits.
fn bodies() -> [(&'static str, &'static str, Value); 2] {
    let uuid = text(ANY_UUID);
    let op = json!({
        "type": "object",
        "required": ["op_id", "memory", "base_rev", "at", "action"],
        "properties": {
            "op_id": uuid, "memory": uuid, "base_rev": unsigned(u64::MAX), "at": text(&whole(TIME)),
            "action": {
                "type": "string", "enum": ["delete", "purge"],
                "description": "Machines can also send `create` or `edit` objects. `Document` and `Edit` in engine/src/sync/document.rs define their format.",
            },
            "told_again": { "type": "boolean" },
        },
    });
    let secret = json!({
        "type": "object",
        "required": ["memory", "name", "kind", "value"],
        "properties": {
            "memory": uuid, "name": { "type": "string" }, "kind": { "type": "string" }, "value": { "type": "string" },
        },
    });
    let list = |item: Value| json!({ "type": "array", "maxItems": 100, "items": item });
    [
        (
            "/v1/sync/push",
            "post",
            json!({
                "type": "object", "required": ["epoch", "ops"],
                "properties": { "epoch": unsigned(u64::MAX), "ops": list(op) },
            }),
        ),
        (
            "/v1/sync/secrets",
            "put",
            json!({
                "type": "object", "required": ["secrets"], "properties": { "secrets": list(secret) },
            }),
        ),
    ]
}

/// Replaces a schema, and keeps its description.
fn replace(schema: &mut Value, exact: Value) {
    let words = schema.get("description").cloned();
    *schema = exact;
    if let (Some(words), Some(fields)) = (words, schema.as_object_mut()) {
        fields.insert("description".to_owned(), words);
    }
}

/// The schema of a request's body.
const BODY: &str = "/requestBody/content/application~1json/schema";

fn operation<'a>(contract: &'a mut Value, path: &str, method: &str) -> Option<&'a mut Value> {
    contract.get_mut("paths")?.get_mut(path)?.get_mut(method)
}

fn parameter<'a>(contract: &'a mut Value, path: &str, method: &str, name: &str) -> Option<&'a mut Map<String, Value>> {
    let all = operation(contract, path, method)?.get_mut("parameters")?.as_array_mut()?;
    all.iter_mut().filter_map(Value::as_object_mut).find(|one| one.get("name").is_some_and(|known| known == name))
}

/// The contract as clients read it. Also returns names of this file that the contract does not contain; a test checks
/// that there are none.
pub(crate) fn exact(contract: &OpenApi) -> (Value, Vec<String>) {
    let mut contract = serde_json::to_value(contract).unwrap_or_default();
    let mut missing = Vec::new();
    for (schema, name, exact) in fields() {
        match contract.pointer_mut(&format!("/components/schemas/{schema}/properties/{name}")) {
            Some(field) => replace(field, exact),
            None => missing.push(format!("{schema}.{name}")),
        }
    }
    for (path, method, name, exact) in parameters() {
        match parameter(&mut contract, path, method, name) {
            Some(found) => drop(found.insert("schema".to_owned(), exact)),
            None => missing.push(format!("{method} {path}: {name}")),
        }
    }
    for (path, method, exact) in bodies() {
        match operation(&mut contract, path, method).and_then(|operation| operation.pointer_mut(BODY)) {
            Some(body) => *body = exact,
            None => missing.push(format!("{method} {path}")),
        }
    }
    // Every memory in a path.
    let paths = contract.get_mut("paths").and_then(Value::as_object_mut);
    let operations =
        paths.into_iter().flat_map(|paths| paths.iter_mut().filter(|(path, _)| path.starts_with("/api/memories/{id}")));
    for parameter in operations
        .flat_map(|(_, methods)| methods.as_object_mut().into_iter().flat_map(Map::values_mut))
        .filter_map(|operation| operation.get_mut("parameters")?.as_array_mut())
        .flatten()
        .filter(|parameter| parameter.get("name").is_some_and(|name| name == "id"))
    {
        replace(&mut parameter["schema"], memory());
    }
    for (pointer, keyword, value) in [
        ("/components/schemas/MemoryPatch", "minProperties", json!(1)),
        // A deleted memory is not a permanently deleted one.
        ("/components/schemas/GoneView", "additionalProperties", json!(false)),
    ] {
        match contract.pointer_mut(pointer).and_then(Value::as_object_mut) {
            Some(schema) => drop(schema.insert(keyword.to_owned(), value)),
            None => missing.push(pointer.to_owned()),
        }
    }
    let import = operation(&mut contract, "/api/memories/import", "post");
    match import.and_then(|import| import.pointer_mut(BODY)).and_then(Value::as_object_mut) {
        Some(rows) => drop(rows.insert("maxItems".to_owned(), json!(1000))),
        None => missing.push("the rows of an import".to_owned()),
    }
    (contract, missing)
}
