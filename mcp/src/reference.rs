//! Writes the reference of the tools, resources and prompts in `docs/reference/tools.md`, and checks that it is current.

use expect_test::expect_file;
use rmcp::model::Tool;
use serde_json::Value;

use crate::tools::{self, Offered};
use crate::{prompts, resources};

#[test]
fn the_reference_of_the_tools_is_current() {
    let mut page = "<!-- Generated from the program. -->\n<!-- markdownlint-disable MD013 MD034 -->\n\n# MCP tools\n\n`tessera mcp` offers these tools, resources and prompts to MCP clients. Each argument \
                    has its type. **Bold** arguments are required.\nIDs can be numbers or text, such as `42` or `\"#42\"`. A \
                    list can also be one text with commas. Other names of an argument are in parentheses.\n"
        .to_owned();
    let mut names = Vec::new();
    for (title, when, offered) in [
        (
            "Always listed",
            "Clients list these tools.",
            Offered { in_team: false, keeps_files: false, with_notes: false },
        ),
        (
            "With a team server",
            "Clients also list these tools if the store has joined a team server.",
            Offered { in_team: true, keeps_files: false, with_notes: false },
        ),
        (
            "With memory files or notes",
            "Clients also list these tools if the setting `memory_files` is on, or if Tessera knows notes.",
            Offered { in_team: false, keeps_files: true, with_notes: true },
        ),
    ] {
        let tools: Vec<Tool> =
            tools::definitions(offered).into_iter().filter(|tool| !names.contains(&tool.name)).collect();
        names.extend(tools.iter().map(|tool| tool.name.clone()));
        section(&mut page, title, when, &tools);
    }
    let older: Vec<Tool> = tools::all().into_iter().filter(|tool| !names.contains(&tool.name)).collect();
    let when = "Clients do not list these tools. They work for clients that were written for an earlier tool list.";
    section(&mut page, "Not listed", when, &older);
    page.push_str("\n## Resources\n\n| address | content | type |\n|---|---|---|\n");
    for resource in resources::definitions() {
        let description = resource.description.as_deref().unwrap_or_default();
        row(&mut page, &resource.uri, description, resource.mime_type.as_deref());
    }
    for template in resources::templates() {
        let description = template.description.as_deref().unwrap_or_default();
        row(&mut page, &template.uri_template, description, template.mime_type.as_deref());
    }
    page.push_str("\n## Prompts\n\n| prompt | effect | argument |\n|---|---|---|\n");
    for prompt in prompts::definitions() {
        let argument = prompt.arguments.as_ref().and_then(|all| all.first()).map(|one| one.name.as_str());
        let description = prompt.description.as_deref().unwrap_or_default();
        row(&mut page, &prompt.name, description, argument);
    }
    expect_file!["../../docs/reference/tools.md"].assert_eq(&page);
}

fn row(page: &mut String, name: &str, description: &str, last: Option<&str>) {
    let last = last.map_or_else(String::new, |last| format!(" `{last}`"));
    page.push_str(&format!("| `{name}` | {description} |{last} |\n"));
}

fn section(page: &mut String, title: &str, when: &str, tools: &[Tool]) {
    page.push_str(&format!("\n## {title}\n\n{when}\n"));
    for tool in tools {
        let effect = tool.annotations.as_ref().map_or("", |annotations| {
            match (annotations.read_only_hint, annotations.destructive_hint) {
                (Some(true), _) => "changes nothing",
                (_, Some(true)) => "may delete",
                _ => "changes memories",
            }
        });
        let description = tool.description.as_deref().unwrap_or_default();
        page.push_str(&format!("\n### {}\n\n{description} (Effect: {effect}.)\n", tool.name));
        let properties = tool.input_schema.get("properties").and_then(Value::as_object).unwrap();
        if properties.is_empty() {
            continue;
        }
        page.push_str("\n| argument | type | description |\n|---|---|---|\n");
        let required = tool.input_schema.get("required").and_then(Value::as_array).unwrap();
        let other_names = tools::other_names(&tool.name);
        for (name, schema) in properties {
            let others = other_names.iter().find(|names| names.contains(&name.as_str()));
            let others: Vec<String> = others
                .into_iter()
                .flat_map(|names| names.iter())
                .filter(|other| *other != name && !properties.contains_key(**other))
                .map(|other| format!("`{other}`"))
                .collect();
            let others = if others.is_empty() { String::new() } else { format!(" ({})", others.join(", ")) };
            let is_required = required.iter().any(|one| one == name);
            let shown = if is_required { format!("**`{name}`**") } else { format!("`{name}`") };
            let description = schema["description"].as_str().unwrap_or_default().replace('|', "\\|");
            assert!(!description.is_empty(), "{} {name}: no description", tool.name);
            page.push_str(&format!("| {shown}{others} | {} | {description} |\n", kind(schema)));
        }
    }
}

/// The type of an argument: the values of an enumeration, or the name of a type.
fn kind(schema: &Value) -> String {
    if let Some(values) = schema["enum"].as_array() {
        let values: Vec<String> = values.iter().filter_map(Value::as_str).map(|value| format!("`{value}`")).collect();
        return values.join(", ");
    }
    match (&schema["type"], &schema["items"]["type"]) {
        (Value::String(list), Value::String(of)) if list == "array" => format!("list of {of}s"),
        (Value::String(kind), _) => kind.clone(),
        (kinds, _) => {
            let kinds: Vec<&str> = kinds.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            kinds.join(" or ")
        }
    }
}
