//! Plans in object storage: the same bytes as on one machine, whatever fails on the way.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use fault_proxy::{Fault, Origin, Rule, Server};
use serde_json::Value;
use vidrec::no_progress;
use vidrec::pack::{PartOptions, PartsPlan, PublishOptions};

use crate::common::{s3_storage, tree};
use crate::shards::support::{Files, SHARDS, Videos, show, stderr, stdout};

/// Videos, and a store beside them whose bucket `b` is the folder `store/b`.
pub struct Store {
    pub videos: Videos,
    pub server: Server,
}

impl Store {
    pub fn make(count: u32) -> Self {
        let videos = Videos::make(count);
        Self::of(videos, Origin::writable)
    }

    pub fn of(videos: Videos, kind: fn(Origin) -> Origin) -> Self {
        let folder = videos.path("store");
        fs::create_dir_all(folder.join("b")).unwrap();
        let server = kind(Origin::new(folder)).start("127.0.0.1:0").unwrap();
        Store { videos, server }
    }

    /// The program, on a machine of its own: with a scratch folder that no other machine has.
    fn command(&self, machine: &str, args: &[&str]) -> Command {
        let mut command = self.videos.command(args);
        let temporary = self.videos.path(machine);
        fs::create_dir_all(&temporary).unwrap();
        command.env("TMPDIR", temporary).envs(s3_storage::variables(&self.server));
        command
    }

    #[track_caller]
    pub fn ends(&self, status: i32, args: &[&str]) -> Output {
        let run = self.command("tmp", args).output().unwrap();
        assert_eq!(run.status.code(), Some(status), "{args:?}: {}", show(&run));
        run
    }

    #[track_caller]
    pub fn fails(&self, args: &[&str], words: &[&str]) {
        let said = stderr(&self.ends(1, args));
        assert!(words.iter().all(|word| said.contains(word)), "{args:?} does not say {words:?}: {said}");
    }

    fn plan(&self) {
        self.ends(0, &["plan", "in", "-o", "s3://b/plan", "--shards", &SHARDS.to_string(), "-n", "4"]);
    }

    fn part(&self, machine: &str, part: u32) -> Command {
        self.command(machine, &["pack", "s3://b/plan", "--part", &part.to_string(), "-j", "1"])
    }

    #[track_caller]
    fn pack_part(&self, machine: &str, part: u32) -> Output {
        let run = self.part(machine, part).output().unwrap();
        assert!(run.status.success(), "part {part}: {}", show(&run));
        run
    }

    fn packed(&self) {
        self.plan();
        (0..SHARDS).for_each(|part| drop(self.pack_part("tmp", part)));
    }

    /// Keeps a plan and its receipts aside, for a publication that is repeated.
    fn keep_plan(&self) {
        self.videos.copy("store/b/plan/.vidrec.pack", "kept");
    }

    fn restore_plan(&self) {
        self.videos.copy("kept", "store/b/plan/.vidrec.pack");
    }

    /// The files of a data set in the bucket.
    pub fn files(&self, name: &str) -> Files {
        self.videos.files(&format!("store/b/{name}"))
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.videos.path("store/b").join(name)
    }

    /// That the bucket has nothing of a plan any more.
    #[track_caller]
    fn has_no_plan(&self, name: &str) {
        let pack = self.file(&format!("{name}/.vidrec.pack"));
        assert!(tree(&pack).is_empty(), "{:?}", tree(&pack).keys());
    }

    fn has_no_set(&self, name: &str) {
        assert!(!self.file(&format!("{name}/dataset.json")).exists());
    }

    fn open(&self) -> vidrec::Result<PartsPlan> {
        PartsPlan::open_at("s3://b/plan", &s3_storage::storage(&self.server))
    }
}

