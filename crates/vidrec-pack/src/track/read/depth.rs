//! Pictures of one number to a pixel, such as depth, in PNG files.

use std::io::Cursor;

use image::{DynamicImage, ImageFormat, ImageReader};

use vidrec_format::error::{Error, Result};

/// A picture: its numbers in row-major order, its height and its width.
pub(crate) type Depth = (Vec<u16>, [usize; 2]);

/// Reads the numbers of a gray PNG file as they are. Those of 8 bits stay below 256.
///
/// # Errors
///
/// It is not a PNG file, it is damaged or too large, or it is not gray.
pub(crate) fn read(png: &[u8]) -> Result<Depth> {
    // With the crate's limits of size and memory.
    let decoded = ImageReader::with_format(Cursor::new(png), ImageFormat::Png).decode();
    let decoded = decoded.map_err(|e| Error::usage(format!("vidrec cannot read this PNG file: {e}")))?;
    let shape = [decoded.height() as usize, decoded.width() as usize];
    let numbers = match decoded {
        DynamicImage::ImageLuma16(gray) => gray.into_raw(),
        DynamicImage::ImageLuma8(gray) => gray.into_raw().into_iter().map(u16::from).collect(),
        other => {
            let e = Error::usage("the picture does not have one number to a pixel").expected("a gray PNG file");
            return Err(e.found(format!("{:?}", other.color())));
        }
    };
    Ok((numbers, shape))
}

#[cfg(test)]
mod tests {
    use image::{ImageBuffer, Luma, Rgb};

    use super::*;

    fn png(image: DynamicImage) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        image.write_to(&mut bytes, ImageFormat::Png).unwrap();
        bytes.into_inner()
    }

    #[test]
    fn numbers_come_as_they_are() {
        let deep = ImageBuffer::<Luma<u16>, _>::from_raw(3, 2, vec![0, 1, 256, 65_535, 7, 300]).unwrap();
        assert_eq!(read(&png(deep.clone().into())).unwrap(), (deep.into_raw(), [2, 3]));
        let shallow = ImageBuffer::<Luma<u8>, _>::from_raw(1, 2, vec![0, 255]).unwrap();
        assert_eq!(read(&png(shallow.into())).unwrap(), (vec![0, 255], [2, 1]));
        let color = ImageBuffer::<Rgb<u8>, _>::from_raw(1, 1, vec![1, 2, 3]).unwrap();
        assert!(read(&png(color.into())).unwrap_err().to_string().contains("one number to a pixel"));
        assert!(read(b"GIF").unwrap_err().to_string().contains("PNG"));
    }
}
