//! The EXIF data of pictures: of JPEGs, and of PNG and WebP.

use std::io::{Read, Seek, SeekFrom};

use super::markers::{APP1, headers};

/// Most chunks of a picture that are looked at, and most bytes of EXIF data that are read.
const MAX_CHUNKS: u32 = 1 << 20;
const MAX_BYTES: u64 = 1 << 20;

/// The EXIF data (a TIFF file) in the header of a JPEG.
pub fn exif(jpeg: &[u8]) -> Option<&[u8]> {
    headers(jpeg).filter(|segment| segment.marker == APP1).find_map(|segment| segment.body.strip_prefix(b"Exif\0\0"))
}

/// Returns the EXIF data (a TIFF file) of a PNG or WebP picture that begins where `picture` stands. `None` if it is another
/// file, has no such data or cannot be read.
///
/// PNG specification, third edition, 5.3 and 11.3.4.5 (`eXIf`); WebP container specification, "Metadata" (`EXIF`).
pub fn png_or_webp_exif(picture: &mut (impl Read + Seek)) -> Option<Vec<u8>> {
    let mut start = [0; 12];
    picture.read_exact(&mut start).ok()?;
    let is_png = start.starts_with(b"\x89PNG\r\n\x1a\n");
    if is_png {
        picture.seek(SeekFrom::Current(-4)).ok()?;
    } else if !(start.starts_with(b"RIFF") && start.ends_with(b"WEBP")) {
        return None;
    }
    for _ in 0..MAX_CHUNKS {
        let mut head = [0; 8];
        picture.read_exact(&mut head).ok()?;
        let [a, b] = head.as_chunks::<4>().0 else { return None };
        // Behind a chunk stands a checksum, or a byte that makes its length even.
        let (name, length, behind) = match is_png {
            true => (b, u32::from_be_bytes(*a), 4),
            false => (a, u32::from_le_bytes(*b), i64::from(b[0] & 1)),
        };
        if matches!(name, b"eXIf" | b"EXIF") {
            let mut exif = Vec::new();
            picture.take(MAX_BYTES.min(length.into())).read_to_end(&mut exif).ok()?;
            // Some programs write the name that the segment of a JPEG begins with.
            return Some(exif.strip_prefix(b"Exif\0\0").map(<[u8]>::to_vec).unwrap_or(exif));
        }
        picture.seek(SeekFrom::Current(i64::from(length) + behind)).ok()?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Cursor;

    fn png(chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
        let chunk = |(name, body): &(&[u8; 4], &[u8])| {
            [&(body.len() as u32).to_be_bytes()[..], &name[..], body, b"crc!"].concat()
        };
        [b"\x89PNG\r\n\x1a\n".to_vec(), chunks.iter().flat_map(chunk).collect()].concat()
    }

    fn webp(chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
        let chunk = |(name, body): &(&[u8; 4], &[u8])| {
            [&name[..], &(body.len() as u32).to_le_bytes(), body, &vec![0; body.len() % 2]].concat()
        };
        [b"RIFF\xff\xff\xff\xffWEBP".to_vec(), chunks.iter().flat_map(chunk).collect()].concat()
    }

    #[test]
    fn exif_is_found_before_and_behind_the_picture() {
        let of = |bytes: Vec<u8>| png_or_webp_exif(&mut Cursor::new(bytes));
        let tiff = &b"II*\0..."[..];
        assert_eq!(of(png(&[(b"IHDR", b"1"), (b"eXIf", tiff), (b"IDAT", b"..")])).as_deref(), Some(tiff));
        assert_eq!(of(png(&[(b"IDAT", b"123"), (b"IDAT", b""), (b"eXIf", tiff)])).as_deref(), Some(tiff));
        assert_eq!(of(webp(&[(b"VP8X", b"1"), (b"VP8 ", b"123"), (b"EXIF", tiff)])).as_deref(), Some(tiff));
        let named = [b"Exif\0\0", tiff].concat();
        assert_eq!(of(webp(&[(b"EXIF", &named)])).as_deref(), Some(tiff));
        assert_eq!(of(png(&[(b"IDAT", b"eXIf")])), None);
        assert_eq!(of(b"\xff\xd8\xff\xe1 no PNG, no WebP".to_vec()), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            for whole in [png(&[(b"eXIf", b"a")]), webp(&[(b"EXIF", b"a")])] {
                for cut in 0..whole.len() {
                    png_or_webp_exif(&mut Cursor::new([&whole[..cut], &bytes].concat()));
                }
            }
        }
    }
}
