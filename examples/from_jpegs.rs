//! Makes a data set from frames that are JPEG files already: no decoding, no second loss.
//!
//!     cargo run --release --example from_jpegs -- OUT CLIP...
//!
//! Each CLIP is a folder of .jpg files, in order of their names, or a single .jpg file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use vidrec::jpeg::Decoder;
use vidrec::{ClipInfo, FrameData, Writer, WriterOptions};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [out, clips @ ..] = &arguments[..] else {
        eprintln!("usage: from_jpegs OUT CLIP...");
        return ExitCode::from(2);
    };
    match make(out, clips) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("from_jpegs: {e}");
            ExitCode::FAILURE
        }
    }
}

fn make(out: &Path, clips: &[PathBuf]) -> Result<()> {
    let mut writer = Writer::create(out, WriterOptions::default())?;
    for path in clips {
        let jpegs = files(path)?.iter().map(fs::read).collect::<std::io::Result<Vec<_>>>()?;
        let info = ClipInfo { source: path.to_string_lossy().into_owned(), time_base: (1, 25), ..sized(&jpegs)? };
        let frames: Vec<_> = (0..).zip(&jpegs).map(|(pts, jpeg)| FrameData { jpeg, pts, source_index: None }).collect();
        writer.append(&info, &frames)?;
    }
    let written = writer.finish()?;
    println!("{} clips, {} frames, {} bytes", written.clips, written.frames, written.bytes);
    Ok(())
}

fn files(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = fs::read_dir(path)?.map(|e| Ok(e?.path())).collect::<Result<Vec<_>>>()?;
    found.retain(|p| p.extension().is_some_and(|e| e.eq_ignore_ascii_case("jpg")));
    found.sort();
    Ok(found)
}

/// A clip's width and height, if all frames have the same.
fn sized(jpegs: &[Vec<u8>]) -> Result<ClipInfo> {
    let mut decoder = Decoder::new()?;
    let sizes = jpegs.iter().map(|jpeg| decoder.header(jpeg)).collect::<vidrec::Result<Vec<_>>>()?;
    Ok(match &sizes[..] {
        [first, rest @ ..] if rest.iter().all(|s| (s.width, s.height) == (first.width, first.height)) => {
            ClipInfo { width: first.width, height: first.height, ..ClipInfo::default() }
        }
        _ => ClipInfo::default(),
    })
}
