//! Makes a data set of very many very small clips, to see what opening, editing and reading cost.
//!
//!     cargo run --release --example many_clips -- OUT CLIPS SHARDS
//!
//! Each clip has one frame of 8x8 pixels, a label below 1,000, a source and a caption.

use std::path::Path;
use std::process::ExitCode;

use vidrec::jpeg::Encoder;
use vidrec::{ClipInfo, FrameData, JsonObject, Planes, Writer, WriterOptions};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Vec<u64> = arguments.iter().skip(1).filter_map(|text| text.parse().ok()).collect();
    let ([out, ..], [clips, shards]) = (&arguments[..], &numbers[..]) else {
        eprintln!("usage: many_clips OUT CLIPS SHARDS");
        return ExitCode::from(2);
    };
    match make(Path::new(out), *clips, *shards) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("many_clips: {e}");
            ExitCode::FAILURE
        }
    }
}

fn make(out: &Path, clips: u64, shards: u64) -> Result<()> {
    let mut jpeg = Vec::new();
    Encoder::new(10)?.encode(&Planes::new(8, 8)?, &mut jpeg)?;
    let mut writer = Writer::create(out, WriterOptions::default())?;
    let each = clips.div_ceil(shards.max(1)).max(1);
    for clip in 0..clips {
        if clip > 0 && clip % each == 0 {
            writer.next_shard()?;
        }
        let label = (clip % 1000) as u32;
        let info = ClipInfo {
            label: Some(label),
            source: format!("videos/{:06}/{clip:010}.mp4", clip / 1000),
            attributes: JsonObject::of(serde_json::json!({"caption": format!("somebody does thing number {clip}")}))?,
            width: 8,
            height: 8,
            ..ClipInfo::default()
        };
        writer.append(&info, &[FrameData { jpeg: &jpeg, pts: 0, source_index: None }])?;
    }
    let written = writer.finish()?;
    println!("{} clips, {} bytes", written.clips, written.bytes);
    Ok(())
}
