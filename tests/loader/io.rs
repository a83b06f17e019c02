//! Data sets read in several ways, damaged, cut while they are open, and very large.

use std::fs::OpenOptions;
use std::path::Path;

use crate::common::{self, damage, jpeg, options, set, write};
use vidrec::{Batch, Dataset, Frames, Io, Loader, LoaderOptions, OnBadFrame, Prefetch};

const MODES: [Io; 2] = [Io::Map, Io::Read];

fn epoch(dir: &Path, io: Io, options: LoaderOptions) -> Vec<vidrec::Result<Batch>> {
    let loader = Loader::new(&Dataset::open_with(dir, io).unwrap(), options).unwrap();
    loader.iter(0).unwrap().map(|batch| batch.map(|batch| batch.into_batch())).collect()
}

#[test]
fn all_ways_of_reading_give_the_same_batches() {
    let (_folder, dir) = set(7, 5, (64, 48));
    let o = LoaderOptions {
        frames: Frames::uniform(3),
        prefetch: Prefetch { readahead: 2, ..Prefetch::default() },
        ..options(2, (32, 32))
    };
    let all = MODES.map(|io| epoch(&dir, io, o.clone()).into_iter().map(Result::unwrap).collect::<Vec<_>>());
    assert!(all[0] == all[1]);
    for io in MODES {
        let set = Dataset::open_with(&dir, io).unwrap();
        let (clip, mut buffer) = (set.clip(6).unwrap(), Vec::new());
        assert_eq!(clip.frame(4).unwrap().jpeg(), clip.frame_with(4, &mut buffer).unwrap().jpeg());
        assert_eq!(clip.frame(4).unwrap().jpeg(), jpeg((64, 48), 604));
        set.cool().unwrap();
    }
}

/// With a map this would end the process.
#[test]
#[cfg(unix)]
fn files_that_are_cut_while_they_are_open_are_an_error() {
    let (_folder, dir) = set(6, 2, (640, 480));
    let set = Dataset::open_with(&dir, Io::Read).unwrap();
    let offset = set.clip(3).unwrap().frame(1).unwrap().offset();
    let loader = Loader::new(&set, LoaderOptions { batch_size: 1, ..options(1, (32, 32)) }).unwrap();
    let path = common::names::file(&dir, "shard-00000.rec");
    let index = common::names::file(&dir, "shard-00000.vidx");
    OpenOptions::new().write(true).open(&path).unwrap().set_len(offset + 1000).unwrap();
    OpenOptions::new().write(true).open(&index).unwrap().set_len(100).unwrap();
    let batches: Vec<_> = common::one_by_one(&loader, 0).collect();
    assert_eq!(batches.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, true, true, false, false, false]);
    let e = batches[3].as_ref().unwrap_err();
    assert_eq!((e.path(), e.clip(), e.frame(), e.offset()), (Some(&*path), Some(3), Some(1), Some(offset)), "{e}");
    assert!(e.to_string().contains("found 1000 bytes"), "{e}");
}

#[test]
fn a_bad_clip_is_replaced_by_the_same_other_clip_every_time() {
    let (_folder, dir) = set(8, 3, (160, 120));
    damage(&dir, 5, 1);
    damage(&dir, 2, 2);
    let o = LoaderOptions { on_bad_frame: OnBadFrame::Substitute, ..options(2, (32, 32)) };
    let run = |threads| {
        let loader = common::loader(&dir, LoaderOptions { threads: Some(threads), ..o.clone() });
        let batches: Vec<_> = common::one_by_one(&loader, 0).map(Result::unwrap).collect();
        assert_eq!(loader.stats().substituted_clips, 2);
        batches
    };
    let batches = run(1);
    assert_eq!(batches, run(4));
    let clips: Vec<u64> = batches.iter().flat_map(|b| b.clips.clone()).collect();
    assert!([0, 1, 3, 4, 6, 7].iter().all(|&i| clips[i as usize] == i));
    assert!(![2, 5].contains(&clips[2]) && ![2, 5].contains(&clips[5]));
    let single = common::loader(&dir, options(1, (32, 32)));
    for (i, batch) in batches.iter().enumerate() {
        let length = batch.u8().unwrap().len() / 2;
        for j in 0..2 {
            let instead_of = Some((2 * i + j) as u64).filter(|clip| [2, 5].contains(clip));
            assert_eq!(batch.params[j].instead_of, instead_of);
            let really = single.batch(0, batch.clips[j]).unwrap();
            assert_eq!(batch.u8().unwrap()[j * length..][..length], *really.u8().unwrap());
            assert_eq!(batch.labels[j], really.labels[0]);
        }
    }
}

