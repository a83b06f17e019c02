//! The report of a run, and of each of its videos: its clips and its problems, or why it was skipped.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::plan::{IgnoredFiles, Job, ManifestColumns, PackPlan};
use crate::video::{AudioFacts, VideoFacts};
use crate::work::{Failure, PackedClip, PackedVideo};
use vidrec_core::dataset::writer::ClipInfo;
use vidrec_format::error::{Error, Result};

/// The words that the notes of videos have in common that were decoded whole for each of their segments.
pub(super) const WHOLE: &str = "took a decode of the whole video, or of most of it";

/// The result of a run. The program prints it as JSON.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PackReport {
    /// The number of clips written.
    pub clips: u64,
    /// The number of these clips that have a label or labels.
    pub labeled: u64,
    /// The number of frames written.
    pub frames: u64,
    /// The number of videos skipped.
    pub failed: u64,
    /// The number of clips whose source had fewer frames than asked for.
    pub short: u64,
    /// The number of frames that stand for a missing one: the repeated frames of short clips.
    pub repeated_frames: u64,
    /// The number of frames that decoded with damage. They are stored only if a video has no others.
    pub damaged_frames: u64,
    /// The number of packets that their containers mark as damaged.
    pub corrupt_packets: u64,
    /// The number of packets or frames that decoders refused, and of reads that broke off.
    pub decode_errors: u64,
    /// The number of errors that FFmpeg logged about videos that were packed.
    pub logged_errors: u64,
    /// The number of parts of containers whose checksum is wrong.
    pub failed_checksums: u64,
    /// The number of changes of the picture size within videos.
    pub size_changes: u64,
    /// The number of frames whose time is not the one that the file gives their packet. The file gives the packet
    /// no time, gives two packets the same time, or gives the times at which packets are decoded.
    #[serde(default)]
    pub guessed_times: u64,
    /// The number of frames whose time in the file is not after that of the frame that the decoder returned
    /// before.
    #[serde(default)]
    pub unordered_times: u64,
    /// The number of videos that decode to clearly less than their containers claim.
    pub cut_off: u64,
    /// The number of videos with more frames than [`FrameOptions::max_frames`](crate::FrameOptions::max_frames), whose
    /// clips have only some of them.
    #[serde(default)]
    pub thinned: u64,
    /// The number of segments for each of which a whole video, or most of it, was decoded. A note says of each such video why.
    #[serde(default)]
    pub decoded_whole: u64,
    /// The number of videos without sound, if sound was asked for.
    #[serde(default)]
    pub without_audio: u64,
    /// The number of packets of sound that were damaged or refused, and of errors that FFmpeg logged about them.
    #[serde(default)]
    pub audio_errors: u64,
    /// The number of gaps in the sound that were filled with silence, and of videos in which an overlap was cut.
    #[serde(default)]
    pub audio_gaps: u64,
    /// The number of frames that this run compared with what was encoded: those of one video in 32.
    #[serde(default)]
    pub measured_frames: u64,
    /// The mean PSNR of their luma in dB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub psnr: Option<f64>,
    /// Bytes of all files of the shards: records, indexes and tracks.
    pub bytes: u64,
    /// Bytes of the track files among them.
    #[serde(default)]
    pub track_bytes: u64,
    /// The wall-clock time that the run took, in seconds.
    pub seconds: f64,
    /// The videos skipped, in order.
    pub failures: Vec<Failure>,
    /// The name of the file in the output folder that lists the failures. Absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failures_file: Option<String>,
    /// Videos that were packed although something was wrong with them, in order.
    pub warnings: Vec<Warning>,
    /// Files in the input folders that are neither videos nor frames, by kind.
    #[doc(hidden)]
    pub passed_over: Vec<IgnoredFiles>,
    /// The meaning that vidrec gave each column of each manifest.
    #[doc(hidden)]
    pub manifests: Vec<ManifestColumns>,
    /// Further notes on the inputs, as in [`PackPlan::notes`].
    pub notes: Vec<String>,
    /// The resource that the machine ran out of, and how many videos were packed at a time because of that. It costs time and
    /// nothing else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shortage: Option<String>,
    /// The number of videos that an interrupted run had done when this one resumed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resumed_at: Option<u64>,
    /// The files that could not be cleaned up when a data set was replaced, in words. Usually empty.
    ///
    /// The new data set is complete, and the next write in its folder cleans up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_behind: Vec<String>,
    /// Whether a data set of all these videos existed already.
    #[serde(skip)]
    pub(super) was_there: bool,
    /// The number of videos that are done.
    #[serde(skip)]
    pub(super) videos: u64,
}

/// A video that was packed although something was wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Warning {
    /// Path relative to the input root.
    pub source: String,
    /// The problem in words.
    pub message: String,
}

