//! The README's commands run as they are written. Those of the pages in docs/ run in `tests/docs`.
#![cfg(feature = "pack")]

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::ffmpeg_videos;

/// The lines of all blocks that are marked `sh`.
fn commands() -> Vec<String> {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let blocks = readme.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap().to_owned());
    blocks.flat_map(|b| b.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

fn clip(path: &Path, source: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    ffmpeg_videos::make(&format!("-f lavfi -i {source} -pix_fmt yuv420p"), path);
}

#[test]
fn the_commands_run_as_written() {
    let temp = tempfile::tempdir().unwrap();
    let videos = temp.path().join("videos");
    clip(&videos.join("juggling/a.mp4"), "testsrc2=size=320x280:rate=25:duration=1");
    clip(&videos.join("juggling/b.mkv"), "smptebars=size=400x300:rate=25:duration=1");
    clip(&videos.join("running/c.mp4"), "testsrc=size=320x240:rate=25:duration=1");
    let bin = Path::new(env!("CARGO_BIN_EXE_vidrec")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let commands = commands();
    assert_eq!(commands.len(), 4, "{commands:?}");
    for line in commands {
        let run = Command::new("sh").args(["-c", &line]).env("PATH", &path).current_dir(temp.path()).output().unwrap();
        let text = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{line}: {} {text}", run.status);
    }
    assert!(temp.path().join("train/dataset.json").exists() && temp.path().join("sheet.png").exists());
}