#[test]
fn parts_on_any_machine_give_the_bytes_of_one() {
    let store = Store::make(20);
    let whole = store.videos.whole("whole", &[]);
    store.plan();
    store.plan();
    store.fails(&["plan", "in", "-o", "s3://b/plan", "--shards", "3", "-n", "4"], &["another plan here"]);
    assert_eq!(stdout(&store.ends(3, &["status", "s3://b/plan", "--missing"])), "0-3\n");
    store.fails(&["publish", "s3://b/plan"], &["4 of 4 parts are not done", "s3://b/plan"]);
    for part in (0..SHARDS).rev() {
        let attempts = ["here", "there"].map(|machine| store.part(machine, part).spawn().unwrap());
        for attempt in attempts {
            let run = attempt.wait_with_output().unwrap();
            assert!(run.status.success(), "{}", show(&run));
        }
        assert!(stdout(&store.pack_part("here", part)).contains("nothing to do"));
    }
    for machine in ["here", "there", "tmp"] {
        assert_eq!(fs::read_dir(store.videos.path(machine)).unwrap().count(), 0, "{machine} is tidy");
    }
    store.ends(0, &["status", "s3://b/plan"]);
    store.has_no_set("plan");
    store.keep_plan();
    let run = store.ends(3, &["publish", "s3://b/plan", "--read-all"]);
    assert!(stdout(&run).starts_with("published "), "{}", show(&run));
    assert_eq!(store.files("plan"), whole);
    store.has_no_plan("plan");
    store.fails(&["publish", "s3://b/plan"], &["there is no plan here"]);
    store.ends(0, &["status", "s3://b/plan"]);
    // Killed after its commit, it is finished.
    for more in [&[][..], &["--overwrite"]] {
        store.restore_plan();
        store.ends(3, &[&["publish", "s3://b/plan"], more].concat());
        assert_eq!(store.files("plan"), whole);
        store.has_no_plan("plan");
    }
    // Killed while it removed the plan, it goes on to remove it. The jobs go first, then the receipts.
    let pack = store.file("plan/.vidrec.pack");
    for receipts in [SHARDS, 2, 0] {
        store.restore_plan();
        let files = fs::read_dir(&pack).unwrap().map(|entry| entry.unwrap().path());
        files
            .filter(|file| file.is_file() && !file.ends_with("plan.json"))
            .for_each(|file| fs::remove_file(file).unwrap());
        (receipts..SHARDS).for_each(|part| fs::remove_file(pack.join(format!("parts/{part:05}.json"))).unwrap());
        store.ends(3, &["publish", "s3://b/plan"]);
        assert_eq!(store.files("plan"), whole);
        store.has_no_plan("plan");
    }
    store.restore_plan();
    fs::remove_file(pack.join("parts/00001.json")).unwrap();
    store.fails(&["publish", "s3://b/plan"], &["1 of 4 parts are not done"]);
    store.ends(0, &["verify", "s3://b/plan"]);
}

/// The faults that a store may have at any request, and for which requests.
const FAULTS: [(Fault, Option<&str>); 5] = [
    (Fault::Lost, None),
    (Fault::SlowDown, None),
    (Fault::Reset { after: 0 }, None),
    (Fault::ResetUpload { after: 10 }, Some("PUT")),
    (Fault::Conflict, Some("PUT")),
];

/// Does something with a fault at each of its requests in turn: each of the faults.
fn at_each_request(store: &Store, mut work: impl FnMut(&str)) {
    store.server.reset_counts();
    work("no fault");
    let requests = store.server.counts().requests;
    assert!(requests > 3, "{requests}");
    for (nth, (fault, method)) in (1..=requests).zip(FAULTS.iter().cycle()) {
        let rule = Rule::new(fault.clone()).nth(nth);
        store.server.rules().clear();
        store.server.rules().add(method.map_or(rule.clone(), |method| rule.method(method)));
        work(&format!("{fault:?} at request {nth}"));
    }
    store.server.rules().clear();
}

#[test]
#[ignore = "full: a fault at each request"]
fn faults_at_each_request_of_a_publication_change_nothing() {
    let store = Store::make(8);
    let whole = store.videos.whole("whole", &[]);
    store.packed();
    store.keep_plan();
    at_each_request(&store, |when| {
        fs::remove_file(store.file("plan/dataset.json")).ok();
        store.restore_plan();
        let published = store.open().and_then(|plan| plan.publish(&PublishOptions::default(), &mut no_progress));
        published.unwrap_or_else(|e| panic!("{when}: {e}"));
        assert_eq!(store.files("plan"), whole, "{when}");
        store.has_no_plan("plan");
    });
}

#[test]
#[ignore = "full: packs a part for each request"]
fn faults_at_each_request_of_a_part_change_nothing() {
    let store = Store::make(4);
    let whole = store.videos.whole("whole", &[]);
    store.packed();
    let mut options = PartOptions::default();
    options.storage = s3_storage::storage(&store.server);
    options.scratch = Some(store.videos.path("scratch"));
    at_each_request(&store, |when| {
        fs::remove_file(store.file("plan/.vidrec.pack/parts/00001.json")).ok();
        let packed = store.open().and_then(|plan| plan.pack(1, &options, &mut no_progress));
        packed.unwrap_or_else(|e| panic!("{when}: {e}"));
        assert!(store.file("plan/.vidrec.pack/parts/00001.json").exists(), "{when}");
    });
    store.ends(3, &["publish", "s3://b/plan"]);
    assert_eq!(store.files("plan"), whole);
}

