//! One batch.

use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyList};
use vidrec::{
    Dataset, Dtype, Field, JpegBatch, JpegFrame, PrefetchedBatch, SampleParams, TilePlan, TrackBatch, TrackData,
    TrackType,
};

use crate::error::{raise, usage};
use crate::memory::Samples;

/// What is the same for all batches of a loader.
#[derive(Clone)]
pub struct Kind {
    pub dtype: Dtype,
    /// Where the sources of the clips are.
    pub dataset: Dataset,
}

/// What the loader gives: samples (none where they went to memory of the caller) or JPEGs, and what is known of each clip.
#[pyclass(frozen, module = "vidrec._vidrec")]
pub struct Batch {
    #[pyo3(get)]
    samples: Option<Py<Samples>>,
    #[pyo3(get)]
    shape: [usize; 5],
    /// Of a batch of JPEGs, which are then the samples.
    jpegs: Option<Vec<JpegFrame>>,
    /// How a device makes the pictures of those.
    pub plan: Option<Box<TilePlan>>,
    /// The parts of that plan.
    packed: Option<Py<Samples>>,
    /// The pictures of clips that a device cannot make.
    others: Option<Py<Samples>>,
    labels: Vec<i64>,
    clips: Vec<u64>,
    source_ids: Vec<u32>,
    mask: Vec<bool>,
    /// The number of clips that count in the batches of this number on all ranks together.
    #[pyo3(get)]
    clips_on_all_ranks: u64,
    frame_mask: Vec<bool>,
    fields: Vec<(String, Field)>,
    tracks: Vec<(String, TrackBatch)>,
    camera_mask: Vec<bool>,
    params: Vec<SampleParams>,
    dataset: Dataset,
}

impl Batch {
    /// A batch made ahead.
    pub fn ahead(py: Python<'_>, batch: PrefetchedBatch, kind: &Kind) -> PyResult<Self> {
        let whole = Batch::known(&batch, kind);
        let samples = Some(Py::new(py, Samples::ahead(batch, kind.dtype))?);
        Ok(Batch { samples, ..whole })
    }

    /// All but the samples.
    pub fn known(batch: &vidrec::Batch, kind: &Kind) -> Self {
        Batch {
            samples: None,
            shape: batch.shape(),
            jpegs: None,
            plan: None,
            packed: None,
            others: None,
            labels: batch.labels.clone(),
            clips: batch.clips.clone(),
            source_ids: batch.source_ids.clone(),
            mask: batch.mask.clone(),
            clips_on_all_ranks: batch.clips_on_all_ranks,
            frame_mask: batch.frame_mask.clone(),
            fields: batch.fields.clone(),
            tracks: batch.tracks.clone(),
            camera_mask: batch.camera_mask.clone(),
            params: batch.params.clone(),
            dataset: kind.dataset.clone(),
        }
    }

    /// A batch made at once.
    pub fn made(py: Python<'_>, batch: vidrec::Batch, kind: &Kind) -> PyResult<Self> {
        let whole = Batch::known(&batch, kind);
        let samples = Some(Py::new(py, Samples::made(batch, kind.dtype))?);
        Ok(Batch { samples, ..whole })
    }

    /// A batch of JPEGs made ahead.
    pub fn jpegs_ahead(py: Python<'_>, mut batch: PrefetchedBatch<JpegBatch>, kind: &Kind) -> PyResult<Self> {
        let (whole, jpegs) = (Batch::known(&batch.facts, kind), Some(batch.frames.clone()));
        let plan = batch.plan().take();
        let samples = Some(Py::new(py, Samples::jpegs_ahead(batch))?);
        Batch { samples, jpegs, ..whole }.planned(py, plan, kind)
    }

    /// A batch of JPEGs made at once.
    pub fn jpegs_made(py: Python<'_>, mut batch: JpegBatch, kind: &Kind) -> PyResult<Self> {
        let (whole, jpegs) = (Batch::known(&batch.facts, kind), Some(batch.frames.clone()));
        let plan = batch.plan.take();
        let samples = Some(Py::new(py, Samples::jpegs_made(batch))?);
        Batch { samples, jpegs, ..whole }.planned(py, plan, kind)
    }

    /// With the plan for a device.
    fn planned(self, py: Python<'_>, plan: Option<Box<TilePlan>>, kind: &Kind) -> PyResult<Self> {
        let Some(mut plan) = plan else { return Ok(self) };
        let packed = std::mem::take(&mut plan.packed);
        let shape = vec![packed.len() as i64];
        let packed = Some(Py::new(py, Samples::of_bytes(packed, shape))?);
        let others = std::mem::take(&mut plan.made);
        let others = if plan.others.is_empty() { None } else { Some(Py::new(py, Samples::made(others, kind.dtype))?) };
        Ok(Batch { plan: Some(plan), packed, others, ..self })
    }
}

