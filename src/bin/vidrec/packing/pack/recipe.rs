//! The options that determine the bytes, of `vidrec pack` and `vidrec plan`.

use vidrec::pack::{FrameOptions, InputOptions, PackOptions, Resources, RunOptions};
use vidrec::video::{AudioChannels, AudioOptions, Decode};

use super::heading::RUN;
use super::number::number;
use super::{frames, inputs, limits, pictures, together};
use crate::words::words;

#[derive(clap::Args)]
pub struct RecipeArgs {
    #[command(flatten)]
    _together: together::Together,
    #[command(flatten)]
    inputs: inputs::InputArgs,
    #[command(flatten)]
    frames: frames::FrameArgs,
    #[command(flatten)]
    limits: limits::LimitArgs,
    #[command(flatten)]
    pictures: pictures::PictureArgs,
    /// Also pack the sound of the videos, as the track "audio" of whole numbers of 16 bits, at RATE samples a second, in
    /// step with the frames: gaps are filled with silence, overlaps cut. A clip of a segment has the segment's sound, any
    /// other the whole video's. A video without sound has no such track.
    #[arg(long, value_name = "RATE", help_heading = "Sound", value_parser = number::<u32>("audio"))]
    audio: Option<u32>,
    /// With --audio: one channel, into which all are mixed, two, or as many as the first video with sound has, as they are; a
    /// video with another number then fails.
    #[arg(long, value_name = "CHANNELS", help_heading = "Sound", default_value_t, value_parser = words::<AudioChannels>(AudioChannels::WORDS))]
    audio_channels: AudioChannels,
    /// Decode whole videos, not only what the chosen frames need. The pictures of an intact video are the same. Damage
    /// anywhere in a video is found, as far as FFmpeg notices it (mostly in H.264, AV1, MPEG and FFV1; HEVC, VP8 and VP9
    /// have to be in a Matroska file with checksums), and damaged frames do not count.
    #[arg(long, help_heading = RUN)]
    decode_all: bool,
}

impl RecipeArgs {
    /// All options, with these in the places of others. Ends the process if they make no sense together.
    pub fn options(&self, resources: Resources, run: RunOptions) -> PackOptions {
        self.make_options(resources, run).unwrap_or_else(|e| together::usage(&e).exit())
    }

    pub fn inputs(&self) -> InputOptions {
        self.inputs.options()
    }

    fn make_options(&self, resources: Resources, run: RunOptions) -> vidrec::Result<PackOptions> {
        let decode = if self.decode_all { Decode::All } else { Decode::Needed };
        let frames = self.inputs.apply(FrameOptions { decode, ..FrameOptions::default() });
        Ok(PackOptions {
            input: self.inputs(),
            frames: self.frames.apply(frames)?,
            pictures: self.pictures.options(self.inputs.pass_through),
            audio: self.audio.map(|rate| AudioOptions { rate, channels: self.audio_channels }),
            limits: self.limits.limits(),
            resources,
            run: self.limits.apply(run),
        })
    }
}
