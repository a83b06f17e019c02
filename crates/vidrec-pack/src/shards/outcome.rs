//! The result of a video.

use serde::{Deserialize, Serialize};

use crate::plan::Job;
use crate::video::{AudioFacts, VideoFacts};
use crate::work::{ClipFailure, PackedClip};
use vidrec_dataset::writer::ClipInfo;

/// The result: packed or skipped.
#[derive(Debug)]
pub(crate) enum Outcome {
    Packed { clips: Vec<Stored>, troubles: Troubles },
    Failed(Failure),
}

/// A clip whose frames are in the record file.
#[derive(Debug)]
pub(crate) struct Stored {
    pub info: ClipInfo,
    pub frames: u32,
}

impl Stored {
    pub fn new(packed: &PackedClip) -> Self {
        Stored { info: packed.info.clone(), frames: u32::try_from(packed.frames.len()).unwrap_or(u32::MAX) }
    }
}

/// A video that was skipped: a line of the list of failures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Failure {
    /// Its place in the plan, from 0.
    pub item: u64,
    /// Path relative to the input root.
    pub source: String,
    /// The stage at which it failed: `open`, `stream`, `decode`, `sample`, `scale`, `limit`, `timeout`, `encode`,
    /// `track`, `short`, `crash` or `internal`.
    pub stage: String,
    /// What is wrong, in FFmpeg's own words if they come from FFmpeg.
    pub error: String,
}

impl Failure {
    pub(crate) fn new(place: u64, job: &Job, failure: &ClipFailure) -> Self {
        Failure {
            item: place,
            source: job.source.clone(),
            stage: failure.stage.to_string(),
            error: failure.message.clone(),
        }
    }
}

/// The problems of a video that was packed anyway.
#[derive(Debug)]
pub(crate) struct Troubles {
    pub repeated_frames: u64,
    pub damaged_frames: u64,
    pub corrupt_packets: u64,
    pub decode_errors: u64,
    pub logged_errors: u64,
    pub failed_checksums: u64,
    pub size_changes: u64,
    /// The number of guessed times. They are not a problem by themselves, because a file without times leaves only
    /// guesses.
    pub guessed_times: u64,
    pub unordered_times: u64,
    pub cut_off: bool,
    pub thinned: bool,
    pub decoded_whole: Option<String>,
    /// Whether the video has no sound although sound was asked for.
    pub without_audio: bool,
    pub audio_errors: u64,
    pub audio_gaps: u64,
    pub message: Option<String>,
}

impl Troubles {
    /// Returns the problems of the clips of one video.
    pub fn of(clips: &[PackedClip]) -> Self {
        let facts = clips.first().map(|clip| clip.facts.clone()).unwrap_or_default();
        Self::new(&facts, clips.iter().map(PackedClip::repeated_frames).sum())
    }

    pub fn new(facts: &VideoFacts, repeated_frames: u64) -> Self {
        let mut troubles = Troubles {
            repeated_frames,
            damaged_frames: u64::from(facts.damaged_frames),
            corrupt_packets: facts.corrupt_packets,
            decode_errors: facts.decode_errors,
            logged_errors: facts.logged_errors,
            failed_checksums: facts.failed_checksums,
            size_changes: u64::from(facts.size_changes),
            guessed_times: u64::from(facts.guessed_times),
            unordered_times: u64::from(facts.unordered_times),
            cut_off: facts.is_cut_off(),
            thinned: facts.thinned,
            decoded_whole: facts.decoded_whole.clone(),
            without_audio: facts.audio.as_ref().is_some_and(|audio| audio.codec.is_empty()),
            audio_errors: facts.audio.as_ref().map_or(0, AudioFacts::errors),
            audio_gaps: facts.audio.as_ref().map_or(0, |audio| audio.gaps + u64::from(audio.cut_samples > 0)),
            message: None,
        };
        let counts = [
            (troubles.decode_errors, "decoding error", "decoding errors"),
            (troubles.corrupt_packets, "corrupt packet", "corrupt packets"),
            (troubles.failed_checksums, "failed checksum", "failed checksums"),
            (troubles.damaged_frames, "damaged frame", "damaged frames"),
            (troubles.logged_errors, "logged error", "logged errors"),
            (troubles.size_changes, "change of the picture size", "changes of the picture size"),
            (troubles.unordered_times, "time out of order", "times out of order"),
            (troubles.audio_errors, "error in the sound", "errors in the sound"),
            (troubles.audio_gaps, "gap or overlap in the sound", "gaps or overlaps in the sound"),
        ];
        let text = |&(n, one, several): &(u64, &str, &str)| format!("{n} {}", if n == 1 { one } else { several });
        let mut parts: Vec<String> = counts.iter().filter(|(n, ..)| *n > 0).map(text).collect();
        if let (true, Some(claimed), Some(decoded)) = (troubles.cut_off, facts.claimed_seconds, facts.stream_seconds) {
            parts.push(format!("the container claims {claimed:.1} s, but only {decoded:.1} s decode"));
        }
        parts.extend(facts.time_gap.map(|gap| gap.to_string()));
        if !parts.is_empty() {
            let of_audio = facts.audio.as_ref().and_then(|audio| audio.first_error.as_ref());
            let first = facts.first_error.as_ref().or(of_audio).map(|e| format!("; first: {e}")).unwrap_or_default();
            troubles.message = Some(format!("{}{first}", parts.join(", ")));
        }
        troubles
    }
}
