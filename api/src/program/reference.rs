//! Writes the pages of `docs/reference` about the server's commands and routes, and checks that they are current.

use clap::CommandFactory as _;
use expect_test::expect_file;
use serde_json::Value;
use tessera_api::{App, Db, Settings};

use crate::cli::Cli;

#[path = "../../../fixtures/reference.rs"]
mod pages;

#[test]
fn the_reference_of_the_servers_commands_is_current() {
    let mut command = Cli::command();
    command.build();
    let mut page = pages::GENERATED.to_owned()
        + "# Commands: the team server\n\n`tessera-server` is a separate program. `tessera serve` starts it.\n";
    pages::sections(&mut page, &command, "", 2);
    page.push_str("\n## Common options\n\nAll commands of `tessera-server` accept these options:\n");
    pages::arguments(&mut page, command.get_arguments().filter(|argument| argument.is_global_set()));
    expect_file!["../../../docs/reference/commands/server.md"].assert_eq(&page);
}

#[tokio::test]
async fn the_reference_of_the_routes_is_current() {
    let text = tessera_api::openapi(&App::new(Db::unconnected(), Settings::default())).unwrap();
    let contract: Value = serde_json::from_str(&text).unwrap();
    let mut page = pages::GENERATED.to_owned()
        + "# Routes of the team server\n\nThe server describes its routes at `/openapi.json`. Requests need the header \
                    `Authorization: Bearer KEY`, except `/health`, `/ready`\nand `/openapi.json`. The routes under `/api` are \
                    for programs. They accept the short ID of a memory or its UUID, and ignore unknown fields.\nThe routes under \
                    `/v1` are for machines that sync. An error is a [ProblemBody](#problembody) with a status of 400 or above.\n";
    for (path, methods) in object(&contract["paths"]) {
        for (method, route) in object(methods) {
            page.push_str(&format!("\n## {} {path}\n\n{}\n", method.to_uppercase(), said(route, "summary")));
            if !said(route, "description").is_empty() {
                page.push_str(&format!("\n{}\n", said(route, "description")));
            }
            parameters(&mut page, route);
            let body = &route["requestBody"]["content"]["application/json"]["schema"];
            let answer = &route["responses"]["200"]["content"]["application/json"]["schema"];
            let parts = [("Request", body), ("Answer", answer)].into_iter().filter(|(_, schema)| !schema.is_null());
            let parts: Vec<String> = parts.map(|(title, schema)| format!("{title}: {}", kind(schema))).collect();
            if !parts.is_empty() {
                page.push_str(&format!("\n{}\n", parts.join(" · ")));
            }
        }
    }
    page.push_str("\n## Objects\n");
    for (name, schema) in object(&contract["components"]["schemas"]) {
        page.push_str(&format!("\n### {name}\n\n{}\n", said(schema, "description")));
        let choices = schema["oneOf"].as_array().into_iter().flatten();
        let choices: Vec<String> =
            choices.map(|one| format!("- {}: {}\n", kind(one), said(one, "description"))).collect();
        if !choices.is_empty() {
            page.push_str(&format!("\nOne of:\n\n{}", choices.concat()));
        }
        for part in [schema].into_iter().chain(schema["allOf"].as_array().into_iter().flatten()) {
            if part != schema && part["properties"].is_null() {
                page.push_str(&format!("\nAll fields of {}, and:\n", kind(part)));
            }
            fields(&mut page, part);
        }
    }
    expect_file!["../../../docs/reference/routes.md"].assert_eq(&page);
}

fn parameters(page: &mut String, route: &Value) {
    let all = route["parameters"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !all.is_empty() {
        page.push_str("\n| parameter | in | type | meaning |\n|---|---|---|---|\n");
    }
    for one in all {
        let (name, place) = (said(one, "name"), said(one, "in"));
        page.push_str(&format!("| `{name}` | {place} | {} | {} |\n", kind(&one["schema"]), said(one, "description")));
    }
}

fn fields(page: &mut String, schema: &Value) {
    let Some(properties) = schema["properties"].as_object().filter(|properties| !properties.is_empty()) else { return };
    page.push_str("\n| field | type | meaning |\n|---|---|---|\n");
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    for (name, of) in properties {
        let shown = if required.iter().any(|one| one == name) { format!("**`{name}`**") } else { format!("`{name}`") };
        page.push_str(&format!("| {shown} | {} | {} |\n", kind(of), said(of, "description")));
    }
}

/// The members of an object, in the order of their names.
fn object(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

/// A text on one line, as Markdown.
fn said(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_default().replace('\n', " ").replace('|', "\\|").replace('<', "\\<")
}

/// The name of a schema with a link to its section, or the name of a type; empty for `null` alone.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return format!("[{name}](#{})", name.to_lowercase());
    }
    for several in ["oneOf", "allOf"] {
        if let Some(all) = schema[several].as_array() {
            let kinds: Vec<String> = all.iter().map(kind).filter(|kind| !kind.is_empty()).collect();
            return kinds.join(" or ");
        }
    }
    let names = match &schema["type"] {
        Value::Array(names) => names.as_slice(),
        Value::Null => return "any JSON".to_owned(),
        name => std::slice::from_ref(name),
    };
    let names = names.iter().filter_map(Value::as_str).filter(|name| *name != "null");
    let named =
        |name: &str| if name == "array" { format!("list of {}", kind(&schema["items"])) } else { name.to_owned() };
    names.map(named).collect::<Vec<_>>().join(" or ")
}
