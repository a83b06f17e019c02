//! What to load and how: the command line's form of a loader's options.

use std::path::PathBuf;
use std::str::FromStr;

use vidrec::jpeg::JpegDecoder;
use vidrec::order::{Last, Order};
use vidrec::sampler::Rate;
use vidrec::{
    Batching, Channels, ColorJitter, Crop, DecodedCache, Dtype, Frames, Io, Layout, LoaderOptions, Normalize,
    OnBadFrame, Prefetch, ShortClips, Start,
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
    frames: Option<Count>,
    /// Most frames of a clip, for --frames all.
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u32).range(1..))]
    max_frames: Option<u32>,
    /// What happens to clips with fewer frames.
    #[arg(long, default_value_t, value_parser = words::<ShortClips>(ShortClips::WORDS))]
    short: ShortClips,
    /// Frames per second, whatever rate is stored; for runs of frames and --frames all.
    #[arg(long, value_name = "RATE")]
    fps: Option<Rate>,
    /// Lengths of clips that make batches together, for --frames all: 8,16,32.
    #[arg(long, value_name = "T,...", value_delimiter = ',')]
    buckets: Vec<u32>,
    /// Frames in a batch, instead of --batch.
    #[arg(long, value_name = "N", conflicts_with = "batch")]
    batch_frames: Option<u64>,
    /// How to choose them; all but uniform need --frames.
    #[arg(long, default_value = "uniform", value_parser = CHOICES)]
    temporal: String,
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
    #[arg(long, default_value = "random-resized", value_parser = CROPS)]
    crop: String,
    /// Width and height of the pictures.
    #[arg(
        long,
        default_value_t = LoaderOptions::default().crop.size().0,
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

/// What --temporal takes.
const CHOICES: [&str; 6] = ["uniform", "random-segments", "clip", "clip-center", "views", "dense"];
/// What --crop takes.
const CROPS: [&str; 8] =
    ["center", "random", "random-resized", "multi-scale", "multi-scale-fixed", "cover", "cover-random", "three"];

/// A number of frames, or all.
#[derive(Debug, Clone, Copy)]
enum Count {
    All,
    Of(u32),
}

impl FromStr for Count {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            _ if text == "all" => Ok(Count::All),
            Ok(count) if count > 0 => Ok(Count::Of(count)),
            _ => Err("expected a number of 1 or more, or all".into()),
        }
    }
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
    pub fn options(&self, threads: Option<usize>) -> Result<LoaderOptions, String> {
        let is_drawn = !matches!(self.crop.as_str(), "center" | "three");
        let (brightness, contrast, saturation) = (self.color, self.color, self.color);
        Ok(LoaderOptions {
            batch_size: self.batch,
            frames: self.frames()?,
            crop: self.crop(),
            flip: if is_drawn { 0.5 } else { 0.0 },
            color: ColorJitter { brightness, contrast, saturation, ..ColorJitter::default() },
            channels: self.channels,
            dtype: self.dtype,
            normalize: Some(Normalize::IMAGENET).filter(|_| self.dtype != Dtype::U8),
            layout: self.layout,
            shuffle: self.order.is_none(),
            order: self.order(),
            seed: self.seed,
            last: Last::Wrap,
            batching: self.batching(),
            on_bad_frame: if self.substitute { OnBadFrame::Substitute } else { OnBadFrame::Error },
            threads,
            prefetch: Prefetch { batches: self.prefetch, readahead: self.readahead, ..Prefetch::default() },
            decoded_cache: self.decoded_cache.map(|size| DecodedCache { size, dir: self.decoded_cache_dir.clone() }),
            decoder: self.decoder,
            ..LoaderOptions::default()
        })
    }

    /// Whether decoded frames are kept, so that one epoch is not like another.
    pub fn keeps_decoded(&self) -> bool {
        self.decoded_cache.is_some()
    }

    fn order(&self) -> Order {
        let Some(order) = &self.order else { return Order::Sequential };
        order.clone().with_blocks(self.block, self.window).with_homes(Some(self.homes), self.exchange)
    }

    fn batching(&self) -> Option<Batching> {
        let buckets = self.buckets.clone();
        match self.batch_frames {
            Some(frames) => Some(Batching::FrameBudget { frames, buckets }),
            None if buckets.is_empty() => None,
            None => Some(Batching::Buckets { lengths: buckets }),
        }
    }

    fn frames(&self) -> Result<Frames, String> {
        let frames = match (self.frames, self.temporal.as_str()) {
            (None, "uniform") => Frames::Stored,
            (Some(Count::All), "uniform") => Frames::all().with_max(self.max_frames),
            (Some(Count::Of(count)), choice) => match choice {
                "uniform" => Frames::uniform(count),
                "random-segments" => Frames::random(count),
                "clip" => Frames::run(count),
                "clip-center" => Frames::run(count).with_at(Start::Center),
                "views" => Frames::views(self.views, count),
                _ => Frames::windows(count).with_hop(self.hop),
            },
            (_, choice) => return Err(format!("--temporal {choice} needs --frames with a number")),
        };
        let with_rate = frames.with_fps(self.fps);
        if self.fps.is_some() && with_rate == frames {
            return Err("--fps needs runs of frames (--temporal clip, views or dense) or --frames all".into());
        }
        Ok(with_rate.with_stride(self.stride).with_short(self.short))
    }

    fn crop(&self) -> Crop {
        let size = (self.size, self.size);
        let crop = match self.crop.as_str() {
            "center" => Crop::center(size),
            "random" => Crop::random(size),
            "random-resized" => Crop::random_resized(size),
            "multi-scale" => Crop::multi_scale(size, false),
            "multi-scale-fixed" => Crop::multi_scale(size, true),
            "cover" => Crop::cover(size, false),
            "cover-random" => Crop::cover(size, true),
            _ => Crop::three(size),
        };
        crop.with_resize(self.resize_short)
    }

    /// Bytes of a picture in a batch.
    pub fn bytes_per_picture(&self) -> u64 {
        let pixels = u64::from(self.size) * u64::from(self.size);
        pixels * (self.channels.count() * self.dtype.size()) as u64
    }
}
