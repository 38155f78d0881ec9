//! A command that runs on a terminal while the test reads its screen and presses keys.

use std::fs::File;
use std::io::{Read, Write};
use std::process::Child;
use std::time::Duration;

use crate::support::terminal::start_with;
use crate::support::{World, ended};

/// A command on a terminal, with its screen.
pub(crate) struct OnTerminal {
    pub(crate) child: Child,
    terminal: File,
    pub(crate) screen: vt100::Parser,
}

impl OnTerminal {
    pub(crate) fn start(world: &World, variables: &[(&str, &str)], args: &[&str]) -> Self {
        let (child, terminal) = start_with(world, 120, variables, args);
        rustix::fs::fcntl_setfl(&terminal, rustix::fs::OFlags::NONBLOCK).unwrap();
        Self { child, terminal, screen: vt100::Parser::new(24.try_into().unwrap(), 120.try_into().unwrap(), 0) }
    }

    /// Waits until the screen shows these words.
    pub(crate) fn until(&mut self, words: &str) {
        let started = std::time::Instant::now();
        loop {
            let mut piece = [0; 4096];
            match self.terminal.read(&mut piece) {
                Ok(count) => self.screen.process(&piece[..count]),
                Err(_) => std::thread::sleep(Duration::from_millis(10)),
            }
            let text = self.screen.screen().contents();
            if text.contains(words) {
                return;
            }
            assert!(started.elapsed() < Duration::from_secs(30), "{words}: {text}");
        }
    }

    /// Waits until the command has left its screen and printed these words.
    pub(crate) fn until_left(&mut self, words: &str) {
        while self.screen.screen().alternate_screen() {
            self.until("");
        }
        self.until(words);
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.terminal.write_all(keys.as_bytes()).unwrap();
    }

    pub(crate) fn end(mut self) -> Option<i32> {
        // The terminal is read until its end, so that the program does not wait.
        let started = std::time::Instant::now();
        let mut piece = [0; 4096];
        while self.child.try_wait().unwrap().is_none() {
            let _ = self.terminal.read(&mut piece);
            assert!(started.elapsed() < Duration::from_secs(30), "the command does not end");
        }
        ended(self.child).and_then(|ran| ran.code)
    }
}
