//! A folder in which the program packs.

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use vidrec::Dataset;

use crate::common::ffmpeg_videos;
use crate::common::program_runs::show;

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
        Dataset::open(self.path("set")).unwrap()
    }
}
