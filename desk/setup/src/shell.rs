//! The settings of shells: completions, and a key binding.
//!
//! A shell's own file for completions belongs to Tessera. In a file that the user writes, such as `.zshrc`, Tessera adds
//! a marked block.

use std::path::PathBuf;

use tessera_tables::names;

use crate::client::Places;
use crate::error::SetupError;
use crate::plan::{self, Edit, Plan};

/// The name of shells in the record of changes.
pub(crate) const OWNER: &str = "shell";
/// The first and the last line of the block.
const BEGIN: &str = "# tessera: begin (added by `tessera completions install`)";
const END: &str = "# tessera: end";

names! {
/// A shell whose settings Tessera can change.
pub enum Shell {
    /// Bash.
    Bash = "bash",
    /// Zsh.
    Zsh = "zsh",
    /// Fish.
    Fish = "fish",
}
}

impl Shell {
    /// The edits that install a completion script, and a key binding if there is one.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read.
    pub fn plan(self, script: &str, key: Option<&str>, places: &Places) -> Result<Plan, SetupError> {
        let mut plan = Plan::default();
        let own = self.own_file(places);
        if let Some(path) = &own {
            let before = plan::read(path)?;
            plan.add(Edit::new(path.clone(), before, Some(script.as_bytes().to_vec())));
        }
        let block: String = [script].into_iter().filter(|_| own.is_none()).chain(key).collect::<Vec<_>>().join("\n");
        let path = self.settings(places);
        let before = plan::read(&path)?;
        if before.as_ref().is_some_and(|bytes| has_broken_block(bytes)) {
            let problem = format!(
                "contains an incomplete block of Tessera; delete the line `{BEGIN}` and the lines of the block"
            );
            return Err(SetupError::Unreadable { path, problem });
        }
        let without = before.as_ref().map(|bytes| without_block(bytes).unwrap_or_else(|| bytes.clone()));
        let after = if block.is_empty() { without } else { Some(with_block(without.unwrap_or_default(), &block)) };
        plan.add(Edit::new(path, before, after));
        Ok(plan)
    }

    /// The file that the shell reads only for completions of `tessera`.
    fn own_file(self, places: &Places) -> Option<PathBuf> {
        match self {
            Self::Bash => Some(places.data.join("bash-completion/completions/tessera")),
            Self::Fish => Some(places.config.join("fish/completions/tessera.fish")),
            Self::Zsh => None,
        }
    }

    /// The file with the user's own settings.
    fn settings(self, places: &Places) -> PathBuf {
        match self {
            Self::Bash => places.home.join(".bashrc"),
            Self::Zsh => places.zsh.as_ref().unwrap_or(&places.home).join(".zshrc"),
            Self::Fish => places.config.join("fish/config.fish"),
        }
    }
}

fn with_block(mut file: Vec<u8>, block: &str) -> Vec<u8> {
    if !file.is_empty() && !file.ends_with(b"\n") {
        file.push(b'\n');
    }
    file.extend_from_slice(format!("{BEGIN}\n{}\n{END}\n", block.trim_end()).as_bytes());
    file
}

/// The positions of the lines that begin and end the block. Editors may have changed the line ends.
fn marks(file: &[u8]) -> (Vec<usize>, Vec<usize>) {
    let lines = file.split_inclusive(|byte| *byte == b'\n').enumerate();
    let (mut begins, mut ends) = (Vec::new(), Vec::new());
    for (at, line) in lines {
        match line.trim_ascii_end() {
            line if line == BEGIN.as_bytes() => begins.push(at),
            line if line == END.as_bytes() => ends.push(at),
            _ => {}
        }
    }
    (begins, ends)
}

/// True for a file with a line that begins or ends a block, but without exactly one complete block.
fn has_broken_block(file: &[u8]) -> bool {
    let (begins, ends) = marks(file);
    !begins.is_empty() && without_block(file).is_none() || begins.is_empty() && !ends.is_empty()
}

/// A file without Tessera's block; `None` if it does not contain exactly one complete block.
pub(crate) fn without_block(file: &[u8]) -> Option<Vec<u8>> {
    let (begins, ends) = marks(file);
    let ([begin], [end]) = (begins.as_slice(), ends.as_slice()) else { return None };
    let lines = file.split_inclusive(|byte| *byte == b'\n').enumerate();
    let outside = lines.filter(|(at, _)| at < begin || at > end).map(|(_, line)| line);
    (begin < end).then(|| outside.collect::<Vec<_>>().concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_added_replaced_and_removed_without_other_changes() {
        for file in ["", "export A=1\n", "no line end"] {
            let with = with_block(file.as_bytes().to_vec(), "source x\n");
            let text = String::from_utf8_lossy(&with).into_owned();
            assert!(text.ends_with(&format!("{BEGIN}\nsource x\n{END}\n")), "{text}");
            let without = without_block(&with).unwrap_or_default();
            assert_eq!(String::from_utf8_lossy(&without).trim_end(), file.trim_end());
        }
        assert_eq!(without_block(b"export A=1\n"), None);
        // A user deleted the last line of the block, and added lines.
        let broken = format!("{BEGIN}\nsource x\nexport MINE=1\n");
        assert!(without_block(broken.as_bytes()).is_none() && has_broken_block(broken.as_bytes()));
        let twice = format!("{broken}{BEGIN}\nsource x\n{END}\n");
        assert!(without_block(twice.as_bytes()).is_none() && has_broken_block(twice.as_bytes()));
        let windows = format!("a\r\n{BEGIN}\r\nsource x\r\n{END}\r\nb\r\n");
        assert_eq!(without_block(windows.as_bytes()).as_deref(), Some(&b"a\r\nb\r\n"[..]));
    }
}
