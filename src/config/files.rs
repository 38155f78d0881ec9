//! Settings of files: whether the memory tool is offered, and what holds of its commands.

use std::path::PathBuf;

use tessera_desk::folders::FileRules;
use tessera_mcp::MemoryFiles;

use super::{Setting, any, home, switch};
use crate::config_file::ConfigFile;
use crate::exit::SetupError;

setting!(
    MEMORY_FILES,
    ["TESSERA_MEMORY_FILES"],
    Some("memory_files"),
    "on or off (default): offer the memory tool, which keeps files, to MCP clients"
);
setting!(
    FILES_OVERWRITE,
    ["TESSERA_FILES_OVERWRITE"],
    Some("files.overwrite"),
    "on or off (default): the memory tool's create may write over a file; its old text stays in the history"
);
setting!(
    FILES_MAX_BYTES,
    ["TESSERA_FILES_MAX_BYTES"],
    Some("files.max_bytes"),
    "the largest file that the memory tool writes (default 8388608); what is over 32 KiB is not synced, over 1 MiB not found by recall"
);
setting!(
    FILES_MAX_TOKENS,
    ["TESSERA_FILES_MAX_TOKENS"],
    Some("files.max_tokens"),
    "the longest reply of the memory tool, in tokens (default 8000)"
);
setting!(
    FILES_TOPIC,
    ["TESSERA_FILES_TOPIC"],
    Some("files.topic"),
    "what the memory tool's files should be about: a sentence that clients are told beside its protocol"
);

/// What holds of the memory tool's commands.
pub(crate) fn file_rules(home_flag: Option<PathBuf>) -> Result<FileRules, SetupError> {
    rules(&ConfigFile::read(&home(home_flag)?)?)
}

/// Refuses settings of files that cannot be used.
pub(super) fn check(file: &ConfigFile) -> Result<(), SetupError> {
    MEMORY_FILES.parsed(file, false, switch)?;
    rules(file).map(drop)
}

/// How the memory tool is offered to clients.
pub(crate) fn memory_files(home_flag: Option<PathBuf>) -> Result<MemoryFiles, SetupError> {
    let file = ConfigFile::read(&home(home_flag)?)?;
    Ok(MemoryFiles {
        is_offered: MEMORY_FILES.parsed(&file, false, switch)?,
        rules: rules(&file)?,
        topic: FILES_TOPIC.text().or_else(|| file.text(&FILES_TOPIC)),
    })
}

fn rules(file: &ConfigFile) -> Result<FileRules, SetupError> {
    let usual = FileRules::default();
    Ok(FileRules {
        overwrite: FILES_OVERWRITE.parsed(file, usual.overwrite, switch)?,
        most_bytes: FILES_MAX_BYTES.parsed(file, usual.most_bytes, any)?,
        max_tokens: FILES_MAX_TOKENS.parsed(file, usual.max_tokens, any)?,
    })
}
