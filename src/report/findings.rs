//! Lists findings for a page: by kind, and up to a limit.

use serde::Serialize;

use crate::report::check::{CheckReport, Finding, FindingKind};

/// The findings of one kind.
#[derive(Serialize)]
pub(super) struct Group<'a> {
    kind: FindingKind,
    count: usize,
    /// The first of these findings.
    findings: Vec<Shown<'a>>,
}

/// A finding.
#[derive(Serialize)]
struct Shown<'a> {
    text: &'a str,
    /// The first of its frames.
    frame: Option<u32>,
    /// The number of its clips and videos.
    count: usize,
    /// The first of its clips: data set, number, source, class.
    clips: Vec<(usize, u64, &'a str, Option<&'a str>)>,
    /// The first of its videos: data set and source.
    videos: Vec<(usize, &'a str)>,
}

/// The limits of a page: the most findings of a kind, the most clips or videos of one finding, and about the most
/// clips or videos of all findings of a kind.
pub(super) const MOST: usize = 500;
const MOST_CLIPS: usize = 60;
const MOST_OF_KIND: usize = 2000;

/// Returns how many bytes of a page to reserve for findings from its own clips. If there are more findings, fewer
/// are listed.
pub(super) fn room(room: u64, clips: usize) -> u64 {
    (2048 + 1024 * clips as u64).min(room / 10)
}

impl<'a> Group<'a> {
    /// Returns the findings in groups, in order of the kinds. Lists at most `most` of each kind.
    pub fn all(report: &'a CheckReport, most: usize) -> Vec<Self> {
        let group = |findings: &'a [Finding]| {
            let mut listed = 0;
            let has_room = |finding: &&Shown<'_>| {
                let before = listed;
                listed += finding.clips.len() + finding.videos.len();
                before < MOST_OF_KIND
            };
            let shown: Vec<_> = findings.iter().take(most).map(Shown::of).collect();
            let room = shown.iter().take_while(has_room).count();
            let findings_shown = shown.into_iter().take(room).collect();
            Group { kind: findings[0].kind, count: findings.len(), findings: findings_shown }
        };
        report.findings.chunk_by(|a, b| a.kind == b.kind).map(group).collect()
    }
}

impl<'a> Shown<'a> {
    fn of(finding: &'a Finding) -> Self {
        let clips = finding.clips.iter().take(MOST_CLIPS);
        let videos = finding.videos.iter().take(MOST_CLIPS);
        Shown {
            text: &finding.text,
            frame: finding.frames.first().copied(),
            count: finding.clips.len() + finding.videos.len(),
            clips: clips.map(|clip| (clip.set, clip.clip, clip.source.as_str(), clip.class.as_deref())).collect(),
            videos: videos.map(|video| (video.set, video.source.as_str())).collect(),
        }
    }
}
