//! `stats`, `doctor`, `backup`: the state of the store.

use std::path::Path;
use std::process::ExitCode;

use tessera_desk::Desk;
use tessera_desk::folders::{CountFiles, FilesChecked, FilesCounted, check as check_files};
use tessera_desk::use_cases::{Count, Counts};
use tessera_engine::Store;
use tessera_engine::store::{Check, Health, Replacing, Stats, Usage, Verdict, key_file};
use tessera_setup::{RowVerdict, check};

use super::overwrite::may_write;
use super::{Access, Context, embedding, files, import_source};
use crate::output::Style;
use crate::shapes::{BackedUp, Check as ClientCheck, Doctor, Statistics};
use crate::{config, output};

/// Prints the counts.
pub(super) fn stats(context: &Context) -> anyhow::Result<()> {
    let counted = |desk: &mut Desk<'_>| Ok((desk.perform(Count)?, desk.perform(CountFiles)?));
    let (Counts { stats, .. }, files) = context.at_local_desk(Access::Read, counted)?;
    let offers: Vec<String> = import_source::offers(context).iter().map(import_source::told_offer).collect();
    if context.json {
        return output::json(&Statistics { stats, files, offers });
    }
    let mut rows = vec![
        vec!["memories".to_owned(), stats.memories.to_string()],
        vec!["deleted, can be restored".to_owned(), stats.deleted.to_string()],
        vec!["expired (hidden)".to_owned(), stats.expired.to_string()],
    ];
    for (title, counts) in
        [("category", &stats.by_category), ("type", &stats.by_type), ("scope", &stats.by_scope), ("tag", &stats.by_tag)]
    {
        rows.extend(counts.iter().map(|(name, count)| vec![format!("{title} {name}"), count.to_string()]));
    }
    let kib = |bytes: u64| format!("{} KiB", bytes.div_ceil(1024));
    rows.extend((files.folders > 0).then(|| vec!["files".to_owned(), told_files(&files)]));
    rows.push(vec!["embedding".to_owned(), told_embedding(&stats)]);
    rows.push(vec!["database".to_owned(), kib(stats.database_bytes)]);
    rows.push(vec!["snapshot".to_owned(), format!("{}, {} changes since", kib(stats.snapshot_bytes), stats.tail_rows)]);
    rows.extend(offers.into_iter().map(|offer| vec!["not imported".to_owned(), offer]));
    rows.push(vec!["home".to_owned(), config::home(context.home.clone())?.dir().display().to_string()]);
    output::text(&output::table(&["what", "how much"], rows))
}

fn told_files(counted: &FilesCounted) -> String {
    let FilesCounted { folders, away, files, parts, bytes, left_out } = counted;
    let mut told = format!("{files} in {folders} folders, {parts} sections, {} KiB", bytes.div_ceil(1024));
    if *left_out > 0 {
        told.push_str(&format!(", {left_out} skipped (`tessera files list` says why)"));
    }
    if *away > 0 {
        told.push_str(&format!(", {away} folders not available"));
    }
    told
}

fn told_embedding(stats: &Stats) -> String {
    match (stats.encoder, stats.awaiting_embedding) {
        (0, _) => "switched off".to_owned(),
        (encoder, 0) => format!("{} with embeddings of encoder {encoder}", stats.with_embedding),
        (encoder, waiting) => {
            format!("{} with embeddings of encoder {encoder}, {waiting} without", stats.with_embedding)
        }
    }
}

