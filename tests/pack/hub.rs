//! Packs from a server that answers as the Hugging Face Hub does.

use std::fs;
use std::path::Path;

use vidrec::pack::{
    InputOptions, PackOptions, PackPlan, PackReport, PartOptions, PartsPlan, PublishOptions, pack, write_plan,
};
use vidrec::{Storage, no_progress};

use crate::common::fake_hugging_face_hub::{Hub, TOKEN};
use crate::common::rich::{clips, files_from_anywhere as files};
use crate::common::{ffmpeg_videos, skip::has_ffmpeg};

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
