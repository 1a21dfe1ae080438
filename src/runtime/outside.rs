//! A text in the person's own editor: a private file, the child that has the terminal, the bytes it leaves. Owns the file and the child; must
//! not know what the text means, nor give the terminal away or take it back.

use std::io::Write as _;

use crate::nodegroups::document::MAX_BYTES;

/// The words of the command: `$VISUAL`, else `$EDITOR`, else `vi`; split as a shell would, so that `code --wait` works.
///
/// # Errors
/// When the variable's quotes don't close.
fn command(visual: Option<String>, editor: Option<String>) -> Result<Vec<String>, String> {
    let set = |v: Option<String>| v.filter(|s| !s.trim().is_empty());
    let line = set(visual).or(set(editor)).unwrap_or_else(|| "vi".to_string());
    shlex::split(&line).filter(|w| !w.is_empty()).ok_or_else(|| format!("the quotes in {line:?} don't close"))
}

/// Runs the editor on a text and waits for it.
///
/// # Errors
/// In words: no usable command, an editor that fails, a file that can't be written or read back, or that grew beyond reason.
pub async fn edit(text: &str) -> Result<Vec<u8>, String> {
    let words = command(std::env::var("VISUAL").ok(), std::env::var("EDITOR").ok())?;
    let (program, arguments) = words.split_first().ok_or("no editor is named")?;
    // Only its owner may read it (0600), and it goes when it is dropped.
    let mut file = tempfile::Builder::new().prefix("planedeck-").suffix(".yaml").tempfile().map_err(|e| format!("no file for it: {e}"))?;
    file.write_all(text.as_bytes()).and_then(|()| file.flush()).map_err(|e| format!("{}: {e}", file.path().display()))?;
    let status = tokio::process::Command::new(program).args(arguments).arg(file.path()).status().await;
    let status = status.map_err(|e| format!("{program} can't be started: {e}; set VISUAL or EDITOR"))?;
    if !status.success() {
        return Err(format!("{program} ended with {status}"));
    }
    // By name: many editors write a new file and put it in the place of the old one.
    let length = std::fs::metadata(file.path()).map_err(|e| format!("{}: {e}", file.path().display()))?.len();
    if length > MAX_BYTES as u64 {
        return Err(format!("the text has {length} bytes, at most {MAX_BYTES} are read"));
    }
    std::fs::read(file.path()).map_err(|e| format!("{}: {e}", file.path().display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_split_as_a_shell_would() {
        let of = |v: &str, e: &str| command(Some(v.to_string()), Some(e.to_string()));
        assert_eq!(of("code --wait", "nano").unwrap(), ["code", "--wait"]);
        assert_eq!(of("", "'my editor' -x").unwrap(), ["my editor", "-x"]);
        assert_eq!(of(" ", "").unwrap(), ["vi"]);
        assert_eq!(command(None, None).unwrap(), ["vi"]);
        assert!(of("'open", "").is_err());
    }
}