impl PackReport {
    pub(crate) fn new(plan: &PackPlan) -> Self {
        PackReport {
            passed_over: plan.passed_over.clone(),
            manifests: plan.manifests.clone(),
            notes: plan.notes.clone(),
            ..PackReport::default()
        }
    }

    /// Returns the number of videos that are done.
    pub(crate) fn videos(&self) -> u64 {
        self.videos
    }

    /// Returns the number of videos that this run processed in a second of wall-clock time.
    ///
    /// Videos that an interrupted run had done are not counted. Returns `None` if there are no others, or if no
    /// time passed.
    pub fn videos_per_second(&self) -> Option<f64> {
        let done = self.videos.saturating_sub(self.resumed_at.unwrap_or(0));
        (done > 0 && self.seconds > 0.0).then(|| done as f64 / self.seconds)
    }

    /// Whether the data set was complete already, so that this run had nothing to do.
    pub fn is_unchanged(&self) -> bool {
        self.was_there
    }

    /// Adds the mean of some more frames.
    fn add_psnr(&mut self, frames: u64, psnr: Option<f64>) {
        self.measured_frames = self.measured_frames.saturating_add(frames);
        let share = frames as f64 / (self.measured_frames as f64).max(1.0);
        self.psnr = match (self.psnr, psnr) {
            (Some(so_far), Some(new)) => Some(so_far + (new - so_far) * share),
            (so_far, new) => so_far.or(new),
        };
    }

    /// Marks the report as that of work that another call has done.
    pub(crate) fn found(self) -> Self {
        PackReport { was_there: true, ..self }
    }

    /// Adds the report of the next videos.
    pub(crate) fn add(&mut self, next: &PackReport) {
        /// Adds to each of these fields.
        macro_rules! add {
            ($($field:ident)*) => { $(self.$field = self.$field.saturating_add(next.$field);)* };
        }
        add!(videos clips labeled frames failed short repeated_frames damaged_frames corrupt_packets decode_errors);
        add!(logged_errors failed_checksums size_changes guessed_times unordered_times cut_off thinned decoded_whole);
        add!(without_audio audio_errors audio_gaps bytes track_bytes);
        self.seconds += next.seconds;
        self.add_psnr(next.measured_frames, next.psnr);
        self.warnings.extend_from_slice(&next.warnings);
        self.failures.extend_from_slice(&next.failures);
        // Another segment of the same video may have brought the note.
        let new = next.whole_decodes().filter(|note| !self.notes.iter().any(|known| known == note));
        let new: Vec<String> = new.map(str::to_owned).collect();
        self.notes.extend(new);
    }

    /// Returns the notes that name videos which were decoded whole for each of their segments, and say why.
    pub fn whole_decodes(&self) -> impl Iterator<Item = &str> {
        self.notes.iter().map(String::as_str).filter(|note| note.contains(WHOLE))
    }

    /// Whether everything that was asked for is in the data set, without problems, and nothing is left to clean
    /// up.
    pub fn is_clean(&self) -> bool {
        self.failed == 0 && self.warnings.is_empty() && self.left_behind.is_empty()
    }
}

/// Returns a list of failures as text.
pub(crate) fn lines(failures: &[Failure]) -> Result<String> {
    let mut lines = String::new();
    for failure in failures {
        lines += &serde_json::to_string(failure).map_err(|e| Error::internal(format!("failures: {e}")))?;
        lines.push('\n');
    }
    Ok(lines)
}

/// The report of a video that was packed.
pub(crate) fn of_packed(job: &Job, video: &PackedVideo) -> PackReport {
    let PackedVideo { clips, psnr, facts, .. } = video;
    let audio = facts.audio.as_ref();
    let whole = facts.decoded_whole.as_ref();
    let mut report = PackReport {
        clips: clips.len() as u64,
        labeled: clips.iter().filter(|clip| has_label(&clip.info)).count() as u64,
        frames: clips.iter().map(|clip| clip.frames.len() as u64).sum(),
        short: clips.iter().filter(|clip| clip.info.short).count() as u64,
        repeated_frames: clips.iter().map(PackedClip::repeated_frames).sum(),
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
        notes: whole.iter().map(|why| format!("{}: each of its segments {WHOLE}: {why}", job.source)).collect(),
        videos: 1,
        ..PackReport::default()
    };
    psnr.iter().for_each(|&psnr| report.add_psnr(1, Some(psnr)));
    report.warnings.extend(problems(&report, facts).map(|message| Warning { source: job.source.clone(), message }));
    report
}

/// The report of a video that was skipped.
pub(crate) fn of_failed(failure: Failure) -> PackReport {
    PackReport { failed: 1, failures: vec![failure], videos: 1, ..PackReport::default() }
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

fn has_label(info: &ClipInfo) -> bool {
    let several = info.attributes.0.get("labels").and_then(Value::as_array);
    info.label.is_some() || several.is_some_and(|labels| !labels.is_empty())
}
