//! One batch.

use std::ops::DerefMut;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use vidrec::{Dataset, Dtype, Field, JpegBatch, PlanSizes, SampleParams, TilePlan, TrackType};

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
    /// The plan by which a device makes pictures of JPEGs.
    pub plan: Option<Box<TilePlan>>,
    /// The pictures of clips that a device cannot make.
    others: Option<Py<Samples>>,
    /// What a training loop may ask for: the fields of [`Facts`].
    #[pyo3(get)]
    facts: Py<PyDict>,
    clips: Vec<u64>,
    params: Vec<SampleParams>,
    dataset: Dataset,
}

/// Facts of a batch. Numbers are bytes in the order of this machine, booleans a byte each.
#[derive(IntoPyObject)]
struct Facts {
    shape: [usize; 5],
    /// The number of clips that count in the batches of this number on all ranks together.
    clips_on_all_ranks: u64,
    /// 64-bit integers, -1 for none.
    labels: Vec<u8>,
    /// Ordinals as 64-bit integers.
    clips: Vec<u8>,
    /// Numbers of the clips' sources in a mix as 64-bit integers; none without a mix.
    source_ids: Vec<u8>,
    mask: Vec<u8>,
    frame_mask: Vec<u8>,
    camera_mask: Vec<u8>,
    /// Presentation time of each frame of each clip in seconds, as 64-bit floats; not a number where a clip is padded.
    times: Vec<u8>,
    /// Name, type and values of attributes.
    fields: Vec<(String, &'static str, Values)>,
    tracks: Vec<Track>,
}

#[derive(IntoPyObject)]
struct Track {
    name: String,
    kind: String,
    shape: Vec<usize>,
    mask_shape: Vec<usize>,
    values: Values,
    mask: Vec<u8>,
    /// Starts and ends of texts.
    times: Vec<Vec<(f64, f64)>>,
    /// How many numbers a value of each clip has, as 64-bit integers, if they are counted.
    dims: Vec<u8>,
    /// How many items each list has, as 64-bit integers, and the dimensions of these counts, if values are lists.
    counts: Option<(Vec<u8>, Vec<usize>)>,
}

#[derive(IntoPyObject)]
enum Values {
    Numbers(Vec<u8>),
    Texts(Vec<Option<String>>),
    Lists(Vec<Vec<String>>),
}

impl Batch {
    /// A batch without its samples.
    pub fn known(py: Python<'_>, batch: &mut vidrec::Batch, kind: &Kind) -> PyResult<Self> {
        let facts = facts(batch)?.into_pyobject(py)?.unbind();
        let (clips, params) = (batch.clips.clone(), std::mem::take(&mut batch.params));
        Ok(Batch { samples: None, plan: None, others: None, facts, clips, params, dataset: kind.dataset.clone() })
    }

    /// A batch of pictures; `held` is a batch made at once or ahead.
    pub fn pictures<T: DerefMut<Target = vidrec::Batch> + Send + 'static>(
        py: Python<'_>,
        mut held: T,
        kind: &Kind,
    ) -> PyResult<Self> {
        let known = Batch::known(py, &mut held, kind)?;
        Ok(Batch { samples: Some(Py::new(py, pictures(held, kind.dtype))?), ..known })
    }

    /// A batch of JPEGs, with the plan for a device if there is one.
    pub fn jpegs<T: DerefMut<Target = JpegBatch> + Send + 'static>(
        py: Python<'_>,
        mut held: T,
        kind: &Kind,
    ) -> PyResult<Self> {
        let mut batch = Batch::known(py, &mut held.facts, kind)?;
        if let Some(mut plan) = held.plan.take() {
            let made = Box::new(std::mem::take(&mut plan.made));
            if !plan.others.is_empty() {
                batch.others = Some(Py::new(py, pictures(made, kind.dtype))?);
            }
            batch.plan = Some(plan);
        }
        batch.samples = Some(Py::new(py, Samples::of_bytes(held, |held| &mut held.data))?);
        Ok(batch)
    }
}

fn pictures<T: DerefMut<Target = vidrec::Batch> + Send + 'static>(held: T, dtype: Dtype) -> Samples {
    let shape = held.shape().to_vec();
    Samples::new(held, |held| held.data.bytes_mut(), shape, dtype)
}

