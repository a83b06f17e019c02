//! A folder in which the program packs.

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;
use vidrec::{Clip, Dataset};

use crate::common::ffmpeg_videos;
use crate::common::program_runs::{show, stderr};

/// A folder for a test, with what it makes in it.
pub struct Room(tempfile::TempDir);

impl Room {
    pub fn new() -> Self {
        Room(tempfile::tempdir().unwrap())
    }

    /// A path in the folder, whose own folder is there.
    pub fn path(&self, name: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Runs `ffmpeg ARGS NAME` in the folder; the arguments are given as one string.
    #[track_caller]
    pub fn make(&self, name: &str, args: &str) -> PathBuf {
        let (out, args) = (self.path(name), args.split_whitespace().collect::<Vec<_>>());
        ffmpeg_videos::make_in(self.0.path(), &args, &out).unwrap();
        out
    }

    /// Runs the program in the folder.
    pub fn vidrec(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_vidrec")).current_dir(self.0.path()).args(args).output().unwrap()
    }

    /// Packs an input, and others that begin `more`, to `set`.
    pub fn pack(&self, input: impl AsRef<OsStr>, more: &[&str]) -> Output {
        let input = input.as_ref().to_str().unwrap();
        self.vidrec(&[&["pack", input], more, &["-o", "set", "--if-exists", "replace"]].concat())
    }

    /// Packs what must come out whole.
    #[track_caller]
    pub fn packed(&self, input: impl AsRef<OsStr>, more: &[&str]) -> Dataset {
        let run = self.pack(input, more);
        assert_eq!(run.status.code(), Some(0), "{}", show(&run));
        self.set()
    }

    /// Packs with this status, and returns the report.
    #[track_caller]
    pub fn report(&self, status: i32, input: impl AsRef<OsStr>, more: &[&str]) -> Value {
        let run = self.pack(input, &[more, &["--json"]].concat());
        assert_eq!(run.status.code(), Some(status), "{}", show(&run));
        serde_json::from_slice(&run.stdout).unwrap()
    }

    /// Packs with this status, and says all of these words on standard error.
    #[track_caller]
    pub fn says(&self, status: i32, input: impl AsRef<OsStr>, more: &[&str], words: &[&str]) {
        let run = self.pack(input, more);
        let said = stderr(&run);
        assert_eq!(run.status.code(), Some(status), "{more:?}: {said}");
        assert!(words.iter().all(|word| said.contains(word)), "{more:?} does not say {words:?}: {said}");
    }

    pub fn set(&self) -> Dataset {
        Dataset::open(self.path("set")).unwrap()
    }
}

/// The frames of the source that a clip has.
pub fn indexes(clip: &Clip<'_>) -> Vec<u32> {
    clip.frames().map(|frame| frame.unwrap().source_index().unwrap()).collect()
}

/// What a clip says of its video.
pub fn facts(clip: &Clip<'_>) -> Value {
    clip.attributes().unwrap().get("video").unwrap().unwrap()
}
