//! Serves until told to stop, or does one task.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use clap::CommandFactory;
use serde_json::json;
use tessera_api::keys::Key;
use tessera_api::{
    App, Db, Limits, Migrated, NewKey, Patience, Quota, SecretMode, SecretRules, Secrets, Settings, Tls, UserId,
};
use tokio::net::TcpListener;

use crate::cli::{Cli, KeyTask, Serve, Task, UserTask};
use crate::output::UserError;
use crate::takeover::take_over;
use crate::{output, settings, takeover};

/// Seconds to wait for a database that starts at the same time as the server.
const DATABASE_WAIT: u64 = 60;

/// Serves until told to stop, or does one task.
pub(crate) fn run(cli: Cli) -> anyhow::Result<()> {
    match cli.task {
        Some(Task::Completions { shell }) => {
            // Collects the script first, because a closed pipe would end the program.
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "tessera-server", &mut script);
            return Ok(std::io::stdout().write_all(&script)?);
        }
        Some(Task::Openapi) => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            let _entered = runtime.enter();
            return output::line(&tessera_api::openapi(&App::new(Db::unconnected(), Settings::default()))?);
        }
        Some(Task::Man) => return Ok(clap_mangen::Man::new(Cli::command()).render(&mut std::io::stdout())?),
        Some(_) | None => {}
    }
    // Reports invalid settings before it asks anything.
    let rules = settings::secrets()?;
    let url = settings::database_url()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let usual = if matches!(cli.task, None | Some(Task::Migrate)) { DATABASE_WAIT } else { 0 };
    let wait = Duration::from_secs(cli.database_wait.unwrap_or(usual));
    runtime.block_on(async {
        let patience = Patience {
            connections: cli.database_connections,
            statement: Duration::from_secs(cli.database_statement),
            lock: Duration::from_secs(cli.database_lock),
            ..Patience::default()
        };
        let db = Db::connect_once_up(&url, &patience, wait, output::note).await?;
        match cli.task {
            Some(task) => work(cli.json, db, rules, task).await,
            None => serve(db, rules, &cli.serve).await,
        }
    })
}

async fn serve(db: Db, rules: SecretRules, args: &Serve) -> anyhow::Result<()> {
    let tls = match (&args.tls_cert, &args.tls_key) {
        (Some(certificate), Some(key)) => Some(Tls::read(certificate, key)?),
        _ => None,
    };
    if !args.listen.ip().is_loopback() && !args.behind_proxy && tls.is_none() {
        let problem = format!("{} is not a loopback address; pass --tls-cert and --tls-key", args.listen);
        return Err(UserError(format!("{problem}, or pass --behind-proxy if a proxy terminates TLS")).into());
    }
    if let Some(metrics) = args.metrics
        && !metrics.ip().is_loopback()
        && !args.behind_proxy
    {
        let problem = format!("{metrics} is not a loopback address, and everybody who reaches it can read the metrics");
        return Err(UserError(format!("{problem}; pass --behind-proxy if this is intended")).into());
    }
    db.migrate().await?;
    db.check().await?;
    let secrets = Arc::new(Secrets::open(&db, rules).await?);
    take_over(&db, &secrets).await?;
    let imported = import_keys(&db).await?;
    if imported > 0 {
        output::note(&format!("{imported} keys from API_KEY and API_KEYS are valid"));
    }
    let limits = Limits {
        key_per_second: args.key_rate,
        address_per_second: args.address_rate,
        behind_proxy: args.behind_proxy,
        proxies: args.trusted_proxy.clone(),
        connections: args.connections,
        address_connections: args.address_connections,
        ..Limits::default()
    };
    let clock = settings::clock()?;
    let embedding = settings::embedding()?;
    let settings = Settings {
        index_bytes: args.index_mb << 20,
        embedding,
        clock,
        limits,
        secrets: Arc::clone(&secrets),
        drain_delay: Duration::from_secs(args.drain_delay),
        has_metrics: args.metrics_on_api,
        ..Settings::default()
    };
    if args.behind_proxy && args.trusted_proxy.is_empty() {
        output::note("--trusted-proxy is not set, so all requests through a proxy share one rate limit");
    }
    let quota = Quota { memories: args.user_memories, bytes: args.user_mb << 20 };
    let app = App::new(db.with_quota(quota), settings);
    if let Some(address) = args.metrics {
        let listener = TcpListener::bind(address).await?;
        output::note(&format!("metrics: http://{}/metrics", listener.local_addr()?));
        tokio::spawn(tessera_api::serve_metrics(listener, app.clone()));
    }
    let listener = TcpListener::bind(args.listen).await?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    output::note(&format!("listening on {scheme}://{}", listener.local_addr()?));
    say_secrets(&secrets);
    tessera_api::serve(listener, app, tls, stopped()).await;
    Ok(())
}

