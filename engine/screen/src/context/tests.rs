//! What is found and what is not, by language and by syntax.

use super::*;

mod wording;

/// The values found in a text.
fn found(text: &str) -> Vec<&str> {
    let mut spans: Vec<_> = findings(text).into_iter().map(|finding| finding.span).collect();
    spans.sort_by_key(|span| span.start);
    spans.into_iter().map(|span| &text[span]).collect()
}

/// Each text with a value in the place of `@@`, for several values: the value is found, and nothing else.
#[track_caller]
fn all_found(texts: &[&str], values: &[&str]) {
    let mut missed = Vec::new();
    for text in texts {
        for value in values {
            let text = text.replace("@@", value);
            if found(&text) != [*value] {
                missed.push(format!("{text}  =>  {:?}", found(&text)));
            }
        }
    }
    assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), missed.join("\n"));
}

#[track_caller]
fn none_found(texts: &[&str]) {
    let wrong: Vec<_> = texts.iter().filter(|text| !found(text).is_empty()).collect();
    assert!(
        wrong.is_empty(),
        "{}",
        wrong.iter().map(|text| format!("{text}  =>  {:?}\n", found(text))).collect::<String>()
    );
}

const PASSWORDS: &[&str] = &["Xy7kQ9mB2z", "correcthorse#1482", "Sommer&4069", "hunter22", "9L2nOqiCHm!gx"];
const DRAWN: &[&str] = &["x7k9q2m4b8z1p5w3", "Qm7ZtB3xKp9LwR2vYs8NdF4h", "9f1cb4ae46ec494b2e2bb8198addfca2"];

#[test]
fn passwords_in_prose_are_found_in_many_languages() {
    all_found(
        &[
            "the staging db password is @@",
            "The password for the staging database is @@.",
            "my wifi password: @@ (guest network)",
            "wifi password @@",
            "the root password was changed to @@ yesterday",
            "Use pass @@ for the jenkins box",
            "remember: sudo password on build-box = @@",
            "User says the VPN PIN+password combo is @@ , rotate monthly",
            "Prod Grafana login: admin / @@",
            "you can log in with bob / @@",
            "credentials: bob:@@",
            "password is now @@, tell nobody",
            "ssh root@10.20.0.5 password is '@@'",
            "**Password:** `@@`",
            "the passphrase of the backup is \"@@\"",
            "Das Passwort für den Server lautet @@",
            "Passwort: @@",
            "das WLAN-Passwort ist jetzt @@",
            "Mein Kennwort ist „@@“.",
            "le mot de passe du serveur est @@",
            "Le mot de passe est « @@ »",
            "mot de passe : @@",
            "la contraseña del servidor es @@",
            "Contraseña: @@",
            "la clave del wifi es @@",
            "a senha do banco é @@",
            "la password del server è @@",
            "пароль от сервера: @@",
            "пароль — @@",
            "数据库密码是@@",
            "密码：@@",
            "服务器的密碼為 @@。",
            "パスワードは @@ です",
            "サーバーのパスワード：@@",
            "パスワードは「@@」です。",
            "비밀번호는 @@ 입니다",
            "het wachtwoord is @@",
            "I set the password of bob to @@",
            "the password's @@",
            "the password to the safe is @@",
            "<b>Password:</b> @@",
            "- password: **@@**",
            "| db password | @@ |",
            "use @@ as the password for bob",
            "@@ is the wifi password",
            "log in as alice with @@",
            "Zugangsdaten: admin / @@",
            "identifiants : bob / @@",
            "le nouveau mot de passe, c'est @@",
            "the wifi key is @@",
        ],
        PASSWORDS,
    );
}

