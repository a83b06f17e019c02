//! Checking every image of a shard by decoding it.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::report::Problem;
use crate::dataset::Shard;
use crate::format::clip_entry::ClipEntry;
use crate::jpeg::{Decoder, RgbPicture};
use crate::progress::Counter;
use crate::{Error, Result};

/// The problems with the images of a shard. Decodes every frame, in parallel over clips.
pub(super) fn shard(shard: &Shard, counter: &mut Counter<'_, '_>) -> Result<Vec<Problem>> {
    let counter = Mutex::new(counter);
    let count = |frames: u32| counter.lock().unwrap_or_else(PoisonError::into_inner).frames(frames.into());
    if shard.records.is_remote() {
        return in_sequence(shard, &count);
    }
    let found: Vec<Vec<Problem>> = (0..shard.clip_count())
        .into_par_iter()
        .map_init(RgbPicture::default, |pixels, c| {
            // An entry that cannot be read is already reported.
            let Ok(clip) = shard.clip(c) else { return Ok(Vec::new()) };
            let found = (0..clip.frame_count).filter_map(|t| check_picture(shard, pixels, c, &clip, t)).collect();
            count(clip.frame_count).map(|()| found)
        })
        .collect::<Result<_>>()?;
    Ok(found.into_iter().flatten().collect())
}

/// As [`shard`], but in parallel over the frames of a clip, so that a remote file is read from its start to its end.
fn in_sequence(shard: &Shard, count: &(impl Fn(u32) -> Result<()> + Sync)) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    for c in 0..shard.clip_count() {
        let Ok(clip) = shard.clip(c) else { continue };
        let check = |pixels: &mut RgbPicture, t| check_picture(shard, pixels, c, &clip, t);
        let found: Vec<_> = (0..clip.frame_count).into_par_iter().map_init(RgbPicture::default, check).collect();
        problems.extend(found.into_iter().flatten());
        count(clip.frame_count)?;
    }
    Ok(problems)
}

fn check_picture(shard: &Shard, pixels: &mut RgbPicture, c: u64, clip: &ClipEntry, t: u32) -> Option<Problem> {
    // A record that cannot be read is already reported.
    let (entry, _, jpeg) = shard.frame(clip.first_frame + u64::from(t), clip.frames()).ok()?;
    let e = decode(&jpeg, pixels, (clip.width, clip.height)).err()?;
    Some(e.in_clip(c).in_frame(t).at(entry.record_offset).file(&shard.record_path).into())
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
