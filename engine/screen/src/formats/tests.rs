//! Tokens made up here, by the look their providers give them.

use super::*;

const LOWER: &str = "k3v9x2qa7wz5t8rj4mb6nd1fg0hpcs";
const UPPER: &str = "K3V9X2QA7WZ5T8RJ4MB6ND1FG0HPCS";
const MIXED: &str = "k3V9x2Qa7Wz5T8rJ4mB6nD1fG0hPcS";
const HEX: &str = "8f2b61c9d07e4a35";

/// So many signs of an alphabet, drawn; each seed draws others.
fn drawn(alphabet: &str, length: usize, seed: usize) -> String {
    let mut random = fastrand::Rng::with_seed(7 + seed as u64);
    let mut last = 0;
    let signs: Vec<u8> = alphabet.bytes().collect();
    let draw = (0..length).map(|_| {
        last = (last + random.usize(2..signs.len() - 1)) % signs.len();
        char::from(signs[last])
    });
    draw.collect()
}

fn w(length: usize) -> String {
    drawn(MIXED, length, length)
}

fn l(length: usize) -> String {
    drawn(LOWER, length, length)
}

fn u(length: usize) -> String {
    drawn(UPPER, length, length)
}

fn h(length: usize) -> String {
    drawn(HEX, length, length)
}

fn uuid() -> String {
    format!("{}-{}-{}-{}-{}", h(8), h(4), drawn(HEX, 4, 91), drawn(HEX, 4, 92), h(12))
}

