//! Data sets, and single clips of them.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use vidrec::edit::{RatioSplit, Selection, split_clips, subset_clips};
use vidrec::jpeg::Decoder;
use vidrec::{Dtype, OpenOptions};

use crate::error::{raise, to_json, usage};
use crate::memory::Samples;
use crate::options::io;
use crate::selection::{SelectionArguments, SplitArguments};
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

/// Label, class name, source, attributes as JSON, width and height, time base, and whether the source was too short.
type Told = (Option<u32>, String, String, String, (u32, u32), (u32, u32), bool);

/// The schema of a track as JSON, and what its clip has: number of values, numbers, texts, times, ends, rate.
type ToldTrack<'py> = (
    String,
    (
        usize,
        Option<Bound<'py, PyBytes>>,
        Option<Vec<String>>,
        Bound<'py, PyBytes>,
        Option<Bound<'py, PyBytes>>,
        Option<(u32, u32)>,
    ),
);

#[pymethods]
impl Dataset {
    #[new]
    fn new(py: Python<'_>, path: PathBuf, io_name: &str, storage: Storage) -> PyResult<Self> {
        let mut options = OpenOptions::from(storage.into_storage()?);
        options.io = io(io_name)?;
        task::wait(py, vidrec::is_remote(&path), || vidrec::Dataset::open_with(path, options)).map(Dataset)
    }

    fn select(&self, py: Python<'_>, clips: Vec<u64>) -> PyResult<Self> {
        py.detach(|| self.0.select(clips)).map(Dataset).map_err(raise)
    }

    /// The clips of each part.
    fn split(&self, py: Python<'_>, parts: SplitArguments) -> PyResult<Vec<Vec<u64>>> {
        let split = RatioSplit::from(parts);
        self.wait(py, || split_clips(&self.0, &split))
    }

    /// The clips that fit, and the sources that were not found.
    fn subset(&self, py: Python<'_>, chosen: SelectionArguments) -> PyResult<(Vec<u64>, Vec<String>)> {
        let selection = Selection::from(chosen);
        let found = self.wait(py, || subset_clips(&self.0, &selection))?;
        Ok((found.clips, found.not_found))
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
    fn labels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let labels = self.wait(py, || self.0.labels())?;
        let labels: Vec<u8> = labels.iter().flat_map(|label| label.map_or(-1, i64::from).to_ne_bytes()).collect();
        Ok(PyBytes::new(py, &labels))
    }

    /// What was fetched so far, as JSON; none for a local data set.
    fn remote_stats(&self) -> PyResult<Option<String>> {
        self.0.remote_stats().as_ref().map(to_json).transpose()
    }

    /// What `dataset.json` has, as JSON.
    fn describe(&self) -> PyResult<String> {
        to_json(&self.0.to_json())
    }

    fn clip(&self, py: Python<'_>, ordinal: u64) -> PyResult<Told> {
        self.wait(py, || {
            let clip = self.0.clip(ordinal)?;
            let (class, source) = (clip.class()?, clip.source()?);
            let (attributes, size) = (clip.attributes_json()?, (clip.width(), clip.height()));
            Ok((clip.label(), class, source, attributes, size, clip.time_base(), clip.is_short()))
        })
    }

    fn frames_of(&self, py: Python<'_>, ordinal: u64) -> PyResult<u32> {
        self.wait(py, || Ok(self.0.clip(ordinal)?.frame_count()))
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
    fn track<'py>(&self, py: Python<'py>, ordinal: u64, name: &str) -> PyResult<Option<ToldTrack<'py>>> {
        let track = self.wait(py, || self.0.clip(ordinal)?.track(name))?;
        let Some(track) = track else { return Ok(None) };
        let integers = |times: &[i64]| {
            let bytes: Vec<u8> = times.iter().flat_map(|time| time.to_ne_bytes()).collect();
            PyBytes::new(py, &bytes)
        };
        let times: Vec<i64> =
            (0..track.len()).map(|i| track.time_ns(i)).collect::<vidrec::Result<_>>().map_err(raise)?;
        let told = (
            track.len(),
            track.number_bytes().map(|bytes| PyBytes::new(py, bytes)),
            track.texts().map(|texts| texts.collect()),
            integers(&times),
            track.ends_ns().map(|ends| integers(&ends)),
            track.rate().map(|(_, rate)| rate),
        );
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
        let (pixels, (width, height)) = self.wait(py, || Ok(self.decode(ordinal, &wanted)))??;
        let shape = vec![wanted.len() as i64, height.into(), width.into(), 3];
        Ok(Samples::new(pixels, |pixels| pixels, shape, Dtype::U8))
    }
}

impl Dataset {
    /// Does work that may wait for a server, if this is remote.
    fn wait<R: Send>(&self, py: Python<'_>, work: impl FnOnce() -> vidrec::Result<R> + Send) -> PyResult<R> {
        task::wait(py, self.0.is_remote(), work)
    }

    fn decode(&self, ordinal: u64, wanted: &[u32]) -> PyResult<(Vec<u8>, (u32, u32))> {
        let clip = self.0.clip(ordinal).map_err(raise)?;
        let mut decoder = Decoder::new().map_err(raise)?;
        let (mut pixels, mut size) = (Vec::new(), (clip.width(), clip.height()));
        for (i, &t) in wanted.iter().enumerate() {
            let frame = clip.frame(t).map_err(raise)?;
            frame.check().map_err(raise)?;
            let header = decoder.header(frame.jpeg()).map_err(raise)?;
            let found = (header.width, header.height);
            if i == 0 {
                size = found;
            } else if found != size {
                let say = |(w, h)| format!("{w}x{h}");
                let (first, other) = (say(size), say(found));
                return Err(usage(format!(
                    "clip {ordinal}: frame {t} has {other} pixels, but the first has {first}; ask for them one by one"
                )));
            }
            let start = pixels.len();
            pixels.resize(start + header.rgb_len(), 0);
            let pitch = header.width as usize * 3;
            decoder.decode_rgb(frame.jpeg(), &mut pixels[start..], pitch).map_err(raise)?;
        }
        Ok((pixels, size))
    }
}
