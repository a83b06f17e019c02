//! Checks every image of a shard by decoding it, while the record file is read from start to end.

use std::borrow::Cow;

use rayon::ThreadPool;
use rayon::prelude::*;
use vidrec_jpeg::{Decoder, RgbPicture};

use crate::dataset::Shard;
use crate::progress::Counter;
use vidrec_format::{Error, Result};

/// Bytes of images that are decoded together, in parallel. This is enough for all threads, and takes little memory if
/// the images are not in a map.
const TOGETHER: usize = 32 << 20;

/// The images of a shard. They are decoded some at a time.
pub(super) struct Pictures<'a> {
    shard: &'a Shard,
    pool: &'a ThreadPool,
    waiting: Vec<Picture<'a>>,
    bytes: usize,
    problems: Vec<Error>,
}

/// An image that was read.
pub(super) struct Picture<'a> {
    pub clip: u64,
    pub frame: u32,
    /// The offset of its record.
    pub at: u64,
    /// The size of the clip, or zeros.
    pub stated: (u16, u16),
    pub jpeg: Cow<'a, [u8]>,
}

impl<'a> Pictures<'a> {
    pub fn new(shard: &'a Shard, pool: &'a ThreadPool) -> Self {
        Pictures { shard, pool, waiting: Vec::new(), bytes: 0, problems: Vec::new() }
    }

    /// Adds an image. Decodes it with others, when there are enough.
    pub fn add(&mut self, picture: Picture<'a>, counter: &mut Counter<'_, '_>) -> Result<()> {
        self.bytes += picture.jpeg.len();
        self.waiting.push(picture);
        if self.bytes < TOGETHER { Ok(()) } else { self.decode(counter) }
    }

    /// The problems with all images.
    pub fn finish(&mut self, counter: &mut Counter<'_, '_>) -> Result<Vec<Error>> {
        self.decode(counter)?;
        Ok(std::mem::take(&mut self.problems))
    }

    fn decode(&mut self, counter: &mut Counter<'_, '_>) -> Result<()> {
        self.bytes = 0;
        let (shard, waiting) = (self.shard, std::mem::take(&mut self.waiting));
        let check = |pixels: &mut RgbPicture, picture: &Picture<'_>| picture.check(shard, pixels);
        // The chunks are small, so that the caller can stop in between.
        for some in waiting.chunks(FRAMES_BETWEEN_CALLS) {
            let found: Vec<_> = self.pool.install(|| some.par_iter().map_init(RgbPicture::default, check).collect());
            self.problems.extend(found.into_iter().flatten());
            counter.frames(some.len() as u64)?;
        }
        Ok(())
    }
}

/// Images that are decoded between two calls of the progress callback.
const FRAMES_BETWEEN_CALLS: usize = 1024;

impl Picture<'_> {
    fn check(&self, shard: &Shard, pixels: &mut RgbPicture) -> Option<Error> {
        let e = decode(&self.jpeg, pixels, self.stated).err()?;
        Some(e.in_clip(self.clip).in_frame(self.frame).at(self.at).file(&shard.record_path))
    }
}

fn decode(jpeg: &[u8], pixels: &mut RgbPicture, stated: (u16, u16)) -> Result<()> {
    let mut decoder = Decoder::new()?;
    let header = decoder.header(jpeg)?;
    let stated = (u32::from(stated.0), u32::from(stated.1));
    if stated != (0, 0) && stated != (header.width, header.height) {
        return Err(Error::format("clip-size", "the size of the image is not that of the clip")
            .expected(format!("{}x{}", stated.0, stated.1))
            .found(format!("{}x{}", header.width, header.height)));
    }
    decoder.decode_picture_into(jpeg, pixels)
}
