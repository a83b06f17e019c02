//! Packs from a server that answers as the Hugging Face Hub does: of videos, and of a data set of LeRobot.

use std::fs;
use std::path::Path;

use serde_json::json;
use vidrec::interop::lerobot::{LeRobotOptions, export};
use vidrec::pack::{
    InputOptions, PackOptions, PackPlan, PackReport, PartOptions, PartsPlan, PublishOptions, pack, write_plan,
};
use vidrec::{
    ClipInfo, Dataset, FrameData, JsonObject, Storage, Track, TrackTimes, TrackValues, Writer, WriterOptions,
    no_progress,
};

use crate::common::fake_hugging_face_hub::{Hub, TOKEN};
use crate::common::rich::{clips, files_from_anywhere as files};
use crate::common::{ffmpeg_videos, jpeg, skip::has_ffmpeg};

const SET: &str = "hf://datasets/me/set";

fn options(hub: Option<&Hub>) -> PackOptions {
    let storage = Storage { options: hub.map(|hub| hub.options(TOKEN)).unwrap_or_default(), ..Storage::default() };
    PackOptions { input: InputOptions { storage, ..InputOptions::default() }, ..PackOptions::default() }
}

fn packed(input: impl AsRef<Path>, out: &Path, options: &PackOptions) -> PackReport {
    let report = pack(&[input.as_ref()], out, options, &mut no_progress).unwrap_or_else(|e| panic!("{e:#}"));
    assert_eq!(report.failures.len(), 0, "{:?}", report.failures);
    report
}

#[test]
fn videos_are_packed_from_one_commit() {
    if !has_ffmpeg() {
        return;
    }
    let temp = tempfile::tempdir().unwrap();
    for name in ["b/1.mp4", "c.x/2.mp4", "a c/3.mp4", "notes.txt"] {
        let path = temp.path().join("videos").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match name.ends_with(".mp4") {
            true => ffmpeg_videos::make("-f lavfi -i testsrc2=s=64x48:d=1 -bitexact -c:v mpeg4", path),
            false => fs::write(path, "none").unwrap(),
        }
    }
    let hub = Hub::new(&temp.path().join("videos"));
    hub.state().is_private = true;
    packed(temp.path().join("videos"), &temp.path().join("local"), &options(None));
    packed(SET, &temp.path().join("packed"), &options(Some(&hub)));
    assert!(files(&temp.path().join("local")) == files(&temp.path().join("packed")));
    // A plan names the commit, and its parts read it when the revision is another.
    let plan = PackPlan::for_parts(&[SET], &options(Some(&hub)).input).unwrap();
    let commit = hub.state().asked.iter().find_map(|head| head.split("/tree/").nth(1)).unwrap()[..40].to_owned();
    let empty = temp.path().join("empty");
    fs::create_dir(&empty).unwrap();
    hub.commit(&empty);
    hub.state().asked.clear();
    write_plan(&plan, temp.path().join("plan"), &options(Some(&hub))).unwrap();
    let (plan, storage) = (PartsPlan::open(temp.path().join("plan")).unwrap(), options(Some(&hub)).input.storage);
    let mut how = PartOptions::default();
    how.storage = storage;
    plan.pack(0, &how, &mut no_progress).unwrap();
    plan.publish(&PublishOptions::default(), &mut no_progress).unwrap();
    assert!(clips(&temp.path().join("local")) == clips(&temp.path().join("plan")));
    let asked = &hub.state().asked;
    assert!(!asked.is_empty() && asked.iter().all(|head| head.contains(&format!("/resolve/{commit}/"))), "{asked:?}");
}

#[test]
fn a_data_set_of_lerobot_is_packed_from_the_hub() {
    if !has_ffmpeg() {
        return;
    }
    let temp = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(temp.path().join("written"), WriterOptions::default()).unwrap();
    for episode in 0..3u32 {
        let attributes = json!({ "episode": episode, "camera": "top", "task": "push" });
        let attributes = JsonObject::of(attributes).unwrap();
        let info = ClipInfo { attributes, width: 64, height: 48, time_base: (1, 10), ..ClipInfo::default() };
        let jpegs: Vec<_> = (0..5).map(|t| jpeg((64, 48), 10 * episode + t)).collect();
        let frames: Vec<_> = (0..).zip(&jpegs).map(|(pts, jpeg)| FrameData { jpeg, pts, source_index: None }).collect();
        let values = TrackValues::F32((0..10).map(|i| i as f32 + episode as f32).collect());
        let (name, times) = ("action".into(), TrackTimes::Frames);
        writer
            .append_with_tracks(&info, &frames, &[Track { name, values, shape: vec![2], times, ..Track::default() }])
            .unwrap();
    }
    writer.finish().unwrap();
    let robot = temp.path().join("robot");
    export(&Dataset::open(temp.path().join("written")).unwrap(), &robot, &LeRobotOptions::default(), &mut no_progress)
        .unwrap();
    let hub = Hub::new(&robot);
    hub.state().is_private = true;
    packed(&robot, &temp.path().join("local"), &options(None));
    let report = packed(SET, &temp.path().join("packed"), &options(Some(&hub)));
    assert_eq!(report.clips, 3);
    assert!(files(&temp.path().join("local")) == files(&temp.path().join("packed")));
    let plan = PackPlan::for_parts(&[SET], &options(Some(&hub)).input).unwrap();
    let e = write_plan(&plan, temp.path().join("plan"), &options(Some(&hub))).unwrap_err().to_string();
    assert!(e.contains("only in object storage") && e.contains("root"), "{e}");
}
