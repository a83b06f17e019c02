//! The data of a page besides its clips, as JSON for its script: figures, classes and findings.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::check::{CheckReport, Finding};
use super::figures::{Report, SetFigures};

/// The most classes that a page lists.
const MOST_CLASSES: usize = 5000;
/// The most findings of a kind that a page lists.
pub(super) const MOST_FINDINGS: usize = 500;
/// The most clips or videos of one finding, and about the most of all findings of a kind.
const MOST_CLIPS: usize = 60;
const MOST_OF_KIND: usize = 2000;

/// Returns everything on the page except its clips, with at most `most` findings of each kind.
pub(super) fn page_data(report: &Report, check: Option<&CheckReport>, most: usize) -> Value {
    json!({
        "title": report.title,
        "key": key(report.sets.iter().map(|set| set.fingerprint.digest.as_str())),
        "sets": report.sets.iter().map(set).collect::<Vec<_>>(),
        "classes": classes(&report.sets),
        "checked": report.checked,
        "findings": check.map(|check| findings(check, most)),
        "notes": report.notes,
    })
}

/// Returns what identifies data sets where the browser stores flags.
pub(super) fn key<'a>(digests: impl Iterator<Item = &'a str>) -> String {
    digests.collect::<Vec<_>>().join("+")
}

fn set(set: &SetFigures) -> Value {
    let classes = set.stats.classes.iter().filter(|class| class.label.is_some() && class.clips > 0).count();
    let mut value = json!({
        "name": set.name,
        "bytes": set.bytes,
        "digest": set.fingerprint.digest,
        "tool": set.tool,
        "ffmpeg": set.ffmpeg,
        "draws": set.draws,
        "settings": set.settings,
    });
    if let (Value::Object(value), Ok(Value::Object(mut stats))) = (&mut value, serde_json::to_value(&set.stats)) {
        value.append(&mut stats);
        value.insert("classes".into(), classes.into());
    }
    value
}

/// Returns the classes with the most clips, with the clips of each data set, and the totals of the other classes.
fn classes(sets: &[SetFigures]) -> Value {
    let mut rows: BTreeMap<(&str, Option<u32>), Vec<u64>> = BTreeMap::new();
    for (at, set) in sets.iter().enumerate() {
        for class in &set.stats.classes {
            // A class with a name may have another label in each data set.
            let label = if class.class.is_empty() { class.label } else { None };
            rows.entry((&class.class, label)).or_insert_with(|| vec![0; sets.len()])[at] += class.clips;
        }
    }
    let mut rows: Vec<_> = rows.into_iter().collect();
    rows.sort_by_key(|(_, clips)| std::cmp::Reverse(clips.iter().sum::<u64>()));
    let others = rows.split_off(rows.len().min(MOST_CLASSES));
    let sums = (0..sets.len()).map(|at| others.iter().map(|(_, clips)| clips[at]).sum());
    let row = |((name, label), clips)| json!({ "name": name, "label": label, "clips": clips });
    json!({
        "other_classes": others.len(),
        "other_clips": sums.collect::<Vec<u64>>(),
        "classes": rows.into_iter().map(row).collect::<Vec<_>>(),
    })
}

/// Returns the findings by kind. Lists at most `most` of each kind.
pub(super) fn findings(check: &CheckReport, most: usize) -> Value {
    let kind = |findings: &[Finding]| {
        let mut listed = 0;
        let has_room = |finding: &&Finding| {
            let before = listed;
            listed += finding.clips.len().min(MOST_CLIPS) + finding.videos.len().min(MOST_CLIPS);
            before < MOST_OF_KIND
        };
        let shown: Vec<_> = findings.iter().take(most).take_while(has_room).map(finding).collect();
        json!({ "kind": findings[0].kind, "count": findings.len(), "findings": shown })
    };
    check.findings.chunk_by(|a, b| a.kind == b.kind).map(kind).collect()
}

fn finding(finding: &Finding) -> Value {
    let clips = finding.clips.iter().take(MOST_CLIPS);
    let videos = finding.videos.iter().take(MOST_CLIPS);
    json!({
        "text": finding.text,
        "frame": finding.frames.first(),
        "count": finding.clips.len() + finding.videos.len(),
        "clips": clips.map(|clip| json!([clip.set, clip.clip, clip.source, clip.class])).collect::<Vec<_>>(),
        "videos": videos.map(|video| json!([video.set, video.source])).collect::<Vec<_>>(),
    })
}
