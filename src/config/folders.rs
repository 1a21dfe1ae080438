//! Where settings and state live (XDG on Linux), through `directories`. Owns paths and private creation; must not read contents.

use std::path::{Path, PathBuf};

fn dirs() -> Option<directories::ProjectDirs> {
    directories::ProjectDirs::from("", "", "planedeck")
}

/// `settings.yaml` in the settings folder; `None` without a home.
pub fn settings_file() -> Option<PathBuf> {
    dirs().map(|d| d.config_dir().join("settings.yaml"))
}

/// The state folder (drafts, audit log, last good pools); `None` without a home.
pub fn state() -> Option<PathBuf> {
    dirs().and_then(|d| d.state_dir().map(Path::to_path_buf).or_else(|| Some(d.data_local_dir().to_path_buf())))
}

/// Creates a folder that only its owner may enter (0700), and its parents.
///
/// # Errors
/// Those of the file system.
pub fn create_private(dir: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// Writes a file that only its owner may read (0600), replacing what stood there at one stroke: a reader sees the old or the new whole.
/// The rename replaces a symbolic link instead of following it.
///
/// # Errors
/// Those of the file system.
pub fn write_private(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::io::Write as _;
    let dir = path.parent().filter(|d| !d.as_os_str().is_empty()).unwrap_or(Path::new("."));
    create_private(dir)?;
    let mut file = tempfile::Builder::new().prefix(".planedeck-").tempfile_in(dir)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|e| e.error)?;
    Ok(())
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn folders_and_files_are_their_owners_alone_and_links_are_replaced() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("a/b/kept");
        write_private(&file, b"one").unwrap();
        assert_eq!((mode(&home.path().join("a")), mode(&home.path().join("a/b")), mode(&file)), (0o700, 0o700, 0o600));
        let target = home.path().join("target");
        std::fs::write(&target, "theirs").unwrap();
        std::fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink(&target, &file).unwrap();
        write_private(&file, b"two").unwrap();
        assert_eq!((std::fs::read(&target).unwrap(), std::fs::read(&file).unwrap()), (b"theirs".to_vec(), b"two".to_vec()));
        assert_eq!(std::fs::read_dir(home.path().join("a/b")).unwrap().count(), 1, "nothing half written is left");
    }
}
