//! Packing one part of a plan.

use std::path::PathBuf;

use super::attempt::Attempt;
use super::plan::PartsPlan;
use super::report::PackReport;
use super::run::ShardWork;
use crate::options::PackOptions;
use crate::pool::pool;
use crate::video;
use crate::work::Resources;
use vidrec_core::progress::ProgressFn;
use vidrec_core::store::storage::Storage;
use vidrec_format::error::{Hint, Result};

/// How a part is packed. Everything that determines the bytes is in the plan.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct PartOptions {
    /// How much of the machine the work may use. Default: all cores.
    pub resources: Resources,
    /// How remote videos are read. The plan does not store this. Default: [`Storage::default`].
    pub storage: Storage,
    /// For a plan in object storage: a folder on this machine to pack in, with room for a part. Default `None`: `TMPDIR`,
    /// or else the user's cache folder (`$XDG_CACHE_HOME/vidrec`, `~/.cache/vidrec`).
    pub scratch: Option<PathBuf>,
}

impl PartsPlan {
    /// Packs a part, or returns the report of the attempt that has done so.
    ///
    /// An attempt that was interrupted or killed leaves nothing: the next one packs the part from its beginning. Several
    /// attempts at once do no harm: each one works in its own folder, and all produce the same bytes. It is an error if
    /// another attempt produced different bytes.
    ///
    /// `progress` is called as in [`pack`](crate::pack()).
    ///
    /// # Errors
    ///
    /// The errors of [`pack`](crate::pack()). [`Usage`](vidrec_format::error::ErrorKind::Usage) also: the plan has
    /// no such part or was made by another version of vidrec or FFmpeg, or a video has changed since.
    pub fn pack(&self, part: u32, options: &PartOptions, progress: &mut ProgressFn<'_>) -> Result<PackReport> {
        self.part(part)?;
        self.check_versions()?;
        if let Some(receipt) = self.receipt(part)? {
            return Ok(receipt.report.found());
        }
        let attempts = self.place.attempts(options.scratch.as_deref(), &self.digest)?;
        let attempt = Attempt::begin(&attempts)?;
        let packed = self.pack_in(&attempt, part, options, progress);
        let removed = attempt.remove();
        self.place.tidy(&attempts);
        let report = packed.map_err(|e| e.without_hints(&[Hint::Resume, Hint::Restart]).hint(Hint::Part))?;
        removed.map(|()| report)
    }

    fn pack_in(
        &self,
        attempt: &Attempt,
        part: u32,
        options: &PartOptions,
        progress: &mut ProgressFn<'_>,
    ) -> Result<PackReport> {
        video::init();
        let jobs = self.jobs(part, &options.storage)?;
        let mut pack_options = self.options(&options.resources)?;
        pack_options.input.storage.clone_from(&options.storage);
        let pool = pool(&self.json.tracks, &pack_options)?;
        let work = ShardWork {
            plan: self,
            parts: vec![part],
            jobs: jobs.iter().collect(),
            options: &pack_options,
            channels: self.json.channels,
            pool: pool.as_ref(),
            may_fail: &|_| true,
            before: PackReport::default(),
        };
        let (report, done) = work.pack(attempt, progress);
        done.map(|()| report)
    }

    /// Returns the options that the parts are packed with, with these resources.
    ///
    /// # Errors
    ///
    /// [`Usage`](vidrec_format::error::ErrorKind::Usage): an option of the plan is unknown.
    pub fn options(&self, resources: &Resources) -> Result<PackOptions> {
        Ok(PackOptions { resources: resources.clone(), ..self.json.options()? })
    }
}
