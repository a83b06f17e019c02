//! Whichever decoder is chosen, batches are the same, and damage is found where it is.

use crate::common::skip::has_ffmpeg;
use crate::common::{self, loader, options, set, write};
use vidrec::jpeg::JpegDecoder;
use vidrec::{Batch, Crop, Dtype, ErrorKind, LoaderOptions};

const ALL: [JpegDecoder; 3] = [JpegDecoder::Auto, JpegDecoder::Own, JpegDecoder::Turbo];

fn epoch(dir: &std::path::Path, options: LoaderOptions) -> Vec<vidrec::Result<Batch>> {
    loader(dir, options).iter(0..1).unwrap().map(|batch| batch.map(|batch| (*batch).clone())).collect()
}

#[test]
fn batches_do_not_depend_on_the_decoder() {
    let (_folder, dir) = set(4, 3, (170, 128));
    for (crop, dtype) in [
        (Crop::random_resized((64, 64)), Dtype::F32),
        (Crop::random_resized((16, 16)), Dtype::U8),
        (Crop::center((100, 100)), Dtype::U8),
        (Crop::random((128, 128)), Dtype::F16),
    ] {
        let batches = ALL.map(|decoder| {
            let o = LoaderOptions { crop: crop.clone(), flip: 0.5, dtype, decoder, ..options(2, crop.size()) };
            epoch(&dir, o).into_iter().collect::<vidrec::Result<Vec<_>>>().unwrap()
        });
        assert!(batches[0] == batches[1] && batches[0] == batches[2], "{crop:?} {dtype:?}");
    }
}

/// A tile is too short: without a CRC only decoding can tell.
#[test]
fn a_damaged_tile_is_an_error_with_its_place() {
    let frame = |t| common::jpeg((96, 64), t);
    let mut bad = frame(2);
    let marker = bad.windows(2).position(|pair| pair == [0xFF, 0xD2]).unwrap();
    bad.drain(marker - 3..marker);
    let (_folder, dir) = write(&[vec![frame(0), frame(1)], vec![frame(3), bad]], (96, 64));
    for decoder in ALL {
        let o = LoaderOptions { decoder, ..options(1, (96, 64)) };
        let mut batches = epoch(&dir, o);
        let e = batches.remove(1).unwrap_err();
        assert_eq!((e.kind(), e.clip(), e.frame()), (ErrorKind::Decode, Some(1), Some(1)), "{decoder:?} {e}");
        assert!(e.to_string().contains("damaged data"), "{decoder:?} {e}");
        batches.remove(0).unwrap();
    }
}

/// What the packer writes, with the standard tables and with each picture's own, our decoder takes without exception.
#[cfg(all(feature = "pack", feature = "cli"))]
#[test]
fn all_that_the_packer_writes_is_decoded_by_our_own_decoder() {
    use std::process::Command;
    if !has_ffmpeg() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let video = dir.path().join("a.mp4");
    common::ffmpeg_videos::make("-f lavfi -i testsrc2=s=170x130:r=25:d=1 -pix_fmt yuv420p", &video);
    for (i, options) in [&["--quality", "30"][..], &["--effort", "0"], &["--quality", "100"]].iter().enumerate() {
        let out = dir.path().join(i.to_string());
        let run = Command::new(env!("CARGO_BIN_EXE_vidrec"))
            .arg("pack")
            .args([&video, std::path::Path::new("-o"), &out])
            .args(["--frames", "8"])
            .args(*options)
            .output()
            .unwrap();
        assert!(run.status.success(), "{options:?}: {}", String::from_utf8_lossy(&run.stderr));
        for crop in [Crop::random_resized((64, 64)), Crop::center((128, 128)), Crop::random_resized((8, 8))] {
            let [own, turbo] = [JpegDecoder::Own, JpegDecoder::Turbo].map(|decoder| {
                let o = LoaderOptions { crop: crop.clone(), decoder, ..common::options(1, crop.size()) };
                epoch(&out, o).into_iter().collect::<vidrec::Result<Vec<_>>>().unwrap()
            });
            assert!(!own.is_empty() && own == turbo, "{options:?} {crop:?}");
        }
    }
}
