//! What `vidrec pack` makes of each kind of input and of each choice of frames, from outside: the program by process,
//! clips that `ffmpeg` makes, and plain models of what should come out.

use std::fs;
use std::path::Path;
#[cfg(unix)]
use std::process::Command;

use serde_json::{Value, json};
use vidrec::{Clip, Crop, Dataset, LoaderOptions};

use crate::common::ffmpeg_videos;
use crate::common::program_runs::show;
use crate::common::rich::assert_verifies;
use crate::pack::support::{Room, facts, indexes};

/// A video whose frames come at uneven times, in milliseconds, from 100 ms on.
const UNEVEN: &str = "-f lavfi -i testsrc2=s=64x48:r=25:d=3 -vf select='not(mod(n\\,7))+not(mod(n\\,5))',setpts=PTS+2.5 \
    -vsync vfr -c:v libx264 -g 4 -bf 2 -video_track_timescale 1000";

/// Seconds of every frame from the first, by `ffprobe`, to the microsecond, and whether it is a key frame.
fn probe(path: &Path) -> Vec<(f64, bool)> {
    let frame = |fields: Vec<String>| Some((fields.get(1)?.parse::<f64>().ok()?, fields[0] == "1"));
    let lines = ffmpeg_videos::probe(path, "frame=key_frame,best_effort_timestamp_time");
    let frames: Vec<_> = lines.into_iter().filter_map(frame).collect();
    frames.iter().map(|&(t, key)| (((t - frames[0].0) * 1e6).round() / 1e6, key)).collect()
}

fn attributes(clip: &Clip<'_>) -> Value {
    let mut all = clip.attributes().unwrap();
    all.remove("video");
    json!(all)
}

#[test]
fn segments_are_cut_at_their_frames() {
    let bench = Room::new();
    let times: Vec<f64> = probe(&bench.make("v.mp4", UNEVEN)).into_iter().map(|f| f.0).collect();
    assert!(times.len() > 20 && times[1] != times[2] - times[1], "an uneven video: {times:?}");
    let cuts = [(0.0, 0.5), (0.4, 1.0), (0.4, 0.41), (1.4, 9.0), (2.0, 2.4)];
    let rows: String = cuts.iter().map(|(start, end)| format!("v.mp4,{start},{end}\n")).collect();
    let list = bench.write("list.csv", format!("path,start,end\n{rows}v.mp4,2.3,\nv.mp4,,0.2\n"));
    const CLOCK: [&str; 2] = ["--segments", "first-frame"];
    let set = bench.packed(&list, &[&["--all"][..], &CLOCK].concat());
    let cuts = [&cuts[..], &[(2.3, f64::INFINITY), (0.0, 0.2)]].concat();
    assert_eq!(set.len() as usize, cuts.len());
    for (clip, (start, end)) in set.clips().zip(cuts) {
        let clip = clip.unwrap();
        let inside = |t: &f64| (start..end).contains(t);
        let expected: Vec<u32> = (0..).zip(&times).filter(|(_, t)| inside(t)).map(|(i, _)| i).collect();
        assert!(!expected.is_empty());
        assert_eq!(indexes(&clip), expected, "{start} to {end} of {times:?}");
        assert_eq!(clip.source().unwrap(), "v.mp4");
    }
    assert_eq!(attributes(&set.clip(1).unwrap()), json!({"start": 0.4, "end": 1}));

    let set = bench.packed(&list, &["-n", "3", "--segments", "ignore"]);
    assert_eq!(indexes(&set.clip(0).unwrap()), indexes(&set.clip(6).unwrap()), "whole files");
    let set = bench.packed(&list, &[&["-n", "2", "--sample", "endpoints"][..], &CLOCK].concat());
    let last = times.iter().filter(|&&t| t < 1.0).count() as u32 - 1;
    let first = times.iter().filter(|&&t| t < 0.4).count() as u32;
    assert_eq!(indexes(&set.clip(1).unwrap()), [first, last], "rules see the segment alone");

    let list = bench.write("beyond.csv", "path,start,end\nv.mp4,70,80\nv.mp4,0,1\ngone.mp4,0,1\n");
    let report = bench.report(3, &list, &[]);
    assert_eq!((&report["clips"], &report["failed"]), (&1.into(), &2.into()), "each row fails alone");
    assert_eq!(report["failures"][0]["stage"], "sample");
    let error = report["failures"][0]["error"].as_str().unwrap();
    let (shown, _) = container_times(&bench.path("v.mp4"));
    let span = format!("frames from {:.3} to {:.3} s", shown[0], shown[shown.len() - 1]);
    assert!(error.contains("no frame lies from 70 to 80 s") && error.contains(&span), "{error}");
    assert_eq!(
        (&report["failures"][1]["source"], &report["failures"][1]["stage"]),
        (&"gone.mp4".into(), &"open".into())
    );
}

