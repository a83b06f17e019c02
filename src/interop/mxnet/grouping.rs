//! Groups records into clips.
//!
//! A record file says nothing about clips. Readers usually assume that the writer wrote exactly T frames per
//! video. If a single frame is missing, every later clip then gets a frame and the label of the next clip. This
//! module detects such gaps by the ids and labels of the records.

use std::ops::Range;

use super::records::Record;
use crate::{Error, Hint};
use vidrec_format::words::unknown_variant;

/// The meaning of the ids of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::Display, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "kebab-case", parse_err_ty = Error, parse_err_fn = unknown_variant::<Self>)]
pub enum Ids {
    /// Frame t of clip k has the id k · T + t, as mxnet-videoio writes them. Clips may be missing and in any order.
    #[default]
    Grid,
    /// The ids of a clip's frames are consecutive. Each clip starts a multiple of T after the first id of the
    /// file.
    Consecutive,
    /// The ids mean nothing. Only labels are compared.
    Ignore,
}

/// The runs of records that are clips, and the problems of the other runs.
#[derive(Debug, Default)]
pub(super) struct Groups {
    pub clips: Vec<Range<usize>>,
    pub faults: Vec<(Range<usize>, Error)>,
    /// Whether records were grouped by `id2`, as vidrec writes it.
    pub by_id2: bool,
}

/// Groups records, `frames` (at least 1) at a time. Without `frames`, groups them by `id2`, or one at a time if
/// `id2` is zero everywhere.
pub(super) fn group(records: &[Record], frames: Option<u32>, ids: Ids) -> Groups {
    match frames {
        Some(frames) => off_the_grid(records, frames, ids).unwrap_or_else(|| by_ids(records, frames as usize, ids)),
        None if records.iter().any(|r| r.id2 != 0) => by_id2(records),
        None => Groups { clips: (0..records.len()).map(|i| i..i + 1).collect(), ..Groups::default() },
    }
}

/// Groups clips as vidrec writes them: `id2` holds the clip's ordinal in its upper bits, and the frame's in its
/// lower bits.
fn by_id2(records: &[Record]) -> Groups {
    let mut groups = Groups { by_id2: true, ..Groups::default() };
    for run in runs(records, |r| Some(r.id2 >> 32)) {
        let in_order = (0..).zip(&records[run.clone()]).all(|(t, r)| r.id2 & 0xffff_ffff == t);
        // This shows that no frame is missing before the last one found, but not whether frames are missing at the end.
        let fault = if in_order { labels_fault(records, &run) } else { Some(missing(records, &run)) };
        groups.push(run, fault);
    }
    groups
}

/// Returns no clips and one fault if the ids fit a grid that starts at the first id at least as well as the grid
/// that starts at 0. Runs that look complete could then contain frames of two clips.
fn off_the_grid(records: &[Record], frames: u32, ids: Ids) -> Option<Groups> {
    let first = records.first().filter(|r| ids == Ids::Grid && r.id % u64::from(frames) != 0)?;
    let faults = |ids| by_ids(records, frames as usize, ids).faults.len();
    if faults(Ids::Consecutive) > faults(Ids::Grid) {
        return None;
    }
    let what =
        format!("clips of {frames} records seem to begin at id {}, which is not a multiple of {frames}", first.id);
    let e = Error::decode(what).at(first.offset).hint(Hint::Choose("ids", "consecutive"));
    Some(Groups { faults: vec![(0..records.len(), e)], ..Groups::default() })
}

fn by_ids(records: &[Record], frames: usize, ids: Ids) -> Groups {
    let first = match (ids, records.first()) {
        (Ids::Consecutive, Some(record)) => record.id,
        _ => 0,
    };
    let mut groups = Groups::default();
    let step = frames as u64;
    let runs = match ids {
        // Without ids, only the count groups records.
        Ids::Ignore => (0..records.len()).step_by(frames).map(|i| i..(i + frames).min(records.len())).collect(),
        _ => runs(records, |r| r.id.checked_sub(first).map(|id| id / step)),
    };
    for run in runs {
        let counted = (0..).zip(&records[run.clone()]).all(|(t, r)| r.id.wrapping_sub(first) % step == t);
        let fault = if run.len() != frames || (ids != Ids::Ignore && !counted) {
            Some(incomplete(records, &run, frames, ids))
        } else {
            labels_fault(records, &run)
        };
        groups.push(run, fault);
    }
    groups
}

impl Groups {
    fn push(&mut self, run: Range<usize>, fault: Option<Error>) {
        match fault {
            Some(e) => self.faults.push((run, e)),
            None => self.clips.push(run),
        }
    }
}

/// Returns the runs of consecutive records with the same key.
fn runs<K: PartialEq>(records: &[Record], key: impl Fn(&Record) -> K) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut start = 0;
    for i in 1..=records.len() {
        if i == records.len() || key(&records[i]) != key(&records[start]) {
            runs.push(start..i);
            start = i;
        }
    }
    runs
}

fn place(records: &[Record], run: &Range<usize>, what: String) -> Error {
    Error::decode(what).at(records[run.start].offset)
}

fn missing(records: &[Record], run: &Range<usize>) -> Error {
    let found: Vec<_> = records[run.clone()].iter().take(9).map(|r| (r.id2 & 0xffff_ffff).to_string()).collect();
    let what = format!("frames of clip {} are missing or out of order", records[run.start].id2 >> 32);
    place(records, run, what).expected("0, 1, 2, …").found(found.join(", "))
}

