//! Pictures as files.

use std::io::{self, Write};

use gif::{Encoder, Frame, Repeat};

use super::pixels::Picture;

/// Writes a picture as PNG.
pub fn png(out: impl Write, picture: &Picture) -> io::Result<()> {
    let mut encoder = png::Encoder::new(out, picture.width, picture.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(picture.pixels.as_flattened())?;
    Ok(writer.finish()?)
}

/// Writes a picture as JPEG.
pub fn jpeg(mut out: impl Write, picture: &Picture) -> io::Result<()> {
    const QUALITY: i32 = 92;
    let (width, height) = (picture.width as usize, picture.height as usize);
    let format = turbojpeg::PixelFormat::RGB;
    let image = turbojpeg::Image { pixels: picture.pixels.as_flattened(), width, pitch: 3 * width, height, format };
    let jpeg = turbojpeg::compress(image, QUALITY, turbojpeg::Subsamp::None).map_err(io::Error::other)?;
    out.write_all(&jpeg)
}

/// A GIF that repeats for ever.
pub struct Animation<W: Write> {
    encoder: Encoder<W>,
    size: (u16, u16),
    hundredths: u16,
}

impl<W: Write> Animation<W> {
    /// Begins a GIF of pictures that are each shown for some hundredths of a second.
    pub fn new(out: W, (width, height): (u32, u32), hundredths: u16) -> io::Result<Self> {
        let too_large =
            |_| io::Error::other(format!("a GIF has at most {0}x{0} pixels, not {width}x{height}", u16::MAX));
        let size = (u16::try_from(width).map_err(too_large)?, u16::try_from(height).map_err(too_large)?);
        let mut encoder = Encoder::new(out, size.0, size.1, &[]).map_err(io::Error::other)?;
        encoder.set_repeat(Repeat::Infinite).map_err(io::Error::other)?;
        Ok(Animation { encoder, size, hundredths })
    }

    /// Adds a picture of the size of the animation, with a palette of its own.
    pub fn add(&mut self, picture: &Picture) -> io::Result<()> {
        // 10 is as exact as the encoder's own default is fast.
        const SPEED: i32 = 10;
        let frame = Frame::from_rgb_speed(self.size.0, self.size.1, picture.pixels.as_flattened(), SPEED);
        self.encoder.write_frame(&Frame { delay: self.hundredths, ..frame }).map_err(io::Error::other)
    }
}
