//! Saves the intact clips of a damaged data set, and lists exactly what is lost.

mod metas;
mod newer;
mod old_index;
mod output;
mod report;
mod run;
mod salvage;
mod scan;
mod shards;
mod tracks;

use std::fs;
use std::path::Path;

use self::metas::metas;
use self::old_index::OldIndex;
use self::output::{Indexes, Sink};
pub use self::report::{LostClip, PartlyLost, RepairOptions, RepairReport};
use self::run::Run;
use self::salvage::Salvage;
use self::shards::{Files, ShardFiles};
use self::tracks::OldTracks;
use crate::writer;
use crate::writer::{Writer, WriterOptions};
use vidrec_format::error::{Error, Result};
use vidrec_format::meta::Meta;
use vidrec_format::progress::{Counter, ProgressFn};
use vidrec_store::location::is_remote;

/// Repairs the data set at `path`: a folder, a `dataset.json`, a `.rec` or a `.vidx`.
///
/// Each index entry and each image has its own checksum, so vidrec knows what is intact, and saves it. If the index
/// is lost, vidrec finds clips in the record file. If `dataset.json` or the index still has the file's SHA-256, it
/// proves their images and labels. Otherwise vidrec saves a clip if its images decode and its labels agree, and marks
/// it as `unproven`. A clip with a damaged or missing frame is lost. The attribute `repair` of a saved clip says
/// which parts of it were lost.
///
/// Without an output, vidrec rewrites indexes and `dataset.json` where necessary, and keeps the old ones under names
/// that end in `.broken`. It never changes record files: if one is damaged and there is no output, vidrec writes
/// nothing, and the report says so. In a data set that was indexed in place, another program wrote the ids and labels
/// in the records, so only index entries say which records form a clip. An item of `progress` is a clip that was
/// examined.
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): there is nothing to repair, or the output holds a data set or
/// is the data set to repair. [`Format`](vidrec_format::error::ErrorKind::Format): a file has a newer version of the
/// format, so a repair would drop the parts that this version does not know.
/// [`Io`](vidrec_format::error::ErrorKind::Io): from the file system.
///
/// ```no_run
/// # mod vidrec {
/// #     pub use vidrec_dataset::repair::{RepairOptions, repair};
/// #     pub use vidrec_format::error::Error;
/// #     pub use vidrec_format::progress::no_progress;
/// # }
/// let options = vidrec::RepairOptions { output: Some("saved".into()), ..Default::default() };
/// let report = vidrec::repair("damaged", &options, &mut vidrec::no_progress)?;
/// println!("{} of {} clips saved", report.salvaged, report.clips);
/// # Ok::<(), vidrec::Error>(())
/// ```
pub fn repair(path: impl AsRef<Path>, options: &RepairOptions, progress: &mut ProgressFn<'_>) -> Result<RepairReport> {
    if is_remote(path.as_ref()) {
        let e = Error::usage("vidrec repairs only data sets in local folders").file(path.as_ref());
        return Err(e.help("copy its files to a local folder first"));
    }
    let in_place = options.output.is_none() && !options.dry_run;
    // First completes or undoes what an interrupted write left.
    let lock = in_place.then(|| writer::lock(shards::folder(path.as_ref()))).transpose()?;
    let files = shards::find(path.as_ref())?;
    newer::refuse(&files)?;
    let indexes: Vec<OldIndex<'_>> =
        files.shards.iter().map(|s| OldIndex::read(s.index.as_deref().unwrap_or_default())).collect();
    let mut report = RepairReport { damage: files.notes.clone(), ..RepairReport::default() };
    let metas = metas(&files, &indexes, &mut report);
    let mut sink = match lock {
        Some(lock) => Sink::InPlace(Box::new(Indexes::new(lock))),
        None => open_sink(&files, &metas, options)?,
    };
    let counter = &mut Counter::new(files.listing.as_ref().map(|listing| listing.clips), progress);
    for ((shard, old), meta) in files.shards.iter().zip(&indexes).zip(&metas) {
        note_damage(shard, old, &mut report);
        let name = shard.name();
        let record = shard.record.as_deref().unwrap_or_default();
        let salvage = Salvage::new(&name, record, old, shard.listed.as_ref(), &meta.classes)?;
        let tracks = OldTracks::read(shard, old, salvage.clip_count());
        if let Some((tracks, damage)) = tracks.as_ref().and_then(|t| Some((t, t.damage.as_ref()?))) {
            report.damage.push(format!("{}: the track file: {damage}", tracks.name));
        }
        Run {
            tracks: tracks.as_ref(),
            name: &name,
            salvage,
            options,
            report: &mut report,
            sink: &mut sink,
            counter,
            left_out: false,
        }
        .shard(shard, old, meta)?;
    }
    sink.finish(&files, &mut report)?;
    report.whole = report.lost_nothing() && report.damage.is_empty();
    Ok(report)
}

fn open_sink(files: &Files, metas: &[Meta], options: &RepairOptions) -> Result<Sink> {
    let Some(folder) = &options.output else { return Ok(Sink::Nowhere) };
    let same = |a: &Path, b: &Path| fs::canonicalize(a).ok().zip(fs::canonicalize(b).ok()).is_some_and(|(a, b)| a == b);
    for shard in &files.shards {
        let parent = shard.record_path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if same(parent, folder) {
            return Err(Error::usage("the output is the same folder as the data set to repair")
                .file(folder)
                .help("choose another folder, or omit the output to repair the indexes in place"));
        }
    }
    if options.dry_run {
        return Ok(Sink::Nowhere);
    }
    let meta = crate::edit::merged_meta(&metas.iter().collect::<Vec<_>>()).0;
    let writer = Writer::create(folder, WriterOptions { meta, overwrite: options.overwrite })?;
    Ok(Sink::New { writer: Box::new(writer), folder: folder.clone() })
}

fn note_damage(shard: &ShardFiles, old: &OldIndex<'_>, report: &mut RepairReport) {
    let name = shard.name();
    match (&shard.index, &old.damage) {
        (None, _) => report.damage.push(format!("{name}: its index is missing")),
        (_, Some(damage)) => report.damage.push(format!("{name}: its index is damaged: {damage}")),
        _ => {}
    }
    if shard.record.is_none() {
        report.damage.push(format!("{name}: the record file is missing"));
    }
}
