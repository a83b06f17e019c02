//! The options of a pack from the dict that `vidrec/_pack_options.py` makes of the arguments, and their defaults.

use std::collections::HashMap;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use vidrec::Error;
use vidrec::pack::arguments::{self, Seconds, check_together, exact_size};
use vidrec::pack::{
    FrameOptions, InParts, InputOptions, PackOptions, PictureOptions, Resources, RunOptions, TrackSpec, VideoLimits,
};
use vidrec::sampler::Rule;
use vidrec::video::{AudioChannels, AudioOptions, Decode, FrameSize};

use crate::error::{raise, refuse};
use crate::output::Remote;
use crate::storage::Storage;

/// The arguments that the caller gave. Every key must be there. All others have the library's defaults.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Options {
    /// Values as text, as the library reads them, by name.
    values: HashMap<String, String>,
    /// Names of the flags that are on.
    flags: Vec<String>,
    root: Option<PathBuf>,
    classes: Option<PathBuf>,
    storage: Storage,
    scratch: Option<PathBuf>,
    only_publisher: bool,
}

impl Options {
    /// The options as the library has them.
    pub fn to_pack_options(&self) -> PyResult<PackOptions> {
        let given: Vec<&str> = self.values.keys().chain(&self.flags).map(String::as_str).collect();
        check_together(&given).map_err(raise)?;
        Ok(PackOptions {
            input: self.input()?,
            frames: self.frames()?,
            pictures: self.pictures()?,
            audio: self.audio()?,
            limits: self.limits()?,
            resources: self.resources()?,
            run: self.run()?,
        })
    }

    /// How many parts to pack in, and how many of them at a time, if parts were asked for.
    pub fn parts(&self) -> PyResult<Option<InParts>> {
        let jobs = self.number("jobs")?.unwrap_or(1);
        let Some(parts) = self.number("parts")? else { return Ok(None) };
        let mut parts = InParts::from((parts, jobs));
        (parts.scratch, parts.only_publisher) = (self.scratch.clone(), self.only_publisher);
        Ok(Some(parts))
    }

    /// How an output is written that is in object storage.
    pub fn remote(&self) -> Remote {
        Remote { storage: self.storage.clone(), scratch: self.scratch.clone(), only_publisher: self.only_publisher }
    }

    fn input(&self) -> PyResult<InputOptions> {
        Ok(InputOptions {
            root: self.root.clone(),
            split: self.values.get("split").cloned(),
            classes: self.classes.clone(),
            whole_files: self.is_on("whole_files"),
            shuffle_seed: self.number("shuffle_seed")?,
            tracks: self.tracks()?,
            outside: self.is_on("outside"),
            storage: self.storage.clone().into_storage()?,
        })
    }

    /// One on a line.
    fn tracks(&self) -> PyResult<Vec<TrackSpec>> {
        let lines = |text: &str| text.lines().map(str::parse).collect();
        Ok(self.read("track", lines)?.unwrap_or_default())
    }

    fn frames(&self) -> PyResult<FrameOptions> {
        let default = FrameOptions::default();
        let pace =
            arguments::pace(self.text("fps")?, self.number("every")?, self.is_on("all"), self.is_on("keyframes"));
        Ok(FrameOptions {
            count: self.number("frames")?.unwrap_or(default.count),
            rule: self.rule()?,
            short: self.text("short")?.unwrap_or(default.short),
            seed: self.number("seed")?.unwrap_or(default.seed),
            draws: self.number("draws")?.unwrap_or(default.draws),
            pace,
            max_frames: self.number("max_frames")?,
            picture_rate: self.text("picture_fps")?,
            segment_clock: self.text("segment_clock")?.unwrap_or(default.segment_clock),
            decode: if self.is_on("decode_all") { Decode::All } else { default.decode },
        })
    }

    fn rule(&self) -> PyResult<Rule> {
        let rule = self.text("sample")?.unwrap_or(FrameOptions::default().rule);
        match self.number("stride")? {
            Some(stride) => rule.with_stride(stride).map_err(raise),
            None => Ok(rule),
        }
    }

    fn pictures(&self) -> PyResult<PictureOptions> {
        let (size, short_side) = (self.read("size", exact_size)?, self.number("short_side")?);
        Ok(PictureOptions {
            size: arguments::frame_size(size, self.is_on("original"), short_side, self.is_on("enlarge")),
            quality: self.number("quality")?.unwrap_or(PictureOptions::default().quality),
            target: self.text("target_quality")?,
            effort: self.number("effort")?.unwrap_or(PictureOptions::default().effort),
            optimize: self.is_on("optimize"),
            reduce_depth: self.is_on("reduce_depth"),
            pass_through: self.is_on("pass_through"),
        })
    }

