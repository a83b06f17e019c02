//! Clips of soft noise that moves: one frame alone does not tell the class.

use std::ops::Range;
use std::path::Path;

use vidrec::jpeg::Encoder;
use vidrec::{ClipInfo, FrameData, Meta, Planes, Result, Writer, WriterOptions};

const DIRECTIONS: [(&str, i64, i64); 4] = [("down", 0, 2), ("left", -2, 0), ("right", 2, 0), ("up", 0, -2)];
const SIDE: usize = 40;

/// Packs clip `i` of each number, of class `i % 4`.
pub fn pack(folder: &Path, clips: Range<u32>, frames: u32) -> Result<()> {
    let classes = DIRECTIONS.map(|(name, ..)| name.to_string()).to_vec();
    let meta = Meta { classes, ..Meta::default() };
    let mut writer = Writer::create(folder, WriterOptions { meta, ..WriterOptions::default() })?;
    let mut encoder = Encoder::new(90)?;
    for i in clips {
        let (label, texture) = (i % 4, texture(i));
        let (class, dx, dy) = DIRECTIONS[label as usize];
        let mut jpegs = vec![Vec::new(); frames as usize];
        for (t, jpeg) in (0..).zip(&mut jpegs) {
            encoder.encode(&moved(&texture, dx * t, dy * t)?, jpeg)?;
        }
        let side = SIDE as u32;
        let (source, class) = (format!("{class}/{i}"), class.to_string());
        let info = ClipInfo { label: Some(label), source, class, width: side, height: side, ..ClipInfo::default() };
        let frames: Vec<_> = (0..).zip(&jpegs).map(|(pts, jpeg)| FrameData { jpeg, pts, source_index: None }).collect();
        writer.append(&info, &frames)?;
    }
    writer.finish()?;
    Ok(())
}

/// A picture that has no edge: what leaves on one side comes back on the other.
fn moved(texture: &[f32], dx: i64, dy: i64) -> Result<Planes> {
    let mut picture = Planes::new(SIDE as u32, SIDE as u32)?;
    picture.cb.fill(128);
    picture.cr.fill(128);
    let wrapped = |place: usize, step: i64| (place as i64 - step).rem_euclid(SIDE as i64) as usize;
    for (i, luma) in picture.y.iter_mut().enumerate() {
        *luma = texture[wrapped(i / SIDE, dy) * SIDE + wrapped(i % SIDE, dx)] as u8;
    }
    Ok(picture)
}

/// Noise of its own for each seed, blurred with a box of 7 by 7.
fn texture(seed: u32) -> Vec<f32> {
    let white: Vec<f32> = (0..SIDE * SIDE).map(|i| noise(u64::from(seed) << 32 | i as u64)).collect();
    let near = |place: usize, by: usize| (place + by + SIDE - 3) % SIDE;
    let rows: Vec<f32> =
        (0..SIDE * SIDE).map(|i| (0..7).map(|by| white[i / SIDE * SIDE + near(i % SIDE, by)]).sum()).collect();
    let blurred = (0..SIDE * SIDE).map(|i| (0..7).map(|by| rows[near(i / SIDE, by) * SIDE + i % SIDE]).sum::<f32>());
    // The sum of 49 numbers between -1 and 1 has a standard deviation of 4.
    blurred.map(|sum| (128.0 + sum / 4.0 * 50.0).clamp(0.0, 255.0)).collect()
}

/// A number between -1 and 1, by SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
fn noise(i: u64) -> f32 {
    let mut z = i.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 40) as f32 / (1 << 23) as f32 - 1.0
}