/// Times of all frames and of the container's start in seconds, by `ffprobe`.
fn container_times(path: &Path) -> (Vec<f64>, f64) {
    let ask = |entries: &str| -> Vec<f64> {
        ffmpeg_videos::probe(path, entries).iter().filter_map(|fields| fields[0].parse().ok()).collect()
    };
    (ask("frame=best_effort_timestamp_time"), ask("format=start_time")[0])
}

#[test]
fn the_year_of_the_container_is_stored_if_it_is_one() {
    let bench = Room::new();
    // NUT keeps any text.
    let files = [
        ("a.mp4", "2019-07-03T12:34:56Z", Some(2019)),
        ("b.mkv", "2004-12-31T23:59:59Z", Some(2004)),
        ("c.nut", "1998-01-01T00:00:00Z", Some(1998)),
        ("d.nut", "2200-01-01T00:00:00Z", None),
        ("e.nut", "\u{1f600}19-07-03", None),
        ("f.mp4", "", None),
    ];
    for (name, date, _) in &files {
        let tag = if date.is_empty() { String::new() } else { format!(" -metadata creation_time={date}") };
        bench.make(&format!("videos/{name}"), &format!("-f lavfi -i testsrc2=s=64x48:r=5:d=1 -c:v mpeg4{tag}"));
    }
    let set = bench.packed(bench.path("videos"), &["-n", "2"]);
    for (clip, (name, _, year)) in set.clips().zip(files) {
        let (clip, expected) = (clip.unwrap(), year.map_or(Value::Null, Value::from));
        let video = facts(&clip);
        assert_eq!((&*clip.source().unwrap(), &video["creation_year"]), (name, &expected));
        assert_eq!(video.get("creation_year").is_some(), year.is_some(), "{name}: nothing is stored without a year");
    }
}

