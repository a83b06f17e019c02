//! Whether the cache has everything that a picture needs of a frame.

use crate::dataset::Clip;
use crate::loader::decoded::{Cache, Found, FrameKey};
use crate::loader::kernel::{Kernel, Wanted};
use vidrec_format::error::Result;
use vidrec_format::frame_entry::FrameEntry;
use vidrec_jpeg::{Parts, Pixels, Scale, TileGrid};

/// The result of looking up a frame in the cache.
pub(super) enum Look {
    /// The cache has all of these parts, at this scale.
    All(TileGrid, Parts, Scale),
    /// The frame has another size than the tables are for.
    OfSize((u32, u32)),
    /// At least a part must be decoded.
    NotAll,
}

/// Looks up the parts of a frame that the tables for its picture need.
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

/// The key of a frame in the cache.
pub(super) fn frame_key(clip: &Clip<'_>, t: u32) -> Result<FrameKey> {
    let (number, entry) = clip.numbered_entry(t)?;
    let FrameEntry { record_offset, jpeg_length, jpeg_crc32, .. } = entry;
    Ok(FrameKey { number, record_offset, jpeg_length, jpeg_crc32 })
}
