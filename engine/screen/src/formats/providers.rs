//! Providers whose name before something drawn by chance says what it is.

/// Whether a text is the name of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Provider {
    /// It is none.
    None,
    /// The name is a word too, or stands where hashes of commits and images do: a credential has to be spoken of.
    Word,
    /// The name is nothing else: a token may follow it with nothing between.
    Telling,
}

/// The provider with a name, in small letters.
pub(super) fn named(name: &[u8]) -> Provider {
    let (place, bit) = mark(name);
    if MARKS.get(place).is_none_or(|marks| marks & bit == 0) {
        return Provider::None;
    }
    let is_in = |names: &[&str]| names.binary_search_by(|known| known.as_bytes().cmp(name)).is_ok();
    match () {
        () if is_in(NAMES) => Provider::Telling,
        () if is_in(WORDS) => Provider::Word,
        () => Provider::None,
    }
}

/// A bit for each name: most words are told from all names by it alone.
static MARKS: [u64; PLACES] = marks();
const PLACES: usize = 256;

#[expect(clippy::indexing_slicing, reason = "evaluated while compiling: a wrong index is a compile error")]
const fn marks() -> [u64; PLACES] {
    let mut marks = [0; PLACES];
    let lists = [NAMES, WORDS];
    let mut list = 0;
    while list < lists.len() {
        let mut at = 0;
        while at < lists[list].len() {
            let (place, bit) = mark(lists[list][at].as_bytes());
            marks[place] |= bit;
            at += 1;
        }
        list += 1;
    }
    marks
}

/// The bit of a name: Fowler, Noll and Vo's hash.
const fn mark(mut name: &[u8]) -> (usize, u64) {
    let mut hash = 0x811c_9dc5_u32;
    while let [first, rest @ ..] = name {
        hash = (hash ^ *first as u32).wrapping_mul(0x0100_0193);
        name = rest;
    }
    let hash = (hash ^ (hash >> 15)) as usize;
    (hash / 64 % PLACES, 1 << (hash % 64))
}

