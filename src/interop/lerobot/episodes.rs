//! Groups clips into episodes. The clips of one episode are the views of its cameras.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use vidrec_core::dataset::{Clip, Dataset, begin_together, different_clocks};
use vidrec_format::error::{Error, Hint, Result};

/// The camera of clips that name none.
const MAIN: &str = "main";

/// The prefix of camera names, unless they contain a period.
const PREFIX: &str = "observation.images.";

/// The episodes of a data set.
pub(super) struct Episodes {
    /// The features of the cameras, in order, and the size of their frames.
    pub cameras: Vec<(String, (u32, u32))>,
    /// For each episode, the clip of each camera.
    pub clips: Vec<Vec<u64>>,
}

/// Groups clips by their attributes `episode` and `camera`. If no clip has an attribute `episode`, each clip is an
/// episode.
pub(super) fn of(dataset: &Dataset) -> Result<Episodes> {
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut found: Vec<BTreeMap<String, u64>> = Vec::new();
    let mut order: Vec<String> = Vec::new();
    let mut alone = None;
    for clip in dataset.clips() {
        let clip = clip?;
        if clip.frame_count() == 0 {
            let e = Error::usage("the clip has no frames, which LeRobot does not allow").in_clip(clip.ordinal());
            return Err(e.help("export a subset"));
        }
        let attributes = clip.attributes()?.0;
        let text = |key: &str| match attributes.get(key) {
            Some(Value::String(text)) => Some(text.clone()),
            Some(value @ Value::Number(_)) => Some(value.to_string()),
            _ => None,
        };
        let (number, camera) = match text("episode") {
            Some(episode) => (*numbers.entry(episode).or_insert(found.len()), text("camera")),
            None => {
                alone.get_or_insert(clip.ordinal());
                (found.len(), None)
            }
        };
        let camera = key(&clip, camera.as_deref().unwrap_or(MAIN))?;
        if !order.contains(&camera) {
            order.push(camera.clone());
        }
        if number == found.len() {
            found.push(BTreeMap::new());
        }
        if let Some(other) = found[number].insert(camera.clone(), clip.ordinal()) {
            let e =
                Error::usage(format!("clips {other} and {} have the same camera and the same episode", clip.ordinal()));
            return Err(e
                .found(camera)
                .help("give the clips different attributes \"episode\" or \"camera\", or export a subset"));
        }
    }
    if let Some(clip) = alone.filter(|_| !numbers.is_empty()) {
        let e = Error::usage("some clips have the attribute \"episode\", and others do not").in_clip(clip);
        return Err(e.help("export a subset"));
    }
    let clips = found.iter().map(|episode| complete(dataset, &order, episode)).collect::<Result<Vec<_>>>()?;
    let sizes = (0..order.len()).map(|camera| size(dataset, clips.iter().map(|clips| clips[camera])));
    let sizes = sizes.collect::<Result<Vec<_>>>()?;
    Ok(Episodes { cameras: order.into_iter().zip(sizes).collect(), clips })
}

/// Returns the feature of a camera. It is also the name of a folder.
fn key(clip: &Clip<'_>, camera: &str) -> Result<String> {
    let key = if camera.contains('.') { camera.to_owned() } else { format!("{PREFIX}{camera}") };
    let is_name = !camera.is_empty() && !key.contains(['/', '\\', '{', '}']) && !key.chars().any(char::is_control);
    if is_name && !matches!(key.as_str(), "." | "..") && key.len() < 200 {
        return Ok(key);
    }
    let e = Error::usage("the attribute \"camera\" cannot be the name of a feature").in_clip(clip.ordinal());
    Err(e.expected("a name without slashes or braces").found(format!("{camera:?}")))
}

/// Returns the clips of an episode in the order of the cameras. Every camera must have a clip, and all clips must begin together
/// and have the same number of frames.
fn complete(dataset: &Dataset, cameras: &[String], episode: &BTreeMap<String, u64>) -> Result<Vec<u64>> {
    let first = episode.values().next().copied().unwrap_or_default();
    let clip = |camera: &String| {
        episode.get(camera).copied().ok_or_else(|| {
            let e = Error::usage("an episode lacks a camera, which LeRobot does not allow").in_clip(first);
            e.expected(cameras.join(", ")).found(episode.keys().cloned().collect::<Vec<_>>().join(", "))
        })
    };
    let clips = cameras.iter().map(clip).collect::<Result<Vec<u64>>>()?;
    let count = |ordinal: &u64| dataset.clip(*ordinal).map(|clip| clip.frame_count());
    let counts = clips.iter().map(count).collect::<Result<Vec<u32>>>()?;
    if let Some(i) = counts.iter().position(|count| *count != counts[0]) {
        let e = Error::usage("the cameras of an episode have different numbers of frames").in_clip(clips[i]);
        let of = |i: usize| format!("{} frames of {}", counts[i], cameras[i]);
        return Err(e.expected(of(0)).found(of(i)));
    }
    let first = dataset.clip(clips[0])?;
    for &ordinal in &clips[1..] {
        let other = dataset.clip(ordinal)?;
        if !begin_together(&first, &other)? {
            let e = Error::usage("the cameras of an episode do not begin together, which LeRobot requires");
            let [begin, found] = [first.seconds(0)?, other.seconds(0)?].map(|s| format!("a first frame at {s:.3} s"));
            let e = e.in_clip(ordinal).expected(begin).found(found);
            return Err(match different_clocks(&first, &other)? {
                Some(_) => e.hint(Hint::Clock),
                None => e.help("pack the same frames of each camera, such as all of them"),
            });
        }
    }
    Ok(clips)
}

/// Returns the size of all frames of a camera.
fn size(dataset: &Dataset, clips: impl Iterator<Item = u64>) -> Result<(u32, u32)> {
    let mut known = None;
    for ordinal in clips {
        let clip = dataset.clip(ordinal)?;
        let size = (clip.width(), clip.height());
        let known = *known.get_or_insert(size);
        if size != known || size.0 == 0 || size.1 == 0 {
            let text = |(width, height)| if width == 0 { "several sizes".into() } else { format!("{width}x{height}") };
            let e = Error::usage("the frames of a camera have different sizes").in_clip(ordinal);
            return Err(e.expected(text(known)).found(text(size)).help("pack with one size for all"));
        }
    }
    known.ok_or_else(|| Error::usage("the data set has no clips"))
}
