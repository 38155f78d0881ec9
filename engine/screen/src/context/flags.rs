//! Options of commands: `curl -u bob:x`, `psexec -p x`, `sshpass -p x`, `mysql -px`.

use super::assign::{self, Bond};
use super::value::{self, Value};
use super::{judge, scan, stand_in};

const FURTHEST: usize = 300;

/// The password behind a `-u` or `--user` that ends here: `bob:x`.
pub(super) fn of_user(text: &str, end: usize) -> Option<Value> {
    let at = scan::on_while(text, end, 2, |byte| byte == b' ' || byte == b'=');
    let given = if value::is_quote(text, at) { value::quoted(text, at)? } else { value::bare(text, at, false)? };
    let (user, password) = text.get(given.span.clone())?.split_once(':')?;
    let line = scan::head(text, end, FURTHEST);
    let is_known = ["curl", "http", "wget", "--user"].iter().any(|command| line.contains(command));
    let is_one = !user.is_empty()
        && !user.contains('/')
        && !user.contains(['$', '{', '<', '%'])
        && is_password(password, is_known)
        && !password.contains(':');
    let start = given.span.start + user.len() + 1;
    is_one.then_some(Value { span: start..given.span.end, is_quoted: given.is_quoted })
}

/// The password behind a `-p` that ends here, of commands that take one so.
pub(super) fn of_password(text: &str, end: usize) -> Option<Value> {
    const COMMANDS: [&str; 12] = [
        "psexec",
        "sshpass",
        "docker login",
        "mysql",
        "mariadb",
        "mysqldump",
        "mongo",
        "az login",
        "expect",
        "smbclient",
        "podman login",
        "helm registry login",
    ];
    let line = scan::head(text, end, FURTHEST).rsplit(['\n', ';', '|', '&']).next()?;
    let command = COMMANDS.iter().find(|command| scan::holds(line, command))?;
    let is_joined = command.starts_with("mysql") || *command == "mariadb" || *command == "sshpass";
    let after = scan::after_blanks(text, end);
    if after == end && !is_joined || after > end && command.starts_with("mysql") {
        return None;
    }
    let given =
        if value::is_quote(text, after) { value::quoted(text, after)? } else { value::bare(text, after, false)? };
    let inside = text.get(given.span.clone())?;
    (!inside.starts_with('-') && is_password(inside, after > end)).then_some(given)
}

/// True of a password; of any that is no stand-in where the command is known to take one.
fn is_password(inside: &str, is_known: bool) -> bool {
    const EXAMPLES: [&str; 6] = ["token", "pass", "password", "api_token", "apitoken", "x-oauth-basic"];
    let is_number = inside.bytes().all(|byte| byte.is_ascii_digit());
    inside.len() >= 4
        && !stand_in::is_stand_in(inside)
        && !judge::is_expression(inside)
        && !inside.starts_with('$')
        && !inside.contains(['{', '}', '`'])
        && !EXAMPLES.contains(&inside)
        && !is_number
        && (is_known || assign::is_password(inside, false, Bond::Beside))
}
