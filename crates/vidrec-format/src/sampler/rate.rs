//! A number of frames that depends on the video: by the second, every K-th, all, or the key frames.

use std::fmt;
use std::str::FromStr;

use super::rules::uniform;
use crate::error::{Error, Result};
use crate::limits;

/// The choice of frames if their number is not fixed.
///
/// As a word (`FromStr`, `Display`): `fps:RATE`, `every:K`, `all` or `keyframes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RateRule {
    /// Frames per second of presentation time, on an even grid. For k = 0, 1, 2, … up to the end of the last
    /// frame, it takes the frame that is on the screen k / rate seconds after the grid begins. A frame that is shown
    /// longer comes more than once, so clips keep their speed, even at variable frame rates.
    Fps(Rate),
    /// Frames 0, K, 2K, … in order of presentation; K is at least 1.
    Every(u32),
    /// Every frame.
    All,
    /// The frames that the file marks as key frames.
    KeyFrames,
}

/// Frames per second as a fraction, each side 1 to 1 000 000. `FromStr` reads `8`, `29.97` (up to 3 decimals) and
/// `30000/1001`. As JSON (serde), it is a number if it is whole, and such a text if not. Both are
/// read, and so are numbers with decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rate {
    num: u32,
    den: u32,
}

const RATE_SIDES: std::ops::RangeInclusive<u32> = 1..=1_000_000;

impl Rate {
    /// Creates a rate of `num / den` frames a second.
    ///
    /// # Errors
    ///
    /// A side is 0 or above 1 000 000.
    pub fn new(num: u32, den: u32) -> Result<Self> {
        if !RATE_SIDES.contains(&num) || !RATE_SIDES.contains(&den) {
            return Err(Error::usage("the frame rate is out of range")
                .expected("a numerator and a denominator of 1 to 1000000")
                .found(format!("{num}/{den}")));
        }
        Ok(Rate { num, den })
    }

    /// The numerator and denominator of a frame's duration in seconds. In this time base, frames are 1 unit apart.
    #[doc(hidden)]
    pub fn frame_seconds(self) -> (u32, u32) {
        (self.den, self.num)
    }
}

impl FromStr for Rate {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let unknown =
            || Error::usage(format!("{text:?} is not a frame rate")).help("write it as 8, 29.97 or 30000/1001");
        let whole = |t: &str| t.bytes().all(|b| b.is_ascii_digit()).then(|| t.parse::<u32>().ok()).flatten();
        if let Some((num, den)) = text.split_once('/') {
            return Rate::new(whole(num).ok_or_else(unknown)?, whole(den).ok_or_else(unknown)?);
        }
        let (units, decimals) = text.split_once('.').unwrap_or((text, ""));
        let den = 10u32.pow(decimals.len().min(4) as u32);
        let num = whole(&format!("{units}{decimals}")).filter(|_| den <= 1000).ok_or_else(unknown)?;
        Rate::new(num, den)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.den == 1 { write!(f, "{}", self.num) } else { write!(f, "{}/{}", self.num, self.den) }
    }
}

crate::words::serde_by_text!(Rate);

/// The treatment of a video that has more frames by a [`RateRule`] than a clip may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FrameLimit {
    /// It takes the centers of this many equal segments, so the clip still reaches from start to end.
    Spread(u32),
    /// It takes this many frames from the start, so the clip keeps its pace.
    First(u32),
}

impl FrameLimit {
    /// The most frames of a clip.
    pub fn frames(self) -> u32 {
        match self {
            FrameLimit::Spread(frames) | FrameLimit::First(frames) => frames,
        }
    }
}

impl RateRule {
    /// The words for the values. `RATE` is a [`Rate`], `K` a whole number from 1.
    #[doc(hidden)]
    pub const WORDS: &'static [&'static str] = &["fps:RATE", "every:K", "all", "keyframes"];
}

impl fmt::Display for RateRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RateRule::Fps(rate) => write!(f, "fps:{rate}"),
            RateRule::Every(k) => write!(f, "every:{k}"),
            RateRule::All => f.write_str("all"),
            RateRule::KeyFrames => f.write_str("keyframes"),
        }
    }
}

