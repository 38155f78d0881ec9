//! File settings: whether the memory tool is offered, and the rules for its commands.

use std::path::PathBuf;

use tessera_desk::folders::FileRules;
use tessera_mcp::MemoryFiles;

use super::{
    FILES_MAX_BYTES, FILES_MAX_TOKENS, FILES_OVERWRITE, FILES_TOPIC, MEMORY_FILES, home, number, switch, tokens,
};
use crate::config_file::ConfigFile;
use crate::exit::SetupError;

/// The rules for the memory tool's commands.
pub(crate) fn file_rules(home_flag: Option<PathBuf>) -> Result<FileRules, SetupError> {
    rules(&ConfigFile::read(&home(home_flag)?)?)
}

/// Rejects invalid file settings.
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
        most_bytes: FILES_MAX_BYTES.parsed(file, usual.most_bytes, number)?,
        max_tokens: FILES_MAX_TOKENS.parsed(file, usual.max_tokens, tokens)?,
    })
}
