//! Finds clips whose frames an older version chose by times that a container had rounded.

use serde_json::Value;

use super::clip::stops;
use super::duplicates::found_clip;
use super::finding::{Finding, FindingKind};
use crate::{Clip, Dataset, JsonObject, Result};
use vidrec_core::dataset::edit::joined_meta;
use vidrec_format::SectionId;
use vidrec_format::sampler::{Rate, RateRule, unrounded_times};

/// How the tools are named that chose frames at a rate by rounded times: all before 1.0.0.
const OLD_TOOLS: &str = "vidrec 0.";

/// A pack at a rate by one of them.
struct OldPack {
    tool: String,
    rate: Rate,
    /// The number of frames from which on the ticks are thinned.
    most: Option<u64>,
}

/// Returns a finding about the clips of a data set that have other frames than their rate asks for.
pub(super) fn finding(sets: &[Dataset], set: usize) -> Result<Option<Finding>> {
    let packs = old_packs(&sets[set])?;
    let Some(OldPack { tool, rate, .. }) = packs.first() else { return Ok(None) };
    sets[set].prefetch_all(&[SectionId::CLIPS, SectionId::STRINGS, SectionId::FRAMES])?;
    let mut clips = Vec::new();
    for clip in 0..sets[set].len() {
        match sets[set].clip(clip).and_then(|clip| misses_frames(&clip, &packs)) {
            Ok(true) => clips.push(found_clip(sets, set, clip)),
            Err(e) if stops(&e) => return Err(e),
            // Damage is a finding of its own.
            Ok(false) | Err(_) => {}
        }
    }
    let text = format!(
        "frames are missing, others are repeated: {tool} packed at {rate} frames/s by times that containers rounded"
    );
    let value = Some(clips.len() as f64);
    Ok((!clips.is_empty()).then(|| Finding { clips, ..Finding::new(FindingKind::RoundedTimes, value, text) }))
}

/// Returns the packs at a rate by older versions that the clips of a data set come from.
fn old_packs(set: &Dataset) -> Result<Vec<OldPack>> {
    let (meta, _) = joined_meta(std::slice::from_ref(set))?;
    let merged: Vec<JsonObject> = meta.settings.get("merged").ok().flatten().unwrap_or_default();
    let own = if merged.is_empty() { vec![JsonObject::default()] } else { merged };
    let old_pack = |own: &JsonObject| {
        let value = |name: &str| own.0.get(name).or_else(|| meta.settings.0.get(name));
        let tool = value("tool").and_then(Value::as_str).unwrap_or(&meta.tool);
        // The first builds had the rate under `sample`.
        let rule = ["frames", "sample"].into_iter().find_map(|name| value(name)?.as_str()?.parse().ok());
        let (Some(RateRule::Fps(rate)), true) = (rule, tool.starts_with(OLD_TOOLS)) else { return None };
        let is_cut = value("cut").and_then(Value::as_bool) == Some(true);
        let most = value("max_frames").and_then(Value::as_u64).filter(|_| !is_cut);
        Some(OldPack { tool: tool.to_owned(), rate, most })
    };
    Ok(own.iter().filter_map(old_pack).collect())
}

/// Whether the frame after one of the clip's was due at a tick of the grid, by the times before their rounding.
fn misses_frames(clip: &Clip<'_>, packs: &[OldPack]) -> Result<bool> {
    let frames = clip.frame_entries()?;
    // A frame that is shown at several ticks is there as often.
    let shown: Vec<_> = frames.chunk_by(|a, b| a.pts == b.pts).collect();
    let pts: Vec<i64> = shown.iter().map(|frame| frame[0].pts).collect();
    let misses = |OldPack { rate, most, .. }: &OldPack| {
        let Some(exact) = unrounded_times(&pts, clip.time_base(), Some(*rate)) else { return false };
        if most.is_some_and(|most| frames.len() as u64 >= most) {
            return true; // No one knows at which ticks the frames are.
        }
        let after_first = |i: usize| i128::from(exact.pts[i]) - i128::from(exact.pts[0]);
        let steps = frames[frames.len() - 1].source_index.saturating_sub(frames[0].source_index);
        let interval = after_first(shown.len() - 1) / i128::from(steps.max(1));
        let ((seconds, per), (den, num)) = (exact.time_base, rate.frame_seconds());
        let mut ticks = 0;
        shown.iter().enumerate().any(|(i, frame)| {
            ticks += frame.len() as i128;
            let end = (after_first(i) + interval) * i128::from(seconds) * i128::from(num);
            end <= (ticks - 1) * i128::from(den) * i128::from(per)
        })
    };
    Ok(packs.iter().any(misses))
}
