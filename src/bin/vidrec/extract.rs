//! `vidrec extract`: stored JPEGs as files, byte for byte.

use std::fs;
use std::path::PathBuf;

use serde::Serialize;
use vidrec::Dataset;

use crate::output::{bytes, count};
use crate::ranges::{self, ClipRange};
use crate::{Outcome, Run, output};

/// Write the JPEGs of some clips as files, byte for byte.
///
/// Files are named DIR/CLIP/FRAME.jpg, such as 000012/003.jpg. vidrec checks their checksums.
#[derive(clap::Args)]
pub struct Args {
    /// The data set.
    dataset: PathBuf,
    /// Clips by number, counted from 0: 5, 3-7 or all.
    #[arg(required = true)]
    clip: Vec<ClipRange>,
    /// The folder to write to.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    clips: u64,
    frames: u64,
    bytes: u64,
}

pub fn run(args: &Args) -> Run {
    let dataset = Dataset::open(&args.dataset)?;
    let mut report = Report { clips: 0, frames: 0, bytes: 0 };
    for ordinal in ranges::ordinals(&args.clip, dataset.len())? {
        let clip = dataset.clip(ordinal)?;
        let folder = args.output.join(format!("{ordinal:06}"));
        fs::create_dir_all(&folder).map_err(|e| format!("{}: could not create the folder: {e}", folder.display()))?;
        for (t, frame) in clip.frames().enumerate() {
            let frame = frame?;
            frame.check()?;
            let path = folder.join(format!("{t:03}.jpg"));
            fs::write(&path, frame.jpeg()).map_err(|e| format!("{}: could not write: {e}", path.display()))?;
            report.frames += 1;
            report.bytes += frame.jpeg().len() as u64;
        }
        report.clips += 1;
    }
    let to = args.output.display();
    output::print(args.json, &report, |r| {
        format!("wrote {} of {}, {}, to {to}\n", count(r.frames, "frame"), count(r.clips, "clip"), bytes(r.bytes))
    })?;
    Ok(Outcome::Done)
}
