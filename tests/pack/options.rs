//! `vidrec pack`: options that change how frames are stored, or only how fast.

use serde_json::Value;
use vidrec::jpeg::{Decoder, Encoder};
use vidrec::{Dataset, Planes};

use crate::common::ffmpeg_videos;
use crate::common::skip::skip;
use crate::pack::support::Room;

/// Packs the videos, and gives the data set and how its settings name the frames.
fn pack(room: &Room, options: &[&str]) -> (Dataset, Value) {
    let set = room.packed("videos", options);
    let listing: Value = serde_json::from_slice(&std::fs::read(room.path("set/dataset.json")).unwrap()).unwrap();
    (set, listing["settings"].clone())
}

fn jpegs(set: &Dataset) -> Vec<Vec<u8>> {
    let of = |clip: vidrec::Clip| clip.frames().map(|f| f.unwrap().jpeg().to_vec()).collect::<Vec<_>>();
    set.clips().flat_map(|clip| of(clip.unwrap())).collect()
}

/// The header, up to the entropy-coded data.
fn head(jpeg: &[u8]) -> &[u8] {
    &jpeg[..jpeg.windows(2).position(|pair| pair == [0xFF, 0xDA]).unwrap()]
}

/// A black picture of the same size, as libjpeg-turbo encodes it.
fn black(jpeg: &[u8]) -> Vec<u8> {
    let header = Decoder::new().unwrap().header(jpeg).unwrap();
    let mut black = Vec::new();
    Encoder::new(90).unwrap().encode(&Planes::new(header.width, header.height).unwrap(), &mut black).unwrap();
    black
}

#[test]
fn options_of_speed_change_nothing_and_options_of_storage_what_they_say() {
    let room = Room::new();
    for (name, size) in [("a.mp4", "160x96"), ("b.mp4", "96x128"), ("c.mp4", "640x360")] {
        let how = format!("-f lavfi -i testsrc2=s={size}:r=25:d=2 -pix_fmt yuv420p -c:v libx264 -g 20");
        if ffmpeg_videos::try_make(&how, room.path(&format!("videos/{name}"))).is_err() {
            return skip("no ffmpeg program with x264");
        }
    }
    let (plain, settings) = pack(&room, &[]);
    assert_eq!(settings["effort"], 1);
    let reference = jpegs(&plain);
    let report = room.report(0, "videos", &[]);
    assert_eq!(report["measured_frames"], 8, "of the first video: {report}");
    assert!(report["psnr"].as_f64().unwrap() > 30.0, "{report}");
    for (name, options) in [("all", &["--decode-all"][..]), ("slow", &["--threads", "1", "--memory", "1MiB"])] {
        let (set, other) = pack(&room, options);
        assert_eq!(jpegs(&set), reference, "{name}");
        let named = if name == "all" { other["decode_all"] == true } else { other == settings };
        assert!(named, "{name}: {other}");
    }

    let (set, other) = pack(&room, &["--effort", "0"]);
    assert_eq!(other["effort"], 0);
    let turbo = jpegs(&set);
    for jpeg in &turbo {
        assert_eq!(head(jpeg), head(&black(jpeg)), "libjpeg's tables");
    }
    let [small, large] = [&reference, &turbo].map(|all| all.iter().map(|jpeg| jpeg.len()).sum::<usize>());
    // Test patterns have hardly anything that a real video has more of, so they gain little.
    assert!(small < large, "{small} {large}");

    let sizes = |set: &Dataset| -> Vec<(u32, u32)> {
        set.clips().map(|c| c.unwrap()).map(|c| (c.width(), c.height())).collect()
    };
    assert_eq!(sizes(&plain), [(160, 96), (96, 128), (456, 256)]);
    let (set, other) = pack(&room, &["--size", "128:enlarge"]);
    assert_eq!(sizes(&set), [(214, 128), (128, 170), (228, 128)]);
    assert_eq!(other["size"], "128:enlarge");
}
