//! Copies a data set, with every JPEG coded anew without restart markers: the same coefficients and so the same pixels,
//! a few bytes fewer, and no tiles to cut out. What other loaders are measured on in `benches/peers`.
//!
//!     cargo run --release --example plain_jpegs -- DATASET OUT

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use turbojpeg::{Transform, Transformer};
use vidrec::jpeg::Decoder;
use vidrec::{Clip, ClipInfo, Dataset, FrameData, Planes, Writer, WriterOptions};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [dataset, out] = &arguments[..] else {
        eprintln!("usage: plain_jpegs DATASET OUT");
        return ExitCode::from(2);
    };
    match copy(dataset, out) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("plain_jpegs: {e}");
            ExitCode::FAILURE
        }
    }
}

fn copy(dataset: &Path, out: &Path) -> Result<()> {
    let dataset = Dataset::open(dataset)?;
    let meta = dataset.meta().clone();
    let mut writer = Writer::create(out, WriterOptions { meta, ..WriterOptions::default() })?;
    let mut transformer = Transformer::new()?;
    let (mut decoder, mut pixels) = (Decoder::new()?, [Planes::new(1, 1)?, Planes::new(1, 1)?]);
    let (mut before, mut after) = (0, 0);
    for clip in dataset.clips() {
        let clip = clip?;
        let frames = clip.frames().collect::<vidrec::Result<Vec<_>>>()?;
        let mut jpegs = Vec::with_capacity(frames.len());
        for frame in &frames {
            frame.check()?;
            let plain = transformer.transform_to_vec(&Transform::default(), frame.jpeg())?;
            decoder.decode_planes(frame.jpeg(), &mut pixels[0])?;
            decoder.decode_planes(&plain, &mut pixels[1])?;
            assert!(pixels[0] == pixels[1], "the same coefficients, the same pixels");
            jpegs.push(plain);
        }
        before += frames.iter().map(|frame| frame.jpeg().len()).sum::<usize>();
        after += jpegs.iter().map(Vec::len).sum::<usize>();
        let plain: Vec<_> = frames
            .iter()
            .zip(&jpegs)
            .map(|(frame, jpeg)| FrameData { jpeg, pts: frame.pts(), source_index: frame.source_index() })
            .collect();
        writer.append(&info(&clip)?, &plain)?;
    }
    let written = writer.finish()?;
    println!("{} frames, {before} bytes of JPEG became {after}", written.frames);
    Ok(())
}

fn info(clip: &Clip) -> Result<ClipInfo> {
    Ok(ClipInfo {
        label: clip.label(),
        source: clip.source()?,
        class: clip.class()?,
        attributes: clip.attributes()?,
        width: clip.width(),
        height: clip.height(),
        time_base: clip.time_base(),
        short: clip.is_short(),
    })
}
