//! Signals that end a program, while another program or the picker uses the terminal.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// While it exists, a signal sets a flag instead of ending this program.
pub(crate) struct Undisturbed {
    is_asked: Arc<AtomicBool>,
    #[cfg(unix)]
    ids: Vec<signal_hook::SigId>,
}

impl Undisturbed {
    /// Begins to catch signals. A signal that cannot be caught keeps its effect.
    pub(crate) fn begin() -> Self {
        let is_asked = Arc::new(AtomicBool::new(false));
        #[cfg(unix)]
        {
            use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
            let caught = [SIGHUP, SIGINT, SIGQUIT, SIGTERM].into_iter();
            let ids = caught.filter_map(|signal| signal_hook::flag::register(signal, Arc::clone(&is_asked)).ok());
            Self { ids: ids.collect(), is_asked }
        }
        #[cfg(not(unix))]
        Self { is_asked }
    }

    /// True if a signal asked this program to end.
    pub(crate) fn is_asked_to_end(&self) -> bool {
        self.is_asked.load(Ordering::Relaxed)
    }
}

impl Drop for Undisturbed {
    fn drop(&mut self) {
        #[cfg(unix)]
        for id in self.ids.drain(..) {
            signal_hook::low_level::unregister(id);
        }
    }
}