impl FromStr for RateRule {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self> {
        let unknown = || crate::words::unknown("pace", word, Self::WORDS);
        match (word, word.split_once(':')) {
            ("all", _) => Ok(RateRule::All),
            ("keyframes", _) => Ok(RateRule::KeyFrames),
            (_, Some(("fps", rate))) => rate.parse().map(RateRule::Fps),
            (_, Some(("every", k))) => k.parse().ok().filter(|&k| k > 0).map(RateRule::Every).ok_or_else(unknown),
            _ => Err(unknown()),
        }
    }
}

impl RateRule {
    /// Chooses from frames with these ascending times, in nanoseconds after the grid of [`RateRule::Fps`] begins, and these key
    /// marks. The time of the first frame may be negative: it is then on the screen when the grid begins.
    ///
    /// `end` is the time at which the last frame leaves the screen. If that is unknown, the grid ends at the time of the last frame.
    /// `most` limits the number of frames.
    ///
    /// ```
    /// use vidrec::sampler::{FrameLimit, RateRule};
    ///
    /// let (shown, key) = ([0, 40, 80, 120, 400].map(|ms| ms * 1_000_000), [true, false, false, false, true]);
    /// let choose = |pace, most| RateRule::choose(pace, &shown, &key, None, most);
    /// assert_eq!(choose("fps:10".parse()?, None)?, [0, 2, 3, 3, 4]);
    /// assert_eq!(choose(RateRule::Every(2), None)?, [0, 2, 4]);
    /// assert_eq!(choose(RateRule::All, Some(FrameLimit::Spread(2)))?, [1, 3]);
    /// assert_eq!(choose(RateRule::All, Some(FrameLimit::First(2)))?, [0, 1]);
    /// assert_eq!(choose(RateRule::KeyFrames, None)?, [0, 4]);
    /// # Ok::<(), vidrec::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// There are no frames, there is no key frame, or there would be more than [`limits::MAX_FRAMES_PER_CLIP`]
    /// frames and no `most`.
    #[doc(hidden)]
    pub fn choose(self, shown: &[i64], key: &[bool], end: Option<i64>, most: Option<FrameLimit>) -> Result<Vec<u32>> {
        let n = u32::try_from(shown.len()).map_err(|_| Error::limit("there are too many frames"))?;
        if n == 0 || most.is_some_and(|most| most.frames() == 0) {
            return Err(Error::usage("there are no frames to choose from"));
        }
        match self {
            RateRule::Fps(rate) => at_rate(rate, shown, end, most),
            RateRule::Every(k) => thin((0..n).step_by(k.max(1) as usize).collect(), most),
            RateRule::All => thin((0..n).collect(), most),
            RateRule::KeyFrames => {
                let keys: Vec<u32> = (0..n).zip(key).filter(|&(_, &key)| key).map(|(i, _)| i).collect();
                if keys.is_empty() {
                    return Err(Error::usage("no frame is marked as a key frame"));
                }
                thin(keys, most)
            }
        }
    }
}

/// Returns the nanoseconds from the first of some times to each of them, rounded down. Times are in units of `time_base`
/// seconds.
///
/// ```
/// assert_eq!(vidrec::sampler::nanoseconds_after_first(&[5, 6, 8], (1, 30)), [0, 33_333_333, 100_000_000]);
/// ```
pub fn nanoseconds_after_first(pts: &[i64], (num, den): (u32, u32)) -> Vec<i64> {
    let first = pts.first().map_or(0, |&first| i128::from(first));
    // The product is below 2^65 * 2^32 * 2^30.
    let after = |&t: &i64| (i128::from(t) - first) * i128::from(num) * 1_000_000_000 / i128::from(den.max(1));
    pts.iter().map(|t| after(t).clamp(i64::MIN.into(), i64::MAX.into()) as i64).collect()
}

fn thin(mut frames: Vec<u32>, most: Option<FrameLimit>) -> Result<Vec<u32>> {
    let n = frames.len() as u32;
    match most {
        Some(FrameLimit::Spread(most)) if n > most => {
            Ok(uniform(n, most).into_iter().map(|i| frames[i as usize]).collect())
        }
        Some(FrameLimit::First(most)) => {
            frames.truncate(most as usize);
            Ok(frames)
        }
        _ => check_count(n.into()).map(|()| frames),
    }
}

fn check_count(count: u128) -> Result<()> {
    let most = limits::MAX_FRAMES_PER_CLIP;
    if count <= u128::from(most) {
        return Ok(());
    }
    Err(Error::limit("there are too many frames for a clip: set a maximum")
        .expected(format!("at most {most}"))
        .found(count))
}

