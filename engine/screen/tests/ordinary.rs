//! The detector as ordinary life uses it: what people write down is found, by kind, and what they write about
//! credentials, and all that this repository itself says, stays as it is.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tessera_screen::findings;

const MIXED: &str = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789";
const HEX: &str = "0123456789abcdef";
const DIGITS: &str = "0123456789";

/// Draws letters in no order, the same in every run.
struct Draw(fastrand::Rng);

impl Draw {
    fn of(&mut self, length: usize, alphabet: &str) -> String {
        let alphabet: Vec<char> = alphabet.chars().collect();
        (0..length).map(|_| alphabet[self.0.usize(..alphabet.len())]).collect()
    }

    /// What somebody would choose: a word, a sign, some digits.
    fn chosen(&mut self) -> String {
        const WORDS: [&str; 10] =
            ["Harbour", "heron", "Kutter", "lantern", "Voilier", "puerto", "Gavan", "ferry", "Minato", "kelp"];
        const SIGNS: [&str; 6] = ["!", "#", "-", "$", "?", "+"];
        let (word, sign) = (WORDS[self.0.usize(..WORDS.len())], SIGNS[self.0.usize(..SIGNS.len())]);
        format!("{word}{sign}{}", self.0.u16(1100..9900))
    }

    /// The end of a token: letters of all kinds, whatever the dice say.
    fn token(&mut self, length: usize) -> String {
        format!("{}Q7k", self.of(length - 3, MIXED))
    }
}

