//! One batch.

use std::ops::DerefMut;

use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyList};
use vidrec::{Dataset, Dtype, Field, JpegBatch, SampleParams, TilePlan, TrackBatch, TrackData, TrackType};

use crate::error::{raise, to_json, usage};
use crate::memory::Samples;

/// The facts that all batches of a loader share.
#[derive(Clone)]
pub struct Kind {
    pub dtype: Dtype,
    /// The data set, which has the sources of the clips.
    pub dataset: Dataset,
}

/// The samples of a batch, which are none in memory of the caller, or its JPEGs, and what is known of each clip.
#[pyclass(frozen, module = "vidrec._vidrec")]
pub struct Batch {
    #[pyo3(get)]
    samples: Option<Py<Samples>>,
    /// The plan by which a device makes pictures of JPEGs, and its parts.
    pub plan: Option<(Box<TilePlan>, Py<Samples>)>,
    /// The pictures of clips that a device cannot make.
    others: Option<Py<Samples>>,
    /// A batch without pictures.
    facts: vidrec::Batch,
    dataset: Dataset,
}

impl Batch {
    /// A batch without its samples.
    pub fn known(batch: &mut vidrec::Batch, kind: &Kind) -> Self {
        let data = std::mem::take(&mut batch.data);
        let facts = batch.clone();
        batch.data = data;
        Batch { samples: None, plan: None, others: None, facts, dataset: kind.dataset.clone() }
    }

    /// A batch of pictures; `held` is a batch made at once or ahead.
    pub fn pictures<T: DerefMut<Target = vidrec::Batch> + Send + 'static>(
        py: Python<'_>,
        mut held: T,
        kind: &Kind,
    ) -> PyResult<Self> {
        let known = Batch::known(&mut held, kind);
        Ok(Batch { samples: Some(Py::new(py, pictures(held, kind.dtype))?), ..known })
    }

    /// A batch of JPEGs, with the plan for a device if there is one.
    pub fn jpegs<T: DerefMut<Target = JpegBatch> + Send + 'static>(
        py: Python<'_>,
        mut held: T,
        kind: &Kind,
    ) -> PyResult<Self> {
        let mut batch = Batch::known(&mut held.facts, kind);
        if let Some(mut plan) = held.plan.take() {
            let packed = Samples::of_bytes(std::mem::take(&mut plan.packed), |packed| packed);
            let made = Box::new(std::mem::take(&mut plan.made));
            if !plan.others.is_empty() {
                batch.others = Some(Py::new(py, pictures(made, kind.dtype))?);
            }
            batch.plan = Some((plan, Py::new(py, packed)?));
        }
        batch.samples = Some(Py::new(py, Samples::of_bytes(held, |held| &mut held.data))?);
        Ok(batch)
    }
}

fn pictures<T: DerefMut<Target = vidrec::Batch> + Send + 'static>(held: T, dtype: Dtype) -> Samples {
    let shape = held.shape().map(|n| n as i64).to_vec();
    Samples::new(held, |held| held.data.bytes_mut(), shape, dtype)
}

#[pymethods]
impl Batch {
    #[getter]
    fn shape(&self) -> [usize; 5] {
        self.facts.shape()
    }

    /// The number of clips that count in the batches of this number on all ranks together.
    #[getter]
    fn clips_on_all_ranks(&self) -> u64 {
        self.facts.clips_on_all_ranks
    }

    /// Labels as 64-bit integers of this machine, -1 for none.
    #[getter]
    fn labels<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.facts.labels.iter().map(|label| label.to_ne_bytes()))
    }

    /// Ordinals of the clips, likewise.
    #[getter]
    fn clips<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.facts.clips.iter().map(|clip| clip.to_ne_bytes()))
    }

    /// Numbers of the clips' sources in a mix, likewise; none without a mix.
    #[getter]
    fn source_ids<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.facts.source_ids.iter().map(|&source| i64::from(source).to_ne_bytes()))
    }

    /// How a device makes the pictures: the parts of the plan, and where each begins and ends (tiles, frames, codings,
    /// numbers, weights, conversions, JPEGs to take and to keep); then the samples of planes, of lines and of the
    /// longest line, and the bytes of all JPEGs.
    #[getter]
    fn plan(&self, py: Python<'_>) -> Option<Plan> {
        let (plan, packed) = self.plan.as_ref()?;
        let sizes = [plan.samples, plan.lines, plan.longest_line, plan.bytes];
        Some((packed.clone_ref(py), plan.parts.clone(), sizes))
    }

    /// The numbers of clips that the processor made, because a device cannot, as 64-bit integers of this machine, and
    /// their pictures; none if there are no such clips.
    #[getter]
    fn others<'py>(&self, py: Python<'py>) -> Option<(Bound<'py, PyBytes>, Py<Samples>)> {
        let ((plan, _), samples) = (self.plan.as_ref()?, self.others.as_ref()?);
        Some((bytes(py, plan.others.iter().map(|clip| clip.to_ne_bytes())), samples.clone_ref(py)))
    }

    /// Whether each clip counts, a byte each.
    #[getter]
    fn mask<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.facts.mask.iter().map(|&counts| [u8::from(counts)]))
    }

    /// Whether each frame of each clip is one that was asked for, a byte each.
    #[getter]
    fn frame_mask<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.facts.frame_mask.iter().map(|&meant| [u8::from(meant)]))
    }

    /// Whether there is a clip of each camera of each sample, a byte each; none without cameras.
    #[getter]
    fn camera_mask<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.facts.camera_mask.iter().map(|&there| [u8::from(there)]))
    }

    /// Presentation time of each frame of each clip in seconds, as 64-bit floats of this machine; not a number where
    /// a clip is padded.
    #[getter]
    fn times<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let frames = self.facts.frame_mask.len() / self.facts.params.len().max(1);
        let of_clip = |(params, mask): (&SampleParams, &[bool])| {
            let is_padded = params.times.len() < frames;
            let mut times = params.times.iter().copied();
            let mut time = |&meant: &bool| if meant || !is_padded { times.next() } else { None };
            mask.iter().map(|meant| time(meant).unwrap_or(f64::NAN)).collect::<Vec<_>>()
        };
        let clips = self.facts.params.iter().zip(self.facts.frame_mask.chunks(frames.max(1)));
        bytes(py, clips.flat_map(of_clip).map(f64::to_ne_bytes))
    }

    /// The source of each clip.
    #[getter]
    fn sources(&self) -> PyResult<Vec<String>> {
        let source = |&clip: &u64| self.dataset.clip(clip)?.source();
        self.facts.clips.iter().map(source).collect::<vidrec::Result<_>>().map_err(raise)
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
        self.facts.fields.iter().map(field).collect()
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
        self.facts.tracks.iter().map(track).collect()
    }

    /// The values that were drawn for each clip, as JSON.
    #[getter]
    fn params(&self) -> PyResult<String> {
        to_json(&self.facts.params)
    }
}

/// The parts of a plan, where each begins and ends, and numbers of samples and of bytes.
type Plan = (Py<Samples>, Vec<(usize, usize)>, [u64; 4]);

/// Name, type, shape and shape of the mask, numbers as bytes of this machine or lists of texts, the mask as bytes, starts and
/// ends of texts, and how many numbers a value of each clip has, as 64-bit integers of this machine, if they are counted.
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
