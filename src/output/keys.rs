//! Single keys at a terminal.

use std::time::Duration;

use ratatui::crossterm::terminal::{disable_raw_mode, enable_raw_mode};

/// How often signals are noticed.
const PATIENCE: Duration = Duration::from_millis(200);

/// What the user did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    /// Pressed a key.
    Key(char),
    /// Closed the terminal.
    End,
    /// Nothing, or something that is not a single key, such as a paste.
    Nothing,
}

/// The terminal while it sends each key at once. When it is dropped, the terminal is as before.
pub(crate) struct Keys;

impl Keys {
    /// Begins to read keys.
    pub(crate) fn begin() -> anyhow::Result<Self> {
        enable_raw_mode()?;
        Ok(Self)
    }

    /// Ignores keys that were pressed before a question is shown.
    pub(crate) fn ignore_earlier() {
        // If this fails, the keys count as answers.
        #[cfg(unix)]
        let _ = rustix::termios::tcflush(std::io::stdin(), rustix::termios::QueueSelector::IFlush);
    }

    /// Waits a moment for a key.
    // crossterm reads a closed terminal for ever, so the bytes are read here.
    #[cfg(unix)]
    #[expect(clippy::unused_self, reason = "the terminal must be in the right mode")]
    pub(crate) fn next(&self) -> anyhow::Result<Input> {
        use rustix::io::Errno;
        let mut bytes = [0; 64];
        if !is_readable(PATIENCE)? {
            return Ok(Input::Nothing);
        }
        match rustix::io::read(std::io::stdin(), &mut bytes) {
            Ok(0) | Err(Errno::IO) => Ok(Input::End),
            Ok(1) => Ok(bytes.first().map_or(Input::Nothing, |byte| Input::Key(char::from(*byte)))),
            Ok(_) | Err(Errno::INTR | Errno::AGAIN) => Ok(Input::Nothing),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits a moment for a key.
    #[cfg(not(unix))]
    #[expect(clippy::unused_self, reason = "the terminal must be in the right mode")]
    pub(crate) fn next(&self) -> anyhow::Result<Input> {
        use ratatui::crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers, poll, read};
        if !poll(PATIENCE)? {
            return Ok(Input::Nothing);
        }
        let Event::Key(key) = read()? else { return Ok(Input::Nothing) };
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        Ok(match key.code {
            _ if key.kind == KeyEventKind::Release => Input::Nothing,
            KeyCode::Char('c' | 'd') if is_control => Input::End,
            KeyCode::Char(letter) => Input::Key(letter),
            KeyCode::Esc => Input::Key('\u{1b}'),
            _ => Input::Nothing,
        })
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        // Nothing else can be done about a failure.
        let _ = disable_raw_mode();
    }
}

/// True if stdin has input, or its terminal was closed. Waits at most this long.
#[cfg(unix)]
fn is_readable(patience: Duration) -> anyhow::Result<bool> {
    Ok(polled(patience)?.is_some())
}

/// True if the terminal of stdin was closed.
#[cfg(unix)]
pub(crate) fn is_closed() -> bool {
    use rustix::event::PollFlags;
    polled(Duration::ZERO).is_ok_and(|found| found.is_some_and(|found| found.intersects(PollFlags::HUP)))
}

/// True if the terminal of stdin was closed.
#[cfg(not(unix))]
pub(crate) fn is_closed() -> bool {
    false
}

#[cfg(unix)]
fn polled(patience: Duration) -> anyhow::Result<Option<rustix::event::PollFlags>> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::Errno;
    let stdin = std::io::stdin();
    let mut sources = [PollFd::new(&stdin, PollFlags::IN)];
    let patience = Timespec { tv_sec: 0, tv_nsec: patience.subsec_nanos().into() };
    match poll(&mut sources, Some(&patience)) {
        Ok(0) | Err(Errno::INTR) => Ok(None),
        Ok(_) => Ok(sources.first().map(PollFd::revents)),
        Err(error) => Err(error.into()),
    }
}
