//! Credentials of the kinds that detectors are known for, and those that they are known to miss: all are found.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may")]

use tessera_screen::findings;

/// The credential stands in the text, and the findings cover it.
#[track_caller]
fn found(text: &str, credential: &str) {
    let at = text.find(credential).unwrap_or_else(|| panic!("{credential} is not in {text}"));
    let mut covered: Vec<bool> = vec![false; text.len()];
    for finding in findings(text) {
        covered[finding.span].fill(true);
    }
    assert!(covered[at..at + credential.len()].iter().all(|covered| *covered), "{text}: {:?}", findings(text));
}

/// Letters and digits in no order, so many, always the same.
fn drawn(length: usize, alphabet: &str) -> String {
    let alphabet: Vec<char> = alphabet.chars().collect();
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut draw = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        alphabet[usize::try_from(state >> 33).unwrap() % alphabet.len()]
    };
    (0..length).map(|_| draw()).collect()
}

#[test]
fn a_token_in_pieces_is_found() {
    let token = format!("ghp_{}", drawn(36, MIXED));
    let (one, two) = token.split_at(20);
    for joint in ["\\\n", "\" + \"", "\"\n  + \""] {
        let text = format!("run = \"deploy {one}{joint}{two}\" and go");
        found(&text, &format!("{one}{joint}{two}"));
    }
}

const MIXED: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const CAPITALS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const HEX: &str = "0123456789abcdef";

/// The eleven classes of the older system's detector, in the shapes its rules name.
#[test]
fn every_class_of_the_older_detector_is_found() {
    let body = drawn(320, MIXED);
    for label in ["RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY"] {
        let block = format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----");
        found(&block, &block);
    }
    let access = format!("AKIA{}", drawn(16, CAPITALS));
    found(&format!("aws_access_key_id = {access}"), &access);
    let session = format!("ASIA{}", drawn(16, CAPITALS));
    found(&format!("use {session} for the upload"), &session);
    for prefix in ["ghp", "gho", "ghs"] {
        let token = format!("{prefix}_{}", drawn(36, MIXED));
        found(&format!("push with {token}"), &token);
    }
    for scheme in ["postgresql", "mysql", "mongodb+srv", "redis", "amqp"] {
        let password = drawn(14, MIXED);
        found(&format!("{scheme}://svc:{password}@db.example.internal/app"), &password);
    }
    let pair = "c3ZjOk9iTm9rWWU0T2NSRjJnOUx4";
    found(&format!("Authorization: Basic {pair}"), pair);
    let token = drawn(40, MIXED);
    found(&format!("Authorization: Bearer {token}"), &token);
    for name in ["api_key", "api-key", "apikey"] {
        found(&format!("{name}: {token}"), &token);
    }
    for name in ["password", "passwd", "pwd"] {
        found(&format!("{name} = Xy7kQ9mB2z"), "Xy7kQ9mB2z");
    }
    found(&format!("token: {token}"), &token);
    found(&format!("secret = {token}"), &token);
    let hex = drawn(32, HEX);
    found(&format!("key={hex}, secret_key={hex}"), &hex);
    found(&format!("secret: {hex}"), &hex);
    found(&format!("credential = {token}"), &token);
    found(&format!("auth: {token}"), &token);
}

/// What a review found kept in clear: tokens, addresses, prose in other languages, and letters that hide.
#[test]
fn credentials_that_were_once_kept_in_clear_are_found() {
    let mixed = |length| drawn(length, MIXED);
    let hex = |length| drawn(length, HEX);
    let tokens = [
        format!("https://hooks.slack.com/services/T{}/B{}/{}", drawn(8, CAPITALS), drawn(8, CAPITALS), mixed(24)),
        format!("https://discord.com/api/webhooks/712516629128812215/{}", mixed(68)),
        format!("GOCSPX-{}", mixed(28)),
        format!("SG.{}.{}", mixed(22), mixed(43)),
        format!("SK{}", hex(32)),
        format!("key-{}", hex(32)),
        format!("849629476:AAG{}", mixed(32)),
        format!("hvs.{}", mixed(95)),
        format!("dop_v1_{}", hex(64)),
        format!("{}.atlasv1.{}", mixed(14), mixed(67)),
        format!("glpat-{}", mixed(20)),
        format!("npm_{}", mixed(36)),
    ];
    for token in &tokens {
        found(&format!("remember that the bot uses {token} from now on"), token);
    }
    for (text, credential) in [
        (
            "https://acct.blob.core.windows.net/c?sv=2022-11-02&sig=m6cGECoYPikeHZo45QJfdwtVmbgD4mJ4sF94L8kzFYo%3D",
            "m6cGECoYPikeHZo45QJfdwtVmbgD4mJ4sF94L8kzFYo%3D",
        ),
        ("redis://:txriVxboK1@cache:6379/0", "txriVxboK1"),
        ("curl -u admin:KestrelZx9!65 https://nexus.example.internal/", "KestrelZx9!65"),
        ("Das Passwort für den Server lautet Winter!4711x", "Winter!4711x"),
        ("la contraseña del servidor es Madrid#2207", "Madrid#2207"),
        ("wifi password hunter22", "hunter22"),
        ("db.example.com:5432:app:svc:qFpX9#kk2", "qFpX9#kk2"),
        ("PIN is 4711", "4711"),
        (
            "my seed phrase: absorb abuse abstract account absent achieve act access accident above able acid",
            "absorb abuse abstract account absent achieve act access accident above able acid",
        ),
        ("p a s s w o r d : Xy7kQ9mB2z", "Xy7kQ9mB2z"),
        ("ｐａｓｓｗｏｒｄ：33ivo3x0f5", "33ivo3x0f5"),
        ("password: Winter\u{200b}horse!30", "Winter\u{200b}horse!30"),
        ("pass\u{200d}word: Winterhorse!30", "Winterhorse!30"),
        ("ｐａｓｓｗｏｒｄ： ｈｕｎｔｅｒ２２", "ｈｕｎｔｅｒ２２"),
        ("Cookie: sessionid=kbwnbbbbjewecpfxie9y1rghm61aw90j; theme=dark", "kbwnbbbbjewecpfxie9y1rghm61aw90j"),
        (
            "api secret: d7bb71c15ae422d99e0e6b47154c158931cead8db0f22ed75a72501c8624baef",
            "d7bb71c15ae422d99e0e6b47154c158931cead8db0f22ed75a72501c8624baef",
        ),
        ("client_secret=950880128e1e6260179acaf4df490b08", "950880128e1e6260179acaf4df490b08"),
    ] {
        found(text, credential);
    }
}