/// Names that are nothing else.
#[rustfmt::skip]
const NAMES: &[&str] = &[
    "abstractapi", "abuseipdb", "accuweather", "activecampaign", "adafruit", "adobe", "adyen", "ahrefs", "airbrake",
    "airbyte", "aircall", "airship", "airtable", "aiven", "akamai", "algolia", "alibaba", "alibabacloud",
    "alienvault", "aliyun", "alphavantage", "amadeus", "ambee", "anthropic", "anypoint", "anyscale", "apideck",
    "apify", "apilayer", "apimetrics", "appcenter", "appcircle", "appdynamics", "appfollow", "applovin",
    "appoptics", "appsflyer", "appsync", "appveyor", "appwrite", "arize", "artifactory", "asana", "assemblyai",
    "atera", "atlassian", "attio", "audd", "auth0", "authress", "autoklose", "avalara", "aviationstack", "axonaut",
    "aylien", "ayrshare", "backblaze", "balena", "bamboohr", "bannerbear", "baremetrics", "basecamp", "baserow",
    "baseten", "beamer", "beebole", "besnappy", "betterstack", "betteruptime", "bigcommerce", "bigpanda",
    "bigquery", "billplz", "binance", "bingmaps", "bitbar", "bitcoinaverage", "bitfinex", "bitly", "bitmex",
    "bitrise", "bitstamp", "bittrex", "blazemeter", "blitapp", "blockfrost", "blocknative", "bluesky", "blynk",
    "bombbomb", "boostnote", "borgbase", "braintree", "brandfetch", "braze", "brevo", "brex", "browserbase",
    "browserless", "browserstack", "browshot", "bscscan", "buddyns", "budibase", "bugherd", "bugsnag", "buildkite",
    "bulbul", "bunnynet", "buttercms", "bybit", "caflou", "calendarific", "calendly", "callrail", "calorieninjas",
    "campaignmonitor", "campayn", "canva", "capsulecrm", "carboninterface", "cashboard", "caspio", "censys",
    "centralstation", "centralstationcrm", "cerebras", "cexio", "chargebee", "chargify", "chartmogul", "chatfuel",
    "chec", "checkio", "checkly", "checklyhq", "checkvist", "circleci", "clarifai", "clearbit", "clickhelp",
    "clickhouse", "clicksend", "clickup", "cliengo", "clinchpad", "clockify", "closecrm", "cloudant",
    "cloudconvert", "cloudelements", "cloudflare", "cloudfront", "cloudimage", "cloudinary", "cloudmersive",
    "cloudplan", "cloudsight", "cloudsmith", "cloudways", "cloverly", "clustdoc", "codacy", "codeclimate",
    "codecov", "codefresh", "codemagic", "codequiry", "codesandbox", "codeship", "coggle", "cohere", "coinapi",
    "coinbase", "coincap", "coingecko", "coinlayer", "coinlib", "coinmarketcap", "collect2", "commercejs",
    "commercetools", "confluent", "contentful", "contentstack", "conversiontools", "convertapi", "convertkit",
    "convier", "copyscape", "couchbase", "coveralls", "craftmypdf", "cratesio", "crossref", "crowdin",
    "crowdstrike", "cryptocompare", "currencyapi", "currencycloud", "currencyfreaks", "currencylayer",
    "currencyscoop", "currentsapi", "d7network", "dailyco", "dareboost", "databento", "databox", "databricks",
    "datadog", "datagov", "dataiku", "datakube", "datarobot", "datastax", "dbt", "debounce", "deepai", "deepgram",
    "deepinfra", "deepl", "deepseek", "descope", "detectify", "detectlanguage", "devcycle", "dfuse", "dialpad",
    "diffbot", "diggernaut", "digicert", "digitalocean", "discogs", "discord", "discourse", "disqus", "dnscheck",
    "dnsimple", "dockerhub", "docparser", "docraptor", "documo", "docusign", "doordash", "doppler", "dotdigital",
    "dotmailer", "dovico", "drata", "dronahq", "droneci", "dropbox", "duffel", "dwolla", "dynalist", "dynatrace",
    "dyspatch", "eagleeyenetworks", "easyinsight", "easypost", "ebay", "ecostruxureit", "edamam", "edenai",
    "eightxeight", "elasticemail", "elevenlabs", "emailable", "emailoctopus", "enablex", "endor", "endorlabs",
    "enigma", "etherscan", "ethplorer", "etsy", "eventbrite", "everhour", "exchangerate", "exchangerateapi",
    "exchangerates", "exchangeratesapi", "exoscale", "exportsdk", "extractorapi", "facebook", "faceplusplus",
    "fastforex", "fastly", "fastspring", "feedier", "fetchrss", "fibery", "fieldnation", "figma", "fileio",
    "filestack", "finage", "financialmodelingprep", "findl", "fingerprintjs", "finicity", "finnhub", "firebase",
    "firecrawl", "fixerio", "flatio", "fleetbase", "fleetio", "flexport", "flickr", "flightapi", "flightaware",
    "flightlabs", "flightstats", "flowflu", "flowroute", "fluidstack", "flutterwave", "flyio", "fmfw", "fmp",
    "forestadmin", "formbucket", "formcraft", "formsite", "formstack", "foursquare", "frameio", "freemius",
    "freshbooks", "freshdesk", "freshservice", "freshworks", "fullcontact", "fullstory", "fusebill", "fxmarket",
    "geckoboard", "gengo", "geoapify", "geocode", "geocodify", "geocodio", "geoipify", "getemail", "getemails",
    "getgeoapi", "getgist", "getresponse", "getsandbox", "giphy", "gitguardian", "gitter", "glassnode", "gocanvas",
    "gocardless", "godaddy", "goodday", "googlemaps", "gorgias", "grafana", "graphcms", "graphhopper", "gravatar",
    "greptile", "greynoise", "groovehq", "groq", "gtmetrix", "gumroad", "gyazo", "handwrytten", "happi",
    "happyscribe", "hasura", "healthchecks", "heatmapapi", "hellosign", "helpcrunch", "helpscout", "hereapi",
    "heroku", "hetzner", "hibp", "hiveage", "holidayapi", "honeybadger", "honeycomb", "hootsuite", "hotjar",
    "houndci", "hsforms", "html2pdf", "hubspot", "huggingface", "humio", "hunterio", "hybiscus", "hygraph", "ibm",
    "iconfinder", "iexapis", "iexcloud", "illumio", "imagekit", "imagga", "influxdb", "infobip", "infracost",
    "infura", "inngest", "insightly", "instabot", "instamojo", "instatus", "integromat", "intercom", "intermedia",
    "interseller", "intra42", "intrinio", "invoiceninja", "ionic", "ionos", "ipapi", "ipgeolocation", "ipify",
    "ipinfo", "ipinfodb", "ipquality", "ipqualityscore", "ipregistry", "ipstack", "jina", "jotform", "jumpcloud",
    "jumpserver", "jupiterone", "juro", "justworks", "kaggle", "kagi", "kanbantool", "karmacrm", "keenio", "keycdn",
    "kickbox", "kimi", "kinde", "kinsta", "klaviyo", "klipfolio", "knapsackpro", "koyeb", "kucoin", "kylas",
    "lacework", "lambdatest", "langchain", "langfuse", "langsmith", "languagelayer", "launchdarkly", "leadfeeder",
    "leaseweb", "lemlist", "lemonsqueezy", "lendflow", "lessannoyingcrm", "lexigram", "lichess", "linemessaging",
    "linenotify", "linkedin", "linkpreview", "linode", "liveblocks", "livekit", "livestorm", "lob", "locationiq",
    "loggly", "loginradius", "logsnag", "logtail", "logz", "logzio", "lokalise", "looker", "loyverse", "lunchmoney",
    "luno", "lusha", "madkudu", "magicbell", "mailboxlayer", "mailchimp", "mailerlite", "mailersend", "mailgun",
    "mailjet", "mailmodo", "mailsac", "mailtrap", "mandrill", "mapbox", "mappls", "mapquest", "marketo",
    "marketstack", "matomo", "mattermost", "mavenlink", "maxmind", "mediastack", "meistertask", "memberstack",
    "meraki", "mesibo", "messagebird", "metaapi", "metabase", "metrilo", "mews", "microcms", "mindmeister",
    "minimax", "miro", "mixmax", "mixpanel", "mockaroo", "mollie", "mongodb", "monkeylearn", "moonclerk",
    "moonshot", "moosend", "moralis", "mrticktock", "myexperiment", "myfreshworks", "myintervals", "n8n", "nasa",
    "nasdaq", "netcore", "netlify", "netsuite", "neutrinoapi", "newrelic", "newsapi", "newscatcher", "newyorktimes",
    "nexmo", "nextdns", "nftport", "ngc", "ngrok", "nicereply", "nightfall", "nocrm", "nomic", "noticeable",
    "nozbe", "nozbeteams", "numverify", "nutritionix", "nvapi", "nvidia", "nylas", "nytimes", "oanda", "omnisend",
    "onedesk", "onelogin", "onepagecrm", "onesignal", "onfleet", "oopspam", "openai", "openaq", "opencagedata",
    "opencollective", "openfaas", "openrouter", "opensea", "openshift", "opentok", "openuv", "openweather",
    "openweathermap", "opsgenie", "optimizely", "overloop", "ovh", "owlbot", "owm", "oxylabs", "packagecloud",
    "packagist", "paddle", "pagarme", "pagerduty", "paintcode", "pandadoc", "pandascore", "paperform", "papyrs",
    "paralleldots", "parsehub", "parseur", "partnerstack", "passbase", "pastebin", "pathable", "paydirt",
    "paydirtapp", "payfast", "paymo", "paymoapp", "paymongo", "paypal", "paystack", "pdflayer", "pdfshift",
    "peopledatalabs", "pepipost", "perplexity", "phonepe", "photoroom", "pinata", "pinecone", "pingdom",
    "pingidentity", "pinterest", "pipedrive", "pivotaltracker", "pixabay", "plaid", "plaidkey", "planetscale",
    "planview", "planyo", "platformsh", "plesk", "plivo", "podio", "poedit", "pollsapi", "poloniex", "polygonscan",
    "portainer", "portkey", "positionstack", "postageapp", "postbacks", "posthog", "postman", "postmark", "powrbot",
    "prismic", "privateai", "prodpad", "prospectcrm", "protocolsio", "proxycrawl", "pscale", "pubnub", "pulumi",
    "purestake", "pushbullet", "pushcut", "pushover", "pyowm", "qdrant", "qiniu", "qonto", "qualaroo", "qualtrics",
    "qubole", "quicknode", "rapidapi", "rawg", "raygun", "razorpay", "reachmail", "readwise", "rebrandly",
    "recaptcha", "recurly", "refiner", "rentman", "repairshopr", "replicate", "replyio", "requestfinance",
    "restpack", "revai", "revampcrm", "ringcentral", "ritekit", "roboflow", "rocketreach", "rockset", "rollbar",
    "rootly", "route4me", "runpod", "runrunit", "salesblink", "salescookie", "salesflare", "salesforce",
    "salesloft", "salesmate", "samsara", "satismeter", "saucelabs", "scaleway", "scalingo", "scalr", "scrapeowl",
    "scraperapi", "scraperbox", "scrapersite", "scraperstack", "scrapestack", "scrapfly", "scrapingant",
    "scrapingbee", "screenshotapi", "screenshotlayer", "scrutinizer", "scrutinizerci", "seatgeek", "securitytrails",
    "selectpdf", "semgrep", "semrush", "sendbird", "sendgrid", "sendinblue", "sendle", "sentry", "serpapi",
    "serper", "serphouse", "serpstack", "sevdesk", "sfdc", "sheety", "sherpadesk", "shipday", "shipengine",
    "shippo", "shipstation", "shodan", "shopee", "shopify", "shotstack", "shutterstock", "sidekiq", "sigfox",
    "signable", "signalwire", "signaturit", "signupgenius", "sigopt", "simfin", "simplesat", "simplynoted",
    "simvoly", "sinch", "sirv", "siteleaf", "skrapp", "skrappio", "skybiometry", "skyscanner", "smartsheet",
    "smartsheets", "smartystreets", "smooch", "sms77", "snipcart", "snowflake", "snyk", "snyktoken", "socrata",
    "solarwinds", "sonar", "sonarcloud", "sonarqube", "soundcloud", "sourcegraph", "sparkpost", "speechtext",
    "speechtextai", "splunk", "spoonacular", "sportsmonk", "spotify", "squarespace", "squareup", "sslmate",
    "stabilityai", "stackblitz", "stackhawk", "stackoverflow", "statsig", "statuscake", "statuspage", "statuspal",
    "stitchdata", "stockdata", "storecove", "stormboard", "stormglass", "storyblok", "storychief", "strapi",
    "strava", "stripe", "stripo", "stytch", "sumologic", "supabase", "supernotes", "surveyanyplace", "surveybot",
    "surveysparrow", "survicate", "svix", "swiftype", "sypht", "tailscale", "tallyfy", "tatum", "tatumio", "tavily",
    "taxjar", "teamgate", "teamviewer", "teamwork", "teamworkcrm", "teamworkdesk", "teamworkspaces",
    "technicalanalysisapi", "tefter", "telegr", "telegram", "teletype", "telnyx", "testingbot", "textmagic",
    "theguardian", "theoddsapi", "thingsboard", "thinkific", "thousandeyes", "threescale", "ticketmaster",
    "tickettailor", "tiingo", "timecamp", "timezoneapi", "tines", "tinybird", "tinypng", "tly", "tmdb", "tmetric",
    "todoist", "togetherai", "toggl", "toggltrack", "tomorrowio", "tomtom", "tradier", "transferwise",
    "travelpayouts", "travisci", "trello", "truenas", "trufflehog", "turso", "twelvedata", "twilio", "twitch",
    "twitter", "tyntec", "typeform", "typesense", "typetalk", "ubidots", "uclassify", "unifyid", "unplu", "unplugg",
    "unsplash", "upcdatabase", "upcloud", "updown", "uplead", "uploadcare", "upstage", "upstash", "uptimerobot",
    "upwave", "urlscan", "userflow", "usersnap", "userstack", "vagrantcloud", "vapi", "vatlayer", "vbout",
    "veevavault", "vercel", "verimail", "veriphone", "versioneye", "viewneo", "virustotal", "visualcrossing",
    "voiceflow", "voicegain", "voodoosms", "vouchery", "voyage", "voyageai", "vpnapi", "vultr", "vyte", "wakatime",
    "walkscore", "walmart", "wandb", "wappalyzer", "weatherapi", "weatherbit", "weatherstack", "weaviate", "webex",
    "webflow", "webscraper", "webscraping", "webshare", "weightsandbiases", "wepay", "whatconverts", "whatsapp",
    "whoxy", "wistia", "woocommerce", "workato", "workos", "worksnaps", "workstack", "worldcoinindex",
    "worldweather", "wrike", "xai", "xata", "xendit", "xero", "xray", "yandex", "yelp", "yext", "ynab", "yodlee",
    "yotpo", "youneedabudget", "yousign", "zapier", "zapierwebhook", "zeabur", "zencoder", "zendesk", "zenefits",
    "zenkit", "zenrows", "zenscrape", "zenserp", "zeplin", "zerobounce", "zeroboune", "zerossl", "zerotier",
    "zilliz", "zipbooks", "zipcodeapi", "zipcodebase", "zipify", "zoho", "zohocrm", "zonka", "zonkafeedback",
    "zoominfo", "zulip", "zuora", "zuplo", "zyte",
];