#[test]
fn passwords_are_found_in_every_syntax() {
    all_found(
        &[
            "DB_PASSWORD=@@",
            "export PGPASSWORD='@@'",
            "set MYSQL_PWD=@@",
            "$env:DB_PASSWORD = \"@@\"",
            "db:\n  user: app\n  password: @@\n",
            "password: \"@@\" # of the app",
            "password: >-\n  @@\n",
            "{\"username\":\"svc\",\"password\":\"@@\"}",
            "{\\\"username\\\":\\\"svc\\\",\\\"password\\\":\\\"@@\\\"}",
            "password = \"@@\"",
            "[db]\nuser = \"app\"\npassword = '@@'\n",
            "spring.datasource.password=@@",
            "<add key=\"SmtpPassword\" value=\"@@\"/>",
            "<password>@@</password>",
            "<entry key=\"db.password\">@@</entry>",
            "password => \"@@\",",
            ":password => '@@'",
            "password := \"@@\"",
            "String password = \"@@\";",
            "let password: String = \"@@\".into();",
            "const dbPassword = '@@';",
            "$password = '@@';",
            "define('DB_PASSWORD', '@@');",
            "if user == \"a\" and password == \"@@\":",
            "config[\"password\"] = \"@@\"",
            "connect(user='app', password='@@', host='db')",
            "self.password = b'@@'",
            "mysqladmin --password=@@ status",
            "mycli --user bob --password @@ --host db",
            "Connect-VIServer -User bob -Password @@",
            "sshpass -p @@ ssh root@web",
            "sshpass -p'@@' ssh root@web",
            "mysql -u root -p@@ app",
            "psexec \\\\10.0.0.1 -u bob -p @@ cmd",
            "curl -u admin:@@ https://nexus.example.internal/",
            "curl --user 'admin:@@' https://nexus.example.internal/",
            "Ansible become_pass: @@",
            "redis requirepass @@",
            "machine git.example.com login bob password @@",
            "machine git.example.com\n  login bob\n  password @@\n",
            "auth = ('bob', '@@')",
            "Server=db,1433;Database=B2B;User ID=app;Password=@@;Encrypt=True",
            "Provider=SQL;Uid=app;Pwd=@@;",
            "jdbc:postgresql://db/app?user=app&password=@@&ssl=true",
            "kafka sasl.jaas.config=PlainLoginModule required username=\"svc\" password=\"@@\";",
            "ldap bind dn cn=svc,dc=ex password @@",
            "password %3D is not it, but password=@@ is",
            "setPassword(\"@@\")",
            "new User().withPassword('@@')",
            "CREATE USER bob IDENTIFIED BY '@@';",
            "echo 'bob:@@' | chpasswd",
            "echo '@@' | sudo -S ls",
            "redis-cli -h cache -a @@ ping",
        ],
        &["Xy7kQ9mB2z", "correcthorse#1482", "9L2nOqiCHm!gx"],
    );
}

#[test]
fn passwords_are_found_in_options() {
    all_found(
        &[
            "ssh-keygen -N '@@' -f id",
            "unzip -P @@ a.zip",
            "7z x -p@@ a.7z",
            "ldapsearch -D cn=admin -w @@ -b dc=ex",
            "xfreerdp /u:bob /p:@@ /v:host",
            "htpasswd -b users bob @@",
            "smbclient //srv/share -U bob%@@",
            "net use z: \\\\srv\\share /user:bob @@",
            "keytool -storepass @@ -list",
            "http -a bob:@@ GET x",
            "wpa: network={ ssid=\"x\" psk=\"@@\" }",
            "docker run -e MYSQL_ROOT_PASSWORD=@@ mysql:8",
            "#define WIFI_PASSWORD \"@@\"",
        ],
        &["Xy7kQ9mB2z", "correcthorse#1482", "9L2nOqiCHm!gx"],
    );
}

#[test]
fn passwords_in_addresses_are_found() {
    all_found(
        &[
            "postgres://app:@@@db.example.internal:5432/app",
            "redis://:@@@cache:6379/0",
            "rediss://default:@@@cache:6380",
            "mongodb+srv://svc:@@@cluster0.example.mongodb.net/app?w=majority",
            "amqps://svc:@@@rabbit/vh",
            "https://bob:@@@git.example.com/x.git",
            "url = \"mysql://root:@@@mysql/app\"",
            "nats://svc:@@@nats:4222, and more",
            "(ftp://up:@@@ftp.example.com/)",
        ],
        &["E88LXUyWMcPEaRx0NodY", "g7nWg5HXUkt", "x9%40mK!q2", "sunflower"],
    );
    none_found(&[
        "postgres://${USER}:${PASS}@db/app",
        "mongodb+srv://<username>:<password>@cluster.mongodb.net/app",
        "redis://localhost:6379",
        "http://127.0.0.1:8080/a@b",
        "https://user:password@example.com",
        "postgres://postgres:postgres@localhost/app",
        "ssh://git@github.com/acme/ledger.git",
        "https://example.com/@user/x",
        "mailto://bob@example.com",
    ]);
}

