//! What does not belong together, or is damaged, is refused with one message, and nothing is published.

use std::fs;

use crate::common::skip::has_decoder_faults;
use crate::common::tree;
use crate::shards::support::{Gate, SHARDS, Videos, has_no_set, open, show, stderr};

/// Where the plan and its shards are.
const PACK: &str = "plan/.vidrec.pack";

/// That publishing says these words, and publishes nothing.
#[track_caller]
fn refused(videos: &Videos, more: &[&str], words: &[&str]) {
    videos.fails(&[&["publish", "plan"], more].concat(), words);
    has_no_set(&videos.path("plan"));
}

/// Without `--read-all`, too, a file has to be there, of its length. What cannot be seen in the data set, such as a time in a receipt, may be published: but then as it would have been.
#[test]
fn with_read_all_no_flipped_bit_of_any_file_is_published() {
    let videos = Videos::make(12);
    videos.add_sound("in/even/0000.mp4");
    videos.plan("plan", &["--audio", "8000"]);
    videos.pack_all("plan");
    videos.copy("plan", "other");
    let whole = videos.published("other");
    let receipt = |part: u32| format!("{PACK}/parts/{part:05}.json");
    let failed = |part: &u32| videos.json(&receipt(*part))["report"]["failed"] == 1;
    let part = (0..SHARDS).find(failed).unwrap();
    // The video with sound is the first one.
    let shard = ["rec", "vidx", "vtrk"].map(|ending| videos.file_of(PACK, 0, ending));
    for file in shard.into_iter().chain([videos.path(&receipt(part))]) {
        let right = fs::read(&file).unwrap();
        if file.parent() == Some(&videos.path(PACK)) {
            let name = file.file_name().unwrap().to_str().unwrap();
            fs::remove_file(&file).unwrap();
            refused(&videos, &[], &[name]);
            fs::write(&file, &right[..right.len() - 1]).unwrap();
            refused(&videos, &[], &[name]);
        }
        for i in 0..5 {
            let at = right.len() * i / 5 + i % 5;
            let mut wrong = right.clone();
            wrong[at] ^= 1 << (i % 8);
            fs::write(&file, &wrong).unwrap();
            videos.copy("plan", "other");
            let run = videos.run(&["publish", "other", "--read-all"]);
            let place = format!("{} byte {at}: {}", file.display(), show(&run));
            match run.status.code() {
                Some(1) => {
                    let is_record = file.extension().is_some_and(|ending| ending == "rec");
                    assert!(!is_record || stderr(&run).contains("remove the receipt"), "{place}");
                    has_no_set(&videos.path("other"));
                }
                status => {
                    assert!(file.ends_with(format!("{part:05}.json")) && status == Some(3), "{place}");
                    assert_eq!(videos.alone("other"), whole, "{place}");
                }
            }
        }
        fs::write(&file, &right).unwrap();
    }
    assert_eq!(videos.published("plan"), whole);
}

#[test]
fn a_plan_that_is_not_whole_is_no_plan() {
    let videos = Videos::make(12);
    videos.plan("plan", &[]);
    let (path, jobs) = (videos.path("plan/.vidrec.pack/plan.json"), videos.jobs("plan"));
    let plan = fs::read(&path).unwrap();
    let commands: [&[&str]; 3] = [&["pack", "plan", "--part", "0"], &["status", "plan"], &["publish", "plan"]];
    let all = |words: &[&str]| commands.iter().for_each(|command| videos.fails(command, words));
    fs::remove_file(&path).unwrap();
    all(&["there is no plan here", "vidrec plan"]);
    fs::write(&path, &plan[..plan.len() / 2]).unwrap();
    all(&["did not write this plan", "plan.json"]);
    videos.fails(&["plan", "in", "-o", "plan", "--shards", "4", "-n", "4"], &["another plan here"]);
    fs::remove_file(&path).unwrap();
    videos.plan("plan", &[]);
    assert_eq!(fs::read(&path).unwrap(), plan, "planned again to the same bytes");
    videos.plan("plan", &[]);
    videos.fails(&["plan", "in", "-o", "plan", "--shards", "3", "-n", "4"], &["another plan here"]);
    assert_eq!(fs::read(&path).unwrap(), plan);

    let lines = fs::read(&jobs).unwrap();
    fs::write(&jobs, &lines[..lines.len() - 10]).unwrap();
    videos.fails(&["pack", "plan", "--part", "3"], &["jobs-", "shorter than the plan says"]);
    let changed = String::from_utf8(lines.clone()).unwrap().replacen("even", "evil", 1);
    fs::write(&jobs, changed).unwrap();
    videos.fails(&["pack", "plan", "--part", "0"], &["jobs-", "not the one that was planned"]);
    fs::write(&jobs, lines).unwrap();
    videos.fails(&["pack", "plan", "--part", "4"], &["no part 4", "0 to 3"]);
    videos.edit("plan/.vidrec.pack/plan.json", |plan| plan["parts"][2]["first"] = 1.into());
    all(&["do not follow one another"]);
}

