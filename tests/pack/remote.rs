//! `vidrec pack` of videos on web servers, which may fail: the bytes are those of the same videos on disk, or the run stops
//! and says why. No network makes a video look damaged.

use std::fs;
use std::ops::Deref;
use std::process::Output;

use fault_proxy::{Fault, Origin, Rule, Server};

use crate::common::program_runs::stderr as said;
use crate::common::rich::files_from_anywhere as files;
use crate::common::skip::has_ffmpeg;
use crate::pack::support::Room;

/// Videos of several containers, a broken one and an empty one, in the manifest `list.csv`; and a server of them.
struct Videos {
    room: Room,
    server: Server,
}

impl Deref for Videos {
    type Target = Room;

    fn deref(&self) -> &Room {
        &self.room
    }
}

/// What `ffmpeg` makes of a moving picture: with the index at the end and at the beginning, in clusters with checksums, in
/// packets, with odd characters in the name.
const MADE: [(&str, &str); 5] = [
    ("a.mp4", "-c:v mpeg4 -q:v 2"),
    ("b.mp4", "-c:v mpeg4 -q:v 2 -movflags +faststart"),
    // Longer than what comes when a video is opened.
    ("c.mkv", "-c:v rawvideo -pix_fmt yuv420p"),
    ("d.ts", "-c:v mpeg2video -q:v 2"),
    ("e 100%?#é.mp4", "-c:v mpeg4 -q:v 2"),
];

impl Videos {
    /// `None` without an `ffmpeg` program.
    fn new() -> Option<Self> {
        if !has_ffmpeg() {
            return None;
        }
        let room = Room::new();
        for (name, how) in MADE {
            let how = format!("-f lavfi -i testsrc2=s=320x240:d=4 -bitexact {how}");
            room.make(&format!("videos/{name}"), &how);
        }
        let whole = fs::read(room.path("videos/a.mp4")).unwrap();
        assert!(fs::metadata(room.path("videos/c.mkv")).unwrap().len() > 8 << 20);
        room.write("videos/cut.mp4", &whole[..whole.len() / 2]);
        room.write("videos/empty.mp4", "");
        let names = MADE.iter().map(|(name, _)| *name).chain(["cut.mp4", "empty.mp4"]);
        let rows: String = names.map(|name| format!("{name},1\n")).collect();
        room.write("list.csv", format!("path,label\n{rows}"));
        let server = Origin::serve(room.path("videos")).unwrap();
        Some(Videos { room, server })
    }

    /// Packs the manifest from a root to a folder.
    fn pack(&self, root: &str, out: &str, more: &[&str]) -> Output {
        let common = ["pack", "list.csv", "--root", root, "-o", out, "--frames", "5", "--storage", "timeout=2"];
        self.vidrec(&[&common[..], more].concat())
    }

    /// Packs from the server what must come out as from the disk.
    fn same(&self, what: &str, more: &[&str]) {
        if !self.path("local").exists() {
            let local = self.pack("videos", "local", &["--shards", "7"]);
            assert_eq!(local.status.code(), Some(3), "{}", said(&local));
        }
        let run = self.pack(&self.server.url(), what, &[&["--shards", "7"], more].concat());
        assert_eq!(run.status.code(), Some(3), "{what}: {}", said(&run));
        assert!(files(&self.path("local")) == files(&self.path(what)), "{what}");
    }

    /// Packs what must stop the run, and continues it when the fault is over.
    fn stops(&self, what: &str, fault: Rule, words: &[&str]) {
        self.server.rules().add(fault);
        let run = self.pack(&self.server.url(), what, &["--shards", "7", "--threads", "1"]);
        let text = said(&run);
        assert_eq!(run.status.code(), Some(1), "{what}: {text}");
        assert!(words.iter().all(|word| text.contains(word)), "{what}: {text}");
        assert!(!self.path(what).join("dataset.json").exists(), "{what}");
        self.server.rules().clear();
        self.same(what, &["--if-exists", "resume"]);
    }
}

#[test]
fn remote_videos_give_the_bytes_of_those_on_disk() {
    let Some(videos) = Videos::new() else { return };
    videos.same("remote", &[]);
    let size = |name: &str| fs::metadata(videos.path("videos").join(name)).unwrap().len();
    let sizes: u64 = MADE.iter().map(|(name, _)| size(name)).sum::<u64>() + size("cut.mp4");
    let counts = videos.server.counts();
    assert!(counts.body_bytes <= sizes + sizes / 10, "{} of {sizes} bytes", counts.body_bytes);
    videos.same("together", &["--no-isolate", "--threads", "2"]);
}

#[test]
fn faults_that_pass_change_nothing() {
    let Some(videos) = Videos::new() else { return };
    for fault in [Fault::Reset { after: 100_000 }, Fault::Unavailable { retry_after_seconds: 0 }] {
        let name = format!("{fault:?}").chars().filter(char::is_ascii_alphanumeric).collect::<String>();
        videos.server.rules().add(Rule::new(fault).every(3));
        videos.same(&name, &[]);
        assert!(videos.server.counts().faults > 0, "{name}");
        videos.server.rules().clear();
        videos.server.reset_counts();
    }
}

