//! Finds the rate of all frames. LeRobot requires one, because it finds a frame by its number divided by the rate.

use vidrec_core::dataset::{Clip, Dataset};
use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::sampler::Rate;

/// Returns the rate of all clips.
pub(super) fn of(dataset: &Dataset) -> Result<Rate> {
    let mut known = None;
    for clip in dataset.clips() {
        let clip = clip?;
        if clip.frame_count() < 2 {
            continue;
        }
        let rate = match known {
            Some(rate) => rate,
            None => *known.insert(guess(&clip)?),
        };
        check(&clip, rate)?;
    }
    known.ok_or_else(|| Error::usage("no clip has two frames, so the frame rate is unknown").hint(Hint::Set("fps")))
}

/// Returns the rate of a clip whose frames are evenly spaced, apart from the rounding of their times.
fn guess(clip: &Clip<'_>) -> Result<Rate> {
    let pts = pts(clip)?;
    let (num, den) = clip.time_base();
    let (first, last, steps) = (pts[0], pts[pts.len() - 1], pts.len() as i128 - 1);
    let ticks = i128::from(last) - i128::from(first);
    let bad =
        || uneven(clip, "frames at a constant rate", format!("{} frames in {ticks} units of {num}/{den} s", pts.len()));
    if ticks <= 0 {
        return Err(bad());
    }
    // The rate is exact if it is a usual fraction.
    let (top, bottom) = (steps * i128::from(den), ticks * i128::from(num));
    let divisor = gcd(top, bottom);
    let side = |n: i128| u32::try_from(n / divisor).ok();
    let exact = side(top).zip(side(bottom)).and_then(|(top, bottom)| Rate::new(top, bottom).ok());
    if let Some(rate) = exact.filter(|rate| rate.frame_seconds().0 <= 1001) {
        return Ok(rate);
    }
    let near = top as f64 / bottom as f64;
    let usual = [(near.round(), 1.0), ((near * 1.001).round() * 1000.0, 1001.0)];
    let usual = usual.into_iter().min_by(|a, b| (a.0 / a.1 - near).abs().total_cmp(&(b.0 / b.1 - near).abs()));
    usual.and_then(|(num, den)| Rate::new(num as u32, den as u32).ok()).ok_or_else(bad)
}

/// Refuses a clip with a frame whose time differs from the rate's time by more than rounding explains.
fn check(clip: &Clip<'_>, rate: Rate) -> Result<()> {
    let (num, den) = clip.time_base();
    let (seconds, per) = rate.frame_seconds();
    let (tick, frame) = (f64::from(num) / f64::from(den), f64::from(seconds) / f64::from(per));
    let most = tick.min(0.1 * frame) + 1e-6;
    let pts = pts(clip)?;
    for (t, &at) in (0u32..).zip(&pts) {
        let time = (i128::from(at) - i128::from(pts[0])) as f64 * tick;
        let expected = f64::from(t) * frame;
        if (time - expected).abs() > most {
            let at = |time: f64| format!("frame {t} {time:.4} s after the first");
            return Err(uneven(clip, &format!("{}, at {rate} frames per second", at(expected)), at(time)));
        }
    }
    Ok(())
}

fn uneven(clip: &Clip<'_>, expected: &str, found: String) -> Error {
    let e = Error::usage("the frames are not evenly spaced, which LeRobot requires").in_clip(clip.ordinal());
    let e = e.expected(expected).found(found).hint(Hint::Set("fps"));
    e.also_help("pack with every frame, or at a rate that divides that of the videos")
}

fn pts(clip: &Clip<'_>) -> Result<Vec<i64>> {
    Ok(clip.frame_entries()?.iter().map(|entry| entry.pts).collect())
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a.max(1) } else { gcd(b, a % b) }
}
