//! Imports record files, with the `.idx` and `.lst` beside them.
//!
//! Sources of these: MXNet, `python/mxnet/recordio.py` (`MXIndexedRecordIO`) and `tools/im2rec.py`; dmlc-core,
//! `src/io/indexed_recordio_split.cc`, which ignores keys and sorts offsets.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::records::{self, Record, Records};
use crate::interop::sink::ImportReport;
use crate::interop::sink::{self, ImportOptions, Sink, file_name, malformed, read_text};
use crate::{Error, Hint, ProgressFn, Result};
use vidrec_core::store::disk::map::MappedFile;

/// Options for facts that a record file does not state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MxnetOptions {
    /// The number of records per clip, T. Frame t of clip k then has the id k · T + t, as mxnet-videoio writes it. By
    /// default, `id2` says which records form a clip, if vidrec wrote it. Otherwise each record is a clip.
    pub frames_per_clip: Option<u32>,
    /// With `frames_per_clip`: the ids mean nothing. Records are counted, and only their labels compared.
    pub ignore_ids: bool,
}

/// Imports record files, each as a shard, to a data set in `out`.
///
/// Records stay in the order of the files. A clip's records must have the same labels and matching ids: see
/// [`MxnetOptions`]. One label becomes the clip's label; several become its attribute `labels`. Paths in the `.lst` beside a
/// record file become the clips' sources, and an `.idx` beside it must have the offsets of its records.
///
/// # Errors
///
/// The first fault, unless [`salvage`](ImportOptions::salvage) is set: a record that cannot be read, records that
/// are not a clip, an `.idx` that does not match the records, or an image that is not a JPEG.
/// [`Io`](vidrec_format::error::ErrorKind::Io), [`Usage`](vidrec_format::error::ErrorKind::Usage).
pub fn import(
    files: &[PathBuf],
    out: &Path,
    options: &ImportOptions,
    mxnet: &MxnetOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<ImportReport> {
    if mxnet.frames_per_clip == Some(0) {
        return Err(Error::usage("a clip needs at least one frame"));
    }
    let mut sink = Sink::create(out, sink::meta("mxnet", Vec::new()), options, progress)?;
    for path in files {
        let (bytes, name) = (MappedFile::open(path)?, file_name(path));
        let Records { records, gaps } = records::scan(&bytes);
        for (Range { start, end }, e) in gaps {
            let what =
                format!("the file is truncated or damaged: bytes {start} to {end} do not contain a complete record");
            let e = Error::decode(what).file(path).at(start).found(e.message());
            sink.leave_out(&format!("{name}, byte {start}"), e)?;
        }
        let beside = |ending: &str| Some(path.with_extension(ending)).filter(|path| path.is_file());
        if let Some(index) = beside("idx")
            && let Err(e) = check_idx(&index, &records)
        {
            sink.leave_out(&file_name(&index), e)?;
        }
        let sources = beside("lst").map_or_else(|| Ok(HashMap::new()), |list| read_lst(&list))?;
        let groups = match Groups::of(&records, mxnet) {
            Ok(groups) => groups,
            Err(e) => {
                sink.leave_out(&name, e.file(path))?;
                continue;
            }
        };
        for run in groups.runs() {
            let place = format!("{name}, records {} to {}", run.start, run.end - 1);
            let at = |e: Error| {
                let record = records[run.clone()].get(e.frame().unwrap_or(0) as usize);
                e.file(path).at(record.map_or(0, |record| record.offset))
            };
            let prepared = groups.prove(&run).and_then(|()| {
                let mut clip = sink.clip(source(&sources, &name, &records[run.clone()], groups.by_id2));
                records::set_labels(&mut clip, &records[run.start].labels)?;
                let pictures = records[run.clone()].iter().map(|record| records::picture(&bytes, record));
                Ok((clip, pictures.collect::<Result<Vec<_>>>()?))
            });
            match prepared {
                Ok((clip, pictures)) => sink.add(&place, clip, &[], &pictures).map_err(at)?,
                Err(e) => sink.leave_out(&place, at(e))?,
            }
        }
        bytes.prove_whole(path)?;
        sink.next_shard()?;
    }
    sink.finish()
}

/// The clips of a file's records.
///
/// A record file says nothing about clips. Readers usually assume that the writer wrote exactly T frames per video. If a
/// single frame is missing, every later clip then gets a frame and the label of the next clip. Ids and labels show such gaps.
struct Groups<'a> {
    records: &'a [Record],
    /// For each record: which clip it belongs to, and which of its frames it is.
    places: Vec<(u64, u64)>,
    /// The number of records of each clip, if it is known.
    frames: Option<usize>,
    /// Whether records are grouped by `id2`, as vidrec writes it: the clip's ordinal in the upper bits, and the frame's in the
    /// lower ones.
    by_id2: bool,
}

