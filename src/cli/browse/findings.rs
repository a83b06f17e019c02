//! What a check has found, as it printed it.

use std::fs;
use std::path::Path;

use crate::check::CheckReport;
use crate::report::NamedSet;

use crate::cli::outcome::Failure;

/// Reads the report of a check of these data sets.
pub fn read(path: &Path, sets: &[NamedSet]) -> Result<CheckReport, Failure> {
    let failure = |what: String| format!("{}: {what}; write one with `vidrec check --json`", path.display());
    let text = fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let report: CheckReport =
        serde_json::from_slice(&text).map_err(|e| failure(format!("this is not the report of a check: {e}")))?;
    let (checked, given) = (report.sets.len(), sets.len());
    if checked != given {
        return Err(failure(format!("it is about {checked} data sets, and {given} are to be shown")).into());
    }
    for (at, (checked, NamedSet { set, .. })) in report.sets.iter().zip(sets).enumerate() {
        if (checked.clips, checked.frames) != (set.len(), set.frame_count()) {
            let what = |clips, frames| format!("{clips} clips and {frames} frames");
            let (found, here) = (what(checked.clips, checked.frames), what(set.len(), set.frame_count()));
            return Err(failure(format!("data set {} had {found} when it was checked, and has {here}", at + 1)).into());
        }
    }
    let is_there = |set: usize, clip: u64| sets.get(set).is_some_and(|named| clip < named.set.len());
    let clips = report.findings.iter().flat_map(|finding| &finding.clips).all(|clip| is_there(clip.set, clip.clip));
    let videos = report.findings.iter().flat_map(|finding| &finding.videos).all(|video| video.set < sets.len());
    if !clips || !videos {
        return Err(failure("a finding is about a clip that is not there".into()).into());
    }
    Ok(report)
}