#[test]
fn changed_videos_and_other_versions_are_refused() {
    let videos = Videos::make(12);
    videos.plan("plan", &[]);
    let video = videos.path("in/even/0000.mp4");
    let (bytes, meta) = (fs::read(&video).unwrap(), fs::metadata(&video).unwrap());
    fs::write(&video, [&bytes[..], b"more"].concat()).unwrap();
    let pack = ["pack", "plan", "--part", "0"];
    videos.fails(&pack, &["0000.mp4", "has changed since the pack was planned", &bytes.len().to_string()]);
    fs::remove_file(&video).unwrap();
    videos.fails(&pack, &["0000.mp4", "has changed since the pack was planned", "no file"]);
    fs::write(&video, &bytes).unwrap();
    videos.fails(&pack, &["0000.mp4", "has changed since the pack was planned"]);
    fs::File::options().write(true).open(&video).unwrap().set_modified(meta.modified().unwrap()).unwrap();
    videos.pack_part("plan", 0);

    for (field, words) in
        [("tool", ["a different version of vidrec", "vidrec 9.9"]), ("ffmpeg", ["a different FFmpeg", "vidrec 9.9"])]
    {
        videos.remove("plan");
        videos.plan("plan", &[]);
        videos.edit("plan/.vidrec.pack/plan.json", |plan| plan[field] = "vidrec 9.9".into());
        videos.fails(&pack, &words);
        assert!(!videos.path("plan/.vidrec.pack/parts/00000.json").exists());
    }
    videos.edit("plan/.vidrec.pack/plan.json", |plan| plan["form"] = 99.into());
    videos.fails(&pack, &["another version of vidrec", "form 99"]);
}

#[test]
fn two_attempts_that_made_different_bytes_are_an_error() {
    if !has_decoder_faults() {
        return;
    }
    let videos = Videos::make(12);
    videos.packed("plan");
    let receipt = videos.path("plan/.vidrec.pack/parts/00000.json");
    let gate = Gate::new(&videos);
    for forged in [false, true] {
        let own = fs::read(&receipt).unwrap();
        fs::remove_file(&receipt).unwrap();
        let attempt = videos.start(videos.part("plan", 0), &gate.before("even/0000.mp4"));
        let pipe = gate.reached();
        // Another attempt ends first.
        fs::write(&receipt, &own).unwrap();
        if forged {
            videos.edit("plan/.vidrec.pack/parts/00000.json", |receipt| {
                receipt["shard"]["sha256"] = "0".repeat(64).into()
            });
        }
        open(&pipe, 1);
        let run = attempt.output();
        if forged {
            assert_eq!(run.status.code(), Some(1), "{}", show(&run));
            let said = stderr(&run);
            assert!(
                said.contains("another attempt at part 0 gave a different result") && said.contains("memory"),
                "{said}"
            );
        } else {
            assert_eq!(run.status.code(), Some(0), "{}", show(&run));
        }
    }
    refused(&videos, &[], &["shard-00000"]);
}

#[test]
fn what_a_plan_fixes_cannot_be_given() {
    let videos = Videos::make(4);
    videos.plan("plan", &[]);
    for more in
        [&["-n", "4"][..], &["-o", "out"], &["--quality", "80"], &["--if-exists", "resume"], &["--max-failures", "3"]]
    {
        let run = videos.ends(2, &[&["pack", "plan", "--part", "0"], more].concat());
        assert!(stderr(&run).contains("--part") && !stderr(&run).contains("vidrec: "), "{more:?}: {}", show(&run));
    }
    videos.ends(2, &["pack", "in", "-o", "out", "--part", "3"]);
    videos.ends(2, &["pack", "plan", "--part", "first"]);
    for more in [&["--parts", "3"][..], &["--commit-every", "0"]] {
        videos.ends(2, &[&["pack", "in", "-o", "out"], more].concat());
    }
    assert_eq!(fs::read_dir(videos.path("plan/.vidrec.pack/parts")).unwrap().count(), 0);
}

#[test]
fn no_other_command_takes_the_folder_of_a_plan_for_its_own() {
    let videos = Videos::make(12);
    videos.plan("plan", &[]);
    let pack = ["pack", "in", "-o", "plan", "--shards", "4", "-n", "4"];
    for done in [0, 4] {
        let before = tree(&videos.path("plan"));
        videos.fails(&["inspect", "plan"], &["no data set in this folder", "not finished", "vidrec publish"]);
        let is_there = format!("interrupted pack, with {done} of 13 videos done");
        videos.fails(&pack, &[&is_there, "--if-exists replace"]);
        videos.fails(&[&pack[..], &["--if-exists", "resume"]].concat(), &["the task", "parts of a plan", "pack all"]);
        assert!(tree(&videos.path("plan")) == before, "{done}");
        videos.pack_part("plan", 0);
    }
    videos.ends(3, &[&pack[..], &["--if-exists", "replace"]].concat());
    assert_eq!(videos.alone("plan"), videos.whole("whole", &[]));
    fs::create_dir(videos.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink(videos.path("elsewhere"), videos.path("plan/.vidrec.pack")).unwrap();
    for args in
        [&["plan", "in", "-o", "plan"][..], &["status", "plan"], &[&pack[..], &["--if-exists", "replace"]].concat()]
    {
        videos.fails(args, &[".vidrec.pack", "link"]);
    }
    assert_eq!(fs::read_dir(videos.path("elsewhere")).unwrap().count(), 0);
}
