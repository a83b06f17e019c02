//! Small videos, what is packed of them, and packs that wait, are stopped or killed.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

use crate::common::ffmpeg_videos;
pub use crate::common::program_runs::{show, stderr};
pub use crate::common::rich::assert_verifies as is_whole;
use crate::common::until::until;

/// The shards of each pack, and the parts of each plan.
pub const SHARDS: u32 = 4;

/// Small videos of two classes, with a broken file in the middle, and what is made of them.
pub struct Videos {
    temp: tempfile::TempDir,
}

impl Videos {
    pub fn make(count: u32) -> Self {
        let videos = Videos { temp: tempfile::tempdir().unwrap() };
        for i in 0..3 {
            let source = format!("testsrc2=size=64x48:rate=10:duration=1,hue=h={}", i * 90);
            ffmpeg_videos::make(&format!("-f lavfi -i {source} -c:v mpeg4"), videos.path(&format!("{i}.mp4")));
        }
        for i in 0..count {
            let to = videos.path(&format!("in/{}/{i:04}.mp4", if i % 2 == 0 { "even" } else { "odd" }));
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(videos.path(&format!("{}.mp4", i % 3)), to).unwrap();
        }
        fs::write(videos.path("in/even/broken.mp4"), b"<html>404</html>").unwrap();
        videos
    }

    /// Puts a video with sound in the place of another one.
    pub fn add_sound(&self, name: &str) {
        let video = "-f lavfi -i testsrc2=size=64x48:rate=10:duration=1";
        ffmpeg_videos::make(&format!("{video} -f lavfi -i sine=duration=1 -c:v mpeg4"), self.path(name));
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    /// The program in the folder that everything is in.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vidrec"));
        command.args(args).current_dir(self.temp.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Runs the program, which ends with this status.
    #[track_caller]
    pub fn ends(&self, status: i32, args: &[&str]) -> Output {
        let run = self.run(args);
        assert_eq!(run.status.code(), Some(status), "{args:?}: {}", show(&run));
        run
    }

    /// Runs the program, which fails and says all of these words in one message.
    #[track_caller]
    pub fn fails(&self, args: &[&str], words: &[&str]) {
        let run = self.ends(1, args);
        let said = stderr(&run);
        assert!(words.iter().all(|word| said.contains(word)), "{args:?} does not say {words:?}: {said}");
        let messages = said.lines().filter(|line| line.starts_with("vidrec: ") && !line.contains(": skipped (stage "));
        assert_eq!(messages.count(), 1, "{said}");
    }

    /// Makes a plan with four frames a video.
    pub fn plan(&self, out: &str, more: &[&str]) {
        self.ends(0, &[&["plan", "in", "-o", out], &*unless(more, &[("--shards", "4"), ("-n", "4")])].concat());
    }

    /// The list of videos of a plan.
    pub fn jobs(&self, out: &str) -> PathBuf {
        self.found(&format!("{out}/.vidrec.pack"), "jobs-", "jsonl")
    }

    /// `vidrec pack` of a part.
    pub fn part(&self, out: &str, part: u32) -> Command {
        self.command(&["pack", out, "--part", &part.to_string(), "-j", "1"])
    }

    /// Packs a part to its end, which it is with a broken video, too.
    #[track_caller]
    pub fn pack_part(&self, out: &str, part: u32) -> Output {
        let run = self.part(out, part).output().unwrap();
        assert!(run.status.success(), "part {part}: {}", show(&run));
        run
    }

    #[track_caller]
    pub fn pack_all(&self, out: &str) {
        (0..SHARDS).for_each(|part| drop(self.pack_part(out, part)));
    }

    /// A plan of which all parts are packed.
    #[track_caller]
    pub fn packed(&self, out: &str) {
        self.plan(out, &[]);
        self.pack_all(out);
    }

    /// Publishes a plan, and returns what is there. Nothing but the data set is.
    #[track_caller]
    pub fn published(&self, out: &str) -> Files {
        self.ends(3, &["publish", out]);
        self.alone(out)
    }

    /// `vidrec pack` of all videos.
    pub fn pack(&self, out: &str, more: &[&str]) -> Command {
        let usual = [("--shards", "4"), ("-n", "4"), ("-j", "2")];
        self.command(&[&["pack", "in", "-o", out], &*unless(more, &usual)].concat())
    }

    /// Packs all videos, which ends with this status.
    #[track_caller]
    pub fn packs(&self, status: i32, out: &str, more: &[&str]) -> Output {
        let run = self.pack(out, more).output().unwrap();
        assert_eq!(run.status.code(), Some(status), "{more:?}: {}", show(&run));
        run
    }

    /// Fails to pack all videos, and says all of these words.
    #[track_caller]
    pub fn refuses(&self, out: &str, more: &[&str], words: &[&str]) {
        let said = stderr(&self.packs(1, out, more));
        assert!(words.iter().all(|word| said.contains(word)), "{more:?} does not say {words:?}: {said}");
    }

    /// Packs to the end, with one broken video. Nothing but the data set is there.
    #[track_caller]
    pub fn whole(&self, out: &str, more: &[&str]) -> Files {
        self.packs(3, out, more);
        is_whole(&self.path(out));
        self.alone(out)
    }

    /// The files in a folder, which has no other folder.
    #[track_caller]
    pub fn alone(&self, out: &str) -> Files {
        let files = self.files(out);
        assert_eq!(fs::read_dir(self.path(out)).unwrap().count(), files.len(), "{out} has a folder");
        files
    }

    /// Starts a pack with this fault of the decoder.
    pub fn start(&self, mut command: Command, fault: &str) -> Running {
        command.env("VIDREC_DECODER_FAULT", fault);
        Running(Some(command.spawn().unwrap()))
    }

    /// The number of shards that an interrupted pack has finished.
    pub fn receipts(&self, out: &str) -> usize {
        let there = fs::read_dir(self.path(out).join(".vidrec.pack/parts")).into_iter().flatten().flatten();
        there.filter(|entry| entry.path().extension().is_some_and(|ending| ending == "json")).count()
    }

    /// A pack that is killed when it has finished two shards of four: the videos before `odd/0001.mp4`, if there are 20.
    pub fn killed(&self, out: &str, more: &[&str]) {
        self.remove(out);
        let mut child = self.start(self.pack(out, more), "hang:odd/0003.mp4");
        until("two shards are finished", || self.receipts(out) == 2);
        child.kill();
    }

    /// All files in a folder, by the digests of their bytes.
    pub fn files(&self, out: &str) -> Files {
        let Ok(entries) = fs::read_dir(self.path(out)) else { return Files::new() };
        let paths = entries.map(|e| e.unwrap().path()).filter(|path| path.is_file());
        paths.map(|p| (p.file_name().unwrap().to_str().unwrap().to_owned(), sha256(&p))).collect()
    }

    /// Copies a folder, and removes what is where it goes.
    pub fn copy(&self, from: &str, to: &str) {
        self.remove(to);
        assert!(Command::new("cp").arg("-r").args([self.path(from), self.path(to)]).status().unwrap().success());
    }

    pub fn remove(&self, dir: &str) {
        if self.path(dir).exists() {
            fs::remove_dir_all(self.path(dir)).unwrap();
        }
    }

    pub fn json(&self, file: &str) -> Value {
        serde_json::from_slice(&fs::read(self.path(file)).unwrap()).unwrap()
    }

    /// Changes what a JSON file says.
    pub fn edit(&self, file: &str, change: impl FnOnce(&mut Value)) {
        let mut value = self.json(file);
        change(&mut value);
        fs::write(self.path(file), serde_json::to_vec_pretty(&value).unwrap()).unwrap();
    }

    /// A file of a part: `rec` or `vidx`.
    pub fn file_of(&self, dir: &str, part: u32, ending: &str) -> PathBuf {
        self.found(dir, &format!("shard-{part:05}-"), ending)
    }

    fn found(&self, dir: &str, start: &str, end: &str) -> PathBuf {
        let found = self.files(dir).into_keys().find(|name| name.starts_with(start) && name.ends_with(end));
        self.path(dir).join(found.expect("there is a file of this name"))
    }
}

/// Options, and the usual ones that are not among them.
fn unless<'a>(options: &[&'a str], usual: &[(&'a str, &'a str)]) -> Vec<&'a str> {
    let missing = usual.iter().filter(|(name, _)| !options.contains(name));
    missing.flat_map(|(name, value)| [*name, *value]).chain(options.iter().copied()).collect()
}

