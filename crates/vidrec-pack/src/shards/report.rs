//! The report at the end of a run.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::outcome::{Failure, Outcome};
use crate::plan::{Job, ManifestColumns, PackPlan, PassedOver};
use crate::work::PackedClip;
use vidrec_dataset::writer::ClipInfo;
use vidrec_format::error::{Error, Result};
use vidrec_jpeg::Scores;

/// What the notes of videos have in common that were decoded whole for each of their segments.
const WHOLE: &str = "took a decode of the whole video, or of most of it";

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
    /// The lowest quality of a frame, if there is a target quality.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least_quality: Option<u8>,
    /// The highest quality of a frame, if there is a target quality.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_quality: Option<u8>,
    /// The number of frames that this run compared with what was encoded: those of one video in 32.
    #[serde(default)]
    pub measured_frames: u64,
    /// The mean PSNR of their luma in dB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub psnr: Option<f64>,
    /// The mean PSNR of their RGB in dB, against the scaled frames with all of their color. It includes what was lost because
    /// JPEGs have color at half the resolution (4:2:0).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rgb_psnr: Option<f64>,
    /// The mean SSIM of their luma, as in [`QualityTarget::Ssim`](vidrec_jpeg::QualityTarget::Ssim).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ssim: Option<f64>,
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
    pub passed_over: Vec<PassedOver>,
    /// What each column of each manifest was taken for.
    pub manifests: Vec<ManifestColumns>,
    /// Further notes on the inputs, as in [`PackPlan::notes`].
    pub notes: Vec<String>,
    /// What the machine ran out of, and how many videos were packed at a time because of that. It costs time and
    /// nothing else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shortage: Option<String>,
    /// The number of videos that an interrupted run had done when this one resumed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resumed_at: Option<u64>,
    /// What could not be cleaned up when a data set was replaced, in words. Usually empty.
    ///
    /// The new data set is complete, and the next write or repair in its folder cleans up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_behind: Vec<String>,
    /// Whether a data set of all these videos existed already.
    #[serde(skip)]
    pub(super) was_there: bool,
    /// The number of videos that are done.
    #[serde(skip)]
    videos: u64,
}

