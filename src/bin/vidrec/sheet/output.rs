//! The file of a sheet, in the format that its name asks for.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use image::codecs::gif::{GifEncoder, Repeat};
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::codecs::webp::WebPEncoder;
use image::{Delay, DynamicImage, Frame, RgbImage};

use crate::outcome::Failure;

const QUALITY: u8 = 92;

/// What a sheet is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Png,
    Jpeg,
    WebP,
    /// An animation.
    Gif,
}

/// A path whose ending names a format.
#[derive(Debug, Clone)]
pub struct SheetPath {
    pub path: PathBuf,
    pub format: Format,
}

/// Reads the path of a sheet from the command line.
pub fn sheet_path(text: &str) -> Result<SheetPath, String> {
    let path = crate::storage::local(text)?;
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    let format = match ending.as_deref() {
        Some("png") => Format::Png,
        Some("jpg" | "jpeg") => Format::Jpeg,
        Some("webp") => Format::WebP,
        Some("gif") => Format::Gif,
        Some(other) => return Err(format!("vidrec cannot write a sheet as .{other}; use .png, .jpg, .webp or .gif")),
        None => return Err("the file name has no ending; use .png, .jpg, .webp or .gif".to_owned()),
    };
    Ok(SheetPath { path, format })
}

/// Writes a picture.
pub fn picture(to: &SheetPath, picture: RgbImage) -> Result<(), Failure> {
    write(&to.path, |mut file| {
        let picture = DynamicImage::from(picture);
        match to.format {
            Format::Jpeg => picture.write_with_encoder(JpegEncoder::new_with_quality(&mut file, QUALITY)),
            Format::WebP => picture.write_with_encoder(WebPEncoder::new_lossless(&mut file)),
            Format::Png | Format::Gif => picture.write_with_encoder(PngEncoder::new(&mut file)),
        }
    })
}

/// Writes an animation that repeats for ever.
pub fn animation(to: &Path, delay: Delay, pictures: impl Iterator<Item = RgbImage>) -> Result<(), Failure> {
    // A palette for each picture; 10 is as exact as the encoder's own default is fast.
    const SPEED: i32 = 10;
    write(to, |file| {
        let mut encoder = GifEncoder::new_with_speed(file, SPEED);
        encoder.set_repeat(Repeat::Infinite)?;
        let frames = pictures.map(|picture| DynamicImage::from(picture).to_rgba8());
        encoder.encode_frames(frames.map(|picture| Frame::from_parts(picture, 0, 0, delay)))
    })
}

fn write(path: &Path, encode: impl FnOnce(&mut dyn Write) -> image::ImageResult<()>) -> Result<(), Failure> {
    Ok(vidrec::write_whole(path, |file| encode(file).map_err(io::Error::other))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_says_the_format() {
        let format = |text| sheet_path(text).map(|sheet| sheet.format);
        assert_eq!(format("a/b.PNG"), Ok(Format::Png));
        assert_eq!([format("b.jpeg"), format("b.jpg")], [Ok(Format::Jpeg), Ok(Format::Jpeg)]);
        assert_eq!((format("b.webp"), format("b.gif")), (Ok(Format::WebP), Ok(Format::Gif)));
        assert!(format("b.tiff").unwrap_err().contains(".tiff") && format("png").unwrap_err().contains("no ending"));
        assert!(format("s3://bucket/x.png").is_err());
    }
}
