//! The result of a part, written once, after its files.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::place::Place;
use crate::run::{PackReport, lines};
use vidrec_format::data_binding::hex;
use vidrec_format::dataset_json::ShardJson;
use vidrec_format::error::{Error, Result};
use vidrec_format::names;

/// The receipt of a part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Receipt {
    /// Digest of the plan.
    pub plan: String,
    pub part: u32,
    /// The shards of the part, under their names in the plan's folder. Empty if every video failed.
    pub shards: Vec<ShardJson>,
    /// The bytes of the index files.
    pub index_bytes: u64,
    /// The report. Its failures are numbered as in the whole plan.
    pub report: PackReport,
    /// SHA-256 of the list of failures, which is not in any other file.
    pub failures_sha256: String,
}

/// Returns the SHA-256 of the list of failures.
fn digest_of(report: &PackReport) -> Result<String> {
    Ok(hex(&Sha256::digest(lines(&report.failures)?)))
}

/// Returns the name of the receipt of a part.
pub(super) fn name(part: u32) -> String {
    format!("parts/{part:05}.json")
}

impl Receipt {
    pub fn new(plan: &str, part: u32, shards: Vec<ShardJson>, report: PackReport) -> Result<Self> {
        let index_bytes = report.bytes - shards.iter().map(|shard| shard.bytes).sum::<u64>();
        let failures_sha256 = digest_of(&report)?;
        Ok(Receipt { plan: plan.to_owned(), part, shards, index_bytes, report, failures_sha256 })
    }

    /// Reads the receipt of a part. Returns `None` if the part is not done.
    pub fn read(place: &Place, plan: &str, part: u32) -> Result<Option<Self>> {
        let name = name(part);
        let Some(receipt) = place.read_json::<Self>(&name)? else { return Ok(None) };
        if receipt.plan != plan || receipt.part != part {
            return Err(Error::usage("the receipt belongs to another plan or part")
                .file(place.path(&name))
                .expected(format!("part {part} of plan {}", &plan[..16]))
                .found(format!("part {} of plan {}", receipt.part, receipt.plan.get(..16).unwrap_or(&receipt.plan)))
                .help("remove the receipts of the other plan, or plan into another folder"));
        }
        receipt.check().map_err(|e| e.file(place.path(&name)))?;
        Ok(Some(receipt))
    }

    /// Refuses files that no part can have, and numbers that do not match. Publishing checks the files themselves.
    fn check(&self) -> Result<()> {
        for (i, shard) in self.shards.iter().enumerate() {
            let stem = names::stem_of_part(self.part, i);
            let other = shard.misnamed().or_else(|| shard.file_names().find(|name| names::stem(name) != stem));
            if let Some(name) = other {
                return Err(Error::usage("the receipt names a file that does not belong to its part").found(name));
            }
        }
        let sum = |of: fn(&ShardJson) -> u64| self.shards.iter().map(of).try_fold(0u64, u64::checked_add);
        let sums =
            [sum(|s| s.clips), sum(|s| s.frames), sum(|s| s.bytes).and_then(|b| b.checked_add(self.index_bytes))];
        let report = &self.report;
        if sums != [report.clips, report.frames, report.bytes].map(Some) {
            return Err(Error::usage(
                "the number of clips, frames or bytes in the receipt is not the sum over its shards",
            ));
        }
        if digest_of(report)? != self.failures_sha256 || report.failed != report.failures.len() as u64 {
            return Err(Error::usage("the list of failures is not the one that the receipt describes")
                .help("remove the receipt, and pack the part again"));
        }
        Ok(())
    }

    /// Whether two attempts made the same result. They may have taken different times.
    pub fn is_same(&self, other: &Self) -> bool {
        self.shards == other.shards && self.report.failures == other.report.failures
    }

    /// Writes the receipt, or compares it with the one that another attempt has written.
    pub fn put(&self, place: &Place, attempt: u32) -> Result<()> {
        let name = name(self.part);
        if place.put_once(&name, attempt, self)? {
            return Ok(());
        }
        let first = Self::read(place, &self.plan, self.part)?;
        if first.is_some_and(|first| self.is_same(&first)) {
            return Ok(());
        }
        let files =
            |receipt: &Self| receipt.shards.iter().map(|s| s.record_file.to_string()).collect::<Vec<_>>().join(", ");
        Err(Error::usage(format!("another attempt at part {} gave a different result", self.part))
            .file(place.path(&name))
            .expected("the same bytes and failures from every attempt")
            .found(format!("this attempt made {}, {} failures", files(self), self.report.failures.len()))
            .help("find the machine whose memory or disk is failing, remove the receipt, and pack the part again"))
    }
}
/// Reads a receipt from any bytes.
#[cfg(any(test, feature = "fuzzing"))]
pub fn prove(bytes: &[u8]) {
    let _ =
        serde_json::from_slice::<Receipt>(bytes).map(|receipt| receipt.check().is_ok() && receipt.is_same(&receipt));
}