/// Names that are words too, or stand beside hashes of another kind.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "acuity", "affinda", "agora", "aha", "alchemy", "amazon", "amplitude", "apache", "apiflash", "apollo", "apple",
    "autopilot", "aws", "axiom", "azure", "bamboo", "bandwidth", "bitbucket", "blockchain", "blogger", "box",
    "branch", "buddy", "bunny", "canny", "captcha", "cascade", "census", "chatbot", "checkout", "chromatic",
    "cicero", "circle", "clerk", "clockwork", "close", "coda", "column", "comet", "consul", "convex", "copper",
    "cosmos", "courier", "crates", "crisp", "cursor", "customerio", "daily", "dandelion", "dash", "delighted",
    "demio", "deno", "deputy", "ditto", "docker", "drip", "drone", "duo", "elastic", "elasticsearch", "envoy",
    "eraser", "ermine", "esper", "exa", "expo", "fauna", "fireworks", "fixer", "flat", "float", "formio", "framer",
    "front", "fulcrum", "gcp", "gcs", "gemini", "ghost", "gist", "git", "gitea", "gitee", "github", "gitlab",
    "gong", "google", "greenhouse", "guardian", "guru", "hackerone", "harness", "harvest", "heap", "helium", "here",
    "holistic", "hotwire", "humanity", "hunter", "hypertrack", "impala", "inbox", "influx", "instagram", "iterable",
    "jdbc", "jenkins", "jfrog", "jira", "kanban", "karma", "knock", "kong", "kraken", "kubernetes", "lambda",
    "lark", "launchable", "line", "linear", "litmus", "loom", "loops", "luminovo", "magnetic", "manifest",
    "mastodon", "medium", "mercury", "merge", "metals", "microsoft", "mist", "mistral", "mite", "modal",
    "moderation", "momento", "monday", "mux", "nango", "natural", "neon", "neptune", "nexus", "nimble", "nitro",
    "notion", "novu", "npm", "nuget", "octopus", "okta", "ollama", "oracle", "orbit", "ory", "outlook", "parse",
    "parsers", "particle", "percy", "persona", "pipedream", "polygon", "postgres", "prefect", "privacy", "prospect",
    "protocols", "pusher", "pypi", "qase", "quay", "quickbooks", "rabbitmq", "ramp", "raven", "readme", "recharge",
    "reddit", "redis", "resend", "retool", "rev", "revamp", "roaring", "rownd", "rubygems", "runway", "sanity",
    "sauce", "segment", "semaphore", "sentiment", "shortcut", "signal", "slack", "soda", "spaces", "split",
    "spotinst", "sprig", "square", "stability", "streak", "sumo", "surge", "swell", "tableau", "temporal",
    "terraform", "timely", "together", "tower", "transifex", "travis", "trigger", "tru", "twist", "unify",
    "unleash", "vagrant", "vault", "verifier", "volt", "windmill", "wise", "wit", "wordpress", "workday", "writer",
    "yahoo", "youtube", "zoom",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order_and_told_apart() {
        for names in [NAMES, WORDS] {
            assert!(names.windows(2).all(|pair| pair[0] < pair[1]));
        }
        assert!(WORDS.iter().all(|name| named(name.as_bytes()) == Provider::Word));
        assert!(NAMES.iter().all(|name| named(name.as_bytes()) == Provider::Telling));
        assert_eq!(
            [named(b"datadog"), named(b"commit"), named(b"")],
            [Provider::Telling, Provider::None, Provider::None]
        );
    }
}