    fn audio(&self) -> PyResult<Option<AudioOptions>> {
        let channels = self.text("audio_channels")?.unwrap_or_default();
        Ok(self.number("audio")?.map(|rate| AudioOptions { rate, channels }))
    }

    fn limits(&self) -> PyResult<VideoLimits> {
        let default = VideoLimits::default();
        Ok(VideoLimits {
            timeout: self.seconds("timeout", Seconds::above_zero)?.unwrap_or(default.timeout),
            max_pixels: self.number("max_pixels")?.unwrap_or(default.max_pixels),
            max_duration: self.seconds("max_duration", Seconds::above_zero)?,
        })
    }

    fn resources(&self) -> PyResult<Resources> {
        Ok(Resources {
            threads: self.number("threads")?,
            io_threads: self.number("io_threads")?.unwrap_or(Resources::default().io_threads),
            memory: self.read("memory", vidrec::parse_bytes)?,
            isolate: None,
        })
    }

    fn run(&self) -> PyResult<RunOptions> {
        let default = RunOptions::default();
        Ok(RunOptions {
            sharding: arguments::sharding(self.number("shards")?, self.read("shard_size", vidrec::parse_bytes)?),
            overwrite: self.is_on("overwrite"),
            interrupted: arguments::interrupted(self.is_on("resume"), self.is_on("restart")),
            retry_failed: self.is_on("retry_failed"),
            on_error: self.text("on_error")?.unwrap_or(default.on_error),
            max_failures: self.text("max_failures")?,
            commit_every: self.seconds("commit_every", str::parse)?.unwrap_or(default.commit_every),
        })
    }

    fn is_on(&self, flag: &str) -> bool {
        self.flags.iter().any(|on| on == flag)
    }

    fn read<T>(&self, name: &str, read: impl FnOnce(&str) -> vidrec::Result<T>) -> PyResult<Option<T>> {
        let value = self.values.get(name).map(|text| read(text));
        value.transpose().map_err(|e| refuse(name, &e))
    }

    fn text<T: FromStr<Err = Error>>(&self, name: &str) -> PyResult<Option<T>> {
        self.read(name, str::parse)
    }

    fn number<T: TryFrom<u64>>(&self, name: &str) -> PyResult<Option<T>> {
        self.read(name, |text| arguments::number(name, text))
    }

    fn seconds(&self, name: &str, read: impl FnOnce(&str) -> vidrec::Result<Seconds>) -> PyResult<Option<Duration>> {
        Ok(self.read(name, read)?.map(|Seconds(time)| time))
    }
}

/// The defaults of the library, as the arguments of `vidrec.pack` that they are. A test holds both together.
#[pyfunction]
pub fn pack_defaults(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let PackOptions { input, frames, pictures, limits, resources, run, .. } = PackOptions::default();
    let dict = PyDict::new(py);
    dict.set_item("whole_files", input.whole_files)?;
    dict.set_item("outside", input.outside)?;
    dict.set_item("storage_timeout", input.storage.timeout.as_secs_f64())?;
    dict.set_item("frames", frames.count)?;
    dict.set_item("sample", frames.rule.to_string())?;
    dict.set_item("stride", frames.rule.stride())?;
    dict.set_item("short", frames.short.to_string())?;
    dict.set_item("seed", frames.seed)?;
    dict.set_item("draws", frames.draws)?;
    dict.set_item("segment_clock", frames.segment_clock.to_string())?;
    dict.set_item("decode_all", frames.decode == Decode::All)?;
    if let FrameSize::ShortSide(side) = pictures.size {
        dict.set_item("short_side", side)?;
    }
    dict.set_item("quality", pictures.quality)?;
    dict.set_item("effort", pictures.effort)?;
    dict.set_item("optimize", pictures.optimize)?;
    dict.set_item("reduce_depth", pictures.reduce_depth)?;
    dict.set_item("pass_through", pictures.pass_through)?;
    dict.set_item("audio_channels", AudioChannels::default().to_string())?;
    dict.set_item("timeout", limits.timeout.as_secs_f64())?;
    dict.set_item("max_pixels", limits.max_pixels)?;
    dict.set_item("io_threads", resources.io_threads)?;
    dict.set_item("overwrite", run.overwrite)?;
    dict.set_item("retry_failed", run.retry_failed)?;
    dict.set_item("on_error", run.on_error.to_string())?;
    dict.set_item("commit_every", run.commit_every.as_secs_f64())?;
    Ok(dict)
}
