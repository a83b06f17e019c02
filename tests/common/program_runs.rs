//! Folders in which the program runs.

use std::path::PathBuf;
use std::process::Output;

/// Runs a command line in a folder.
#[cfg(feature = "cli")]
pub fn vidrec(line: &str, dir: &std::path::Path) -> Output {
    std::process::Command::new(env!("CARGO_BIN_EXE_vidrec")).args(line.split(' ')).current_dir(dir).output().unwrap()
}

/// All that a run says, for the message of a test that fails.
pub fn show(run: &Output) -> String {
    let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    format!("{}\n--- stdout\n{out}\n--- stderr\n{err}", run.status)
}

pub fn stderr(run: &Output) -> String {
    String::from_utf8_lossy(&run.stderr).into_owned()
}

/// A folder in which command lines run that end with a given status.
pub struct Place(pub tempfile::TempDir);

impl Place {
    pub fn new() -> Self {
        Place(tempfile::tempdir().unwrap())
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

#[cfg(feature = "cli")]
impl Place {
    #[track_caller]
    pub fn run(&self, line: &str, status: i32) -> Output {
        let run = vidrec(line, self.0.path());
        assert_eq!(run.status.code(), Some(status), "{line}\n{}", show(&run));
        run
    }

    #[track_caller]
    pub fn text(&self, line: &str, status: i32) -> String {
        String::from_utf8(self.run(line, status).stdout).unwrap()
    }

    #[track_caller]
    pub fn error(&self, line: &str, status: i32) -> String {
        let run = self.run(line, status);
        assert!(run.stdout.is_empty(), "{line}");
        String::from_utf8(run.stderr).unwrap()
    }

    #[track_caller]
    pub fn json(&self, line: &str, status: i32) -> serde_json::Value {
        serde_json::from_slice(&self.run(&format!("{line} --json"), status).stdout).unwrap()
    }
}
