//! Checks one clip: its frames, its attributes, its damage.

use std::collections::BTreeSet;

use serde_json::Value;

use super::finding::{Finding, FindingKind};
use super::hash::Cosines;
use super::luma::{Detail, LumaDecoder};
use super::measures::{ClipHash, Measures};
use super::rules;
use crate::{Clip, Dataset, Error, ErrorKind, JsonObject, Result};
use vidrec_core::store::location::is_of_network;

/// The result of checking a clip by itself.
#[derive(Debug, Default)]
pub(super) struct CheckedClip {
    pub findings: Vec<Finding>,
    /// For comparisons with other clips.
    pub hash: Option<ClipHash>,
    /// The number of decoded frames.
    pub frames: u64,
}

/// Checks clips. There is one for each thread.
pub(super) struct ClipChecker {
    decoder: LumaDecoder,
    cosines: Cosines,
    buffer: Vec<u8>,
    reads_frames: bool,
    takes_hashes: bool,
}

impl ClipChecker {
    /// Creates a checker for some kinds of findings.
    pub fn new(kinds: &[FindingKind]) -> Result<Self> {
        Ok(ClipChecker {
            decoder: LumaDecoder::new()?,
            cosines: Cosines::new(),
            buffer: Vec::new(),
            reads_frames: kinds.iter().any(|kind| kind.needs_frames()),
            takes_hashes: kinds.iter().any(|kind| kind.is_of_pairs()),
        })
    }

    /// Checks clip `ordinal` of a data set. Damage is a finding.
    ///
    /// # Errors
    ///
    /// A server cannot be reached, or the machine has run out of something.
    pub fn check(&mut self, set: &Dataset, ordinal: u64) -> Result<CheckedClip> {
        let mut checked = CheckedClip::default();
        match set.clip(ordinal).and_then(|clip| self.check_clip(&clip, &mut checked)) {
            Err(e) if stops(&e) => return Err(e),
            Err(e) => {
                checked.findings.push(Finding::new(FindingKind::Corrupt, None, format!("the index is damaged: {e:#}")))
            }
            Ok(()) => {}
        }
        Ok(checked)
    }

    fn check_clip(&mut self, clip: &Clip<'_>, checked: &mut CheckedClip) -> Result<()> {
        clip.source()?;
        let attributes = clip.attributes()?;
        checked.findings.extend(known_faults(&attributes));
        if !self.reads_frames {
            return Ok(());
        }
        let frames = different_frames(clip)?;
        let mut measures = Measures::new(&frames, self.takes_hashes);
        let mut damaged: Vec<(u32, Error)> = Vec::new();
        for t in frames {
            match self.measure(clip, t, &mut measures) {
                Ok(()) => {}
                Err(e) if stops(&e) => return Err(e),
                Err(e) => damaged.push((t, e)),
            }
        }
        checked.frames = measures.frames.len() as u64;
        checked.findings.extend(rules::findings(&measures));
        checked.hash = measures.hash();
        if let Some((_, first)) = damaged.first() {
            let text = match damaged.len() {
                1 => format!("a frame is damaged: {first:#}"),
                n => format!("{n} frames are damaged; the first: {first:#}"),
            };
            let finding = Finding::new(FindingKind::Corrupt, Some(damaged.len() as f64), text);
            checked.findings.push(Finding { frames: damaged.into_iter().map(|(t, _)| t).collect(), ..finding });
        }
        Ok(())
    }

    fn measure(&mut self, clip: &Clip<'_>, t: u32, measures: &mut Measures) -> Result<()> {
        let frame = clip.frame_with(t, &mut self.buffer)?;
        frame.check()?;
        let luma = self.decoder.decode(frame.jpeg(), Detail::Coarse).map_err(|e| frame.place(e))?;
        if measures.is_hashed(t) {
            let fine = self.decoder.decode(frame.jpeg(), Detail::Fine).map_err(|e| frame.place(e))?;
            measures.take_hash(t, &fine, &self.cosines);
        }
        measures.take(t, luma);
        Ok(())
    }
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

/// The packer's counts under the attribute `video`, in words for one and for several. `retry` does not
/// write any of them.
const COUNTS: [(&str, &str, &str); 8] = [
    ("substituted_frames", "frame stands for a damaged one", "frames stand for damaged ones"),
    ("damaged_frames", "damaged frame", "damaged frames"),
    ("decode_errors", "decoding error", "decoding errors"),
    ("corrupt_packets", "corrupt packet", "corrupt packets"),
    ("failed_checksums", "failed checksum", "failed checksums"),
    ("logged_errors", "logged error", "logged errors"),
    ("size_changes", "change of the picture size", "changes of the picture size"),
    ("unordered_times", "time out of order", "times out of order"),
];

/// Returns the known faults of a clip's video.
fn known_faults(attributes: &JsonObject) -> Option<Finding> {
    let video = attributes.0.get("video");
    let mut total = 0u64;
    let mut parts = Vec::new();
    for (name, one, several) in COUNTS {
        // Imports have no object of the packer, so their counts are at the top level.
        let count = video.and_then(|video| video.get(name)).or_else(|| attributes.0.get(name)).and_then(Value::as_u64);
        if let Some(count) = count.filter(|&count| count > 0) {
            total = total.saturating_add(count);
            parts.push(format!("{count} {}", if count == 1 { one } else { several }));
        }
    }
    if let Some((claimed, found)) = video.and_then(cut_off) {
        parts.push(format!("the container claims {claimed:.1} s, but only {found:.1} s decode"));
    }
    if let Some(seconds) = video.and_then(|video| video.pointer("/time_gap/seconds")).and_then(Value::as_f64) {
        parts.push(format!("no frame for {seconds:.1} s, a gap that no rate explains"));
    }
    if parts.is_empty() {
        return None;
    }
    let first = video.and_then(|video| video.get("first_error")).and_then(Value::as_str);
    let first = first.map(|first| format!("; first: {first}")).unwrap_or_default();
    let text = format!("the video has known faults: {}{first}", parts.join(", "));
    Some(Finding::new(FindingKind::Substituted, Some(total as f64), text))
}

/// Returns the seconds that the container claims and those that exist, if the video is clearly shorter. The rule
/// is the packer's: a tenth is missing, and more than a second.
fn cut_off(video: &Value) -> Option<(f64, f64)> {
    let seconds = |name: &str| video.get(name).and_then(Value::as_f64);
    let (claimed, found) = (seconds("claimed_seconds")?, seconds("stream_seconds")?);
    (found < 0.9 * claimed && claimed - found > 1.0).then_some((claimed, found))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(attributes: &Value) -> Option<(Option<f64>, String)> {
        known_faults(&JsonObject::of(attributes).unwrap()).map(|found| (found.value, found.text))
    }

    #[test]
    fn counts_and_cuts_are_found_and_sound_videos_are_not() {
        let sound =
            json!({"video": {"codec": "h264", "decode_errors": 0, "claimed_seconds": 10.0, "stream_seconds": 9.5}});
        assert_eq!(found(&sound), None);
        assert_eq!(found(&json!({})), None);
        let (value, text) = found(&json!({"video": {
            "decode_errors": 1, "damaged_frames": 3, "first_error": "no frame!", "claimed_seconds": 10.0, "stream_seconds": 4.0
        }}))
        .unwrap();
        assert_eq!(value, Some(4.0));
        assert_eq!(
            text,
            "the video has known faults: 3 damaged frames, 1 decoding error, the container claims 10.0 s, but only \
             4.0 s decode; first: no frame!"
        );
        assert_eq!(found(&json!({"video": 3})), None);
    }
}
