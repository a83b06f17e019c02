//! What to load and how: the command line's form of a loader's options.

use std::path::PathBuf;

use vidrec::jpeg::JpegDecoder;
use vidrec::order::{LastBatch, Order};
use vidrec::sampler::Rate;
use vidrec::{
    Augmentation, Batching, Budget, Channels, ColorJitter, Crop, Dataset, DecodedCache, Dtype, Frames, Io, Layout,
    LoaderOptions, OnBadFrame, Pictures, Prefetch, Safety, Sampling, ShortClips, Temporal,
};

use crate::words::words;

/// Options that become the loader's.
#[derive(clap::Args)]
pub struct Loading {
    /// Clips in a batch.
    #[arg(
        long,
        default_value_t = LoaderOptions::default().batch_size,
        value_parser = clap::value_parser!(u32).range(1..=65_536)
    )]
    batch: u32,
    /// Frames to take from each clip; or `all`, whatever their number, padded to the longest of the batch. [default: all,
    /// and clips must have the same number]
    #[arg(long, value_name = "T")]
    frames: Option<Frames>,
    /// Most frames of a clip, for --frames all.
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u32).range(1..))]
    max_frames: Option<u32>,
    /// What happens to clips with fewer frames.
    #[arg(long, default_value_t, value_parser = words::<ShortClips>(ShortClips::WORDS))]
    short: ShortClips,
    /// Frames per second, whatever rate is stored.
    #[arg(long, value_name = "RATE")]
    fps: Option<Rate>,
    /// Lengths of clips that make batches together, for --frames all: 8,16,32.
    #[arg(long, value_name = "T,...", value_delimiter = ',')]
    buckets: Vec<u32>,
    /// Frames in a batch, instead of --batch.
    #[arg(long, value_name = "N", conflicts_with = "batch")]
    batch_frames: Option<u64>,
    /// How to choose them; all but the first two need --frames.
    #[arg(long, default_value_t, value_parser = words::<Temporal>(Temporal::WORDS))]
    temporal: Temporal,
    /// Frames from one to the next, for runs of frames.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    stride: u32,
    /// Runs of each clip, for --temporal views.
    #[arg(long, value_name = "K", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    views: u32,
    /// Frames from the start of one run to that of the next, for --temporal dense.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    hop: u32,
    /// Part of the frame to take, drawn once a clip.
    #[arg(long, default_value_t = Crop::RANDOM_RESIZED, value_parser = words::<Crop>(Crop::WORDS))]
    crop: Crop,
    /// Width and height of the pictures.
    #[arg(
        long,
        default_value_t = Pictures::default().size.0,
        value_parser = clap::value_parser!(u32).range(1..=16_384)
    )]
    size: u32,
    /// Resize the shorter side first, to a length or to one drawn from a range.
    #[arg(long, value_name = "N[-M]", value_parser = parse_range)]
    resize_short: Option<(u32, u32)>,
    /// Vary brightness, contrast and saturation by this much.
    #[arg(long, value_name = "X", default_value_t = 0.0, value_parser = parse_strength)]
    color: f32,
    /// What the channels are.
    #[arg(long, default_value_t, value_parser = words::<Channels>(Channels::WORDS))]
    channels: Channels,
    /// Type of the numbers; the float types are normalized.
    #[arg(long, default_value_t = Dtype::F32, value_parser = words::<Dtype>(Dtype::WORDS))]
    dtype: Dtype,
    /// Order of dimensions.
    #[arg(long, default_value_t, value_parser = words::<Layout>(Layout::WORDS))]
    layout: Layout,
    /// Order of the clips [default: shuffled; for a remote data set blocks of 8 MiB, of which 64 are mixed at a time]
    #[arg(long, value_parser = words::<Order>(Order::WORDS))]
    order: Option<Order>,
    /// Neighbors in a block, for --order blocks and homes.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..))]
    block: u32,
    /// Blocks that are mixed, for --order blocks and homes.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    window: u32,
    /// Homes, among which the blocks are shared, for --order homes.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    homes: u32,
    /// Fraction of the blocks that may change homes each epoch, for --order homes.
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = parse_fraction)]
    exchange: f64,
    /// Seed of everything that is drawn.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How to read local files.
    #[arg(long, default_value_t, value_parser = words::<Io>(Io::WORDS))]
    io: Io,
    /// Do not compare the frames' CRC-32.
    #[arg(long)]
    no_crc: bool,
    /// Which JPEG decoder to use; the pictures are the same.
    ///
    /// auto: vidrec's own for the tiles of JPEGs that it packed, libjpeg-turbo for all others; own: the same, but
    /// damaged tiles are an error rather than decoded again; turbo: libjpeg-turbo.
    #[arg(long, default_value_t, value_parser = words::<JpegDecoder>(JpegDecoder::WORDS))]
    decoder: JpegDecoder,
    /// Replace a clip that cannot be read by another clip.
    #[arg(long)]
    substitute: bool,
    /// Batches to keep ready.
    #[arg(
        long,
        value_name = "N",
        default_value_t = Prefetch::default().batches,
        value_parser = clap::value_parser!(u32).range(1..=1024)
    )]
    prefetch: u32,
    /// Batches whose pages to ask the system for; 0 for none.
    #[arg(
        long,
        value_name = "N",
        default_value_t = Prefetch::default().readahead,
        value_parser = clap::value_parser!(u32).range(0..=1024)
    )]
    readahead: u32,
    /// Keep decoded frames in memory that all processes of the machine share, at most this much, such as 200GB.
    ///
    /// Every epoch is then measured by itself, from the first batch on; --epochs says how many.
    #[arg(long, value_name = "SIZE", value_parser = vidrec::parse_bytes)]
    decoded_cache: Option<u64>,
    /// The folder in memory for that. [default: /dev/shm]
    #[arg(long, value_name = "DIR", requires = "decoded_cache")]
    decoded_cache_dir: Option<PathBuf>,
}