#[test]
fn a_set_without_a_good_clip_is_an_error_all_the_same() {
    // Large, so that the bit is not in the file's ends, which are proven at open.
    let (_folder, dir) = set(3, 1, (640, 480));
    (0..3).for_each(|clip| damage(&dir, clip, 0));
    let o = LoaderOptions { on_bad_frame: OnBadFrame::Substitute, ..options(1, (32, 32)) };
    let e = epoch(&dir, Io::Map, o).remove(1).unwrap_err();
    assert_eq!(
        (e.rule(), e.clip(), e.frame()),
        (Some("jpeg-crc"), Some(1), Some(0)),
        "of the clip that was wanted: {e}"
    );
}

/// Clips of 3, 2 and 4 frames have three times 3, so the counts alone do not tell.
#[test]
fn clips_that_only_add_up_as_if_they_were_equal_are_told_apart() {
    let clip = |n: u32| (0..n).map(|t| jpeg((16, 16), t)).collect::<Vec<_>>();
    let dense = LoaderOptions { frames: Frames::windows(2), ..options(1, (8, 8)) };
    let (_folder, dir) = write(&[clip(3), clip(2), clip(4)], (16, 16));
    let set = Dataset::open(&dir).unwrap();
    assert_eq!(set.likely_frames_per_clip().unwrap(), None);
    let e = Loader::new(&set, options(1, (8, 8))).err().unwrap();
    assert!(e.clip() == Some(1) && e.to_string().contains("expected 3, found 2"), "{e}");
    let clips: Vec<u64> =
        epoch(&dir, Io::Map, dense.clone()).into_iter().map(|batch| batch.unwrap().clips[0]).collect();
    assert_eq!(clips, [0, 0, 1, 2, 2, 2]);

    // Two of many: found when they are used, and only where it matters.
    let mut many = vec![clip(2); 200];
    (many[1], many[2]) = (clip(1), clip(3));
    let (_folder, dir) = write(&many, (16, 16));
    assert_eq!(Dataset::open(&dir).unwrap().likely_frames_per_clip().unwrap(), Some(2));
    for o in [options(1, (8, 8)), dense] {
        let e = epoch(&dir, Io::Map, o).remove(1).unwrap_err();
        assert!(e.clip() == Some(1) && e.to_string().contains("expected 2, found 1"), "{e}");
    }
    let o = LoaderOptions { frames: Frames::uniform(2), ..options(1, (8, 8)) };
    assert!(epoch(&dir, Io::Map, o).iter().all(Result::is_ok));
}

/// A million frames; ten million with `VIDREC_SOAK=1`. All clips are damaged but those of the first batch, so whatever
/// read them one by one would fail.
#[test]
fn the_first_batch_of_a_very_large_set_reads_no_other_clips() {
    let frames: usize = if std::env::var_os("VIDREC_SOAK").is_some() { 10_000_000 } else { 1_000_000 };
    let (_folder, dir) = write(&[], (0, 0));
    std::fs::remove_dir_all(&dir).unwrap();
    let mut writer = vidrec::Writer::create(&dir, vidrec::WriterOptions::default()).unwrap();
    // 8 bytes that are no picture: writing a million real ones would take a minute.
    let (good, bad) = (jpeg((16, 16), 0), [0xFF, 0xD8, 0xFF, 0xD9]);
    let info = vidrec::ClipInfo { width: 16, height: 16, ..vidrec::ClipInfo::default() };
    for clip in 0..frames / 10 {
        let jpeg = if clip < 4 { &good[..] } else { &bad };
        writer.append(&info, &[vidrec::FrameData { jpeg, pts: 0, source_index: None }; 10]).unwrap();
    }
    writer.finish().unwrap();
    let index = common::names::file(&dir, "shard-00000.vidx");
    let mut bytes = std::fs::read(&index).unwrap();
    // Behind the header and the frames' entries.
    let entry = |clip: usize| 64 + frames * 32 + clip * 80;
    (4..frames / 10).for_each(|clip| bytes[entry(clip) + 10] ^= 1);
    std::fs::write(&index, bytes).unwrap();
    let set = Dataset::open(&dir).unwrap();
    let loader = Loader::new(&set, options(4, (8, 8))).unwrap();
    assert_eq!(loader.batch(0, 0).unwrap().shape(), [4, 10, 3, 8, 8]);
    assert!(loader.batch(0, 1).unwrap_err().clip() == Some(4), "the others are damaged");
    let dense = LoaderOptions { frames: Frames::windows(8), ..options(4, (8, 8)) };
    assert_eq!(Loader::new(&set, dense).unwrap().batches_per_epoch(), frames as u64 / 10 * 3 / 4);
}
