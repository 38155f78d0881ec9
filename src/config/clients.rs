//! Where clients keep their settings, and which client started this program.

use std::path::{Path, PathBuf};

use tessera_desk::Project;
use tessera_setup::Places;

use super::{named_home, user_home, variable};
use crate::exit::{SetupError, of_system};

/// Where clients keep their settings.
pub(crate) fn places(home_flag: Option<&Path>) -> Result<Places, SetupError> {
    let home = etcetera::home_dir()
        .map_err(|error| SetupError(format!("your home directory is unknown ({error}); set HOME")))?;
    let config = if cfg!(windows) {
        variable("APPDATA").map_or_else(|| home.join("AppData/Roaming"), PathBuf::from)
    } else if cfg!(target_os = "macos") {
        home.join("Library/Application Support")
    } else {
        variable("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from)
    };
    Ok(Places {
        config,
        data: variable("XDG_DATA_HOME").map_or_else(|| home.join(".local/share"), PathBuf::from),
        zsh: variable("ZDOTDIR").map(PathBuf::from),
        claude: variable("CLAUDE_CONFIG_DIR").map(PathBuf::from),
        codex: variable("CODEX_HOME").map(PathBuf::from),
        program: program_as_called().map_err(|error| {
            SetupError(format!("cannot find the path of the running program: {}", of_system(&error)))
        })?,
        store: named_home(home_flag.map(Path::to_path_buf)).map(|home| std::path::absolute(&home).unwrap_or(home)),
        home,
        search: variable("PATH"),
    })
}

/// The path by which this program was called, if this path leads to this executable. If the path is a link, it is kept
/// as it is, because its target may be another file after an update.
fn program_as_called() -> std::io::Result<PathBuf> {
    let here = std::env::current_exe()?;
    let called = std::env::args_os().next().map(PathBuf::from).unwrap_or_default();
    let places: Vec<PathBuf> = match called.components().count() {
        1 => variable("PATH")
            .map_or_else(Vec::new, |path| std::env::split_paths(&path).map(|dir| dir.join(&called)).collect()),
        _ => vec![called],
    };
    let real = here.canonicalize()?;
    let is_here = |place: &PathBuf| place.canonicalize().is_ok_and(|place| place == real);
    let found = places.into_iter().filter_map(|place| std::path::absolute(place).ok()).find(is_here);
    Ok(found.unwrap_or(here))
}

/// The executable of the client that runs this hook; `None` if the system does not reveal it.
pub(super) fn running_claude() -> Option<PathBuf> {
    let pid: u32 = variable("CLAUDE_PID")?.to_str()?.parse().ok()?;
    std::fs::read_link(format!("/proc/{pid}/exe")).ok().filter(|program| program.is_file())
}

/// True if this hook comes from a client's plugin, and the client's settings contain a hook of ours too. Then only the
/// other one acts.
pub(crate) fn leaves_hook_to_settings() -> bool {
    is_of_plugin() && places(None).is_ok_and(|places| tessera_setup::runs_hooks(&places, client_project().as_deref()))
}

/// The directory of the client's project.
pub(super) fn client_project() -> Option<PathBuf> {
    variable("CLAUDE_PROJECT_DIR").map(PathBuf::from).filter(|dir| dir.is_absolute())
}

/// Returns true if a client's plugin started this server and the client's settings also contain a Tessera server.
pub(crate) fn leaves_tools_to_settings() -> bool {
    is_of_plugin()
        && places(None).is_ok_and(|places| tessera_setup::starts_server(&places, client_project().as_deref()))
}

/// True if a client's plugin started this program.
fn is_of_plugin() -> bool {
    variable("CLAUDE_PLUGIN_ROOT").is_some()
}

/// For a server that a client started: the client's session, and the project and directory of that session.
pub(crate) fn client_session() -> (Option<String>, Option<Project>) {
    let session = variable("CLAUDE_CODE_SESSION_ID").and_then(|id| id.into_string().ok());
    (session, client_project().and_then(|dir| Project::of(&dir, user_home().as_deref())))
}
