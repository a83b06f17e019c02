//! The options that determine the bytes, of `vidrec pack` and `vidrec plan`.

use vidrec::pack::{FrameOptions, InputOptions, PackOptions, Resources, RunOptions};
use vidrec::video::Decode;

use super::heading::RUN;
use super::{frames, inputs, limits, pictures, together};

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
            limits: self.limits.limits(),
            resources,
            run: self.limits.apply(run),
        })
    }
}