/// A video that was packed although something was wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Warning {
    /// Path relative to the input root.
    pub source: String,
    /// What is wrong.
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

    /// Adds the next video of the plan.
    pub(super) fn push(&mut self, job: &Job, outcome: &Outcome) {
        match outcome {
            Outcome::Packed { clips, troubles } => {
                self.clips += clips.len() as u64;
                self.labeled += clips.iter().filter(|c| has_label(&c.info)).count() as u64;
                self.frames += clips.iter().map(|c| u64::from(c.frames)).sum::<u64>();
                self.short += clips.iter().map(|c| u64::from(c.info.short)).sum::<u64>();
                self.repeated_frames += troubles.repeated_frames;
                self.damaged_frames += troubles.damaged_frames;
                self.corrupt_packets += troubles.corrupt_packets;
                self.decode_errors += troubles.decode_errors;
                self.logged_errors += troubles.logged_errors;
                self.failed_checksums += troubles.failed_checksums;
                self.size_changes += troubles.size_changes;
                self.guessed_times += troubles.guessed_times;
                self.unordered_times += troubles.unordered_times;
                self.cut_off += u64::from(troubles.cut_off);
                self.thinned += u64::from(troubles.thinned);
                self.decoded_whole += u64::from(troubles.decoded_whole.is_some());
                self.without_audio += u64::from(troubles.without_audio);
                self.audio_errors += troubles.audio_errors;
                self.audio_gaps += troubles.audio_gaps;
                clips.iter().filter_map(|c| qualities(&c.info)).for_each(|of_clip| self.take_qualities(of_clip));
                if let Some(message) = troubles.message.clone() {
                    self.warnings.push(Warning { source: job.source.clone(), message });
                }
                if let Some(why) = &troubles.decoded_whole {
                    self.note_once(format!("{}: each of its segments {WHOLE}: {why}", job.source));
                }
            }
            Outcome::Failed(failure) => {
                self.failed += 1;
                self.failures.push(failure.clone());
            }
        }
        self.videos += 1;
    }

    fn take_qualities(&mut self, [least, most]: [u8; 2]) {
        self.least_quality = Some(self.least_quality.map_or(least, |so_far| so_far.min(least)));
        self.most_quality = Some(self.most_quality.map_or(most, |so_far| so_far.max(most)));
    }

    /// Adds the quality measurements of the frames of a video.
    pub(super) fn take_scores(&mut self, clips: &[PackedClip]) {
        // Draws share their JPEGs, so the first clip has them all.
        for measured in clips.first().iter().flat_map(|clip| &*clip.measured) {
            let (Scores { psnr, ssim }, Some(rgb)) = (measured.scores, measured.rgb_psnr) else { continue };
            self.take_means(1, [Some(psnr), Some(rgb), Some(ssim)]);
        }
    }

    /// Adds the means of some more frames.
    fn take_means(&mut self, frames: u64, [psnr, rgb_psnr, ssim]: [Option<f64>; 3]) {
        let (before, more) = (self.measured_frames, frames);
        self.measured_frames = before.saturating_add(more);
        let share = more as f64 / (self.measured_frames as f64).max(1.0);
        let mean = |so_far: Option<f64>, new: Option<f64>| match (so_far, new) {
            (Some(so_far), Some(new)) => Some(so_far + (new - so_far) * share),
            (so_far, new) => so_far.or(new),
        };
        (self.psnr, self.ssim) = (mean(self.psnr, psnr), mean(self.ssim, ssim));
        self.rgb_psnr = mean(self.rgb_psnr, rgb_psnr);
    }

    /// Marks the report as that of work that another call has done.
    pub(crate) fn found(self) -> Self {
        PackReport { was_there: true, ..self }
    }

    /// Adds the report of the next videos, which are those of a shard.
    pub(crate) fn add(&mut self, next: &PackReport) {
        self.videos += next.videos;
        self.clips = self.clips.saturating_add(next.clips);
        self.labeled = self.labeled.saturating_add(next.labeled);
        self.frames = self.frames.saturating_add(next.frames);
        self.short = self.short.saturating_add(next.short);
        self.repeated_frames = self.repeated_frames.saturating_add(next.repeated_frames);
        self.damaged_frames = self.damaged_frames.saturating_add(next.damaged_frames);
        self.corrupt_packets = self.corrupt_packets.saturating_add(next.corrupt_packets);
        self.decode_errors = self.decode_errors.saturating_add(next.decode_errors);
        self.logged_errors = self.logged_errors.saturating_add(next.logged_errors);
        self.failed_checksums = self.failed_checksums.saturating_add(next.failed_checksums);
        self.size_changes = self.size_changes.saturating_add(next.size_changes);
        self.guessed_times = self.guessed_times.saturating_add(next.guessed_times);
        self.unordered_times = self.unordered_times.saturating_add(next.unordered_times);
        self.cut_off = self.cut_off.saturating_add(next.cut_off);
        self.thinned = self.thinned.saturating_add(next.thinned);
        self.decoded_whole = self.decoded_whole.saturating_add(next.decoded_whole);
        self.without_audio = self.without_audio.saturating_add(next.without_audio);
        self.audio_errors = self.audio_errors.saturating_add(next.audio_errors);
        self.audio_gaps = self.audio_gaps.saturating_add(next.audio_gaps);
        if let (Some(least), Some(most)) = (next.least_quality, next.most_quality) {
            self.take_qualities([least, most]);
        }
        self.take_means(next.measured_frames, [next.psnr, next.rgb_psnr, next.ssim]);
        self.bytes = self.bytes.saturating_add(next.bytes);
        self.track_bytes = self.track_bytes.saturating_add(next.track_bytes);
        self.seconds += next.seconds;
        self.warnings.extend_from_slice(&next.warnings);
        next.whole_decodes().for_each(|note| self.note_once(note.to_owned()));
        self.add_failures(next.failures.clone());
    }

    /// Adds a note, unless a segment of the same video has brought it.
    fn note_once(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Returns the notes that name videos which were decoded whole for each of their segments, and say why.
    pub fn whole_decodes(&self) -> impl Iterator<Item = &str> {
        self.notes.iter().map(String::as_str).filter(|note| note.contains(WHOLE))
    }

    /// Adds videos that were skipped.
    pub(crate) fn add_failures(&mut self, failures: Vec<Failure>) {
        self.failed += failures.len() as u64;
        self.failures.extend(failures);
    }

    /// Whether everything that was asked for is in the data set, without problems, and nothing is left to clean
    /// up.
    pub fn is_clean(&self) -> bool {
        self.failed == 0 && self.warnings.is_empty() && self.left_behind.is_empty()
    }
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

/// Returns a list of failures as text.
pub(crate) fn lines(failures: &[Failure]) -> Result<String> {
    let mut lines = String::new();
    for failure in failures {
        lines += &serde_json::to_string(failure).map_err(|e| Error::internal(format!("failures: {e}")))?;
        lines.push('\n');
    }
    Ok(lines)
}