fn incomplete(records: &[Record], run: &Range<usize>, frames: usize, ids: Ids) -> Error {
    if ids == Ids::Ignore {
        return place(records, run, format!("the number of records is not a multiple of {frames}"))
            .expected(format!("{frames} records for the last clip"))
            .found(format!("{} of {} in all", run.len(), records.len()));
    }
    let found: Vec<_> = records[run.clone()].iter().take(9).map(|r| r.id.to_string()).collect();
    let what = format!(
        "records {} to {} are not a complete clip, according to their ids; if a reader counts {frames} records per clip, \
             every clip from here on gets frames of the next one",
        run.start,
        run.end - 1
    );
    let e = place(records, run, what)
        .expected(format!("{frames} consecutive ids"))
        .found(format!("{}{}", found.join(", "), if run.len() > 9 { ", …" } else { "" }))
        .hint(Hint::Set("frames_per_clip"));
    let e = if ids == Ids::Grid { e.hint(Hint::Choose("ids", "consecutive")) } else { e };
    e.hint(Hint::Choose("ids", "ignore"))
}

/// Returns an error if the frames of a clip do not have the same labels.
fn labels_fault(records: &[Record], run: &Range<usize>) -> Option<Error> {
    let first = &records[run.start].labels;
    let other = records[run.clone()].iter().position(|r| !r.labels.same(first))?;
    let what = format!("records {} to {} would be one clip, but their labels differ", run.start, run.end - 1);
    let found = format!("{:?} in record {}", records[run.start + other].labels.values(), run.start + other);
    Some(place(records, run, what).expected(format!("{:?}", first.values())).found(found))
}

#[cfg(test)]
mod tests {
    use super::super::records::Labels;
    use super::*;

    fn records(ids: &[u64], label: impl Fn(u64) -> f32) -> Vec<Record> {
        ids.iter().map(|&id| Record { offset: id * 8, id, id2: 0, labels: Labels::One(label(id)) }).collect()
    }

    /// Returns the starts and ends of the clips.
    fn ends(groups: &Groups) -> Vec<(usize, usize)> {
        groups.clips.iter().map(|run| (run.start, run.end)).collect()
    }

    fn clips(ids: &[u64], rule: Ids) -> (Vec<(usize, usize)>, usize) {
        let groups = group(&records(ids, |_| 1.0), Some(3), rule);
        (ends(&groups), groups.faults.len())
    }

    #[test]
    fn one_missing_record_costs_one_clip_wherever_it_is() {
        let all: Vec<u64> = (0..12).collect();
        assert_eq!(clips(&all, Ids::Grid), (vec![(0, 3), (3, 6), (6, 9), (9, 12)], 0));
        for gone in 0..12 {
            let ids: Vec<u64> = all.iter().copied().filter(|&id| id != gone).collect();
            let groups = group(&records(&ids, |id| (id / 3) as f32), Some(3), Ids::Grid);
            let found = groups.clips;
            assert_eq!((found.len(), groups.faults.len()), (3, 1), "without {gone}");
            assert!(found.iter().all(|run| ids[run.start].is_multiple_of(3) && ids[run.end - 1] % 3 == 2));
        }
    }

    #[test]
    fn ids_may_have_holes_of_whole_clips_and_begin_anywhere() {
        assert_eq!(clips(&[0, 1, 2, 6, 7, 8], Ids::Grid), (vec![(0, 3), (3, 6)], 0));
        assert_eq!(clips(&[1, 2, 3, 4, 5, 6], Ids::Grid), (vec![], 1));
        assert_eq!(clips(&[1, 2, 3, 4, 5], Ids::Grid), (vec![], 1));
        assert_eq!(clips(&[1, 2, 3, 4, 5, 6], Ids::Consecutive), (vec![(0, 3), (3, 6)], 0));
        assert_eq!(clips(&[1, 2, 3, 5, 6, 7], Ids::Consecutive).1, 2);
        assert_eq!(clips(&[9, 9, 9, 4, 4, 4], Ids::Ignore), (vec![(0, 3), (3, 6)], 0));
        assert_eq!(clips(&[9, 9, 9, 4], Ids::Ignore), (vec![(0, 3)], 1));
        // Clips in any order, as from a shuffled list. A record that occurs twice is a fault.
        assert_eq!(clips(&[6, 7, 8, 0, 1, 2], Ids::Grid), (vec![(0, 3), (3, 6)], 0));
        assert_eq!(clips(&[0, 1, 2, 2, 3, 4, 5], Ids::Grid).1, 1);
    }

    #[test]
    fn labels_have_to_agree_within_a_clip() {
        let groups = group(&records(&[0, 1, 2, 3, 4, 5], |id| if id < 4 { 1.0 } else { 2.0 }), Some(3), Ids::Ignore);
        assert_eq!(ends(&groups), [(0, 3)]);
        assert!(groups.faults[0].1.to_string().contains("labels differ"));
    }

    #[test]
    fn vidrec_says_itself_what_is_a_clip() {
        let mut found = records(&[0, 1, 2, 3, 4], |_| 1.0);
        for (record, id2) in found.iter_mut().zip([0, 1, 1 << 32, 2 << 32, (2 << 32) + 1]) {
            record.id2 = id2;
        }
        let groups = group(&found, None, Ids::Grid);
        assert_eq!(ends(&groups), [(0, 2), (2, 3), (3, 5)]);
        found.remove(3);
        assert_eq!(ends(&group(&found, None, Ids::Grid)), [(0, 2), (2, 3)]);
    }
}