/// A token of each provider: what stands before its random part, and that.
#[expect(clippy::too_many_lines, reason = "a table")]
fn providers() -> Vec<(&'static str, &'static str, String)> {
    vec![
        ("GitHub token", "ghp_", w(36)),
        ("GitHub token", "github_pat_", format!("{}_{}", w(22), w(59))),
        ("GitLab token", "glpat-", w(20)),
        ("GitLab token", "glptt-", h(40)),
        ("GitLab token", "GR1348941", w(20)),
        ("Bitbucket password", "ATBB", w(32)),
        ("Atlassian token", "ATATT3x", w(180)),
        ("CircleCI token", "CCIPAT_", format!("{}_{}", w(22), h(40))),
        ("Buildkite token", "bkua_", h(40)),
        ("Sourcegraph token", "sgp_", h(40)),
        ("SonarQube token", "squ_", h(40)),
        ("StackHawk key", "hawk.", format!("{}.{}", w(20), w(20))),
        ("Vault token", "hvs.", w(90)),
        ("Vault token", "s.", w(24)),
        ("Doppler token", "dp.pt.", w(43)),
        ("Doppler token", "dp.st.dev.", w(43)),
        ("Infisical token", "st.", format!("{}.{}.{}", h(24), h(32), drawn(HEX, 32, 93))),
        ("1Password secret key", "A3-", format!("{}-{}-{}-{}-{}", u(6), u(11), u(5), u(5), u(5))),
        ("age secret key", "AGE-SECRET-KEY-1", u(58)),
        ("Pulumi token", "pul-", h(40)),
        ("Prefect token", "pnu_", w(36)),
        ("Octopus Deploy key", "API-", u(26)),
        ("Harness key", "pat.", format!("{}.{}.{}", w(22), h(24), w(20))),
        ("Infracost key", "ico-", w(32)),
        ("npm token", "npm_", w(36)),
        ("PyPI token", "pypi-AgEIcHlwaS5vcmc", w(140)),
        ("RubyGems key", "rubygems_", h(48)),
        ("crates.io token", "cio", w(32)),
        ("NuGet key", "oy2", l(43)),
        ("Clojars token", "CLOJARS_", l(60)),
        ("Docker token", "dckr_pat_", w(27)),
        ("Docker Swarm token", "SWMTKN-1-", format!("{}-{}", l(50), l(25))),
        ("JFrog key", "AKC", w(70)),
        ("AWS access key", "AKIA", u(16)),
        ("AWS access key", "ASIA", u(16)),
        ("AWS AppSync key", "da2-", l(26)),
        ("Google API key", "AIza", w(35)),
        ("Google token", "ya29.", w(120)),
        ("Google client secret", "GOCSPX-", w(28)),
        ("Alibaba Cloud key", "LTAI", w(20)),
        ("Tencent Cloud key", "AKID", w(32)),
        ("Yandex Cloud key", "AQVN", w(36)),
        ("Scaleway key", "SCW", u(17)),
        ("Exoscale key", "EXO", h(24)),
        ("DigitalOcean token", "dop_v1_", h(64)),
        ("Heroku key", "HRKU-AA", w(58)),
        ("Fly.io token", "fo1_", w(43)),
        ("Netlify token", "nfp_", w(36)),
        ("Render key", "rnd_", w(28)),
        ("Tailscale key", "tskey-auth-", format!("{}-{}", w(17), w(32))),
        ("OpenShift token", "sha256~", w(43)),
        ("Portainer key", "ptr_", w(44)),
        ("PlanetScale token", "pscale_tkn_", w(43)),
        ("MongoDB Atlas secret", "mdb_sa_sk_", w(40)),
        ("Supabase token", "sbp_", h(40)),
        ("Neon key", "napi_", l(64)),
        ("Astra DB token", "AstraCS:", format!("{}:{}", w(24), h(64))),
        ("ClickHouse key", "4b1d", w(38)),
        ("Pinecone key", "pcsk_", w(68)),
        ("Databricks token", "dapi", h(32)),
        ("Grafana token", "glsa_", format!("{}_{}", w(32), h(8))),
        ("Grafana token", "glc_", w(90)),
        ("New Relic key", "NRAK-", u(27)),
        ("Sentry token", "sntryu_", h(64)),
        ("Dynatrace token", "dt0c01.", format!("{}.{}", u(24), u(64))),
        ("Honeycomb key", "hcaik_", l(58)),
        ("Axiom token", "xaat-", uuid()),
        ("PostHog key", "phx_", w(43)),
        ("Adafruit key", "aio_", w(28)),
        ("Stripe key", "sk_live_", w(24)),
        ("Square token", "sq0atp-", w(22)),
        ("Shopify token", "shpat_", h(32)),
        ("Braintree token", "access_token$production$", format!("{}${}", l(16), h(32))),
        ("Plaid token", "access-sandbox-", uuid()),
        ("Flutterwave key", "FLWSECK_TEST-", format!("{}-X", h(32))),
        ("Razorpay key", "rzp_live_", w(14)),
        ("EasyPost key", "EZAK", w(54)),
        ("Duffel token", "duffel_test_", w(43)),
        ("Shippo token", "shippo_live_", h(40)),
        ("SendGrid key", "SG.", format!("{}.{}", w(22), w(43))),
        ("Mailgun key", "key-", h(32)),
        ("Brevo key", "xkeysib-", format!("{}-{}", h(64), w(16))),
        ("MailerSend token", "mlsn.", h(64)),
        ("Resend key", "re_", format!("{}_{}", w(8), w(24))),
        ("Twilio key", "SK", h(32)),
        ("Slack token", "xoxb-", format!("{}-{}-{}", 2_948_301_775_u64, 5_038_812_746_u64, w(24))),
        ("Slack token", "xapp-1-", format!("A{}-{}-{}", u(10), 7_302_558_916_u64, h(64))),
        ("Slack webhook", "https://hooks.slack.com/services/", format!("T{}/B{}/{}", u(8), u(8), w(24))),
        ("Discord webhook", "https://discord.com/api/webhooks/", format!("{}/{}", 748_291_650_382_917_465_u64, w(68))),
        ("Facebook token", "EAA", w(120)),
        ("Anthropic key", "sk-ant-api03-", w(95)),
        ("OpenAI key", "sk-proj-", w(120)),
        ("OpenRouter key", "sk-or-v1-", h(64)),
        ("Hugging Face token", "hf_", w(34)),
        ("Groq key", "gsk_", w(52)),
        ("xAI key", "xai-", w(80)),
        ("Perplexity key", "pplx-", w(48)),
        ("Replicate token", "r8_", w(37)),
        ("Tavily key", "tvly-", w(32)),
        ("LangSmith key", "lsv2_pt_", format!("{}_{}", h(32), h(10))),
        ("NVIDIA key", "nvapi-", w(64)),
        ("Notion token", "ntn_", w(46)),
        ("Linear key", "lin_api_", w(40)),
        ("Figma token", "figd_", w(40)),
        ("Postman key", "PMAK-", format!("{}-{}", h(24), h(34))),
        ("HubSpot token", "pat-eu1-", uuid()),
        ("Airtable token", "pat", format!("{}.{}", w(14), h(64))),
        ("Typeform token", "tfp_", w(44)),
        ("ReadMe key", "rdme_", l(70)),
        ("Frame.io token", "fio-u-", w(64)),
        ("Dropbox token", "sl.", w(136)),
    ]
}

