//! What to load and how: the command line's words for a loader's options.

use clap::ValueEnum;
use vidrec::jpeg::JpegDecoder;
use vidrec::order::{LastBatch, Order};
use vidrec::{Channels, ColorJitter, Crop, Dtype, Io, Layout, LoaderOptions, OnBadFrame, Start, Temporal};

/// Options that become the loader's.
#[derive(clap::Args)]
pub struct Loading {
    /// Clips in a batch.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    batch: u32,
    /// Frames to take of each clip. [default: all]
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u32).range(1..))]
    frames: Option<u32>,
    /// How to choose them; all but the first two need --frames.
    #[arg(long, value_enum, default_value_t = TemporalArg::Uniform)]
    temporal: TemporalArg,
    /// Frames from one to the next, for runs of frames.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    stride: u32,
    /// Runs of each clip, for --temporal views.
    #[arg(long, value_name = "K", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    views: u32,
    /// Part of the frame to take, one draw a clip.
    #[arg(long, value_enum, default_value_t = CropArg::RandomResized)]
    crop: CropArg,
    /// Width and height of the pictures.
    #[arg(long, default_value_t = 224, value_parser = clap::value_parser!(u32).range(1..=16_384))]
    size: u32,
    /// Resize the shorter side first, to a length or to one drawn from a range.
    #[arg(long, value_name = "N[-M]", value_parser = parse_range)]
    resize_short: Option<(u32, u32)>,
    /// Vary brightness, contrast and saturation by this much.
    #[arg(long, value_name = "X", default_value_t = 0.0, value_parser = parse_strength)]
    color: f32,
    /// What the channels are.
    #[arg(long, value_enum, default_value_t = ChannelsArg::Rgb)]
    channels: ChannelsArg,
    /// Type of the numbers; the float types are normalised.
    #[arg(long, value_enum, default_value_t = DtypeArg::F32)]
    dtype: DtypeArg,
    /// Order of dimensions.
    #[arg(long, value_enum, default_value_t = LayoutArg::Btchw)]
    layout: LayoutArg,
    /// Order of the clips.
    #[arg(long, value_enum, default_value_t = OrderArg::Shuffled)]
    order: OrderArg,
    /// Neighbours in a block, for --order blocks.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..))]
    block: u32,
    /// Blocks that are mixed, for --order blocks.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    window: u32,
    /// Seed of everything that is drawn.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How to read the files.
    #[arg(long, value_enum, default_value_t = IoArg::Map)]
    io: IoArg,
    /// Do not compare the frames' CRC-32.
    #[arg(long)]
    no_crc: bool,
    /// Which JPEG decoder to use; the pictures are the same.
    #[arg(long, value_enum, default_value_t = DecoderArg::Auto)]
    decoder: DecoderArg,
    /// Let another clip stand in for one that cannot be read.
    #[arg(long)]
    substitute: bool,
    /// Batches to keep ready.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1024))]
    prefetch: u32,
    /// Batches of which to ask the system for the pages; 0 for none.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(0..=1024))]
    readahead: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TemporalArg {
    Uniform,
    RandomSegments,
    Clip,
    ClipCenter,
    Views,
    Dense,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CropArg {
    Center,
    Random,
    RandomResized,
    MultiScale,
    MultiScaleFixed,
    Three,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ChannelsArg {
    Rgb,
    Gray,
    Ycbcr,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DtypeArg {
    U8,
    F16,
    Bf16,
    F32,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LayoutArg {
    Btchw,
    Bcthw,
    Bthwc,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OrderArg {
    Sequential,
    Shuffled,
    Blocks,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum IoArg {
    Map,
    Read,
    ReadUncached,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DecoderArg {
    /// vidrec's own for the tiles of JPEGs that it packed, libjpeg-turbo for all others.
    Auto,
    /// The same, but an error for damaged tiles rather than a second try.
    Own,
    /// libjpeg-turbo.
    Turbo,
}

fn parse_range(text: &str) -> Result<(u32, u32), String> {
    let (least, most) = text.split_once('-').unwrap_or((text, text));
    let range = least.parse().ok().zip(most.parse().ok()).filter(|(least, most)| 0 < *least && least <= most);
    range.ok_or_else(|| "expected a length, or two as in 256-320".into())
}

fn parse_strength(text: &str) -> Result<f32, String> {
    text.parse().ok().filter(|x| (0.0..=10.0).contains(x)).ok_or_else(|| "expected 0 to 10".into())
}

impl Loading {
    /// How the files are read.
    pub fn io(&self) -> Io {
        match self.io {
            IoArg::Map => Io::Map,
            IoArg::Read => Io::Read,
            IoArg::ReadUncached => Io::ReadUncached,
        }
    }

    /// The loader's options, with some number of threads.
    pub fn options(&self, threads: Option<usize>) -> LoaderOptions {
        let drawn = !matches!(self.crop, CropArg::Center | CropArg::Three);
        LoaderOptions {
            batch_size: self.batch,
            frames: self.frames,
            temporal: self.temporal(),
            size: (self.size, self.size),
            resize_short: self.resize_short.map(|(least, _)| least),
            resize_short_max: self.resize_short.map(|(_, most)| most),
            crop: self.crop(),
            flip: if drawn { 0.5 } else { 0.0 },
            color: ColorJitter {
                brightness: self.color,
                contrast: self.color,
                saturation: self.color,
                ..ColorJitter::default()
            },
            channels: match self.channels {
                ChannelsArg::Rgb => Channels::Rgb,
                ChannelsArg::Gray => Channels::Gray,
                ChannelsArg::Ycbcr => Channels::YCbCr,
            },
            dtype: match self.dtype {
                DtypeArg::U8 => Dtype::U8,
                DtypeArg::F16 => Dtype::F16,
                DtypeArg::Bf16 => Dtype::Bf16,
                DtypeArg::F32 => Dtype::F32,
            },
            layout: match self.layout {
                LayoutArg::Btchw => Layout::Btchw,
                LayoutArg::Bcthw => Layout::Bcthw,
                LayoutArg::Bthwc => Layout::Bthwc,
            },
            mean: [0.485, 0.456, 0.406],
            std: [0.229, 0.224, 0.225],
            order: match self.order {
                OrderArg::Sequential => Order::Sequential,
                OrderArg::Shuffled => Order::Shuffled,
                OrderArg::Blocks => Order::Blocks { block: self.block, window: self.window },
            },
            seed: self.seed,
            last: LastBatch::Wrap,
            threads,
            check_crc: !self.no_crc,
            decoder: match self.decoder {
                DecoderArg::Auto => JpegDecoder::Auto,
                DecoderArg::Own => JpegDecoder::Own,
                DecoderArg::Turbo => JpegDecoder::Turbo,
            },
            on_bad_frame: if self.substitute { OnBadFrame::Substitute } else { OnBadFrame::Error },
            prefetch: self.prefetch,
            readahead: self.readahead,
            ..LoaderOptions::default()
        }
    }

    fn temporal(&self) -> Temporal {
        let stride = self.stride;
        match self.temporal {
            TemporalArg::Uniform => Temporal::Uniform,
            TemporalArg::RandomSegments => Temporal::RandomSegments,
            TemporalArg::Clip => Temporal::Clip { stride, start: Start::Random },
            TemporalArg::ClipCenter => Temporal::Clip { stride, start: Start::Center },
            TemporalArg::Views => Temporal::Views { stride, views: self.views },
            TemporalArg::Dense => Temporal::Dense { stride },
        }
    }

    fn crop(&self) -> Crop {
        match self.crop {
            CropArg::Center => Crop::Center,
            CropArg::Random => Crop::Random,
            CropArg::RandomResized => Crop::RANDOM_RESIZED,
            CropArg::MultiScale => Crop::MultiScale { fixed: false },
            CropArg::MultiScaleFixed => Crop::MultiScale { fixed: true },
            CropArg::Three => Crop::Three,
        }
    }
}