#[test]
fn tokens_are_found_where_they_are_given() {
    all_found(
        &[
            "api_key = \"@@\"",
            "API_KEY=@@",
            "apiKey: '@@',",
            "x-api-key: @@",
            "fbApiKey: \"@@\"",
            "client_secret=@@",
            "CLIENT_SECRET = '@@';",
            "api secret: @@",
            "the api key is @@",
            "The access token for staging is @@, keep it",
            "export ACCESS_TOKEN=@@",
            "https://api.example.com/v1?access_token=@@&x=1",
            "https://x.example/c?sv=2022-11-02&sig=@@&se=2027-01-01",
            "Authorization: Bearer @@",
            "curl -H \"Authorization: Bearer @@\" https://api.example.com",
            "-H 'Authorization: Token @@'",
            "\"Authorization\": \"ApiKey @@\"",
            "Cookie: theme=dark; sessionid=@@; lang=de",
            "Set-Cookie: SESSION_TOKEN=@@; Path=/; HttpOnly",
            "SharedAccessKey=@@",
            "//registry.example.com/:_authToken=@@",
            "{\"access_token\": {\"value\": \"@@\"}}",
            "variable \"api_token\" {\n  default = \"@@\"\n}",
            "apiKey = process.env.KEY || '@@'",
            "app = App(api_key=\"@@\")",
            "tool push --api-key @@ --source x",
            "<apiKey>@@</apiKey>",
        ],
        DRAWN,
    );
}

#[test]
fn encoded_pairs_are_found() {
    all_found(
        &[
            "Authorization: Basic @@",
            "curl -H 'Authorization: Basic @@' https://x",
            "{\"auths\":{\"ghcr.io\":{\"auth\":\"@@\"}}}",
            "kind: Secret\napiVersion: v1\ndata:\n  password: @@\n",
        ],
        &["Ym9iOnFTMm16S2FxOEY2a1hVWHlQeDdH", "c3ZjOk9iTm9rWWU0T2NSRjJn"],
    );
}

#[test]
fn what_is_encoded_once_more_is_found() {
    all_found(
        &[
            "GET /login?next=%2F&password%3D@@%26user=bob",
            "{\"body\": \"password\\u003d@@\"}",
            "password=&quot;@@&quot;",
        ],
        &["Xy7kQ9mB2z", "correcthorse1482"],
    );
    let block = "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQpNSUlFcEFJQkFBS0NBUUVBdjZZ";
    assert_eq!(found(&format!("users:\n- user:\n    client-key-data: {block}\n")), [block]);
    let public = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSURCVENDQWUyZ0F3SUJBZ0lJ";
    assert_eq!(found(&format!("certificate-authority-data: {public}")), Vec::<&str>::new());
    let key = "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\",\"d\":\"@@\"}";
    all_found(&[key], &["jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"]);
    all_found(
        &["bob:@@", "users: {\"bob\": \"@@\"}"],
        &["{SSHA}W6ph5Mm5Pz8GgiULbPgzG37mj9gx3kQ2", "pbkdf2_sha256$260000$Qw7xZ$k3Xq9Lm2Vb8Ny4Rt6Hs1Jd5Fg7Kp0Wz2c"],
    );
}

#[test]
fn keys_in_blocks_are_found_whole() {
    let body = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gt\nZWQyNTUxOQAAACD9k2Lq7\n";
    for name in ["RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED ", ""] {
        let block = format!("-----BEGIN {name}PRIVATE KEY-----\n{body}-----END {name}PRIVATE KEY-----");
        assert_eq!(found(&format!("my key:\n{block}\nkeep it")), [block.as_str()]);
        let flat = block.replace('\n', "\\n");
        assert_eq!(found(&format!("key = \"{flat}\"")), [flat.as_str()]);
        let cut = format!("-----BEGIN {name}PRIVATE KEY-----\n{}", body.trim_end());
        assert_eq!(found(&cut), [cut.as_str()]);
        assert_eq!(found(&format!("{cut}\n\nThen the log went on with words.")), [cut.as_str()]);
        let quoted = block.replace('\n', "\n> ");
        assert_eq!(found(&format!("> {quoted}")), [quoted.as_str()]);
    }
    let pgp = format!(
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n{body}-----END PGP PRIVATE KEY BLOCK-----"
    );
    assert_eq!(found(&pgp), [pgp.as_str()]);
    let putty = format!(
        "PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\nPublic-Lines: 1\nAAAAB3Nz\nPrivate-Lines: \
        2\n{body}Private-MAC: 0f3a"
    );
    assert_eq!(found(&putty), [putty.as_str()]);
    none_found(&[
        "-----BEGIN PRIVATE KEY-----\nanything\n-----END PRIVATE KEY-----",
        "-----BEGIN OPENSSH PRIVATE KEY----------END OPENSSH PRIVATE KEY-----",
        "the file begins with -----BEGIN RSA PRIVATE KEY----- and goes on with lines of letters until the other end \
        of it",
        "-----BEGIN CERTIFICATE-----\nMIIBkTCB+wIJAKHHIG\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\nMFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAL8\n-----END PUBLIC KEY-----",
    ]);
    let wireguard =
        format!("[Interface]\nPrivateKey = {}=\nAddress = 10.0.0.2/32", "tpoVyeVOJIYfWC9fyT3YiGv8pqGc2aJmpjt5Qg6tYw");
    assert_eq!(found(&wireguard), ["tpoVyeVOJIYfWC9fyT3YiGv8pqGc2aJmpjt5Qg6tYw="]);
}

