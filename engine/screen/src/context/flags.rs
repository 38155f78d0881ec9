//! Options of commands: `curl -u bob:x`, `psexec -p x`, `sshpass -p x`, `mysql -px`.

use super::assign::Bond;
use super::value::Value;
use super::{assign, judge, letters, logins, stand_in, value};

const FURTHEST: usize = 300;

/// The password after a `-u` or `--user` that ends here: `bob:x`.
pub(super) fn of_user(text: &str, end: usize) -> Option<Value> {
    let at = letters::on_while(text, end, 2, |byte| byte == b' ' || byte == b'=');
    let given = if value::is_quote(text, at) { value::quoted(text, at)? } else { value::bare(text, at, false)? };
    let (user, password) = text.get(given.span.clone())?.split_once(':')?;
    let line = letters::head(text, end, FURTHEST);
    let is_known = ["curl", "http", "wget", "--user"].iter().any(|command| line.contains(command));
    let is_one = !user.is_empty()
        && !user.contains('/')
        && !user.contains(['$', '{', '<', '%'])
        && is_password(password, is_known)
        && !password.contains(':');
    let start = given.span.start + user.len() + 1;
    is_one.then_some(Value { span: start..given.span.end, is_quoted: given.is_quoted })
}

/// The command before the option `-p` that ends here, if it expects a password after this option.
pub(super) fn command_of(text: &str, end: usize) -> Option<&'static str> {
    const COMMANDS: &str = "psexec sshpass mysql mariadb mysqldump mongo smbclient docker podman helm az expect 7z";
    const IN_CAPITALS: &str = "sqlcmd unzip zip";
    let line = letters::head(text, end, FURTHEST).rsplit(['\n', ';', '|', '&']).next()?.to_ascii_lowercase();
    let is_login = |command: &str| !["docker", "podman", "helm", "az"].contains(&command) || line.contains(" login");
    let commands = if letters::byte(text, end - 1) == b'P' { IN_CAPITALS } else { COMMANDS };
    let is_one = |command: &&str| line.contains(*command) && is_login(command);
    commands.split(' ').find(is_one).or_else(|| line.contains("psexec").then_some("psexec"))
}

/// The password after the option `-p` of a command that expects one.
pub(super) fn of_password(text: &str, end: usize, command: &str) -> Option<Value> {
    let is_joined = command.starts_with("mysql") || ["mariadb", "sshpass", "7z"].contains(&command);
    let after = letters::after_blanks(text, end);
    if after == end && !is_joined || after > end && command.starts_with("mysql") {
        return None;
    }
    let given =
        if value::is_quote(text, after) { value::quoted(text, after)? } else { value::bare(text, after, false)? };
    let inside = text.get(given.span.clone())?;
    // `mysql -px`: a directly attached text is the password, unless it only consists of words, which may be a port or a
    // name.
    let is_mixed = inside.len() >= 6 && !inside.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_known = after > end || is_mixed && command.starts_with("mysql");
    (!inside.starts_with('-') && is_password(inside, is_known)).then_some(given)
}

/// The password of a command that has its own syntax. The name of the command is at `start..end`.
pub(super) fn of_command(text: &str, start: usize, end: usize) -> Option<Value> {
    let name = text.get(start..end)?.to_ascii_lowercase();
    let line = letters::rest(text, end, FURTHEST).lines().next().unwrap_or_default();
    let after = |option: &str| line.find(option).map(|at| end + at + option.len());
    match name.as_str() {
        "redis-cli" => logins::password(text, after(" -a ")?),
        "ssh-keygen" => logins::password(text, after(" -N ")?),
        "ldapsearch" | "ldapmodify" | "ldapadd" => logins::password(text, after(" -w ")?),
        "xfreerdp" => logins::password(text, after(" /p:")?),
        "rclone obscure" => logins::password(text, letters::after_blanks(text, end)),
        "openssl enc" => logins::password(text, after(" -k ")?),
        "smbclient" | "rpcclient" => logins::password(text, after("%")?),
        "net use" => {
            let user = after("/user:")?;
            logins::password(text, letters::after_blanks(text, letters::on_while(text, user, 64, |byte| byte != b' ')))
        }
        "htpasswd" => {
            let mut words = line.split(' ').filter(|word| !word.is_empty());
            let options = words.next().filter(|options| options.starts_with('-') && options.contains('b'))?;
            let behind = words.nth(if options.contains('n') { 1 } else { 2 })?;
            logins::password(text, end + line.rfind(behind)?)
        }
        // `echo 'bob:x' | chpasswd`, `echo 'x' | sudo -S`
        _ => {
            let line = letters::head(text, start, FURTHEST).rsplit('\n').next()?;
            let said = line.rfind("echo ")? + "echo ".len();
            let at = start - line.len() + said;
            let at = at + if letters::rest(text, at, 3) == "-n " { 3 } else { 0 };
            let given =
                if value::is_quote(text, at) { value::quoted(text, at)? } else { value::bare(text, at, false)? };
            let inside = text.get(given.span.clone())?;
            let user = if name == "chpasswd" { inside.find(':')? + 1 } else { 0 };
            let is_one = is_password(inside.get(user..)?, true);
            is_one.then_some(Value { span: given.span.start + user..given.span.end, is_quoted: given.is_quoted })
        }
    }
}

/// True for a password. True for a password. If the command takes passwords, true for any text that is not a
/// placeholder, a number or an expression.
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