fn of_kind(text: &str, kind: &str) -> Vec<String> {
    let found = findings(text).into_iter().filter(|finding| finding.kind.as_str() == kind);
    found.map(|finding| text[finding.span].to_owned()).collect()
}

#[test]
fn a_token_of_each_provider_is_found_whole() {
    let providers = providers();
    assert!(providers.len() > 100);
    for (kind, prefix, random) in providers {
        let token = format!("{prefix}{random}");
        for text in [
            token.clone(),
            format!("Use {token}, not the old one."),
            format!("x=\"{token}\"\ny=1"),
            format!("ä{{{token}}}"),
        ] {
            assert_eq!(of_kind(&text, kind), [token.as_str()], "{kind} in {text}");
        }
    }
}

#[test]
fn what_is_nearly_a_token_is_none() {
    for (kind, prefix, random) in providers() {
        let few = &random[..9.min(random.len() / 3)];
        let placeholder: String =
            random.chars().map(|sign| if sign.is_ascii_alphanumeric() { 'x' } else { sign }).collect();
        for text in [
            format!("see {prefix}{few} for more"),
            format!("see {prefix}{placeholder} for more"),
            format!("see {prefix}<your token> for more"),
            format!("see {}{prefix}{random}", MIXED.chars().next().unwrap()),
        ] {
            assert_eq!(of_kind(&text, kind), [""; 0], "{kind} in {text}");
        }
    }
}

#[test]
fn tokens_that_begin_with_something_else_are_found_by_what_is_in_them() {
    for (kind, token) in [
        ("Terraform token", format!("{}.atlasv1.{}", w(14), w(67))),
        ("Azure client secret", format!("{}8Q~{}", w(3), w(34))),
        ("Mailchimp key", format!("{}-us12", h(32))),
        ("MaxMind key", format!("{}_{}_mmk", w(6), w(29))),
        ("New Relic key", format!("{}NRAL", h(36))),
        ("Telegram token", format!("2948301775:AA{}", w(33))),
        ("DeepL key", format!("{}:fx", uuid())),
        ("Google client ID", format!("294830177512-{}.apps.googleusercontent.com", l(32))),
        ("Discord token", format!("M{}.{}.{}", w(23), w(6), w(38))),
        ("Firebase key", format!("{}:APA91b{}", w(11), w(134))),
        ("TrueNAS key", format!("3-{}", w(64))),
        ("JWT", format!("eyJ{}.eyJ{}.{}", w(33), w(50), w(43))),
        ("JWE", format!("eyJ{}..{}.{}.{}", w(33), w(16), w(60), w(22))),
        ("password hash", format!("$2b$12${}", w(53))),
        ("password hash", format!("$6${}${}", w(8), w(86))),
    ] {
        assert!(of_kind(&format!("it is {token}."), kind).contains(&token), "{kind}: {token} {:?}", findings(&token));
    }
    let account = format!("AccountName=store;AccountKey={}==;Suffix=x", w(86));
    assert_eq!(of_kind(&account, "Azure account key"), [format!("{}==", w(86))]);
}

#[test]
fn of_two_formats_for_one_token_the_first_of_the_table_names_it() {
    let token = format!("EAAA{}", w(56));
    let kinds: Vec<String> = crate::findings(&token).iter().map(|finding| finding.kind.as_str().to_owned()).collect();
    assert_eq!(kinds, ["Square token"]);
}