/// Reports at the start what the server does with secrets in texts.
fn say_secrets(secrets: &Secrets) {
    let key = secrets.key_id().map(|id| format!(" with key {id}")).unwrap_or_default();
    let words = match secrets.mode() {
        SecretMode::Encrypt => format!("secrets in texts are redacted and encrypted{key}"),
        SecretMode::Vault => "secrets in texts are redacted and stored in the vault".to_owned(),
        SecretMode::Drop => {
            "secrets in texts are redacted and discarded, because TESSERA_SECRETS_MODE is drop".to_owned()
        }
        SecretMode::Refuse => {
            "texts with secrets are rejected; set TESSERA_SECRET_KEY or VAULT_ADDR to store secrets".to_owned()
        }
    };
    tracing::info!(mode = secrets.mode().as_str(), key = secrets.key_id(), "secrets");
    output::note(&words);
}

/// Imports API keys from the environment variables. The keys belong to users of the older system, who may have new
/// names now.
async fn import_keys(db: &Db) -> anyhow::Result<usize> {
    let keys = settings::older_keys()?;
    let mut imported = 0;
    for (name, key) in &keys {
        let user = match db.name_of_older(name).await? {
            Some(user) => user,
            // The user was migrated, and the old tables were deleted since.
            None if name.parse::<UserId>().is_err() && db.knows_key(key).await? => continue,
            // One bad entry, or a user who was renamed and removed, must not stop the server.
            None => match name.parse() {
                Ok(user) => user,
                Err(error) => {
                    tracing::warn!(%error, "ignored a key in the environment");
                    output::note(&format!("ignored the key of {name:?} in API_KEY or API_KEYS: {error}"));
                    continue;
                }
            },
        };
        if db.is_removed(&user).await? {
            let user = user.as_str();
            tracing::warn!(user, "a key in the environment belongs to a removed user");
            output::note(&format!(
                "{user} was removed, so the key of {user} in API_KEY or API_KEYS is ignored; `tessera-server user \
                add {user}` adds the user again"
            ));
            continue;
        }
        imported += 1;
        db.import_key(&user, key).await?;
        if Key::older(key).is_some_and(|key| key.is_short()) {
            let user = user.as_str();
            tracing::warn!(user, "a short key is valid");
            output::note(&format!(
                "warning: the key of {user} is short enough to guess; create another one with `tessera-server key \
                new {user}`"
            ));
        }
    }
    Ok(imported)
}

/// Resolves when the process must end.
async fn stopped() {
    let interrupt = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = interrupt => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    // Without signals, the server runs until the process is killed.
    let _ = interrupt.await;
}

async fn work(json: bool, db: Db, rules: SecretRules, task: Task) -> anyhow::Result<()> {
    match task {
        // These tasks need no database.
        Task::Completions { .. } | Task::Man | Task::Openapi => Ok(()),
        Task::Migrate => {
            db.migrate().await?;
            db.check().await?;
            if db.has_older().await? {
                take_over(&db, &Secrets::open(&db, rules).await?).await?;
            }
            done(json, "the schema is up to date and safe to use")
        }
        Task::MigrateSecrets { user, dry_run } => migrate_secrets(json, &db, rules, user, dry_run).await,
        Task::Audit { user, since } => audit(json, &db, user, since.as_deref()).await,
        Task::User(task) => users(json, &db, rules, task).await,
        Task::Restored => {
            let epoch = db.begin_epoch().await?;
            done(
                json,
                &format!(
                    "epoch {epoch} begins; each machine will compare its memories with the server's at its next request"
                ),
            )
        }
        Task::Key(KeyTask::New { user, label, scopes, days }) => {
            let key = db.add_key(&user.parse()?, &NewKey { label, scopes, days }).await?;
            shown_once(json, &user, &key)
        }
        Task::Key(KeyTask::List { user }) => {
            let keys = db.keys(&user.parse()?).await?;
            if json {
                return output::json(&keys);
            }
            for key in keys {
                let end = key.revoked.map(|since| format!("revoked {since}"));
                let end = end.or(key.expires.map(|until| format!("until {until}"))).unwrap_or_default();
                output::line(&format!(
                    "{} {} {} since {} {end}",
                    key.id,
                    key.scopes.join(","),
                    key.label,
                    key.created
                ))?;
            }
            Ok(())
        }
        Task::Key(KeyTask::Rotate { user, id, hours }) => {
            let key = db.rotate_key(&user.parse()?, &id, hours).await?;
            let key = key.ok_or_else(|| UserError(format!("{user} has no valid key {id}")))?;
            output::note(&format!("{id} expires in {hours} h"));
            shown_once(json, &user, &key)
        }
        Task::Key(KeyTask::Import) => {
            let imported = import_keys(&db).await?;
            done(json, &format!("{imported} keys from API_KEY and API_KEYS are valid"))
        }
        Task::Key(KeyTask::Revoke { user, id }) => {
            let name: UserId = user.parse()?;
            if !db.revoke_key(&name, &id).await? {
                return Err(UserError(format!("{user} has no valid key {id}")).into());
            }
            done(json, &format!("revoked {id}"))
        }
    }
}

