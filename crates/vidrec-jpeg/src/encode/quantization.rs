//! Quantizers, from libjpeg's scale of quality.

/// The quantizer of the highest frequency, relative to that of the lowest, less 1.
const LUMA_SLOPE: f64 = 4.0;
const CHROMA_SLOPE: f64 = 2.5;
/// Chroma's lowest quantizer, in units of luma's. Each chroma sample affects four pixels.
const CHROMA: f64 = 0.85;

/// The worth of a bit, in squared quantizers. At high rates, the slope of distortion over rate is 2 ln 2 / 12 =
/// 0.116.
const LAMBDA: f64 = 0.1;

/// Luma's quantizer of the lowest frequency, in 256ths, at some qualities. With these, the mean PSNR in RGB is
/// that of libjpeg at the same quality. Values in between are interpolated linearly.
const STEPS: [(u8, u32); 10] = [
    (1, 60_000),
    (10, 11_200),
    (25, 4460),
    (50, 2480),
    (75, 1450),
    (85, 970),
    (90, 714),
    (95, 413),
    (98, 229),
    (100, 50),
];

/// The quantizers of luma and chroma in zigzag order, and the worth of a bit.
pub(super) fn quantizers(quality: u8) -> ([[u8; 64]; 2], f32) {
    // At the best quality, no coefficient is given up.
    let worth = f64::from(100 - quality.min(100)) / 5.0;
    (of_step(step(quality) / 256.0), (LAMBDA * worth.min(1.0)) as f32)
}

fn of_step(step: f64) -> [[u8; 64]; 2] {
    [(1.0, LUMA_SLOPE), (CHROMA, CHROMA_SLOPE)].map(|(lowest, slope)| {
        super::order::ZIGZAG.map(|place| {
            let (row, column) = (f64::from(place / 8), f64::from(place % 8));
            let frequency = ((row * row + column * column) / 98.0).sqrt();
            (step * lowest * (1.0 + slope * frequency)).round().clamp(1.0, 255.0) as u8
        })
    })
}

fn step(quality: u8) -> f64 {
    let after = STEPS.iter().position(|&(anchor, _)| quality <= anchor).unwrap_or(STEPS.len() - 1).max(1);
    let [(low, from), (high, to)] = [STEPS[after - 1], STEPS[after]].map(|(q, step)| (f64::from(q), f64::from(step)));
    from + (to - from) * (f64::from(quality) - low) / (high - low)
}
