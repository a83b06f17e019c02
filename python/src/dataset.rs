//! Data sets, single clips of them, and mixes.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use vidrec::edit::{RatioSplit, Selection, split_clips, subset_clips};
use vidrec::jpeg::Decoder;
use vidrec::{Dtype, MixOptions, OpenOptions};

use crate::batch::bytes;
use crate::error::{from_json, raise, to_json, usage};
use crate::memory::Samples;
use crate::storage::Storage;
use crate::task;

/// A data set: an open one, or some clips of one.
#[pyclass(frozen, module = "vidrec._vidrec")]
pub struct Dataset(vidrec::Dataset);

impl Dataset {
    pub fn get(&self) -> &vidrec::Dataset {
        &self.0
    }
}

/// Frames, label, class name, source, attributes as JSON, width and height, time base, and whether the source was too short.
type ClipFields = (u32, Option<u32>, String, String, String, (u32, u32), (u32, u32), bool);

/// The schema of a track as JSON, and what its clip has: number of values, numbers, texts, times, ends, rate, items of each list. Times and ends are
/// 64-bit integers of this machine.
type TrackFields =
    (String, (usize, Option<Vec<u8>>, Option<Vec<String>>, Vec<u8>, Option<Vec<u8>>, Option<(u32, u32)>, Vec<usize>));

#[pymethods]
impl Dataset {
    #[new]
    fn new(py: Python<'_>, path: PathBuf, io_name: &str, storage: Storage, clips: Option<u64>) -> PyResult<Self> {
        let mut options = OpenOptions::from(storage.into_storage()?);
        options.io = io_name.parse().map_err(|e| usage(format!("loader option {e}")))?;
        options.clips = clips;
        task::wait(py, vidrec::is_remote(&path), || vidrec::Dataset::open_with(path, options)).map(Dataset)
    }

    fn select(&self, py: Python<'_>, clips: Vec<u64>) -> PyResult<Self> {
        py.detach(|| self.0.select(clips)).map(Dataset).map_err(raise)
    }

    /// The clips of each part.
    fn split(&self, py: Python<'_>, split: &str) -> PyResult<Vec<Vec<u64>>> {
        let split: RatioSplit = from_json("parts", split)?;
        self.wait(py, || split_clips(&self.0, &split))
    }

    /// The clips that fit, and the sources that were not found.
    fn subset(&self, py: Python<'_>, chosen: &str) -> PyResult<(Vec<u64>, Vec<String>)> {
        let selection: Selection = from_json("clips", chosen)?;
        self.wait(py, || subset_clips(&self.0, &selection))
    }

    #[staticmethod]
    fn concat(py: Python<'_>, parts: Vec<PyRef<'_, Dataset>>) -> PyResult<Self> {
        let parts: Vec<_> = parts.iter().map(|part| part.0.clone()).collect();
        py.detach(|| vidrec::Dataset::concat(&parts)).map(Dataset).map_err(raise)
    }

    fn __len__(&self) -> usize {
        usize::try_from(self.0.len()).unwrap_or(usize::MAX)
    }

    fn frame_count(&self) -> u64 {
        self.0.frame_count()
    }

    fn classes(&self) -> Vec<String> {
        self.0.classes().to_vec()
    }

    fn fingerprint(&self) -> String {
        self.0.fingerprint().digest
    }

    /// The label of every clip as 64-bit integers of this machine, -1 for none.
    fn labels(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        Ok(bytes(self.wait(py, || self.0.labels())?.iter().map(|label| label.map_or(-1, i64::from).to_ne_bytes())))
    }

    /// What was fetched so far, as JSON; none for a local data set.
    fn remote_stats(&self) -> PyResult<Option<String>> {
        self.0.remote_stats().as_ref().map(to_json).transpose()
    }

    /// What `dataset.json` has, as JSON.
    fn describe(&self) -> PyResult<String> {
        to_json(&self.0.to_json())
    }

    fn clip(&self, py: Python<'_>, ordinal: u64) -> PyResult<ClipFields> {
        self.wait(py, || {
            let clip = self.0.clip(ordinal)?;
            let (class, source) = (clip.class()?, clip.source()?);
            let (attributes, size) = (clip.attributes_json()?, (clip.width(), clip.height()));
            Ok((clip.frame_count(), clip.label(), class, source, attributes, size, clip.time_base(), clip.is_short()))
        })
    }

    /// For each frame of a clip its presentation time and its place among the source's frames.
    fn times(&self, py: Python<'_>, ordinal: u64) -> PyResult<(Vec<i64>, Vec<Option<u32>>)> {
        let times = || {
            let clip = self.0.clip(ordinal)?;
            clip.frames().map(|frame| frame.map(|frame| (frame.pts(), frame.source_index()))).collect()
        };
        let times: Vec<_> = self.wait(py, times)?;
        Ok(times.into_iter().unzip())
    }

    /// The tracks that clips can have, as JSON.
    fn tracks(&self, py: Python<'_>) -> PyResult<String> {
        to_json(&self.wait(py, || self.0.tracks())?)
    }

    /// Statistics of the tracks of these names, or of all tracks of numbers, as JSON.
    fn track_stats(&self, py: Python<'_>, names: Option<Vec<String>>) -> PyResult<String> {
        let names: Option<Vec<&str>> = names.as_ref().map(|names| names.iter().map(String::as_str).collect());
        to_json(&task::wait(py, true, || vidrec::track_stats(&self.0, names.as_deref()))?)
    }

