//! Tracks that come with the batches: values at the times of a sample's frames, or in windows around them.

mod gather;
mod times;
mod wanted;

use std::collections::BTreeMap;

use crate::dataset::{Clip, Dataset};
use crate::loader::options::TrackWindow;
use crate::loader::track_batch::{TrackBatch, TrackData};
use crate::{Error, Result, allocation};
use wanted::{Drawn, Wanted};

pub(super) use wanted::Piece;

/// The tracks that come with the batches, in order of name.
#[derive(Debug)]
pub(super) struct TrackReader(Vec<Wanted>);

impl TrackReader {
    /// Looks for the tracks in the schemas of all shards, for samples of at most `length` frames.
    ///
    /// # Errors
    ///
    /// A track that the data set does not have, or an option that makes no sense for its type or timing.
    pub fn find(dataset: &Dataset, options: &BTreeMap<String, TrackWindow>, length: u32) -> Result<Self> {
        if options.is_empty() {
            return Ok(TrackReader(Vec::new()));
        }
        let known = dataset.tracks()?;
        let mut all = Vec::new();
        for (name, window) in options {
            let Some(schema) = known.iter().find(|schema| schema.name == *name) else {
                let names: Vec<&str> = known.iter().map(|schema| schema.name.as_str()).collect();
                let e = Error::usage(format!("loader option tracks: the data set has no track {name:?}"));
                return Err(match names.is_empty() {
                    true => e.help("no clip of it has tracks"),
                    false => e.expected(format!("one of {}", names.join(", "))),
                });
            };
            let wanted = Wanted::new(dataset, schema.clone(), *window)?;
            wanted.sample_bytes(length as usize)?;
            all.push(wanted);
        }
        Ok(TrackReader(all))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Bytes of all numbers of a sample.
    pub fn sample_bytes(&self, length: u32) -> usize {
        self.0.iter().filter_map(|wanted| wanted.sample_bytes(length as usize).ok()).sum()
    }

    /// What a sample of these frames of a clip has of each track, in a batch of `length` frames.
    pub fn read(&self, clip: &Clip<'_>, frames: &[u32], length: u32) -> Result<Vec<Piece>> {
        if self.is_empty() {
            return Ok(Vec::new());
        }
        let tracks = clip.tracks()?;
        let drawn = Drawn { clip, frames, length: length as usize };
        self.0.iter().map(|wanted| wanted.read(&tracks, &drawn)).collect()
    }

    /// The tracks of a batch of these samples.
    pub fn join(&self, samples: Vec<Vec<Piece>>, length: u32) -> Result<Vec<(String, TrackBatch)>> {
        let count = samples.len();
        let mut joined: Vec<(String, TrackBatch)> = Vec::with_capacity(self.0.len());
        for wanted in &self.0 {
            let mut mask_shape = vec![count];
            mask_shape.extend(wanted.dimensions(length as usize));
            let values: usize = mask_shape.iter().product();
            let of_value = wanted.schema.shape.iter().map(|&side| side as usize);
            let shape = mask_shape.iter().copied().chain(of_value).collect();
            let mut values_of_all = TrackData::empty(wanted.kind());
            values_of_all.reserve(values.saturating_mul(wanted.schema.numbers_per_value()))?;
            let mask = allocation::with_capacity(values, "the mask of a track")?;
            joined.push((wanted.schema.name.clone(), TrackBatch { values: values_of_all, shape, mask, mask_shape }));
        }
        for pieces in samples {
            for ((_, track), piece) in joined.iter_mut().zip(pieces) {
                track.values.append(piece.values)?;
                track.mask.extend(piece.mask);
            }
        }
        Ok(joined)
    }
}
