//! Encoded pictures to change, as the packer writes them.

use crate::Planes;
use crate::codec::Encoder;
use crate::codec::{Compressor, Yuv420};
use vidrec_format::random::Random;

/// Waves and noise. The picture has all frequencies, and `noise` levels of noise.
pub(crate) fn picture(width: u32, height: u32, noise: u32) -> Planes {
    let mut random = Random::new(1, &[u64::from(width), u64::from(height)]);
    let mut picture = Planes::new(width, height).unwrap();
    for (k, plane) in [&mut picture.y, &mut picture.cb, &mut picture.cr].into_iter().enumerate() {
        let wave = |i: usize| f64::from(255 - noise) * (0.5 + 0.5 * (i as f64 / (7.0 + k as f64)).sin());
        plane.iter_mut().enumerate().for_each(|(i, v)| *v = (wave(i) as u32 + random.next_u32() % noise) as u8);
    }
    picture
}

pub(crate) fn encoded(picture: &Planes, quality: u8) -> Vec<u8> {
    let mut jpeg = Vec::new();
    Encoder::new(quality).unwrap().encode(picture, &mut jpeg).unwrap();
    jpeg
}

/// Encodes such a picture with its own Huffman tables and `restart` MCUs in a tile. Sides must be even.
pub(crate) fn optimized(picture: &Planes, quality: u8, restart: u16) -> Vec<u8> {
    let (width, height) = (picture.width(), picture.height());
    let planes = Yuv420 { width, height, planes: [&picture.y[..], &picture.cb, &picture.cr] };
    let mut jpeg = vec![0; 1 << 16];
    let mut compressor = Compressor::new(quality).unwrap();
    compressor.optimize().unwrap();
    let length = compressor.compress(&planes, restart, &mut jpeg).unwrap();
    jpeg.truncate(length);
    jpeg
}

/// Pictures to change, of several sizes, qualities, tables and kinds of tiles.
pub fn originals() -> Vec<Vec<u8>> {
    let sizes = [(64, 48, 90, 30), (33, 17, 50, 30), (48, 32, 100, 30), (16, 16, 75, 255), (160, 32, 10, 60)];
    let mut originals: Vec<_> = sizes.map(|(w, h, q, noise)| encoded(&picture(w, h, noise), q)).into();
    originals.extend([(1, 90), (2, 30), (4, 95)].map(|(restart, q)| optimized(&picture(64, 32, 30), q, restart)));
    originals
}
