//! Files that this program makes for itself: locks, logs, caches. Nobody else has a reason to put something else there.

use std::fs::OpenOptions;

/// Refuses links, which could lead to a file of somebody else, and does not wait for the other end of a pipe.
pub(crate) fn in_place(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, libc::O_NOFOLLOW | libc::O_NONBLOCK);
    options
}

/// The same; a file that is created so can be read by this user alone.
#[cfg(feature = "remote")]
pub(crate) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    in_place(options)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn links_are_refused_and_pipes_keep_nobody_waiting() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link, pipe) = (dir.path().join("file"), dir.path().join("link"), dir.path().join("pipe"));
        std::fs::write(&file, b"of somebody else").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let open = |path| in_place(OpenOptions::new().write(true).create(true).truncate(true)).open(path);
        assert!(open(&link).is_err() && open(&pipe).is_err());
        assert_eq!(std::fs::read(&file).unwrap(), b"of somebody else");
        assert!(open(&file).is_ok());
    }
}
