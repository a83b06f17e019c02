//! Tracks that come with the batches: values at the times of a sample's frames, or in windows around them.

mod gather;
mod geometry;
mod times;
mod track_plan;

use std::collections::BTreeSet;

use super::sample_spec::SampleSpec;
use crate::dataset::Dataset;
use crate::loader::batch::{TrackBatch, TrackBuffer};
use crate::loader::options::{Cameras, LoaderOptions, ResolvedOptions, TrackWindow};
use track_plan::{OfCamera, TrackPlan};
use vidrec_format::error::{Error, Result};
use vidrec_format::track::schema::TrackSchema;

/// The tracks that come with the batches of each source, in order of name. All sources have the same tracks, and values of
/// the same shape and type.
#[derive(Debug)]
pub(crate) struct TrackReader(Vec<Vec<TrackPlan>>);

impl TrackReader {
    /// Finds the tracks in the schemas of each source, for samples of at most `length` frames. A source that lacks a track
    /// has the schema of another one.
    ///
    /// # Errors
    ///
    /// The data set does not have a track, an option makes no sense for its type or timing, or sources differ in the shape
    /// or type of the values of a sample.
    pub fn find(sources: &[Dataset], options: &ResolvedOptions, length: u32) -> Result<Self> {
        if options.first_cameras().all(|options| options.tracks.is_empty()) {
            return Ok(TrackReader(vec![Vec::new()]));
        }
        let known = sources.iter().map(Dataset::tracks).collect::<Result<Vec<_>>>()?;
        let size = options.size();
        let of_source = |(source, own): (usize, &LoaderOptions)| -> Result<Vec<TrackPlan>> {
            let in_order = || sources.iter().zip(&known).skip(source).chain(sources.iter().zip(&known).take(source));
            let planned = |(name, window): (&String, &TrackWindow)| {
                let track = plan_track(in_order(), name, window, options)?;
                track.sample_bytes(length as usize, size).map(|_| track)
            };
            own.tracks.iter().map(planned).collect()
        };
        let all: Vec<Vec<TrackPlan>> = options.first_cameras().enumerate().map(of_source).collect::<Result<_>>()?;
        let form = |track: &TrackPlan| {
            (track.kind(), track.dimensions(length as usize), track.value_shape(size), track.is_list())
        };
        for (first, other) in all.iter().skip(1).flat_map(|other| all[0].iter().zip(other)) {
            if form(first) != form(other) {
                let name = &first.schema.name;
                let e =
                    Error::usage(format!("loader option tracks[{name:?}]: values of sources differ in shape or type"));
                let e = e.expected(format!("{:?}", form(first))).found(format!("{:?}", form(other)));
                return Err(e.help("dims fills values of other lengths with zeros, and makes all of them f32"));
            }
        }
        Ok(TrackReader(all))
    }

    /// The tracks of a sample, in the form that all sources share.
    fn form(&self) -> &[TrackPlan] {
        &self.0[0]
    }

    /// Whether a track of this name comes with the batches.
    pub fn has(&self, name: &str) -> bool {
        self.form().iter().any(|track| track.schema.name == name)
    }

    /// Whether there are no tracks.
    pub fn is_empty(&self) -> bool {
        self.form().is_empty()
    }

    /// The length of all numbers of a sample in bytes, if its pictures have this size.
    pub fn sample_bytes(&self, length: u32, size: (u32, u32)) -> usize {
        self.form().iter().filter_map(|track| track.sample_bytes(length as usize, size).ok()).sum()
    }

    /// Makes room for the tracks of this many samples of `length` frames, with pictures of this size. Reuses the memory of an
    /// earlier batch if possible.
    pub fn reserve(
        &self,
        tracks: &mut Vec<(String, TrackBatch)>,
        samples: usize,
        length: u32,
        size: (u32, u32),
    ) -> Result<()> {
        let empty = |track: &TrackPlan| (track.schema.name.clone(), TrackBatch::empty(track.kind()));
        if !tracks.iter().map(|(name, _)| name).eq(self.form().iter().map(|track| &track.schema.name)) {
            *tracks = self.form().iter().map(empty).collect();
        }
        for ((_, batch), track) in tracks.iter_mut().zip(self.form()) {
            let mask_shape = std::iter::once(samples).chain(track.dimensions(length as usize)).collect();
            let (is_list, has_times) = track.is_list();
            let form = (track.options.dims.is_some(), is_list.then_some(track.mask_sides()), has_times);
            batch.reshape(track.kind(), mask_shape, &track.value_shape(size), form)?;
        }
        Ok(())
    }

    /// Writes the values of each track for a sample.
    pub fn read(&self, sample: &SampleSpec<'_>, slots: &mut [TrackBuffer<'_>], of_camera: OfCamera<'_>) -> Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        let tracks = sample.clip.tracks_named(|name| self.has(name))?;
        let plans = self.0.get(sample.source).unwrap_or(&self.0[0]);
        plans.iter().zip(slots).try_for_each(|(track, slot)| track.read(&tracks, sample, slot, of_camera))
    }
}

/// The track of the first of these data sets that has it.
fn plan_track<'a>(
    mut sources: impl Iterator<Item = (&'a Dataset, &'a Vec<TrackSchema>)> + Clone,
    name: &str,
    window: &TrackWindow,
    options: &ResolvedOptions,
) -> Result<TrackPlan> {
    let all = sources.clone();
    let found = sources.find_map(|(dataset, known)| Some((dataset, known.iter().find(|schema| schema.name == name)?)));
    let Some((dataset, schema)) = found else {
        let names: BTreeSet<&str> = all.flat_map(|(_, known)| known).map(|schema| schema.name.as_str()).collect();
        let e = Error::usage(format!("loader option tracks: the data set has no track {name:?}"));
        return Err(match names.is_empty() {
            true => e.help("none of its clips has tracks"),
            false => e.expected(format!("one of {}", names.into_iter().collect::<Vec<_>>().join(", "))),
        });
    };
    let camera = followed(window, options.cameras.as_ref(), schema)?;
    TrackPlan::new(dataset, schema.clone(), window.clone(), camera)
}

/// The number of the camera whose frames a track of this schema follows.
fn followed(window: &TrackWindow, cameras: Option<&Cameras>, schema: &TrackSchema) -> Result<u32> {
    geometry::check(window, schema)?;
    let Some(camera) = &window.camera else { return Ok(0) };
    let names = cameras.map_or(&[][..], |cameras| &cameras.names);
    names.iter().position(|name| name == camera).map(|number| number as u32).ok_or_else(|| {
        let e = Error::usage(format!("loader option tracks[{:?}].camera: there is no such camera", schema.name));
        match names.is_empty() {
            true => e.found(camera).help("give the loader cameras, or omit camera"),
            false => e.found(camera).expected(format!("one of {}", names.join(", "))),
        }
    })
}

/// The places of each of `samples` samples, in all tracks.
pub(super) fn slots(tracks: &mut [(String, TrackBatch)], samples: usize) -> Vec<Vec<TrackBuffer<'_>>> {
    let mut all: Vec<Vec<TrackBuffer<'_>>> = (0..samples).map(|_| Vec::with_capacity(tracks.len())).collect();
    for (_, track) in tracks {
        all.iter_mut().zip(track.slots()).for_each(|(sample, slot)| sample.push(slot));
    }
    all
}
