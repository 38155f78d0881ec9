//! Serving until told to stop, and one piece of work: each a few calls of the library, and words on what came of it.

use clap::CommandFactory;
use serde_json::json;
use tessera_api::keys::Key;
use tessera_api::{App, Db, Limits, NewKey, Settings, Tls, UserId};
use tokio::net::TcpListener;

use crate::cli::{Cli, KeyTask, Serve, Task, UserTask};
use crate::exit::{SetupError, UserError};
use crate::{output, settings};

/// Serves until it is told to stop, or does one piece of work.
pub(crate) fn run(cli: Cli) -> anyhow::Result<()> {
    match cli.task {
        Some(Task::Completions { shell }) => {
            clap_complete::generate(shell, &mut Cli::command(), "tessera-server", &mut std::io::stdout());
            return Ok(());
        }
        Some(Task::Man) => return Ok(clap_mangen::Man::new(Cli::command()).render(&mut std::io::stdout())?),
        Some(_) => {}
        None => refuse_promises()?,
    }
    let url = settings::database_url()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let db = Db::connect(&url).await?;
        match cli.task {
            Some(task) => work(cli.json, db, task).await,
            None => serve(db, &cli.serve).await,
        }
    })
}

/// Whoever sets these believes that secrets are encrypted or kept in a vault: as long as they are not, nobody is told
/// otherwise by a server that starts.
fn refuse_promises() -> Result<(), SetupError> {
    let names = settings::set_variables(&[&settings::ENCRYPTION_KEY, &settings::VAULT]);
    let Some(setting) = names.first() else { return Ok(()) };
    let problem =
        format!("secrets are neither encrypted nor kept in a vault yet; start the server without {}", names.join(", "));
    Err(SetupError { setting, problem })
}

async fn serve(db: Db, args: &Serve) -> anyhow::Result<()> {
    let tls = match (&args.tls_cert, &args.tls_key) {
        (Some(certificate), Some(key)) => Some(Tls::read(certificate, key)?),
        _ => None,
    };
    if !args.listen.ip().is_loopback() && !args.behind_proxy && tls.is_none() {
        let problem = format!("{} is beyond this machine; give --tls-cert and --tls-key", args.listen);
        return Err(UserError(format!("{problem}, or --behind-proxy where a proxy in front speaks TLS")).into());
    }
    if let Some(metrics) = args.metrics
        && !metrics.ip().is_loopback()
        && !args.behind_proxy
    {
        let problem = format!("{metrics} is beyond this machine, and whoever reaches it reads the metrics");
        return Err(UserError(format!("{problem}; give --behind-proxy too where that is meant")).into());
    }
    db.migrate().await?;
    db.check().await?;
    let imported = import_keys(&db).await?;
    if imported > 0 {
        output::note(&format!("{imported} keys of API_KEY and API_KEYS are valid"));
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
    let meaning = settings::meaning()?;
    let settings = Settings { index_bytes: args.index_mb << 20, meaning, clock, limits, ..Settings::default() };
    if args.behind_proxy && args.trusted_proxy.is_empty() {
        output::note("no --trusted-proxy is named: all requests of one connection's address share one allowance");
    }
    let app = App::new(db, settings);
    if let Some(address) = args.metrics {
        let listener = TcpListener::bind(address).await?;
        output::note(&format!("metrics on http://{}/metrics", listener.local_addr()?));
        tokio::spawn(tessera_api::serve_metrics(listener, app.clone()));
    }
    let listener = TcpListener::bind(args.listen).await?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    output::note(&format!("serving on {scheme}://{}", listener.local_addr()?));
    tessera_api::serve(listener, app, tls, stopped()).await;
    Ok(())
}

/// Takes over the keys that the environment names.
async fn import_keys(db: &Db) -> anyhow::Result<usize> {
    let keys = settings::older_keys()?;
    for (user, key) in &keys {
        db.import_key(&user.parse()?, key).await?;
    }
    Ok(keys.len())
}

/// Resolves when the process is asked to end.
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
    // Without signals it is served until the process is killed.
    let _ = interrupt.await;
}

async fn work(json: bool, db: Db, task: Task) -> anyhow::Result<()> {
    match task {
        // Printed before there is a database to connect to.
        Task::Completions { .. } | Task::Man => Ok(()),
        Task::Migrate => {
            db.migrate().await?;
            db.check().await?;
            done(json, "the schema is up to date, and safe to serve")
        }
        Task::User(UserTask::Add { user }) => {
            db.add_user(&user.parse()?).await?;
            done(json, &format!("{user} may have keys now"))
        }
        Task::User(UserTask::List) => {
            let users = db.users().await?;
            if json {
                return output::json(&users);
            }
            users.iter().try_for_each(|user| output::line(user))
        }
        Task::Openapi => output::line(&tessera_api::openapi(&App::new(db, Settings::default()))?),
        Task::Restored => {
            let epoch = db.begin_epoch().await?;
            done(json, &format!("epoch {epoch} begins: machines compare what they have when they next ask"))
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
            output::note(&format!("{id} ends in {hours} h"));
            shown_once(json, &user, &key)
        }
        Task::Key(KeyTask::Import) => {
            let imported = import_keys(&db).await?;
            done(json, &format!("{imported} keys of API_KEY and API_KEYS are valid"))
        }
        Task::Key(KeyTask::Revoke { user, id }) => {
            let name: UserId = user.parse()?;
            if !db.revoke_key(&name, &id).await? {
                return Err(UserError(format!("{user} has no valid key {id}")).into());
            }
            done(json, &format!("{id} is revoked"))
        }
    }
}

fn shown_once(json: bool, user: &str, key: &Key) -> anyhow::Result<()> {
    if json {
        return output::json(&json!({ "user": user, "id": key.id(), "key": key.reveal() }));
    }
    output::note("this key is shown once:");
    output::line(&key.reveal())
}

fn done(json: bool, text: &str) -> anyhow::Result<()> {
    if json {
        return output::json(&json!({ "done": text }));
    }
    output::note(text);
    Ok(())
}