pub type Files = BTreeMap<String, String>;

pub fn sha256(path: &Path) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(fs::read(path).unwrap()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A process that ends with this.
pub struct Running(Option<Child>);

impl Running {
    pub fn id(&self) -> u32 {
        self.0.as_ref().unwrap().id()
    }

    /// Sends a signal, unless it has ended.
    pub fn signal(&self, signal: &str) {
        Command::new("kill").args(["-s", signal, &self.id().to_string()]).output().unwrap();
    }

    pub fn kill(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    pub fn output(mut self) -> Output {
        self.0.take().unwrap().wait_with_output().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A named pipe, from which a decoder reads a byte before some videos.
pub struct Gate(PathBuf);

impl Gate {
    pub fn new(videos: &Videos) -> Self {
        let path = videos.path("gate");
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        Gate(path)
    }

    /// The fault that waits before a video, or before each one (`*`).
    pub fn before(&self, video: &str) -> String {
        format!("wait:{video}:{}", self.0.display())
    }

    /// Waits until a video is in hand. Others wait there, too, until [`open`] and while the result lives.
    pub fn reached(&self) -> File {
        use std::os::unix::fs::OpenOptionsExt;
        let mut pipe = None;
        until("a video is in hand", || {
            pipe = OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(&self.0).ok();
            pipe.is_some()
        });
        pipe.unwrap()
    }
}

/// Lets so many videos through a gate.
pub fn open(mut gate: &File, videos: usize) {
    gate.write_all(&vec![b'.'; videos]).unwrap();
}

/// That nobody finds a data set in a folder.
#[track_caller]
pub fn has_no_set(dir: &Path) {
    assert!(!dir.join("dataset.json").exists());
    assert!(vidrec::Dataset::open(dir).is_err());
}

pub fn stdout(run: &Output) -> String {
    String::from_utf8_lossy(&run.stdout).into_owned()
}
