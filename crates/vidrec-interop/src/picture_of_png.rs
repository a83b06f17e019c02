//! The pixels of a PNG.

use std::io::Cursor;

use png::{ColorType, Decoder, DecodingError, Limits, Transformations};

use vidrec_format::error::{Error, Result};
use vidrec_format::limits;
use vidrec_jpeg::RgbPicture;

/// The most memory for the pixels of a picture.
const MOST_BYTES: usize = 1 << 29;

/// Decodes a PNG of any kind. Gray becomes color, 16 bits become 8, and transparency is dropped.
pub(super) fn rgb_of_png(png: &[u8]) -> Result<RgbPicture> {
    let failed = |e: DecodingError| Error::decode(format!("the PNG cannot be decoded: {e}"));
    let mut decoder = Decoder::new_with_limits(Cursor::new(png), Limits { bytes: MOST_BYTES });
    // A palette becomes color, and fewer bits than 8 become 8.
    decoder.set_transformations(Transformations::EXPAND);
    let mut reader = decoder.read_info().map_err(failed)?;
    let (width, height) = reader.info().size();
    let length = reader.output_buffer_size().filter(|&length| length <= MOST_BYTES);
    let length = length.filter(|_| width.max(height) <= limits::MAX_SIDE).ok_or_else(|| {
        let most = format!("sides of at most {} pixels, and {MOST_BYTES} bytes", limits::MAX_SIDE);
        Error::limit("the PNG is too large").expected(most).found(format!("{width}x{height}"))
    })?;
    let mut data = vec![0; length];
    let found = reader.next_frame(&mut data).map_err(failed)?;
    if found.bit_depth == png::BitDepth::Sixteen {
        let rounded = |two: &[u8; 2]| ((u32::from(u16::from_be_bytes(*two)) + 128) / 257) as u8;
        data = data.as_chunks().0.iter().map(rounded).collect();
    }
    let pixels = match found.color_type {
        ColorType::Grayscale => data.iter().flat_map(|&gray| [gray; 3]).collect(),
        ColorType::GrayscaleAlpha => data.as_chunks().0.iter().flat_map(|&[gray, _]| [gray; 3]).collect(),
        ColorType::Rgba => data.as_chunks().0.iter().flat_map(|&[r, g, b, _]| [r, g, b]).collect(),
        ColorType::Rgb | ColorType::Indexed => data,
    };
    Ok(RgbPicture { width, height, pixels })
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::{DynamicImage, ExtendedColorType, ImageEncoder};
    use png::{BitDepth, Encoder};

    fn noise(length: usize) -> Vec<u8> {
        (0..length as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
    }

    /// A PNG by the crate `image`, and its pixels as that crate has them.
    fn made(kind: ExtendedColorType) -> (Vec<u8>, Vec<u8>) {
        let mut png = Vec::new();
        let data = noise(17 * 9 * usize::from(kind.bits_per_pixel()) / 8);
        image::codecs::png::PngEncoder::new(&mut png).write_image(&data, 17, 9, kind).unwrap();
        let pixels = image::load_from_memory(&png).as_ref().map(DynamicImage::to_rgb8).unwrap().into_raw();
        (png, pixels)
    }

    #[test]
    fn each_kind_has_the_pixels_that_another_reader_finds() {
        use ExtendedColorType::{L8, L16, La8, La16, Rgb8, Rgb16, Rgba8, Rgba16};
        for kind in [L8, L16, La8, La16, Rgb8, Rgb16, Rgba8, Rgba16] {
            let (png, pixels) = made(kind);
            assert_eq!(rgb_of_png(&png).unwrap(), RgbPicture { width: 17, height: 9, pixels }, "{kind:?}");
        }
    }

    #[test]
    fn a_palette_becomes_color() {
        let mut png = Vec::new();
        let mut encoder = Encoder::new(&mut png, 4, 1);
        encoder.set_color(ColorType::Indexed);
        encoder.set_depth(BitDepth::Two);
        encoder.set_palette(vec![1, 2, 3, 4, 5, 6, 7, 8, 9]);
        encoder.write_header().unwrap().write_image_data(&[0b10_00_01_10]).unwrap();
        assert_eq!(rgb_of_png(&png).unwrap().pixels, [7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    }

    #[test]
    fn damage_and_sizes_beyond_the_limits_are_errors() {
        let (png, _) = made(ExtendedColorType::Rgb8);
        for cut in 0..png.len() - 12 {
            assert!(rgb_of_png(&png[..cut]).is_err(), "{cut}");
        }
        let mut wide = Vec::new();
        let mut writer = Encoder::new(&mut wide, limits::MAX_SIDE + 1, 1).write_header().unwrap();
        writer.write_image_data(&vec![0; limits::MAX_SIDE as usize + 1]).unwrap();
        drop(writer);
        assert!(rgb_of_png(&wide).unwrap_err().to_string().contains("too large"));
    }
}