#[test]
fn segments_are_on_the_clock_of_a_player() {
    let bench = Room::new();
    let plain = bench.make("plain.mp4", "-f lavfi -i testsrc2=s=64x48:r=25:d=1.2 -c:v libx264 -bf 2");
    let mpeg2 = bench.make("mpeg2.mkv", "-f lavfi -i testsrc2=s=64x48:r=25:d=1.2 -c:v mpeg2video");
    let sound = bench.make("sound.mka", "-f lavfi -i sine=d=3 -c:a mp2");
    let (plain, mpeg2, sound) = (plain.display(), mpeg2.display(), sound.display());
    let late = format!("-itsoffset 2 -i {plain} -c copy");
    let behind = |video: &str| format!("-i {sound} -itsoffset 0.5 -i {video} -map 0 -map 1 -c copy");
    let behind_sound = behind(&plain.to_string());
    // Whether a player counts from the container's start, and what its clock shows at the first frame.
    let files = [
        ("plain.mp4", String::new(), false, 0.0),
        ("late.mp4", late.clone(), false, 2.0),
        ("late.mov", late.clone(), false, 2.0),
        ("late.mkv", late.clone(), false, 2.0),
        ("behind.mp4", behind_sound.clone(), false, 0.5),
        ("behind.mkv", behind_sound.clone(), false, 0.5),
        ("stream.ts", format!("-i {plain} -c copy"), true, 0.0),
        ("late.ts", late.clone(), true, 0.0),
        ("behind.ts", behind_sound, true, 0.5),
        ("behind.mpg", behind(&mpeg2.to_string()), true, 0.5),
    ];
    let mut list = String::from("path,start,end\n");
    let mut expected = Vec::new();
    for (name, args, from_start, first) in &files {
        let path = if args.is_empty() { bench.path(name) } else { bench.make(name, args) };
        let (times, start) = container_times(&path);
        assert_eq!(times.len(), 30, "{name}");
        let shown: Vec<f64> = times.iter().map(|t| t - if *from_start { start } else { 0.0 }).collect();
        assert!((shown[0] - first).abs() < 0.06, "{name}: {} instead of {first}", shown[0]);
        list += &format!("{name},{:.6},{:.6}\n", shown[5], shown[8]);
        expected.push((*name, times));
    }
    let list = bench.write("list.csv", list);
    let set = bench.packed(&list, &["--all"]);
    assert!(!set.meta().settings.contains("segment_clock"), "bytes without segments stay the same");
    for (clip, (name, times)) in set.clips().zip(&expected) {
        let clip = clip.unwrap();
        assert_eq!((&*clip.source().unwrap(), indexes(&clip)), (*name, vec![5, 6, 7]));
        for (frame, time) in clip.frames().zip(&times[5..]) {
            let pts = frame.unwrap().pts_seconds();
            assert!((pts - time).abs() < 1e-6, "{name}: the container's clock is stored, {pts} for {time}");
        }
    }

    let all: String = files.iter().map(|(name, ..)| format!("{name},0.2,0.32\n")).collect();
    let list = bench.write("first.csv", format!("path,start,end\n{all}"));
    for more in [&[][..], &["--no-isolate"]] {
        let set = bench.packed(&list, &[&["--all", "--segments", "first-frame"], more].concat());
        assert_eq!(set.meta().settings.get("segments").unwrap(), Some("first-frame".to_string()));
        set.clips().for_each(|clip| assert_eq!(indexes(&clip.unwrap()), [5, 6, 7]));
    }
    // What a player shows at 2.5 s in a file whose picture begins after 2 s.
    let list = bench.write("late.csv", "path,start,end\nlate.mp4,2.5,2.6\n");
    assert_eq!(indexes(&bench.packed(&list, &["--all"]).clip(0).unwrap()), [13, 14]);
}

#[cfg(unix)]
#[test]
fn what_a_folder_scan_passes_over_is_named() {
    let bench = Room::new();
    bench.make("in/a/1.mp4", "-f lavfi -i testsrc2=s=64x48:r=5:d=1 -c:v libx264");
    bench.make("in/a/2.y4m", "-f lavfi -i testsrc2=s=64x48:r=5:d=1");
    bench.make("in/b/3.gxf", "-f lavfi -i testsrc2=s=720x576:r=25:d=1 -c:v mpeg2video");
    for name in ["in/a/1.srt", "in/b/2.SRT", "in/notes.txt", "in/a/cover.jpg", "in/.hidden.mp4", "in/.git/x.mp4"] {
        bench.write(name, "");
    }
    let _socket = std::os::unix::net::UnixListener::bind(bench.path("in/b/socket.mp4")).unwrap();
    for pipe in ["in/b/pipe.mp4", "in/metadata.csv"] {
        assert!(Command::new("mkfifo").arg(bench.path(pipe)).status().unwrap().success());
    }
    let expected = json!([
        {"kind": ".jpg", "files": 1, "example": "a/cover.jpg"},
        {"kind": ".srt", "files": 2, "example": "a/1.srt"},
        {"kind": ".txt", "files": 1, "example": "notes.txt"},
        {"kind": "special file", "files": 3, "example": "b/pipe.mp4"},
    ]);
    for more in [&["--json"][..], &["--json", "--dry-run"]] {
        let run = bench.pack(bench.path("in"), more);
        assert_eq!(run.status.code(), Some(0), "{}", show(&run));
        let report: Value = serde_json::from_slice(&run.stdout).unwrap();
        assert_eq!((&report["clips"], &report["passed_over"]), (&3.into(), &expected));
        let text = String::from_utf8(run.stderr).unwrap();
        for line in ["2 .srt files, such as a/1.srt", "3 special files, such as b/pipe.mp4"] {
            assert!(text.contains(&format!("vidrec: ignored {line}")), "{text}");
        }
    }
    assert!(show(&bench.pack(bench.path("in"), &[])).contains("  7 files ignored\n"));
}