async fn users(json: bool, db: &Db, rules: SecretRules, task: UserTask) -> anyhow::Result<()> {
    match task {
        UserTask::Add { user } => {
            // The first command on an empty database creates the schema.
            db.migrate().await?;
            db.check().await?;
            db.add_user(&user.parse()?).await?;
            done(json, &format!("created user {user}"))
        }
        UserTask::List => {
            let users = db.users().await?;
            if json {
                return output::json(&users);
            }
            users.iter().try_for_each(|user| output::line(user))
        }
        UserTask::Remove { user, prove: true, .. } => takeover::prove(json, db, &user.parse()?).await,
        UserTask::Remove { user, export, yes, .. } => {
            takeover::remove(json, db, rules, &user.parse()?, export.as_deref(), yes).await
        }
    }
}

/// The users for a task: one, or all.
async fn those(db: &Db, user: Option<String>) -> anyhow::Result<Vec<UserId>> {
    let names = match user {
        Some(user) => vec![user],
        None => db.users().await?,
    };
    Ok(names.iter().map(|name| name.parse()).collect::<Result<_, _>>()?)
}

async fn migrate_secrets(
    json: bool,
    db: &Db,
    rules: SecretRules,
    user: Option<String>,
    dry_run: bool,
) -> anyhow::Result<()> {
    let secrets = Secrets::open(db, rules).await?;
    if secrets.mode() == SecretMode::Refuse && !dry_run {
        let problem = "no storage for secrets is configured; set TESSERA_SECRET_KEY or VAULT_ADDR, as for the server";
        return Err(UserError(problem.into()).into());
    }
    let mut all = Migrated::default();
    for user in those(db, user).await? {
        let mut done = Migrated::default();
        loop {
            done.add(&db.migrate_secrets_of(&user, &secrets, done.next, dry_run).await?);
            output::progress(&format!("{}: {} rows, {} with secrets", user.as_str(), done.scanned, done.found));
            if done.next.is_none() {
                break;
            }
        }
        output::progress_ends();
        if !json {
            let Migrated { scanned, found, migrated, resealed, .. } = &done;
            let did =
                if dry_run { String::new() } else { format!(", {migrated} redacted, {resealed} encrypted again") };
            output::line(&format!("{}: {scanned} rows, {found} with secrets in clear text{did}", user.as_str()))?;
        }
        all.add(&done);
    }
    if json {
        return output::json(&all);
    }
    if all.migrated > 0 {
        output::note("PostgreSQL's files contain the old texts until the tables are rewritten; see docs/SCALING.md");
    }
    Ok(())
}

async fn audit(json: bool, db: &Db, user: Option<String>, since: Option<&str>) -> anyhow::Result<()> {
    for user in those(db, user).await? {
        for entry in db.audited(&user, since).await? {
            if json {
                output::json(&entry)?;
                continue;
            }
            let key = entry.key.unwrap_or_else(|| "on the server's host".into());
            let from = entry.address.map(|address| format!(" from {address}")).unwrap_or_default();
            output::line(&format!("{} {} {} {} by {key}{from}", entry.at, entry.user, entry.what, entry.target))?;
        }
    }
    Ok(())
}

fn shown_once(json: bool, user: &str, key: &Key) -> anyhow::Result<()> {
    if json {
        return output::json(&json!({ "user": user, "id": key.id(), "key": key.reveal() }));
    }
    output::note("this key is shown only once:");
    output::line(&key.reveal())
}

fn done(json: bool, text: &str) -> anyhow::Result<()> {
    if json {
        return output::json(&json!({ "done": text }));
    }
    output::note(text);
    Ok(())
}
