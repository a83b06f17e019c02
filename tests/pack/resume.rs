//! Nothing is lost: packs that are killed, starved of space or interrupted are resumed, to the same bytes.
//!
//! `VIDREC_SOAK=1` tries every step and two hundred random moments instead of some.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use crate::common::shim::{Fault, Shim};
use serde_json::Value;

use crate::common::ffmpeg_videos;
use crate::common::skip::{has_decoder_faults, skip};
#[cfg(target_os = "linux")]
use crate::common::small_disk::shell_that_mounts;
use crate::common::until::until;

const JOURNAL: &str = ".pack.journal";

/// Small videos of two classes, with a broken file in the middle.
struct Videos {
    temp: tempfile::TempDir,
}

impl Videos {
    fn make(count: u32) -> Self {
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

    fn path(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    /// `vidrec pack` that commits after each video.
    fn command(&self, out: &str, more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vidrec"));
        command.arg("pack").arg(self.path("in")).arg("-o").arg(self.path(out));
        command.args(["--commit-every", "0", "-j", "2"]).args(more);
        if !more.contains(&"-n") {
            command.args(["-n", "4"]);
        }
        command
    }

    fn pack(&self, out: &str, more: &[&str]) -> Output {
        self.command(out, more).output().unwrap()
    }

    /// Packs to the end: one video is broken, so the status is 3.
    fn pack_whole(&self, out: &str, more: &[&str]) -> BTreeMap<String, Vec<u8>> {
        let run = self.pack(out, more);
        assert_eq!(run.status.code(), Some(3), "{}", show(&run));
        self.files(out)
    }

    /// All files in a folder.
    fn files(&self, out: &str) -> BTreeMap<String, Vec<u8>> {
        let Ok(entries) = fs::read_dir(self.path(out)) else { return BTreeMap::new() };
        let paths = entries.map(|e| e.unwrap().path());
        paths.map(|p| (p.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(&p).unwrap())).collect()
    }

    fn begin_again(&self, out: &str) {
        if self.path(out).exists() {
            fs::remove_dir_all(self.path(out)).unwrap();
        }
    }
}

fn show(run: &Output) -> String {
    let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    format!("{}\n--- stdout\n{out}\n--- stderr\n{err}", run.status)
}

fn stderr(run: &Output) -> String {
    String::from_utf8_lossy(&run.stderr).into_owned()
}

#[track_caller]
fn same(found: &BTreeMap<String, Vec<u8>>, wanted: &BTreeMap<String, Vec<u8>>, what: &str) {
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(found), names(wanted), "{what}");
    for (name, bytes) in wanted {
        assert!(found[name] == *bytes, "{what}: {name} differs");
    }
}

/// A number that looks random and is the same each time.
fn random(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

/// The last checkpoint in a journal: bytes of the record file, frames.
fn last_checkpoint(journal: &[u8]) -> Option<(u64, u64)> {
    let lines = String::from_utf8_lossy(journal).into_owned();
    let mut points =
        lines.lines().filter_map(|l| serde_json::from_str::<Value>(l.get(9..)?).ok()?.get("checkpoint").cloned());
    points.next_back().map(|p| (p["bytes"].as_u64().unwrap(), p["frames"].as_u64().unwrap()))
}

/// Kills it in the middle of its steps.
fn kill_half_way(shim: &Shim, videos: &Videos, out: &str, more: &[&str]) {
    let run = |fault| {
        videos.begin_again(out);
        shim.run(videos.command(out, more), videos.temp.path(), fault)
    };
    let steps = run(Fault::None).steps.len();
    let killed = run(Fault::Kill(steps / 2));
    assert!(killed.killed(), "{} {}", killed.status, killed.stderr);
    let files = videos.files(out);
    assert!(last_checkpoint(&files[JOURNAL]).is_some_and(|(bytes, _)| bytes > 0));
}

/// What was not synced may be lost, or be anything, after a power cut; so may, on a lying disk, what was.
#[test]
fn what_a_power_cut_leaves_is_good_enough() {
    let Some(shim) = Shim::get() else { return };
    let videos = Videos::make(6);
    let whole = videos.pack_whole("whole", &[]);
    let (rec, vidx) = (".shard-00000.rec.tmp", ".shard-00000.vidx.tmp");
    let mut seed = 7;
    type Harm = fn(&mut BTreeMap<String, Vec<u8>>, u64, u64, &mut u64);
    let harms: [(&str, Harm); 6] = [
        ("cut at what was synced", |files, bytes, frames, _| {
            files.get_mut(".shard-00000.rec.tmp").unwrap().truncate(bytes as usize);
            files.get_mut(".shard-00000.vidx.tmp").unwrap().truncate(64 + 32 * frames as usize);
        }),
        ("rubbish after what was synced", |files, bytes, _, seed| {
            let file = files.get_mut(".shard-00000.rec.tmp").unwrap();
            file.truncate(bytes as usize);
            file.extend((0..5000).map(|_| random(seed) as u8));
            files.get_mut(JOURNAL).unwrap().extend(b"0123abcd {\"done\":");
        }),
        ("the journal's end torn", |files, _, _, _| {
            let journal = files.get_mut(JOURNAL).unwrap();
            journal.truncate(journal.len() - 20);
        }),
        ("a flipped bit in the journal", |files, _, _, seed| {
            let journal = files.get_mut(JOURNAL).unwrap();
            let at = random(seed) as usize % journal.len();
            journal[at] ^= 4;
        }),
        ("a flipped bit in the records", |files, bytes, _, seed| {
            let at = random(seed) as usize % bytes as usize;
            files.get_mut(".shard-00000.rec.tmp").unwrap()[at] ^= 4;
        }),
        ("the files gone", |files, _, _, _| {
            files.remove(".shard-00000.rec.tmp");
            files.remove(".shard-00000.vidx.tmp");
        }),
    ];
    kill_half_way(shim, &videos, "set", &[]);
    let killed = videos.files("set");
    for (what, harm) in harms {
        let mut files = killed.clone();
        assert!(files.contains_key(rec) && files.contains_key(vidx), "{:?}", files.keys());
        let (bytes, frames) = last_checkpoint(&files[JOURNAL]).unwrap();
        harm(&mut files, bytes, frames, &mut seed);
        videos.begin_again("set");
        fs::create_dir(videos.path("set")).unwrap();
        files.iter().for_each(|(name, bytes)| fs::write(videos.path("set").join(name), bytes).unwrap());
        let run = videos.pack("set", &["--if-exists", "resume"]);
        assert_eq!(run.status.code(), Some(3), "{what}: {}", show(&run));
        same(&videos.files("set"), &whole, what);
    }
}

/// The same on a small file system that really is full, where one may be mounted.
#[test]
#[cfg(target_os = "linux")]
fn on_a_small_file_system_it_stops_and_goes_on() {
    let videos = Videos::make(40);
    let small = videos.path("small");
    fs::create_dir(&small).unwrap();
    let Some(mut shell) = shell_that_mounts(&small, 200 << 10) else { return skip("no right to mount a file system") };
    let whole = videos.pack_whole("whole", &[]);
    let line = |command: &Command| {
        let words = [command.get_program()].into_iter().chain(command.get_args());
        words.map(|word| format!("'{}'", word.to_str().unwrap())).collect::<Vec<_>>().join(" ")
    };
    let script = format!(
        "{} 2> full.txt; echo $? >> full.txt; {} && {}; echo $? > resumed.txt; cp -r small/set set",
        line(&videos.command("small/set", &[])),
        "mount -o remount,size=64m small",
        line(&videos.command("small/set", &["--if-exists", "resume"])),
    );
    let run = shell.args(["sh", "-c", &script]).current_dir(videos.temp.path()).output().unwrap();
    assert!(run.status.success(), "{}", show(&run));
    let full = fs::read_to_string(videos.path("full.txt")).unwrap();
    assert!(full.ends_with("\n1\n"), "{full}");
    assert!(full.contains("No space left on device") && full.contains("--if-exists resume"), "{full}");
    assert_eq!(fs::read_to_string(videos.path("resumed.txt")).unwrap(), "3\n", "{}", show(&run));
    same(&videos.files("set"), &whole, "after a full file system");
}

#[test]
fn a_run_with_other_settings_or_inputs_is_refused_and_the_difference_is_named() {
    let Some(shim) = Shim::get() else { return };
    let videos = Videos::make(6);
    kill_half_way(shim, &videos, "set", &[]);
    let mut before = videos.files("set");
    before.remove(".vidrec.lock");
    let refused = |more: &[&str], words: &[&str]| {
        let run = videos.pack("set", more);
        assert_eq!(run.status.code(), Some(1), "{}", show(&run));
        words.iter().for_each(|word| assert!(stderr(&run).contains(word), "{word}: {}", show(&run)));
        let changed = videos.files("set");
        same(&changed, &before, "a refused run changes nothing");
    };
    refused(&[], &["interrupted pack", "of 7 videos", "--if-exists resume", "--if-exists replace"]);

    refused(&["--if-exists", "resume", "--quality", "80"], &["\"quality\"", "expected 90", "found 80"]);
    refused(&["--if-exists", "resume", "--shards", "2"], &["\"shards\"", "expected 1", "found 2"]);
    refused(&["--if-exists", "retry-failed"], &["there is no data set here"]);
    fs::copy(videos.path("0.mp4"), videos.path("in/odd/more.mp4")).unwrap();
    refused(&["--if-exists", "resume"], &["number of videos", "expected 7", "found 8"]);
    fs::rename(videos.path("in/odd/more.mp4"), videos.path("more.mp4")).unwrap();
    fs::rename(videos.path("in/odd/0005.mp4"), videos.path("in/odd/0006.mp4")).unwrap();
    refused(&["--if-exists", "resume"], &["list of videos"]);
    fs::rename(videos.path("in/odd/0006.mp4"), videos.path("in/odd/0005.mp4")).unwrap();
    fs::rename(videos.path("in/even/0002.mp4"), videos.path("in/even/0003.mp4")).unwrap();
    refused(&["--if-exists", "resume"], &["video 1 changed", "expected even/0002.mp4", "found even/0003.mp4"]);
    fs::rename(videos.path("in/even/0003.mp4"), videos.path("in/even/0002.mp4")).unwrap();
    let first = videos.path("in/even/0000.mp4");
    let bytes = fs::read(&first).unwrap();
    fs::write(&first, &bytes[..bytes.len() - 1]).unwrap();
    let (was, is) = (format!("expected {} bytes", bytes.len()), format!("found {} bytes", bytes.len() - 1));
    refused(&["--if-exists", "resume"], &["0000.mp4", &was, &is]);

    // The writer of other tools does not throw it away either.
    let e = vidrec::Writer::create(videos.path("set"), vidrec::WriterOptions::default()).unwrap_err();
    assert_eq!(e.hints(), [vidrec::Hint::Resume, vidrec::Hint::Restart], "{e}");

    fs::write(&first, &bytes).unwrap();
    let whole = videos.pack_whole("whole", &[]);
    same(&videos.pack_whole("set", &["--if-exists", "replace"]), &whole, "started over");
}

#[test]
fn resume_begins_where_there_is_nothing_and_is_done_where_all_is_done() {
    let videos = Videos::make(4);
    let whole = videos.pack_whole("set", &["--if-exists", "resume"]);
    let run = videos.pack("set", &["--if-exists", "resume", "--json"]);
    assert_eq!(run.status.code(), Some(3), "{}", show(&run));
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!((&report["clips"], &report["failed"], &report["resumed_at"]), (&4.into(), &1.into(), &5.into()));
    same(&videos.files("set"), &whole, "nothing is written");
    let text = String::from_utf8(videos.pack("set", &["--if-exists", "resume"]).stdout).unwrap();
    assert!(
        text.starts_with("nothing to do: ") && text.contains("1 video skipped; --if-exists retry-failed"),
        "{text}"
    );
    let run = videos.pack("set", &["--if-exists", "resume", "--quality", "80"]);
    assert_eq!(run.status.code(), Some(1), "{}", show(&run));
    assert!(stderr(&run).contains("\"quality\"") && stderr(&run).contains("--if-exists replace"), "{}", show(&run));
}

/// Starts a run whose decoder fails as `fault` says, and waits until something of it is on the disk.
fn start(videos: &Videos, out: &str, more: &[&str], fault: &str) -> std::process::Child {
    let mut command = videos.command(out, more);
    command.env("VIDREC_DECODER_FAULT", fault);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("a video is packed", || {
        let journal = fs::read(videos.path(out).join(JOURNAL)).unwrap_or_default();
        last_checkpoint(&journal).is_some_and(|(bytes, _)| bytes > 0)
    });
    child
}

#[test]
#[cfg(unix)]
fn at_a_signal_it_ends_in_order_and_says_how_to_go_on() {
    if !has_decoder_faults() {
        return;
    }
    let videos = Videos::make(30);
    let whole = videos.pack_whole("whole", &[]);
    // The decoder reads a byte from it before this video, so no run comes to its end before there was a signal.
    let gate = videos.path("gate");
    assert!(Command::new("mkfifo").arg(&gate).status().unwrap().success());
    for signal in ["INT", "TERM"] {
        videos.begin_again("set");
        // Open for both, so that nobody waits for the other side to open it.
        let mut open = fs::OpenOptions::new().read(true).write(true).open(&gate).unwrap();
        let child = start(&videos, "set", &[], &format!("wait:even/0020.mp4:{}", gate.display()));
        Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap();
        std::io::Write::write_all(&mut open, b".").unwrap();
        let run = child.wait_with_output().unwrap();
        assert_eq!(run.status.code(), Some(130), "{}", show(&run));
        let words = ["of 31 videos are safely on disk", "--if-exists", "resume"];
        assert!(words.iter().all(|word| stderr(&run).contains(word)), "{}", show(&run));
        assert!(!videos.files("set").contains_key(".vidrec.lock"));
        let run = videos.pack("set", &["--if-exists", "resume"]);
        assert_eq!(run.status.code(), Some(3), "{}", show(&run));
        assert!(String::from_utf8_lossy(&run.stdout).contains("done before the interruption"), "{}", show(&run));
        same(&videos.files("set"), &whole, signal);
    }
}

#[test]
#[cfg(unix)]
fn a_second_pack_into_the_folder_is_refused() {
    if !has_decoder_faults() {
        return;
    }
    let videos = Videos::make(20);
    let mut first = start(&videos, "set", &[], "hang:odd/0019.mp4");
    for more in [&[][..], &["--if-exists", "resume"], &["--if-exists", "replace"]] {
        let run = videos.pack("set", more);
        assert_eq!(run.status.code(), Some(1), "{}", show(&run));
        assert!(stderr(&run).contains("another process"), "{}", show(&run));
    }
    // A reader says so, too, and nothing of resuming.
    let inspect =
        || stderr(&Command::new(env!("CARGO_BIN_EXE_vidrec")).arg("inspect").arg(videos.path("set")).output().unwrap());
    let said = inspect();
    assert!(said.contains("a pack that is running") && !said.contains("--if-exists resume"), "{said}");
    first.kill().unwrap();
    first.wait().unwrap();
    let said = inspect();
    assert!(said.contains("an interrupted pack") && said.contains("--if-exists resume"), "{said}");
    let run = videos.pack("set", &["--if-exists", "resume"]);
    assert_eq!(run.status.code(), Some(3), "a lock of a dead process holds nobody up: {}", show(&run));
    // The data set is whole while another one is packed in its place.
    let mut next = start(&videos, "set", &["--if-exists", "replace", "-n", "2"], "hang:odd/0019.mp4");
    let run = Command::new(env!("CARGO_BIN_EXE_vidrec")).arg("inspect").arg(videos.path("set")).output().unwrap();
    next.kill().unwrap();
    next.wait().unwrap();
    let said = show(&run);
    assert!(run.status.success() && said.contains("a pack into this folder is running"), "{said}");
    assert!(!said.contains("--if-exists resume") && !said.contains("interrupted"), "{said}");
}

#[test]
fn shards_are_balanced_or_bounded_and_in_order() {
    let videos = Videos::make(10);
    let sources = |out: &str| -> Vec<String> {
        let set = vidrec::Dataset::open(videos.path(out)).unwrap();
        set.clips().map(|c| c.unwrap().source().unwrap()).collect()
    };
    let shards = |out: &str| -> Vec<(u64, u64)> {
        let json: Value = serde_json::from_slice(&videos.files(out)["dataset.json"]).unwrap();
        let shards = json["shards"].as_array().unwrap().iter();
        shards.map(|s| (s["clips"].as_u64().unwrap(), s["bytes"].as_u64().unwrap())).collect()
    };
    videos.pack_whole("one", &[]);
    videos.pack_whole("three", &["--shards", "3"]);
    videos.pack_whole("many", &["--shards", "100"]);
    videos.pack_whole("small", &["--shards", "25kB"]);
    // Eleven videos, 4 + 4 + 3, of which the sixth is broken.
    assert_eq!(shards("three").iter().map(|s| s.0).collect::<Vec<_>>(), [4, 3, 3]);
    assert_eq!(shards("many").len(), 10, "none is empty");
    assert!(shards("small").len() > 2 && shards("small").iter().all(|s| s.1 <= 25_000), "{:?}", shards("small"));
    for out in ["three", "many", "small"] {
        assert_eq!(sources(out), sources("one"));
        let report =
            vidrec::verify(videos.path(out), vidrec::VerifyOptions::default(), &mut vidrec::no_progress).unwrap();
        assert!(report.problems.is_empty(), "{out}: {:?}", report.problems);
    }
}

#[test]
fn too_many_failures_stop_the_run_and_more_may_be_allowed_later() {
    let videos = Videos::make(6);
    for name in ["1", "2", "3"] {
        fs::write(videos.path(&format!("in/odd/0001-broken{name}.mp4")), b"nonsense").unwrap();
    }
    let whole = videos.pack_whole("whole", &["--max-failures", "4"]);
    for limit in ["2", "25%"] {
        videos.begin_again("set");
        let run = videos.pack("set", &["--max-failures", limit]);
        assert_eq!(run.status.code(), Some(1), "{}", show(&run));
        assert!(
            stderr(&run).contains("could not be packed") && stderr(&run).contains("--if-exists resume"),
            "{}",
            show(&run)
        );
        let run = videos.pack("set", &["--if-exists", "resume", "--max-failures", limit]);
        assert_eq!(run.status.code(), Some(1), "still too many: {}", show(&run));
        same(&videos.pack_whole("set", &["--if-exists", "resume"]), &whole, limit);
    }
    videos.begin_again("set");
    let run = videos.pack("set", &["--max-failures", "0"]);
    assert_eq!(run.status.code(), Some(1), "{}", show(&run));
    assert!(stderr(&run).contains("broken.mp4") && stderr(&run).contains("--if-exists resume"), "{}", show(&run));
    same(&videos.pack_whole("set", &["--if-exists", "resume"]), &whole, "after a stop");
}

#[test]
fn what_failed_is_retried_as_if_it_had_not() {
    let videos = Videos::make(6);
    let broken = videos.path("in/even/broken.mp4");
    let list = fs::read(&broken).unwrap();
    for more in [&[][..], &["--shards", "2"]] {
        let more = [more, &["-n", "12"]].concat();
        fs::copy(videos.path("1.mp4"), &broken).unwrap();
        videos.begin_again("whole");
        let run = videos.pack("whole", &more);
        assert_eq!(run.status.code(), Some(0), "{}", show(&run));
        let whole = videos.files("whole");

        fs::write(&broken, &list).unwrap();
        videos.begin_again("set");
        let with_failure = videos.pack_whole("set", &more);
        let retry = [&more[..], &["--if-exists", "retry-failed"]].concat();
        same(&videos.pack_whole("set", &retry), &with_failure, "it failed again");
        // A clip that is kept need not decode any more.
        fs::copy(videos.path("1.mp4"), &broken).unwrap();
        let (kept, away) = (videos.path("in/even/0000.mp4"), videos.path("away.mp4"));
        fs::rename(&kept, &away).unwrap();
        fs::write(&kept, b"nonsense").unwrap();
        let run = videos.pack("set", &retry);
        fs::rename(&away, &kept).unwrap();
        assert_eq!(run.status.code(), Some(0), "{}", show(&run));
        same(&videos.files("set"), &whole, "retried");
        let run = videos.pack("set", &retry);
        let text = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.code() == Some(0) && text.contains("nothing to retry"), "{}", show(&run));
        assert!(!text.contains("videos/s"), "{text}");
        let run = videos.pack("set", &[&more[..], &["--if-exists", "resume"]].concat());
        let text = String::from_utf8(run.stdout).unwrap();
        assert_eq!(run.status.code(), Some(0), "{text}");
        assert!(text.starts_with("nothing to do: the pack of ") && !text.contains("videos/s"), "{text}");
        let other = [&retry[..], &["--quality", "70"]].concat();
        let run = videos.pack("set", &other);
        assert!(run.status.code() == Some(1) && stderr(&run).contains("\"quality\""), "{}", show(&run));
    }
}

#[test]
fn a_video_over_its_limits_fails_alone() {
    let videos = Videos::make(2);
    for (limit, word) in [("--max-duration=0.5", "too long"), ("--max-pixels=3000", "64x48")] {
        let run = videos.pack("set", &[limit, "--json", "--if-exists", "replace"]);
        let report: Value = serde_json::from_slice(&run.stdout).unwrap();
        assert_eq!((run.status.code(), &report["failed"]), (Some(1), &3.into()), "{limit}: {}", show(&run));
        assert!(report["failures"][0]["error"].as_str().unwrap().contains(word), "{report}");
    }
    let run = videos.pack("set", &["--max-duration=1.5", "--max-pixels=4096", "--if-exists", "replace"]);
    assert_eq!(run.status.code(), Some(3), "{}", show(&run));
}

/// A Matroska file that was cut off gives no error in FFmpeg.
#[test]
fn a_file_that_was_cut_off_is_reported() {
    let videos = Videos::make(2);
    ffmpeg_videos::make("-f lavfi -i testsrc2=size=64x48:rate=10:duration=8 -c:v mpeg4", videos.path("long.mkv"));
    let bytes = fs::read(videos.path("long.mkv")).unwrap();
    fs::write(videos.path("in/odd/cut.mkv"), &bytes[..bytes.len() / 2]).unwrap();
    fs::write(videos.path("in/odd/whole.mkv"), &bytes).unwrap();
    let run = videos.pack("set", &["--json", "-n", "12"]);
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!((&report["cut_off"], &report["repeated_frames"]), (&1.into(), &4.into()), "{report}");
    let warning = &report["warnings"][0];
    assert_eq!(warning["source"], "odd/cut.mkv");
    assert!(warning["message"].as_str().unwrap().contains("claims 8.0 s"), "{warning}");
    let set = vidrec::Dataset::open(videos.path("set")).unwrap();
    let facts: Vec<Value> =
        set.clips().map(|c| c.unwrap().attributes().unwrap().get("video").unwrap().unwrap()).collect();
    assert_eq!(facts[0]["repeated_frames"], 2, "ten frames for twelve");
    assert_eq!(facts[2]["claimed_seconds"], 8.0);
    assert!(facts[2]["stream_seconds"].as_f64().unwrap() < 6.0);
}

#[test]
fn a_codec_that_crashes_or_hangs_costs_one_video() {
    let videos = Videos::make(12);
    let whole = videos.pack_whole("whole", &[]);
    same(&videos.pack_whole("together", &["--no-isolate"]), &whole, "decoded in the process of the run");
    if !has_decoder_faults() {
        return;
    }
    for (fault, stage, word) in [("abort", "crash", "SIGABRT"), ("hang", "timeout", "killed")] {
        // Long enough for the other videos on a busy machine.
        let timeout = if fault == "hang" { "5" } else { "600" };
        let mut command = videos.command("set", &["--if-exists", "replace", "--json", "--timeout", timeout]);
        let run = command.env("VIDREC_DECODER_FAULT", format!("{fault}:odd/0003.mp4")).output().unwrap();
        assert_eq!(run.status.code(), Some(3), "{}", show(&run));
        let report: Value = serde_json::from_slice(&run.stdout).unwrap();
        assert_eq!((&report["clips"], &report["failed"]), (&11.into(), &2.into()));
        let failure = &report["failures"][1];
        assert_eq!((&failure["source"], &failure["stage"]), (&"odd/0003.mp4".into(), &stage.into()));
        assert!(cfg!(not(unix)) || failure["error"].as_str().unwrap().contains(word), "{failure}");
        // The codec is repaired.
        same(&videos.pack_whole("set", &["--if-exists", "retry-failed"]), &whole, fault);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn isolated_processes_end_with_the_run() {
    if !has_decoder_faults() {
        return;
    }
    let videos = Videos::make(12);
    let whole = videos.pack_whole("whole", &[]);
    let mut child = start(&videos, "set", &[], "hang:odd/0003.mp4");
    let children = || -> Vec<String> {
        let list = fs::read_to_string(format!("/proc/{0}/task/{0}/children", child.id())).unwrap_or_default();
        let tasks = fs::read_dir(format!("/proc/{}/task", child.id())).into_iter().flatten();
        let of_task = |t: fs::DirEntry| fs::read_to_string(t.path().join("children")).unwrap_or_default();
        let all: String = tasks.map(|t| of_task(t.unwrap())).chain([list]).collect::<Vec<_>>().join(" ");
        all.split_whitespace().map(str::to_owned).collect()
    };
    let workers = children();
    assert!(!workers.is_empty());
    child.kill().unwrap();
    child.wait().unwrap();
    let lives =
        |id: &String| fs::read_to_string(format!("/proc/{id}/cmdline")).is_ok_and(|c| c.contains("isolated-worker"));
    until("the processes end", || !workers.iter().any(lives));
    same(&videos.pack_whole("set", &["--if-exists", "resume"]), &whole, "resumed");
}
