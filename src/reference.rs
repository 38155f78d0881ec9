//! Writes the pages of `docs/reference` about commands, settings and exit codes, and checks that they are current.

use expect_test::expect_file;

use crate::{cli, config, exit};

#[path = "../fixtures/reference.rs"]
mod pages;

#[test]
fn the_reference_of_the_commands_is_current() {
    let mut command = cli::command();
    command.build();
    for (title, names) in cli::GROUPS {
        let mut page = format!("{}# Commands: {}\n", pages::GENERATED, title.to_lowercase());
        page.push_str("\nAll commands also accept the [common options](common.md).\n");
        for name in names {
            // The help of `serve` is the help of the server.
            if *name == "serve" {
                page.push_str("\n## tessera serve\n\nStarts [`tessera-server`](server.md).\n");
                continue;
            }
            let one = command.find_subcommand(name).expect("a test checks that each command exists");
            pages::sections(&mut page, one, "tessera ", 2);
        }
        let file = title.to_lowercase().replace(' ', "-");
        expect_file![format!("../docs/reference/commands/{file}.md")].assert_eq(&page);
    }
    let mut page = pages::GENERATED.to_owned();
    page.push_str("# Commands: common options\n\nAll commands of `tessera` accept these options:\n");
    let any = command.find_subcommand("recall").expect("a test checks that each command exists");
    pages::arguments(&mut page, any.get_arguments().filter(|argument| argument.is_global_set()));
    expect_file!["../docs/reference/commands/common.md"].assert_eq(&page);
}

#[test]
fn the_reference_of_the_settings_is_current() {
    let mut page = pages::GENERATED.to_owned()
        + "# Settings\n\nA value comes from an option of the command, otherwise from the environment variable, \
                    otherwise from `config.toml`.\n`tessera settings set KEY VALUE` writes `config.toml`. A setting without \
                    a key can only be set as a variable.\n\n| key | variables | meaning |\n|---|---|---|\n";
    for setting in config::SETTINGS {
        let key = setting.key.map_or_else(String::new, |key| format!("`{key}`"));
        let names: Vec<String> = setting.names.iter().map(|name| format!("`{name}`")).collect();
        let help = setting.help.replace('|', "\\|").replace('<', "\\<");
        page.push_str(&format!("| {key} | {} | {help} |\n", names.join(", ")));
    }
    expect_file!["../docs/reference/settings.md"].assert_eq(&page);
}

#[test]
fn the_reference_of_the_exit_codes_is_current() {
    let mut page = pages::GENERATED.to_owned() + "# Exit codes\n\n| code | meaning |\n|---|---|\n";
    for (code, meaning) in exit::MEANINGS {
        page.push_str(&format!("| {code} | {meaning} |\n"));
    }
    page.push_str(&format!("\n{}\n", exit::OF_HOOKS));
    page.push_str(
        "\nWith `--json`, an error is one JSON object on stderr. [error.json](../schemas/error.json) describes it.\n",
    );
    expect_file!["../docs/reference/exit-codes.md"].assert_eq(&page);
}