#[test]
#[ignore = "full: waits for retries"]
fn what_does_not_pass_stops_the_run_which_can_be_resumed() {
    let Some(videos) = Videos::new() else { return };
    // How long a read is tried depends on its length: the first ones are of a long video, and end at once.
    for (what, fault, video, word) in [
        ("refused", Rule::new(Fault::Forbidden), "c.mkv", "access was refused (HTTP 403)"),
        ("elsewhere", Rule::new(Fault::RedirectLoop), "c.mkv", "redirects too many"),
        ("replaced", Rule::new(Fault::ChangedEtag).after(1), "c.mkv", "replaced"),
        ("down", Rule::new(Fault::Status(500)), "d.ts", "the server failed (HTTP 500)"),
        ("reset", Rule::new(Fault::Reset { after: 100 }), "d.ts", "broke off"),
    ] {
        videos.stops(what, fault.path(video), &[video, "--if-exists", "resume", word]);
    }
}

#[test]
fn what_is_no_video_is_skipped_and_listed() {
    let Some(videos) = Videos::new() else { return };
    let url = videos.server.url();
    let playlist = format!("#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\n{url}/d.ts\n#EXT-X-ENDLIST\n");
    videos.write("videos/list.m3u8", playlist);
    videos.write("videos/page.mp4", "<!DOCTYPE html><html><body>Sign in</body></html>");
    let names = ["a.mp4", "gone.mp4", "list.m3u8", "page.mp4", "b.mp4?signature=1"];
    let rows: String = names.iter().map(|name| format!("{url}/{name}\n")).collect();
    videos.write("urls.txt", rows);
    videos.server.reset_counts();
    let run = videos.vidrec(&["pack", "urls.txt", "-o", "out", "--json", "--frames", "2"]);
    assert_eq!(run.status.code(), Some(3), "{}", said(&run));
    let report: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    let failures: Vec<_> =
        report["failures"].as_array().unwrap().iter().map(|f| f["error"].as_str().unwrap()).collect();
    let expected = ["there is no such object", "an HLS playlist", "an HTML page", "query"];
    assert_eq!(failures.len(), expected.len(), "{failures:?}");
    assert!(failures.iter().zip(expected).all(|(found, word)| found.contains(word)), "{failures:?}");
    assert_eq!(report["failures"][0]["source"], format!("{url}/gone.mp4"));
    assert_eq!(report["clips"], 1);
    assert!(!videos.server.counts().paths.contains_key("/d.ts"), "what a playlist names is not fetched");
}

#[test]
fn what_nothing_can_be_listed_of_is_refused() {
    let Some(videos) = Videos::new() else { return };
    let url = videos.server.url();
    for (input, word) in
        [(format!("{url}/"), "web servers do not list their files"), (format!("{url}/list.csv"), "copy the manifest")]
    {
        let run = videos.vidrec(&["pack", &input, "-o", "out"]);
        assert_eq!(run.status.code(), Some(1), "{}", said(&run));
        assert!(said(&run).contains(word), "{}", said(&run));
    }
    let run = videos.vidrec(&["pack", &format!("{url}/a.mp4"), "-o", "out", "--storage", "no_such_option=hunter2"]);
    assert_eq!(run.status.code(), Some(1), "a wrong option is no fault of a video: {}", said(&run));
    assert!(!said(&run).contains("hunter2"), "{}", said(&run));
    let run = videos.vidrec(&["pack", &format!("{url}/a.mp4"), "-o", "out"]);
    assert_eq!(run.status.code(), Some(0), "{}", said(&run));
}

#[test]
fn remote_videos_have_their_sound_and_tracks() {
    if !has_ffmpeg() {
        return;
    }
    let room = Room::new();
    for (name, codec) in [("a.mp4", "aac"), ("b.mkv", "pcm_s16le"), ("c.ts", "mp2")] {
        let sources = "-f lavfi -i testsrc2=s=160x120:r=10:d=2 -f lavfi -i sine=d=2";
        room.make(&format!("videos/{name}"), &format!("{sources} -bitexact -c:v mpeg2video -c:a {codec}"));
    }
    // Values are below a root on this machine; where the root is remote, where the manifest is.
    for name in ["n.csv", "videos/n.csv"] {
        let lines: String = (0..20).map(|i| format!("{i}\n")).collect();
        room.write(name, format!("n\n{lines}"));
    }
    let rows = "path,start,end,n,words\na.mp4,,,n.csv,\"[[0, 1, \"\"x\"\"]]\"\nb.mkv,0.5,1.5,n.csv,\nc.ts,,,,\n";
    room.write("list.csv", rows);
    let server = Origin::serve(room.path("videos")).unwrap();
    let pack = |root: &str, out: &str, more: &[&str]| {
        let tracks = ["--track", "n=n,rate=10", "--track", "words=words,spans,partial", "--storage", "timeout=2"];
        let common = ["pack", "list.csv", "--root", root, "-o", out, "--frames", "4", "--audio", "16000"];
        let run = room.vidrec(&[&common[..], &tracks, more].concat());
        assert_eq!(run.status.code(), Some(0), "{}", said(&run));
        files(&room.path(out))
    };
    let local = pack("videos", "local", &[]);
    let set = vidrec::Dataset::open(room.path("local")).unwrap();
    let names = |i: u64| set.clip(i).unwrap().tracks().unwrap().names().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!([0, 1, 2].map(names), [vec!["n", "words", "audio"], vec!["n", "audio"], vec!["audio"]]);
    assert!(pack(&server.url(), "remote", &[]) == local);
    // What passes changes nothing, in the sound as in the pictures.
    server.rules().add(Rule::new(Fault::Reset { after: 5000 }).nth(3));
    assert!(pack(&server.url(), "faulty", &[]) == local);
    server.rules().add(Rule::new(Fault::Reset { after: 5000 }).nth(3));
    assert!(pack(&server.url(), "together", &["--no-isolate"]) == local);
}
