//! Reads one frame of a data set, decodes it and writes it to standard output as a PPM picture.
//!
//!     cargo run --release --example frame_to_ppm -- DATASET CLIP FRAME > frame.ppm

use std::io::Write;
use std::process::ExitCode;

use vidrec::Dataset;
use vidrec::jpeg::Decoder;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [dataset, clip, frame] = &arguments[..] else {
        eprintln!("usage: frame_to_ppm DATASET CLIP FRAME");
        return ExitCode::from(2);
    };
    match print(dataset, clip, frame) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("frame_to_ppm: {e}");
            ExitCode::FAILURE
        }
    }
}

fn print(dataset: &str, clip: &str, frame: &str) -> Result<(), Box<dyn std::error::Error>> {
    let dataset = Dataset::open(dataset)?;
    let frame = dataset.clip(clip.parse()?)?.frame(frame.parse()?)?;
    frame.check()?;

    let picture = Decoder::new()?.decode_picture(frame.jpeg())?;
    let mut out = std::io::stdout().lock();
    write!(out, "P6\n{} {}\n255\n", picture.width, picture.height)?;
    Ok(out.write_all(&picture.pixels)?)
}
