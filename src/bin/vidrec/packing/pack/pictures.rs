//! The options of `vidrec pack` that say how frames are stored.

use std::str::FromStr;

use vidrec::jpeg::QualityTarget;
use vidrec::pack::PictureOptions;
use vidrec::pack::arguments::{exact_size, frame_size};
use vidrec::video::FrameSize;

use super::number::number;

#[derive(clap::Args)]
#[command(next_help_heading = "Pictures")]
pub struct PictureArgs {
    /// Scale so that the shorter side has this many pixels; smaller videos stay as they are. [default: 256]
    #[arg(long, value_name = "PIXELS", value_parser = number::<u32>("short_side"))]
    short_side: Option<u32>,
    /// Scale to exactly this size, such as 320x240, whatever the shape of the video.
    #[arg(long, value_name = "WxH", value_parser = exact_size)]
    size: Option<FrameSize>,
    /// Keep the size at which each video is shown.
    #[arg(long)]
    original: bool,
    /// JPEG quality, 1 to 100.
    #[arg(short, long, default_value_t = PictureOptions::default().quality, value_parser = number::<u8>("quality"))]
    quality: u8,
    /// Give each frame the lowest quality at which it is this near to what was decoded and scaled, such as psnr:40 (in dB) or
    /// ssim:0.98, both of luma. Packing takes longer.
    #[arg(long, value_name = "MEASURE:LEAST", value_parser = QualityTarget::from_str)]
    target_quality: Option<QualityTarget>,
    /// With the short side: enlarge smaller videos too.
    #[arg(long)]
    enlarge: bool,
    /// Work that a JPEG is worth: 1 makes JPEGs about a fifth smaller at the same PSNR; 0 encodes with libjpeg-turbo, which
    /// takes up to a tenth less time.
    #[arg(long, value_name = "LEVEL", default_value_t = PictureOptions::default().effort, value_parser = number::<u8>("effort"))]
    effort: u8,
    /// Give each JPEG Huffman tables of its own: about 4 % smaller, the same pixels; packing takes some 10 % longer.
    #[arg(long)]
    optimize: bool,
    /// Pack pictures of more than 12 bits a channel, such as depth maps, and keep the upper 8 of their bits. [default:
    /// skip such a video]
    #[arg(long)]
    reduce_depth: bool,
}

impl PictureArgs {
    pub fn options(&self, pass_through: bool) -> PictureOptions {
        let PictureArgs { short_side, size, original, quality, effort, enlarge, optimize, reduce_depth, .. } = *self;
        let size = frame_size(size, original, short_side, enlarge);
        PictureOptions { size, quality, target: self.target_quality, effort, optimize, pass_through, reduce_depth }
    }
}
