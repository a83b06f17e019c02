//! The options for reading inputs.

use std::path::PathBuf;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::segment::SegmentClock;
use crate::arguments;
use crate::arguments::NumberOrText;
use crate::track::TrackSpec;
use crate::video::AudioOptions;
use vidrec_core::store::storage::Storage;
use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::sampler::Rate;

/// The options for reading inputs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args), command(next_help_heading = "Inputs"))]
#[serde(default, deny_unknown_fields)]
pub struct InputOptions {
    /// The folder that the paths of a manifest are relative to, or a remote location, such as s3://bucket/videos. [default:
    /// the folder of the manifest]
    #[cfg_attr(feature = "clap", arg(long, value_name = "DIR", hide_short_help = true))]
    pub root: Option<PathBuf>,
    /// Take only this split, as a manifest's column "split" names it. [default: all]
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME", hide_short_help = true))]
    pub split: Option<String>,
    /// A file with all class names in the order of their labels: one a line, or NUMBER NAME, or JSON. [default: those that
    /// occur, sorted]
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE", hide_short_help = true))]
    pub classes: Option<PathBuf>,
    /// The column of a manifest that has the paths. [default: path, or another of the names that docs/sources.md lists]
    #[cfg_attr(feature = "clap", arg(long, value_name = "COLUMN", hide_short_help = true))]
    pub path_column: Option<String>,
    /// The column of a manifest that has the labels, such as class. [default: label, labels]
    #[cfg_attr(feature = "clap", arg(long, value_name = "COLUMN"))]
    pub label_column: Option<String>,
    /// The column of a manifest that is kept as the attribute caption. [default: caption]
    #[cfg_attr(feature = "clap", arg(long, value_name = "COLUMN", hide_short_help = true))]
    pub caption_column: Option<String>,
    /// The column of a manifest that has the times at which segments begin. [default: start, time_start]
    #[cfg_attr(feature = "clap", arg(long, value_name = "COLUMN", hide_short_help = true))]
    pub start_column: Option<String>,
    /// The column of a manifest that has the times at which segments end. [default: end, time_end]
    #[cfg_attr(feature = "clap", arg(long, value_name = "COLUMN", hide_short_help = true))]
    pub end_column: Option<String>,
    /// The moment that start and end of a manifest count from: what a player shows, which in MPEG transport and program streams and
    /// Ogg is the time since the first packet of sound or picture, and elsewhere the container's own time (player); or the
    /// time since the first frame of the video (first-frame). Or take whole files, whatever start and end there are
    /// (ignore).
    #[cfg_attr(feature = "clap", arg(long, value_name = "HOW", default_value_t, hide_short_help = true, value_parser = arguments::words::<SegmentClock>()))]
    #[schemars(schema_with = "segments")]
    pub segments: SegmentClock,
    /// Take also what lies outside the input folders: what links in them lead to, and absolute paths, paths with .. and URLs
    /// of lists that were found in them. Set it if you trust whoever made the folders, because such a list can name any file
    /// of this machine, and any server with your credentials. What you name yourself, a list or the root, may always lead
    /// anywhere.
    #[cfg_attr(feature = "clap", arg(long, hide_short_help = true))]
    pub outside: bool,
    /// Each picture (.jpg, .jpeg, .png, .webp) of a folder is a clip of one frame, instead of a frame of its folder's clip; of an
    /// animated one, the first frame. Videos are then passed over.
    #[cfg_attr(feature = "clap", arg(long, hide_short_help = true))]
    pub images: bool,
    /// The number of frames of a folder of frames that make a second. [default: unknown, and nothing can be chosen by time]
    #[cfg_attr(feature = "clap", arg(long, value_name = "RATE", hide_short_help = true))]
    #[schemars(with = "Option<NumberOrText>")]
    pub picture_fps: Option<Rate>,
    /// Pack a track beside the frames, NAME=COLUMN,WORDS: a column of a manifest that names a file for each video (.npy,
    /// .npz, .csv, .tsv, .json; .png, a folder of these, or a video of depth) or holds a list. The words say how its
    /// values lie in time: rate=50 a second; times=T, the array or column that has them; spans, each with a start and an end;
    /// frames, one for each frame of the video, of which those of the packed frames are stored; every-frame, all of them. Also
    /// values=A+B, type=f32, size=640x480, unit=us, clock=segment, tolerance=0.5, partial, nan, list: see docs/tracks.md. Can be
    /// given several times.
    #[cfg_attr(feature = "clap", arg(long, value_name = "TRACK", hide_short_help = true))]
    #[schemars(with = "Vec<String>")]
    pub track: Vec<TrackSpec>,
    /// Also pack the sound of the videos, as the track "audio" of whole numbers of 16 bits, at this many samples a second,
    /// in step with the frames: gaps are filled with silence, overlaps cut. A clip of a segment has the segment's sound, any
    /// other the whole video's. A video without sound has no such track. 16000 mixes all channels into one; 16000:stereo
    /// stores two. Sound is stored as FLAC, of which readers get the same samples; with :raw at the end, as it is; with
    /// :opus, as Opus, which takes far fewer bytes and changes the sound a little.
    #[cfg_attr(feature = "clap", arg(long, value_name = "RATE", hide_short_help = true))]
    #[schemars(with = "Option<NumberOrText>")]
    pub audio: Option<AudioOptions>,
    /// Store the clips in an order shuffled with this seed. [default: the order of the inputs]
    #[cfg_attr(feature = "clap", arg(long, value_name = "SEED", hide_short_help = true, value_parser = arguments::number_of::<u64>("shuffle_seed")))]
    #[serde(deserialize_with = "arguments::whole_or_none")]
    pub shuffle_seed: Option<u64>,
    /// The options and the timeout for reading remote videos. Default: [`Storage::default`]. A cache is not used.
    #[cfg_attr(feature = "clap", arg(skip))]
    #[serde(skip)]
    pub storage: Storage,
}

fn segments(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"enum": <SegmentClock as strum::VariantNames>::VARIANTS})
}

impl InputOptions {
    pub(crate) fn check(&self) -> Result<()> {
        if self.audio.is_some() && self.track.iter().any(|track| track.name == "audio") {
            return Err(Error::usage("two tracks have the name \"audio\"").hint(Hint::OnlyOne("audio", "track")));
        }
        Ok(())
    }
}
