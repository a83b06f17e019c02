//! A small disk, which a test fills up.

use std::path::Path;
use std::process::{Command, Stdio};

/// A shell for one command, with a file system of so many bytes mounted at `folder` that goes away with the shell. Root
/// may do this, whoever may be root in a user namespace, and whoever may `sudo` without a password; `None` for others.
pub fn shell_that_mounts(folder: &Path, bytes: u64) -> Option<Command> {
    let ways = [
        &["unshare", "--mount"][..],
        &["unshare", "--map-root-user", "--mount"],
        &["sudo", "-n", "--preserve-env", "unshare", "--mount"],
    ];
    let owner = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(folder).unwrap());
    let mount = format!("mount -t tmpfs -o size={bytes},uid={owner} tmpfs '{}'", folder.display());
    ways.into_iter().find_map(|way| {
        let shell = |script: &str| {
            let mut shell = Command::new(way[0]);
            shell.args(&way[1..]).args(["sh", "-c", script]).stdin(Stdio::null());
            shell
        };
        let may = shell(&mount).stderr(Stdio::null()).status().is_ok_and(|status| status.success());
        may.then(|| shell(&format!("{mount} && exec \"$0\" \"$@\"")))
    })
}