/// What a row is about, how it is written (`@` is the credential), and how many in a hundred are found at least.
type Kind = (&'static str, &'static [&'static str], fn(&mut Draw) -> String, usize);

const CHOSEN_IN_PROSE: &[&str] = &[
    "the staging password is @, ask Mara for more",
    "the wifi password is @",
    "mara: the jenkins password is now @, tell lena",
    "tom: what's the pw for jenkins?\nmara: @",
    "Das WLAN-Passwort lautet @",
    "Das Kennwort fürs Gäste-WLAN ist @",
    "le mot de passe de la base est @",
    "la contraseña del servidor es @",
    "la password del server è @",
    "пароль от сервера: @",
    "数据库密码是 @",
    "データベースのパスワードは @ です",
    "log in as deploy with @",
    "our test login: qa@example.org / @",
    "vpn: tom / @",
    "User: tom\nPassword: @\n",
];
const CHOSEN_IN_FILES: &[&str] = &[
    "```\nexport DB_PASSWORD=@\n```",
    "```yaml\ndb:\n  password: @\n```",
    "[smtp]\nuser = \"mailer\"\npassword = \"@\"\n",
    "{\"password\": \"@\", \"port\": 5432}",
    "- **Password**: `@`\n",
    "| host | user | password |\n|---|---|---|\n| nas | root | @ |\n",
    "environment:\n  - MYSQL_ROOT_PASSWORD=@\n",
    "machine git.example.org login tom password @\n",
];
const CHOSEN_IN_COMMANDS: &[&str] = &[
    "$ curl -u tom:@ https://api.example.org",
    "$ PGPASSWORD=@ psql -h db -U app",
    "$ mysql -u root -p@ ledger",
    "$ sshpass -p '@' ssh tom@oak",
    "$ docker login -u ci --password @ registry.example.org",
    "psql \"host=db user=app password=@\"",
    "redis-cli -a @ ping",
];
const IN_ADDRESSES: &[&str] = &[
    "postgres://ledger:@@db.example.org:5432/ledger",
    "amqp://svc:@@mq:5672/",
    "jdbc:oracle:thin:app/@@ora1:1521/LEDGER",
    "ssh deploy:@@birch.example.org",
    "https://tom:@@git.example.org/acme/ledger.git",
];
const OF_TOKENS: &[&str] = &[
    "API_TOKEN=@",
    "the bearer token for the api: @",
    "Authorization: Bearer @",
    "client_secret: @",
    "X-Api-Key: @",
    "Cookie: sessionid=@; theme=dark",
    "const token = \"@\";",
    "remember that my API key is @",
];
const OF_DIGITS: &[&str] = &[
    "PIN for the alarm is @",
    "my bank pin is @",
    "door code for the office is @",
    "Die PIN vom Tresor ist @",
    "PIN: @",
];

const KINDS: &[Kind] = &[
    ("chosen, in prose", CHOSEN_IN_PROSE, Draw::chosen, 97),
    ("chosen, in files", CHOSEN_IN_FILES, Draw::chosen, 97),
    ("chosen, in commands", CHOSEN_IN_COMMANDS, Draw::chosen, 97),
    ("in addresses", IN_ADDRESSES, |draw| draw.token(14), 97),
    ("drawn, of both cases", OF_TOKENS, |draw| draw.token(32), 99),
    ("drawn, hexadecimal", OF_TOKENS, |draw| format!("{}7f3", draw.of(29, HEX)), 96),
    ("digits", OF_DIGITS, |draw| format!("{}7", draw.of(4, DIGITS)), 99),
    ("tokens with a prefix", &["push with @ for now", "@"], |draw| format!("{}_{}", "ghp", draw.token(36)), 99),
];

#[test]
fn of_each_kind_what_people_write_down_is_found() {
    let mut draw = Draw(fastrand::Rng::with_seed(7));
    let mut rows = 0;
    for (kind, texts, drawn, floor) in KINDS {
        let (mut whole, mut all) = (0, 0);
        let mut missed = Vec::new();
        for _ in 0..12 {
            for text in *texts {
                let credential = drawn(&mut draw);
                // The first `@` that no name of mail or of a host stands before is the credential's place.
                let at = place(text);
                let text = format!("{}{credential}{}", &text[..at], &text[at + 1..]);
                let span = at..at + credential.len();
                let is_found =
                    findings(&text).iter().any(|found| found.span.start <= span.start && found.span.end >= span.end);
                all += 1;
                whole += usize::from(is_found);
                missed.extend((!is_found).then_some(text));
            }
        }
        rows += all;
        eprintln!("{kind}: {whole} of {all}");
        assert!(whole * 100 >= all * floor, "{kind}: {whole} of {all}, missed {missed:#?}");
    }
    assert!(rows >= 300, "{rows}");
}

fn place(text: &str) -> usize {
    let is_own = |at: usize| !text[..at].ends_with(|before: char| before.is_ascii_alphanumeric());
    let at = text.match_indices('@').map(|(at, _)| at).find(|at| is_own(*at) || text[..*at].ends_with("-p"));
    at.unwrap()
}

/// Texts that speak of credentials and hold none.
const HARMLESS: &str = include_str!("harmless.txt");

#[test]
fn what_speaks_of_credentials_and_holds_none_is_left_alone() {
    let texts: Vec<String> = HARMLESS.lines().map(|line| line.replace("\\n", "\n")).collect();
    let flagged: Vec<_> =
        texts.iter().filter(|text| !findings(text).is_empty()).map(|text| (text, findings(text))).collect();
    assert!(texts.len() >= 280, "{}", texts.len());
    assert!(flagged.len() <= 1, "{flagged:#?}");
}

/// What the sources and documents of the repository say, without tests and without this crate, six lines at a time, and
/// every memory of the fixtures.
#[test]
fn what_the_repository_says_is_left_alone() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in ["src", "engine/src", "hooks/src", "mcp/src", "api/src", "docs", "fixtures/corpus"] {
        walk(&root.join(folder), &mut files);
    }
    files.sort();
    let mut texts = BTreeMap::new();
    for file in &files {
        let Ok(whole) = fs::read_to_string(file) else { continue };
        let is_corpus = file.extension().is_some_and(|ending| ending == "jsonl");
        let source = whole.split("#[cfg(test)]").next().unwrap_or_default();
        let lines: Vec<&str> = source.lines().collect();
        for (number, chunk) in lines.chunks(if is_corpus { 1 } else { 6 }).enumerate() {
            texts.insert((file.clone(), number), chunk.join("\n"));
        }
    }
    let flagged: Vec<_> = texts.iter().filter(|(_, text)| !findings(text).is_empty()).collect();
    eprintln!("{} of {}", flagged.len(), texts.len());
    assert!(texts.len() > 3000, "{}", texts.len());
    assert!(flagged.len() * 1000 <= texts.len(), "{flagged:#?}");
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    const ENDINGS: [&str; 7] = ["rs", "md", "toml", "sql", "jsonl", "yaml", "sh"];
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_test = path.components().any(|part| part.as_os_str().to_string_lossy().contains("tests"));
        if is_test {
            continue;
        }
        if path.is_dir() {
            walk(&path, files);
        } else if path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known)) {
            files.push(path);
        }
    }
}
