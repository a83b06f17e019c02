//! Tiles in planes: the location of their samples, and copies in both directions.

use crate::store::disk::shared_map::SharedMap;
use vidrec_jpeg::{Parts, Scale, TileGrid};

/// The planes of some parts of a frame, and their division into tiles.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    /// Samples in a row of luma. Chroma has half as many.
    pitch: usize,
    /// Columns and rows of chroma in a tile.
    sides: (usize, usize),
    /// The first column and row of the parts.
    first: (u32, u32),
}

impl Window {
    pub fn new(grid: &TileGrid, scale: Scale, parts: &Parts) -> Self {
        let pitch = grid.cut(parts).luma_pitch(scale);
        Window { pitch, sides: grid.chroma_sides(scale), first: (parts.columns.start, parts.rows.start) }
    }

    /// Copies the samples of the tile at this column and row from a map, starting at `at`, to the planes. Returns
    /// `None` if the map or the planes are too short.
    pub fn put(&self, map: &SharedMap, at: u64, column: u32, row: u32, planes: &mut [Vec<u8>; 3]) -> Option<()> {
        let (width, height) = self.sides;
        let mut at = at;
        for (plane, factor) in planes.iter_mut().zip([2, 1, 1]) {
            let (start, pitch) = self.place(column, row, factor)?;
            let (to, rows) = (plane.get_mut(start..)?, factor * height);
            // Copying rows of a known width takes a fraction of the time.
            let is_done = match factor * width {
                32 => map.copy_rows::<32>(at, rows, to, pitch),
                16 => map.copy_rows::<16>(at, rows, to, pitch),
                8 => map.copy_rows::<8>(at, rows, to, pitch),
                width => (0..rows).all(|y| {
                    let to = to.get_mut(y * pitch..).and_then(|to| to.get_mut(..width));
                    to.is_some_and(|to| map.copy(at + (y * width) as u64, to))
                }),
            };
            at = at.checked_add((factor * width * rows) as u64).filter(|_| is_done)?;
        }
        Some(())
    }

    /// Appends the samples of the tile at this column and row to `out`. Returns `None` if the planes are too
    /// short.
    pub fn take(&self, planes: &[Vec<u8>; 3], column: u32, row: u32, out: &mut Vec<u8>) -> Option<()> {
        let (width, height) = self.sides;
        for (plane, factor) in planes.iter().zip([2, 1, 1]) {
            let (start, pitch) = self.place(column, row, factor)?;
            let from = plane.get(start..)?;
            match factor * width {
                32 => take_rows::<32>(from, pitch, factor * height, out)?,
                16 => take_rows::<16>(from, pitch, factor * height, out)?,
                width => {
                    for y in 0..factor * height {
                        out.extend_from_slice(from.get(y * pitch..y * pitch + width)?);
                    }
                }
            }
        }
        Some(())
    }

    /// The first sample of the tile in luma (`factor` 2) or chroma (1), and the number of samples from one row to
    /// the next.
    fn place(&self, column: u32, row: u32, factor: usize) -> Option<(usize, usize)> {
        let (x, y) = (column.checked_sub(self.first.0)? as usize, row.checked_sub(self.first.1)? as usize);
        let (width, height) = self.sides;
        let pitch = self.pitch * factor / 2;
        Some((y * factor * height * pitch + x * factor * width, pitch))
    }
}

fn take_rows<const WIDTH: usize>(from: &[u8], pitch: usize, rows: usize, out: &mut Vec<u8>) -> Option<()> {
    for y in 0..rows {
        out.extend_from_slice(from.get(y * pitch..)?.first_chunk::<WIDTH>()?);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use vidrec_jpeg::{Cut, make_room};

    #[test]
    fn tiles_are_put_where_they_were_taken() {
        for (size, tile_width) in [((340, 250), 32), ((200, 90), 16), ((100, 60), 112), ((7, 5), 0), ((33, 18), 0)] {
            for scale in Scale::ALL {
                let grid = TileGrid { size, tile_width };
                let (across, down) = grid.parts();
                let all = Parts { columns: 0..across, rows: 0..down };
                let mut planes = [const { Vec::new() }; 3];
                make_room(&grid.cut(&all), scale, &mut planes).unwrap();
                let mut next = 0u32;
                planes.iter_mut().flatten().for_each(|v| (*v, next) = ((next % 251) as u8, next + 1));
                let some = Parts { columns: across / 3..across, rows: down / 2..down };
                let cut: Cut = grid.cut(&some);
                let mut part = [const { Vec::new() }; 3];
                make_room(&cut, scale, &mut part).unwrap();
                let (from, to) = (Window::new(&grid, scale, &all), Window::new(&grid, scale, &some));
                for (row, column) in some.rows.clone().flat_map(|row| some.columns.clone().map(move |c| (row, c))) {
                    let mut tile = Vec::new();
                    from.take(&planes, column, row, &mut tile).unwrap();
                    assert_eq!(tile.len(), super::super::segment::tile_bytes(&grid, scale));
                    let mut file = tempfile::tempfile().unwrap();
                    std::io::Write::write_all(&mut file, &[&[9; 5], &tile[..]].concat()).unwrap();
                    let map = SharedMap::of(&file, Path::new("")).unwrap();
                    to.put(&map, 5, column, row, &mut part).unwrap();
                    let mut again = Vec::new();
                    to.take(&part, column, row, &mut again).unwrap();
                    assert!(again == tile && to.put(&map, 6, column, row, &mut part.clone()).is_none());
                }
                // The rows must be as a decoder would have written them.
                for (k, half) in [(0, 1), (1, 2), (2, 2)] {
                    let (pitch, whole) = (cut.luma_pitch(scale) / half, grid.cut(&all).luma_pitch(scale) / half);
                    let step = scale.step() as usize * half;
                    let (x, y) = (cut.region.x as usize / step, cut.region.y as usize / step);
                    for (row, samples) in part[k].chunks_exact(pitch).enumerate() {
                        assert_eq!(samples, &planes[k][(y + row) * whole + x..][..pitch], "{size:?} {scale:?} {k}");
                    }
                }
            }
        }
    }
}
