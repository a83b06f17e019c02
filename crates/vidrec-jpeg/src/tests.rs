//! Decodes JPEGs of a mapped file that changes between two reads of it.

use std::cell::Cell;
use std::fs::OpenOptions;
use std::io::{Seek, Write};
use std::path::Path;
use std::rc::Rc;

use super::private_copy::with_change;
use super::region_decoder::JpegDecoder;
use super::retile::Retiler;
use super::tile_decoder::TileDecoder;
use super::{Decoder, Encoder, Region, RegionDecoder, Scale};
use crate::Planes;
use crate::fuzzing::picture;

/// A JPEG with these sides, with or without tiles.
fn jpeg(width: u32, height: u32, tiled: bool) -> Vec<u8> {
    let (mut encoder, mut jpeg) = (Encoder::new(90).unwrap(), Vec::new());
    if !tiled {
        encoder = encoder.without_tiles();
    }
    encoder.encode(&picture(width, height, 255), &mut jpeg).unwrap();
    jpeg
}

/// Writes to the file itself, which no program should do.
fn overwrite(path: &Path, bytes: &[u8]) {
    let mut file = OpenOptions::new().write(true).open(path).unwrap();
    file.rewind().unwrap();
    file.write_all(bytes).unwrap();
}

/// Maps a file that is never shorter than before.
fn map(path: &Path) -> memmap2::Mmap {
    // SAFETY: the bytes may change, which is what the tests are about, and are never taken for anything but bytes.
    unsafe { memmap2::Mmap::map(&std::fs::File::open(path).unwrap()).unwrap() }
}

/// Runs every decoder. The results do not matter, only that each returns.
fn decode(jpeg: &[u8], choice: JpegDecoder) {
    let mut decoder = Decoder::new().unwrap();
    let _ = decoder.decode_picture(jpeg);
    let _ = decoder.decode_planes(jpeg, &mut Planes::new(1, 1).unwrap());
    if let Ok(header) = decoder.header(jpeg) {
        let _ = decoder.decode_rgb(jpeg, &mut vec![0; header.rgb_len()], header.width as usize * 3);
    }
    let _ = Retiler::new().unwrap().retile(jpeg);
    let mut decoder = RegionDecoder::with(choice, TileDecoder::new()).unwrap();
    if let Ok(format) = decoder.format(jpeg) {
        let _ = decoder.grid(jpeg);
        let (whole, part) = (Region::whole(format.size), Region { x: 9, y: 9, width: 20, height: 20 });
        for region in [whole, part] {
            let _ = decoder.rgb(jpeg, format.size, region, &mut Vec::new());
            for scale in [Scale::Full, Scale::Quarter] {
                let _ = decoder.planes(jpeg, region, scale, &mut [const { Vec::new() }; 3]);
            }
        }
    }
}

/// Pairs of JPEGs of the same length: the contents of a file before and after the change.
fn pairs() -> Vec<[Vec<u8>; 2]> {
    let kinds = [(64, 48, true), (144, 160, true), (64, 48, false), (144, 160, false)].map(|(w, h, t)| jpeg(w, h, t));
    let length = kinds.iter().map(Vec::len).max().unwrap();
    let padded = kinds.map(|mut jpeg| {
        jpeg.resize(length, 0);
        jpeg
    });
    let pairs = padded.iter().flat_map(|from| padded.iter().map(|to| [from.clone(), to.clone()]));
    pairs.filter(|[from, to]| from != to).collect()
}

const CHOICES: [JpegDecoder; 3] = [JpegDecoder::Auto, JpegDecoder::Own, JpegDecoder::Turbo];

/// AddressSanitizer sees what is read or written out of bounds: see `scripts/sanitize.sh`.
#[test]
fn a_mapped_file_may_change_between_any_two_reads() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut places = 0;
    for ([before, after], choice) in pairs().into_iter().zip(CHOICES.into_iter().cycle()) {
        for n in 0.. {
            overwrite(file.path(), &before);
            let map = map(file.path());
            let (reads, seen) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(false)));
            let change = {
                let (path, after, seen) = (file.path().to_owned(), after.clone(), seen.clone());
                move || {
                    if reads.replace(reads.get() + 1) == n {
                        overwrite(&path, &after);
                        seen.set(true);
                    }
                }
            };
            with_change(change, || decode(&map, choice));
            if !seen.get() {
                break;
            }
            places += 1;
        }
    }
    assert!(places > 300, "{places}");
}
