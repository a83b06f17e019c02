//! A store, a folder with data sets, and the program with the store's options.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use fault_proxy::{Origin, Server};
use tempfile::TempDir;
use vidrec::{PushOptions, PushReport, Result, Storage};

use crate::common::rich::Rich;
use crate::common::{s3_storage, tree};

/// The files of a folder, or the objects of a bucket, by their names below it.
pub type Files = BTreeMap<String, Vec<u8>>;

/// A store with one bucket, and data sets beside it.
pub struct Store {
    temp: TempDir,
    pub origin: Origin,
    pub server: Server,
}

impl Store {
    /// With the data set `set` of two shards.
    pub fn new() -> Self {
        Self::by(Origin::writable)
    }

    pub fn by(kind: impl FnOnce(Origin) -> Origin) -> Self {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir_all(temp.path().join("store/bucket")).unwrap();
        let origin = kind(Origin::new(temp.path().join("store")));
        let server = origin.clone().start("127.0.0.1:0").unwrap();
        let store = Store { temp, origin, server };
        Rich::default().write(&store.path("set"));
        store
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    /// The objects below a name in the bucket.
    pub fn objects(&self, name: &str) -> Files {
        tree(&self.path("store/bucket").join(name))
    }

    pub fn files(&self, name: &str) -> Files {
        tree(&self.path(name))
    }

    pub fn clear(&self) {
        fs::remove_dir_all(self.path("store/bucket")).unwrap();
        fs::create_dir(self.path("store/bucket")).unwrap();
        self.server.rules().clear();
        self.server.reset_counts();
    }

    pub fn storage(&self) -> Storage {
        s3_storage::storage(&self.server)
    }

    pub fn push_options(&self) -> PushOptions {
        PushOptions { storage: self.storage(), ..PushOptions::default() }
    }

    pub fn push(&self, set: &str, name: &str) -> Result<PushReport> {
        self.push_with(set, name, &self.push_options())
    }

    pub fn push_with(&self, set: &str, name: &str, options: &PushOptions) -> Result<PushReport> {
        vidrec::push(self.path(set), format!("s3://bucket/{name}"), options, &mut vidrec::no_progress)
    }

    /// The program in the folder that everything is in. What it makes on the way goes to `scratch`.
    pub fn command(&self, line: &str) -> Command {
        fs::create_dir_all(self.path("scratch")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_vidrec"));
        command.args(line.split(' ')).current_dir(self.temp.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env("TMPDIR", self.path("scratch"));
        command.envs(s3_storage::variables(&self.server));
        command
    }

    pub fn run(&self, line: &str) -> Output {
        self.command(line).output().unwrap()
    }

    /// Runs the program, which ends with this status, and returns what it says on standard error.
    #[track_caller]
    pub fn ends(&self, status: i32, line: &str) -> String {
        let run = self.run(line);
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert_eq!(run.status.code(), Some(status), "{line}: {said}");
        said
    }

    /// Nothing is left of what commands made on the way.
    #[track_caller]
    pub fn has_no_scratch(&self, what: &str) {
        let left: Vec<_> = fs::read_dir(self.path("scratch")).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert!(left.is_empty(), "{what}: {left:?}");
    }
}

/// The names of both, and whether they have the same bytes: not the bytes themselves.
#[track_caller]
pub fn same(what: &str, found: &Files, expected: &Files) {
    let (names, wanted): (Vec<_>, Vec<_>) = (found.keys().collect(), expected.keys().collect());
    assert_eq!(names, wanted, "{what}");
    for (name, bytes) in expected {
        assert!(found[name] == *bytes, "{what}: {name} has other bytes");
    }
}