#[test]
fn of_publishers_at_once_one_wins() {
    let store = Store::make(12);
    let whole = store.videos.whole("whole", &[]);
    store.packed();
    store.keep_plan();
    let both = [(); 2].map(|()| store.command("tmp", &["publish", "s3://b/plan"]).spawn().unwrap());
    let runs = both.map(|child| child.wait_with_output().unwrap());
    assert!(runs.iter().any(|run| run.status.code() == Some(3)), "{}", show(&runs[0]));
    // They publish the same, or the second one finds that the first one has removed the plan.
    let is_late = |said: &str| said.contains("there is no plan here");
    runs.iter().for_each(|run| assert!(run.status.code() == Some(3) || is_late(&stderr(run)), "{}", show(run)));
    assert_eq!(store.files("plan"), whole);
    // Another data set comes between the look and the commit.
    fs::remove_file(store.file("plan/dataset.json")).unwrap();
    store.restore_plan();
    let plan = store.open().unwrap();
    let mut options = PublishOptions::default();
    for overwrite in [false, true] {
        options.overwrite = overwrite;
        let mut meanwhile = |_: &vidrec::Progress| {
            fs::write(store.file("plan/dataset.json"), format!("another {overwrite}")).unwrap();
            std::ops::ControlFlow::Continue(())
        };
        let e = plan.publish(&options, &mut meanwhile).unwrap_err();
        assert!(e.to_string().contains("another data set was published here in the meantime"), "{e}");
        assert!(fs::read_to_string(store.file("plan/dataset.json")).unwrap().starts_with("another"));
    }
}

#[test]
fn forged_receipts_and_missing_objects_publish_nothing() {
    let store = Store::make(8);
    store.packed();
    let path = "store/b/plan/.vidrec.pack/parts/00001.json";
    let own = fs::read(store.videos.path(path)).unwrap();
    type Change = fn(&mut Value);
    let changes: [(&str, Change, &str); 4] = [
        ("more than there is", |r| r["report"]["clips"] = u64::MAX.into(), "is not that of its shard"),
        ("too many bytes", |r| r["shard"]["bytes"] = u64::MAX.into(), "is not that of its shard"),
        ("another digest", |r| r["shard"]["sha256"] = "0".repeat(64).into(), "not the shard"),
        ("another plan", |r| r["plan"] = "0".repeat(64).into(), "another plan"),
    ];
    for (what, change, words) in changes {
        store.videos.edit(path, change);
        store.fails(&["publish", "s3://b/plan"], &[words, "s3://b/plan/"]);
        store.has_no_set("plan");
        fs::write(store.videos.path(path), &own).unwrap_or_else(|e| panic!("{what}: {e}"));
    }
    for ending in ["rec", "vidx"] {
        let file = store.videos.file_of("store/b/plan", 1, ending);
        let bytes = fs::read(&file).unwrap();
        fs::remove_file(&file).unwrap();
        let name = file.file_name().unwrap().to_str().unwrap();
        store.fails(&["publish", "s3://b/plan"], &[name, "pack the part again"]);
        fs::write(&file, &bytes[..bytes.len() - 1]).unwrap();
        store.fails(&["publish", "s3://b/plan"], &[name]);
        fs::write(&file, bytes).unwrap();
        store.has_no_set("plan");
    }
    store.ends(3, &["publish", "s3://b/plan"]);
}

#[test]
fn remote_videos_that_change_are_refused() {
    let store = Store::make(8);
    let mut manifest = String::from("path,label\n");
    fs::create_dir_all(store.file("in")).unwrap();
    for i in 0..8 {
        let class = if i % 2 == 0 { "even" } else { "odd" };
        fs::copy(store.videos.path(&format!("in/{class}/{i:04}.mp4")), store.file(&format!("in/{i:04}.mp4"))).unwrap();
        manifest += &format!("s3://b/in/{i:04}.mp4,{class}\n");
    }
    manifest += "s3://b/in/none.mp4,odd\n";
    fs::write(store.videos.path("videos.csv"), manifest).unwrap();
    let run = store.ends(0, &["plan", "videos.csv", "-o", "s3://b/plan", "--shards", "2", "-n", "4"]);
    assert!(stdout(&run).contains("1 video could not be examined"), "{}", show(&run));
    store.ends(0, &["pack", "s3://b/plan", "--part", "1"]);
    let video = store.file("in/0000.mp4");
    let bytes = fs::read(&video).unwrap();
    fs::write(&video, &bytes).unwrap();
    let refused = |word: &str| {
        let words = ["s3://b/in/0000.mp4", "has changed since the pack was planned", word];
        store.fails(&["pack", "s3://b/plan", "--part", "0"], &words);
    };
    refused("version");
    fs::write(&video, &bytes[..bytes.len() - 1]).unwrap();
    refused(&bytes.len().to_string());
    fs::remove_file(&video).unwrap();
    refused("no object");
    assert_eq!(stdout(&store.ends(3, &["status", "s3://b/plan", "--missing"])), "0\n");
}
