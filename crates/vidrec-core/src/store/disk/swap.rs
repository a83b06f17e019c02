//! Swapping two folders.

use std::fs;
use std::io;
use std::path::Path;

use super::system::exchange;

/// Exchanges the names of the folders `new` and `old`, in one step if the system can.
///
/// On other systems, the old folder has the name `aside` for a moment. [`undo`] restores it after a crash in that
/// moment.
pub(super) fn swap(new: &Path, old: &Path, aside: &Path) -> io::Result<()> {
    match exchange(new, old) {
        Err(e) if matches!(e.kind(), io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput) => {
            fs::rename(old, aside)?;
            fs::rename(new, old)?;
            fs::rename(aside, new)
        }
        exchanged => exchanged,
    }
}

/// Restores a folder that an interrupted [`swap`] left aside.
pub(super) fn undo(old: &Path, aside: &Path) -> io::Result<()> {
    if aside.exists() && !old.exists() { fs::rename(aside, old) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_gets_the_name_of_the_other() {
        let dir = tempfile::tempdir().unwrap();
        let [a, b, aside] = ["a", "b", "aside"].map(|name| dir.path().join(name));
        for (folder, file) in [(&a, "new"), (&b, "old")] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join(file), "").unwrap();
        }
        swap(&a, &b, &aside).unwrap();
        assert!(b.join("new").exists() && a.join("old").exists() && !aside.exists());
        // As after a crash on a system that cannot exchange names.
        fs::rename(&b, &aside).unwrap();
        undo(&b, &aside).unwrap();
        assert!(b.join("new").exists());
        undo(&b, &aside).unwrap();
    }
}
