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

    let mut decoder = Decoder::new()?;
    let header = decoder.header(frame.jpeg())?;
    let mut pixels = vec![0; header.rgb_len()];
    decoder.decode_rgb(frame.jpeg(), &mut pixels, header.width as usize * 3)?;

    let mut out = std::io::stdout().lock();
    write!(out, "P6\n{} {}\n255\n", header.width, header.height)?;
    Ok(out.write_all(&pixels)?)
}
