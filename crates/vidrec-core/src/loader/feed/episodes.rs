//! Clips of several cameras that are one sample.

use std::collections::HashMap;
use std::ops::Range;

use serde_json::Value;

use crate::dataset::Dataset;
use crate::loader::mix::Mix;
use crate::loader::options::{Cameras, Missing, ResolvedOptions};
use vidrec_format::SectionId;
use vidrec_format::error::{Error, Result};

/// The clip of each camera of each episode. Its clips are those of a data set of its own, in which the clips of an
/// episode are adjacent.
#[derive(Debug)]
pub(crate) struct Episodes {
    cameras: u32,
    /// For each clip, its ordinal in the original data set, and whether it is of that camera. If not, it only
    /// fills the place of a missing clip.
    clips: Vec<(u64, bool)>,
    /// The name of each episode; `None` for a clip that belongs to none.
    names: Vec<Option<String>>,
    /// In a mix, the number of clips up to and including each source.
    ends: Vec<u64>,
}

impl Episodes {
    /// Reads the attributes of all clips, if there are cameras. Returns the data set of their clips. Episodes of two
    /// sources of a mix differ, even if they have the same name. A clip without frames and camera is an episode that lacks
    /// every camera. In a mix, a clip that belongs to no camera and no episode is an episode that lacks all cameras but the
    /// first.
    ///
    /// # Errors
    ///
    /// A data set with several draws of each video, a clip without an episode, or an episode in which a camera has no
    /// clip or two clips.
    pub fn find(dataset: &Dataset, mix: Option<&Mix>, options: &ResolvedOptions) -> Result<Option<(Dataset, Self)>> {
        let Some(cameras) = &options.cameras else { return Ok(None) };
        if dataset.draws() > 1 {
            let e = Error::usage("loader option cameras: the data set has several draws of each video");
            return Err(e.help("pack it with one draw of each, and let the loader draw frames"));
        }
        let source_of = |clip: u64| mix.and_then(|mix| mix.place(clip)).map_or(0, |(source, _)| source);
        dataset.prefetch_all(&[SectionId::CLIPS, SectionId::STRINGS])?;
        // The first clip that was found of each episode, and those of the cameras.
        let mut episodes: Vec<(u64, Vec<Option<u64>>)> = Vec::new();
        let mut names: Vec<Option<String>> = Vec::new();
        // The number of each episode, by its source and name.
        let mut numbers: HashMap<(usize, String), usize> = HashMap::new();
        let mut has_frames = false;
        for clip in dataset.clips() {
            let clip = clip?;
            has_frames |= clip.frame_count() > 0;
            let mut begin = |name: Option<&str>| {
                episodes.push((clip.ordinal(), vec![None; cameras.names.len()]));
                names.push(name.map(Into::into));
                episodes.len() - 1
            };
            let attributes = clip.attributes()?;
            let [camera, episode] =
                [&cameras.camera_attribute, &cameras.episode_attribute].map(|name| attributes.find(name));
            let named = cameras.names.iter().position(|name| Some(name.as_str()) == camera.and_then(Value::as_str));
            let Some(camera) = named else {
                let is_alone = mix.is_some() && camera.is_none() && episode.is_none();
                if clip.frame_count() == 0 || is_alone {
                    let alone = begin(None);
                    episodes[alone].1[0] = Some(clip.ordinal()).filter(|_| clip.frame_count() > 0);
                }
                continue;
            };
            let episode = episode_name(episode).ok_or_else(|| {
                let what = format!("a clip of camera \"{}\" belongs to no episode", cameras.names[camera]);
                let expected = format!("text or a number as attribute \"{}\"", cameras.episode_attribute);
                let e = Error::usage(what).in_clip(clip.ordinal()).expected(expected);
                e.found(episode.map_or("none".into(), Value::to_string))
            })?;
            let number =
                *numbers.entry((source_of(clip.ordinal()), episode.clone())).or_insert_with(|| begin(Some(&episode)));
            if let Some(before) = episodes[number].1[camera].replace(clip.ordinal()) {
                let what = format!("episode {episode} has two clips of camera \"{}\"", cameras.names[camera]);
                return Err(Error::usage(what).in_clip(clip.ordinal()).found(format!("clip {before} as well")));
            }
        }
        if has_frames && numbers.is_empty() {
            return Err(without_cameras("no clip", cameras));
        }
        let mut clips = Vec::new();
        let mut ends = vec![0; mix.map_or(0, |mix| mix.sources().len())];
        for ((found, episode), name) in episodes.iter().zip(&names) {
            let first = episode.iter().flatten().next().copied().unwrap_or(*found);
            for (clip, camera) in episode.iter().zip(&cameras.names) {
                if let (None, Some(name), Missing::Error) = (clip, name, cameras.missing) {
                    let e = Error::usage(format!("episode {name} has no clip of camera \"{camera}\"")).in_clip(first);
                    return Err(e.help("leave the episode out, or mask its missing frames: missing = mask"));
                }
                clips.push((clip.unwrap_or(first), clip.is_some()));
            }
            // Clips of a source come before those of the next, and so do its episodes.
            ends.iter_mut().skip(source_of(first)).for_each(|end| *end = clips.len() as u64);
        }
        if let Some(mix) = mix
            && let Some(empty) = (0..ends.len()).find(|&i| ends[i] == i.checked_sub(1).map_or(0, |before| ends[before]))
        {
            return Err(without_cameras(&format!("no clip of source \"{}\"", mix.names()[empty]), cameras));
        }
        let chosen = dataset.select(clips.iter().map(|(clip, _)| *clip))?;
        Ok(Some((chosen, Episodes { cameras: cameras.names.len() as u32, clips, names, ends })))
    }

    /// The clips of each source of a mix.
    pub fn of_sources(&self) -> impl Iterator<Item = Range<u64>> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| start..end)
    }

    /// Whether a clip exists. If not, it only fills the place of a missing one.
    pub fn is_there(&self, clip: u64) -> bool {
        self.clips.get(clip as usize).is_some_and(|(_, there)| *there)
    }

    /// The ordinal of a clip in the original data set.
    pub fn given(&self, clip: u64) -> u64 {
        self.clips.get(clip as usize).map_or(clip, |(given, _)| *given)
    }

    /// Adds the episode to an error about a clip, and the clip's ordinal in the original data set.
    pub fn named(&self, e: Error) -> Error {
        let Some(clip) = e.clip() else { return e };
        let episode = self.names.get(clip as usize / self.cameras.max(1) as usize).and_then(Option::as_ref);
        let help = episode.map(|episode| format!("it is of episode {episode}"));
        let e = e.in_clip(self.given(clip));
        match help {
            Some(help) => e.also_help(help),
            None => e,
        }
    }
}

/// Returns an error for clips of which none is of the cameras.
fn without_cameras(which: &str, cameras: &Cameras) -> Error {
    let Cameras { names, camera_attribute, .. } = cameras;
    let e = Error::usage(format!("loader option cameras: {which} is of these cameras"));
    e.expected(format!("clips with the attribute \"{camera_attribute}\": {}", names.join(", ")))
}

fn episode_name(episode: Option<&Value>) -> Option<String> {
    match episode? {
        Value::String(episode) => Some(format!("\"{episode}\"")),
        Value::Number(episode) => Some(episode.to_string()),
        _ => None,
    }
}
