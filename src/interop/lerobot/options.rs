//! What can be chosen.

use crate::sampler::Rate;

/// Options of an export for LeRobot.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LeRobotOptions {
    /// Frames per second of the videos, whatever the times of the frames. Default: that of the clips, whose frames then
    /// have to be evenly spaced, at the same rate in all clips.
    pub fps: Option<Rate>,
    /// Names of tracks that are not exported. Default: none.
    pub without: Vec<String>,
}