#[pymethods]
impl Batch {
    /// Labels as 64-bit integers of this machine, -1 for none.
    #[getter]
    fn labels<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.labels.iter().map(|label| label.to_ne_bytes()))
    }

    /// Ordinals of the clips, likewise.
    #[getter]
    fn clips<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.clips.iter().map(|clip| clip.to_ne_bytes()))
    }

    /// Numbers of the clips' sources in a mix, likewise; none without a mix.
    #[getter]
    fn source_ids<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.source_ids.iter().map(|&source| i64::from(source).to_ne_bytes()))
    }

    /// Of a batch of JPEGs, for each one as values of this machine: where it begins, and where the last one ends, its place,
    /// its width and height, its bounds (all as 64-bit integers), its window (64-bit floats), a byte whether it is
    /// mirrored, rows and offset of its colors, row by row, and the mean and standard deviation of each channel (32-bit
    /// floats).
    #[getter]
    fn jpegs<'py>(&self, py: Python<'py>) -> Option<[Bound<'py, PyBytes>; 8]> {
        let frames = self.jpegs.as_deref()?;
        let integer = |n: usize| (n as u64).to_ne_bytes();
        let starts = frames.iter().map(|frame| frame.bytes.start);
        let end = frames.last().map_or(0, |last| last.bytes.end);
        let colors = |frame: &JpegFrame| {
            let row = |(row, offset): ([f32; 3], f32)| [row[0], row[1], row[2], offset];
            frame.colors.rows.into_iter().zip(frame.colors.offset).flat_map(row).collect::<Vec<_>>()
        };
        let normalize = |frame: &JpegFrame| [frame.normalize.mean, frame.normalize.std].concat();
        Some([
            bytes(py, starts.chain([end]).map(integer)),
            bytes(py, frames.iter().map(|frame| integer(frame.place))),
            bytes(py, frames.iter().flat_map(|frame| [frame.size.0, frame.size.1]).map(|n| u64::from(n).to_ne_bytes())),
            bytes(py, frames.iter().flat_map(|frame| frame.bounds).map(|n| u64::from(n).to_ne_bytes())),
            bytes(py, frames.iter().flat_map(|frame| frame.window).map(f64::to_ne_bytes)),
            bytes(py, frames.iter().map(|frame| [u8::from(frame.flip)])),
            bytes(py, frames.iter().flat_map(colors).map(f32::to_ne_bytes)),
            bytes(py, frames.iter().flat_map(normalize).map(f32::to_ne_bytes)),
        ])
    }

    /// How a device makes the pictures: the parts of the plan, and where each begins and ends (tiles, frames, codings,
    /// numbers, weights, conversions, JPEGs to take and to keep); then the samples of planes, of lines and of the
    /// longest line, and the bytes of all JPEGs.
    #[getter]
    fn plan(&self, py: Python<'_>) -> Option<Plan> {
        let (plan, packed) = (self.plan.as_ref()?, self.packed.as_ref()?);
        let sizes = [plan.samples, plan.lines, plan.longest_line, plan.bytes];
        Some((packed.clone_ref(py), plan.parts.clone(), sizes))
    }

    /// The numbers of clips that the processor made, because a device cannot, as 64-bit integers of this machine, and
    /// their pictures; none if there are no such clips.
    #[getter]
    fn others<'py>(&self, py: Python<'py>) -> Option<(Bound<'py, PyBytes>, Py<Samples>)> {
        let (plan, samples) = (self.plan.as_ref()?, self.others.as_ref()?);
        Some((bytes(py, plan.others.iter().map(|clip| clip.to_ne_bytes())), samples.clone_ref(py)))
    }

    /// Whether each clip counts, a byte each.
    #[getter]
    fn mask<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.mask.iter().map(|&counts| [u8::from(counts)]))
    }

    /// Whether each frame of each clip is one that was asked for, a byte each.
    #[getter]
    fn frame_mask<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.frame_mask.iter().map(|&meant| [u8::from(meant)]))
    }

    /// Whether there is a clip of each camera of each sample, a byte each; none without cameras.
    #[getter]
    fn camera_mask<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.camera_mask.iter().map(|&there| [u8::from(there)]))
    }

    /// Presentation time of each frame of each clip in seconds, as 64-bit floats of this machine; not a number where
    /// a clip is padded.
    #[getter]
    fn times<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let frames = self.frame_mask.len() / self.params.len().max(1);
        let of_clip = |(params, mask): (&SampleParams, &[bool])| {
            let is_padded = params.times.len() < frames;
            let mut times = params.times.iter().copied();
            let mut time = |&meant: &bool| if meant || !is_padded { times.next() } else { None };
            mask.iter().map(|meant| time(meant).unwrap_or(f64::NAN)).collect::<Vec<_>>()
        };
        let clips = self.params.iter().zip(self.frame_mask.chunks(frames.max(1)));
        bytes(py, clips.flat_map(of_clip).map(f64::to_ne_bytes))
    }

    /// The source of each clip.
    #[getter]
    fn sources(&self) -> PyResult<Vec<String>> {
        let source = |&clip: &u64| self.dataset.clip(clip)?.source();
        self.clips.iter().map(source).collect::<vidrec::Result<_>>().map_err(raise)
    }

    /// The attributes that were asked for: name, kind, and numbers as bytes of this machine or a list.
    #[getter]
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, &'static str, Bound<'py, PyAny>)>> {
        let field = |(name, field): &(String, Field)| {
            let (kind, values) = match field {
                Field::Integers(values) => ("int64", bytes(py, values.iter().map(|v| v.to_ne_bytes())).into_any()),
                Field::Floats(values) => ("float64", bytes(py, values.iter().map(|v| v.to_ne_bytes())).into_any()),
                Field::Texts(values) => ("text", PyList::new(py, values)?.into_any()),
                Field::Json(values) => ("json", PyList::new(py, values)?.into_any()),
                _ => return Err(usage(format!("field {name}: a kind that this package does not know"))),
            };
            Ok((name.clone(), kind, values))
        };
        self.fields.iter().map(field).collect()
    }

    /// The tracks that were asked for.
    #[getter]
    fn tracks<'py>(&self, py: Python<'py>) -> PyResult<Vec<Track<'py>>> {
        let track = |(name, track): &(String, TrackBatch)| {
            let kind = match track.values.kind() {
                TrackType::F32 => "float32",
                TrackType::F64 => "float64",
                TrackType::I16 => "int16",
                TrackType::I32 => "int32",
                TrackType::I64 => "int64",
                TrackType::U8 => "uint8",
                TrackType::U16 => "uint16",
                TrackType::Bool => "bool",
                TrackType::Utf8 => "text",
            };
            let values = match &track.values {
                TrackData::Texts(texts) => PyList::new(py, texts)?.into_any(),
                numbers => PyByteArray::new(py, numbers.bytes().unwrap_or_default()).into_any(),
            };
            let mask: Vec<u8> = track.mask.iter().map(|&there| u8::from(there)).collect();
            let mask = PyByteArray::new(py, &mask);
            let shapes = (track.shape.clone(), track.mask_shape.clone());
            let dims = bytes(py, track.dims.iter().map(|&dims| i64::from(dims).to_ne_bytes()));
            Ok((name.clone(), kind, shapes, values, mask, track.times.clone(), dims))
        };
        self.tracks.iter().map(track).collect()
    }

    /// What was drawn for each clip, a dict each.
    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for params in &self.params {
            list.append(dict(py, params)?)?;
        }
        Ok(list)
    }
}

