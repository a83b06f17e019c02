//! The result of a part, written once, after its files.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::place::Place;
use super::report::{PackReport, lines};
use crate::work::InputStamps;
use vidrec_format::data_binding::hex;
use vidrec_format::dataset_json::ShardJson;
use vidrec_format::error::{Error, Result};
use vidrec_format::file_name;

/// The receipt of a part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Receipt {
    /// Digest of the plan.
    pub plan: String,
    pub part: u32,
    /// The shard of the part. Absent if every video failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<ShardJson>,
    /// The bytes of its index.
    pub index_bytes: u64,
    /// The report. Its failures are numbered as in the whole plan.
    pub report: PackReport,
    /// SHA-256 of the list of failures, which is not in any other file.
    pub failures_sha256: String,
    /// The identities of the files of each video when it was read, if the plan does not say it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stamps: Vec<InputStamps>,
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
    pub fn new(plan: &str, part: u32, shard: Option<ShardJson>, report: PackReport) -> Result<Self> {
        let index_bytes = shard.as_ref().map_or(0, |shard| report.bytes - shard.bytes - shard.track_bytes());
        let failures_sha256 = digest_of(&report)?;
        Ok(Receipt { plan: plan.to_owned(), part, shard, index_bytes, report, failures_sha256, stamps: Vec::new() })
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
        let stem = file_name::shard(self.part as usize);
        let other = |shard: &ShardJson| {
            let name = shard.file_names().find(|name| file_name::stem(name) != stem);
            shard.misnamed().or(name).cloned()
        };
        if let Some(name) = self.shard.as_ref().and_then(other) {
            return Err(Error::usage("the receipt names a file that does not belong to its part").found(name));
        }
        let report = &self.report;
        let sums = self.shard.as_ref().map_or(Some([0; 3]), |shard| {
            let bytes = shard.bytes.checked_add(shard.track_bytes())?.checked_add(self.index_bytes)?;
            Some([shard.clips, shard.frames, bytes])
        });
        if sums != Some([report.clips, report.frames, report.bytes]) {
            return Err(Error::usage("the number of clips, frames or bytes in the receipt is not that of its shard"));
        }
        if digest_of(report)? != self.failures_sha256 || report.failed != report.failures.len() as u64 {
            return Err(Error::usage("the list of failures is not the one that the receipt describes")
                .help("remove the receipt, and pack the part again"));
        }
        Ok(())
    }

    /// Whether two attempts made the same result. They may have taken different times.
    pub fn is_same(&self, other: &Self) -> bool {
        self.shard == other.shard && self.report.failures == other.report.failures
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
        let file = self.shard.as_ref().map_or("no file", |shard| &shard.record_file);
        Err(Error::usage(format!("another attempt at part {} gave a different result", self.part))
            .file(place.path(&name))
            .expected("the same bytes and failures from every attempt")
            .found(format!("this attempt made {file}, {} failures", self.report.failures.len()))
            .help("find the machine whose memory or disk is failing, remove the receipt, and pack the part again"))
    }
}
/// Reads a receipt from any bytes.
#[cfg(any(test, vidrec_internals))]
pub fn prove(bytes: &[u8]) {
    let _ =
        serde_json::from_slice::<Receipt>(bytes).map(|receipt| receipt.check().is_ok() && receipt.is_same(&receipt));
}