#[cfg(unix)]
#[test]
fn names_that_are_not_utf8_stay_apart() {
    use std::os::unix::ffi::OsStrExt;
    let bench = Room::new();
    let video = fs::read(bench.make("v.mp4", "-f lavfi -i testsrc2=s=64x48:r=5:d=1 -c:v libx264")).unwrap();
    let names = [&b"c\xe9/a\xfe.mp4"[..], b"c\xe9/a\xff.mp4", br"c\xE9/a\xFF.mp4", b"c\xe8/b.mp4"];
    let input = bench.path("in");
    for name in names {
        let path = input.join(std::ffi::OsStr::from_bytes(name));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, &video).unwrap();
    }
    let set = bench.packed(&input, &[]);
    let sources: Vec<String> = set.clips().map(|clip| clip.unwrap().source().unwrap()).collect();
    assert_eq!(sources, [r"c\x5CxE9/a\x5CxFF.mp4", r"c\xE8/b.mp4", r"c\xE9/a\xFE.mp4", r"c\xE9/a\xFF.mp4"]);
    assert_eq!(set.classes(), [r"c\x5CxE9", r"c\xE8", r"c\xE9"]);

    let vidrec = |args: &[&str]| {
        let run = bench.vidrec(args);
        assert_eq!(run.status.code(), Some(0), "{}", show(&run));
    };
    let table = sources.iter().enumerate().map(|(i, source)| format!("{source},note {i}\n")).collect::<String>();
    bench.write("notes.csv", format!("source,note\n{table}"));
    vidrec(&["subset", "set", "--changes", "notes.csv", "-o", "noted"]);
    let noted = Dataset::open(bench.path("noted")).unwrap();
    for (i, clip) in noted.clips().enumerate() {
        assert_eq!(clip.unwrap().attributes().unwrap().get("note").unwrap(), Some(format!("note {i}")));
    }
    bench.write("wanted.txt", format!("{}\n", sources[3]));
    vidrec(&["subset", "set", "--list", "wanted.txt", "-o", "one"]);
    let one = Dataset::open(bench.path("one")).unwrap();
    assert_eq!((one.len(), one.clip(0).unwrap().source().unwrap()), (1, sources[3].clone()));

    // A list of the printed names finds the files again.
    bench.write("in/list.txt", sources.iter().map(|source| format!("{source}\tx\n")).collect::<String>());
    let listed = bench.packed(input.join("list.txt"), &[]);
    let again: Vec<String> = listed.clips().map(|clip| clip.unwrap().source().unwrap()).collect();
    assert_eq!(again, sources);
}