/// Checks the store. Exits with 1 if a check fails.
pub(super) fn doctor(context: &Context, repair: bool, yes: bool) -> anyhow::Result<ExitCode> {
    context.refuse_missing_home()?;
    let mut refused = None;
    let agreed = |damage: &str| {
        let answer = may_salvage(context, damage, yes);
        let agreed = matches!(answer, Ok(true));
        refused = (!agreed).then_some(answer);
        agreed
    };
    let examined = Store::examine_asking(config::store(context.home.clone(), Usage::Write)?, repair, agreed);
    if let Some(answer) = refused {
        return answer.map(|_| ExitCode::from(1));
    }
    let mut health = examined?;
    if repair {
        make_embeddings(context, &mut health)?;
    }
    health.checks.extend(files_check(context, repair)?);
    let looked = config::store(context.home.clone(), Usage::ReadOnce)?;
    let mut client = check(&looked, &config::places(context.home.as_deref())?);
    client.extend(super::setup::rows(context, &looked));
    let is_good = health.is_good() && client.iter().all(|row| row.verdict == RowVerdict::Ok);
    if context.json {
        let client: Vec<_> = client
            .into_iter()
            .map(|row| ClientCheck { name: row.name, good: row.verdict == RowVerdict::Ok, detail: row.detail })
            .collect();
        let Health { checks, salvage, .. } = health;
        output::json(&Doctor { good: is_good, checks, salvage, claude_code: client })?;
    } else {
        for check in &health.checks {
            let (word, style) = match check.verdict {
                Verdict::Ok => ("ok", Style::Green),
                Verdict::Mended => ("fixed", Style::Green),
                Verdict::Warning => ("note", Style::Yellow),
                Verdict::Bad => ("bad", Style::Red),
            };
            doctor_line(word, style, check.name, &check.detail)?;
        }
        for row in &client {
            let (word, style) = match row.verdict {
                RowVerdict::Ok => ("ok", Style::Green),
                RowVerdict::Bad => ("bad", Style::Red),
            };
            doctor_line(word, style, row.name, &row.detail)?;
        }
    }
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Replaces the store with a backup. If the encryption keys of the restored secrets are missing, exits with code 1.
pub(super) fn restore_backup(context: &Context, file: &Path, yes: bool) -> anyhow::Result<ExitCode> {
    let mut problem = None;
    let agreed = |replacing: Replacing| {
        let Replacing { memories, now, is_of_another_store } = replacing;
        let other = if is_of_another_store && now > 0 { "This is a backup of another store. " } else { "" };
        let question = format!(
            "{other}Replace the store ({}) with the backup ({})? A copy of the store is kept.",
            output::memories(now),
            output::memories(memories)
        );
        let answer = super::agreed_or(
            yes || now == 0,
            &question,
            "there is no terminal to confirm on; add --yes to replace the store with the backup",
        );
        answer.unwrap_or_else(|error| {
            problem = Some(error);
            false
        })
    };
    let restored = Store::restore_backup(config::store(context.home.clone(), Usage::Write)?, file, agreed)?;
    if let Some(problem) = problem {
        return Err(problem);
    }
    let Some(restored) = restored else {
        output::line("Nothing was replaced.")?;
        return Ok(ExitCode::from(1));
    };
    if context.json {
        output::json(&restored)?;
    } else {
        output::say(&format!("Restored {} from {}.", output::memories(restored.memories), file.display()))?;
        if let Some(aside) = &restored.kept_aside {
            output::note(&format!(
                "the replaced store is in {0}; `tessera restore-backup {0}` restores it",
                aside.display()
            ));
        }
        if restored.not_hidden > 0 {
            output::note(&format!(
                "{} texts that you had hidden may be visible again, because their values are not available; hide them \
                again with `tessera secret hide ID`",
                restored.not_hidden
            ));
        }
        if !restored.missing_keys.is_empty() {
            output::note(&format!(
                "the backup contains secrets, but their key is missing (ID {}): add its line to {}, or set \
                TESSERA_SECRET_KEY",
                restored.missing_keys.join(", "),
                config::home(context.home.clone())?.secret_key().display()
            ));
        }
    }
    embedding::make_waiting_after(context);
    Ok(if restored.missing_keys.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// True if the user agrees to replace the damaged store.
fn may_salvage(context: &Context, damage: &str, yes: bool) -> anyhow::Result<bool> {
    let home = config::home(context.home.clone())?;
    let backup = home.newest_backup().map_or_else(
        || "There is no backup.".to_owned(),
        |path| format!("The newest backup is {0}; `tessera restore-backup {0}` restores it.", path.display()),
    );
    output::note(&format!(
        "{damage}. The repair copies everything readable to a new store, and moves the damaged \
        files to {}. {backup}",
        home.dir().display()
    ));
    super::agreed_or(
        yes,
        "Move the damaged files aside?",
        "there is no terminal to confirm on; add --yes to move the damaged files aside",
    )
}

/// Computes the missing embeddings, and updates their row in the report.
fn make_embeddings(context: &Context, health: &mut Health) -> anyhow::Result<()> {
    let store = context.open(Usage::Write)?;
    if !store.has_embedding() || store.embeddings()?.waiting == 0 {
        return Ok(());
    }
    drop(store);
    embedding::make_waiting(context, None)?;
    let now = context.open(Usage::ReadOnce)?.embedding_check()?;
    health.checks.iter_mut().filter(|check| check.name == now.name).for_each(|check| *check = now.clone());
    Ok(())
}

/// Checks that watched files and their index agree; `None` without watched folders.
fn files_check(context: &Context, repair: bool) -> anyhow::Result<Option<Check>> {
    let mut store = context.open(Usage::Write)?;
    if store.folders()?.is_empty() {
        return Ok(None);
    }
    let FilesChecked { files, parts, wrong, wrong_count, astray, away, not_kept, left_out } =
        check_files(&mut store, repair)?;
    let mut told = vec![format!("{files} files, {parts} sections")];
    if not_kept > 0 {
        told.push(format!(
            "{not_kept} files are not stored completely, because they contain a credential (`tessera secret scan`) \
            or are large"
        ));
    }
    told.extend(left_out.iter().map(files::left_out_line));
    told.extend(away.iter().map(|(name, why)| format!("{name} is not available: {why}")));
    told.extend(wrong.iter().map(|(path, problem)| format!("{path} {problem}")));
    let named = wrong.len();
    told.extend((wrong_count > named).then(|| format!("and {} more", wrong_count - named)));
    told.extend((astray > 0).then(|| format!("{astray} stored sections belong to no known file")));
    let is_wrong = wrong_count > 0 || astray > 0;
    if is_wrong && !repair {
        told.push("`tessera doctor --repair` fixes this".to_owned());
    }
    let verdict = match (is_wrong, away.is_empty()) {
        (true, _) => Verdict::Bad,
        (false, false) => Verdict::Warning,
        (false, true) => Verdict::Ok,
    };
    Ok(Some(Check { name: "files", verdict, detail: told.join("; ") }))
}

/// The name of a check for people. JSON keeps the short names.
fn title(name: &str) -> &str {
    match name {
        "access log" => "use counts",
        "claude code" => "Claude Code",
        "embedding" => "semantic search",
        "index" => "words",
        "last fault" => "last problem",
        "last injection" => "last recall",
        "removed" => "deletions",
        "snapshot" => "search index",
        "space" => "disk space",
        other => other,
    }
}

fn doctor_line(word: &str, style: Style, name: &str, detail: &str) -> anyhow::Result<()> {
    let begin = format!("{word:<6} {:<15} ", title(name));
    let lines = match output::columns() {
        Some(columns) => output::wrapped_after(&output::shown(detail), &begin, &" ".repeat(begin.len()), columns),
        None => format!("{begin}{}\n", output::shown(detail)),
    };
    // The word is coloured afterwards, because colour codes have no width.
    output::text(&format!("{}{}", output::paint(word, style), lines.strip_prefix(word).unwrap_or(&lines)))
}

/// Copies the store.
pub(super) fn backup(context: &Context, file: Option<&Path>, is_forced: bool, with_key: bool) -> anyhow::Result<()> {
    let store = context.open_existing()?;
    if let Some(file) = file
        && !may_write(context, file, is_forced)?
    {
        return output::line("Nothing was written.");
    }
    let target = store.backup(file)?;
    let sealed = store.secrets(None)?.len();
    let holds_key = with_key && store.backup_keys(&target)?;
    if context.json {
        return output::json(&BackedUp { file: target, secrets: sealed, holds_key });
    }
    if holds_key {
        output::note(&format!("the keys for the secrets are in {}", key_file(&target).display()));
    } else if sealed > 0 {
        let why = if with_key { "its key is missing here" } else { "the key is not included" };
        output::note(&format!(
            "the backup contains {}, and {why}; `tessera secret key` shows where the key is",
            output::counted(sealed as u64, "encrypted secret", "encrypted secrets")
        ));
    }
    output::line(&target.display().to_string())
}