/// The parts of a plan, where each begins and ends, and numbers of samples and of bytes.
type Plan = (Py<Samples>, Vec<(usize, usize)>, [u64; 4]);

/// Name, type, shape and shape of the mask, numbers as bytes of this machine or lists of texts, the mask, a byte each, starts and
/// ends of texts, and numbers of a value of each clip as 64-bit integers of this machine, if they are counted.
type Track<'py> = (
    String,
    &'static str,
    (Vec<usize>, Vec<usize>),
    Bound<'py, PyAny>,
    Bound<'py, PyByteArray>,
    Vec<Vec<(f64, f64)>>,
    Bound<'py, PyBytes>,
);

fn bytes<'py, const N: usize>(py: Python<'py>, values: impl Iterator<Item = [u8; N]>) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &values.flatten().collect::<Vec<u8>>())
}

fn dict<'py>(py: Python<'py>, params: &SampleParams) -> PyResult<Bound<'py, PyDict>> {
    let color = PyDict::new(py);
    color.set_item("brightness", params.color.brightness)?;
    color.set_item("contrast", params.color.contrast)?;
    color.set_item("saturation", params.color.saturation)?;
    color.set_item("order", params.color.order.map(|step| step.to_string()))?;
    color.set_item("grayscale", params.color.grayscale)?;
    let dict = PyDict::new(py);
    dict.set_item("sample", params.sample)?;
    dict.set_item("view", params.view)?;
    dict.set_item("frames", &params.frames)?;
    dict.set_item("window", params.window)?;
    dict.set_item("flip", params.flip)?;
    dict.set_item("color", color)?;
    dict.set_item("instead_of", params.instead_of)?;
    Ok(dict)
}