#[test]
fn frames_by_rate_step_and_key_mark() {
    let bench = Room::new();
    let frames = probe(&bench.make("v.mp4", UNEVEN));
    let n = frames.len() as u32;
    let clip = |more: &[&str]| indexes(&bench.packed(bench.path("v.mp4"), more).clip(0).unwrap());
    assert_eq!(clip(&["--all"]), (0..n).collect::<Vec<_>>());
    assert_eq!(clip(&["--every", "4"]), (0..n).step_by(4).collect::<Vec<_>>());
    let keys: Vec<u32> = (0..n).filter(|&i| frames[i as usize].1).collect();
    assert!(keys.len() > 3);
    assert_eq!(clip(&["--keyframes"]), keys);
    let last = frames[frames.len() - 1].0;
    let on_screen = |t: f64| (0..n).rev().find(|&i| frames[i as usize].0 <= t + 1e-6).unwrap();
    // The last frame is shown for 40 ms.
    let is_in = |t: &f64| *t < last + 0.04 - 1e-6;
    let grid: Vec<u32> = (0..).map(|k| f64::from(k) / 12.5).take_while(is_in).map(on_screen).collect();
    assert_eq!(clip(&["--fps", "12.5"]), grid);
    assert_eq!(
        clip(&["--every", "2", "--max-frames", "3"]),
        vidrec::sampler::uniform(n.div_ceil(2), 3).iter().map(|i| i * 2).collect::<Vec<_>>()
    );

    let settings = json!(Dataset::open(bench.path("set")).unwrap().meta().settings);
    assert_eq!((&settings["frames"], &settings["max_frames"]), (&"every:2".into(), &3.into()));
    for bad in [
        &["--fps", "0"][..],
        &["--all", "--keyframes"],
        &["--max-frames", "3"],
        &["--all", "-n", "4"],
        &["--all", "--draws", "2"],
    ] {
        assert_eq!(bench.pack(bench.path("v.mp4"), bad).status.code(), Some(2), "{bad:?}");
    }
}

#[test]
fn draws_are_side_by_side_and_an_epoch_has_one() {
    let bench = Room::new();
    for name in ["a", "b", "c"] {
        bench.make(&format!("videos/{name}.mp4"), "-f lavfi -i testsrc2=s=64x48:r=50:d=4 -c:v libx264");
    }
    bench.write("videos/broken.mp4", "<html>");
    let args = ["-n", "4", "--sample", "random", "--seed", "5"];
    let report = bench.report(3, bench.path("videos"), &[&args[..], &["--draws", "3"]].concat());
    assert_eq!((&report["clips"], &report["failed"]), (&9.into(), &1.into()), "a group fails as one");
    let set = Dataset::open(bench.path("set")).unwrap();
    assert_eq!((set.draws(), set.meta().draws), (3, Some(3)));
    let mut all = Vec::new();
    for clip in set.clips() {
        let clip = clip.unwrap();
        assert_eq!(clip.source().unwrap(), format!("{}.mp4", ["a", "b", "c"][clip.ordinal() as usize / 3]));
        assert_eq!(attributes(&clip), json!({"draw": clip.ordinal() % 3}));
        all.push(indexes(&clip));
    }
    assert!((0..9).all(|i| (0..i).all(|j| all[i] != all[j])), "all different: {all:?}");
    let options = LoaderOptions { batch_size: 3, crop: Crop::center((32, 32)), ..LoaderOptions::default() };
    let loader = vidrec::Loader::new(&set, options).unwrap();
    for epoch in 0..5 {
        let clips: Vec<u64> = loader.batch(epoch, 0).unwrap().clips.clone();
        assert_eq!(clips, [0, 3, 6].map(|first| first + epoch % 3));
        assert_eq!(loader.batches_in(epoch), 1);
    }
    assert_verifies(&bench.path("set"));

    let run = bench.pack(bench.path("videos"), &args);
    assert_eq!(run.status.code(), Some(3));
    let single = Dataset::open(bench.path("set")).unwrap();
    assert_eq!(single.draws(), 1);
    let first: Vec<_> = single.clips().map(|c| indexes(&c.unwrap())).collect();
    assert_eq!(first, [&all[0][..], &all[3], &all[6]], "draw 0 is what a pack without draws takes");
    bench.says(2, bench.path("videos"), &["--draws", "2"], &["random-clip"]);
}

