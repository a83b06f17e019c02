//! Whether all that a picture needs of a frame is kept decoded.

use crate::Result;
use crate::dataset::Clip;
use crate::decoded::{Cache, Found, FrameKey};
use crate::format::frame_entry::FrameEntry;
use crate::jpeg::{Parts, Pixels, Scale, TileGrid};
use crate::loader::kernel::{Kernel, Wanted};

/// What a look into the cache says about a frame.
pub(super) enum Look {
    /// All of these parts are there, at this scale.
    All(TileGrid, Parts, Scale),
    /// The frame has another size than the tables are for.
    OfSize((u32, u32)),
    /// Something has to be decoded.
    NotAll,
}

/// Looks up what tables for pictures of a frame need of it.
pub(super) fn look_up(cache: &Cache, frame: FrameKey, kernel: &Kernel, found: &mut Found) -> Look {
    let (Wanted::Planes(scale), region) = kernel.wants(Pixels::Ycc420) else { return Look::NotAll };
    cache.find(frame, scale, found);
    let Some(grid) = found.grid() else { return Look::NotAll };
    if grid.size != kernel.frame() {
        return Look::OfSize(grid.size);
    }
    let parts = grid.touched(region);
    if found.has_all(&parts) { Look::All(grid, parts, scale) } else { Look::NotAll }
}

/// By what the cache knows a frame.
pub(super) fn frame_key(clip: &Clip<'_>, t: u32) -> Result<FrameKey> {
    let (number, entry) = clip.numbered_entry(t)?;
    let FrameEntry { record_offset, jpeg_length, jpeg_crc32, .. } = entry;
    Ok(FrameKey { number, record_offset, jpeg_length, jpeg_crc32 })
}
