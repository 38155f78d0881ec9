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

/// A file without Tessera's block; `None` if it has none.
pub(crate) fn without_block(file: &[u8]) -> Option<Vec<u8>> {
    let find = |bytes: &[u8], line: &str| {
        let line = format!("{line}\n");
        bytes.windows(line.len()).position(|window| window == line.as_bytes()).map(|at| (at, at + line.len()))
    };
    let (begin, _) = find(file, BEGIN)?;
    let (before, rest) = file.split_at_checked(begin)?;
    let (_, end) = find(rest, END)?;
    Some([before, rest.get(end..)?].concat())
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
    }
}
