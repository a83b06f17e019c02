//! The options of an export.

use vidrec_format::sampler::Rate;

/// Options of an export to LeRobot.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LeRobotOptions {
    /// Frames per second of the videos, regardless of the times of the frames.
    ///
    /// Default: the rate of the clips. Their frames must then be evenly spaced, at the same rate in all clips.
    pub fps: Option<Rate>,
    /// Names of tracks that are not exported. Default: none.
    pub without: Vec<String>,
}
