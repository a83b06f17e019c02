//! The choice of frames from a video: pure functions from integers to integers.
//!
//! Other systems use "uniform" for three different things, so each [`Rule`] here says what it does:
//!
//! ```text
//! 10 frames            0   1   2   3   4   5   6   7   8   9
//! uniform, 3           [     1     ) [     5     ) [     8     )     centers of 3 equal segments
//! endpoints, 4         0           3           6           9         first, last, and evenly between
//! random, 3            [ one draw  ) [ one draw  ) [ one draw  )     as `uniform`, at random in each segment
//! clip:2, 4                1       3       5       7                 every second frame, centered
//! random-clip:2, 4             2       4       6       8             the same from a start at random
//! ```
//!
//! A [`RateRule`] chooses a number of frames that depends on the video.
//!
//! ```
//! use vidrec::sampler::{Rule, ShortVideo, select};
//!
//! let selection = select(Rule::Uniform, ShortVideo::RepeatLast, 10, 3, 0, 0)?.unwrap();
//! assert_eq!((selection.frames, selection.short), (vec![1, 5, 8], false));
//! let selection = select(Rule::Uniform, ShortVideo::RepeatLast, 3, 5, 0, 0)?.unwrap();
//! assert_eq!((selection.frames, selection.short), (vec![0, 1, 2, 2, 2], true));
//! assert_eq!(select(Rule::Uniform, ShortVideo::Skip, 3, 5, 0, 0)?, None);
//! # Ok::<(), vidrec::Error>(())
//! ```

pub mod order;

mod rate;
mod rules;
mod unrounded_times;

pub use rate::{FrameLimit, Rate, RateRule, nanoseconds_after_first};
pub use rules::{Rounding, Rule, Selection, ShortVideo, centered, endpoints, linspace, select, select_draw, uniform};
#[doc(hidden)]
pub use rules::{random, run, span};
#[doc(hidden)]
pub use unrounded_times::gcd;
pub use unrounded_times::{UnroundedTimes, unrounded_times};