#[test]
fn phrases_codes_and_pins_are_found() {
    let words = "absorb abuse abstract account absent achieve act access accident above able acid";
    assert_eq!(found(&format!("my wallet seed phrase: {words}")), [words]);
    assert_eq!(found(&format!("mnemonic is \"{words} {words}\"")), [format!("{words} {words}").as_str()]);
    let numbered = "1. absorb 2. abuse 3. abstract 4. account 5. absent 6. achieve 7. act 8. access 9. accident 10. above 11. able 12. acid";
    assert_eq!(found(&format!("Recovery phrase:\n{numbered}")), [numbered.trim_start_matches("1. ")]);
    assert_eq!(found("GitHub recovery code 065f6-8525a"), ["065f6-8525a"]);
    assert_eq!(found("backup codes: 1234-9876, 8273-1928\n4410-2235"), ["1234-9876", "8273-1928", "4410-2235"]);
    assert_eq!(found("backup codes:\n1. 4f8a-92bd\n2. 77ac-01fe"), ["4f8a-92bd", "77ac-01fe"]);
    assert_eq!(found("backup codes: 8291 0283, 1928 3746"), ["8291 0283", "1928 3746"]);
    assert_eq!(found("SIM PIN 1234, PUK 12345678"), ["1234", "12345678"]);
    assert_eq!(found("PIN is 4711"), ["4711"]);
    assert_eq!(found("The PIN of the card: 0815."), ["0815"]);
    assert_eq!(found("my pin is 4711"), ["4711"]);
    assert_eq!(
        found("otpauth://totp/GitHub:bob?secret=Q2BB5BUBRME2XY2QA73T2FRPIFWOZ6IV&issuer=GitHub"),
        ["Q2BB5BUBRME2XY2QA73T2FRPIFWOZ6IV"]
    );
    assert_eq!(found("db.example.com:5432:app:svc:#QzGhkb$i6gK"), ["#QzGhkb$i6gK"]);
    assert_eq!(
        found("root:$6$ufO5lzvD$iUBYqIPbnthcBZaeqS8NIj8xFrWvs6Get9zNNR262l03:19000:0"),
        ["$6$ufO5lzvD$iUBYqIPbnthcBZaeqS8NIj8xFrWvs6Get9zNNR262l03"]
    );
    none_found(&[
        "the seed phrase is kept by the finance team in a safe and nobody else has it, which is what the auditors want",
        "LED on pin 13, button on PIN 7",
        "PIN 2026-11-22 was the day",
        "recovery code 404 means that the page is gone",
        "pinned at 1.95.0",
        "the mnemonic for the order of colours is a poem",
    ]);
}