#[test]
fn folders_of_frames_are_clips() {
    let bench = Room::new();
    bench.make("root/run/clip/f%d.png", "-f lavfi -i testsrc2=s=96x64:r=10:d=1.2 -start_number 1");
    let set = bench.packed(bench.path("root"), &["--all", "--picture-fps", "10", "--size", "32"]);
    let clip = set.clip(0).unwrap();
    assert_eq!((&*clip.source().unwrap(), &*clip.class().unwrap(), clip.frame_count()), ("run/clip", "run", 12));
    assert_eq!((clip.width(), clip.height(), clip.time_base()), (48, 32, (1, 10)));
    assert_eq!(clip.frame(11).unwrap().pts_seconds(), 1.1);

    // In the natural order of names, a picture is what ffmpeg makes of the same one.
    let lossless = bench.make("tenth.mkv", "-f lavfi -i testsrc2=s=96x64:r=10:d=1.2 -c:v ffv1 -pix_fmt bgr0");
    let frames: Vec<Vec<u8>> = clip.frames().map(|f| f.unwrap().jpeg().to_vec()).collect();
    let video = bench.packed(&lossless, &["--all", "--size", "32"]);
    let same: Vec<Vec<u8>> = video.clip(0).unwrap().frames().map(|f| f.unwrap().jpeg().to_vec()).collect();
    assert!(frames == same, "the same pictures in a lossless video give the same bytes");

    bench.says(1, bench.path("root"), &["--fps", "5"], &["give their frame rate"]);
}

#[test]
fn pictures_of_folders_are_clips_of_one_frame() {
    let bench = Room::new();
    bench.make("root/cats/%d.jpg", "-f lavfi -i testsrc2=s=96x64:r=10:d=0.3 -q:v 2");
    bench.make("root/dogs/deep/big.png", "-f lavfi -i testsrc2=s=64x128:r=1:d=1");
    bench.make("root/dogs/v.mp4", "-f lavfi -i testsrc2=s=64x48:r=10:d=1 -c:v libx264");
    bench.write("root/dogs/bad.png", "no picture");
    let words = ["dogs/bad.png", "ignored 1 .mp4 file, such as dogs/v.mp4"];
    bench.says(3, bench.path("root"), &["--images", "--size", "32"], &words);
    let set = bench.set();
    let facts = |clip: vidrec::Clip<'_>| {
        let (source, class) = (clip.source().unwrap().to_string(), clip.class().unwrap().to_string());
        (source, class, clip.frame_count(), (clip.width(), clip.height()))
    };
    let found: Vec<_> = set.clips().map(|clip| facts(clip.unwrap())).collect();
    let cat = |i: u32| (format!("cats/{i}.jpg"), "cats".into(), 1, (48, 32));
    let dog = ("dogs/deep/big.png".into(), "dogs".into(), 1, (32, 64));
    assert_eq!(found, [cat(1), cat(2), cat(3), dog]);

    // A list names the same pictures.
    let list = bench.write("root/list.csv", "path,label\ncats/1.jpg,cats\ndogs/deep/big.png,dogs\n");
    let listed = bench.packed(&list, &["--images", "--size", "32"]);
    let jpegs = |set: &Dataset, clip| set.clip(clip).unwrap().frame(0).unwrap().jpeg().to_vec();
    assert!(jpegs(&listed, 0) == jpegs(&set, 0) && jpegs(&listed, 1) == jpegs(&set, 3));

    bench.says(2, bench.path("root"), &["--images", "--fps", "2"], &["omit --images"]);
}

