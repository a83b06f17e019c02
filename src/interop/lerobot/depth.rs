//! What numbers of depth mean, and depth in millimeters.

use serde::Deserialize;
use serde_json::{Value, json};

use vidrec_core::dataset::Clip;
use vidrec_format::error::{Error, Result};

/// The largest of LeRobot's numbers of 12 bits.
const MOST: f64 = 4095.0;

/// What the numbers of a track of depth mean, as the attribute `depth` of clips says.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(untagged)]
pub(super) enum Depth {
    /// Numbers that LeRobot made of meters.
    Made { depth_min: f64, depth_max: f64, shift: f64, use_log: bool },
    /// Numbers in a unit.
    In { unit: String },
    /// Nothing is known.
    #[default]
    Unknown,
}

impl Depth {
    /// Reads the meaning of a clip's track.
    ///
    /// # Errors
    ///
    /// The attribute is of no known form.
    pub fn of(clip: &Clip<'_>, track: &str) -> Result<Self> {
        let mut all = clip.attributes()?.get::<Value>("depth")?.unwrap_or_default();
        let stated = all.get_mut(track).map(Value::take).filter(|stated| *stated != json!({}));
        let Some(stated) = stated else { return Ok(Depth::Unknown) };
        let is_known = |depth: &Depth| match *depth {
            Depth::Made { depth_min, depth_max, shift, use_log } => {
                depth_min < depth_max && (!use_log || depth_min + shift > 0.0)
            }
            _ => true,
        };
        let found = stated.to_string();
        match serde_json::from_value(stated) {
            Ok(depth) if is_known(&depth) => Ok(depth),
            _ => {
                let e = Error::usage("the attribute \"depth\" does not say what the numbers of the track mean");
                let e = e.in_clip(clip.ordinal()).in_track(track).found(found);
                Err(e.expected("{\"unit\": \"mm\"}, or depth_min, depth_max, shift and use_log"))
            }
        }
    }

    /// The unit of what is exported; `None` if it is not known.
    pub fn unit(&self) -> Option<&str> {
        match self {
            Depth::Made { .. } => Some("mm"),
            Depth::In { unit } => Some(unit),
            Depth::Unknown => None,
        }
    }

    /// Converts numbers that LeRobot made to whole millimeters. Others stay.
    ///
    /// Source: huggingface/lerobot 0.6.1, `dequantize_depth` in `src/lerobot/datasets/depth_utils.py`.
    pub fn to_millimeters(&self, numbers: &mut [u16]) {
        let Depth::Made { depth_min, depth_max, shift, use_log } = *self else { return };
        let meters = |part: f64| match use_log {
            true => {
                let (low, high) = ((depth_min + shift).ln(), (depth_max + shift).ln());
                (low + part * (high - low)).exp() - shift
            }
            false => depth_min + part * (depth_max - depth_min),
        };
        for number in numbers {
            let meters = meters(f64::from(*number) / MOST).clamp(depth_min, depth_max);
            *number = (meters * 1000.0).round_ties_even() as u16;
        }
    }
}
