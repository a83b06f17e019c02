//! The report of one video: its clips and its problems, or why it was skipped.

use serde_json::Value;

use super::report::{PackReport, WHOLE, Warning};
use crate::plan::Job;
use crate::video::{AudioFacts, VideoFacts};
use crate::work::{Failure, PackedClip};
use vidrec_core::dataset::writer::ClipInfo;
use vidrec_jpeg::Scores;

/// The report of a video whose clips have these descriptions and numbers of frames.
pub(super) fn of_packed(job: &Job, clips: &[(&ClipInfo, u64)], facts: &VideoFacts, repeated_frames: u64) -> PackReport {
    let audio = facts.audio.as_ref();
    let qualities: Vec<[u8; 2]> = clips.iter().filter_map(|(info, _)| qualities(info)).collect();
    let whole = facts.decoded_whole.as_ref();
    let mut report = PackReport {
        clips: clips.len() as u64,
        labeled: clips.iter().filter(|(info, _)| has_label(info)).count() as u64,
        frames: clips.iter().map(|(_, frames)| frames).sum(),
        short: clips.iter().filter(|(info, _)| info.short).count() as u64,
        repeated_frames,
        damaged_frames: facts.damaged_frames.into(),
        corrupt_packets: facts.corrupt_packets,
        decode_errors: facts.decode_errors,
        logged_errors: facts.logged_errors,
        failed_checksums: facts.failed_checksums,
        size_changes: facts.size_changes.into(),
        guessed_times: facts.guessed_times.into(),
        unordered_times: facts.unordered_times.into(),
        cut_off: facts.is_cut_off().into(),
        thinned: facts.thinned.into(),
        decoded_whole: whole.is_some().into(),
        without_audio: audio.is_some_and(|audio| audio.codec.is_empty()).into(),
        audio_errors: audio.map_or(0, AudioFacts::errors),
        audio_gaps: audio.map_or(0, |audio| audio.gaps + u64::from(audio.cut_samples > 0)),
        least_quality: qualities.iter().map(|[least, _]| *least).min(),
        most_quality: qualities.iter().map(|[_, most]| *most).max(),
        notes: whole.iter().map(|why| format!("{}: each of its segments {WHOLE}: {why}", job.source)).collect(),
        videos: 1,
        ..PackReport::default()
    };
    report.warnings.extend(problems(&report, facts).map(|message| Warning { source: job.source.clone(), message }));
    report
}

/// The report of a video that was skipped.
pub(super) fn of_failed(failure: Failure) -> PackReport {
    PackReport { failed: 1, failures: vec![failure], videos: 1, ..PackReport::default() }
}

/// The report of the clips of a video, which are about to be stored.
pub(super) fn of_clips(job: &Job, clips: &[PackedClip]) -> PackReport {
    let facts = clips.first().map(|clip| clip.facts.clone()).unwrap_or_default();
    let stored: Vec<_> = clips.iter().map(|clip| (&clip.info, clip.frames.len() as u64)).collect();
    let mut report = of_packed(job, &stored, &facts, clips.iter().map(PackedClip::repeated_frames).sum());
    // Draws share their JPEGs, so the first clip has them all.
    for measured in clips.first().iter().flat_map(|clip| &*clip.measured) {
        let (Scores { psnr, ssim }, Some(rgb)) = (measured.scores, measured.rgb_psnr) else { continue };
        report.take_means(1, [Some(psnr), Some(rgb), Some(ssim)]);
    }
    report
}

/// The problems of a video that was packed anyway, in words. Guessed times are not a problem by themselves, because a file
/// without times leaves only guesses.
fn problems(report: &PackReport, facts: &VideoFacts) -> Option<String> {
    let counts = [
        (report.decode_errors, "decoding error", "decoding errors"),
        (report.corrupt_packets, "corrupt packet", "corrupt packets"),
        (report.failed_checksums, "failed checksum", "failed checksums"),
        (report.damaged_frames, "damaged frame", "damaged frames"),
        (report.logged_errors, "logged error", "logged errors"),
        (report.size_changes, "change of the picture size", "changes of the picture size"),
        (report.unordered_times, "time out of order", "times out of order"),
        (report.audio_errors, "error in the sound", "errors in the sound"),
        (report.audio_gaps, "gap or overlap in the sound", "gaps or overlaps in the sound"),
    ];
    let text = |&(n, one, several): &(u64, &str, &str)| format!("{n} {}", if n == 1 { one } else { several });
    let mut parts: Vec<String> = counts.iter().filter(|(n, ..)| *n > 0).map(text).collect();
    if let (true, Some(claimed), Some(decoded)) = (facts.is_cut_off(), facts.claimed_seconds, facts.stream_seconds) {
        parts.push(format!("the container claims {claimed:.1} s, but only {decoded:.1} s decode"));
    }
    parts.extend(facts.time_gap.map(|gap| gap.to_string()));
    if parts.is_empty() {
        return None;
    }
    let of_audio = facts.audio.as_ref().and_then(|audio| audio.first_error.as_ref());
    let first = facts.first_error.as_ref().or(of_audio).map(|e| format!("; first: {e}")).unwrap_or_default();
    Some(format!("{}{first}", parts.join(", ")))
}

/// Returns the lowest and highest quality in the attributes of a clip.
fn qualities(info: &ClipInfo) -> Option<[u8; 2]> {
    let jpeg = info.attributes.0.get("video")?.get("jpeg")?;
    serde_json::from_value(jpeg.get("quality")?.clone()).ok()
}

fn has_label(info: &ClipInfo) -> bool {
    let several = info.attributes.0.get("labels").and_then(Value::as_array);
    info.label.is_some() || several.is_some_and(|labels| !labels.is_empty())
}
