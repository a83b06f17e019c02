//! Pictures from standard input to JPEGs on standard output, by mozjpeg: trellis quantization and tables of its own, one scan, no
//! restart markers.
//!
//! A picture is width, height, quality and the lengths of three planes of 4:2:0, 32 bits each, and these planes, with
//! whole blocks in a row. A JPEG comes with its length before it. All numbers are little-endian.

use std::io::{self, Read, Write};

fn number(from: &mut impl Read) -> io::Result<usize> {
    let mut bytes = [0; 4];
    from.read_exact(&mut bytes)?;
    Ok(u32::from_le_bytes(bytes) as usize)
}

fn encode(size: (usize, usize), quality: usize, planes: &[Vec<u8>; 3]) -> io::Result<Vec<u8>> {
    let mut to = mozjpeg::Compress::new(mozjpeg::ColorSpace::JCS_YCbCr);
    to.set_size(size.0, size.1);
    to.set_color_space(mozjpeg::ColorSpace::JCS_YCbCr);
    to.set_chroma_sampling_pixel_sizes((2, 2), (2, 2));
    to.set_quality(quality as f32);
    to.set_raw_data_in(true);
    to.set_optimize_scans(false);
    let mut started = to.start_compress(Vec::new())?;
    if !started.write_raw_data(&planes.each_ref().map(Vec::as_slice)) {
        return Err(io::Error::other("mozjpeg takes no planes"));
    }
    let jpeg = started.finish()?;
    let baseline = jpeg.windows(2).any(|pair| pair == [0xFF, 0xC0]);
    if baseline { Ok(jpeg) } else { Err(io::Error::other("mozjpeg's JPEG is not baseline")) }
}

fn main() -> io::Result<()> {
    let (mut from, mut to) = (io::stdin().lock(), io::stdout().lock());
    while let Ok(width) = number(&mut from) {
        let (height, quality) = (number(&mut from)?, number(&mut from)?);
        let mut planes = [const { Vec::new() }; 3];
        for plane in &mut planes {
            plane.resize(number(&mut from)?, 0);
        }
        for plane in &mut planes {
            from.read_exact(plane)?;
        }
        let jpeg = encode((width, height), quality, &planes)?;
        to.write_all(&(jpeg.len() as u32).to_le_bytes())?;
        to.write_all(&jpeg)?;
        to.flush()?;
    }
    Ok(())
}