    /// Statistics of the pixels of some frames of each clip, as JSON.
    fn picture_stats(&self, py: Python<'_>, frames: u32) -> PyResult<String> {
        to_json(&task::wait(py, true, || vidrec::picture_stats(&self.0, frames))?)
    }

    /// The names of the tracks that a clip has.
    fn tracks_of(&self, py: Python<'_>, ordinal: u64) -> PyResult<Vec<String>> {
        let names = || Ok(self.0.clip(ordinal)?.tracks()?.names().map(str::to_owned).collect());
        self.wait(py, names)
    }

    /// A track of a clip, after a comparison of its checksum; none if the clip does not have it.
    fn track(&self, py: Python<'_>, ordinal: u64, name: &str) -> PyResult<Option<TrackFields>> {
        let track = self.wait(py, || self.0.clip(ordinal)?.track(name))?;
        let Some(track) = track else { return Ok(None) };
        let times: Vec<i64> =
            (0..track.len()).map(|i| track.time_ns(i)).collect::<vidrec::Result<_>>().map_err(raise)?;
        let integers = |times: &[i64]| bytes(times.iter().map(|time| time.to_ne_bytes()));
        let (numbers, texts) = (track.number_bytes().map(<[u8]>::to_vec), track.texts().map(|texts| texts.collect()));
        let rate = track.rate().map(|(_, rate)| rate);
        let lists: Vec<usize> = (0..track.len()).filter_map(|i| track.items(i)).map(|items| items.len()).collect();
        let ends = track.ends_ns().map(|ends| integers(&ends));
        let told = (track.len(), numbers, texts, integers(&times), ends, rate, lists);
        Ok(Some((to_json(track.schema())?, told)))
    }

    /// A frame's JPEG; its checksum is compared first.
    fn jpeg<'py>(&self, py: Python<'py>, ordinal: u64, t: u32) -> PyResult<Bound<'py, PyBytes>> {
        let frame = self.wait(py, || {
            let frame = self.0.clip(ordinal)?.frame(t)?;
            frame.check()?;
            Ok(frame)
        })?;
        Ok(PyBytes::new(py, frame.jpeg()))
    }

    /// Frames in RGB, 8 bits, (T, H, W, 3); their checksums are compared first.
    fn frames(&self, py: Python<'_>, ordinal: u64, wanted: Vec<u32>) -> PyResult<Samples> {
        let (pixels, (width, height)) = self.wait(py, || self.decode(ordinal, &wanted))?;
        let shape = vec![wanted.len(), height as usize, width as usize, 3];
        Ok(Samples::new(pixels, |pixels| pixels, shape, Dtype::U8))
    }
}

impl Dataset {
    /// Does work that may wait for a server, if this is remote.
    fn wait<R: Send>(&self, py: Python<'_>, work: impl FnOnce() -> vidrec::Result<R> + Send) -> PyResult<R> {
        task::wait(py, self.0.is_remote(), work)
    }

    fn decode(&self, ordinal: u64, wanted: &[u32]) -> vidrec::Result<(Vec<u8>, (u32, u32))> {
        let (clip, mut decoder) = (self.0.clip(ordinal)?, Decoder::new()?);
        let (mut pixels, mut size) = (Vec::new(), (clip.width(), clip.height()));
        for (i, &t) in wanted.iter().enumerate() {
            let frame = clip.frame(t)?;
            frame.check()?;
            let header = decoder.header(frame.jpeg())?;
            let (width, height) = (header.width, header.height);
            if i > 0 && (width, height) != size {
                return Err(vidrec::Error::usage(format!(
                    "clip {ordinal}: frame {t} has {width}x{height} pixels, but the first has {}x{}; ask for them one by one",
                    size.0, size.1
                )));
            }
            size = (width, height);
            let start = pixels.len();
            pixels.resize(start + header.rgb_len(), 0);
            decoder.decode_rgb(frame.jpeg(), &mut pixels[start..], width as usize * 3)?;
        }
        Ok((pixels, size))
    }
}

/// Several data sets with weights.
#[pyclass(frozen, module = "vidrec._vidrec")]
pub struct Mix(vidrec::Mix);

impl Mix {
    pub fn get(&self) -> &vidrec::Mix {
        &self.0
    }
}

#[pymethods]
impl Mix {
    /// `options` is JSON.
    #[new]
    fn new(py: Python<'_>, sources: Vec<(String, PyRef<'_, Dataset>, f64)>, options: &str) -> PyResult<Self> {
        let sources: Vec<_> =
            sources.into_iter().map(|(name, set, weight)| (name, set.get().clone(), weight)).collect();
        let options: MixOptions = from_json("mix", options)?;
        py.detach(|| vidrec::Mix::new(sources, options)).map(Mix).map_err(raise)
    }

    fn __len__(&self) -> usize {
        usize::try_from(self.0.dataset().len()).unwrap_or(usize::MAX)
    }

    fn classes(&self) -> Vec<String> {
        self.0.classes().to_vec()
    }

    /// The number of the source that has a clip, and the clip's ordinal in it.
    fn place(&self, clip: u64) -> Option<(usize, u64)> {
        self.0.place(clip)
    }
}
