//! Looks at one clip: its frames, its attributes, its damage.

use std::collections::BTreeSet;

use serde_json::Value;

use super::finding::FindingKind;
use super::glance::{Detail, Glance, Glances};
use super::hash::Cosines;
use super::judge::{Found, judge};
use super::known_faults::known_faults;
use super::measures::{Measures, Print};
use super::options::CheckOptions;
use vidrec_core::dataset::{Clip, Dataset};
use vidrec_core::store::location::is_of_network;
use vidrec_format::error::{Error, ErrorKind, Result};
use vidrec_format::json_object::JsonObject;

/// The result of looking at a clip.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(super) found: Vec<Found>,
    pub(super) print: Option<Print>,
    /// The episode of a clip of a camera.
    pub(super) episode: Option<String>,
    /// The number of decoded frames.
    pub frames: u64,
}

/// The kinds of results to look for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub frames: bool,
    pub prints: bool,
    pub faults: bool,
    pub clocks: bool,
}

impl Wanted {
    pub fn of(options: &CheckOptions) -> Self {
        Wanted {
            frames: options.kinds.iter().any(|kind| kind.needs_frames()),
            prints: options.kinds.iter().any(|kind| kind.is_of_pairs()),
            faults: options.wants(FindingKind::Substituted),
            clocks: options.wants(FindingKind::Clock),
        }
    }
}

/// The tools with which a thread looks at clips.
pub(crate) struct Eyes {
    glances: Glances,
    cosines: Cosines,
    spare: Glance,
    fine: Glance,
    buffer: Vec<u8>,
}

impl Eyes {
    pub fn new() -> Result<Self> {
        let (spare, fine) = Default::default();
        Ok(Eyes { glances: Glances::new()?, cosines: Cosines::new(), spare, fine, buffer: Vec::new() })
    }

    /// Looks at clip `ordinal` of a data set. Reports damage as a finding.
    ///
    /// # Errors
    ///
    /// A server cannot be reached, or the machine has run out of something.
    pub fn look(&mut self, set: &Dataset, ordinal: u64, wanted: Wanted) -> Result<Seen> {
        let mut seen = Seen::default();
        match set.clip(ordinal).and_then(|clip| self.look_at(&clip, wanted, &mut seen)) {
            Err(e) if stops(&e) => return Err(e),
            Err(e) => seen.found.push(corrupt(Vec::new(), format!("the index is damaged: {e:#}"))),
            Ok(()) => {}
        }
        Ok(seen)
    }

    fn look_at(&mut self, clip: &Clip<'_>, wanted: Wanted, seen: &mut Seen) -> Result<()> {
        clip.source()?;
        if wanted.faults || wanted.clocks {
            let attributes = clip.attributes()?;
            seen.found.extend(known_faults(&attributes));
            seen.episode = episode(&attributes);
        }
        if !wanted.frames {
            return Ok(());
        }
        let frames = different_frames(clip)?;
        let mut measures = Measures::new(&frames, wanted.prints);
        let mut damaged: Vec<(u32, Error)> = Vec::new();
        for t in frames {
            match self.measure(clip, t, &mut measures) {
                Ok(()) => {}
                Err(e) if stops(&e) => return Err(e),
                Err(e) => damaged.push((t, e)),
            }
        }
        seen.frames = measures.frames.len() as u64;
        seen.found.extend(judge(&measures));
        seen.print = measures.print();
        if let Some((_, first)) = damaged.first() {
            let text = match damaged.len() {
                1 => format!("a frame is damaged: {first:#}"),
                n => format!("{n} frames are damaged; the first: {first:#}"),
            };
            seen.found.push(corrupt(damaged.into_iter().map(|(t, _)| t).collect(), text));
        }
        Ok(())
    }

    fn measure(&mut self, clip: &Clip<'_>, t: u32, measures: &mut Measures) -> Result<()> {
        let frame = clip.frame_with(t, &mut self.buffer)?;
        frame.check()?;
        let mut glance = std::mem::take(&mut self.spare);
        self.glances.decode(frame.jpeg(), Detail::Coarse, &mut glance).map_err(|e| frame.place(e))?;
        if measures.is_hashed(t) {
            self.glances.decode(frame.jpeg(), Detail::Fine, &mut self.fine).map_err(|e| frame.place(e))?;
            measures.take_hash(t, &self.fine, &self.cosines);
        }
        self.spare = measures.take(t, glance);
        Ok(())
    }
}

/// Returns the episode of a clip of a camera, by the attributes that `Cameras` of a loader reads.
fn episode(attributes: &JsonObject) -> Option<String> {
    attributes.0.get("camera")?.as_str()?;
    match attributes.0.get("episode")? {
        Value::String(episode) => Some(format!("{episode:?}")),
        Value::Number(episode) => Some(episode.to_string()),
        _ => None,
    }
}

fn corrupt(frames: Vec<u32>, text: String) -> Found {
    let value = Some(frames.len() as f64).filter(|&n| n > 0.0);
    Found { kind: FindingKind::Corrupt, frames, value, text }
}

/// Whether an error says nothing about the data: a server could not be reached, or the machine has run out of
/// something.
pub(super) fn stops(e: &Error) -> bool {
    is_of_network(e) || matches!(e.kind(), ErrorKind::Resources | ErrorKind::Interrupted)
}

/// Returns the frames to look at. If the video had too few frames, the repeated ones that replace missing frames
/// are left out.
fn different_frames(clip: &Clip<'_>) -> Result<Vec<u32>> {
    if !clip.is_short() {
        return Ok((0..clip.frame_count()).collect());
    }
    let mut seen = BTreeSet::new();
    let entries = clip.frame_entries()?;
    let is_new = (0..).zip(&entries).filter(|(_, entry)| seen.insert((entry.pts, entry.jpeg_crc32)));
    Ok(is_new.map(|(t, _)| t).collect())
}