/// For each tick of the grid, the last frame that is not after it. Time that goes backward counts as standing
/// still.
fn at_rate(rate: Rate, shown: &[i64], end: Option<i64>, most: Option<FrameLimit>) -> Result<Vec<u32>> {
    // A frame is at `ns * scale`, tick k at `k * tick`. Both are below 2^64 * 2^20, so 128 bits hold them.
    let scale = u128::from(rate.num);
    let tick = u128::from(rate.den) * 1_000_000_000;
    let mut latest = 0;
    let elapsed: Vec<u64> = shown
        .iter()
        .map(|&ns| {
            latest = latest.max(u64::try_from(ns).unwrap_or(0));
            latest
        })
        .collect();
    let ticks = match end {
        Some(end) => (u128::from(u64::try_from(end).unwrap_or(0)) * scale).div_ceil(tick).max(1),
        None => u128::from(latest) * scale / tick + 1,
    };
    let ticks: Vec<u128> = match most {
        Some(FrameLimit::First(most)) => (0..ticks.min(most.into())).collect(),
        Some(FrameLimit::Spread(max)) if ticks > u128::from(max) => {
            let max = u128::from(max); // the product is below 2^84 * 2^33
            (0..max).map(|i| (2 * i + 1) * ticks / (2 * max)).collect()
        }
        _ => {
            check_count(ticks)?;
            (0..ticks).collect()
        }
    };
    let mut at = 0;
    let on_screen = ticks.into_iter().map(|k| {
        while elapsed.get(at + 1).is_some_and(|&t| u128::from(t) * scale <= k * tick) {
            at += 1;
        }
        at as u32
    });
    Ok(on_screen.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampler::unrounded_times;
    use proptest::prelude::*;

    fn rate(text: &str) -> Rate {
        text.parse().unwrap()
    }

    #[test]
    fn words_read_back_as_themselves_and_others_are_refused() {
        for word in ["fps:8", "fps:30000/1001", "every:5", "all", "keyframes"] {
            assert_eq!(word.parse::<RateRule>().unwrap().to_string(), word);
        }
        assert_eq!(rate("29.97"), Rate { num: 2997, den: 100 });
        assert_eq!(rate("0.5"), Rate { num: 5, den: 10 });
        for bad in
            ["", "fps:", "fps:0", "fps:-1", "fps:1/0", "fps:1.2345", "fps:nan", "fps:1e3", "every:0", "fps:+8", "All"]
        {
            assert!(bad.parse::<RateRule>().is_err(), "{bad}");
        }
    }

    #[test]
    fn the_grid_begins_with_the_frame_on_the_screen_and_ends_with_the_last_one() {
        let choose = |shown: &[i64], end| {
            let shown: Vec<i64> = shown.iter().map(|s| s * 1_000_000_000).collect();
            RateRule::Fps(rate("1")).choose(&shown, &[], Some(end), None).unwrap()
        };
        assert_eq!(choose(&[-4, 1, 6], 8_000_000_000), [0, 1, 1, 1, 1, 1, 2, 2]);
        assert_eq!(choose(&[-1], 3_000_000_000), [0, 0, 0]);
        assert_eq!(choose(&[0], 3_000_000_001), [0, 0, 0, 0]);
        assert_eq!(choose(&[0], 0), [0]);
    }

    #[test]
    fn hostile_times_neither_overflow_nor_allocate() {
        let shown = nanoseconds_after_first(&[i64::MIN, i64::MAX, 0, i64::MIN], (u32::MAX, 1));
        let pace = RateRule::Fps(rate("1000000"));
        for end in [None, Some(i64::MAX)] {
            assert!(pace.choose(&shown, &[], end, None).unwrap_err().to_string().contains("set a maximum"));
            assert_eq!(pace.choose(&shown, &[], end, Some(FrameLimit::Spread(4))).unwrap().len(), 4);
            let most = Some(FrameLimit::First(u32::from(u16::MAX)));
            assert_eq!(pace.choose(&shown, &[], end, most).unwrap().len(), 65_535);
        }
        assert!(RateRule::All.choose(&[], &[], None, None).is_err());
        assert!(RateRule::KeyFrames.choose(&[0, 1], &[false, false], None, None).is_err());
    }

    /// Compares frames at a constant rate whose times were rounded with exact times, in whole units of both rates.
    fn compare_with_exact(own: (u32, u32), ticks: u32, first: u64, count: u64, asked: Rate) {
        let exact = |i: u64| u128::from(i) * u128::from(own.1) * u128::from(asked.num); // of own.0 * asked.num a second
        let rounded = |i: u64| {
            let ticks = 2 * u128::from(i) * u128::from(own.1) * u128::from(ticks);
            ((ticks + u128::from(own.0)) / (2 * u128::from(own.0))) as i64
        };
        let pts: Vec<i64> = (first..first + count).map(rounded).collect();
        let found = unrounded_times(&pts, (1, ticks), Some(asked));
        let (shown, time_base) = found.as_ref().map_or((&pts, (1, ticks)), |u| (&u.pts, u.time_base));
        let own_end = found.as_ref().map_or(rounded(first + count), |u| u.end(rounded(1)));
        let mut shown = nanoseconds_after_first(&[&shown[..], &[own_end]].concat(), time_base);
        let end = shown.pop();
        let chosen = RateRule::Fps(asked).choose(&shown, &[], end, None).unwrap();
        let grid = |k: u64| u128::from(k) * u128::from(asked.den) * u128::from(own.0);
        let wanted: Vec<u64> = (0..)
            .take_while(|&k| grid(k) < exact(count))
            .map(|k| (0..count).take_while(|&i| exact(i) <= grid(k)).count() as u64 - 1)
            .collect();
        let what = format!("{own:?} in 1/{ticks} s from frame {first}, at {asked}: {chosen:?}");
        assert_eq!(chosen.len(), wanted.len(), "{what}");
        for ((k, wanted), chosen) in (0..).zip(wanted).zip(chosen) {
            // In 600ths of a second, 130 frames at 59.94 a second are also 60 a second. A frame is then early by less than a tick.
            let early = exact(chosen.into()).saturating_sub(grid(k)) * u128::from(ticks);
            let is_near =
                ticks == 600 && wanted + 1 == u64::from(chosen) && early <= u128::from(own.0) * u128::from(asked.num);
            assert!(wanted == u64::from(chosen) || is_near, "tick {k} meets {chosen} instead of {wanted}; {what}");
        }
    }

    #[test]
    fn rounded_times_give_the_frames_of_exact_ones() {
        for own in [(24_000, 1001), (25, 1), (30, 1), (50, 1), (60_000, 1001), (12, 1)] {
            for ticks in [1000, 90_000, 600, 1_000_000] {
                let of_own = |k: u32| Rate::new(own.0, own.1 * k).unwrap();
                let others = ["10", "24", "30000/1001", "7.5"].map(rate);
                for asked in [1, 2, 3].map(of_own).into_iter().chain(others) {
                    compare_with_exact(own, ticks, 0, 130, asked);
                    compare_with_exact(own, ticks, 37, 130, asked);
                }
            }
        }
    }

    proptest! {
        /// Compares with seconds in floating point, with steps that are far from any rounding.
        #[test]
        fn the_frame_on_the_screen_is_taken(
            steps in prop::collection::vec(1i64..400, 0..40), before in 0i64..100, fps in 1u32..60,
        ) {
            // Odd ticks of 1/2000 s: a multiple of 1/fps is either equal or at least 1e-6 s away.
            let mut pts = vec![-before];
            steps.iter().for_each(|s| pts.push(pts[pts.len() - 1] + s));
            let shown: Vec<i64> = pts.iter().map(|&t| t * 500_000).collect();
            let chosen = RateRule::Fps(Rate::new(fps, 1)?).choose(&shown, &[], None, None)?;
            let seconds = |i: usize| pts[i] as f64 / 2000.0;
            let last = seconds(pts.len() - 1).max(0.0);
            prop_assert_eq!(chosen.len() as f64, (last * f64::from(fps) + 1e-9).floor() + 1.0);
            for (k, &frame) in chosen.iter().enumerate() {
                let at = k as f64 / f64::from(fps);
                let on_screen = (0..pts.len()).rev().find(|&i| seconds(i) <= at + 1e-9).unwrap();
                prop_assert_eq!(frame as usize, on_screen, "tick {}", k);
            }
        }
    }
}