/// Writes a picture of four quarters in other shades of gray, with an orientation in its EXIF data.
fn write_turned(path: &Path, orientation: u8) {
    let exif = [&b"MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0"[..], &[orientation, 0, 0, 0, 0, 0, 0]].concat();
    let shade = |x: u32, y: u32| image::Luma([60 + 50 * (x / 24) as u8 + 100 * (y / 16) as u8]);
    let gray = image::DynamicImage::from(image::GrayImage::from_fn(48, 32, shade)).to_rgb8();
    let file = &mut fs::File::create(path).unwrap();
    fn write(mut encoder: impl image::ImageEncoder, exif: Vec<u8>, picture: &image::RgbImage) {
        encoder.set_exif_metadata(exif).unwrap();
        picture.write_with_encoder(encoder).unwrap();
    }
    match path.extension().unwrap().to_str().unwrap() {
        "jpg" => write(image::codecs::jpeg::JpegEncoder::new_with_quality(file, 95), exif, &gray),
        "png" => write(image::codecs::png::PngEncoder::new(file), exif, &gray),
        _ => write(image::codecs::webp::WebPEncoder::new_lossless(file), exif, &gray),
    }
}

#[test]
fn pictures_of_each_format_are_turned_as_their_exif_data_says() {
    let bench = Room::new();
    for (orientation, ending) in (1..=8).flat_map(|o| ["jpg", "png", "webp"].map(|ending| (o, ending))) {
        write_turned(&bench.path(&format!("root/{orientation}-{ending}/0.{ending}")), orientation);
    }
    let shades = |set: &Dataset| -> Vec<((u32, u32), Vec<u8>)> {
        let of = |clip: vidrec::Clip<'_>| {
            let picture = vidrec::jpeg::Decoder::new().unwrap().decode_picture(clip.frame(0).unwrap().jpeg()).unwrap();
            let (w, h) = (picture.width, picture.height);
            let at = |x: u32, y: u32| picture.pixels[(3 * (y * w + x)) as usize];
            let quarters = [(w / 4, h / 4), (3 * w / 4, h / 4), (w / 4, 3 * h / 4), (3 * w / 4, 3 * h / 4)];
            ((w, h), quarters.map(|(x, y)| (at(x, y) + 5) / 10).to_vec())
        };
        set.clips().map(|clip| of(clip.unwrap())).collect()
    };
    // EXIF 2.32, 4.6.4, tag 0112: which side of the picture row 0 and column 0 are.
    let right = [
        [6, 11, 16, 21],
        [11, 6, 21, 16],
        [21, 16, 11, 6],
        [16, 21, 6, 11],
        [6, 16, 11, 21],
        [16, 6, 21, 11],
        [21, 11, 16, 6],
        [11, 21, 6, 16],
    ];
    let folders = shades(&bench.packed(bench.path("root"), &["--all", "--size", "original"]));
    let images = shades(&bench.packed(bench.path("root"), &["--images", "--size", "original"]));
    assert!(folders.len() == 24 && images == folders);
    for (found, right) in folders.chunks(3).zip(right) {
        let size = if u8::abs_diff(right[0], right[1]) == 5 { (48, 32) } else { (32, 48) };
        assert!(found.iter().all(|picture| *picture == (size, right.to_vec())), "{found:?} {right:?}");
    }

    // An import copies JPEGs as they are, and encodes PNGs.
    let import = |more: &[&str]| bench.vidrec(&[&["import", "frames", "jpegs", "-o", "imported"], more].concat());
    for orientation in [1, 6] {
        write_turned(&bench.path(&format!("jpegs/{orientation}/0.jpg")), orientation);
    }
    let refused = import(&[]);
    assert!(refused.status.code() == Some(1) && show(&refused).contains("EXIF says"), "{}", show(&refused));
    assert_eq!(import(&["--salvage"]).status.code(), Some(3));
    assert_eq!(Dataset::open(bench.path("imported")).unwrap().len(), 1);
}

#[test]
fn an_animated_picture_is_one_picture() {
    let bench = Room::new();
    bench.make("root/c/moving.png", "-f lavfi -i testsrc2=s=64x48:r=5:d=1 -f apng");
    bench.make("root/c/still.png", "-f lavfi -i testsrc2=s=64x48:r=5:d=0.2");
    assert_eq!(bench.report(0, bench.path("root"), &["--images"])["thinned"], 1);
    let set = bench.set();
    let [moving, still] = [0, 1].map(|clip| set.clip(clip).unwrap());
    assert_eq!((moving.frame_count(), still.frame_count()), (1, 1));
    assert_eq!(moving.frame(0).unwrap().jpeg(), still.frame(0).unwrap().jpeg(), "its first frame");
}

