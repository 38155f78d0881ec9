//! What to type instead of commands and options that other programs have.

/// Commands of other programs, each with what to do here.
const COMMANDS: [(&[&str], &str); 26] = [
    (&["create", "commit", "write", "put", "insert", "record", "memorize"], "use `tessera remember TEXT`"),
    (&["describe", "open", "print"], "use `tessera get ID`"),
    (&["memory", "memories", "dir", "ps"], "use `tessera list`"),
    (&["drop", "destroy", "erase"], "use `tessera forget ID`"),
    (
        &["clear", "reset", "wipe"],
        "no command deletes all memories; `tessera forget ID` deletes one, `tessera undo` undoes a change, and \
         `tessera uninstall --purge` deletes the store",
    ),
    (&["purge"], "use `tessera forget ID --hard`"),
    (&["redo"], "use `tessera undo` again, which undoes the undo"),
    (&["revert", "rollback", "checkout"], "use `tessera history ID`, then `tessera restore ID --before REV`"),
    (&["diff", "blame", "versions"], "use `tessera history ID`"),
    (&["append", "replace"], "use `tessera edit ID`, or `tessera update ID --content TEXT`"),
    (&["merge", "supersede"], "use `tessera remember TEXT --supersedes ID`"),
    (&["unlink"], "use `tessera link ID TYPE ID --remove`"),
    (&["tag", "label"], "use `tessera update ID --tags TAGS`"),
    (&["login", "signin", "auth", "join"], "use `tessera sync join URL`"),
    (&["logout", "leave"], "use `tessera sync leave`"),
    (&["push", "pull", "fetch"], "use `tessera sync now`"),
    (&["install", "connect", "hook-up", "hooks", "start", "enable"], "use `tessera setup claude-code`"),
    (&["remove-client", "disable", "disconnect"], "use `tessera uninstall`"),
    (&["upgrade", "self-update"], "install the new version in the way in which you installed this one"),
    (&["dump", "save-as"], "use `tessera export FILE`"),
    (&["load"], "use `tessera import FILE`"),
    (&["server"], "use `tessera serve`"),
    (&["prompt", "context"], "use `tessera recall QUESTION`"),
    (&["similar", "related"], "use `tessera graph ID`"),
    (&["size", "du"], "use `tessera stats`"),
    (&["shell", "repl", "fzf"], "use `tessera browse`"),
];

/// What to do instead of an unknown command.
pub(super) fn of_command(typed: &str) -> Option<&'static str> {
    let typed = typed.to_lowercase();
    COMMANDS.iter().find(|(names, _)| names.contains(&typed.as_str())).map(|(_, hint)| *hint)
}

/// Options of other programs, each with the options of Tessera that do the same. The first that a command has is
/// suggested.
const OPTIONS: [(&[&str], &[&str]); 22] = [
    (&["--all"], &["--limit"]),
    (&["--budget", "--tokens", "--token-budget"], &["--max-tokens"]),
    (&["--count", "--top", "--number", "-k", "-l"], &["--limit", "--page-size"]),
    (&["--limit"], &["--page-size"]),
    (&["--page"], &["--after"]),
    (&["--from", "--after"], &["--since"]),
    (&["--to", "--before"], &["--until"]),
    (&["--ttl"], &["--expires"]),
    (&["--date", "--time", "--at"], &["--created"]),
    (&["--priority", "--weight"], &["--importance"]),
    (&["--replaces", "--replace"], &["--supersedes"]),
    (&["--global", "--project", "-p", "--repo"], &["--scope"]),
    (&["--order", "--order-by", "--sort-by"], &["--sort"]),
    (&["--add-tag", "--label", "--labels"], &["--tags"]),
    (&["--write", "--mode"], &["--permission"]),
    (&["--port", "--listen"], &["--http"]),
    (&["--fix"], &["--repair"]),
    (&["-f", "--confirm"], &["--yes"]),
    (&["--no-color", "--colour", "--no-colour"], &["--color never"]),
    (&["--debug"], &["--verbose"]),
    (&["--config", "-C", "-H", "--dir", "--db"], &["--home"]),
    (&["-o", "--output", "--format"], &["--json"]),
];

/// The option that does the same as an option of another program, if `has` knows it.
pub(super) fn of_option(typed: &str, has: impl Fn(&str) -> bool) -> Option<&'static str> {
    let known = OPTIONS.iter().filter(|(theirs, _)| theirs.contains(&typed));
    let mut ours = known.flat_map(|(_, ours)| ours.iter().copied());
    ours.find(|option| has(option.split(' ').next().unwrap_or(option)))
}

/// What to do instead of an option of a command that needs none.
const INSTEAD: [(&str, &[&str], &str); 12] = [
    ("remember", &["-m", "--message", "--text", "--content"], "write the text without an option"),
    ("remember", &["--file", "-F"], "use `tessera remember - < FILE`"),
    ("recall", &["--query", "-q", "--question"], "write the question without an option"),
    ("get", &["--id"], "write the ID without an option"),
    ("get", &["--all"], "use `tessera list`"),
    ("export", &["-o", "--output", "--file"], "write the name of the file without an option"),
    ("export", &["--format"], "Tessera writes JSON lines, or notes with `--markdown DIR`"),
    ("import", &["--file", "-f"], "write the name of the file without an option"),
    ("import", &["--format"], "Tessera reads JSON lines, and the data of the systems in `tessera help import`"),
    ("backup", &["-o", "--output", "--file", "--to"], "write the name of the file without an option"),
    ("forget", &["--all"], "no command deletes all memories; name each ID, or use `tessera uninstall --purge`"),
    ("join", &["--key"], "set TESSERA_API_KEY, or type the key when the command asks for it"),
];

/// What to do instead of an option that a command does not need.
pub(super) fn instead(command: &str, typed: &str) -> Option<&'static str> {
    let found = INSTEAD.iter().find(|(of, options, _)| *of == command && options.contains(&typed));
    found.map(|(_, _, hint)| *hint)
}
