//! The rules by which the measures of a clip are findings.
//!
//! The limits are on luma from 0 to 255, averaged over 8 x 8 pixels of the stored frame.

use super::finding::{Finding, FindingKind};
use super::measures::{Extremes, Measures, Step};

/// A frame is black if 98 of 100 pixels are at most this bright. The limit follows FFmpeg's filter `blackdetect`,
/// whose defaults are a ratio of 0.98 and a threshold of a tenth of the range.
const BLACK: u8 = 25;

/// A frame has one color if all its pixels lie in a range of at most this size, not counting the hundredth at each
/// end. JPEG's own noise in a flat picture is below 2.
const UNIFORM: u8 = 8;

/// A frame is very dark if 99 of 100 pixels are at most this bright, which is 4 % of the light of white (sRGB's
/// curve). Night scenes have lamps or faces that are brighter. Bright objects before a black background cover more
/// than a hundredth.
const DARK: u8 = 56;

/// The share of white pixels in a blown-out frame.
const BLOWN_OUT: f64 = 0.5;

/// A clip is frozen if no pixel changes by more than this. Two kinds of change stay below: sensor noise averaged
/// over 64 pixels, and a codec's refresh of a still picture. A hand that moves anywhere, or the second hand of a
/// clock, changes more.
const FROZEN: u8 = 2;

/// Repeated frames are reported if this many steps in a row repeat the frame before. A cartoon on threes has
/// fewer, and so does a film at 25 frames/s in a video at 60. The frames must be equal, because even a still scene
/// changes a little.
const REPEATED_STEPS: usize = 3;

/// In addition, repeated frames must be this share of all steps.
const REPEATED_SHARE: f64 = 0.25;

/// The smallest mean change of a pixel across a cut. It is close to the default of PySceneDetect's
/// `detect-content`, 27. A camera that adapts to the light, or moves through a door, stays below.
const CUT: f32 = 25.0;

/// The smallest change in the distribution of brightness across a cut.
const CUT_SPREAD: f32 = 0.25;

/// A cut changes the picture at least this many times as much as the steps on both sides of it, and as the clip's
/// median step. If a camera moves fast, or frames lie seconds apart, all steps are large. A higher ratio would
/// miss all cuts of clips with several cuts.
const CUT_RATIO: f32 = 2.0;

/// The fewest steps that allow distinguishing a cut from movement.
const CUT_STEPS: usize = 3;

/// Returns the findings about a clip.
pub(super) fn findings(measures: &Measures) -> Vec<Finding> {
    let Some(extremes) = measures.extremes else { return Vec::new() };
    let light = of_light(&extremes, measures.frames.len());
    let is_plain = light.as_ref().is_some_and(|f| matches!(f.kind, FindingKind::Black | FindingKind::Uniform));
    let mut found: Vec<Finding> = light.into_iter().collect();
    if !is_plain {
        let frozen = frozen(measures);
        let repeated = if frozen.is_none() { repeated(measures) } else { None };
        found.extend(frozen.or(repeated));
        found.extend(cuts(measures));
    }
    found
}

fn of_light(all: &Extremes, frames: usize) -> Option<Finding> {
    let median = all.medians / frames.max(1) as f64;
    let each = if frames == 1 { "the frame" } else { "each frame" };
    if all.p98 <= BLACK {
        let text = format!("black: 98 % of {each} has a luma of at most {}", all.p98);
        return Some(Finding::new(FindingKind::Black, Some(f64::from(all.p98)), text));
    }
    if all.range <= UNIFORM {
        let text =
            format!("uniform brightness: the luma of {each} is {median:.0}, give or take {}", all.range.div_ceil(2));
        return Some(Finding::new(FindingKind::Uniform, Some(f64::from(all.range)), text));
    }
    if all.p99 <= DARK {
        let text = format!("very dark: 99 % of {each} has a luma of at most {}", all.p99);
        return Some(Finding::new(FindingKind::Dark, Some(f64::from(all.p99)), text));
    }
    if all.white >= BLOWN_OUT {
        let text = format!("blown out: at least {:.0} % of {each} is white", all.white * 100.0);
        return Some(Finding::new(FindingKind::BlownOut, Some(all.white), text));
    }
    None
}

fn frozen(measures: &Measures) -> Option<Finding> {
    let largest = measures.steps.iter().map(|step| step.largest).max()?.max(measures.largest_from_first);
    let text = || {
        format!("frozen: all {} frames look the same; no pixel changes by more than {largest}", measures.frames.len())
    };
    (largest <= FROZEN).then(|| Finding::new(FindingKind::Frozen, Some(f64::from(largest)), text()))
}

/// Returns the longest stretch of repeated frames, if it is long enough to report.
fn repeated(measures: &Measures) -> Option<Finding> {
    let (mut best, mut start) = (0..0, 0);
    for (i, step) in measures.steps.iter().enumerate() {
        if step.largest > 0 {
            start = i + 1;
        } else if i + 1 - start > best.len() {
            best = start..i + 1;
        }
    }
    if best.len() < REPEATED_STEPS || (best.len() as f64) < REPEATED_SHARE * measures.steps.len() as f64 {
        return None;
    }
    let frames = measures.frames[best.start + 1..=best.end].to_vec();
    let (from, to) = (measures.frames[best.start], measures.frames[best.end]);
    let count = frames.len() as f64;
    let text = format!("frames {from} to {to} of {} look the same", measures.frames.len());
    Some(Finding { frames, ..Finding::new(FindingKind::RepeatedFrames, Some(count), text) })
}

fn cuts(measures: &Measures) -> Option<Finding> {
    let steps = &measures.steps;
    if steps.len() < CUT_STEPS {
        return None;
    }
    let mut sorted: Vec<f32> = steps.iter().map(|step| step.mean).collect();
    sorted.sort_unstable_by(f32::total_cmp);
    let median = sorted[(sorted.len() - 1) / 2];
    let is_cut = |i: &usize| across(steps, *i) >= CUT_RATIO * median && is_cut(steps, *i);
    let at: Vec<usize> = (0..steps.len()).filter(is_cut).collect();
    let largest = at.iter().map(|&i| across(steps, i)).reduce(f32::max)?;
    let frames: Vec<u32> = at.iter().map(|&i| measures.frames[i + 1]).collect();
    let text = match frames.len() {
        1 => format!("the scene changes at frame {}: pixels differ by {largest:.0} on average", frames[0]),
        n => format!(
            "{n} scene changes among {} frames, the first at frame {}: pixels differ by up to {largest:.0} on average",
            measures.frames.len(),
            frames[0]
        ),
    };
    Some(Finding { frames, ..Finding::new(FindingKind::SceneCut, Some(f64::from(largest)), text) })
}

/// Returns the smallest change across step `i`: between the frames beside it, and between each of them and the
/// frame two steps away. A single odd frame, such as a flash, is therefore not a cut.
fn across(steps: &[Step], i: usize) -> f32 {
    let next = steps.get(i + 1).map_or(f32::MAX, |step| step.mean_of_two);
    let before = if i == 0 { f32::MAX } else { steps[i].mean_of_two };
    steps[i].mean.min(next).min(before)
}

fn is_cut(steps: &[Step], i: usize) -> bool {
    let beside = |step: Option<&Step>| step.map_or(0.0, |step| step.mean);
    let beside = beside(i.checked_sub(1).map(|i| &steps[i])).max(beside(steps.get(i + 1)));
    let across = across(steps, i);
    across >= CUT && steps[i].spread >= CUT_SPREAD && across >= CUT_RATIO * beside
}