impl<'a> Groups<'a> {
    /// Groups records. Fails if clips seem to begin at the first id, which is not a multiple of their length: runs that look
    /// complete could then contain frames of two clips.
    fn of(records: &'a [Record], mxnet: &MxnetOptions) -> Result<Self> {
        let frames = u64::from(mxnet.frames_per_clip.unwrap_or(1));
        let by_id2 = mxnet.frames_per_clip.is_none() && records.iter().any(|record| record.id2 != 0);
        let is_counted = mxnet.frames_per_clip.is_none() || mxnet.ignore_ids;
        let from = |first: u64| {
            let place = |(i, record): (u64, &Record)| match record.id.wrapping_sub(first) {
                _ if by_id2 => (record.id2 >> 32, record.id2 & 0xffff_ffff),
                _ if is_counted => (i / frames, i % frames),
                id => (id / frames, id % frames),
            };
            let (places, frames) = ((0..).zip(records).map(place).collect(), (!by_id2).then_some(frames as usize));
            Groups { records, places, frames, by_id2 }
        };
        let groups = from(0);
        let faults = |groups: &Groups<'_>| groups.runs().into_iter().filter(|run| groups.prove(run).is_err()).count();
        match records.first().filter(|record| !is_counted && record.id % frames != 0) {
            Some(first) if faults(&from(first.id)) <= faults(&groups) => Err(Error::decode(format!(
                "clips of {frames} records seem to begin at id {}, which is not a multiple of {frames}",
                first.id
            ))
            .at(first.offset)
            .hint(Hint::Set("ignore_ids"))),
            _ => Ok(groups),
        }
    }

    /// Returns the runs of consecutive records of one clip.
    fn runs(&self) -> Vec<Range<usize>> {
        let mut end = 0;
        let runs = self.places.chunk_by(|(clip, _), (other, _)| clip == other).map(|run| {
            end += run.len();
            end - run.len()..end
        });
        runs.collect()
    }

    /// Proves that records are the frames of a clip. Without their number, frames may be missing at its end.
    fn prove(&self, run: &Range<usize>) -> Result<()> {
        let (records, last) = (&self.records[run.clone()], run.end - 1);
        let frames = self.places[run.clone()].iter().map(|&(_, frame)| frame);
        if self.frames.is_some_and(|frames| frames != run.len()) || !frames.clone().eq(0..run.len() as u64) {
            let found = frames.take(9).map(|frame| frame.to_string()).collect::<Vec<_>>().join(", ");
            let what = format!(
                "records {} to {last} are not a complete clip, according to their ids; if a reader counts records, every clip \
                 from here on gets frames of the next one",
                run.start
            );
            let expected = self.frames.map_or("0, 1, 2, …".into(), |frames| format!("frames 0 to {}", frames - 1));
            let found = format!("frames {found}{}", if run.len() > 9 { ", …" } else { "" });
            let e = Error::decode(what).expected(expected).found(found);
            return Err(e.hint(Hint::Set("frames_per_clip")).hint(Hint::Set("ignore_ids")));
        }
        // By their bits, so that a NaN equals itself.
        let bits = |at: usize| records[at].labels.iter().map(|label| label.to_bits());
        match (1..records.len()).find(|&at| !bits(at).eq(bits(0))) {
            None => Ok(()),
            Some(other) => {
                let what = format!("records {} to {last} would be one clip, but their labels differ", run.start);
                let found = format!("{:?} in record {}", records[other].labels, run.start + other);
                Err(Error::decode(what).expected(format!("{:?}", records[0].labels)).found(found))
            }
        }
    }
}

/// Returns the folder that a clip's frames came from, if the list says it; otherwise the name of the file and the first id.
fn source(sources: &HashMap<u64, String>, name: &str, records: &[Record], by_id2: bool) -> String {
    let id = records[0].id;
    match sources.get(&id).map(|path| (path, path.rsplit_once('/'))) {
        None => format!("{name}/{id}"),
        Some((_, Some((folder, _)))) if by_id2 || records.len() > 1 => folder.to_owned(),
        Some((path, _)) => path.clone(),
    }
}

