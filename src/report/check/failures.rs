//! Finds videos that were not packed, grouped by the message with which they failed.

use std::collections::BTreeMap;

use super::finding::{FailedVideo, Finding, FindingKind};
use super::looking::stops;
use vidrec_core::dataset::Dataset;
use vidrec_format::error::Result;

/// Returns one finding for each message, those with the most videos first, and one for each list that cannot be
/// read. Also returns the number of failed videos of each data set.
pub(super) fn findings(sets: &[Dataset]) -> Result<(Vec<Finding>, Vec<u64>)> {
    let mut by_message: BTreeMap<(String, String), Vec<FailedVideo>> = BTreeMap::new();
    let mut found = Vec::new();
    let mut counts = vec![0; sets.len()];
    for (set, dataset) in sets.iter().enumerate() {
        match dataset.failures() {
            Ok(failures) => {
                counts[set] = failures.len() as u64;
                for failure in failures {
                    let video = FailedVideo { set, source: failure.source };
                    by_message.entry((failure.stage, failure.error)).or_default().push(video);
                }
            }
            Err(e) if stops(&e) => return Err(e),
            Err(e) => {
                found.push(finding(FindingKind::Corrupt, Vec::new(), format!("the list of failures is damaged: {e:#}")))
            }
        }
    }
    let mut grouped: Vec<_> = by_message.into_iter().collect();
    grouped.sort_by_key(|(_, videos)| std::cmp::Reverse(videos.len()));
    found.extend(grouped.into_iter().map(|((stage, message), videos)| {
        let number = match videos.len() {
            1 => "a video was not packed".to_owned(),
            n => format!("{n} videos were not packed"),
        };
        finding(FindingKind::Failed, videos, format!("{number}: {stage}: {message}"))
    }));
    Ok((found, counts))
}

fn finding(kind: FindingKind, videos: Vec<FailedVideo>, text: String) -> Finding {
    let value = (!videos.is_empty()).then_some(videos.len() as f64);
    Finding { kind, clips: Vec::new(), videos, frames: Vec::new(), value, text }
}