#[test]
fn every_row_finds_what_is_drawn_by_it() {
    let missed = prefixed::ROWS.iter().filter_map(|(pattern, kind)| {
        // Drawn by the pattern alone: a new row changes the token of no other.
        let seed = pattern.bytes().fold(0, |seed, byte| (31 * seed + usize::from(byte)) % 10_007);
        let token = pattern::drawn(pattern, |signs, length, at| drawn(signs, length, 100 * seed + at));
        let (before, token) = token.split_once('<').unwrap_or(("", &token));
        let text = format!("It is {before}{token} now");
        let is_found = of_kind(&text, kind).iter().any(|found| found == token);
        (!is_found).then(|| format!("{pattern}: {text} {:?}", findings(&text)))
    });
    assert_eq!(missed.collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn a_word_for_a_credential_or_a_provider_makes_a_token_of_what_was_drawn() {
    for (before, value) in [
        ("datadog_api_key: ", h(32)),
        ("DD_APP_KEY=", h(40)),
        ("acmeSecret = '", w(24)),
        ("the Acme API key is ", w(20)),
        ("heroku ", uuid()),
        ("cloudsmith ", h(40)),
        ("geocodifySECRET=", h(40)),
        ("stripe_key: ", l(14)),
        ("wallet private key ", format!("0x{}", h(64))),
        ("asana token ", l(32)),
        ("mapquest\nKEY\n", w(32)),
        ("{\"auth_token\": \"", l(26)),
    ] {
        let text = format!("{before}{value}\" and so on");
        assert!(findings(&text).iter().any(|found| text[found.span.clone()] == value), "{text} {:?}", findings(&text));
    }
}

#[test]
fn what_a_token_looks_like_names_it_before_what_is_said_of_it() {
    for text in [format!("secret-{}{}", "dop_v1_", h(64)), format!("token: {}{}%20", "dop_v1_", h(64))] {
        let kinds: Vec<_> = crate::findings(&text).into_iter().map(|finding| finding.kind.as_str()).collect();
        assert_eq!(kinds, ["DigitalOcean token"], "{text}");
    }
}

#[test]
fn what_was_drawn_for_something_else_is_none() {
    for text in [
        format!("commit {} fixed the pager", h(40)),
        format!("md5sum {}  backup.tar.gz", h(32)),
        format!("image sha256:{}", h(64)),
        format!("\"integrity\": \"sha512-{}==\"", w(86)),
        format!("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA{} bob@laptop", w(44)),
        format!("public key fingerprint SHA256:{}", w(43)),
        format!("request id {} failed", uuid()),
        format!("session {} resumed", uuid()),
        format!("ETag: \"{}\"", h(32)),
        format!("data:image/png;base64,{}", w(80)),
        format!("checksum = \"{}\"", h(64)),
        format!("csrf_token={}", w(40)),
        format!("partition key {}", uuid()),
        format!("{{\"key\": \"{}\"}}", uuid()),
        format!("We rotated the token. {} is the build", h(40)),
        format!("publicToken = \"{}\"", w(43)),
        "the token is stored in Redis db 3, the key insight was to cache it".to_owned(),
        "api_key: <YOUR_API_KEY>".to_owned(),
        "export TOKEN=$(vault kv get -field=token secret/app)".to_owned(),
        "key = AKIAIOSFODNN7EXAMPLE".to_owned(),
        format!("STRIPE_KEY=sk_test_{}", ["4eC39HqLyjWD", "arjtT1zdp7dc"].concat()),
        format!("AccountKey={}==", "0".repeat(86)),
        "token_count: 128000, max_tokens=4096".to_owned(),
        "let key = PrivateKeyDer::Sec1(key); SetAccessTokenExpiry2(tokenizer)".to_owned(),
    ] {
        assert_eq!(findings(&text), [], "{text}");
    }
}

#[test]
fn a_right_checksum_is_believed_whatever_the_rest_looks_like() {
    // A made-up body, and the checksum of it: it would pass for a placeholder otherwise.
    let token = format!("ghp_{}{}", "a".repeat(30), prefixed::of("a".repeat(30).as_bytes()));
    assert_eq!(of_kind(&token, "GitHub token"), [token.as_str()]);
    let wrong = format!("ghp_{}000000", "a".repeat(30));
    assert_eq!(findings(&wrong), []);
}

#[test]
fn what_is_looked_at_grows_with_the_length_of_a_text_and_no_faster() {
    let looked_at = |text: &str| {
        let before = alphabet::LOOKED_AT.get();
        findings(text);
        (alphabet::LOOKED_AT.get() - before) / text.len()
    };
    let token = format!("token {} ", h(40));
    for unit in [
        "a",
        "A",
        "1",
        "=",
        "-",
        "ghp_",
        "key-",
        "key=",
        "ey",
        "ey.",
        "eyJabcdefghijklm.",
        "xkey=",
        "a1b2-",
        "s.",
        "12345678:A",
        "glpat-abc",
        "sk-ant-",
        "AKIA",
        "|1",
        ".atlasv1.",
        "datadog_",
        "token token ",
        "secret\n",
        "xoxb-1",
        token.as_str(),
    ] {
        let text = unit.repeat(200_000 / unit.len());
        let each = looked_at(&text);
        assert!(each <= 60, "{unit}: {each} for each byte");
    }
}

proptest::proptest! {
    #[test]
    fn findings_of_any_text_are_parts_of_it(text in "(\\PC{0,12}|key|token=|ghp_|eyJ|sk-|[a-zA-Z0-9]{8,40}|[:=. \"-]){0,24}") {
        for finding in findings(&text) {
            proptest::prop_assert!(text.get(finding.span.clone()).is_some_and(|part| !part.is_empty()));
        }
    }
}