/// Compares the offsets of an `.idx` file, which has a key and the offset of a record in each line, with the records that
/// actually exist.
fn check_idx(path: &Path, records: &[Record]) -> Result<()> {
    let text = read_text(path)?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let offset = |line: &str| line.split_whitespace().nth(1)?.parse::<u64>().ok();
    let mut offsets = lines.map(offset).collect::<Option<Vec<u64>>>().unwrap_or_default();
    offsets.sort_unstable();
    if offsets.iter().eq(records.iter().map(|record| &record.offset)) {
        return Ok(());
    }
    let e = malformed(
        path,
        "the file does not have the offsets of the records: one of the files is of another version, or cut",
    );
    let found = format!("{} entries", offsets.len());
    let e = e.expected(format!("the offsets of {} records", records.len())).found(found);
    Err(e.help("recreate it with MXNet's rec2idx.py, or remove it: vidrec does not need it"))
}

/// Reads the paths of a `.lst` file, by id. Each line has an id, labels and a path, separated by tabs.
fn read_lst(path: &Path) -> Result<HashMap<u64, String>> {
    let text = read_text(path)?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let paths = lines.map(|(n, line)| {
        let entry = |(id, rest): (&str, &str)| Some((id.trim().parse().ok()?, rest.rsplit_once('\t')?.1.trim().into()));
        let wrong = || malformed(path, format!("line {} is not an id, labels and a path", n + 1)).found(line);
        line.split_once('\t').and_then(entry).ok_or_else(wrong)
    });
    paths.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(ids: &[u64], label: impl Fn(u64) -> f32) -> Vec<Record> {
        ids.iter().map(|&id| Record { offset: id * 8, id, id2: 0, labels: [label(id)].into() }).collect()
    }

    /// Returns the starts and ends of the clips, and the number of faults.
    fn grouped(records: &[Record], frames_per_clip: Option<u32>, ignore_ids: bool) -> (Vec<(usize, usize)>, usize) {
        let Ok(groups) = Groups::of(records, &MxnetOptions { frames_per_clip, ignore_ids }) else {
            return (Vec::new(), 1);
        };
        let (clips, faults): (Vec<_>, Vec<_>) = groups.runs().into_iter().partition(|run| groups.prove(run).is_ok());
        (clips.iter().map(|run| (run.start, run.end)).collect(), faults.len())
    }

    #[test]
    fn ids_say_which_records_are_a_clip() {
        for (ids, ignore_ids, clips, faults) in [
            (&[0, 1, 2, 3, 4, 5][..], false, &[(0, 3), (3, 6)][..], 0),
            (&[0, 1, 2, 6, 7, 8], false, &[(0, 3), (3, 6)], 0),
            // Clips in any order, as from a shuffled list. A record that occurs twice is a fault.
            (&[6, 7, 8, 0, 1, 2], false, &[(0, 3), (3, 6)], 0),
            (&[0, 1, 2, 2, 3, 4, 5], false, &[(4, 7)], 1),
            (&[1, 2, 3, 4, 5, 6], false, &[], 1),
            (&[1, 2, 3, 4, 5], false, &[], 1),
            (&[1, 2, 3, 4, 5, 6], true, &[(0, 3), (3, 6)], 0),
            (&[9, 9, 9, 4], true, &[(0, 3)], 1),
        ] {
            let found = grouped(&records(ids, |_| 1.0), Some(3), ignore_ids);
            assert_eq!(found, (clips.to_vec(), faults), "{ids:?}");
        }
    }

    #[test]
    fn labels_have_to_agree_within_a_clip() {
        let records = records(&[0, 1, 2, 3, 4, 5], |id| if id < 4 { 1.0 } else { 2.0 });
        assert_eq!(grouped(&records, Some(3), true), (vec![(0, 3)], 1));
    }

    #[test]
    fn vidrec_says_itself_what_is_a_clip() {
        let mut found = records(&[0, 1, 2, 3, 4], |_| 1.0);
        for (record, id2) in found.iter_mut().zip([0, 1, 1 << 32, 2 << 32, (2 << 32) + 1]) {
            record.id2 = id2;
        }
        assert_eq!(grouped(&found, None, false), (vec![(0, 2), (2, 3), (3, 5)], 0));
        found.remove(3);
        assert_eq!(grouped(&found, None, false), (vec![(0, 2), (2, 3)], 1));
    }
}
