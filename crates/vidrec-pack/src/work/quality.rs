//! How well pictures are stored.

use std::fmt;
use std::str::FromStr;

use vidrec_format::error::{Error, Result};
use vidrec_format::words::serde_by_text;
use vidrec_jpeg::QualityTarget;

/// How well pictures are stored.
///
/// In text (`FromStr`, `Display`, serde): the JPEG quality such as `90`, `psnr:40`, `ssim:0.98`, or `original`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Quality {
    /// JPEG quality, 1 to 100.
    Level(u8),
    /// The lowest quality at which the luma of a frame is this close to the scaled original. A frame that misses the
    /// target even at quality 100 is stored at quality 100.
    Least(QualityTarget),
    /// The JPEGs of image folders as they are, byte for byte and at their own size. All other pictures have the
    /// default quality.
    Original,
}

impl Default for Quality {
    fn default() -> Self {
        Quality::Level(Quality::DEFAULT)
    }
}

impl Quality {
    const DEFAULT: u8 = 90;

    /// The quality of JPEGs that are made without a target.
    pub(crate) fn level(self) -> u8 {
        match self {
            Quality::Level(level) => level,
            Quality::Least(_) | Quality::Original => Quality::DEFAULT,
        }
    }

    /// The target that each frame has to reach.
    pub(crate) fn target(self) -> Option<QualityTarget> {
        match self {
            Quality::Least(target) => Some(target),
            Quality::Level(_) | Quality::Original => None,
        }
    }
}

impl From<u8> for Quality {
    fn from(level: u8) -> Self {
        Quality::Level(level)
    }
}

impl From<QualityTarget> for Quality {
    fn from(target: QualityTarget) -> Self {
        Quality::Least(target)
    }
}

impl fmt::Display for Quality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Quality::Level(level) => write!(f, "{level}"),
            Quality::Least(target) => write!(f, "{target}"),
            Quality::Original => f.write_str("original"),
        }
    }
}

impl FromStr for Quality {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if text == "original" {
            return Ok(Quality::Original);
        }
        if text.contains(':') {
            return text.parse().map(Quality::Least);
        }
        let level = text.parse().ok().filter(|level| (1..=100).contains(level)).map(Quality::Level);
        level.ok_or_else(|| {
            Error::usage("not a quality")
                .expected("a number from 1 to 100, psnr:40, ssim:0.98, or original")
                .found(text)
        })
    }
}

serde_by_text!(Quality);