#[test]
fn ordinary_notes_are_left_alone() {
    none_found(&[
        "password is required",
        "the password is stored in 1Password",
        "token is expired",
        "the secret is out",
        "the key insight: cache the tokenizer",
        "password: string",
        "password: String,",
        "pub password: Option<SecretString>,",
        "pwd: $(pwd)",
        "password = os.environ[\"DB_PASSWORD\"]",
        "const token = process.env.GITHUB_TOKEN;",
        "password=getpass.getpass()",
        "export TOKEN=$(vault kv get -field=token secret/app)",
        "api_key: <YOUR_API_KEY>",
        "password: xxxxxxxxxxxx",
        "password: ********",
        "password: {{ vault_password }}",
        "password: %s",
        "password: [REDACTED]",
        "password: [secret s7k4q2: password]",
        "The staging password is [secret dropped: password].",
        "PGPASSWORD is set in CI",
        "set MEMORY_API_KEY to enable hybrid mode",
        "token_count: 128000",
        "max_tokens=4096",
        "secretKeyRef:\n  name: db\n  key: password",
        "session tokens are stored in Redis db 3",
        "secret = None",
        "credential_id: none",
        "auth: required",
        "The function calculateAuthenticationTokenExpiry lives in auth/expiry.rs",
        "public_key: ssh-rsa",
        "public key fingerprint SHA256:5752W48OxTOXne67IekyHdbCRds+bTdCXX304t5EPW0",
        "commit 4a9a619e5f6130a76388774cb9e41c0834a16716 fixed the pager bug",
        "password hashing with argon2id, 64 MiB",
        "We hash passwords with bcrypt; the token is a JWT.",
        "The token is 128-bit and the key is sha256 of it",
        "user authentication: OAuth2 with PKCE",
        "def login(self, user = '', password = '', domain = ''):",
        "usernameLabel:\"Username:\",passwordLabel:\"Password:\",rememberMeLabel:\"Remember me:\"",
        "if (password !== confirmPassword) throw new Error('mismatch')",
        "password: passwordInput.value,",
        "let password = read_password(&path)?;",
        "password_file: /run/secrets/db_password",
        "VAULT_ADDR=https://vault.example.internal:8200",
        "das Passwort ist abgelaufen",
        "Das Passwort muss mindestens 12 Zeichen haben",
        "le mot de passe est obligatoire",
        "la clave es cachear el tokenizer",
        "密码是必填项",
        "パスワードは必須です",
        "Basic authentication is off",
        "Bearer tokens expire after 15 minutes",
        "curl -u username:token",
        "curl -u \"${USER}:${APIKEY}\"",
        "docker run -u 1000:1000 -p 8080:80 image",
        "mkdir -p build/output",
        "cookie consent banner: theme=dark",
        "the login page loads 3s slower",
        "token: ${{ secrets.GITHUB_TOKEN }}",
    ]);
}

#[test]
fn code_and_questions_are_left_alone() {
    none_found(&[
        "a 97% test pass rate, but I want to get it to 100%.",
        "the deadline for OAuth integration and testing?",
        "const hashPassword = async (password) => bcrypt.hash(password, 10);",
        "password: (password) => check(password)",
        "fetch('/token?client_secret=' + secret + '&access_token=' + token)",
        "auth = Handler(listener=myStreamListener)",
        "client = Redis(password='mysecretpassword')",
        "await login('bob', 'password123')",
        "| password | yes |",
        "creds.insert(id, CredValue::new(&[2u8, 2u8]));",
        "fn(param0: *mut Credentials::SecHandle, param1: u32) -> HRESULT",
        "pub const E_INCORRECT_PASSWORD: HRESULT = 0x80090033_u32 as _;",
        "pub const NO_CREDENTIAL: HRESULT = -2146861007i32;",
        "lpPassword: LPCSTR,",
        "password = getpass.getpass('Password: ')",
        "const SECRETS: RapidSecrets = RapidSecrets::seed(0x123456);",
        "AttributeOID.CHALLENGE_PASSWORD: \"challengePassword\",",
        "# splits 'user[:passwd]@host[:port]' --> 'user[:passwd]', 'host[:port]'.",
        "let enc = tiktoken::get_encoding(\"cl100k_base\").unwrap();",
        "- Added a `passwd` field to `Group`",
        "req = BasicAuth(username, password)(req)",
        "the configuration of a [one-pass DFA](DFA).",
        "pass `spec=True`, or pass -march=x86-64 to the compiler",
        "return Err(Error::Auth(AuthError::Unsupported).into());",
        "{\"type\": \"password\", \"label\": \"Enter\"}",
        "it is faster than a two-pass memchr2+SWAR loop",
        "this secret is unambiguously binary",
        "signature, token costs: `write.rs:161-171`",
        "<input type=\"password\" name=\"password\" placeholder=\"Password\">",
    ]);
}

#[test]
fn what_was_taken_out_is_not_found_again() {
    for text in ["password=[secret s1: password]", "key [secret s2k: API key] is for [secret s3: token] hunter22"] {
        assert_eq!(found(text), Vec::<&str>::new(), "{text}");
    }
}