#[pymethods]
impl Batch {
    /// The plan by which a device makes the pictures, which is before the JPEGs: the rows for which each part has room, and
    /// those that it has (frames, tables, JPEGs to take and to keep, headers); then the samples of planes, of lines and of the
    /// longest line, the bytes of the plan and of all JPEGs, their tiles, the most tiles that a picture needs, and the weights.
    #[getter]
    fn plan(&self) -> Option<(usize, [usize; 5], [u64; 7])> {
        let plan = self.plan.as_ref()?;
        let PlanSizes { samples, lines, longest_line, bytes, tiles, most_tiles, weights, .. } = plan.sizes;
        Some((plan.rows, plan.counts, [samples, lines, longest_line, bytes, tiles, most_tiles, weights]))
    }

    /// The numbers of clips that the processor made, because a device cannot, as 64-bit integers of this machine, and
    /// their pictures; none if there are no such clips.
    #[getter]
    fn others(&self, py: Python<'_>) -> Option<(Vec<u8>, Py<Samples>)> {
        let (plan, samples) = (self.plan.as_ref()?, self.others.as_ref()?);
        Some((bytes(plan.others.iter().map(|clip| clip.to_ne_bytes())), samples.clone_ref(py)))
    }

    /// The source of each clip.
    #[getter]
    fn sources(&self) -> PyResult<Vec<String>> {
        let source = |&clip: &u64| self.dataset.clip(clip)?.source();
        self.clips.iter().map(source).collect::<vidrec::Result<_>>().map_err(raise)
    }

    /// The values that were drawn for each clip, as JSON.
    #[getter]
    fn params(&self) -> PyResult<String> {
        to_json(&self.params)
    }
}

fn facts(batch: &mut vidrec::Batch) -> PyResult<Facts> {
    let field = |(name, field): (String, Field)| {
        let (kind, values) = match field {
            Field::Integers(values) => ("int64", Values::Numbers(bytes(values.iter().map(|v| v.to_ne_bytes())))),
            Field::Floats(values) => ("float64", Values::Numbers(bytes(values.iter().map(|v| v.to_ne_bytes())))),
            Field::Texts(values) => ("text", Values::Texts(values)),
            Field::Json(values) => ("json", Values::Texts(values)),
            _ => return Err(usage(format!("field {name}: a kind that this package does not know"))),
        };
        Ok((name, kind, values))
    };
    let track = |(name, track): (String, vidrec::TrackBatch)| {
        let numbers = track.bytes().to_vec();
        let counts = bytes(track.counts.iter().map(|count| count.to_ne_bytes()));
        Track {
            name,
            kind: track.kind.to_string(),
            shape: track.shape,
            mask_shape: track.mask_shape,
            mask: flags(&track.mask),
            times: track.times,
            counts: (!counts.is_empty()).then_some((counts, track.counts_shape)),
            dims: bytes(track.dims.iter().map(|&dims| i64::from(dims).to_ne_bytes())),
            values: match track.kind {
                TrackType::Utf8 => Values::Lists(track.texts),
                _ => Values::Numbers(numbers),
            },
        }
    };
    Ok(Facts {
        shape: batch.shape(),
        clips_on_all_ranks: batch.clips_on_all_ranks,
        labels: bytes(batch.labels.iter().map(|label| label.to_ne_bytes())),
        clips: bytes(batch.clips.iter().map(|clip| clip.to_ne_bytes())),
        source_ids: bytes(batch.source_ids.iter().map(|&source| i64::from(source).to_ne_bytes())),
        mask: flags(&batch.mask),
        frame_mask: flags(&batch.frame_mask),
        camera_mask: flags(&batch.camera_mask),
        times: bytes(batch.times.iter().map(|time| time.unwrap_or(f64::NAN).to_ne_bytes())),
        fields: std::mem::take(&mut batch.fields).into_iter().map(field).collect::<PyResult<_>>()?,
        tracks: std::mem::take(&mut batch.tracks).into_iter().map(track).collect(),
    })
}

/// Numbers as bytes in the order of this machine.
pub fn bytes<const N: usize>(values: impl Iterator<Item = [u8; N]>) -> Vec<u8> {
    values.flatten().collect()
}

fn flags(values: &[bool]) -> Vec<u8> {
    values.iter().map(|&value| u8::from(value)).collect()
}
