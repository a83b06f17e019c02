//! The options of `vidrec pack` that say how frames are stored.

use clap::ArgGroup;
use vidrec::pack::PictureOptions;
use vidrec::video::FrameSize;

#[derive(clap::Args)]
#[command(
    next_help_heading = "Pictures",
    group = ArgGroup::new("frame size").args(["short_side", "size", "original"])
)]
pub struct PictureArgs {
    /// Scale so that the shorter side has this many pixels; smaller videos stay as they are. [default: 256]
    #[arg(long, value_name = "PIXELS", value_parser = clap::value_parser!(u32).range(1..=65_500))]
    short_side: Option<u32>,
    /// Scale to exactly this size, such as 320x240, whatever the shape of the video.
    #[arg(long, value_name = "WxH", value_parser = parse_size)]
    size: Option<FrameSize>,
    /// Keep the size at which each video is shown.
    #[arg(long)]
    original: bool,
    /// JPEG quality, 1 to 100.
    #[arg(short, long, default_value_t = PictureOptions::default().quality, value_parser = clap::value_parser!(u8).range(1..=100))]
    quality: u8,
    /// With the short side: enlarge smaller videos too.
    #[arg(long, conflicts_with_all = ["size", "original"])]
    enlarge: bool,
    /// Give each JPEG Huffman tables of its own: about 4 % smaller, the same pixels; packing takes some 10 % longer.
    #[arg(long)]
    optimize: bool,
    /// Pack pictures of more than 12 bits a channel, such as depth maps, and keep the upper 8 of their bits. [default:
    /// skip such a video]
    #[arg(long)]
    reduce_depth: bool,
}

/// A size such as 320x240.
fn parse_size(text: &str) -> Result<FrameSize, String> {
    let size = text.parse().ok().filter(|size| matches!(size, FrameSize::Exact { .. }));
    size.ok_or_else(|| "expected a width and a height of 1 to 65500 pixels, such as 320x240".into())
}

impl PictureArgs {
    pub fn options(&self, pass_through: bool) -> PictureOptions {
        let PictureArgs { quality, optimize, reduce_depth, .. } = *self;
        PictureOptions { size: self.frame_size(), quality, optimize, pass_through, reduce_depth }
    }

    fn frame_size(&self) -> FrameSize {
        let short_side = self.short_side.map_or(PictureOptions::default().size, FrameSize::ShortSide);
        match (self.size, short_side) {
            (Some(size), _) => size,
            _ if self.original => FrameSize::Original,
            (None, FrameSize::ShortSide(side)) if self.enlarge => FrameSize::ShortSideAlways(side),
            (None, size) => size,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        assert_eq!(parse_size("320x240"), Ok(FrameSize::Exact { width: 320, height: 240 }));
        for bad in ["", "320", "0x5", "5x", "70000x1", "3.5x2", "original"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }
}