fn parse_range(text: &str) -> Result<(u32, u32), String> {
    let (least, most) = text.split_once('-').unwrap_or((text, text));
    let range = least.parse().ok().zip(most.parse().ok()).filter(|(least, most)| 0 < *least && least <= most);
    range.ok_or_else(|| "expected a length, or two as in 256-320".into())
}

fn parse_fraction(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|x| (0.0..=1.0).contains(x)).ok_or_else(|| "expected 0 to 1".into())
}

fn parse_strength(text: &str) -> Result<f32, String> {
    text.parse().ok().filter(|x| (0.0..=10.0).contains(x)).ok_or_else(|| "expected 0 to 10".into())
}

impl Loading {
    /// How the files are read.
    pub fn io(&self) -> Io {
        self.io
    }

    /// The loader's options, with some number of threads.
    pub fn options(&self, dataset: &Dataset, threads: Option<usize>) -> LoaderOptions {
        LoaderOptions {
            batch_size: self.batch,
            frames: match self.frames {
                Some(Frames::Any { .. }) => Frames::Any { most: self.max_frames },
                frames => frames.unwrap_or_default(),
            },
            short: self.short,
            fps: self.fps,
            temporal: self.temporal.with_stride(self.stride).with_views(self.views).with_hop(self.hop),
            batching: Batching {
                buckets: self.buckets.clone(),
                budget: self.batch_frames.map(Budget::Frames),
                ..Batching::default()
            },
            seed: self.seed,
            threads,
            augmentation: self.augmentation(),
            pictures: self.pictures(),
            sampling: Sampling { order: self.order(dataset), last: LastBatch::Wrap, ..Sampling::default() },
            prefetch: Prefetch { batches: self.prefetch, readahead: self.readahead, ..Prefetch::default() },
            safety: Safety {
                check_crc: !self.no_crc,
                on_bad_frame: if self.substitute { OnBadFrame::Substitute } else { OnBadFrame::Error },
            },
            decoded_cache: self.decoded_cache.map(|bytes| DecodedCache { bytes, dir: self.decoded_cache_dir.clone() }),
            ..LoaderOptions::default()
        }
    }

    /// Whether decoded frames are kept, so that one epoch is not like another.
    pub fn keeps_decoded(&self) -> bool {
        self.decoded_cache.is_some()
    }

    fn order(&self, dataset: &Dataset) -> Order {
        let Some(order) = &self.order else { return Sampling::order_for(dataset) };
        order.clone().with_blocks(self.block, self.window).with_homes(Some(self.homes), self.exchange)
    }

    fn augmentation(&self) -> Augmentation {
        let drawn = !matches!(self.crop, Crop::Center | Crop::Three);
        let (brightness, contrast, saturation) = (self.color, self.color, self.color);
        Augmentation {
            crop: self.crop,
            resize_short: self.resize_short.map(|(least, _)| least),
            resize_short_max: self.resize_short.map(|(_, most)| most),
            flip: if drawn { 0.5 } else { 0.0 },
            color: ColorJitter { brightness, contrast, saturation, ..ColorJitter::default() },
        }
    }

    /// Bytes of a picture in a batch.
    pub fn bytes_per_picture(&self) -> u64 {
        let pixels = u64::from(self.size) * u64::from(self.size);
        pixels * (self.channels.count() * self.dtype.size()) as u64
    }

    fn pictures(&self) -> Pictures {
        Pictures {
            size: (self.size, self.size),
            channels: self.channels,
            dtype: self.dtype,
            layout: self.layout,
            mean: [0.485, 0.456, 0.406],
            std: [0.229, 0.224, 0.225],
            decoder: self.decoder,
            ..Pictures::default()
        }
    }
}
