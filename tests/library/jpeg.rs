//! JPEG against other people's decoders: Pillow's pixels bit for bit, and the `image` crate's within a small bound.

use image::ImageReader;
use vidrec::jpeg::{Decoder, Encoder, Subsampling};
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

fn picture(width: u32, height: u32) -> Planes {
    let mut picture = Planes::new(width, height).unwrap();
    let wave = |i: usize, row: u32, phase: f64| {
        let (x, y) = (i % row as usize, i / row as usize);
        (128.0 + 90.0 * (x as f64 / 11.0 + phase).sin() * (y as f64 / 8.0).cos()) as u8
    };
    let chroma_width = picture.chroma_width();
    picture.y.iter_mut().enumerate().for_each(|(i, v)| *v = wave(i, width, 0.0));
    picture.cb.iter_mut().enumerate().for_each(|(i, v)| *v = wave(i, chroma_width, 1.0));
    picture.cr.iter_mut().enumerate().for_each(|(i, v)| *v = wave(i, chroma_width, 2.0));
    picture
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
fn headers_name_the_subsampling() {
    let subsampling = |name| Decoder::new().unwrap().header(&file(name)).unwrap().subsampling;
    assert_eq!(subsampling("s420.jpg"), Subsampling::S420);
    assert_eq!(subsampling("s422.jpg"), Subsampling::S422);
    assert_eq!(subsampling("s444.jpg"), Subsampling::S444);
    assert_eq!(subsampling("gray.jpg"), Subsampling::Gray);
    assert_eq!(subsampling("progressive.jpg"), Subsampling::S420);
}

#[test]
fn what_we_encode_is_read_alike_by_an_independent_decoder() {
    for (width, height) in [(1, 1), (17, 9), (32, 16), (63, 65), (170, 128)] {
        let mut jpeg = Vec::new();
        Encoder::new(92).unwrap().encode(&picture(width, height), &mut jpeg).unwrap();
        let (their_width, their_height, theirs) = image_crate(&jpeg);
        assert_eq!((their_width, their_height), (width, height));
        let worst = decode(&jpeg).iter().zip(&theirs).map(|(&a, &b)| a.abs_diff(b)).max().unwrap();
        assert!(worst <= 4, "{width}x{height}: {worst}");
    }
}

#[test]
fn planes_come_only_from_420_files() {
    let mut planes = Planes::new(1, 1).unwrap();
    let mut decoder = Decoder::new().unwrap();
    decoder.decode_planes(&file("s420.jpg"), &mut planes).unwrap();
    assert_eq!((planes.width(), planes.height(), planes.cb.len()), (53, 37, 27 * 19));
    decoder.decode_planes(&file("progressive.jpg"), &mut planes).unwrap();
    for name in ["s422.jpg", "s444.jpg", "gray.jpg"] {
        assert_eq!(decoder.decode_planes(&file(name), &mut planes).unwrap_err().kind(), ErrorKind::Decode, "{name}");
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
fn any_changed_byte_is_an_error_or_a_picture_and_never_a_crash() {
    let jpeg = file("s420.jpg");
    let mut decoder = Decoder::new().unwrap();
    let mut planes = Planes::new(1, 1).unwrap();
    let mut rgb = vec![0; 1 << 16];
    for i in 0..jpeg.len() {
        for value in [0, 0xFF, jpeg[i] ^ 0x10] {
            let mut bad = jpeg.clone();
            bad[i] = value;
            let small = decoder.header(&bad).is_ok_and(|h| h.rgb_len() <= rgb.len());
            if small {
                let _ = decoder.decode_rgb(&bad, &mut rgb, 53 * 3);
                let _ = decoder.decode_planes(&bad, &mut planes);
            }
        }
    }
    assert!(decode(&jpeg).len() == 53 * 37 * 3, "and the handle is still good");
}

#[test]
fn a_file_of_tables_alone_has_no_size() {
    let jpeg = file("s420.jpg");
    let mut decoder = Decoder::new().unwrap();
    decoder.header(&jpeg).unwrap();
    // The quantization tables follow JFIF's segment of 18 bytes; each is 2 + 67 bytes.
    assert_eq!(jpeg[20..22], [0xFF, 0xDB]);
    let tables = [&jpeg[..2], &jpeg[20..20 + 69], &[0xFF, 0xD9]].concat();
    assert_eq!(decoder.header(&tables).unwrap_err().kind(), ErrorKind::Decode);
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

/// The tiles cost bytes, and nothing else: the same planes give the same pixels as libjpeg-turbo's own file of them.
#[test]
fn restart_markers_change_no_pixel() {
    for (width, height, quality) in [(340, 256, 90), (342, 256, 75), (34, 18, 90), (48, 16, 30)] {
        let planes = picture(width, height);
        let mut tiled = Vec::new();
        Encoder::new(quality).unwrap().encode(&planes, &mut tiled).unwrap();

        let mut compressor = turbojpeg::Compressor::new().unwrap();
        compressor.set_quality(quality.into()).unwrap();
        let (width, height) = (width as usize, height as usize);
        let plain = turbojpeg::YuvPlanesImage {
            y_plane: &planes.y[..],
            u_plane: &planes.cb[..],
            v_plane: &planes.cr[..],
            width,
            y_stride: width,
            u_stride: width.div_ceil(2),
            v_stride: width.div_ceil(2),
            height,
            subsamp: turbojpeg::Subsamp::Sub2x2,
        };
        let plain = compressor.compress_yuv_planes_to_owned(&plain).unwrap();
        assert!(tiled.len() > plain.len());
        assert!(decode(&tiled) == decode(&plain), "{width}x{height}");
    }
}
