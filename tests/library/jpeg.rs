//! JPEG against other people's decoders: Pillow's pixels bit for bit, and the `image` crate's within a small bound.

use image::ImageReader;
use vidrec::jpeg::Decoder;
use vidrec::{ErrorKind, Planes};

fn file(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/data/jpeg/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Width, height and RGB pixels as the `image` crate reads them.
fn image_crate(bytes: &[u8]) -> (u32, u32, Vec<u8>) {
    let reader = ImageReader::new(std::io::Cursor::new(bytes)).with_guessed_format().unwrap();
    let rgb = reader.decode().unwrap().into_rgb8();
    (rgb.width(), rgb.height(), rgb.into_raw())
}

fn decode(jpeg: &[u8]) -> Vec<u8> {
    Decoder::new().unwrap().decode_picture(jpeg).unwrap().pixels
}

#[test]
fn pixels_are_pillows_for_every_kind_of_file() {
    for name in ["s420", "s422", "s444", "gray", "progressive"] {
        let (width, height, expected) = image_crate(&file(&format!("{name}.png")));
        let jpeg = file(&format!("{name}.jpg"));
        let header = Decoder::new().unwrap().header(&jpeg).unwrap();
        assert_eq!((header.width, header.height), (width, height), "{name}");
        assert!(decode(&jpeg) == expected, "{name}: pixels differ");
    }
}

#[test]
fn what_we_encode_is_read_alike_by_an_independent_decoder() {
    for (width, height) in [(1, 1), (17, 9), (32, 16), (63, 65), (170, 128)] {
        let jpeg = crate::common::jpeg((width, height), 1);
        let (their_width, their_height, theirs) = image_crate(&jpeg);
        assert_eq!((their_width, their_height), (width, height));
        let worst = decode(&jpeg).iter().zip(&theirs).map(|(&a, &b)| a.abs_diff(b)).max().unwrap();
        assert!(worst <= 4, "{width}x{height}: {worst}");
    }
}

#[test]
fn a_cut_file_is_an_error_at_every_length() {
    let jpeg = file("s420.jpg");
    let mut decoder = Decoder::new().unwrap();
    let mut rgb = vec![0; 53 * 37 * 3];
    for length in 0..jpeg.len() {
        assert!(decoder.decode_rgb(&jpeg[..length], &mut rgb, 53 * 3).is_err(), "{length} bytes");
    }
    decoder.decode_rgb(&jpeg, &mut rgb, 53 * 3).unwrap();
}

#[test]
fn a_picture_beyond_the_limits_is_refused_before_memory_is_taken() {
    let mut jpeg = file("s420.jpg");
    let sof = jpeg.windows(2).position(|w| w == [0xFF, 0xC0]).unwrap();
    jpeg[sof + 5..sof + 9].copy_from_slice(&[0xFF, 0x00, 0xFF, 0x00]);
    let mut decoder = Decoder::new().unwrap();
    assert_eq!(decoder.header(&jpeg).unwrap_err().kind(), ErrorKind::Limit);
    let mut planes = Planes::new(1, 1).unwrap();
    assert_eq!(decoder.decode_planes(&jpeg, &mut planes).unwrap_err().kind(), ErrorKind::Limit);
}