#[test]
fn several_labels_go_to_the_attributes() {
    let bench = Room::new();
    bench.make("v.mp4", "-f lavfi -i testsrc2=s=64x48:r=10:d=1 -c:v libx264");
    let set = bench.packed(bench.write("l.csv", "path,labels\nv.mp4,run;jump\nv.mp4,jump\nv.mp4,\n"), &[]);
    assert_eq!(set.classes(), ["jump", "run"]);
    let labels: Vec<_> = set.clips().map(|c| c.unwrap()).map(|c| (c.label(), c.labels().unwrap())).collect();
    assert_eq!(labels, [(None, vec![1, 0]), (None, vec![0]), (None, vec![])]);
    assert_eq!(attributes(&set.clip(0).unwrap())["labels"], json!([1, 0]));
    let set = bench.packed(bench.write("l.txt", "v.mp4 7\n"), &[]);
    assert_eq!((set.clip(0).unwrap().label(), set.clip(0).unwrap().labels().unwrap()), (Some(7), vec![7]));
}

#[test]
fn a_dry_run_counts_and_estimates_and_writes_nothing() {
    let bench = Room::new();
    let mut list = String::from("path,label\n");
    for i in 0..6 {
        bench.make(&format!("v{i}.mp4"), &format!("-f lavfi -i testsrc2=s=160x120:r=10:d={} -c:v libx264", 1 + i % 3));
        list += &format!("v{i}.mp4,{}\n", ["a", "b"][i % 2]);
    }
    bench.write("bad.mp4", "<html>");
    let list = bench.write("list.csv", list + "bad.mp4,a\ngone.mp4,b\n");
    let e = bench.report(3, &list, &["--dry-run"]);
    let counts = |key: &str| e[key].as_u64().unwrap();
    assert_eq!([counts("videos"), counts("labeled"), counts("classes"), counts("failed")], [8, 8, 2, 2]);
    assert_eq!((&e["missing"], &e["probe_failures"][0]["source"]), (&json!(["gone.mp4"]), &"bad.mp4".into()));
    assert!(!bench.path("set").exists(), "nothing is written");
    let text = show(&bench.pack(&list, &["--dry-run"]));
    assert!(text.contains("gone.mp4") && text.contains("about 6 clips, 48 frames"), "{text}");

    let report = bench.report(3, &list, &[]);
    assert_eq!([&report["clips"], &report["frames"], &report["failed"]], [&e["clips"], &e["frames"], &e["failed"]]);
    let (actual, guess) = (report["bytes"].as_f64().unwrap(), e["bytes"].as_f64().unwrap());
    assert!((0.98..1.02).contains(&(guess / actual)), "all were looked at: {guess} for {actual}");
}

#[test]
fn a_seed_fixes_a_shuffled_order_and_not_the_frames() {
    let bench = Room::new();
    for i in 0..6 {
        bench.make(&format!("videos/{i}.mp4"), "-f lavfi -i testsrc2=s=64x48:r=50:d=1 -c:v libx264 -preset ultrafast");
    }
    let frames = |more: &[&str]| {
        let set = bench.packed(bench.path("videos"), &[&["--sample", "random", "-n", "3"], more].concat());
        let clip = |c: Clip<'_>| (c.source().unwrap(), indexes(&c));
        set.clips().map(|c| clip(c.unwrap())).collect::<Vec<_>>()
    };
    let plain = frames(&[]);
    let mut shuffled = frames(&["--shuffle-seed", "3"]);
    assert_eq!(shuffled, frames(&["--shuffle-seed", "3", "-j", "1"]));
    assert_ne!(plain, shuffled);
    shuffled.sort();
    assert_eq!(plain, shuffled);
}
