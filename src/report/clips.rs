//! The clips of an exported page: which ones, and their strips within a limit of bytes.

use std::collections::{BTreeMap, HashSet};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rayon::ThreadPool;
use rayon::prelude::*;

use super::check::Finding;
use super::facts;
use super::figures::NamedSet;
use super::page::in_script;
use super::strip::{Strip, StripSize};
use crate::{Error, Result};
use vidrec_core::progress::Counter;
use vidrec_format::random::{Random, stream};
use vidrec_jpeg::Decoder;

/// A clip of one of the data sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ClipId {
    pub set: usize,
    pub clip: u64,
}

/// The label of each clip of a data set.
pub(super) type Labels = Vec<Option<u32>>;

/// Returns at most `most` clips in the order in which they are worth showing. Clips of findings come first. If there are more
/// clips, these are at most half. The others follow in turn, one of each class, so that a prefix of any length has as
/// many clips of each class as possible.
pub(super) fn by_worth(labels: &[Labels], findings: &[Finding], most: u64, seed: u64) -> Vec<ClipId> {
    let all: u64 = labels.iter().map(|labels| labels.len() as u64).sum();
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let of_findings = if all <= most as u64 { most } else { most / 2 };
    let mut seen = HashSet::new();
    let found = findings.iter().flat_map(|finding| &finding.clips);
    let found = found.map(|clip| ClipId { set: clip.set, clip: clip.clip });
    let mut chosen: Vec<ClipId> = found.filter(|clip| seen.insert(*clip)).take(of_findings).collect();
    let taken: HashSet<ClipId> = chosen.iter().copied().collect();
    let others = in_turn(labels, seed).into_iter().filter(|clip| !taken.contains(clip));
    chosen.extend(others.take(most - chosen.len()));
    chosen
}

/// Returns all clips: one of each class of each data set, then a second one of each, and so on.
fn in_turn(labels: &[Labels], seed: u64) -> Vec<ClipId> {
    let mut turns: Vec<(usize, u32, ClipId)> = Vec::new();
    for (set, labels) in labels.iter().enumerate() {
        let mut classes: BTreeMap<Option<u32>, Vec<(u32, u64)>> = BTreeMap::new();
        let mut random = Random::new(seed, &[stream::REPORT, set as u64]);
        for (clip, &label) in (0..).zip(labels) {
            classes.entry(label).or_default().push((random.next_u32(), clip));
        }
        for mut clips in classes.into_values() {
            clips.sort_unstable();
            turns.extend(clips.into_iter().enumerate().map(|(turn, (key, clip))| (turn, key, ClipId { set, clip })));
        }
    }
    turns.sort_unstable();
    turns.into_iter().map(|(_, _, clip)| clip).collect()
}

/// A clip of the page.
pub(super) struct PageClip {
    pub id: ClipId,
    /// Its description as JSON for a script.
    pub facts: String,
    /// Its strip in base64; empty if it has no frames.
    pub strip: String,
}

/// The most bytes of the elements around the strip of a clip and of the separator between descriptions.
const PER_CLIP: usize = 96;
/// The number of clips whose strips are made in several sizes, to find the largest size that fits.
const SAMPLED: usize = 48;
/// The number of clips between two calls of the progress callback.
const BATCH: usize = 64;
/// The factor by which strips may turn out larger than estimated.
const MARGIN: f64 = 1.06;

/// Makes as many of the clips, from the first on, as fit into `room` bytes. Returns them in order of their numbers, and the
/// size of their strips: the largest at which all of them should fit, by a sample.
pub(super) fn within(
    room: u64,
    by_worth: &[ClipId],
    sets: &[NamedSet],
    pool: &ThreadPool,
    counter: &mut Counter<'_, '_>,
) -> Result<(Vec<PageClip>, StripSize)> {
    let make = |ids: &[ClipId], size| -> Result<Vec<PageClip>> {
        pool.install(|| {
            ids.par_iter().map_init(Decoder::new, |decoder, id| page_clip(sets, *id, size, decoder)).collect()
        })
    };
    let sample: Vec<ClipId> = by_worth.iter().copied().step_by(by_worth.len().div_ceil(SAMPLED).max(1)).collect();
    let mut size = StripSize::ALL[0];
    for smaller in StripSize::ALL {
        size = smaller;
        let bytes: usize = make(&sample, size)?.iter().map(PageClip::bytes).sum();
        if bytes as f64 / sample.len().max(1) as f64 * MARGIN * by_worth.len() as f64 <= room as f64 {
            break;
        }
    }
    let (mut clips, mut left) = (Vec::new(), room);
    'all: for ids in by_worth.chunks(BATCH) {
        for clip in make(ids, size)? {
            let Some(rest) = left.checked_sub(clip.bytes() as u64) else { break 'all };
            left = rest;
            counter.add(size.frames.into(), 0)?;
            clips.push(clip);
        }
    }
    clips.sort_by_key(|clip| clip.id);
    Ok((clips, size))
}

impl PageClip {
    /// Returns the bytes of the page that the clip takes.
    pub fn bytes(&self) -> usize {
        self.facts.len() + self.strip.len() + PER_CLIP
    }
}

fn page_clip(sets: &[NamedSet], id: ClipId, size: StripSize, decoder: &mut Result<Decoder>) -> Result<PageClip> {
    let decoder = decoder.as_mut().map_err(|_| Error::limit("there is no memory for a JPEG decoder"))?;
    let clip = sets[id.set].set.clip(id.clip)?;
    let strip = Strip::of(&clip, size, decoder)?;
    let jpeg = strip.as_ref().map_or_else(String::new, |strip| STANDARD.encode(&strip.jpeg));
    Ok(PageClip { id, facts: in_script(&facts::exported(id.set, &clip, strip)?)?, strip: jpeg })
}
